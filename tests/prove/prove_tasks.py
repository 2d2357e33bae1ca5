"""Small random problems for proofs, all of whose configurations can be listed."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Role, Space
from compass.domain.target import Target
from compass.generate.base import Candidates
from compass.generate.pick import preferred
from compass.generate.predict import Averaged
from compass.generate.repair import restore_forced
from compass.generate.score import ScoredCandidates, score
from compass.generate.task import SearchTask
from compass.language import bind_rule, parse_rule
from compass.model.base import Task
from compass.model.trees.flat import FlatForest, mean
from compass.prepare.geometry import Geometry
from compass.prepare.legal import legal_values
from compass.prove.axes import boundaries
from compass.rules import Rule, compile_rule
from compass.settings import Settings

Floats = NDArray[np.float64]

SPACE = Space(
    parameters=(
        Number(name="a", low=1, high=7, step=1),
        Number(name="b", low=1, high=8, allowed=(1, 2, 4, 8)),
        Category(name="c", values=("x", "y", "z")),
        Number(name="d", low=0, high=3, step=1, optional=True),
        Number(name="e", low=0, high=0.5, step=0.1),
        Number(name="p", low=0, high=1),
    )
)
OUTCOMES = (
    Number(name="cost", role=Role.OUTCOME, low=-1e6, high=1e6),
    Number(name="power", role=Role.OUTCOME, low=-1e6, high=1e6),
    Category(name="state", role=Role.OUTCOME, values=("failed", "done", "late")),
)
RULES = (
    "a <= 2 * b",
    "a + b <= 9",
    "a + b == 6",
    "a - b != 1",
    "a * b <= 12",
    "a * b == 8",
    "a % b == 0",
    "b % 2 == 0",
    "a * b * d <= 12",
    "a ** 2 <= 20",
    "a / b <= 2",
    "a / b == 1.5",
    "a / 2 >= b - 1",
    "floor(a / b) == 1",
    "ceil(a / 2) == b",
    "log2(b) < a",
    "sqrt(a) <= b",
    "min(a, b) <= 2",
    "max(a, b) >= 3",
    "abs(a - b) <= 2",
    "c == 'x' -> b >= 2",
    "b in {1, 4} -> c in {'x', 'z'}",
    "c != 'y'",
    "a in {1, 2, 5}",
    "not a in {3, 4}",
    "a * b in {4, 6, 8}",
    "not (a > 3 and b > 2)",
    "a == 2 or b == 4",
    "d in {0, 2, none}",
    "d != none",
    "d == none -> a <= 3",
    "a > 3 -> d == none",
    "not (d != none and a * b > 6)",
    "a + d <= 5",
    "not d > 1",
    "d == a",
    "d != a - 1",
    "e <= 0.1 * a",
    "e < 0.1 * b",
    "e == 0.1 * a",
    "e != 0.3",
    "10 * e >= d",
    "a > b",
    "-a + 2 * b >= 0",
)


class Trees:
    """A model of trees that nobody trained."""

    family = "trees"

    def __init__(self, forest: FlatForest, task: Task) -> None:
        self.forest = forest
        self.task = task

    def predict(self, X: Floats) -> Floats:
        return mean(self.forest, X)

    def spread(self, X: Floats) -> Floats:
        return np.zeros(len(X))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        return self.forest.arrays()


def random_forest(
    rng: np.random.Generator,
    *,
    trees: int = 4,
    depth: int = 3,
    outputs: int = 1,
    link: str = "identity",
    single: bool = True,
    boosted: bool = False,
    space: Space = SPACE,
) -> FlatForest:
    """Trees with random cuts, many of them exactly at legal values, and random leaves."""
    nodes: list[tuple[int, float, int, int, Floats]] = []
    width = 1 if boosted else outputs

    def grow(level: int) -> int:
        place = len(nodes)
        nodes.append((-1, 0.0, -1, -1, np.zeros(width)))
        if level == 0 or rng.random() < 0.1:
            value = rng.normal(size=width) if width == 1 else rng.dirichlet(np.ones(width))
            nodes[place] = (-1, 0.0, -1, -1, value)
            return place
        column = int(rng.integers(len(space)))
        threshold = _cut(rng, space.parameters[column])
        left = grow(level - 1)
        right = grow(level - 1)
        nodes[place] = (column, threshold, left, right, np.zeros(width))
        return place

    roots = [grow(depth) for _ in range(trees)]
    feature, threshold, left, right, value = zip(*nodes, strict=True)
    return FlatForest(
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        value=np.array(value),
        roots=np.array(roots, dtype=np.int64),
        width=len(space),
        slot=np.arange(trees) % outputs if boosted else np.zeros(trees, dtype=np.int64),
        offset=rng.normal(size=outputs),
        divisor=1.0 if boosted else float(trees),
        link=link,
        single=single,
    )


def _cut(rng: np.random.Generator, parameter: Number | Category) -> float:
    values = legal_values(parameter, 100)
    if values is None:
        assert isinstance(parameter, Number)
        share = float(rng.choice(np.array([0.1, 0.25, 1 / 3, 0.5, 0.7, 0.9])))
        return parameter.low + share * (parameter.high - parameter.low)
    place = int(rng.integers(len(values)))
    after = values[min(place + 1, len(values) - 1)]
    return float(rng.choice(np.array([values[place], (values[place] + after) / 2])))


def compiled(texts: Sequence[str], space: Space = SPACE) -> tuple[Rule, ...]:
    return tuple(
        compile_rule(bind_rule(parse_rule(text), space), space, space.names, text) for text in texts
    )


def task(
    models: dict[str, Trees],
    targets: tuple[Target, ...],
    start: Floats,
    rules: Sequence[str] = (),
    *,
    outcome_rules: Sequence[str] = (),
    free: Sequence[int] = (0, 1, 2, 3, 4, 5),
    forced: Sequence[int] = (),
    proximity: bool = True,
    contexts: Floats | None = None,
    weight: Sequence[float] = (1.0,) * 6,
) -> SearchTask:
    names = tuple(models)
    whole = Space(
        parameters=(*SPACE.parameters, *(o for name in names for o in OUTCOMES if o.name == name))
    )
    none = SPACE["d"]
    assert isinstance(none, Number)
    movable = np.array([*free, *forced], dtype=np.int64)
    return SearchTask(
        space=SPACE,
        start=start,
        free=np.array(free, dtype=np.int64),
        forced=np.array(forced, dtype=np.int64),
        rules=compiled(rules),
        outcome_rules=compiled(outcome_rules, whole),
        outcomes=names,
        targets=targets,
        labels={
            t.name: ("failed", "done", "late").index(str(t.label)) for t in targets if t.is_class
        },
        predict=Averaged(models, start[None, :] if contexts is None else contexts, movable),
        geometry=Geometry(
            scale=np.array([2.0, 3.0, 1.0, 1.2, 0.2, 0.3]),
            weight=np.array(weight),
            category=np.array([False, False, True, False, False, False]),
            none=np.array([np.nan, np.nan, np.nan, none.none_code, np.nan, np.nan]),
        ),
        observed=np.empty((0, 6)),
        proximity=proximity,
        count=1,
        seed=1,
        settings=Settings(),
    )


def random_start(rng: np.random.Generator) -> Floats:
    legal = [legal_values(parameter, 100) for parameter in SPACE.parameters[:5]]
    return np.array([*(rng.choice(values) for values in legal if values is not None), rng.random()])


def everything(problem: SearchTask) -> Floats:
    """Every configuration that matters: all listed values, and of `p` the nearest of each cell."""
    columns = []
    for j, parameter in enumerate(problem.space.parameters):
        if j not in problem.movable:
            columns.append(problem.start[[j]])
            continue
        values = legal_values(parameter, 100)
        columns.append(_nearest_of_cells(problem, j) if values is None else values)
    X = np.array(list(product(*columns)))
    return restore_forced(problem, X)


def _nearest_of_cells(problem: SearchTask, column: int) -> Floats:
    parts = problem.predict.parts
    assert parts is not None
    cuts = [
        boundaries(part.threshold[part.feature == column], part.single)
        for some in parts.values()
        for part in some
    ]
    edges = np.unique(np.concatenate([*cuts, np.empty(0)]))
    edges = edges[(edges > 0) & (edges < 1)]
    first = np.concatenate([[0.0], np.nextafter(edges, 2)])
    last = np.concatenate([edges, [1.0]])
    return np.clip(problem.start[column], first, last)


def judged(problem: SearchTask, X: Floats) -> ScoredCandidates:
    """All configurations that obey the rules, best first."""
    scored = score(problem, X)
    return preferred(problem, scored.take(np.flatnonzero(scored.violation == 0)))


def poor_search(problem: SearchTask, rng: np.random.Generator, tried: int = 40) -> Candidates:
    """What a search that looked at a few configurations would give."""
    X = everything(problem)
    some = judged(problem, X[rng.integers(len(X), size=tried)])
    return some.take(np.arange(len(some))[:3]).candidates()
