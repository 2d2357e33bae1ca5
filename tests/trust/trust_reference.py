"""Algorithm 1 written out slowly, one run at a time, straight from its description."""

import math
from dataclasses import dataclass

import numpy as np

from compass.domain.space import Category, Number, Space
from compass.model.trees.flat import FlatForest

DIGITS = 9  # distances that agree to so many digits are equal


def rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def mixed_space() -> Space:
    """Two numbers, a number that may be absent, a category."""
    return Space(
        parameters=(
            Number(name="nodes", low=1, high=64, step=1),
            Number(name="size", low=0, high=10),
            Number(name="cap", low=10, high=30, step=1, optional=True),
            Category(name="app", values=("a", "b", "c")),
        )
    )


def mixed_rows(seed: int, n: int) -> np.ndarray:
    """Rows of that space, many of them repeated."""
    rng = np.random.default_rng(seed)
    none = mixed_space()["cap"].none_code
    X = np.column_stack(
        [
            2.0 ** rng.integers(0, 4, n),
            rng.integers(0, 3, n) / 2,
            np.where(rng.random(n) < 0.3, none, rng.integers(10, 13, n)),
            rng.integers(0, 3, n),
        ]
    )
    return X[rng.integers(0, n, n)]


def deviations(X: np.ndarray, space: Space) -> list[float]:
    found = []
    for j, parameter in enumerate(space):
        values = [
            row[j]
            for row in X
            if not (
                isinstance(parameter, Number)
                and parameter.optional
                and row[j] == parameter.none_code
            )
        ]
        mean = sum(values) / len(values) if values else 0.0
        variance = sum((v - mean) ** 2 for v in values) / len(values) if values else 0.0
        found.append(0.0 if len(set(values)) < 2 else math.sqrt(variance))
    return found


def by_name(parameter: Number | Category, a: float, b: float) -> bool:
    """Whether two values only match or not: labels, and a number against `none`."""
    if isinstance(parameter, Category):
        return True
    return parameter.optional and parameter.none_code in (a, b)


def distance(a: np.ndarray, b: np.ndarray, space: Space, spread: list[float]) -> float:
    total = 0.0
    for j, parameter in enumerate(space):
        if by_name(parameter, a[j], b[j]):
            total += a[j] != b[j]
        elif spread[j] > 0:
            total += ((a[j] - b[j]) / spread[j]) ** 2
        else:  # it never varied: another value is as new as a label never seen
            total += a[j] != b[j]
    return math.sqrt(total)


def walk(forest: FlatForest, tree: int, x: np.ndarray) -> np.ndarray:
    node = int(forest.roots[tree])
    while forest.feature[node] >= 0:
        left = np.float32(x[forest.feature[node]]) <= forest.threshold[node]
        node = int(forest.left[node] if left else forest.right[node])
    return forest.value[node]


def disagreement(forest: FlatForest, models: int, x: np.ndarray) -> float:
    size = forest.trees // models
    said = [
        np.mean([walk(forest, p * size + t, x) for t in range(size)], axis=0) for p in range(models)
    ]
    return float(np.mean(np.var(said, axis=0)))


@dataclass
class Judgement:
    label: str
    ood: float
    uq: float
    support: list[int]
    tau: float


def share_below(values: list[float], x: float) -> float:
    return sum(rounded(v) < rounded(x) for v in values) / len(values)


def algorithm_1(
    X_train: np.ndarray,
    X_valid: np.ndarray,
    u_valid: list[float],
    x: np.ndarray,
    u: float,
    space: Space,
    k: int = 20,
    percentile: float = 5,
) -> Judgement:
    spread = deviations(X_train, space)

    def d(row: np.ndarray) -> float:
        near = sorted(distance(row, other, space, spread) for other in X_train)[:k]
        return sum(near) / len(near)

    known = [d(v) for v in X_valid]
    ood = share_below(known, d(x))
    reach = math.ceil(percentile / 100 * len(known) - 1e-12)
    tau = sorted(known)[max(reach, 1) - 1]
    apart = [distance(x, row, space, spread) for row in X_train]
    support = [i for i in range(len(apart)) if rounded(apart[i]) <= rounded(tau)]
    uq = share_below(u_valid, u)
    if ood > 0.99:
        label = "unsupported"
    elif ood > 0.95 or uq > 0.95 or not support:
        label = "caution"
    else:
        label = "trusted"
    return Judgement(label, ood, uq, sorted(support, key=lambda i: rounded(apart[i])), tau)
