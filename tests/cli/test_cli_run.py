"""`compass run`, `next`, `tell` and `experiments` as a person types them."""

import json
from pathlib import Path

import pyarrow.csv as pv
import pytest
from cli_case import compass, refused
from tests.experiment.law_case import law
from tests.experiment.test_experiment_driver import PROGRAM

from compass.experiment.experiment import Experiment

PLAN = r"""
command: ./law.sh {threads} {tile} {flags}
columns:
  threads: {allowed: [1, 2, 4, 8, 16]}
  tile: {low: 16, high: 256, step: 16}
  flags: {values: [O1, O2, O3, Ofast]}
rules: [threads * tile <= 1024]
goals: {runtime: minimize}
read: {runtime: '/time: (\S+)/'}
budget: 14
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "law.sh").write_text(PROGRAM)
    (tmp_path / "law.sh").chmod(0o755)
    (tmp_path / "tune.yml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_a_plan_is_run_to_its_report(folder: Path) -> None:
    done = compass("run", "tune.yml", "--html", "r.html", "--svg", "r.svg", "--csv", "r.csv")
    assert done.code == 0, done.err
    assert done.out.startswith("runtime: minimize: 14 of 14 runs.\nBest: runtime ")
    assert "best runtime so far" in done.out
    assert done.out.rstrip().endswith("No more runs: the budget of 14 runs is spent.")
    assert all(len(line) <= 80 for line in done.out.splitlines())
    assert len([line for line in done.err.splitlines() if line.startswith("✔ run ")]) == 14
    assert pv.read_csv("r.csv").num_rows == 14
    assert Path("r.html").read_text().startswith("<!doctype html>")
    assert "<svg" in Path("r.svg").read_text()
    again = compass("run", "tune.yml", "--json")
    events = [json.loads(line) for line in again.out.splitlines()]
    assert [event["event"] for event in events] == ["report"]
    assert events[0]["report"]["status"]["used"] == 14


def test_everything_can_be_said_with_flags(folder: Path) -> None:
    words = ["--command", "./law.sh {threads} {tile} {flags}", "--domain", "threads=1,2,4,8"]
    words += ["--domain", "tile=16..64:16", "--domain", "flags=O2,O3", "--goal", "runtime=minimize"]
    words += ["--read", r"runtime=/time: (\S+)/", "--budget", "3", "--store", "a.experiment"]
    done = compass("run", *words, "--add", "threads=4, tile=64, flags=O3", "--json")
    assert done.code == 0, done.err
    events = [json.loads(line) for line in done.out.splitlines()]
    ended = [e["run"] for e in events if e["event"] == "run" and e["run"]["state"] == "done"]
    assert [run["number"] for run in ended] == [1, 2, 3]
    assert ended[0]["config"] == {"threads": 4.0, "tile": 64.0, "flags": "O3"}
    for run in ended:
        assert run["outcomes"]["runtime"] == pytest.approx(law(run["config"]), abs=1e-5)


def test_several_goals_are_run_to_their_front(folder: Path) -> None:
    plan = PLAN.replace("{runtime: minimize}", "{runtime: minimize, threads_used: minimize}")
    plan = plan.replace("read: {", r"read: {threads_used: '/threads: (\S+)/', ")
    Path("tune.yml").write_text(plan)
    Path("law.sh").write_text(PROGRAM + 'echo "threads: $1"\n')
    words = ["--svg", "r.svg", "--png", "r.png", "--html", "r.html", "--reference", "runtime=30"]
    done = compass("run", "tune.yml", *words)
    assert done.code == 0, done.err
    assert "trade-offs between small runtime and small threads_used" in done.out
    assert "reference runtime 30," in done.out
    assert "hypervolume so far" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())
    assert Path("r.png").read_bytes().startswith(b"\x89PNG")
    assert Path("r.svg").read_text().count("<circle") >= 4
    shown = json.loads(compass("experiments", "show", "tune.experiment", "--json").out)
    points = shown["status"]["front"]["points"]
    assert [point["place"] for point in points] == list(range(len(points)))
    assert all(point["runs"] for point in points)


def test_runs_made_by_hand(folder: Path) -> None:
    Path("tune.yml").write_text(PLAN.replace("command:", "#"))
    refused(compass("run", "tune.yml"), "no command", "compass next")
    shown = compass("next", "tune.experiment", "-n", "2", "--csv", "runs.csv")
    assert shown.code == 0, shown.err
    assert "run 1: far from everything that was run" in shown.out
    lines = Path("runs.csv").read_text().splitlines()
    assert lines[0] == "run,threads,tile,flags,runtime,failure"
    Path("runs.csv").write_text(f"{lines[0]}\n{lines[1][:-2]},5.5,\n{lines[2][:-2]},,no memory\n")
    told = compass("tell", "tune.experiment", "runs.csv")
    assert told.code == 0, told.err
    assert "took in 2 runs" in told.err
    typed = compass("tell", "tune.experiment", "--run", "threads=4, tile=64, flags=O3, runtime=4.8")
    assert "took in 1 run\n" in typed.err
    runs = compass("experiments", "runs", "tune.experiment")
    assert "failed: no memory" in runs.out
    added = compass("experiments", "add", "tune.experiment", "threads=8,tile=64,flags=O3")
    assert "added 1 run" in added.err
    listed = compass("experiments", "list", "tune.experiment")
    assert listed.out == "tune: 1 suggested, 2 done, 1 failed\n"
    assert "cancelled 1 run" in compass("experiments", "cancel", "tune.experiment").err
    exported = compass("experiments", "export", "tune.experiment", "--optuna", "study.db")
    assert "added 4 runs" in exported.err
    status = json.loads(compass("experiments", "show", "tune.experiment", "--json").out)["status"]
    assert status["best"]["outcomes"] == {"runtime": 4.8}


def test_what_cannot_be_is_refused_with_a_hint(folder: Path) -> None:
    for words, message, hint in (
        (("run",), "there is no plan", "compass run PLAN.yml"),
        (("run", "tuna.yml"), "no plan tuna.yml", "tune.yml"),
        (("run", "none.experiment"), "no experiment none.experiment", "begins one"),
        (("run", "tune.yml", "--goal", "runtime"), "is not NAME=VALUE", ""),
        (("run", "tune.yml", "--rule", "threads >= 99"), "threads", ""),
        (("run", "tune.yml", "--stop-below", "2"), "not a share", ""),
        (("run", "tune.yml", "--store", "postgresql://me:secret@127.0.0.1:1/x"), "", ""),
        (("next", "none.experiment"), "no experiment", "begins one"),
        (("tell", "none.experiment", "--run", "run=1, runtime=2"), "no experiment", ""),
        (("experiments", "export", "none.experiment"), "not said what to write", "--csv"),
    ):
        result = compass(*words)
        refused(result, message, hint)
        assert "secret" not in result.err
    assert not Path("log").exists()


def test_a_plan_that_changed_is_another_experiment(folder: Path) -> None:
    assert compass("run", "tune.yml", "--budget", "2").code == 0
    refused(compass("run", "tune.yml", "--seed", "3"), "another plan", "another name")
    refused(compass("run", "tune.experiment", "--goal", "power=?"), "another plan")
    assert compass("run", "tune.experiment").code == 0


def test_budget_and_command_of_an_experiment_may_change(folder: Path) -> None:
    Path("tune.yml").write_text(PLAN.replace("law.sh", "lam.sh"))
    refused(compass("run", "tune.yml", "--budget", "2"), "no program", "built")
    Path("tune.yml").write_text(PLAN)
    assert compass("run", "tune.yml", "--budget", "2").code == 0
    done = compass("run", "tune.experiment", "--budget", "3")
    assert done.code == 0, done.err
    assert "3 of 3 runs" in done.out


def test_one_of_several_experiments_of_a_store_is_asked_and_told(folder: Path) -> None:
    for name in ("small", "large"):
        plan = {"columns": {"tile": {"allowed": [1, 2, 4, 8]}}, "goals": {"runtime": "minimize"}}
        Experiment.start(plan, "both.experiment", name).close()
    refused(compass("next", "both.experiment"), "no experiment 'both'", "small, large")
    shown = compass("next", "both.experiment", "--name", "large", "-n", "1")
    assert shown.code == 0, shown.err
    assert "compass tell both.experiment --name large --run" in shown.out.replace("\n", " ")
    run = ("--run", "run=1, runtime=5")
    refused(compass("tell", "both.experiment", *run), "no experiment 'both'", "small, large")
    assert "took in 1 run\n" in compass("tell", "both.experiment", *run, "--name", "large").err
    run = ("--run", "run=2, runtime=infeasible: too big")
    assert compass("next", "both.experiment", "--name", "large", "-n", "1").code == 0
    assert compass("tell", "both.experiment", *run, "--name", "large").code == 0
    listed = compass("experiments", "list", "both.experiment")
    assert listed.out == "small: no runs yet\nlarge: 1 done, 1 infeasible\n"
    for words in (("next", "runs.csv"), ("tell", "tune.compass", *run)):
        refused(compass(*words, "--name", "large"), "--name says which experiment", "leave it out")


OLD = "threads,tile,flags,runtime\n4,64,O2,5.5\n8,64,O2,5\n3,64,O2,4\n8,64,O3,4.5\n"


def test_the_past_runs_of_a_plan_are_learnt_from_and_its_name_is_that_of_the_experiment(
    folder: Path,
) -> None:
    Path("plans").mkdir()
    Path("plans/old.csv").write_text(OLD)
    Path("other.csv").write_text(OLD.replace("3,64,O2,4\n", ""))
    text = PLAN.replace("command:", "#") + "history: old.csv\nname: mine\n"
    Path("plans/tune.yml").write_text(text)
    begun = compass("run", "plans/tune.yml")
    assert begun.code == 2  # there is no command
    note = "note: 3 past runs are learnt from; 1 is left out: the plan does not allow it\n"
    assert note in begun.err
    assert "past runs" not in compass("run", "plans/tune.yml").err  # once
    listed = compass("experiments", "list", "plans/tune.experiment")
    assert listed.out.startswith("mine: ")
    other = compass("run", "plans/tune.yml", "--history", "other.csv", "--store", "o.experiment")
    assert "note: 3 past runs are learnt from\n" in other.err
    named = compass("run", "plans/tune.yml", "--store", "o.experiment", "--name", "yours")
    assert "1 is left out" in named.err
    assert "yours: " in compass("experiments", "list", "o.experiment").out


def test_a_result_that_differs_is_said(folder: Path) -> None:
    Path("tune.yml").write_text(PLAN.replace("command:", "#"))
    compass("run", "tune.yml")
    assert compass("next", "tune.experiment").code == 0
    assert "took in 1 run\n" in compass("tell", "tune.experiment", "--run", "run=1,runtime=5").err
    again = compass("tell", "tune.experiment", "--run", "run=1, runtime=5").err
    assert "took in 0 runs, 1 known already\n" in again
    told = compass("tell", "tune.experiment", "--run", "run=1, runtime=6")
    assert "took in 0 runs; 1 ended otherwise before and stays so\n" in told.err
    told = compass("tell", "tune.experiment", "--run", "run=1, runtime=6", "--json")
    counts = json.loads(told.out)
    assert (counts["new"], counts["known"], counts["differ"]) == (0, 0, 1)
