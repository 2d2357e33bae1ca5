"""Asking on the command line: exit codes, JSON, determinism, files, and what is printed."""

import csv
import json
from pathlib import Path

import pytest
import yaml
from cli_case import FLAGS, QUICK, RECOMMEND, RECONFIGURE, compass, refused, write_csv

import compass as cp
from compass.engine.store import save
from conftest import ROLES, cluster_columns

UNREACHABLE = "Recommend X = {gpus: ?} to achieve Y = {runtime: <= 0.001} where C = {app: wrf}"
POPULATION = "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime, state}"


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("data") / "jobs.csv", cluster_columns(300))


@pytest.fixture(scope="module")
def saved(jobs: Path) -> Path:
    engine = cp.Compass(cp.read(jobs).roles(**ROLES), rules=["cores <= 32 * nodes"], settings=QUICK)
    return save(engine.fit(), jobs.parent / "jobs.compass")


def timeless(text: str) -> dict[str, object]:
    answer = json.loads(text)
    del answer["seconds"]
    return answer


def test_an_answer_has_exit_code_0(saved: Path) -> None:
    result = compass("ask", saved, RECOMMEND)
    assert result.code == 0
    assert result.err == ""
    for part in ("app == 'wrf'", "past runs match", "gpus", "trusted", "Closest rows", "seed 7"):
        assert part in result.out


def test_no_supported_answer_has_exit_code_1_and_says_why(saved: Path) -> None:
    result = compass("ask", saved, UNREACHABLE)
    assert result.code == 1
    assert result.err == ""
    flat = " ".join(result.out.split())
    assert "No supported answer: No legal configuration meets the goal" in flat
    assert "wanted runtime <= 0.001" in flat
    assert "Ideas to measure, not suggested" in flat
    assert "misses its goal" in flat
    assert "Run next" in flat


@pytest.mark.parametrize("query", [RECOMMEND, POPULATION, UNREACHABLE])
def test_json_is_the_answer_that_python_gives(query: str, saved: Path) -> None:
    result = compass("ask", saved, query, "--json", "--seed", 3, "--count", 2)
    assert result.err == ""
    answer = cp.Answer.model_validate_json(result.out)
    expected = cp.load(saved).ask(query, seed=3, count=2)
    assert answer.model_dump(exclude={"seconds"}) == expected.model_dump(exclude={"seconds"})
    assert answer.provenance.seed == 3
    assert (result.code == 0) == answer.answered


def test_the_same_seed_gives_the_same_json(saved: Path) -> None:
    query = "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {power: minimize}"
    one, two = (compass("ask", saved, query, "--json", "--seed", 11) for _ in range(2))
    assert timeless(one.out) == timeless(two.out)


def test_asking_the_data_is_asking_an_engine_fitted_to_it(jobs: Path, tmp_path: Path) -> None:
    place = tmp_path / "j.compass"
    rule = ("--rule", "cores <= 32 * nodes", "--surrogate", "linear")
    fitted = compass("fit", jobs, *FLAGS, *rule, "-o", place, "--json")
    assert fitted.code == 0
    models = json.loads(fitted.out)["models"]
    assert {card["target"] for card in models} == {"runtime", "power", "state"}
    direct = compass("ask", jobs, RECOMMEND, *FLAGS, *rule, "--json")
    later = compass("ask", place, RECOMMEND, "--json")
    one, two = timeless(direct.out), timeless(later.out)
    for answer in (one, two):
        for card in answer["models"]:  # type: ignore[attr-defined]
            del card["seconds"]
            for score in card["scores"]:
                del score["seconds"]
    assert one == two


def test_fit_says_what_was_learnt(jobs: Path, tmp_path: Path) -> None:
    quick = ("--surrogate", "linear")
    result = compass("fit", jobs, "--role", "power=outcome", "-o", tmp_path / "x.compass", *quick)
    assert result.code == 0
    assert "Saved" in result.out
    assert "MAPE" in result.out
    assert compass("columns", tmp_path / "x.compass").code == 0
    rule = ("--rule", "nodes < 9", *quick)
    again = compass("fit", tmp_path / "x.compass", *rule, "-o", tmp_path / "y")
    assert again.code == 0
    assert "nodes < 9" in compass("columns", tmp_path / "y").out


def test_fitting_a_saved_engine_again_keeps_its_rules(saved: Path, tmp_path: Path) -> None:
    rules = json.loads(compass("columns", saved, "--json").out)["rules"]
    assert [rule["text"] for rule in rules] == ["cores <= 32 * nodes"]
    words = ("--role", "state=ignored", "--surrogate", "linear")
    assert compass("fit", saved, *words, "-o", tmp_path / "e").code == 0
    again = cp.load(tmp_path / "e")
    assert [rule.text for rule in again.rules] == ["cores <= 32 * nodes"]
    assert "state" not in again.space


def test_a_baseline_in_a_file_is_the_same_as_the_row(saved: Path, tmp_path: Path) -> None:
    row = cp.load(saved).data.row(0)
    as_yaml, as_json = tmp_path / "b.yaml", tmp_path / "b.json"
    as_yaml.write_text(yaml.safe_dump(row))
    as_json.write_text(json.dumps(row, indent="\t"))
    answers = [
        cp.Answer.model_validate_json(compass("ask", saved, RECONFIGURE, "--json", *start).out)
        for start in (("--from", "row:0"), ("--from", as_yaml), ("--from", as_json))
    ]
    assert answers[0].suggestions
    for other in answers[1:]:
        assert other.suggestions == answers[0].suggestions


def test_conditions_count_and_curves_from_flags(saved: Path) -> None:
    result = compass(
        "ask", saved, RECONFIGURE, "--from", "row:0", "--curve", "gpus", "--count", 2,
        "--where", "gpus < 4",
    )  # fmt: skip
    assert "where C = {gpus < 4}" in " ".join(result.out.split())
    assert "runtime against gpus" in result.out
    assert "breaks a rule" in result.out
    assert "█" in result.out


@pytest.mark.parametrize("level", ["50%", "0.5"])
def test_the_level_of_intervals_from_a_flag(saved: Path, level: str) -> None:
    words = ("ask", saved, RECONFIGURE, "--from", "row:0", "--no-prove", "--json")
    usual, narrow = compass(*words), compass(*words, "--level", level)
    wide, tight = (
        json.loads(result.out)["suggestions"][0]["outcomes"] for result in (usual, narrow)
    )
    assert [one["level"] for one in tight if one["level"]] == [0.5] * len(tight)
    for one, other in zip(wide, tight, strict=True):
        assert one["low"] < other["low"] < other["high"] < one["high"]
        assert one["change_low"] < other["change_low"] < other["change_high"] < one["change_high"]


def test_dependencies_from_flags(tmp_path: Path) -> None:
    columns = cluster_columns(300)
    columns["racks"] = [4 * int(str(nodes)) for nodes in columns["nodes"]]
    data = cp.read(write_csv(tmp_path / "racks.csv", columns)).roles(
        knobs=["nodes", "cores", "gpus", "racks"], context=["app", "size"], outcomes=["runtime"]
    )
    saved = save(cp.Compass(data, settings=QUICK).fit(), tmp_path / "racks.compass")
    question = "What if we change X = {nodes: 8}, how would that affect Y = {runtime}"
    run = next(i for i, nodes in enumerate(columns["nodes"]) if nodes == 1)
    words = ("ask", saved, question, "--from", f"row:{run}", "--no-prove")
    usual = compass(*words)
    assert "Breaks what holds on all rows: racks == 4 * nodes" in " ".join(usual.out.split())
    assert "`keep dependencies`" in " ".join(usual.out.split())
    kept = json.loads(compass(*words, "--keep-dependencies", "--json").out)
    assert kept["query"]["dependencies"] == "keep"
    assert kept["suggestions"][0]["config"]["racks"] == 32
    assert kept["suggestions"][0]["breaks"] == []
    ignored = json.loads(compass(*words, "--ignore-dependencies", "--json").out)
    assert ignored["text"].endswith("ignore dependencies")
    assert "racks == 4 * nodes" in ignored["suggestions"][0]["breaks"]
    assert not any("`keep dependencies`" in note for note in ignored["notes"])


@pytest.mark.parametrize("level", ["80", "0", "100%", "most"])
def test_a_level_that_is_no_share_is_refused(saved: Path, level: str) -> None:
    result = compass("ask", saved, RECOMMEND, "--level", level)
    assert result.code == 2
    assert "is not a share: write e.g. 80% or 0.8" in result.err


@pytest.mark.parametrize("chance", ["95%", "0.95"])
def test_the_chance_and_beyond_from_flags(saved: Path, chance: str) -> None:
    words = ("ask", saved, RECONFIGURE, "--from", "row:0", "--no-prove", "--json")
    plain = json.loads(compass(*words).out)
    result = compass(*words, "--chance", chance, "--beyond")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert (found["query"]["chance"], found["query"]["beyond"]) == (0.95, True)
    assert found["text"].endswith("chance 95% beyond")
    assert (plain["query"]["chance"], plain["query"]["beyond"]) == (None, False)


@pytest.mark.parametrize("chance", ["95", "0", "100%", "most"])
def test_a_chance_that_is_no_share_is_refused(saved: Path, chance: str) -> None:
    result = compass("ask", saved, RECOMMEND, "--chance", chance)
    assert result.code == 2
    assert "is not a share: write e.g. 80% or 0.8" in result.err


def test_a_chance_in_the_question_that_no_goal_can_have_shows_the_place(saved: Path) -> None:
    result = compass("ask", saved, f"{RECOMMEND} chance 100%")
    refused(result, "no goal can be met with a chance of 100%", "e.g. chance 95%")
    line, caret = result.err.splitlines()[1:3]
    assert line[caret.index("^") :] == "chance 100%"


def test_files_are_written_before_the_answer_is_printed(saved: Path, tmp_path: Path) -> None:
    script, table = tmp_path / "job.sh", tmp_path / "plan.csv"
    result = compass("ask", saved, RECOMMEND, "--sbatch", script, "--csv", table, "--json")
    assert result.code == 0
    assert result.err.splitlines() == [f"wrote {script}", f"wrote {table}"]
    answer = cp.Answer.model_validate_json(result.out)
    assert f"#SBATCH --gpus={answer[0].config['gpus']}" in script.read_text()
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["gpus"]) for row in rows] == [s.config["gpus"] for s in answer]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.sh", "plan.csv"]


def test_nothing_to_write_is_said(saved: Path, tmp_path: Path) -> None:
    query = "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime}"
    impossible = compass(
        "ask", saved, query, "--where", "app == 'wrf'", "--where", "app == 'lammps'",
        "--csv", tmp_path / "x.csv",
    )  # fmt: skip
    assert impossible.code == 1
    assert f"error: {tmp_path / 'x.csv'} is not written: there is no suggestion" in impossible.err
    assert impossible.err.splitlines()[-1].startswith("hint: ")
    assert not (tmp_path / "x.csv").exists()
    refused(compass("ask", saved, query, "--csv", tmp_path / "x.csv"), "--from row:N")


def test_no_job_script_is_written_of_an_idea(saved: Path, tmp_path: Path) -> None:
    script, table = tmp_path / "job.sh", tmp_path / "plan.csv"
    table.write_text("of yesterday\n")
    words = ("ask", saved, UNREACHABLE, "--sbatch", script, "--csv", table)
    result = compass(*words)
    assert result.code == 1
    assert "Ideas to measure, not suggested" in result.out
    first, second, hint = result.err.splitlines()
    assert first == f"error: {script} is not written: there is no suggestion"
    assert second == (
        f"error: {table} is not written: there is no suggestion; the file that is there is older"
    )
    assert hint.startswith("hint: measure first what the answer proposes to run next")
    assert not script.exists()
    assert table.read_text() == "of yesterday\n"
    answer = cp.Answer.model_validate_json(compass(*words, "--json").out)
    assert not answer.suggestions
    assert answer.ideas


def test_a_template_of_the_site_is_filled(saved: Path, tmp_path: Path) -> None:
    template, script = tmp_path / "site.sh", tmp_path / "job.sh"
    template.write_text("#SBATCH -G {gpus}\necho ${HOME}\n")
    result = compass("ask", saved, RECOMMEND, "--sbatch", script, "--template", template)
    assert result.code == 0
    gpus = cp.load(saved).ask(RECOMMEND)[0].config["gpus"]
    assert script.read_text() == f"#SBATCH -G {gpus}\necho ${{HOME}}\n"


def test_what_if_over_all_runs_prints_means(saved: Path) -> None:
    result = compass("ask", saved, POPULATION)
    assert result.code == 0
    assert "Mean over" in result.out
    assert "points" in result.out  # of the class
    assert "interval of the change" in result.out


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(
    "query",
    [
        RECOMMEND,
        UNREACHABLE,
        POPULATION,
        "Recommend X = {nodes: ?, cores: ?, gpus: ?} "
        "to achieve Y = {runtime: minimize, power: <= 900, state: completed}",
    ],
)
def test_lines_fit_the_terminal_and_nothing_is_cut(
    query: str, width: int, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    result = compass("ask", saved, query)
    assert max(map(len, result.out.splitlines())) <= width
    assert "…" not in result.out


def test_labels_are_printed_as_they_are_but_for_control_characters(tmp_path: Path) -> None:
    columns = cluster_columns(120)
    strange = {"wrf": "[red]a[/red] =1+1", "lammps": "b\x1b[2Jc\x07"}
    columns["app"] = [strange[str(app)] for app in columns["app"]]
    path = write_csv(tmp_path / "t.csv", columns)
    flags = (*FLAGS, "--role", "state=ignored", "--role", "power=ignored", "--role", "app=knob")
    query = "Recommend X = {app: ?} to achieve Y = {runtime: minimize}"
    for result in (compass("ask", path, query, *flags), compass("columns", path, *flags)):
        assert result.code == 0
        assert "[red]a[/red] =1+1" in " ".join(result.out.split())
        assert "\x1b" not in result.out
        assert "\x07" not in result.out


def test_no_arguments_show_the_help() -> None:
    assert compass().code == 0
    assert "Usage" in compass().out
    assert compass("ask", "--help").code == 0
    assert "Reconfigure X = {cores: ?}" in compass("ask", "--help").out
