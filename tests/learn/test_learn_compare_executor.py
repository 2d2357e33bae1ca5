"""Where models are compared makes no difference: the same winner, the same numbers to the bit."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from learn_select_cases import FEW, QUICK, changed, laid

import compass as cp
from compass import registry
from compass.domain.answer import FamilyScore
from compass.execute import WorkerLost
from compass.execute.processes import Processes
from compass.execute.threads import Threads
from compass.learn import elimination, select
from compass.learn.compare import compare_families
from compass.learn.compared import ComparedRecipe
from compass.learn.elimination import Evaluator, eliminate
from compass.model.base import FamilyDefaults
from compass.model.recipe import Recipe


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    made = Processes("2")
    yield made
    made.close()


def timeless(scores: tuple[FamilyScore, ...]) -> list[FamilyScore]:
    """The scores without how long they took; families of equal standing by name."""
    found = [score.model_copy(update={"seconds": 0.0}) for score in scores]
    return sorted(found, key=lambda score: score.family)


def test_the_same_choice_on_any_number_of_workers(processes: Processes) -> None:
    cv = laid(settings=changed(folds=5))
    expected = compare_families(cv, families=FEW)
    for executor in (Threads("4"), processes):
        found = compare_families(cv, families=FEW, executor=executor)
        assert found.recipe == expected.recipe
        assert timeless(found.scores) == timeless(expected.scores)


def test_the_same_choice_when_few_rows_are_learnt_first(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elimination, "_FIRST", 50)
    cv = laid(200)
    expected = compare_families(cv, families=FEW)
    found = compare_families(cv, families=FEW, executor=processes)
    assert found.recipe == expected.recipe
    assert timeless(found.scores) == timeless(expected.scores)


@pytest.mark.parametrize("family", ["forest", "linear"])
def test_the_folds_of_a_recipe_have_the_same_errors(processes: Processes, family: str) -> None:
    cv, recipe = laid(), Recipe(family=family)
    expected, _ = select._errors(cv, recipe, None)
    found, seconds = select._errors(cv, recipe, processes)
    assert found == expected
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
    assert timeless(one.card.scores) == timeless(other.card.scores)
    left, right = one.model.arrays(), other.model.arrays()
    assert left.keys() == right.keys()
    for name, array in left.items():
        assert np.array_equal(array, right[name], equal_nan=array.dtype.kind == "f"), name


class Deadly(FamilyDefaults):
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
        cv = laid()
        recipes = [ComparedRecipe(Recipe(family=name)) for name in ("deadly", "linear")]
        executor = Lost("2")
        eliminate(Evaluator(cv, executor, np.inf), recipes, None)
        assert recipes[0].reason == "failed: it ended its worker"
        assert len(recipes[1].errors) == cv.count
        with pytest.raises(WorkerLost):
            compare_families(cv, families=["deadly"], executor=executor)
        executor.close()
    finally:
        registry.remove("surrogate", "deadly")
