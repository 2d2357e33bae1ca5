"""What certainty costs, beside the chances of every configuration there is."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from bound_task import bound
from compass.domain.answer import Price
from compass.evidence.assessor import Assessor
from compass.evidence.prices import prices
from compass.generate.base import Candidates, Floats, generator_for
from compass.generate.certain import generate_certain
from compass.generate.loss import proximity
from compass.generate.score import score
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder
from compass.prepare.legal import legal_values
from conftest import QUICK, ROLES, cluster_columns

RULES = ["cores <= 32 * nodes", "cores >= 8 * nodes"]
SLOWER = "Reconfigure X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {runtime: <= %g}"


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    columns = cluster_columns(500)
    scatter = np.random.default_rng(0).lognormal(0, 0.15, 500)  # then certainty costs something
    columns["runtime"] = (np.array(columns["runtime"]) * scatter).tolist()
    data = cp.read(pa.table(columns)).roles(**ROLES)
    return cp.Compass(data, rules=RULES, settings=QUICK).fit()


def asked(
    engine: cp.Compass, row: int, share: float, **options: object
) -> tuple[SearchTask, Assessor, Candidates]:
    """The search for a run that takes this share of what a row took."""
    took = float(engine.data.row(row)["runtime"])  # type: ignore[arg-type]
    task, assessor = bound(engine, SLOWER % (share * took), run=row, **options)
    _, found = generate_certain(generator_for(task), task)
    return task, assessor, found


def everything(task: SearchTask) -> Floats:
    """Every configuration that obeys the rules."""
    values = [
        legal_values(parameter, 100) if j in task.free else task.start[[j]]
        for j, parameter in enumerate(task.space.parameters)
    ]
    X = np.stack(np.meshgrid(*values), axis=-1).reshape(-1, len(values))  # type: ignore[arg-type]
    return X[score(task, X).violation == 0]


def encoded(task: SearchTask, price: Price) -> Floats:
    return Encoder(task.space).encode(price.config)


ROWS = [0, 3, 5, 8, 13, 21, 29, 30, 32, 34, 55, 89, 144]


@pytest.mark.parametrize("row", ROWS)
def test_every_price_is_the_smallest_supported_change_with_its_chance(
    engine: cp.Compass, row: int
) -> None:
    task, assessor, found = asked(engine, row, 0.7)
    assert found.exhaustive
    assert task.chances is not None
    assert task.supported is not None
    X = everything(task)
    likely, near = task.chances.least(X), proximity(X, task.origin, task.geometry)
    good = task.supported(X)
    told = prices(task, assessor, found)
    assert [price.chance for price in told] == [0.5, 0.8, 0.95]
    for price in told:
        fine = good & (likely >= price.chance - 1e-9)
        assert price.reached == fine.any()
        if not price.reached:
            assert price == Price(chance=price.chance, reached=False)
            continue
        assert price.distance == pytest.approx(near[fine].min())
        x = encoded(task, price)
        assert task.chances.least(x[None, :])[0] >= price.chance - 1e-9
        assert score(task, x[None, :]).violation[0] == 0
        assert task.supported(x[None, :])[0]
        assert price.distance == pytest.approx(proximity(x[None, :], task.origin, task.geometry)[0])
        names = [n for n, a, b in zip(task.space.names, x, task.origin, strict=True) if a != b]
        assert price.settings == {name: price.config[name] for name in names}
        assert price.outcomes == assessor.predicted(x)


def test_more_certainty_never_costs_less(engine: cp.Compass) -> None:
    dearer = 0
    for row in ROWS:
        for share in (0.9, 0.6):
            told = prices(*asked(engine, row, share, chance=0.7))
            assert [price.chance for price in told] == [0.5, 0.7, 0.8, 0.95]
            # Once a chance cannot be reached, no higher one can.
            assert [price.reached for price in told] == sorted(
                (price.reached for price in told), reverse=True
            )
            costs = [price.distance for price in told if price.distance is not None]
            assert costs == sorted(costs)
            dearer += len(costs) > 1 and costs[0] < costs[-1]
    assert dearer > 3


def test_the_chance_asked_for_is_among_the_prices(engine: cp.Compass) -> None:
    told = prices(*asked(engine, 5, 0.9, chance=0.9))
    assert [price.chance for price in told] == [0.5, 0.8, 0.9, 0.95]


def test_what_nobody_can_reach_has_no_price(engine: cp.Compass) -> None:
    told = prices(*asked(engine, 5, 0.001))
    assert [price.reached for price in told] == [False] * 3


def test_prices_are_about_a_change_and_about_goals_with_a_chance(engine: cp.Compass) -> None:
    recommend = "Recommend X = {cores: ?} to achieve Y = {runtime: <= 50} where app == wrf"
    task, assessor = bound(engine, recommend)
    assert prices(task, assessor, generate_certain(LegalSearch, task)[1]) == ()
    smallest = "Reconfigure X = {cores: ?} to achieve Y = {runtime: minimize}"
    task, assessor = bound(engine, smallest, run=5)
    assert prices(task, assessor, generate_certain(LegalSearch, task)[1]) == ()
    what_if = "What if we change X = {cores: 16}, how would that affect Y = {runtime}"
    task, assessor = bound(engine, what_if, run=5)
    assert prices(task, assessor, generate_certain(LegalSearch, task)[1]) == ()


def test_only_what_past_runs_support_has_a_price(engine: cp.Compass) -> None:
    task, assessor, found = asked(engine, 29, 0.7)
    gpus = task.space.names.index("gpus")
    least = prices(task, assessor, found)[1]
    taken = least.config["gpus"]

    def others(X: Floats) -> np.ndarray:
        return np.asarray(X[:, gpus] != taken)

    X = everything(task)
    assert task.chances is not None
    fine = others(X) & (task.chances.least(X) >= 0.8)
    told = prices(replace(task, supported=others), assessor, found)[1]
    assert told.reached
    assert told.config["gpus"] != taken
    assert told.distance is not None
    assert told.distance >= proximity(X[fine], task.origin, task.geometry).min() - 1e-9
