"""Whether intervals hold as many new runs as they say, and how wide they are."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.measure import Interval, interval
from benchmarks.trust.beside import Process, ensemble
from benchmarks.trust.engine import Learnt, decided, learn
from benchmarks.trust.plan import Plan, say
from benchmarks.trust.problems import Problem, Rows, Split, problems, random_split
from compass.domain.space import Category, Number, Role
from compass.prepare.encode import Encoder

Floats = NDArray[np.float64]

LEVELS = (0.5, 0.8, 0.9, 0.95)
STATED = 0.9
MAKERS = ("compass", "ensemble", "process")
ENOUGH = 500  # calibration rows from which on coverage has to be within TARGET
TARGET = (0.88, 0.92)


@dataclass(frozen=True)
class Band:
    """How one maker's 90 % intervals did on the test rows of one split."""

    inside: float  # share of the rows
    mean: float  # width relative to the measured value
    median: float
    unbounded: float  # share of the intervals


@dataclass(frozen=True)
class Held:
    """One split of one outcome."""

    rows: int  # learnt from, calibration included
    calibration: int
    draws: float  # independent ones among the calibration rows
    tested: int
    log: bool
    family: str
    levels: dict[str, float]  # share inside by stated level
    bands: dict[str, Band]  # by maker
    changes: tuple[tuple[bool, float, float], ...]  # inside, width, width from both single ends


@dataclass(frozen=True)
class Covered:
    """All splits of one outcome."""

    name: str
    splits: tuple[Held, ...]

    @property
    def calibration(self) -> float:
        """Mean number of calibration rows."""
        return float(np.mean([held.calibration for held in self.splits]))

    @property
    def draws(self) -> float:
        """Mean number of independent draws among them."""
        return float(np.mean([held.draws for held in self.splits]))

    def at(self, level: float) -> Interval:
        """Mean share inside the intervals of a stated level, with its interval over the splits."""
        return interval([[held.levels[str(level)]] for held in self.splits])

    def band(self, maker: str) -> tuple[Interval, float, float, float]:
        """Coverage, mean and median relative width, and share of unbounded intervals.

        Of the splits in which all makers were measured.
        """
        own = [held.bands[maker] for held in self.splits if len(held.bands) == len(MAKERS)]
        return (
            interval([[band.inside] for band in own]),
            _mean([band.mean for band in own]),
            _mean([band.median for band in own]),
            _mean([band.unbounded for band in own]),
        )

    @property
    def allowed(self) -> tuple[float, float]:
        """What a stated 90 % may cover with this many calibration rows."""
        if self.calibration >= ENOUGH:
            return TARGET
        return STATED, STATED + 1 / (self.draws + 1)

    @property
    def holds(self) -> bool:
        """Whether the coverage is as promised; on few calibration rows within sampling error."""
        low, high = self.allowed
        found = self.at(STATED)
        if self.calibration >= ENOUGH:
            return low <= found.mean <= high
        half = found.half if np.isfinite(found.half) else 0.0
        return found.mean - half <= high and low <= found.mean + half


def examine(name: str, folder: Path, plan: Plan) -> Covered:
    """Coverage and widths of one outcome over random splits."""
    problem = problems(folder)[name]
    began = time.perf_counter()
    process = Process(problem.features, plan.process)
    found, settings = [], None
    for number in range(plan.splits):
        seed = plan.seed + number
        split = random_split(problem, seed, plan.covered, plan.covered, plan.covered)
        settings = settings or decided(problem, split.learn, plan.surrogate, plan.seed)
        pairs = plan.pairs if number < plan.paired else 0
        others = process if number < plan.beside else None
        found.append(_held(problem, split, settings, others, pairs, seed))
    say(f"coverage: {name}, {plan.splits} splits, {time.perf_counter() - began:.0f} s")
    return Covered(name, tuple(found))


def _held(
    problem: Problem,
    split: Split,
    settings: cp.Settings,
    process: Process | None,
    pairs: int,
    seed: int,
) -> Held:
    engine = learn(problem, split.learn, settings, seed)
    log = engine.trained.recipe.log
    X, y = problem.X[split.learn], problem.y[split.learn]
    new, truth = problem.X[split.test], problem.y[split.test]
    made = {"compass": engine.band(new, STATED)}
    if process is not None:
        made["ensemble"] = ensemble(X, y, new, log=log, seed=seed)
        made["process"] = process.ends(X, y, new, log=log, seed=seed)
    floor = _floor(problem)
    return Held(
        rows=len(X),
        calibration=engine.calibration,
        draws=engine.draws,
        tested=len(new),
        log=log,
        family=engine.trained.card.family,
        levels={str(level): _inside(truth, *engine.band(new, level)) for level in LEVELS},
        bands={
            maker: _band(truth, np.maximum(low, floor), high, engine.small)
            for maker, (low, high) in made.items()
        },
        changes=tuple(changes(engine, split.test, pairs, seed)) if pairs else (),
    )


def _floor(problem: Problem) -> float:
    """Nobody's interval goes below zero for an outcome that cannot: it would only look wider."""
    parameter = problem.data.prepared.space[problem.outcome]
    return 0.0 if isinstance(parameter, Number) and parameter.low >= 0 else -np.inf


def _inside(y: Floats, low: Floats, high: Floats) -> float:
    return float(np.mean((low <= y) & (y <= high)))


def _band(y: Floats, low: Floats, high: Floats, small: float) -> Band:
    width = (high - low) / np.maximum(np.maximum(np.abs(y), small), 1e-300)
    known = width[np.isfinite(width)]
    middle = float(np.median(known)) if len(known) else float("nan")
    return Band(_inside(y, low, high), _mean(known), middle, 1 - len(known) / len(width))


def _mean(values: list[float] | Floats) -> float:
    known = np.asarray(values)[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def changes(engine: Learnt, test: Rows, count: int, seed: int) -> list[tuple[bool, float, float]]:
    """What-if questions between pairs of test rows: whether the measured change is in its interval.

    With the width of the interval and of the naive one from the ends of both single intervals.
    Empty where answers have no interval of the change.
    """
    problem = engine.problem
    encoder = Encoder(problem.features)
    found = []
    for i, j in _pairs(problem, test, count, seed):
        old, new = encoder.decode(problem.X[i]), encoder.decode(problem.X[j])
        moved = {name: value for name, value in new.items() if value != old[name]}
        try:
            answer = engine.engine.what_if(old, moved, [problem.outcome])
        except cp.CompassError:
            continue  # a rule of the study forbids the move
        if not len(answer) or answer[0].config != new:
            continue
        said = answer[0].outcome(problem.outcome)
        if said.change_low is None or said.change_high is None:
            return []
        truth = float(problem.y[j] - problem.y[i])
        low, high = engine.band(problem.X[[i, j]], STATED)
        naive = float((high - low).sum())
        inside = said.change_low <= truth <= said.change_high
        found.append((bool(inside), said.change_high - said.change_low, naive))
    return found


def _pairs(problem: Problem, test: Rows, count: int, seed: int) -> list[tuple[int, int]]:
    """Disjoint pairs of different configurations, each row with one of the nearest left.

    Rows with the same labels of the context come first: a what-if does not change the application.
    """
    X = problem.X[test]
    scale = X.std(axis=0)
    scale[scale == 0] = 1.0
    category = np.array([isinstance(p, Category) for p in problem.features.parameters])
    weight = np.array([1e3 if p.role is Role.CONTEXT else 1.0 for p in problem.features.parameters])
    left = np.ones(len(X), dtype=bool)
    found: list[tuple[int, int]] = []
    for i in np.random.default_rng(seed).permutation(len(X)):
        if not left[i] or len(found) == count:
            continue
        apart = np.where(category, X[i] != X, np.abs(X - X[i]) / scale) @ weight
        other = left & (apart > 0)
        if not other.any():
            continue
        j = int(np.argmin(np.where(other, apart, np.inf)))
        left[[i, j]] = False
        found.append((int(test[i]), int(test[j])))
    return found
