"""`compass next`: which runs to make, as a table, as JSON and as a file to fill in and tell."""

import csv
import json
from pathlib import Path

import pytest
from cli_case import FLAGS, QUICK, RECOMMEND, RECONFIGURE, compass, refused, write_csv

import compass as cp
from compass.cli.next import show
from compass.domain.answer import Proposal
from compass.domain.space import Role
from conftest import ROLES, cluster_columns


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = cp.read(cluster_columns(120)).roles(**ROLES)
    return cp.Compass(data, settings=QUICK).fit().save(tmp_path_factory.mktemp("next") / "e")


def test_runs_for_a_question_come_with_a_sentence_each(saved: Path) -> None:
    result = compass("next", saved, RECOMMEND, "-n", "3")
    assert result.code == 0, result.err
    head, titles, *_ = result.out.splitlines()
    assert head == "Run next"
    assert "gpus" in titles.split()
    table, sentences = result.out.split("\n\n", maxsplit=1)
    ranks = [line.split()[0] for line in table.splitlines()[2:] if line[:1].isdigit()]
    assert 1 <= len(ranks) <= 3
    assert all(f"{rank} " in sentences for rank in ranks)
    assert "tells whether" in sentences


@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_every_feature_of_every_run_is_printed(
    saved: Path, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    result = compass("next", saved, RECOMMEND, "-n", "2")
    found = cp.load(saved).run_next(2, RECOMMEND)
    features = cp.load(saved).space.having(Role.KNOB, Role.CONTEXT)
    assert max(map(len, result.out.splitlines())) <= int(width)
    assert all(set(run.config) == set(features) for run in found)
    head, *rows = result.out.splitlines()[1 : 2 + len(found)]
    names = head.split()
    if set(features) <= set(names):
        cells = [row.split()[1 : 1 + len(features)] for row in rows]
        expected = [[str(run.config[name]) for name in names[: len(features)]] for run in found]
        assert cells == expected
    else:
        text = " ".join(result.out.split())
        for run in found:
            assert all(f"{name} = {value}" in text for name, value in run.config.items())


def test_wide_runs_are_printed_whole_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    configs = [{f"parameter_{i}": 128 + i * run for i in range(12)} for run in range(2)]
    show([Proposal(config=one, why="to know") for one in configs], None, {}, as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    for config in configs:
        assert all(f"{name} = {value}" in text for name, value in config.items())


def test_json_holds_the_same_runs(saved: Path) -> None:
    result = compass("next", saved, RECONFIGURE, "--from", "row:3", "-n", "4", "--json")
    assert (result.code, result.err) == (0, "")
    found = json.loads(result.out)["run_next"]
    own = cp.load(saved).run_next(4, RECONFIGURE, run=3)
    assert found == [proposal.model_dump(mode="json") for proposal in own]


def test_without_a_question_the_runs_teach_most(saved: Path) -> None:
    result = compass("next", saved, "-n", "2", "--where", "nodes <= 2", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["run_next"]
    assert len(found) == 2
    assert all(run["config"]["nodes"] <= 2 for run in found)


def test_the_runs_can_be_written_as_job_arrays(saved: Path, tmp_path: Path) -> None:
    file = tmp_path / "runs.sh"
    result = compass("next", saved, RECOMMEND, "-n", "3", "--sbatch", file, "--json")
    assert result.code == 0, result.err
    assert f"wrote {file}" in result.err
    found = json.loads(result.out)["run_next"]
    script = file.read_text()
    assert script.startswith("#!/bin/bash\n")
    assert "sbatch --array=" in script
    for number, run in enumerate(found, 1):
        assert f"{number})  # {run['why']}" in script
        assert f"--nodes={run['config']['nodes']:g}" in script


def test_the_file_can_be_filled_in_and_told(saved: Path, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    result = compass("next", saved, RECOMMEND, "-n", "3", "--csv", file)
    assert result.code == 0, result.err
    assert f"wrote {file}" in result.err
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert rows
    outcomes = ("runtime", "power", "state")
    assert all(row[name] == "" for row in rows for name in outcomes)
    for row in rows:
        row.update(runtime="12.5", power="300", state="COMPLETED")
    write_csv(file, {name: [row[name] for row in rows] for name in rows[0]})
    told = compass("tell", saved, file, "-o", tmp_path / "b", "--ask", RECOMMEND, "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert (found["rows"], found["used"]) == (len(rows), len(rows))
    assert [run["row"] for run in found["arrivals"]] == list(range(120, 120 + len(rows)))
    assert len(found["questions"]) == 1
    assert any("best suggestion" in line for line in found["changes"])


def test_a_table_and_study_flags_do_as_well(tmp_path: Path) -> None:
    runs = write_csv(tmp_path / "runs.csv", cluster_columns(80))
    result = compass("next", runs, RECOMMEND, *FLAGS, "--surrogate", "forest", "-n", "2")
    assert result.code == 0, result.err
    assert result.out.startswith("Run next")


def test_what_is_wrong_is_told_with_a_hint(saved: Path, tmp_path: Path) -> None:
    refused(compass("next", saved, "--from", "row:3"), "--from needs a question")
    refused(compass("next", saved, "--seed", "3"), "--seed needs a question")
    refused(compass("next", saved, RECONFIGURE), "needs a configuration to start from")
    refused(compass("next", saved, "Recommend X"), "Recommend X")
    refused(compass("next", saved, RECOMMEND.replace("gpus", "gpuz")), "gpuz", "gpus")
    refused(compass("next", saved, "--where", "runtime < 3"), "neither knob nor context")
    refused(compass("next", saved, "-n", "0"), "-n")
    refused(compass("next", saved, RECOMMEND, "--csv", tmp_path / "no" / "x.csv"), "no folder")
    refused(compass("next", saved, RECOMMEND, *FLAGS[:2]), "already has its roles")
    refused(compass("next", tmp_path / "missing.csv", RECOMMEND), "missing.csv")


def test_tell_says_what_changed(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "220")
    runs = write_csv(tmp_path / "new.csv", cluster_columns(25, seed=9))
    result = compass("tell", saved, runs, "-o", tmp_path / "b", "--ask", RECOMMEND)
    assert result.code == 0, result.err
    assert "New runs, predicted -> measured, the first 20 of 25" in result.out
    changed = result.out.split("What changed\n")[1].splitlines()
    assert changed[0].startswith("- runtime: ")
    assert "of 25 new runs lay inside the 90% interval" in changed[0]
    assert any("best suggestion" in line for line in changed)
    refused(compass("tell", saved, runs, "-o", tmp_path / "c", "--ask", "nonsense"), "nonsense")
    assert not (tmp_path / "c").exists()
