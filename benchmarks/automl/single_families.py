"""Auto beside every single family, on rows that nothing has seen."""

import argparse
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.automl.learn import selected, test_error, trained
from benchmarks.automl.tables import Problem, problems
from benchmarks.show import save, table
from compass.learn.compare import selectable_families
from compass.model.base import Task, family
from compass.model.error import mape, small
from compass.model.recipe import Recipe
from compass.settings import Settings

MOST = 1.05  # times the error of the family that turns out best, on the mean


@dataclass(frozen=True)
class Row:
    """One table."""

    table: str
    rows: int
    columns: int
    auto: str
    error: float
    best: str
    best_error: float
    sklearn: float  # the default Random Forest of scikit-learn
    seconds: float
    families: dict[str, float]

    @property
    def ratio(self) -> float:
        """The error of auto over that of the best family."""
        return self.error / self.best_error


def run(given: argparse.Namespace) -> int:
    """Print every table, then the means."""
    rows = []
    for problem in problems(given.data, given.seed, tuple(given.only)):
        rows.append(_row(problem))
        print(_told([rows[-1]]).splitlines()[-1], flush=True)
    print("\n" + _told(rows))
    print("\n" + _by_family(rows))
    ratio = float(np.mean([row.ratio for row in rows]))
    against = float(np.mean([row.error / row.sklearn for row in rows]))
    means = [float(np.mean([getattr(row, name) for row in rows])) for name in ("error", "sklearn")]
    print(f"\nauto / best family, mean over {len(rows)} tables: {ratio:.3f} (at most {MOST})")
    print(f"auto / scikit-learn's Random Forest, mean: {against:.3f} (below 1)")
    print(f"mean error: auto {means[0]:.4f}, scikit-learn's Random Forest {means[1]:.4f}")
    if given.json:
        save(given.json, {"tables": [asdict(row) for row in rows], "ratio": ratio})
    return int(ratio > MOST or against >= 1 or means[0] >= means[1])


def _row(problem: Problem) -> Row:
    made = selected(problem)
    scores = _families(problem)
    best = min(scores, key=lambda name: scores[name])
    return Row(
        table=problem.name,
        rows=len(problem.y),
        columns=problem.X.shape[1],
        auto=made.recipe.family + (" (log)" if made.recipe.log else ""),
        error=made.error,
        best=best,
        best_error=scores[best],
        sklearn=_sklearn(problem),
        seconds=made.seconds,
        families=scores,
    )


def _families(problem: Problem) -> dict[str, float]:
    """The error of every family on the scale that turns out better for it."""
    found: dict[str, float] = {}
    for name in selectable_families():
        if family(name).obstacle(len(problem.y), problem.X.shape[1], Task()) is not None:
            continue
        for log in (False, True) if problem.y.min() > 0 else (False,):
            model = trained(problem, Recipe(family=name, log=log), Settings())
            found[name + (" (log)" if log else "")] = test_error(problem, model)
    return found


def _sklearn(problem: Problem) -> float:
    """scikit-learn's Random Forest as it comes, on one-hot labels."""
    from sklearn.ensemble import RandomForestRegressor

    X, X_test = one_hot(problem)
    forest = RandomForestRegressor(random_state=0, n_jobs=-1).fit(X, problem.y)
    return mape(problem.y_test, forest.predict(X_test), scale=small(problem.y))


def one_hot(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as they are, a column of 0 and 1 for each label: what people feed to scikit-learn."""
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for place, parameter in enumerate(problem.features):
        column, asked = problem.X[:, [place]], problem.X_test[:, [place]]
        if parameter.kind == "category":
            labels = np.arange(len(parameter.values))
            parts.append((column == labels, asked == labels))
        else:
            parts.append((column, asked))
    left, right = zip(*parts, strict=True)
    return np.hstack(left).astype(float), np.hstack(right).astype(float)


def _told(rows: list[Row]) -> str:
    head = (
        *("table", "rows", "columns", "auto", "error", "best on the test rows", "its error"),
        *("ratio", "sklearn RF", "seconds"),
    )
    lines = [
        (
            *(row.table, row.rows, row.columns, row.auto, f"{row.error:.4f}", row.best),
            *(f"{row.best_error:.4f}", f"{row.ratio:.3f}", f"{row.sklearn:.4f}"),
            f"{row.seconds:.1f}",
        )
        for row in rows
    ]
    return table(head, lines)


def _by_family(rows: list[Row]) -> str:
    """The error of every family on the scale that suits it better."""
    names = list(
        dict.fromkeys(name.removesuffix(" (log)") for row in rows for name in row.families)
    )
    lines = []
    for row in rows:
        own = {name: [row.families.get(name), row.families.get(f"{name} (log)")] for name in names}
        errors = [min((e for e in both if e is not None), default=None) for both in own.values()]
        told = ("does not apply" if error is None else f"{error:.4f}" for error in errors)
        lines.append((row.table, *told))
    return table(("error", *names), lines)
