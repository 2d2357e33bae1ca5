"""What was measured in the context of a question, and whether a suggestion is expected to beat it.

Only where the context is a single one: a prediction that is averaged over contexts cannot be
compared with runs of one of them.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Config, Value
from compass.domain.space import Category, Number
from compass.engine.judge import Judge
from compass.engine.workbench import Trained, Workbench
from compass.generate.base import Arena, Generated
from compass.generate.measured import Record, Reliability, missed, reliability
from compass.generate.score import score
from compass.language import format_value
from compass.prepare.weigh import uneven

Floats = NDArray[np.float64]
Spread = Callable[[Floats], dict[str, Floats]]


def record_of(judge: Judge, arena: Arena, contexts: Floats, spread: Spread) -> Record | None:
    """The record that an arena's candidates are valued with; None where only the model counts.

    `contexts` [c, d] are those of the question; `spread` is that of the arena's predictions.
    """
    directed = [target for target in arena.targets if target.direction is not None]
    if not directed or len(contexts) != 1:
        return None
    past = judge.bench.past_of(judge.here.features.names)
    fixed = np.setdiff1d(np.arange(len(arena.start)), arena.movable)
    same = np.ones(len(past.X), dtype=np.bool_)
    for column in fixed:
        same &= past.X[:, column] == contexts[0, column]
    rows = np.flatnonzero(same)
    if not len(rows):
        return None
    first = np.flatnonzero(np.r_[True, np.diff(past.key[rows]) > 0])
    mean, runs = {}, {}
    counts = np.ones(len(rows))
    if uneven(judge.bench.prepared.weight) is not None:
        counts = judge.bench.prepared.weight[past.position[rows]]
    for name in judge.trained:
        y = _measured(judge.bench, name)[past.position[rows]]
        known = np.isfinite(y[:, 0])
        runs[name] = np.add.reduceat(known.astype(np.int64), first)
        mass = np.add.reduceat(counts * known, first)
        sums = np.add.reduceat(np.where(known[:, None], counts[:, None] * y, 0.0), first, axis=0)
        mean[name] = sums / np.where(mass > 0, mass, 1)[:, None]
    relative = frozenset(name for name in judge.trained if _positive(judge.bench, name))
    record = Record(
        key=past.key[rows][first],
        X=past.X[rows][first],
        mean=mean,
        runs=runs,
        reliability={name: _reliability(judge, name) for name in judge.trained},
        relative=relative,
        positive=len(directed) == 1 and directed[0].name in relative,
        doubt=lambda X: _doubt(judge, arena, arena.predict(X), spread(X)),
    )
    return record.settled(arena)


def _positive(bench: Workbench, name: str) -> bool:
    """Whether an outcome is a time, a power or the like, whose errors grow with its size."""
    parameter = bench.prepared.space[name]
    return isinstance(parameter, Number) and parameter.low > 0


def _measured(bench: Workbench, name: str) -> Floats:
    """An outcome as it was measured, [n, outputs]: a number, or 1 for the class that it was."""
    parameter, y = bench.prepared.space[name], bench.prepared.column(name)
    if isinstance(parameter, Category):
        shares = (y[:, None] == np.arange(len(parameter.values))).astype(np.float64)
        return np.where(np.isfinite(y)[:, None], shares, np.nan)
    if parameter.optional:
        y = np.where(y == parameter.none_code, np.nan, y)
    return np.asarray(y[:, None])


def _reliability(judge: Judge, name: str) -> Reliability:
    """How far runs scatter and the model errs; worked out once per model."""
    bench, here = judge.bench, judge.here
    key = (here.features.names, name)
    if key not in bench.reliability:
        relative, y = _positive(bench, name), _measured(bench, name)
        held = here.valid[np.isfinite(y[here.valid, 0])]
        said = judge.trained[name].model.predict(here.X[held])
        past = bench.past_of(here.features.names)
        known = np.isfinite(y[past.position, 0])
        _, number = np.unique(past.key[known], return_inverse=True)
        bench.reliability[key] = reliability(
            y[past.position[known]],
            number,
            missed(y[held], said, relative=relative),
            relative=relative,
            weight=bench.prepared.weight[past.position[known]],
            miss_weight=bench.prepared.weight[held],
        )
    return bench.reliability[key]


def _doubt(
    judge: Judge, arena: Arena, said: Mapping[str, Floats], spreads: Mapping[str, Floats]
) -> Floats:
    """One standard deviation [n] of the model's error in what is minimised, runs' scatter apart."""
    total = np.zeros(len(next(iter(spreads.values()))))
    for target in arena.targets:
        if target.direction is None:
            continue
        trained, own = judge.trained[target.name], _reliability(judge, target.name)
        half = _half(trained, said[target.name][:, 0], spreads[target.name], target.scale)
        share = own.error / (own.error + own.noise) if own.error else 1.0
        total += share * (half / target.scale) ** 2
    return np.sqrt(total)


def _half(trained: Trained, predicted: Floats, spread: Floats, scale: float) -> Floats:
    assert trained.interval is not None
    half = trained.interval.deviation(predicted, spread)
    # With two or three runs to check with no width can be promised: then it may be anything.
    return np.where(np.isfinite(half), half, scale)


def measured_at(judge: Judge, arena: Arena, X: Floats) -> list[Config]:
    """What was measured, on average, at each configuration X [n, d] that was run before."""
    record = arena.record
    if record is None:
        return [{} for _ in X]
    observed: list[Config] = []
    for place in record.find(X):
        known: dict[str, Value] = {}
        for name in judge.trained if place >= 0 else ():
            if record.runs[name][place]:
                known[name] = judge.value(name, record.mean[name][place])
        observed.append(known)
    return observed


def verdict(judge: Judge, arena: Arena, found: Generated) -> tuple[str, ...]:
    """Whether the first suggestion is expected to beat the best past run, as a note."""
    record = arena.record
    if record is None or record.best < 0 or not len(found.X):
        return ()
    run = _told(judge, arena, record)
    first = int(record.find(found.X[:1])[0])
    if first == record.best:
        others = "; the others might" if len(found.X) > 1 else ""
        again = "the first suggestion is that configuration"
        return (f"Nothing is expected to beat {run}: {again}{others}.",)
    better = float(score(arena, found.X[:1]).extreme[0]) < record.value
    return (f"The first suggestion is {'' if better else 'not '}expected to beat {run}.",)


def _told(judge: Judge, arena: Arena, record: Record) -> str:
    """The best past configuration as `the best measured run, row 12 (time 4.1 ms)`."""
    past, prepared = judge.bench.past_of(judge.here.features.names), judge.bench.prepared
    first = int(np.searchsorted(past.key, record.key[record.best]))
    last = int(np.searchsorted(past.key, record.key[record.best], side="right"))
    rows = np.sort(prepared.row_id[past.position[first:last]])
    told = []
    for target in arena.targets:
        parameter = prepared.space[target.name]
        value = judge.value(target.name, record.mean[target.name][record.best])
        amount = f"{value:.4g}" if isinstance(value, float) else format_value(value)
        unit = getattr(parameter, "unit", None)
        told.append(f"{target.name} {amount}" + (f" {unit}" if unit else ""))
    values, first_row = ", ".join(told), prepared.table.told(int(rows[0]))
    if len(rows) == 1:
        return f"the best measured run, {first_row} ({values})"
    return f"the best measured configuration, {len(rows)} runs like {first_row} (mean {values})"
