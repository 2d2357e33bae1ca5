"""Where models are compared makes no difference: the same winner, the same numbers to the bit."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from model_select_cases import FEW, QUICK, changed, laid

import compass as cp
from compass import registry
from compass.domain.answer import FamilyScore
from compass.execute import WorkerLost
from compass.execute.processes import Processes
from compass.execute.threads import Threads
from compass.learn import choose
from compass.learn import elimination as race
from compass.learn.select import select
from compass.model.recipe import Recipe


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    made = Processes("2")
    yield made
    made.close()


def told(scores: tuple[FamilyScore, ...]) -> list[FamilyScore]:
    """The scores without how long they took; families of equal standing by name."""
    timeless = [score.model_copy(update={"seconds": 0.0}) for score in scores]
    return sorted(timeless, key=lambda score: score.family)


def test_the_same_choice_on_any_number_of_workers(processes: Processes) -> None:
    here = laid(settings=changed(folds=5))
    alone = select(here, families=FEW)
    for executor in (Threads("4"), processes):
        found = select(here, families=FEW, executor=executor)
        assert found.recipe == alone.recipe
        assert told(found.scores) == told(alone.scores)


def test_the_same_choice_when_few_rows_are_learnt_first(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race, "_FEW", 50)
    here = laid(200)
    alone = select(here, families=FEW)
    found = select(here, families=FEW, executor=processes)
    assert found.recipe == alone.recipe
    assert told(found.scores) == told(alone.scores)


@pytest.mark.parametrize("family", ["forest", "linear"])
def test_the_folds_of_a_recipe_have_the_same_errors(processes: Processes, family: str) -> None:
    here, recipe = laid(), Recipe(family=family)
    alone, _ = choose._errors(here, recipe, None)
    found, seconds = choose._errors(here, recipe, processes)
    assert found == alone
    assert seconds > 0


def test_an_engine_learns_the_same_models_to_the_bit(processes: Processes) -> None:
    rng = np.random.default_rng(4)
    nodes, size = rng.choice([1, 2, 4, 8], 160), rng.uniform(1, 9, 160)
    table = pa.table({"nodes": nodes, "size": size, "runtime": size / nodes + 0.1})
    engines = []
    for executor in (None, processes):
        data = cp.read(table).roles(knobs=["nodes"], context=["size"], outcomes=["runtime"])
        engines.append(
            cp.Compass(data, surrogate="forest", settings=QUICK, executor=executor).fit()
        )
        assert engines[-1].store.place is None
    one, other = (next(iter(engine.store.trained.values())) for engine in engines)
    assert one.recipe == other.recipe
    assert told(one.card.scores) == told(other.card.scores)
    left, right = one.model.arrays(), other.model.arrays()
    assert left.keys() == right.keys()
    for name, array in left.items():
        assert np.array_equal(array, right[name], equal_nan=array.dtype.kind == "f"), name


class Deadly:
    """A family whose library ends the process."""

    name = "deadly"

    @staticmethod
    def fit(*_: Any, **__: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Lost(Threads):
    """Threads that lose the worker of one family, as a cluster would."""

    def map(self, work: Any, items: Any) -> Any:
        safe = [place for place, item in enumerate(items) if item.recipe.family != "deadly"]
        for place, result in super().map(work, [items[place] for place in safe]):
            yield safe[place], result
        for place in set(range(len(items))) - set(safe):
            raise WorkerLost("it ended its worker", position=place)


def test_a_family_that_ends_its_workers_is_left_out() -> None:
    registry.add("surrogate", "deadly")(Deadly)
    try:
        here = laid()
        runners = [race.Runner(Recipe(family=name)) for name in ("deadly", "linear")]
        executor = Lost("2")
        race.race(race.Track(here, executor, np.inf), runners, None)
        assert runners[0].reason == "failed: it ended its worker"
        assert len(runners[1].errors) == here.parts
        with pytest.raises(WorkerLost):
            select(here, families=["deadly"], executor=executor)
        executor.close()
    finally:
        registry.remove("surrogate", "deadly")
