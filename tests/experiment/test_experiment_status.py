"""The learning curve, the errors by label, and what is exported of an experiment."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.experiment.law_case import law, plan

import compass as cp
from compass.domain.answer import Prediction
from compass.domain.errors import BadInput, DataProblem
from compass.domain.experiment import MeasuredRun, RunState
from compass.experiment.experiment import Experiment
from compass.experiment.export import awaited, table_of, to_optuna, write_table
from compass.experiment.labels import interval_width
from compass.experiment.page import page
from compass.experiment.picture import braille, svg
from compass.experiment.space import OF_TABLE


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An experiment of thirty runs, every seventh of which failed."""
    place = tmp_path_factory.mktemp("made") / "tune.experiment"
    with Experiment.start(plan(budget=31, stop_below=0), place) as experiment:
        for _ in range(30):
            (run,) = experiment.next()
            if run.number % 7:
                experiment.tell(run.number, {"runtime": law(run.config)})
            else:
                experiment.tell(run.number, failed="<out of memory>")
        experiment.next()
        yield experiment


def test_the_curve_is_the_least_so_far(made):
    curve = made.report().curve
    measured = [np.inf if p.measured is None else p.measured for p in curve]
    assert [p.best for p in curve] == pytest.approx(np.minimum.accumulate(measured).tolist())
    assert [p.failed for p in curve] == [p.number % 7 == 0 for p in curve]
    assert sum(p.better for p in curve) == len(set(np.minimum.accumulate(measured)))


def test_errors_are_those_of_the_runs_with_that_label(made):
    report = made.report()
    told = [r for r in report.runs if r.predicted and r.state is RunState.DONE]
    assert sum(one.runs for one in report.errors) == len(told)
    for one in report.errors:
        own = [r for r in told if r.label is one.label]
        off = [
            abs(r.predicted[0].value - r.outcomes["runtime"]) / r.outcomes["runtime"] for r in own
        ]
        assert one.mean_error == pytest.approx(np.mean(off))
        inside = [r.predicted[0].low <= r.outcomes["runtime"] <= r.predicted[0].high for r in own]
        assert one.inside == pytest.approx(np.mean(inside))


def test_pictures_show_every_run(made):
    curve = made.report().curve
    text = svg(curve, "runtime", "s")
    assert text.count("<circle") == len(curve)
    lines = braille(curve, "s", width=40)
    assert all(len(line) <= 60 for line in lines)
    assert "30 runs" in lines[-1]
    assert braille(curve[:0]) == []
    assert "no run has a result yet" in svg([], "runtime")


def test_the_page_escapes_what_runs_say(made):
    text = page(made.report(), {"runtime": "s"})
    assert "&lt;out of memory&gt;" in text
    assert "<out of memory>" not in text
    assert text.count("<tr") == 31 + 1 + len(made.report().errors) + 1


def test_the_runs_are_a_table_and_past_runs_of_an_engine(made, tmp_path):
    path = tmp_path / "runs.parquet"
    write_table(made.plan, made.space, made.runs(), path)
    table = pq.read_table(path)
    assert table.num_rows == 30
    assert table.column("failure").null_count == 26
    data = made.dataset()
    assert set(data.prepared.space.having(cp.domain.space.Role.KNOB)) == {
        "threads",
        "tile",
        "flags",
    }
    engine = cp.Compass(data)
    answer = engine.recommend(ask=["threads", "tile", "flags"], goals={"runtime": cp.minimize})
    assert answer.best_measured is not None
    none_yet = table_of(made.plan, made.space, ())  # columns keep their types where all is null
    for name in ("label", "origin", "state", "failure"):
        assert none_yet.schema.field(name).type == table.schema.field(name).type
    with pytest.raises(BadInput, match="form of"):
        write_table(made.plan, made.space, made.runs(), tmp_path / "runs.xlsx")


def test_an_experiment_without_results_has_no_dataset(tmp_path):
    with (
        Experiment.start(plan(), tmp_path / "x.experiment") as experiment,
        pytest.raises(DataProblem, match="no run has a result"),
    ):
        experiment.dataset()


def test_awaited_runs_are_a_table_to_fill_in(made):
    lines = awaited(made.plan, made.space, made.runs()).splitlines()
    assert lines[0] == "run,threads,tile,flags,runtime,failure"
    assert len(lines) == 2
    assert lines[1].startswith("31,")


def test_a_study_of_optuna_has_the_runs_once(made, tmp_path):
    import optuna

    place = str(tmp_path / "study.db")
    assert to_optuna(made.plan, made.space, made.runs(), place, "tune") == 30
    assert to_optuna(made.plan, made.space, made.runs(), place, "tune") == 0
    study = optuna.load_study(study_name="tune", storage=f"sqlite:///{place}")
    assert study.best_value == pytest.approx(made.best().outcomes["runtime"])
    states = [trial.state.name for trial in study.trials]
    assert states.count("FAIL") == 4


def test_a_lucky_repeat_is_not_the_best(tmp_path):
    """Of `good` both runs take 4; of `lucky` one takes 1 and one 100, ten in the geometric mean."""
    given = plan(repeats=2, stop_below=0)
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        lucky = {"threads": 2, "tile": 64, "flags": "O2"}
        good = {"threads": 4, "tile": 64, "flags": "O2"}
        for config in (lucky, good):
            experiment.enqueue(config)
        for number, seconds in ((1, 1.0), (2, 100.0), (3, 4.0), (4, 5.0)):
            experiment.next()
            experiment.tell(number, {"runtime": seconds})
            if number == 1:
                assert experiment.best().number == 1
        best, curve = experiment.best(), experiment.report().curve
        assert best.config["threads"] == 4
        assert best.number in (3, 4)
        middle = 20**0.5
        assert [p.best for p in curve] == pytest.approx([1.0, 10.0, 4.0, middle])
        assert [p.better for p in curve] == [True, False, True, False]


def test_the_mean_of_values_below_zero_is_the_plain_one(tmp_path):
    given = plan(goals={"balance": "maximize"}, repeats=3, stop_below=0)
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        for run in experiment.next(3):
            experiment.tell(run.number, {"balance": {1: -4.0, 2: 1.0, 3: 0.0}[run.number]})
        assert experiment.report().curve[-1].best == pytest.approx(-1.0)
        assert experiment.best().outcomes == {"balance": 0.0}  # the nearest to the mean


def test_a_configuration_of_which_a_run_misses_a_bound_is_not_the_best(tmp_path):
    given = plan(goals={"runtime": "minimize", "power": "<= 200"}, repeats=2, stop_below=0)
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        told = {1: (5.0, 100.0), 2: (5.0, 300.0), 3: (9.0, 100.0), 4: (9.0, 100.0)}
        for run in experiment.next(4):
            runtime, power = told[run.number]
            experiment.tell(run.number, {"runtime": runtime, "power": power})
        assert experiment.best().number in (3, 4)
        assert [p.best for p in experiment.report().curve] == [5.0, None, 9.0, 9.0]


def test_the_axis_is_what_is_minimised_or_all_goals_together(tmp_path):
    units = {"power": "W", "runtime": "s"}
    for goals, title in (
        ({"power": "<= 200", "runtime": "minimize"}, "runs (runtime)"),
        ({"power": "minimize", "runtime": "minimize"}, "runs (hypervolume)"),
        ({"a<b": "minimize"}, "runs (a&lt;b)"),
    ):
        place = tmp_path / f"{len(title)}.experiment"
        with Experiment.start(plan(goals=goals), place) as experiment:
            (run,) = experiment.next()
            experiment.tell(run.number, dict.fromkeys(goals, 5.0))
            text = page(experiment.report(), units)
        text = text[text.index("Learning curve") :]
        assert f">{title}</text>" in text
        assert (" W</text>" in text, " s</text>" in text) == (False, "runtime)" in title)


def test_tables_have_the_columns_whose_names_nothing_else_may_have(made):
    table = table_of(made.plan, made.space, made.runs())
    assert set(table.column_names) - {*made.space.names, "runtime"} == set(OF_TABLE)


def test_a_csv_has_no_formulas_and_parquet_is_as_it_is(tmp_path):
    columns = {"-O": {"values": ["-O3", "=1+1"]}, "tile": {"allowed": [16, 32]}}
    with Experiment.start(plan(columns=columns, rules=[]), tmp_path / "x.experiment") as experiment:
        for run in experiment.next(4):
            experiment.tell(run.number, {"runtime": -1.5}, failed="=cmd()")
        for name in ("r.csv", "r.parquet"):
            write_table(experiment.plan, experiment.space, experiment.runs(), tmp_path / name)
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[0].startswith('"run","\'-O","tile","runtime"')
    assert all('"\'-O3"' in line or '"\'=1+1"' in line for line in lines[1:])
    assert all('"\'=cmd()"' in line and ",-1.5," in line for line in lines[1:])
    table = pq.read_table(tmp_path / "r.parquet")
    assert set(table.column("-O").to_pylist()) == {"-O3", "=1+1"}


def test_optuna_is_given_numbers_that_may_be_none_and_no_illegal_past_runs(tmp_path):
    import optuna

    columns = {
        "cap": {"low": 100, "high": 300, "step": 50, "missing": "none"},
        "gpus": {"allowed": [1, 2, 4], "missing": "none"},
        "flags": {"values": ["O2", "O3"]},
    }
    given = plan(columns=columns, rules=[])
    with Experiment.start(given, tmp_path / "x.experiment") as experiment:
        for number, config in enumerate(
            (
                {"cap": 100, "gpus": 2, "flags": "O2"},
                {"cap": None, "gpus": 4, "flags": "O3"},
                {"cap": 150, "gpus": None, "flags": "O3"},
            ),
            1,
        ):
            experiment.enqueue(config)
            experiment.next()
            experiment.tell(number, {"runtime": float(number)})
        # As they may be in a store that was begun by an earlier version.
        old = [
            MeasuredRun(config={"cap": cap, "gpus": gpus, "flags": flags}, outcomes={"runtime": 1})
            for cap, gpus, flags in ((110, 2, "O2"), (100, 3, "O2"), (100, 2, "O9"))
        ]
        experiment.store.attach(experiment.name, old)
        place = str(tmp_path / "study.db")
        assert to_optuna(given, experiment.space, experiment.runs(), place, "tune") == 3
    study = optuna.load_study(study_name="tune", storage=f"sqlite:///{place}")
    found = sorted((t.params for t in study.trials), key=lambda params: "cap" in params)
    assert found[0] == {"gpus": 4.0, "flags": "O3"}
    assert {"cap": 150, "gpus": None, "flags": "O3"} in found


def test_widths_are_factors_in_the_whole_experiment_or_in_none_of_it():
    def width(low: float, high: float, *, positive: bool, widened: float = 1.0) -> float:
        told = Prediction(name="x", value=low, low=low, high=high, level=0.9)
        return interval_width(told, positive=positive, widened=widened)

    assert width(1.0, np.e, positive=True) == pytest.approx(1.0)
    assert width(1.0, np.e, positive=True, widened=2.0) == pytest.approx(0.5)
    assert width(1.0, 3.0, positive=False) == 2.0
    assert width(-1.0, 3.0, positive=False) == 4.0
    assert np.isnan(width(-1.0, 3.0, positive=True))
