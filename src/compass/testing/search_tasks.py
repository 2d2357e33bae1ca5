"""Small problems for generators, most of which can be listed whole."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from compass.domain.space import Category, Number, Role, Space
from compass.domain.target import Target
from compass.generate.base import Bools, Floats
from compass.generate.score import ScoredCandidates, score
from compass.generate.task import SearchTask
from compass.language import bind_rule, parse_rule
from compass.prepare.geometry import Geometry
from compass.prepare.legal import legal_values
from compass.rules import Rule, compile_rule
from compass.settings import Settings

SPACE = Space(
    parameters=(
        Number(name="a", low=1, high=12, step=1),
        Number(name="b", low=1, high=16, allowed=(1, 2, 4, 8, 16)),
        Category(name="c", values=("x", "y", "z")),
        Number(name="d", low=0, high=4, step=1, optional=True),
    )
)
OPEN = Space(
    parameters=(
        Number(name="p", low=0, high=1),
        Number(name="q", low=0, high=1),
        Number(name="r", low=1, high=100, step=1),
    )
)
OUTCOMES = (
    Number(name="cost", role=Role.OUTCOME, low=0, high=1e6),
    Category(name="done", role=Role.OUTCOME, values=("no", "yes")),
)


class Law:
    """Predictions by a formula, with nothing known about where they change."""

    def __init__(self, space: Space) -> None:
        self._open = space is OPEN

    def __call__(self, X: Floats) -> dict[str, Floats]:
        """The cost float64[n, 1], and the scores float64[n, 2] of being done."""
        cost = _open_cost(X) if self._open else _cost(X)
        yes = 1 / (1 + np.exp((cost - 45) / 10))
        return {"cost": cost[:, None], "done": np.column_stack([1 - yes, yes])}

    parts = None

    def gradient(self, X: Floats) -> dict[str, Floats] | None:
        """Not offered by this formula."""
        del X
        return None

    def edges(self, column: int) -> Floats | None:
        """Not known for a formula."""
        del column
        return None


def _cost(X: Floats) -> Floats:
    a, b, c, d = X.T
    extra = np.where(d > 4, 5.0, 3 * d)  # d = none is beyond the range
    return np.asarray(100 / a + (b - 5) ** 2 / 4 + 7 * c + extra)


def _open_cost(X: Floats) -> Floats:
    p, q, r = X.T
    return np.asarray(10 + 50 * (p - 0.3) ** 2 + 40 * (q - 0.6) ** 2 + 0.3 * np.abs(r - 40))


@dataclass(frozen=True)
class GeneratorCase:
    """A problem and its name."""

    label: str
    task: SearchTask

    @property
    def look(self) -> str:
        """The code that poses the problem."""
        return f"plugin.generate(compass.testing.search_tasks.case('{self.label}').task)"


def cases() -> tuple[GeneratorCase, ...]:
    """One problem for each thing that a generator has to cope with."""
    cheap = (Target(name="cost", direction="minimize", scale=30.0),)
    dear = (Target(name="cost", direction="maximize", scale=30.0),)
    limit = (Target(name="cost", high=45.0, scale=30.0),)
    rules = ("a * b <= 32", "a % b == 0", "c == 'x' -> b >= 2")
    done = (Target(name="done", label="yes", is_class=True),)
    start, held = (4.0, 2.0, 1.0, 1.0), (0, 1)
    out_of_reach = (Target(name="cost", high=1.0, scale=30.0),)
    near = task(limit, rules, start=(2.0, 1.0, 2.0, 3.0), count=4, familiar=True)
    return (
        GeneratorCase("minimise", task(cheap, start=start, proximity=False)),
        GeneratorCase("minimise under rules", task(cheap, rules, start=start, proximity=False)),
        GeneratorCase("smallest change", task(limit, start=(2.0, 16.0, 2.0, 3.0), count=1)),
        GeneratorCase("smallest change under rules", near),
        GeneratorCase("more answers than there are", task(limit, start=start, free=(0,), count=50)),
        GeneratorCase("two columns held", task(limit, rules[:1], start=start, free=held)),
        GeneratorCase("one value left", task(limit, ("a == 2 * b",), start=start, free=(0,))),
        GeneratorCase("columns that give way", _giving_way(limit, start)),
        GeneratorCase("a start with none", task(limit, rules[:1], start=(1.0, 1.0, 0.0, _none()))),
        GeneratorCase(
            "a condition on the outcome", task(dear, outcome=("cost <= 60",), start=start)
        ),
        GeneratorCase("a class", task(done, rules[:1], start=(1.0, 16.0, 2.0, 4.0))),
        GeneratorCase("two goals", task((*cheap, *done), start=start, proximity=False)),
        GeneratorCase("nothing to move", task(limit, start=start, free=())),
        GeneratorCase(
            "nothing to move and a goal missed", task(out_of_reach, start=start, free=())
        ),
        GeneratorCase("rules that conflict", task(limit, ("a < 3", "a > 5"), start=start)),
        GeneratorCase("a goal out of reach", task(out_of_reach, start=start, free=held)),
        GeneratorCase("numbers without a grid", _open(limit)),
    )


def case(label: str) -> GeneratorCase:
    """The problem of that name."""
    return next(one for one in cases() if one.label == label)


def _none() -> float:
    parameter = SPACE["d"]
    assert isinstance(parameter, Number)
    return parameter.none_code


def _giving_way(targets: tuple[Target, ...], start: tuple[float, ...]) -> SearchTask:
    return task(targets, ("a == 2 * b", "b <= 8"), start=start, free=(0,), forced=(1, 2, 3))


def _open(targets: tuple[Target, ...]) -> SearchTask:
    return task(targets, ("p + q <= 1",), start=(0.9, 0.05, 90.0), space=OPEN, free=(0, 1, 2))


def task(
    targets: tuple[Target, ...],
    rules: Iterable[str] = (),
    *,
    start: tuple[float, ...],
    free: tuple[int, ...] = (0, 1, 2, 3),
    forced: tuple[int, ...] = (),
    outcome: Iterable[str] = (),
    count: int = 3,
    proximity: bool = True,
    familiar: bool = False,
    space: Space = SPACE,
    seed: int = 7,
) -> SearchTask:
    """A problem on one of the two spaces; columns are given by their places."""
    both = Space(parameters=(*space.parameters, *OUTCOMES))
    rng = np.random.default_rng(1)
    observed = np.column_stack([rng.choice(_some(p), 200) for p in space])
    law = Law(space)
    measured = law(observed)
    return SearchTask(
        space=space,
        start=np.array(start),
        free=np.array(free, dtype=np.int64),
        forced=np.array(forced, dtype=np.int64),
        rules=tuple(_rule(text, space) for text in rules),
        outcome_rules=tuple(_rule(text, both) for text in outcome),
        outcomes=tuple(p.name for p in OUTCOMES),
        targets=targets,
        labels={t.name: 1 for t in targets if t.is_class},
        predict=law,
        geometry=_geometry(space, observed),
        observed=observed,
        proximity=proximity,
        count=count,
        seed=seed,
        settings=Settings(),
        familiar=_familiar if familiar else None,
        measured=lambda: measured,
    )


def _familiar(X: Floats) -> Bools:
    return np.asarray(X[:, 0] <= 8)


def _rule(text: str, space: Space) -> Rule:
    return compile_rule(bind_rule(parse_rule(text), space), space, space.names, text)


def _some(parameter: Number | Category) -> Floats:
    values = legal_values(parameter, 1000)
    if values is not None:
        return values
    assert isinstance(parameter, Number)
    return np.linspace(parameter.low, parameter.high, 101)


def _geometry(space: Space, observed: Floats) -> Geometry:
    category = np.array([isinstance(p, Category) for p in space])
    scale = np.where(category, 1.0, observed.std(axis=0))
    return Geometry.of(space, scale, np.ones(len(space)))


def everything(problem: SearchTask) -> ScoredCandidates | None:
    """Every legal configuration with its score, rules broken or not; None: too many to list."""
    columns = []
    for place, parameter in enumerate(problem.space):
        if place not in problem.movable:
            columns.append(problem.start[[place]])
            continue
        values = legal_values(parameter, 1000)
        if values is None:
            return None
        columns.append(values)
    return score(problem, np.array(list(product(*columns)), dtype=np.float64))
