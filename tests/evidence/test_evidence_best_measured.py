"""The best measured run of a question's context, beside a plain loop over the table."""

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from bound_task import bound
from compass.domain.answer import Measured
from compass.evidence.best_measured import best_measured, worse_than_measured
from compass.generate.loss import proximity
from compass.prepare.encode import Encoder
from conftest import QUICK

KNOBS = ("nodes", "cores", "gpus")
CONTEXT = ("app", "size")
RULES = ["cores <= 32 * nodes"]
Row = dict[str, object]


def table(n: int = 360, seed: int = 5) -> dict[str, list[object]]:
    """Runs of few configurations, most of them repeated and with a lot of scatter."""
    rng = np.random.default_rng(seed)
    app, size = rng.choice(["lammps", "wrf"], n), rng.choice([100, 200], n)
    nodes, cores, gpus = rng.choice([1, 2, 4], n), rng.choice([8, 32, 64], n), rng.choice([0, 1], n)
    runtime = size * (0.1 + np.where(app == "wrf", 3, 1) / cores) / (1 + 0.3 * gpus)
    runtime = runtime * rng.lognormal(0, 0.3, n)
    power = 100 * nodes + 2 * cores + 50 * gpus + rng.normal(0, 5, n)
    made = {"app": app, "size": size, "nodes": nodes, "cores": cores, "gpus": gpus}
    made |= {"runtime": runtime, "power": power, "state": np.where(runtime > 30, "late", "done")}
    return {name: values.tolist() for name, values in made.items()}


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    data = cp.read(pa.table(table())).roles(
        knobs=[*KNOBS], context=[*CONTEXT], outcomes=["runtime", "power", "state"]
    )
    return cp.Compass(data, rules=RULES, settings=QUICK).fit()


def configurations(fits: Callable[[Row], bool]) -> dict[tuple[object, ...], list[int]]:
    """The rows of every configuration that fits and obeys the rule."""
    made = table()
    found: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for i in range(len(made["app"])):
        row = {name: values[i] for name, values in made.items()}
        if row["cores"] <= 32 * row["nodes"] and fits(row):  # type: ignore[operator]
            found[tuple(row[name] for name in (*CONTEXT, *KNOBS))].append(i)
    return found


def mean(rows: list[int], name: str) -> float:
    return float(np.mean([table()[name][i] for i in rows]))  # type: ignore[misc]


def best_of(engine: cp.Compass, question: str, **options: object) -> Measured | None:
    return best_measured(*bound(engine, question, **options))


def checked(found: Measured | None, rows: list[int]) -> Measured:
    """It is the configuration of these rows, with their means."""
    assert found is not None
    assert found.rows == tuple(sorted(rows))
    assert found.runs == len(rows)
    first = {name: table()[name][rows[0]] for name in (*CONTEXT, *KNOBS)}
    assert found.config == first
    for name in ("runtime", "power"):
        if name in found.outcomes:
            assert found.outcomes[name] == pytest.approx(mean(rows, name))
    return found


FASTEST = "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {runtime: minimize} "


@pytest.mark.parametrize("app", ["lammps", "wrf"])
@pytest.mark.parametrize("size", [100, 200])
def test_the_best_of_a_context_by_the_mean_of_its_runs(
    engine: cp.Compass, app: str, size: int
) -> None:
    found = best_of(engine, FASTEST + f"where C = {{app == {app}, size == {size}}}")
    every = configurations(lambda row: row["app"] == app and row["size"] == size)
    wanted = min(every.values(), key=lambda rows: mean(rows, "runtime"))
    known = checked(found, wanted)
    assert known.settings == {name: known.config[name] for name in KNOBS}
    assert known.open == {}


def test_one_lucky_run_is_not_the_best_configuration(engine: cp.Compass) -> None:
    every = configurations(lambda row: row["app"] == "wrf" and row["size"] == 100)
    lucky = min(every.values(), key=lambda rows: min(mean([i], "runtime") for i in rows))
    best = min(every.values(), key=lambda rows: mean(rows, "runtime"))
    assert lucky != best  # the table has such a run
    found = best_of(engine, FASTEST + "where C = {app == wrf, size == 100}")
    checked(found, best)


def test_knobs_that_a_recommendation_leaves_open_are_told(engine: cp.Compass) -> None:
    question = "Recommend X = {cores: ?} to achieve Y = {runtime: minimize} "
    found = best_of(engine, question + "where C = {app == wrf, size == 200, gpus == 1}")
    every = configurations(lambda row: (row["app"], row["size"], row["gpus"]) == ("wrf", 200, 1))
    known = checked(found, min(every.values(), key=lambda rows: mean(rows, "runtime")))
    assert known.settings == {"cores": known.config["cores"]}
    assert known.open == {"nodes": known.config["nodes"]}  # gpus are given


def test_conditions_on_knobs_and_on_outcomes_hold(engine: cp.Compass) -> None:
    question = FASTEST + "where C = {app == wrf, size == 200, nodes >= 2, power <= 353}"
    every = configurations(
        lambda row: (
            (row["app"], row["size"]) == ("wrf", 200)
            and row["nodes"] >= 2  # type: ignore[operator]
            and row["power"] <= 353
        )  # type: ignore[operator]
    )
    free = configurations(lambda row: (row["app"], row["size"]) == ("wrf", 200))
    wanted, anyhow = (
        min(some.values(), key=lambda rows: mean(rows, "runtime")) for some in (every, free)
    )
    assert wanted != anyhow  # the condition costs something
    checked(best_of(engine, question), wanted)


def test_two_objectives_count_in_standard_deviations(engine: cp.Compass) -> None:
    question = (
        "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve "
        "Y = {runtime: minimize, power: minimize} where C = {app == wrf, size == 200}"
    )
    task, assessor = bound(engine, question)
    scale = {target.name: target.scale for target in task.targets}
    every = configurations(lambda row: (row["app"], row["size"]) == ("wrf", 200))
    wanted = min(
        every.values(), key=lambda rows: sum(mean(rows, name) / scale[name] for name in scale)
    )
    checked(best_measured(task, assessor), wanted)


def test_of_those_that_meet_a_range_any_is_best_and_where_none_does_the_closest(
    engine: cp.Compass,
) -> None:
    question = "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {runtime: <= %g} "
    where = "where C = {app == wrf, size == 200}"
    every = configurations(lambda row: (row["app"], row["size"]) == ("wrf", 200))
    fastest = min(mean(rows, "runtime") for rows in every.values())
    found = best_of(engine, question % (1.3 * fastest) + where)
    assert found is not None
    assert float(found.outcomes["runtime"]) <= 1.3 * fastest  # type: ignore[arg-type]
    found = best_of(engine, question % (0.1 * fastest) + where)
    checked(found, min(every.values(), key=lambda rows: mean(rows, "runtime")))


RECONFIGURE = "Reconfigure X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {runtime: <= %g}"


@pytest.mark.parametrize("row", [0, 1, 2, 7, 11, 19])
def test_from_a_baseline_the_nearest_that_met_the_goal(engine: cp.Compass, row: int) -> None:
    start = {name: values[row] for name, values in table().items()}
    if start["cores"] > 32 * start["nodes"]:  # type: ignore[operator]
        start |= {"nodes": 4}
    given = {name: start[name] for name in (*CONTEXT, *KNOBS)}
    every = configurations(lambda one: all(one[name] == start[name] for name in CONTEXT))
    goal = float(np.median([mean(rows, "runtime") for rows in every.values()]))
    task, assessor = bound(engine, RECONFIGURE % goal, run=given)
    found = best_measured(task, assessor)
    assert found is not None

    def far(config: tuple[object, ...]) -> float:
        values = dict(zip((*CONTEXT, *KNOBS), config, strict=True))
        x = Encoder(task.space).encode({name: values[name] for name in task.space.names})  # type: ignore[misc]
        return float(proximity(x[None, :], task.origin, task.geometry)[0])

    met = {config: rows for config, rows in every.items() if mean(rows, "runtime") <= goal}
    assert float(found.outcomes["runtime"]) <= goal  # type: ignore[arg-type]
    own = tuple(found.config[name] for name in (*CONTEXT, *KNOBS))
    assert far(own) == pytest.approx(min(far(config) for config in met))
    checked(found, every[own])


def test_from_a_baseline_the_fastest(engine: cp.Compass) -> None:
    question = "Reconfigure X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {runtime: minimize}"
    given = {"app": "lammps", "size": 200, "nodes": 4, "cores": 8, "gpus": 0}
    every = configurations(lambda row: (row["app"], row["size"]) == ("lammps", 200))
    found = best_of(engine, question, run=given)
    checked(found, min(every.values(), key=lambda rows: mean(rows, "runtime")))
    few = {config: rows for config, rows in every.items() if config[-1] == 0}
    found = best_of(engine, question + " where gpus == 0", run=given)
    checked(found, min(few.values(), key=lambda rows: mean(rows, "runtime")))


def test_goals_come_before_what_is_minimised(engine: cp.Compass) -> None:
    question = (
        "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve "
        "Y = {runtime: minimize, power: <= 300} where C = {app == wrf, size == 200}"
    )
    every = configurations(lambda row: (row["app"], row["size"]) == ("wrf", 200))
    met = [rows for rows in every.values() if mean(rows, "power") <= 300]
    wanted = min(met, key=lambda rows: mean(rows, "runtime"))
    assert wanted != min(every.values(), key=lambda rows: mean(rows, "runtime"))
    checked(best_of(engine, question), wanted)


def test_of_classes_the_one_that_was_seen_most_often(engine: cp.Compass) -> None:
    question = "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {state: done} "
    found = best_of(engine, question + "where C = {app == wrf, size == 200}")
    assert found is not None
    every = configurations(lambda row: (row["app"], row["size"]) == ("wrf", 200))
    shares = {
        config: np.mean([table()["state"][i] == "done" for i in rows])
        for config, rows in every.items()
    }
    own = tuple(found.config[name] for name in (*CONTEXT, *KNOBS))
    assert shares[own] == max(shares.values())


def test_a_what_if_and_a_context_without_runs_have_none(engine: cp.Compass) -> None:
    question = "What if we change X = {cores: 32}, how would that affect Y = {runtime}"
    assert best_of(engine, question, run=0) is None
    keep = (
        "What if I change X = {cores: 32}, but I want to keep Y = {power: same within 5%} unchanged"
    )
    assert best_of(engine, keep, run=0) is None
    assert best_of(engine, FASTEST + "where C = {app == wrf, size == 100, runtime <= 0.01}") is None


@pytest.mark.parametrize(("runtime", "power", "worse"), [(3, 3, True), (0.3, 0.3, False)])
def test_a_suggestion_may_be_worse_than_past_runs(
    engine: cp.Compass, runtime: float, power: float, worse: bool
) -> None:
    question = (
        "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve "
        "Y = {runtime: minimize, power: minimize} where C = {app == wrf, size == 200}"
    )
    task, assessor = bound(engine, question)
    best = best_measured(task, assessor)
    assert best is not None
    one = engine.ask(question, prove=0.0)[0]
    said = {"runtime": runtime, "power": power}
    outcomes = tuple(
        known.model_copy(update={"value": said[known.name] * float(best.outcomes[known.name])})  # type: ignore[arg-type]
        for known in one.outcomes
    )
    # Nobody ran three nodes: it is worth what is predicted.
    untried = {"outcomes": outcomes, "config": one.config | {"nodes": 3}}
    assert worse_than_measured(task, assessor, one.model_copy(update=untried), best) is worse
    assert not worse_than_measured(task, assessor, one.model_copy(update=untried), None)
