"""Small problems whose every configuration can be listed."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Space
from compass.domain.target import Target
from compass.generate.predict import Averaged
from compass.generate.task import SearchTask
from compass.language import bind_rule, parse_rule
from compass.model.base import Fitted, Task, family
from compass.prepare.geometry import Geometry
from compass.rules import compile_rule
from compass.settings import ForestSettings, Settings

Floats = NDArray[np.float64]

SPACE = Space(
    parameters=(
        Number(name="a", low=1, high=12, step=1),
        Number(name="b", low=1, high=16, allowed=(1, 2, 4, 8, 16)),
        Category(name="c", values=("x", "y", "z")),
        Number(name="d", low=0, high=4, step=1),
    )
)
SETTINGS = Settings(surrogate="forest", forest=ForestSettings(trees=15, depth=8))


def everything() -> Floats:
    """Every legal configuration, [900, 4]."""
    return np.array(
        list(product(range(1, 13), (1, 2, 4, 8, 16), range(3), range(5))), dtype=np.float64
    )


def law(X: Floats) -> Floats:
    a, b, c, d = X.T
    return np.asarray(100 / a + (b - 5) ** 2 + 7 * c * (d - 2) + 3 * d)


def model(seed: int = 0) -> tuple[Fitted, Floats]:
    rng = np.random.default_rng(seed)
    X = everything()[rng.permutation(900)[:500]]
    noisy = law(X) + rng.normal(0, 2, len(X))
    fitted = family("forest").fit(X, noisy, task=Task(), weight=None, seed=seed, settings=SETTINGS)
    return fitted, X


def task(
    fitted: Fitted,
    observed: Floats,
    start: Floats,
    target: Target,
    rules: tuple[str, ...] = (),
    free: tuple[int, ...] = (0, 1, 2, 3),
    forced: tuple[int, ...] = (),
    count: int = 1,
    proximity: bool = True,
    settings: Settings = SETTINGS,
    weight: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
    seed: int = 7,
) -> SearchTask:
    compiled = tuple(
        compile_rule(bind_rule(parse_rule(text), SPACE), SPACE, SPACE.names, text) for text in rules
    )
    movable = np.array([*free, *forced], dtype=np.int64)
    scale = everything().std(axis=0)
    scale[2] = 1.0
    return SearchTask(
        space=SPACE,
        start=start,
        free=np.array(free, dtype=np.int64),
        forced=np.array(forced, dtype=np.int64),
        rules=compiled,
        outcome_rules=(),
        outcomes=("y",),
        targets=(target,),
        labels={},
        predict=Averaged({"y": fitted}, start[None, :], movable),
        geometry=Geometry(
            scale=scale,
            weight=np.array(weight),
            category=np.array([False, False, True, False]),
            none=np.full(4, np.nan),
        ),
        observed=observed,
        proximity=proximity,
        count=count,
        seed=seed,
        settings=settings,
    )
