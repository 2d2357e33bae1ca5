"""Asking for runs, telling what came of them, adding and cancelling: on a real store."""

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv_file
import pytest
from tests.experiment.law_case import BEST, law, plan

from compass.domain.errors import BadInput, DataProblem, ExperimentProblem, QueryProblem
from compass.domain.experiment import ExperimentRun, RunChange, RunOrigin, RunState
from compass.engine.dataset import read
from compass.experiment.experiment import Experiment
from compass.experiment.results import tell_all


@pytest.fixture
def begun(tmp_path):
    with Experiment.start(plan(), tmp_path / "tune.experiment") as experiment:
        yield experiment


def loop(experiment: Experiment, most: int = 100, batch: int = 1) -> None:
    for _ in range(most):
        runs = experiment.next(batch)
        if not runs:
            return
        for run in runs:
            experiment.tell(run.number, {"runtime": law(run.config)})


def test_the_loop_finds_the_minimum_of_a_law_and_asks_nothing_twice(begun):
    loop(begun)
    runs = begun.runs()
    assert len(runs) <= 40
    assert len({tuple(run.config.items()) for run in runs}) == len(runs)
    assert all(float(r.config["threads"]) * float(r.config["tile"]) <= 1024 for r in runs)
    best = begun.best()
    assert law(best.config) < 1.05 * law(BEST)
    status = begun.status()
    assert status.used == len(runs)
    assert status.best.number == best.number
    assert status.stop is not None


def test_a_batch_is_asked_together_without_repeats(tmp_path):
    with Experiment.start(plan(stop_below=0), tmp_path / "x.experiment") as experiment:
        loop(experiment, batch=8)
        runs = experiment.runs()
        assert len(runs) == len({tuple(run.config.items()) for run in runs}) == 40
        assert law(experiment.best().config) < 1.1 * law(BEST)


def test_an_experiment_goes_on_where_another_process_left_it(tmp_path):
    place = tmp_path / "tune.experiment"
    with Experiment.start(plan(), place) as first:
        asked = first.next(3)
    with Experiment.open(place) as second:
        assert [run.number for run in second.runs()] == [1, 2, 3]
        other = second.next(1)[0]
        assert other.config not in [run.config for run in asked]
    with pytest.raises(ExperimentProblem, match="another plan"):
        Experiment.start(plan(seed=7), place)
    with Experiment.start(plan(budget=7), place) as third:
        assert third.plan.budget == 7
        assert third.events()[-1].facts == {"changed": {"budget": 7}}


def test_the_same_runs_are_suggested_after_a_restart(tmp_path):
    def configs(name: str, restarts: bool) -> list[dict]:
        experiment = Experiment.start(plan(stop_below=0), tmp_path / name)
        for _ in range(18):
            if restarts:
                experiment.close()
                experiment = Experiment.open(tmp_path / name)
            (run,) = experiment.next()
            experiment.tell(run.number, {"runtime": law(run.config)})
        found = [run.config for run in experiment.runs()]
        experiment.close()
        return found

    assert configs("a.experiment", False) == configs("b.experiment", True)


def test_a_configuration_of_a_person_is_run_first_and_again_where_asked_twice(begun):
    mine = {"threads": 2, "tile": 32, "flags": "O2"}
    assert begun.enqueue(mine) == 1
    assert begun.enqueue(mine, repeats=2) == 2
    runs = begun.next(4)
    assert [run.origin for run in runs[:3]] == [RunOrigin.PERSON] * 3
    assert [run.repeat for run in runs[:3]] == [0, 1, 2]
    assert runs[3].origin is not RunOrigin.PERSON
    with pytest.raises(BadInput, match="not legal"):
        begun.enqueue({**mine, "tile": 33})


def test_results_that_are_none_are_failed_runs_with_the_reason(begun):
    runs = begun.next(4)
    begun.tell(runs[0].number, {"runtime": "timeout"})
    begun.tell(runs[1].number, {"runtime": float("inf")})
    begun.tell(runs[2].number, {}, failed="out of memory")
    begun.tell(runs[3].number, infeasible="there is no such partition")
    found = begun.runs()
    assert [run.state for run in found] == [RunState.FAILED] * 3 + [RunState.INFEASIBLE]
    assert "'timeout'" in found[0].reason
    assert found[2].reason == "out of memory"
    with pytest.raises(BadInput, match="runtim"):
        begun.tell(runs[0].number, {"runtim": 1.0})


def test_an_ended_run_keeps_its_end(begun):
    (run,) = begun.next()
    assert begun.tell(run.number, {"runtime": 5.0})
    assert begun.tell(run.number, {"runtime": 5.0})  # the same once more changes nothing
    assert not begun.tell(run.number, {"runtime": 6.0})
    assert begun.run(run.number).outcomes == {"runtime": 5.0}


def test_cancelled_runs_are_not_awaited_and_cost_nothing(begun):
    runs = begun.next(3)
    begun.tell(runs[0].number, {"runtime": 5.0})
    assert begun.cancel(runs[1].number) == 1
    assert begun.cancel() == 1
    assert begun.status().used == 1
    with pytest.raises(QueryProblem, match="run 1 is done"):
        begun.cancel(1)
    others = begun.next(5)  # what somebody cancelled is not given to them again
    assert {run.key for run in others}.isdisjoint({run.key for run in runs})


def test_what_cannot_be_tried_is_not_suggested_again_and_ends_nothing(begun):
    tried = set()
    for _ in range(12):
        (run,) = begun.next()
        assert run.key not in tried
        tried.add(run.key)
        begun.tell(run.number, infeasible="no such partition")
    assert begun.status().used == 0
    (run,) = begun.next()
    assert begun.tell(run.number, {"runtime": law(run.config)})


def test_a_configuration_of_a_person_is_not_added_twice_unless_meant(begun):
    mine = {"threads": 2, "tile": 32, "flags": "O2"}
    assert [begun.enqueue(mine, again=False) for _ in range(2)] == [1, 0]


def test_runs_beyond_the_budget_are_refused(tmp_path):
    with Experiment.start(plan(budget=1), tmp_path / "x.experiment") as experiment:
        experiment.next()
        with pytest.raises(QueryProblem, match="budget of 1 runs is spent"):
            experiment.enqueue(BEST)


def test_all_events_are_read_however_many(begun):
    runs = begun.next(1)
    number, running = runs[0].number, RunState.RUNNING
    begun.change([RunChange(number=number, state=running, job=str(n)) for n in range(1200)])
    events = begun.events()
    assert len(events) > 1200
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert begun.events(after=1100) == events[1100:]


def test_a_status_without_models_says_nothing_of_going_on(begun):
    for run in begun.next(20):
        begun.tell(run.number, {"runtime": law(run.config)})
    whole, short = begun.status(), begun.status(outlook=False)
    assert whole.left is not None
    unasked = {"stop": None, "improvement": None, "left": None}
    assert short == whole.model_copy(update=unasked)


def test_a_run_that_cannot_be_made_is_told_as_infeasible(begun):
    first, second = begun.next(2)
    rows = [
        {"run": first.number, "runtime": None, "failure": "infeasible: too few nodes"},
        {"run": second.number, "runtime": "Infeasible : no such flag"},
    ]
    assert tuple(begun.tell_table(pa.Table.from_pylist(rows)))[:2] == (2, 0)
    told = begun.runs()
    assert {run.state for run in told} == {RunState.INFEASIBLE}
    assert [run.reason for run in told] == ["too few nodes", "no such flag"]
    assert begun.status(outlook=False).used == 0
    with pytest.raises(DataProblem, match="only a run that was suggested"):
        begun.tell_table(pa.table({**{n: [v] for n, v in BEST.items()}, "failure": ["infeasible"]}))


def test_tables_tell_runs_by_number_or_configuration(begun, tmp_path):
    runs = begun.next(3)
    path = tmp_path / "runs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["run", "runtime", "failure"])
        writer.writerow([runs[0].number, 5.5, ""])
        writer.writerow([runs[1].number, "", "out of memory"])
        writer.writerow([runs[2].number, "", ""])
    assert begun.tell_table(str(path)) == (2, 0, 0)
    assert [run.state.value for run in begun.runs()] == ["done", "failed", "submitted"]
    columns = {name: [runs[2].config[name], v] for name, v in BEST.items()}
    table = pa.table({**columns, "runtime": [7.0, law(BEST)]})
    assert begun.tell_table(table) == (2, 0, 0)
    assert begun.tell_table(table) == (0, 2, 0)  # nothing is told twice
    assert begun.runs()[2].outcomes == {"runtime": 7.0}
    assert begun.best().config == BEST
    with pytest.raises(DataProblem, match="no column runtime"):
        begun.tell_table(pa.table({"threads": [1], "tile": [16]}))
    with pytest.raises(DataProblem, match="row 0: tile = 17"):
        begun.tell_table(pa.table({"threads": [1], "tile": [17], "flags": ["O2"], "runtime": [1]}))


def test_repeats_are_runs_of_one_configuration(tmp_path):
    with Experiment.start(plan(repeats=3, budget=12), tmp_path / "x.experiment") as experiment:
        runs = experiment.next(3)
        assert len({tuple(run.config.items()) for run in runs}) == 1
        assert [run.repeat for run in runs] == [0, 1, 2]
        loop(experiment)
        assert len(experiment.runs()) == 12


def test_an_experiment_with_bounds_alone_ends_when_they_are_met(tmp_path):
    with Experiment.start(plan(goals={"runtime": "<= 4"}), tmp_path / "x.experiment") as experiment:
        loop(experiment)
        assert law(experiment.best().config) <= 4
        assert experiment.status().stop == "a run meets the goals"


def test_own_history_is_learnt_from_and_found_runs_are_not_repeated(begun):
    legal = [
        {"threads": t, "tile": 64, "flags": f} for t in (1, 2, 4, 16) for f in ("O1", "O2", "O3")
    ]
    table = pa.table(
        {
            **{name: [row[name] for row in legal] for name in ("threads", "tile", "flags")},
            "runtime": [law(row) for row in legal],
        }
    )
    assert begun.attach(read(table)) == (12, 0, 0)
    assert begun.status().history == 12
    (run,) = begun.next()
    assert run.origin is RunOrigin.MODEL
    assert run.config not in [
        {n: float(v) if n != "flags" else v for n, v in row.items()} for row in legal
    ]


def test_history_of_another_input_is_kept_apart(tmp_path):
    given = plan(fixed={"app": "spmv"})
    rows = [{"threads": t, "tile": 64, "flags": "O3", "app": "triad"} for t in (1, 2, 4, 8, 16)]
    table = pa.table(
        {
            **{name: [row[name] for row in rows] for name in rows[0]},
            "runtime": [2 * law(row) for row in rows],
        }
    )
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        assert experiment.attach(read(table)) == (0, 5, 0)
        assert experiment.best() is None
        loop(experiment, most=12)
        assert experiment.best().config["app"] == "spmv"


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(BadInput, match="no experiment"):
        Experiment.open(tmp_path / "none.experiment")
    with Experiment.start(plan(), tmp_path / "a.experiment", "first"):
        pass
    with pytest.raises(BadInput, match="no experiment 'second'") as caught:
        Experiment.open(tmp_path / "a.experiment", "second")
    assert "first" in caught.value.hint


def test_a_result_that_differs_from_that_of_an_ended_run_is_said(begun):
    first, second = begun.next(2)
    table = pa.table({"run": [first.number, second.number], "runtime": [5.0, 6.0]})
    assert begun.tell_table(table) == (2, 0, 0)
    changed = pa.table({"run": [first.number, second.number], "runtime": [5.0, 7.0]})
    told = begun.tell_table(changed)
    assert (told.taken, told.known, told.differ) == (0, 1, 1)
    assert begun.run(second.number).outcomes == {"runtime": 6.0}
    (third,) = begun.next()
    twice = pa.table({"run": [third.number] * 3, "runtime": [5.0, 5.0, 8.0]})
    assert begun.tell_table(twice) == (1, 1, 1)


@pytest.mark.parametrize("number", [float("inf"), float("nan"), 1.9, True, "one", 0, -1, 2**40])
def test_what_is_no_number_of_a_run_is_refused(begun, number):
    begun.next(2)
    with pytest.raises(DataProblem, match=r"row 0: .* is no number of a run"):
        tell_all(begun, [{"run": number, "runtime": 5.0}])
    assert tell_all(begun, [{"run": 1.0, "runtime": 5.0}, {"run": "2", "runtime": 5.0}]).taken == 2


def test_a_run_of_another_class_has_failed(tmp_path):
    given = plan(goals={"runtime": "minimize", "check": "valid"})
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        good, bad = experiment.next(2)
        experiment.tell(good.number, {"runtime": 5.0, "check": "valid"})
        experiment.tell(bad.number, {"runtime": 1.0, "check": "invalid"})
        found = experiment.run(bad.number)
        assert (found.state, found.reason) == (
            RunState.FAILED,
            "check is 'invalid', not 'valid'",
        )
        assert experiment.run(good.number).state is RunState.DONE
        assert experiment.best().number == good.number


def bounded_runs(goals: dict[str, str], place: Path, count: int) -> list[ExperimentRun]:
    """An experiment with a bound on the power, which threads use."""
    with Experiment.start(plan(goals=goals, stop_below=0), place) as experiment:
        while len(experiment.runs()) < count and (runs := experiment.next()):
            for run in runs:
                power = 40.0 + 30.0 * float(run.config["threads"] or 0)
                experiment.tell(run.number, {"runtime": law(run.config), "power": power})
        table = experiment.table()
        every = experiment.runs()
    assert any(float(run.outcomes["power"] or 0) > 100 for run in every[:5])  # then nothing is bent
    runs = [one for one in every if one.predicted]
    asked = {run.number: run for run in runs}
    for row in table.to_pylist():
        told = asked.get(row["run"])
        own = None if told is None else next(p for p in told.predicted if p.name == "power")
        assert row["predicted_power"] == (None if own is None else own.value)
    return runs


def test_outcomes_beside_a_bound_are_predicted_each_by_itself(tmp_path):
    runs = bounded_runs({"runtime": "minimize", "power": "<= 100"}, tmp_path / "x.experiment", 26)
    assert len(runs) >= 10
    for name in ("runtime", "power"):
        told = [next(one for one in run.predicted if one.name == name) for run in runs]
        off = [
            abs(float(one.value) / float(run.outcomes[name]) - 1)
            for one, run in zip(told, runs, strict=True)
        ]
        assert sorted(off)[len(off) // 2] < 0.25
    assert any(run.label is not None for run in runs)
    assert "meets the bounds with" in runs[-1].why


def test_of_goals_that_are_one_number_only_the_bound_is_predicted(tmp_path):
    goals = {"runtime": "minimize", "seconds_more": "minimize", "power": "<= 100"}
    given = plan(goals=goals, weights={"seconds_more": 2.0}, stop_below=0)
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        for _ in range(12):
            (run,) = experiment.next()
            power = 40.0 + 30.0 * float(run.config["threads"] or 0)
            told = {"runtime": law(run.config), "seconds_more": 1.0, "power": power}
            experiment.tell(run.number, told)
        names = {one.name for run in experiment.runs() for one in run.predicted}
    assert names == {"power"}


def past(**columns: list[object]) -> pa.Table:
    """Four past runs of one configuration, with some columns changed."""
    rows = {"threads": [4] * 4, "tile": [64] * 4, "flags": ["O2"] * 4}
    return pa.table({**rows, "runtime": [5.0, 6.0, 7.0, 8.0], **columns})


def test_past_runs_that_the_plan_does_not_allow_are_left_out_and_counted(begun):
    table = past(threads=[4, 3, 16, 4], tile=[64, 64, 128, 64], flags=["O2", "O2", "O2", "O9"])
    found = begun.attach(read(table))
    assert (found.own, found.others, found.left_out) == (1, 0, 3)
    assert [run.outcomes["runtime"] for run in begun.runs()] == [5.0]
    with pytest.raises(DataProblem, match="no past run has values that the experiment allows"):
        begun.attach(read(past(tile=[65] * 4)))


def test_past_runs_without_the_fixed_column_are_own_where_the_table_has_none(tmp_path):
    given = plan(fixed={"app": "spmv"})
    with Experiment.start(given, tmp_path / "a.experiment") as experiment:
        assert experiment.attach(read(past())) == (4, 0, 0)
    with Experiment.start(given, tmp_path / "b.experiment") as experiment:
        apps = ["spmv", None, "triad", None]
        assert experiment.attach(read(past(app=apps))) == (1, 3, 0)


def test_a_plan_file_names_the_experiment_and_its_past_runs(tmp_path):
    folder = tmp_path / "plans"
    folder.mkdir()
    csv_file.write_csv(past(), folder / "old.csv")
    (folder / "tune.yml").write_text(
        "columns: {threads: {allowed: [2, 4]}, tile: {allowed: [64]}, flags: {values: [O2, O3]}}\n"
        "goals: {runtime: minimize}\nhistory: old.csv\nname: second\n"
    )
    for _ in range(2):  # they are attached once
        with Experiment.start(folder / "tune.yml", tmp_path / "tune.experiment") as experiment:
            assert experiment.name == "second"
            assert experiment.status().history == 4
    with Experiment.start(folder / "tune.yml", tmp_path / "tune.experiment", "third") as experiment:
        assert experiment.name == "third"
    (folder / "old.csv").unlink()
    with pytest.raises(BadInput, match=r"old\.csv"):
        Experiment.start(folder / "tune.yml", tmp_path / "other.experiment")
