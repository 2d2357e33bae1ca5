"""The forests: Random Forest, the default surrogate, and Extra Trees.

scikit-learn grows the trees; they are used as flat arrays.
"""

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from compass import registry
from compass.execute.processors import cores
from compass.model.base import Floats, Task
from compass.model.search_space import SearchSpace, TunedNumber
from compass.model.trees import flat
from compass.model.trees.fitted import TreeFamily, TreeRows, arranged_forest, check
from compass.model.trees.flat import FlatForest
from compass.settings import ForestSettings, Settings

_SEEDS = np.iinfo(np.int32).max
# Deeper trees than 16 levels make answers slow and proofs hopeless.
_SEARCH_SPACE = SearchSpace(
    "forest",
    (
        TunedNumber("depth", 8, 16, log=False),
        TunedNumber("leaf", 1, 8),
        TunedNumber("features", 0.3, 1.0),
    ),
)
# scikit-learn changes the filters of warnings while it grows a tree, for the whole process: two
# forests at once would leave them in disorder.
_one_at_a_time = Lock()


@registry.add("surrogate", "forest")
class Forest(TreeFamily):
    """Random Forest: robust with few settings, numbers and categories alike."""

    name = "forest"
    search_space = _SEARCH_SPACE
    extra: ClassVar[bool] = False

    @classmethod
    def grown(cls, rows: TreeRows) -> FlatForest:
        """The trees of these rows."""
        return grow(
            rows.X,
            rows.y,
            task=rows.task,
            weight=rows.weight,
            seed=rows.seed,
            settings=rows.settings.forest,
            threads=rows.settings.threads,
            extra=cls.extra,
        )

    @classmethod
    def effort(cls, rows: int, columns: int, task: Task) -> float:
        """It grows with the rows and, more slowly, with the columns."""
        del task
        return (0.6 if cls.extra else 1.0) * (0.03 + 6e-5 * rows * (0.6 + 0.04 * columns))

    @staticmethod
    def relative_cost(settings: Settings, defaults: Settings) -> float:
        """It grows with the number of trees and of columns that are tried at a split."""
        now, before = settings.forest, defaults.forest
        return now.trees / before.trees * (0.3 + 0.7 * now.features / before.features)

    @staticmethod
    def quicker(settings: Settings) -> dict[str, dict[str, Any]]:
        """A quarter of the trees."""
        return {"forest": {"trees": max(settings.forest.trees // 4, 1)}}


@registry.add("surrogate", "extra-trees")
class ExtraTrees(Forest):
    """Extra Trees: a forest that cuts at random places, smoother where runs are few."""

    name = "extra-trees"
    extra = True


def grow(
    X: Floats,
    y: Floats,
    *,
    task: Task,
    weight: Floats | None,
    seed: int,
    settings: ForestSettings,
    threads: int = 0,
    extra: bool = False,
) -> FlatForest:
    """Grow a forest and flatten it.

    `extra`: Extra Trees (all rows, random thresholds) instead of a Random Forest.
    Class scores have one column for each of `task.classes`, also for classes that no row has.

    The trees are those of scikit-learn's forest with this seed. Its own loop is not used: where
    several threads run it, it now and then empties the filters of warnings, and warns of that.
    """
    check(X, y, task, weight)
    # Imported here: a saved model predicts without scikit-learn, which takes a second to load.
    from sklearn import config_context, tree

    name = "ExtraTree" if extra else "DecisionTree"
    kind = getattr(tree, name + ("Regressor" if task.classes is None else "Classifier"))
    # Converted and checked once, not by each tree: of few rows that is a third of the time.
    rows = np.ascontiguousarray(X, dtype=np.float32)

    def one(seed: int) -> Any:
        member = kind(
            max_depth=settings.depth,
            min_samples_leaf=settings.leaf,
            max_features=settings.features,
            random_state=seed,
        )
        drawn = weight if extra else _drawn(weight, len(y), seed)
        with config_context(skip_parameter_validation=True, assume_finite=True):
            return member.fit(rows, y, sample_weight=drawn, check_input=False)

    seeds = np.random.RandomState(seed).randint(_SEEDS, size=settings.trees)
    with _one_at_a_time, warnings.catch_warnings():
        members = _each(one, [int(each) for each in seeds], threads or cores())
    forest = flat.from_trees([member.tree_ for member in members], X.shape[1])
    if task.classes is None:
        return forest
    return arranged_forest(forest, members[0].classes_.astype(np.int64), task.classes)


def _drawn(weight: Floats | None, n: int, seed: int) -> Floats:
    """How often each of n rows is in a sample of n with replacement, heavier rows more often."""
    rng = np.random.RandomState(seed)
    if weight is None:
        rows = rng.randint(0, n, n)
    else:
        rows = rng.choice(n, n, replace=True, p=weight / weight.sum())
    return np.bincount(rows, minlength=n).astype(np.float64)


def _each(one: Callable[[int], Any], seeds: list[int], threads: int) -> list[Any]:
    """Each of them in turn or, as trees are grown without Python's lock, several at a time."""
    if threads == 1 or len(seeds) == 1:
        return [one(seed) for seed in seeds]
    pool = ThreadPoolExecutor(min(threads, len(seeds)))
    try:
        return list(pool.map(one, seeds))
    finally:  # whoever interrupts waits for the trees at hand, not for all
        pool.shutdown(cancel_futures=True)
