"""A small space with several outcomes whose every configuration can be listed."""

from functools import cache
from itertools import product

import numpy as np

from compass.domain.space import Category, Number, Role, Space
from compass.domain.target import Target
from compass.generate.base import Floats
from compass.generate.predict import Averaged
from compass.generate.task import SearchTask
from compass.language import bind_rule, parse_rule
from compass.model.base import Fitted, Task, family
from compass.prepare.geometry import Geometry
from compass.rules import Rule, compile_rule
from compass.settings import ForestSettings, Settings

SPACE = Space(
    parameters=(
        Number(name="a", low=1, high=12, step=1),
        Number(name="b", low=1, high=16, allowed=(1, 2, 4, 8, 16)),
        Category(name="c", values=("x", "y", "z")),
        Number(name="d", low=0, high=4, step=1),
    )
)
OUTCOMES = tuple(
    Number(name=name, role=Role.OUTCOME, low=0, high=1e6) for name in ("runtime", "power", "noise")
)
SETTINGS = Settings(surrogate="forest", forest=ForestSettings(trees=15, depth=8))
SCALES = {"runtime": 30.0, "power": 50.0, "noise": 5.0}


def everything() -> Floats:
    """Every legal configuration, [900, 4]."""
    return np.array(
        list(product(range(1, 13), (1, 2, 4, 8, 16), range(3), range(5))), dtype=np.float64
    )


def laws(X: Floats) -> dict[str, Floats]:
    """The outcomes [n] of configurations X [n, d]: more of a is faster and takes more power."""
    a, b, c, d = X.T
    return {
        "runtime": 100 / a + (b - 5) ** 2 / 4 + 7 * c + d,
        "power": 20 * a + 3 * b + 10 * (2 - c) + (d - 2) ** 2,
        "noise": np.abs(a - 6) + np.abs(b - 4) / 2 + d,
    }


@cache
def models(seed: int = 0) -> dict[str, Fitted]:
    """A forest per outcome, learnt from 500 noisy runs."""
    rng = np.random.default_rng(seed)
    X = everything()[rng.permutation(900)[:500]]
    fitted = {}
    for name, y in laws(X).items():
        noisy = y + rng.normal(0, 1, len(X))
        fitted[name] = family("forest").fit(
            X, noisy, task=Task(), weight=None, seed=seed, settings=SETTINGS
        )
    return fitted


def rule(text: str) -> Rule:
    both = Space(parameters=(*SPACE.parameters, *OUTCOMES))
    return compile_rule(bind_rule(parse_rule(text), both), both, both.names, text)


def own_rule(text: str) -> Rule:
    return compile_rule(bind_rule(parse_rule(text), SPACE), SPACE, SPACE.names, text)


def aims(*names: str) -> tuple[Target, ...]:
    """These outcomes minimised; with a `-` in front one is maximised."""
    return tuple(
        Target(
            name=name.removeprefix("-"),
            direction="maximize" if name.startswith("-") else "minimize",
            scale=SCALES[name.removeprefix("-")],
        )
        for name in names
    )


def task(
    targets: tuple[Target, ...],
    rules: tuple[str, ...] = (),
    *,
    start: Floats | None = None,
    free: tuple[int, ...] = (0, 1, 2, 3),
    outcome_rules: tuple[str, ...] = (),
    proximity: bool = False,
    settings: Settings = SETTINGS,
    count: int = 3,
) -> SearchTask:
    """A search task over the space, with the models of its targets and conditions."""
    start = everything()[0] if start is None else start
    names = tuple(dict.fromkeys(("runtime", "power", "noise")))
    scale = everything().std(axis=0)
    scale[2] = 1.0
    return SearchTask(
        space=SPACE,
        start=start,
        free=np.array(free, dtype=np.int64),
        forced=np.empty(0, dtype=np.int64),
        rules=tuple(own_rule(text) for text in rules),
        outcome_rules=tuple(rule(text) for text in outcome_rules),
        outcomes=names,
        targets=targets,
        labels={},
        predict=Averaged(models(), start[None, :], np.array(free, dtype=np.int64)),
        geometry=Geometry(
            scale=scale,
            weight=np.ones(4),
            category=np.array([False, False, True, False]),
            none=np.full(4, np.nan),
        ),
        observed=everything()[::7],
        proximity=proximity,
        count=count,
        seed=7,
        settings=settings,
    )
