"""Experiments with several goals: what is run next, and the front of what was measured."""

import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from tests.experiment.law_case import law, plan

from compass.domain.errors import CompassError, StudyProblem
from compass.domain.experiment import RunState
from compass.engine.dataset import read
from compass.experiment.experiment import Experiment
from compass.experiment.export import table_of
from compass.experiment.front import MeasuredRuns, front_of_runs, volume_curve
from compass.experiment.objective import Objective
from compass.experiment.page import page
from compass.pareto.front import nondominated, reference_of
from compass.pareto.hypervolume import hypervolume

TWO = {"runtime": "minimize", "power": "minimize"}


def outcomes(config):
    """Power grows with threads and with aggressive flags; a rate is work per second."""
    runtime, threads = law(config), float(config["threads"])
    power = 20 + 6 * threads + {"O1": 0, "O2": 2, "O3": 5, "Ofast": 9}[config["flags"]]
    return {"runtime": runtime, "power": power, "rate": 100 / runtime, "heat": power / 2}


def told(experiment, count, batch=1, noise=0.0):
    """Make so many runs, and tell what the goals ask for."""
    rng = np.random.default_rng(1)
    made = 0
    while made < count and (runs := experiment.next(min(batch, count - made))):
        for run in runs:
            own = outcomes(run.config)
            known = {n: own[n] * math.exp(noise * rng.standard_normal()) for n in own}
            experiment.tell(run.number, {n: known[n] for n in experiment.plan.goals})
            made += 1


def shares(experiment):
    """The volume of what was run, and of as many random runs, as a share of the true front's."""
    pool = experiment._chooser._problem.pool.X
    decode = experiment._chooser._encoder.decode
    signs = experiment.objective.extremes
    truth = np.array([[s * outcomes(c)[n] for n, s in signs.items()] for c in map(decode, pool)])
    own = [[s * outcomes(r.config)[n] for n, s in signs.items()] for r in experiment.runs()]
    reference = reference_of(truth[nondominated(truth)], truth)
    whole = hypervolume(truth, reference).value
    drawn = [np.random.default_rng(i).permutation(len(truth))[: len(own)] for i in range(20)]
    chance = np.mean([hypervolume(truth[some], reference).value for some in drawn])
    return hypervolume(np.array(own), reference).value / whole, chance / whole


@pytest.mark.parametrize(
    "goals",
    [TWO, {"rate": "maximize", "power": "minimize"}, {**TWO, "rate": "maximize"}],
)
def test_few_runs_find_more_than_chance(tmp_path, goals):
    given = plan(goals=goals, budget=28, stop_below=0)
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        told(experiment, 28, batch=2)
        runs = experiment.runs()
        assert len({run.key for run in runs}) == len(runs) == 28
        ours, chance = shares(experiment)
        assert ours > 0.9
        assert ours > chance - 0.03
        report = experiment.report()
        chosen = [run for run in runs if run.predicted]
        assert len(chosen) > 10
        assert all({one.name for one in run.predicted} == set(goals) for run in chosen)
        assert all(one.low < one.value < one.high for run in chosen for one in run.predicted)
        assert report.title == "hypervolume"
        volumes = [point.best or 0 for point in report.curve]
        assert volumes == sorted(volumes)
        assert volumes[-1] == pytest.approx(report.status.front.hypervolume)
        assert report.status.best.number in {n for p in report.status.front.points for n in p.runs}


def test_a_batch_waits_for_nobody_and_repeats_nothing(tmp_path):
    with Experiment.start(plan(goals=TWO), tmp_path / "x.experiment") as experiment:
        told(experiment, 12)
        first, second = experiment.next(4), experiment.next(4)
        assert len({run.key for run in experiment.runs()}) == 20
        assert all(run.state is RunState.SUBMITTED for run in (*first, *second))


def test_a_front_goes_on_where_another_process_left_it(tmp_path):
    """The next run follows from the store alone: not from what a process remembers."""
    keys = []
    for name in ("a", "b"):
        place = tmp_path / f"{name}.experiment"
        with Experiment.start(plan(goals=TWO), place) as experiment:
            told(experiment, 13)
            if name == "a":
                keys.append(experiment.next(2))
        if name == "b":
            with Experiment.open(place) as again:
                keys.append(again.next(2))
    assert [run.key for run in keys[0]] == [run.key for run in keys[1]]


def test_bounds_stand_beside_the_front(tmp_path):
    """Runs that miss a bound are no trade-off, and what misses it likely is not tried."""
    goals = {**TWO, "heat": "<= 40"}
    given = plan(goals=goals, budget=30, stop_below=0)
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        told(experiment, 30)
        front = experiment.status(outlook=False).front
        by_number = {run.number: run for run in experiment.runs()}
        on_front = [by_number[n] for point in front.points for n in point.runs]
        assert all(run.outcomes["heat"] <= 40 for run in on_front)
        by_model = [run for run in by_number.values() if run.predicted]
        missed = [run for run in by_model if run.outcomes["heat"] > 40]
        assert len(missed) < len(by_model) / 3


def test_what_fails_is_kept_away_from_and_is_no_trade_off(tmp_path):
    given = plan(goals=TWO, budget=30, stop_below=0)
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        for _ in range(30):
            (run,) = experiment.next()
            own = outcomes(run.config)
            if run.config["threads"] == 16:
                experiment.tell(run.number, failed="out of memory")
            else:
                experiment.tell(run.number, {n: own[n] for n in TWO})
        failed = experiment.runs(RunState.FAILED)
        by_model = [run for run in experiment.runs() if run.predicted]
        assert len([run for run in failed if run.predicted]) < len(by_model) / 3
        curve = experiment.report().curve
        assert [p.failed for p in curve] == [r.state is RunState.FAILED for r in experiment.runs()]


def test_repeated_runs_say_which_points_are_told_apart(tmp_path):
    given = plan(goals=TWO, budget=40, repeats=2, stop_below=0)
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        told(experiment, 40, batch=2, noise=0.1)
        measured = MeasuredRuns.of(experiment.objective, experiment.runs())
        front = front_of_runs(experiment.objective, experiment.runs())
    assert 0.05 < measured.scatter.max() < 0.2  # the runs scatter by 0.1
    by_number = {run.number: run for run in measured.runs}
    for point in front.points:
        assert len(point.runs) == point.measured == 2
        for name, value in point.values.items():
            own = [by_number[number].outcomes[name] for number in point.runs]
            assert value == pytest.approx(math.sqrt(own[0] * own[1]))
            low, high = point.intervals[name]
            assert low < value < high
    for one in front.points:
        for two in front.points:
            if one is not two:
                ranges = [(one.intervals[n], two.intervals[n]) for n in TWO]
                overlap = all(a[0] <= b[1] and b[0] <= a[1] for a, b in ranges)
                assert overlap == (two.place in one.alike)


def test_the_volume_is_up_to_what_is_given(tmp_path):
    given = plan(goals=TWO, reference={"runtime": 30, "power": 140})
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        told(experiment, 10)
        front = experiment.status(outlook=False).front
        values = np.array([list(point.values.values()) for point in front.points])
        curve = experiment.report().curve
    assert front.reference == {"runtime": 30, "power": 140}
    assert set(front.reference_from.values()) == {"given"}
    assert front.hypervolume == pytest.approx(hypervolume(values, np.array([30.0, 140.0])).value)
    assert curve[-1].best == pytest.approx(front.hypervolume)
    for before, after in pairwise(front.points):
        first, second = (tuple(point.values.values()) for point in (before, after))
        assert first == second or (first[0] < second[0] and first[1] > second[1])


def test_the_curve_of_more_outcomes_is_sampled_close_to_the_volume(tmp_path):
    goals = {**TWO, "rate": "maximize", "heat": "minimize"}
    with Experiment.start(plan(goals=goals, starts=20), tmp_path / "x.experiment") as experiment:
        told(experiment, 20, batch=20)
        front = experiment.status(outlook=False).front
        curve = volume_curve(experiment.objective, experiment.runs())
    assert curve[-1].best == pytest.approx(front.hypervolume, rel=0.1)


def test_the_front_of_another_machine_is_where_it_begins(tmp_path):
    with Experiment.start(
        plan(goals=TWO, fixed={"machine": "new"}, starts=6), tmp_path / "x.experiment"
    ) as experiment:
        configs = [
            {"threads": t, "tile": tile, "flags": f}
            for t in (1, 2, 4, 8)
            for tile in (32, 64, 96)
            for f in ("O1", "Ofast")
        ]
        rows = [{**c, **{n: 2 * outcomes(c)[n] for n in TWO}, "machine": "old"} for c in configs]
        experiment.attach(read(pa.Table.from_pylist(rows)))
        runs = experiment.next(6)
        why = [run.why for run in runs]
    assert why.count("on the front of past runs of another kind") == 3
    assert all(run.config["machine"] == "new" for run in runs)


def test_every_prediction_has_columns_and_the_page_shows_the_front(tmp_path):
    with Experiment.start(plan(goals=TWO), tmp_path / "x.experiment") as experiment:
        told(experiment, 13)
        table = table_of(experiment.plan, experiment.space, experiment.runs())
        text = page(experiment.report(), experiment.units)
    predicted = {name for name in table.column_names if name.startswith("predicted")}
    assert predicted == {f"predicted_{n}{end}" for n in TWO for end in ("", "_low", "_high")}
    assert table.column("predicted_power").null_count < table.num_rows
    assert "<h2>Front</h2>" in text
    assert "Most balanced trade-off" in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"goals": {f"o{i}": "minimize" for i in range(6)}}, "the most that are traded off are 5"),
        ({"goals": {"runtime": "minimize"}, "reference": {"runtime": 3}}, "says nothing here"),
        ({"goals": TWO, "reference": {"heat": 3}}, "says nothing here"),
        ({"goals": TWO, "weights": {"power": 2}, "reference": {"power": 3}}, "says nothing here"),
    ],
)
def test_what_cannot_be_traded_off_is_said(changes, message):
    with pytest.raises(StudyProblem, match=message):
        Objective(plan(**changes))


def test_outcomes_whose_predictions_share_a_column_are_refused(tmp_path):
    goals = {"power": "minimize", "power_low": "minimize"}
    with pytest.raises(StudyProblem, match="columns of the same name"):
        Experiment.start(plan(goals=goals), tmp_path / "x.experiment")


def test_weights_still_make_one_number(tmp_path):
    given = plan(goals=TWO, weights={"power": 2})
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        told(experiment, 6)
        status = experiment.status(outlook=False)
    assert status.front is None
    assert status.best is not None


def test_botorch_chooses_where_it_is_asked_to(tmp_path):
    """Four outcomes; a batch with others pending has no run twice, and says what chose it."""
    four = {"rate": "maximize", "power": "minimize", "heat": "minimize", "runtime": "minimize"}
    given = plan(goals=four, acquisition="qlognparego", stop_below=0)
    place = tmp_path / "x.experiment"
    with Experiment.start(given, place) as experiment:
        told(experiment, 12)
        experiment.next(3)
    with Experiment.open(place) as again:
        chosen = again.next(3)
        assert len({run.key for run in again.runs()}) == 18
    assert all("qLogNParEGO" in run.model for run in chosen)
    assert all(one.low < one.value < one.high for run in chosen for one in run.predicted)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"acquisition": "qlognehv"}, "qlognehv"),
        ({"acquisition": "qlognehvi", "weights": {"power": 2}}, "says nothing here"),
    ],
)
def test_an_acquisition_that_cannot_be_is_refused_before_a_file_is_made(tmp_path, changes, message):
    with pytest.raises(CompassError, match=message):
        Experiment.start(plan(goals=TWO, **changes), tmp_path / "x.experiment")
    assert not (tmp_path / "x.experiment").exists()
