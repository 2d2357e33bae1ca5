"""The error of predictions by label, on runs that no engine has learnt."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.trust.engine import decided, learn
from benchmarks.trust.plan import Plan, say
from benchmarks.trust.problems import Problem, Split, problems, random_split, region_splits
from benchmarks.trust.resample import Mean, ends, means
from compass.domain.answer import Label, Trust
from compass.prepare.split import configurations
from compass.settings import TrustSettings

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LABELS = tuple(Label)
KINDS = ("random", "region")
PARTS = ("far away", "further than usual", "less certain", "nothing near", "other")
LARGE = 0.9
_FEW_ROWS, _FEW_KINDS = 10, 5


@dataclass(frozen=True, eq=False)
class Judged:
    """Every held-out run of one outcome: what was said of it, and how wrong that was."""

    name: str
    classes: bool
    splits: tuple[str, ...]
    region: Bools  # [m] whether the split left out a region
    split: NDArray[np.int64]  # [m] position in `splits`
    kind: NDArray[np.uint64]  # [m] the same for identical configurations
    label: NDArray[np.int64]  # [m] position in LABELS
    parts: Bools  # [m, 5] what made the label, PARTS
    error: Floats  # [m]
    y: Floats  # [m]

    def rows_of(self, kind: str) -> Bools:
        """Which runs [m] are of random splits, of regions, or (`both`) of any."""
        if kind == "both":
            return np.ones(len(self.y), dtype=bool)
        return np.asarray(self.region == (kind == "region"))

    def of(self, kind: str) -> "Judged":
        """The runs of splits of a kind alone."""
        keep = self.rows_of(kind)
        return Judged(
            self.name,
            self.classes,
            self.splits,
            self.region[keep],
            self.split[keep],
            self.kind[keep],
            self.label[keep],
            self.parts[keep],
            self.error[keep],
            self.y[keep],
        )

    @property
    def masks(self) -> Bools:
        """Which runs have which label, [3, m]."""
        return np.array([self.label == i for i in range(len(LABELS))])

    @property
    def usual(self) -> float:
        """Mean error of the random splits; 1 where there is none."""
        return float(self.error[~self.region].mean()) or 1.0

    @property
    def large(self) -> Bools:
        """Which errors [m] are larger than nine in ten of the random splits.

        A mean over tables is decided by the few where a region is wrong by a factor of 100; this
        is not. Wrong classes are large.
        """
        usual = np.quantile(self.error[~self.region], LARGE)
        return self.error >= 1.0 if self.classes else self.error > usual


@dataclass(frozen=True)
class Disorder:
    """A table where a worse label has the smaller error, and what the data says about why."""

    name: str
    kind: str
    worse: str  # label with the smaller error although it is the worse one
    better: str
    errors: tuple[float, float]
    reasons: tuple[str, ...]


def examine(name: str, folder: Path, plan: Plan) -> Judged:
    """Labels and errors of the held-out runs of one outcome, over all splits."""
    problem = problems(folder)[name]
    began = time.perf_counter()
    splits = list(_splits(problem, plan))
    settings = decided(problem, splits[0].learn, plan.surrogate, plan.seed)
    parts = []
    for number, split in enumerate(splits):
        engine = learn(problem, split.learn, settings, plan.seed + number)
        trusts = engine.trust(problem.X[split.test])
        parts.append((trusts, engine.errors(problem.X[split.test], problem.y[split.test])))
    say(f"labels: {name}, {len(splits)} splits, {time.perf_counter() - began:.0f} s")
    rows = np.concatenate([split.test for split in splits])
    sizes = [len(split.test) for split in splits]
    every = [trust for trusts, _ in parts for trust in trusts]
    return Judged(
        name=name,
        classes=problem.classes,
        splits=tuple(split.name for split in splits),
        region=np.repeat([split.kind == "region" for split in splits], sizes),
        split=np.repeat(np.arange(len(splits)), sizes),
        kind=configurations(problem.X[rows]),
        label=np.array([LABELS.index(trust.label) for trust in every]),
        parts=np.array([made_by(trust, settings.trust) for trust in every]).reshape(-1, len(PARTS)),
        error=np.concatenate([errors for _, errors in parts]),
        y=problem.y[rows],
    )


def _splits(problem: Problem, plan: Plan) -> Iterator[Split]:
    for seed in range(plan.seed, plan.seed + plan.random):
        yield random_split(problem, seed, plan.learn, plan.test)
    yield from region_splits(problem, plan.regions, plan.seed, plan.learn, plan.test)


def made_by(trust: Trust, settings: TrustSettings) -> tuple[bool, ...]:
    """Which parts of a label speak against a run, in the order of PARTS."""
    far = trust.ood > settings.unsupported
    further = not far and trust.ood > settings.caution
    vague = trust.uq > settings.caution
    alone = trust.support == 0
    other = trust.label is not Label.TRUSTED and not (far or further or vague or alone)
    return far, further, vague, alone, other


def by_label(judged: Judged, kind: str) -> list[Mean]:
    """The mean error of each label, in the order of LABELS."""
    part = judged.of(kind)
    return means(part.error, part.kind, part.masks)[0]


def by_region(judged: Judged) -> dict[str, list[Mean]]:
    """The mean error of each label in each region that was left out."""
    found = {}
    for split in np.unique(judged.split[judged.region]):
        rows = judged.split == split
        told = means(judged.error[rows], judged.kind[rows], judged.masks[:, rows])[0]
        found[judged.splits[split]] = told
    return found


def disorders(judged: Judged) -> list[Disorder]:
    """Where the order of the labels is not the order of the errors."""
    found = []
    for kind in KINDS:
        part = judged.of(kind)
        told, draws = means(part.error, part.kind, part.masks)
        present = [i for i, mean in enumerate(told) if mean.rows]
        for better, worse in pairwise(present):
            if told[worse].mean > told[better].mean:
                continue
            apart = draws[:, better] - draws[:, worse]
            reasons = _reasons(part, better, worse, told, apart)
            found.append(
                Disorder(
                    judged.name,
                    kind,
                    LABELS[worse].value,
                    LABELS[better].value,
                    (told[worse].mean, told[better].mean),
                    tuple(reasons),
                )
            )
    return found


def _reasons(
    part: Judged, better: int, worse: int, told: Sequence[Mean], apart: Floats
) -> Iterator[str]:
    """What the data shows about a label whose error is smaller than that of a better one."""
    for label in (better, worse):
        mean = told[label]
        if mean.rows < _FEW_ROWS or mean.clusters < _FEW_KINDS:
            few = f"{mean.rows} rows of {mean.clusters} configurations"
            yield f"only {few} are {LABELS[label].value}"
    if not ends(apart)[0] > 0:
        yield "the difference is within its interval"
    if told[better].median < told[worse].median:
        few = f"a few large errors of {LABELS[better].value} runs decide"
        yield f"{few}: medians are {told[better].median:.3f} < {told[worse].median:.3f}"
    yield from _outcomes(part, better, worse)
    if len(np.unique(part.split)) > 1:
        held, of = _inside(part, better, worse)
        if of and held > of / 2:
            yield f"the splits differ: the order holds within {held} of {of} with enough of both"


def _outcomes(part: Judged, better: int, worse: int) -> Iterator[str]:
    """Whether the runs of the worse label are of another size, or more alike."""
    old, new = (np.abs(part.y[part.label == label]) for label in (better, worse))
    usual, here = float(np.median(old)), float(np.median(new))
    name = LABELS[worse].value
    if usual > 0 and here > 0 and not 2 / 3 < here / usual < 3 / 2:
        size = "larger" if here > usual else "smaller"
        yield f"{name} runs have {size} outcomes (median {here / usual:.2g} times)"
    wide, narrow = (_range(values) for values in (old, new))
    if wide > 0 and narrow < 0.6 * wide:
        yield f"outcomes of {name} runs vary less ({narrow / wide:.2f} of the range)"


def _range(values: Floats) -> float:
    """The middle half of the values, relative to their median."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float((high - low) / middle) if middle > 0 else 0.0


def _inside(part: Judged, better: int, worse: int) -> tuple[int, int]:
    """In how many single splits that have both labels the order holds."""
    held = of = 0
    for split in np.unique(part.split):
        rows = part.split == split
        old, new = (part.error[rows & (part.label == label)] for label in (better, worse))
        if min(len(old), len(new)) >= _FEW_ROWS:
            of += 1
            held += bool(old.mean() < new.mean())
    return held, of


@dataclass(frozen=True)
class Pooled:
    """All tables together: errors as multiples of what is usual for their table."""

    kind: str
    labels: list[Mean]
    steps: list[tuple[float, float]]  # 95 % interval of caution - trusted, unsupported - caution
    large: list[Mean]  # share of errors above the 90th percentile of random splits, by label
    large_steps: list[tuple[float, float]]
    parts: list[Mean]  # runs that a part speaks against, whatever else does
    alone: list[Mean]  # and runs that only this part speaks against

    @property
    def ordered(self) -> bool:
        """Whether trusted < caution < unsupported in the mean, both steps with their intervals."""
        return all(low > 0 for low, _ in self.steps)

    @property
    def large_ordered(self) -> bool:
        """Whether the share of large errors has this order, both steps with their intervals."""
        return all(low > 0 for low, _ in self.large_steps)


def pooled(every: Sequence[Judged], kind: str) -> Pooled:
    """Each error divided by the mean error of its table in random splits, then all as one table."""
    parts = [judged.of(kind) for judged in every]
    usual = [judged.usual for judged in every]
    error = np.concatenate([part.error / u for part, u in zip(parts, usual, strict=True)])
    large = np.concatenate([_large(judged, kind) for judged in every])
    kinds = _numbered(parts)
    label = np.concatenate([part.label for part in parts])
    made = np.concatenate([part.parts for part in parts])
    only = made & (made.sum(axis=1) == 1)[:, None]
    masks = np.array([label == i for i in range(len(LABELS))])
    labels, draws = means(error, kinds, masks)
    shares, share_draws = means(large, kinds, masks)
    return Pooled(
        kind=kind,
        labels=labels,
        steps=[_step(draws, i) for i in range(len(LABELS) - 1)],
        large=shares,
        large_steps=[_step(share_draws, i) for i in range(len(LABELS) - 1)],
        parts=means(error, kinds, made.T)[0],
        alone=means(error, kinds, only.T)[0],
    )


def _large(judged: Judged, kind: str) -> Floats:
    """Whether each error of the splits of a kind is large, as 0 or 1."""
    keep = judged.rows_of(kind)
    return judged.large[keep].astype(np.float64)


def _numbered(parts: Sequence[Judged]) -> NDArray[np.int64]:
    """A number for each configuration of each table: configurations of two tables are two."""
    found, first = [], 0
    for part in parts:
        names, of_row = np.unique(part.kind, return_inverse=True)
        found.append(first + of_row)
        first += len(names)
    return np.concatenate(found)


def _step(draws: Floats, i: int) -> tuple[float, float]:
    apart = draws[:, i + 1] - draws[:, i]
    return ends(apart)


def ratios(every: Sequence[Judged], kind: str) -> list[Floats]:
    """Per step the ratio of the two mean errors in each table that has enough runs of both."""
    found: list[list[float]] = [[] for _ in range(len(LABELS) - 1)]
    for judged in every:
        part = judged.of(kind)
        errors = [part.error[mask] for mask in part.masks]
        for i in range(len(LABELS) - 1):
            old, new = errors[i], errors[i + 1]
            if min(len(old), len(new)) >= _FEW_ROWS and min(old.mean(), new.mean()) > 0:
                found[i].append(float(new.mean() / old.mean()))
    return [np.array(one) for one in found]
