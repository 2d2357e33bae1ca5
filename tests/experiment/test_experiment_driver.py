"""Driving an experiment: real processes, what can go wrong, and kills at any moment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.experiment.law_case import BEST, PLAN, law

from compass.domain.errors import CompassError, ExperimentProblem
from compass.domain.experiment import ExperimentRun, RunOrigin, RunState
from compass.experiment.driver import drive, runs_folder
from compass.experiment.experiment import Experiment
from compass.experiment.plan_file import plan_of

# The law of `law_case` in the shell: starting Python would take longer than everything else.
PROGRAM = r"""#!/bin/sh
echo "$COMPASS_RUN" >> "$LOG"
awk -v t="$1" -v s="$2" -v f="$3" 'BEGIN {
  split("O1 3 O2 1.5 O3 1 Ofast 0.9", a, " "); for (i = 1; i < 8; i += 2) w[a[i]] = a[i + 1]
  d = log(s) / log(2) - 6; if (d < 0) d = -d
  printf "time: %.6f s\n", 10 / t + 0.2 * t + 0.7 * d + w[f] }'
"""


class Seen:
    """A watcher that keeps what it saw."""

    def __init__(self) -> None:
        self.ended: list[ExperimentRun] = []
        self.notes: list[str] = []

    def changed(self, run: ExperimentRun) -> None:
        if run.state.ended:
            self.ended.append(run)

    def tick(self) -> None: ...

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    program = tmp_path / "law.sh"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return tmp_path


def begun(place: str = "tune.experiment", **changes) -> Experiment:
    raw = {
        **PLAN,
        "command": "./law.sh {threads} {tile} {flags}",
        "read": {"runtime": r"/time: (\S+)/"},
        **changes,
    }
    return Experiment.start(plan_of(raw), place)


def test_a_driver_makes_runs_until_more_are_not_worth_it(folder):
    with begun(budget=30) as experiment:
        seen = Seen()
        drive(experiment, seen)
        runs = experiment.runs()
        assert [run.number for run in seen.ended] == [run.number for run in runs]
        for run in runs:
            assert run.outcomes["runtime"] == pytest.approx(law(run.config), abs=1e-5)
            assert run.seconds is not None
            assert Path(run.output, "output").read_text().startswith("time: ")
        assert experiment.status().stop is not None
        assert law(experiment.best().config) < 1.1 * law(BEST)
        before = len(runs)
        drive(experiment, Seen())  # nothing is left to do
        assert len(experiment.runs()) == before
        assert sorted(map(int, Path("log").read_text().split())) == list(range(1, before + 1))


def test_several_runs_at_a_time_and_a_configuration_of_a_person(folder):
    with begun(budget=8, runner="local:slots=2") as experiment:
        experiment.enqueue({"threads": 2, "tile": 32, "flags": "O2"})
        drive(experiment, Seen())
        runs = experiment.runs()
        assert [run.state for run in runs] == [RunState.DONE] * 8
        assert runs[0].origin is RunOrigin.PERSON


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"command": "./lam.sh {threads}"}, "no program"),
        ({"command": "./law.sh {thread}"}, "thread"),
        ({"command": "./law.sh {threads} | cat"}, "shell"),
        ({"command": None}, "no command"),
        ({"read": {}}, "how runtime is read"),
        ({"read": {"runtime": "/time: (\\S+/"}}, "pattern"),
        ({"runner": "lokal"}, "lokal"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(folder, changes, message):
    with (
        pytest.raises(CompassError, match=message),
        begun(**changes) as experiment,
    ):
        drive(experiment, Seen())
    assert not Path("log").exists()


def test_a_driver_stops_where_nothing_gives_a_result(folder):
    with begun(read={"runtime": r"/never: (\S+)/"}) as experiment:
        with pytest.raises(
            ExperimentProblem, match="5 runs failed and none gave a result"
        ) as caught:
            drive(experiment, Seen())
        assert "never" in caught.value.message
        assert experiment.status().used == 5


def test_what_was_printed_is_read_again_when_the_reading_is_mended(folder):
    with begun(read={"runtime": r"/never: (\S+)/"}) as experiment, pytest.raises(ExperimentProblem):
        drive(experiment, Seen())
    seen = Seen()
    with begun(read={"runtime": r"/time: (\S+)/"}, budget=5) as experiment:
        drive(experiment, seen)
        runs = experiment.runs()
    assert [run.state for run in runs] == [RunState.DONE] * 5
    assert [run.reason for run in runs] == [""] * 5
    for run in runs:
        assert run.outcomes["runtime"] == pytest.approx(law(run.config), abs=1e-5)
    assert len(seen.ended) == 5
    assert len(Path("log").read_text().split()) == 5  # nothing was run again


def test_the_reason_told_is_that_of_most_runs(folder):
    Path("law.sh").write_text(
        "#!/bin/sh\nif [ $COMPASS_RUN = 5 ]; then echo one of its own; exit 3; fi\necho time\n"
    )
    with begun() as experiment, pytest.raises(ExperimentProblem, match="no line of the output"):
        drive(experiment, Seen())


def test_a_space_that_ends_before_anything_gave_a_result_is_an_error_too(folder):
    columns = {**PLAN["columns"], "threads": {"allowed": [1]}, "tile": {"allowed": [16]}}
    columns["flags"] = {"values": ["O1", "O2"]}
    with (
        begun(read={"runtime": r"/never: (\S+)/"}, columns=columns, rules=[]) as experiment,
        pytest.raises(ExperimentProblem, match="2 runs failed and none gave a result"),
    ):
        drive(experiment, Seen())


def test_what_cannot_be_made_here_is_told_and_the_loop_goes_on(folder):
    Path("law.sh").rename("law-O1.sh")
    for flag in ("O2", "Ofast"):
        Path(f"law-{flag}.sh").write_text(PROGRAM)
        Path(f"law-{flag}.sh").chmod(0o755)
    with begun(command="./law-{flags}.sh {threads} {tile} {flags}", budget=12) as experiment:
        assert experiment.example()["flags"] != "O3"  # else nothing would be begun
        drive(experiment, Seen())
        for run in experiment.runs():
            absent = run.config["flags"] == "O3"
            assert run.state is (RunState.INFEASIBLE if absent else RunState.DONE)
        assert experiment.status().used == 12


def test_experiments_of_one_store_have_folders_of_their_own(folder):
    for name, scale in (("one", 1), ("two", 1000)):
        raw = {**PLAN, "command": "./law.sh {threads} {tile} {flags}", "budget": 3}
        raw["read"] = {"runtime": rf"/time: (\S+)/*{scale}"}
        with Experiment.start(plan_of(raw), "tune.experiment", name) as experiment:
            drive(experiment, Seen())
            for run in experiment.runs():
                assert run.outcomes["runtime"] == pytest.approx(scale * law(run.config), rel=1e-4)
                assert Path(run.output).parent.name == name


def test_runs_that_somebody_else_makes_are_left_alone(folder):
    with begun(budget=3) as experiment:
        (theirs,) = experiment.next(worker="node7")
        drive(experiment, Seen())
        assert experiment.run(theirs.number).state is RunState.SUBMITTED
        assert [run.state for run in experiment.runs()[1:]] == [RunState.DONE] * 2


def test_failed_runs_keep_their_reason_and_the_loop_goes_on(folder):
    Path("law.sh").write_text(PROGRAM + '[ "$1" != 16 ] || { echo "no cores" >&2; exit 3; }\n')
    with begun(budget=20) as experiment:
        drive(experiment, Seen())
        for run in experiment.runs():
            failed = run.config["threads"] == 16
            assert run.state is (RunState.FAILED if failed else RunState.DONE)
            assert ("no cores" in run.reason) == failed


def test_a_cancelled_run_is_ended_and_another_one_made(folder):
    Path("law.sh").write_text(
        PROGRAM.replace("awk", '[ "$COMPASS_RUN" != 1 ] || sleep 900; awk', 1)
    )
    with begun(budget=1) as experiment:

        class Cancels(Seen):
            def tick(self) -> None:
                if any(run.number == 1 for run in experiment.runs(RunState.RUNNING)):
                    experiment.cancel(1)

        drive(experiment, Cancels())
        states = [run.state for run in experiment.runs()]
        assert states == [RunState.CANCELLED, RunState.DONE]


def test_an_interrupted_driver_ends_what_it_makes_and_makes_it_again(folder):
    Path("law.sh").write_text(PROGRAM.replace("awk", "sleep $WAIT; awk", 1))
    os.environ["WAIT"] = "900"
    try:
        with begun(budget=1) as experiment:

            class Interrupts(Seen):
                def tick(self) -> None:
                    if experiment.runs(RunState.RUNNING):
                        raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                drive(experiment, Interrupts())
            assert experiment.run(1).state is RunState.SUGGESTED
            os.environ["WAIT"] = "0"
            drive(experiment, Seen())
            assert experiment.run(1).state is RunState.DONE
            assert sorted(p.name for p in runs_folder(experiment).iterdir()) == [
                "000001-1",
                "000001-2",
            ]
    finally:
        del os.environ["WAIT"]


def test_detached_runs_are_collected_by_the_next_driver(folder):
    with begun(budget=2, runner="local:slots=2") as experiment:
        seen = Seen()
        drive(experiment, seen, detach=True)
        assert not seen.ended
        assert "collects them" in seen.notes[-1]
        drive(experiment, Seen())
        assert [run.state for run in experiment.runs()] == [RunState.DONE] * 2
        assert len(Path("log").read_text().split()) == 2


# Everything is imported once; each driver is a fork of this process.
FORKS = """
import os, sys, random, signal, time
from compass.experiment.experiment import Experiment
from compass.experiment.driver import drive
import compass.experiment.suggest, compass.experiment.store

class Quiet:
    def changed(self, run): ...
    def tick(self): ...
    def note(self, text): ...

rng = random.Random(int(sys.argv[1]))
for kill in range(int(sys.argv[2])):
    child = os.fork()
    if not child:
        try:
            with Experiment.open("tune.experiment") as experiment:
                drive(experiment, Quiet())
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    time.sleep(rng.uniform(0, 0.15))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print("killed", kill + 1, flush=True)
"""


def test_drivers_killed_at_any_moment_lose_nothing_and_repeat_nothing(folder):
    kills = 100
    # All of them cover the space: what is tested is the driver, not the models.
    with begun(budget=60, starts=60, runner="local:slots=2"):
        pass
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", FORKS, "5", str(kills)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout == f"killed {kills}\n", done.stderr
    with Experiment.open("tune.experiment") as experiment:
        drive(experiment, Seen())
        runs = experiment.runs()
        assert len(runs) == 60
        assert {run.state for run in runs} == {RunState.DONE}
        for run in runs:
            assert run.outcomes["runtime"] == pytest.approx(law(run.config), abs=1e-5)
        # Every run was made once: its supervisor outlives the driver.
        assert sorted(map(int, Path("log").read_text().split())) == [run.number for run in runs]
        ends = [e for e in experiment.events() if e.state is RunState.DONE]
        assert sorted(e.number for e in ends) == [run.number for run in runs]


def test_two_drivers_share_the_runs(folder, store_place):
    with begun(store_place, budget=12):
        pass
    code = FORKS.partition("rng =")[0] + (
        "with Experiment.open(os.environ['PLACE']) as experiment:\n    drive(experiment, Quiet())\n"
    )
    environment = {
        **os.environ,
        "PLACE": store_place,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OMP_NUM_THREADS": "1",
    }
    both = [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(2)]
    assert [one.wait(timeout=300) for one in both] == [0, 0]
    with Experiment.open(store_place) as experiment:
        runs = experiment.runs()
        assert len(runs) == 12
        assert {run.state for run in runs} == {RunState.DONE}
        assert len({run.key for run in runs}) == 12
        assert sorted(map(int, Path("log").read_text().split())) == list(range(1, 13))
