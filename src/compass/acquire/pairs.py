"""Runs that would show what a parameter does: pairs of comparable runs that differ in it alone."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from compass.acquire.base import proposal
from compass.acquire.runnable import allowed, likely_ends_well
from compass.domain.answer import Effect, Finding, Proposal, Suggestion
from compass.domain.base import Value
from compass.domain.space import Role
from compass.evidence.assessor import Assessor
from compass.evidence.comparable import MatchedRuns
from compass.generate.task import SearchTask
from compass.language import format_value
from compass.prepare.encode import Encoder
from compass.prepare.geometry import distances

Floats = NDArray[np.float64]

_FIRST, _LARGEST = 16, 4096  # configurations that are looked at together


def pairs_for(
    task: SearchTask, assessor: Assessor, suggestion: Suggestion, n: int
) -> tuple[Proposal, ...]:
    """Up to n runs that settle what past runs do not say about the moves of a suggestion.

    First one pair for every parameter, then the further pairs that it takes to be sure.
    """
    lacking = [e for e in suggestion.trust.effects if e.finding is not Finding.SUPPORTED]
    by_knob: dict[str, list[Effect]] = {}
    for effect in lacking:
        by_knob.setdefault(effect.knob, []).append(effect)
    if not by_knob:
        return ()
    x = Encoder(task.space).encode(suggestion.config)
    queues = [_pairs(task, assessor, x, effects) for effects in by_knob.values()]
    found: dict[bytes, Proposal] = {}
    while queues and len(found) < n:
        going = []
        for queue in queues:
            pair = next(queue, None)
            if pair is None:
                continue
            going.append(queue)
            for row, why in pair:
                found.setdefault(row.tobytes(), proposal(Encoder(task.space).decode(row), why))
        queues = going
    return tuple(found.values())[:n]


def _pairs(
    task: SearchTask, assessor: Assessor, x: Floats, effects: list[Effect]
) -> Iterator[list[tuple[Floats, str]]]:
    """For one parameter: the runs that complete a pair, one pair after the other."""
    effect = effects[0]
    column = task.space.names.index(effect.knob)
    old, new = (_code(task, effect.knob, value) for value in (effect.old, effect.new))
    wanted = assessor.store.settings.trust.pairs
    needed = max(wanted - min(e.pairs for e in effects), 1)
    contradicted = any(e.finding is Finding.CONTRADICTED for e in effects)
    if contradicted:
        needed = 1
    if old == new:
        return
    made = assessor.view.all_runs
    given, repeat = 0, None
    for references, moved in _legal_pairs(task, assessor, x, column, (old, new)):
        # Measured already: worth a repeat only where there is no other.
        done = made.known(references) & made.known(moved) & (not contradicted)
        for place in np.flatnonzero(~done):
            reference, other = references[place], moved[place]
            yield _pair(effects, reference, other, made.rows(reference), made.rows(other))
            given += 1
            if given == needed:
                return
        if repeat is None and done.any():
            first = int(np.argmax(done))
            repeat = references[first], moved[first]
    if repeat is not None and not given:
        yield _pair(effects, *repeat, made.rows(repeat[0]), made.rows(repeat[1]))


def _legal_pairs(
    task: SearchTask, assessor: Assessor, x: Floats, column: int, move: tuple[float, float]
) -> Iterator[tuple[Floats, Floats]]:
    """Configurations [k, d] and the same with the new value, both allowed; the best first.

    In growing blocks: mostly the first few are enough, and rules are quick on many rows at once.
    """
    size = _FIRST
    columns = np.union1d(task.movable, [column])
    queue = _references(task, assessor, x, column, move)
    while block := list(islice(queue, size)):
        size = min(2 * size, _LARGEST)
        references = np.array(block)
        moved = references.copy()
        moved[:, column] = move[1]
        fine = allowed(task.space, task.rules, references, columns)
        fine &= allowed(task.space, task.rules, moved, columns)
        fine[fine] = likely_ends_well(assessor, references[fine])
        fine[fine] = likely_ends_well(assessor, moved[fine])
        yield references[fine], moved[fine]


def _references(
    task: SearchTask, assessor: Assessor, x: Floats, column: int, move: tuple[float, float]
) -> Iterator[Floats]:
    """Different configurations to make pairs of, with the old value of the parameter.

    The reference of the question, then past runs of the same context, those first of which one half
    of the pair was measured and that are like x [d], and x itself.
    """
    old, new = move
    view = assessor.view.all_runs
    same = _comparable(task, assessor, x, view.X, column)
    rows = np.concatenate([view.X[same], x[None]])
    half = (rows[:, column] == old) | (rows[:, column] == new)
    half[-1] = False
    rows[:, column] = old
    fixed = np.setdiff1d(np.arange(len(x)), [*task.movable, column])
    rank = np.where(half, 0, len(fixed) + 1)
    for other in fixed:
        rank += rows[:, other] != x[other]
    start, seen = task.origin, set()
    if start[column] == old and (start[fixed] == x[fixed]).all():
        seen.add(start.tobytes())
        yield start
    # Rank by rank: mostly the first has enough, and the others need not be sorted.
    for level in np.flatnonzero(np.bincount(rank)):
        like = rows[rank == level]
        away = distances(like, x, np.arange(len(x)), task.geometry)
        for place in np.argsort(away, kind="stable"):
            key = like[place].tobytes()
            if key not in seen:
                seen.add(key)
                yield like[place]


def _comparable(
    task: SearchTask, assessor: Assessor, x: Floats, X: Floats, column: int
) -> NDArray[np.bool_]:
    """Which past runs X [n, d] are of the same context as x [d], the moved column apart."""
    goals = {goal: assessor.learnt(goal) for goal in task.query.goals}
    matched = MatchedRuns.of(assessor.view, goals, assessor.store.settings.trust)
    names = {*matched.known.columns, *task.space.having(Role.CONTEXT)}
    same = np.ones(len(X), dtype=np.bool_)
    for name in names:
        place = task.space.names.index(name)
        if place != column:
            same &= X[:, place] == x[place]
    return same


def _pair(
    effects: list[Effect], reference: Floats, moved: Floats, before: list[int], after: list[int]
) -> list[tuple[Floats, str]]:
    """The runs of a pair that are not there yet, with what they would settle."""
    asked = " and ".join(_question(effect) for effect in effects)
    tail = f"tells whether {asked}"
    if any(e.finding is Finding.NOT_IDENTIFIABLE for e in effects):
        move = f"{effects[0].knob} {_shown(effects[0].old)} and {_shown(effects[0].new)}"
        tail = (
            f"the same program and input has to be run at {move}, and the trace should name them: "
            f"{tail}"
        )
        return [
            (reference, f"first of a pair: {tail}"),
            (moved, f"second of the pair: {tail}"),
        ]
    if before and after:
        return [(moved, f"row {after[0]} again, beside row {before[0]}: {tail}")]
    if before:
        return [(moved, f"with row {before[0]} it makes a comparable pair: {tail}")]
    if after:
        return [(reference, f"with row {after[0]} it makes a comparable pair: {tail}")]
    return [
        (reference, f"with the next run it makes a comparable pair: {tail}"),
        (moved, f"second of the pair: {tail}"),
    ]


def _question(effect: Effect) -> str:
    move = f"{effect.knob} {_shown(effect.old)} -> {_shown(effect.new)}"
    unit = " %" if effect.percent else ""
    if not effect.expected:
        return f"{move} leaves {effect.outcome} as it is, as the model expects"
    does = "lowers" if effect.expected < 0 else "raises"
    expects = f"as the model expects ({effect.expected:+.3g}{unit})"
    if effect.finding is Finding.CONTRADICTED and effect.observed is not None:
        expects += f", or not, as past pairs say ({effect.observed:+.3g}{unit})"
    return f"{move} {does} {effect.outcome}, {expects}"


def _shown(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else format_value(value)


def _code(task: SearchTask, knob: str, value: Value) -> float:
    return float(Encoder(task.space.select([knob])).encode({knob: value})[0])
