"""Which score tells large errors from small ones: `python -m benchmarks.trust.scores`.

Every outcome that is a number, of every table that is there. Random splits hold out a fifth of the
configurations; splits by region hold out a label of the context or the end of a numeric column,
and some configurations of the rest to compare with. A score is ranked among validation runs, as
labels are; errors are relative, of a forest and of boosted trees (of the logarithm where outcomes
are positive and span a decade). Printed: rank correlation and AUC (of the tenth with the largest
errors) as means over outcomes, on how many a score beats the published variance, and the error by
label, published and as used, pooled over outcomes (each run's error divided by the mean of its
outcome and split) with 95 % intervals over outcomes.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.measure import folds
from benchmarks.roles import data_folder
from benchmarks.show import save, table
from benchmarks.trust.problems import Problem, Rows, problems, random_split, region_splits
from benchmarks.trust.resample import means
from compass.domain.answer import Label
from compass.model.base import Task
from compass.model.error import row_errors, small
from compass.model.forest import grow
from compass.model.recipe import Recipe
from compass.model.trees import flat
from compass.prepare.split import by_configuration, configurations
from compass.trust.assess import judge
from compass.trust.distance import distances
from compass.trust.rank import Ranks
from compass.trust.spread import Perturbed
from compass.trust.support import Support

Floats = NDArray[np.float64]

LABELS = tuple(Label)
KINDS = ("random", "region")
PUBLISHED, USED = "published", "as used"
# Considered: it only takes trust away; it alone can make a run unsupported.
MILDER, HARDER = "caution at most", "unsupported by itself"
RULES = (PUBLISHED, USED, MILDER, HARDER)
USUAL = 0.15  # share of the configurations outside a region that is judged beside it
LARGE = 0.9  # errors above this quantile are large
FEW = 10  # runs of a label below which a table says nothing about it
VARIANCE, EXPECTED = "variance of models (published)", "expected error (used)"


@dataclass(frozen=True, eq=False)
class Judged:
    """The held-out runs of one split: their scores as ranks, labels and errors."""

    name: str
    kind: str
    ranks: Mapping[str, Floats]  # [m] among validation runs
    labels: Mapping[str, NDArray[np.int64]]  # [m] positions in LABELS
    errors: Mapping[str, Floats]  # [m] by family


def cases(problem: Problem, said: argparse.Namespace) -> Iterator[tuple[str, Rows, Rows]]:
    """Kind, rows to learn from and rows to judge by, of every split of an outcome."""
    for seed in range(said.seed, said.seed + said.random):
        one = random_split(problem, seed, said.learn, said.test)
        yield one.kind, one.learn, one.test
    for one in region_splits(problem, said.regions, said.seed, said.learn, said.test):
        kept, beside = by_configuration(problem.X[one.learn], USUAL, said.seed)
        yield one.kind, one.learn[kept], np.concatenate([one.test, one.learn[beside]])


def judged(problem: Problem, kind: str, learn: Rows, test: Rows, seed: int) -> Judged:
    """Train on the rows to learn from (some are kept to rank against) and judge the others."""
    X, y = problem.X, problem.y
    first, second = by_configuration(X[learn], 0.2, seed + 500)
    train, valid = learn[first], learn[second]
    settings = cp.Settings(seed=seed)
    task = {"y": Task()}
    support = Support.build(X[train], X[valid], problem.features, settings.trust, seed)
    given = {"X_valid": X[valid]}
    whole = Perturbed.fit(
        X[train], {"y": y[train]}, task, problem.features, settings, seed, **given
    )
    log = bool((y[train] > 0).all() and y[train].max() > 10 * y[train].min())
    scale = np.log(y[train]) if log else y[train]
    logged = Perturbed.fit(X[train], {"y": scale}, task, problem.features, settings, seed, **given)
    least = small(y[train])
    errors, models = {}, {}
    for family, of_log in (("forest", False), ("lightgbm", log)):
        model = Recipe(family=family, log=of_log).fit(
            X[train], y[train], task=Task(), weight=None, seed=seed, settings=settings,
            features=problem.features,
        )  # fmt: skip
        models[family] = model
        errors[family] = row_errors(y[test], model.predict(X[test])[:, 0], scale=least)

    def width(rows: Floats) -> Floats:
        model = models["forest"]
        return model.spread(rows) / np.maximum(np.abs(model.predict(rows)[:, 0]), least)

    scores = {
        "distance to 20 runs (published)": support.novelty,
        VARIANCE: whole.variance,
        "variance of the logarithm": logged.variance,
        "spread of models, a share": lambda rows: _relative(whole, rows, least),
        "spread of the surrogate's trees, a share": width,
        "outside the ranges seen": lambda rows: _outside(X[train], rows),
        "errors of the 20 nearest runs": _nearby(problem, train, support, least, settings),
        "errors at similar runs, learnt": lambda rows: flat.mean(whole.errors[0], rows)[:, 0],
        EXPECTED: whole.error,
    }
    ranks = {name: _ranked(score, X[valid], X[test]) for name, score in scores.items()}
    return Judged(problem.name, kind, ranks, _labels(X[test], support, whole, settings), errors)


def _ranked(score: Callable[[Floats], Floats], valid: Floats, test: Floats) -> Floats:
    return Ranks.of(score(valid)).below(score(test))


def _relative(whole: Perturbed, X: Floats, least: float) -> Floats:
    centre = flat.mean(whole.forests[0], X)[:, 0]
    deviation = np.sqrt(whole.variance(X) * whole.scales[0])
    return np.asarray(deviation / np.maximum(np.abs(centre), least))


def _outside(seen: Floats, X: Floats) -> Floats:
    low, high = seen.min(axis=0), seen.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    return np.asarray(
        (np.maximum(low - X, 0) / width + np.maximum(X - high, 0) / width).sum(axis=1)
    )


def _nearby(
    problem: Problem, train: Rows, support: Support, least: float, settings: cp.Settings
) -> Callable[[Floats], Floats]:
    """Mean error of the nearest runs, each predicted by a forest that had not seen it."""
    X, y = problem.X[train], problem.y[train]
    groups = np.unique(configurations(X), return_inverse=True)[1].ravel()
    missed = np.empty(len(y))
    few = settings.forest.model_copy(update={"trees": 20})
    for part in folds(groups, 5, settings.seed):
        rest = np.setdiff1d(np.arange(len(y)), part)
        forest = grow(X[rest], y[rest], task=Task(), weight=None, seed=settings.seed, settings=few)
        missed[part] = row_errors(y[part], flat.mean(forest, X[part])[:, 0], scale=least)
    near = min(settings.trust.neighbours, len(y))

    def score(rows: Floats) -> Floats:
        points = support.scale.place(rows).T
        found = np.empty(len(rows))
        for i, point in enumerate(points):
            apart = distances(support.scale.kind, support.rows, point)
            found[i] = missed[np.argpartition(apart, near - 1)[:near]].mean()
        return found

    return score


def _labels(
    X: Floats, support: Support, whole: Perturbed, settings: cp.Settings
) -> dict[str, NDArray[np.int64]]:
    trust = settings.trust
    ood, close = support.around(X)
    found: dict[str, list[int]] = {rule: [] for rule in RULES}
    last = LABELS.index(Label.UNSUPPORTED)
    for far, doubt, risk, (rows, _) in zip(ood, whole.uq(X), whole.risk(X), close, strict=True):
        for name, given in ((PUBLISHED, 0.0), (USED, float(risk))):
            label, _ = judge(float(far), float(doubt), rows.size, support.tau, trust, risk=given)
            found[name].append(LABELS.index(label))
        mild = max(found[PUBLISHED][-1], int(risk > trust.caution))
        found[MILDER].append(mild)
        found[HARDER].append(last if risk > trust.unsupported else mild)
    return {name: np.array(values, dtype=np.int64) for name, values in found.items()}


def strength(rank: Floats, error: Floats) -> tuple[float, float]:
    """Rank correlation of a score with the errors, and its AUC for the large ones."""
    from scipy.stats import rankdata, spearmanr

    constant = not np.ptp(rank) or not np.ptp(error)
    correlation = 0.0 if constant else float(spearmanr(rank, error).statistic)
    large = error > np.quantile(error, LARGE)
    many, others = int(large.sum()), int((~large).sum())
    if not many or not others:
        return correlation, float("nan")
    above = float(rankdata(rank)[large].sum()) - many * (many + 1) / 2
    return correlation, above / (many * others)


def compared(found: Sequence[Judged], family: str) -> list[tuple[str, ...]]:
    """A line for each score: correlation, AUC, and outcomes on which it beats the variance."""
    names = sorted({(one.name, one.kind) for one in found})
    figures = {
        score: np.array(
            [
                np.nanmean(
                    [
                        strength(one.ranks[score], one.errors[family])
                        for one in found
                        if (one.name, one.kind) == name
                    ],
                    axis=0,
                )
                for name in names
            ]
        )
        for score in found[0].ranks
    }
    lines = []
    for score, values in figures.items():
        cells = [score]
        for kind in KINDS:
            here = np.array([name[1] == kind for name in names])
            better = values[here] > figures[VARIANCE][here]
            mean = np.nanmean(values[here], axis=0)
            cells += [f"{mean[0]:.2f}", f"{np.nanmin(values[here, 0]):.2f}", f"{mean[1]:.2f}"]
            cells += [f"{int(better[:, 1].sum())}/{int(here.sum())}"]
        lines.append(tuple(cells))
    return lines


def pooled(found: Sequence[Judged], family: str, rule: str, kind: str) -> tuple[str, ...]:
    """Error by label over all outcomes, with intervals over outcomes, and whether it is ordered."""
    some = [one for one in found if kind in (one.kind, "both")]
    error = np.concatenate([_shares(one, family) for one in some])
    label = np.concatenate([one.labels[rule] for one in some])
    names = np.concatenate([np.full(len(one.labels[rule]), one.name) for one in some])
    masks = np.array([label == i for i in range(len(LABELS))])
    made, draws = means(error, names, masks)
    sure = [
        "yes" if np.nanpercentile(draws[:, i + 1] - draws[:, i], 2.5) > 0 else "no"
        for i in range(len(LABELS) - 1)
    ]
    cells = [f"{one.mean:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in made]
    parts = " / ".join(f"{100 * mask.mean():.0f}" for mask in masks)
    return (rule, kind, *cells, parts, *sure)


def _shares(one: Judged, family: str) -> Floats:
    return np.asarray(one.errors[family] / (one.errors[family].mean() or 1.0))


def by_table(found: Sequence[Judged], family: str, rule: str) -> list[tuple[str, ...]]:
    """Error by label of every outcome and kind of split, and why where it is not in order."""
    lines = []
    for name, kind in sorted({(one.name, one.kind) for one in found}):
        some = [one for one in found if (one.name, one.kind) == (name, kind)]
        error = np.concatenate([_shares(one, family) for one in some])
        label = np.concatenate([one.labels[rule] for one in some])
        rows = [error[label == i] for i in range(len(LABELS))]
        cells = [f"{part.mean():.2f} ({part.size})" if part.size else "-" for part in rows]
        lines.append((name, kind, *cells, _reason(rows)))
    return lines


def _reason(rows: Sequence[Floats]) -> str:
    known = [i for i, part in enumerate(rows) if part.size]
    wrong = [(a, b) for a, b in pairwise(known) if rows[a].mean() >= rows[b].mean()]
    if not wrong:
        return "" if len(known) == len(LABELS) else "a label is missing"
    a, b = wrong[0]
    if min(rows[a].size, rows[b].size) < FEW:
        return f"fewer than {FEW} runs {LABELS[b]}" if rows[b].size < FEW else "few runs"
    apart = rows[a].mean() - rows[b].mean()
    chance = np.sqrt(rows[a].var() / rows[a].size + rows[b].var() / rows[b].size)
    if apart < 2 * chance:
        return f"{LABELS[a]} and {LABELS[b]} differ by less than chance"
    return "runs far away are predicted well" if b == 2 else f"{LABELS[b]} runs err less"


def report(found: Sequence[Judged]) -> None:
    """All tables."""
    head = ("score", "rank corr.", "worst", "AUC", "beats", "region: rank", "worst", "AUC", "beats")
    for family in found[0].errors:
        print(f"\nErrors of {family}\n")
        print(table(head, compared(found, family)))
        lines = [pooled(found, family, rule, kind) for rule in RULES for kind in (*KINDS, "both")]
        top = ("labels", "splits", *LABELS, "% of runs", "t < c", "c < u")
        print("\n" + table(top, lines))
        print(f"\nLabels {USED}, by outcome\n")
        print(table(("outcome", "splits", *LABELS, "note"), by_table(found, family, USED)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust.scores", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, default=data_folder())
    parser.add_argument("--only", nargs="*", default=(), help="names of outcomes")
    parser.add_argument("--random", type=int, default=2, help="random splits")
    parser.add_argument("--regions", type=int, default=2, help="regions left out")
    parser.add_argument("--learn", type=int, default=4800, help="runs to learn from at most")
    parser.add_argument("--test", type=int, default=1000, help="runs to judge at most")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    said = parser.parse_args(arguments)
    found = []
    for name, problem in problems(said.data).items():
        if problem.classes or (said.only and name not in said.only):
            continue
        print(name, file=sys.stderr, flush=True)
        for kind, learn, test in cases(problem, said):
            found.append(judged(problem, kind, learn, test, said.seed))
    if not found:
        print(f"no table of numbers in {said.data}", file=sys.stderr)
        return 1
    report(found)
    if said.json:
        lines = {family: compared(found, family) for family in found[0].errors}
        save(said.json, {"scores": lines, "seed": said.seed})
    return 0


if __name__ == "__main__":
    sys.exit(main())
