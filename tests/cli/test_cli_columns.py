"""`compass columns`: what columns are taken for, what was dropped, which rules hold, studies."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from cli_case import compass, refused, write_csv

import compass as cp

WHAT_IF = "What if we change X = {nodes: old -> 2*old}, how would that affect Y = {runtime_s}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tasks are always nodes times tasks per node; some runs have no power cap."""
    rng = np.random.default_rng(5)
    n = 240
    nodes, each = rng.choice([1, 2, 4, 8], n), rng.choice([4, 6, 12, 24], n)
    cap = rng.choice(["", "100", "150", "200"], n)
    app = rng.choice(["amg", "hpl"], n)
    seconds = 500 / (nodes * each) * np.where(app == "amg", 1.0, 2.0) + rng.normal(0, 0.05, n)
    columns = {
        "job_id": np.arange(n) + 4711,
        "app": app,
        "nodes": nodes,
        "tasks_per_node": each,
        "tasks": nodes * each,
        "cap_w": cap,
        "runtime_s": seconds,
    }
    return write_csv(
        tmp_path_factory.mktemp("data") / "runs.csv", {k: v.tolist() for k, v in columns.items()}
    )


def flat(text: str) -> str:
    return " ".join(text.split())


def grouped(text: str) -> dict[str, list[str]]:
    """The lines below the heading of each role."""
    groups: dict[str, list[str]] = {}
    for block in text.split("\n\n"):
        head, *lines = block.strip("\n").splitlines() or [""]
        if lines and all(line.startswith("  ") for line in lines):
            groups[head.partition(" ")[0]] = [line.rstrip() for line in lines]
    return groups


def test_every_column_is_shown_with_role_unit_and_values(runs: Path) -> None:
    result = compass("columns", runs)
    assert result.code == 0
    assert result.err == ""
    groups = grouped(result.out)
    assert list(groups) == ["Outcomes", "Knobs", "Context", "Ignored"]
    assert "  nodes           1, 2, 4, 8" in groups["Knobs"]
    assert groups["Context"] == ["  app  amg, hpl"]
    (runtime,) = groups["Outcomes"]
    assert re.fullmatch(r"  runtime_s  [\d.]+ s to \d+ min [\d.]+ s  240 different", runtime)
    assert "  looks like an id: job_id" in groups["Ignored"]


def test_dropped_rows_are_reported_and_can_be_kept(runs: Path) -> None:
    missing = sum(row["cap_w"] is None for row in map(cp.read(runs).row, range(240)))
    result = compass("columns", runs)
    assert f"240 rows, {240 - missing} used" in result.out
    assert f"{missing} rows dropped: cap_w is missing" in flat(result.out)
    assert "--missing cap_w=none" in flat(result.out)
    kept = compass("columns", runs, "--missing", "cap_w=none")
    assert "240 rows, 240 used" in kept.out
    assert "100, 150, 200, none" in flat(kept.out)


def test_flags_correct_what_was_inferred(runs: Path) -> None:
    result = compass(
        "columns", runs, "--role", "tasks=ignored", "--unit", "runtime_s=min",
        "--domain", "nodes=1..16:1", "--drop", "job_id", "--rule", "nodes <= 4",
    )  # fmt: skip
    shown = result.out.split("Rules")[0]
    groups = grouped(shown)
    assert "  as stated: tasks" in groups["Ignored"]
    assert re.search(r"runtime_s  \d+ min [\d.]+ s to \d+ h ", groups["Outcomes"][0])
    assert any(line.split()[:3] == ["nodes", "whole", "1..16"] for line in groups["Knobs"])
    broken = sum(row["nodes"] == 8 and row["cap_w"] is not None for row in every_row(runs))
    assert f"nodes <= 4  {broken:>18}" in result.out


def test_a_unit_can_be_taken_away_for_good(runs: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    result = compass("columns", runs, "--unit", "runtime_s=", "--write-study", study, "--json")
    for told in (result, compass("columns", runs, "--study", study, "--json")):
        by_name = {column["name"]: column for column in json.loads(told.out)["columns"]}
        assert by_name["runtime_s"]["unit"] is None


def every_row(path: Path) -> list[dict[str, object]]:
    return [cp.read(path).row(n) for n in range(240)]


def test_rules_are_found_and_numbered(runs: Path) -> None:
    assert "Dependencies" not in compass("columns", runs).out
    result = compass("columns", runs, "--rules")
    table = result.out[result.out.index("Dependencies that hold on all rows") :]
    rules = [line.split("  ")[:2] for line in table.splitlines() if line[:1].isdigit()]
    assert [number for number, _ in rules] == [str(i + 1) for i in range(len(rules))]
    assert any("nodes" in text and "tasks_per_node" in text for _, text in rules)
    assert "--confirm" in table


def test_json_tells_the_same(runs: Path) -> None:
    result = compass("columns", runs, "--rules", "--rule", "nodes <= 4", "--json")
    told = json.loads(result.out)
    by_name = {column["name"]: column for column in told["columns"]}
    assert by_name["runtime_s"]["unit"] == "s"
    assert by_name["job_id"]["role"] == "ignored"
    assert told["cleaning"]["rows_in"] == 240
    assert told["cleaning"]["rows_out"] == 240 - by_name["cap_w"]["missing"]
    assert told["rules"][0]["text"] == "nodes <= 4"
    assert any("tasks_per_node" in rule["text"] for rule in told["dependencies"])
    assert json.loads(compass("columns", runs, "--json").out)["dependencies"] is None


def numbers_of(runs: Path, *parts: str) -> str:
    """The numbers of the dependencies that speak of all of these, as a person would read them."""
    found = json.loads(compass("columns", runs, "--rules", "--json").out)["dependencies"]
    return ",".join(
        str(i) for i, rule in enumerate(found, 1) if all(part in rule["text"] for part in parts)
    )


def test_a_confirmed_dependency_is_obeyed_and_named(runs: Path, tmp_path: Path) -> None:
    study = tmp_path / "s.yaml"
    number = numbers_of(runs, "nodes * tasks_per_node")
    result = compass("columns", runs, "--confirm", number, "--write-study", study)
    assert result.code == 0
    assert result.err == f"wrote {study}\n"
    (rule,) = yaml.safe_load(study.read_text())["dependencies"]
    assert "tasks" in rule
    start = next(n for n, row in enumerate(every_row(runs)) if row["nodes"] == 2 and row["cap_w"])
    flags = ("--from", f"row:{start}", "--json", "--surrogate", "linear")
    free = cp.Answer.model_validate_json(compass("ask", runs, WHAT_IF, *flags).out)
    assert [edit.name for edit in free[0].edits] == ["nodes"]
    tied = cp.Answer.model_validate_json(
        compass("ask", runs, WHAT_IF, *flags, "--study", study).out
    )
    config = tied[0].config
    assert config["nodes"] == 4
    assert config["tasks"] == config["nodes"] * config["tasks_per_node"]
    forced = {edit.name: edit.forced_by for edit in tied[0].edits if edit.name != "nodes"}
    assert forced
    assert set(forced.values()) == {rule}
    assert any(rule in note for note in tied.notes)


def test_confirming_all_and_again_keeps_each_once(runs: Path, tmp_path: Path) -> None:
    study = tmp_path / "s.yaml"
    assert compass("columns", runs, "--confirm", "all", "--write-study", study).code == 0
    first = yaml.safe_load(study.read_text())["dependencies"]
    again = compass("columns", runs, "--study", study, "--confirm", "1", "--write-study", study)
    assert again.code == 0
    assert yaml.safe_load(study.read_text())["dependencies"] == first


@pytest.mark.parametrize("ending", ["yaml", "toml"])
def test_a_study_that_is_written_and_read_back_changes_nothing(
    ending: str, runs: Path, tmp_path: Path
) -> None:
    study = tmp_path / f"s.{ending}"
    flags = ("--missing", "cap_w=none", "--rule", "nodes <= 8", "--drop", "job_id")
    before = compass("columns", runs, *flags, "--write-study", study)
    after = compass("columns", runs, "--study", study)
    assert [line.split()[:2] for line in before.out.splitlines()[:9]] == [
        line.split()[:2] for line in after.out.splitlines()[:9]
    ]
    second = tmp_path / f"t.{ending}"
    compass("columns", runs, "--study", study, "--write-study", second)
    assert second.read_text() == study.read_text()


def test_a_role_edited_in_the_study_is_used(runs: Path, tmp_path: Path) -> None:
    study = tmp_path / "s.yaml"
    compass("columns", runs, "--write-study", study)
    edited = yaml.safe_load(study.read_text())
    assert edited["columns"]["app"]["role"] == "context"
    edited["columns"]["app"]["role"] = "knob"
    study.write_text(yaml.safe_dump(edited))
    told = json.loads(compass("columns", runs, "--study", study, "--json").out)
    assert {c["name"]: c["role"] for c in told["columns"]}["app"] == "knob"
    flag = compass("columns", runs, "--study", study, "--role", "app=ignored", "--json")
    assert {c["name"]: c["role"] for c in json.loads(flag.out)["columns"]}["app"] == "ignored"


def test_numbers_that_name_no_dependency(runs: Path, tmp_path: Path) -> None:
    study = tmp_path / "s.yaml"
    write = ("--write-study", study)
    refused(compass("columns", runs, "--confirm", "99", *write), "no dependency number 99")
    refused(compass("columns", runs, "--confirm", "one", *write), "not a list of numbers")
    refused(compass("columns", runs, "--confirm", "0", *write), "no dependency number 0")
    assert not study.exists()


@pytest.mark.parametrize("width", [80, 120])
def test_names_are_never_cut(width: int, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for file in ("zeus_powercap/zeus_power.csv", "powerbound/clip_runs.csv"):
        result = compass("columns", real_data / file, "--rules")
        assert result.code == 0
        for name in cp.read(real_data / file).table.names:
            assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", result.out)
        assert max(map(len, result.out.splitlines())) <= width


def test_plugins_are_listed_with_where_they_come_from() -> None:
    result = compass("plugins")
    assert result.code == 0
    for name in ("csv", "parquet", "forest", "c3g", "legal-search", "sbatch", "uniform"):
        assert name in result.out
    listed = json.loads(compass("plugins", "--json").out)
    assert {"reader", "step", "surrogate", "generator", "exporter"} <= {p["joint"] for p in listed}
    assert all(p["what"] for p in listed)


@pytest.fixture(scope="module")
def unsure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A size that may be given or set, two phases that no name tells, and counters."""
    rng = np.random.default_rng(8)
    n = 180
    size, threads = rng.choice([1000, 2000, 4000], n), rng.choice([1, 2, 4, 8], n)
    seconds = size / threads * np.exp(0.02 * rng.normal(size=n))
    columns = {
        "N": size,
        "threads": threads,
        "runtime_s": seconds,
        "build_tree": seconds * 0.3 + rng.random(n),
        "sched:sched_switch": rng.integers(100, 10_000, n),
        "sched:sched_wakeup": rng.integers(100, 10_000, n),
    }
    return write_csv(
        tmp_path_factory.mktemp("data") / "unsure.csv", {k: v.tolist() for k, v in columns.items()}
    )


def test_roles_that_are_guesses_come_first_with_the_flag_that_settles_each(unsure: Path) -> None:
    result = compass("columns", unsure)
    first = result.out.splitlines()[:3]
    assert first == [
        "Please check: these roles are guesses",
        "  N: context (by its name), or a knob (3 repeated values)",
        "    --role N=knob",
    ]
    assert all(len(line) <= 80 for line in result.out.partition("\n\n")[0].splitlines())
    settled = compass("columns", unsure, "--role", "N=knob")
    assert "Please check" not in settled.out
    told = {c["name"]: c for c in json.loads(compass("columns", unsure, "--json").out)["columns"]}
    assert told["N"]["question"]["alternatives"] == ["knob"]
    assert told["N"]["question"]["reasons"][0]["code"] == "name"
    assert told["threads"]["question"] is None
    assert told["build_tree"]["role"] == "outcome"


def test_one_flag_gives_many_columns_a_role(unsure: Path) -> None:
    def roles(*flags: str) -> list[str]:
        columns = json.loads(compass("columns", unsure, *flags, "--json").out)["columns"]
        return [c["role"] for c in columns if c["name"].startswith("sched:")]

    assert roles() == ["ignored", "ignored"]
    assert roles("--role", "sched:*=outcome") == ["outcome", "outcome"]
    exact = ("--role", "sched:sched_switch=context", "--role", "sched:*=outcome")
    assert roles(*exact) == ["context", "outcome"]
    assert roles("--role", "s*=outcome", "--role", "*wakeup=context") == ["outcome", "context"]
    refused(
        compass("columns", unsure, "--role", "shed:*=ignored"),
        "no column matches the pattern 'shed:*'",
        "did you mean sched:",
    )


def test_how_cells_were_read_is_said_and_can_be_corrected(tmp_path: Path) -> None:
    times = ["1.5", "timeout", "2.5", "3.5", "OOM", "timeout", "1.75", "-", "2.25", "3.75"]
    columns = {
        "tile": [96 * n for n in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)],
        "mem": ["4G", "8G", "512M", "4G", "8G", "4G", "8G", "512M", "4G", "8G"],
        "runtime_s": times,
        "runtime_ms": [f"{1000 * float(t):g}" if t[0].isdigit() else t for t in times],
    }
    path = write_csv(tmp_path / "runs.csv", columns)
    shown = flat(compass("columns", path).out)
    assert "2 rows dropped: the run failed (runtime_s: timeout)" in shown
    found = {c["name"]: c for c in json.loads(compass("columns", path, "--json").out)["columns"]}
    assert found["tile"]["legal"] == "96..8544 in steps of 96"
    assert found["mem"]["unit"] == "GiB"
    assert "2 cells converted from M to GiB" in found["mem"]["cells"]
    assert "2 cells say 'timeout': the run failed" in found["runtime_s"]["cells"]
    assert found["runtime_ms"]["same_as"] == "runtime_s"
    assert found["runtime_ms"]["note"] == "says the same as runtime_s (1000 * runtime_s)"
    study = tmp_path / "study.yaml"
    study.write_text("map: {runtime_s: {timeout: 3600, OOM: null}}\n")
    kept = json.loads(compass("columns", path, "--study", study, "--json").out)
    found = {c["name"]: c for c in kept["columns"]}
    assert found["runtime_s"]["high"] == 3600
    assert found["runtime_s"]["missing"] == 2


def test_an_overview_tells_the_best_run_of_each_program(runs: Path) -> None:
    roles = ["--role", "cap_w=context", "--role", "runtime_s=outcome"]
    told = json.loads(compass("overview", str(runs), *roles, "--json").out)
    assert told == json.loads(
        cp.read(runs).roles(context=["app", "cap_w"]).overview().model_dump_json()
    )
    shown = flat(compass("overview", str(runs), *roles).out)
    assert "runtime_s: minimize" in shown
    assert "61 left out cap_w is missing" in shown
