"""Configurations that may improve the answer to a question, and what each of them may give."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Label, Suggestion
from compass.domain.query import Kind
from compass.domain.space import Number
from compass.engine import decision
from compass.engine.contexts import completed
from compass.engine.judge import Judge
from compass.engine.past import record_of
from compass.engine.workbench import Trained
from compass.generate.base import Arena
from compass.generate.breed import children, draw, herd_of
from compass.generate.measured import Record, Reliability
from compass.generate.predict import Averaged
from compass.generate.repair import broken, settle
from compass.generate.start import Block, blocks
from compass.language import format_value
from compass.model import flat
from compass.prepare.encode import Encoder
from compass.prepare.legal import legal_mask

if TYPE_CHECKING:
    from compass.engine.answering import Desk

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DRAWS = 256
_BRED = 384  # candidates bred from suggestions and from the best measured runs
_RANDOM = 192  # legal candidates from anywhere
_PARENTS = 32  # measured configurations, best first, that candidates are bred from
_REPEATED = 8  # of those, the ones that may be run again
_DIGITS = 4  # of numbers without a grid
_UNKNOWN = Reliability(noise=0.0, error=1.0)


@dataclass(frozen=True, eq=False)
class Prospects:
    """Candidates, suggestions first, with S draws of what each may give."""

    X: Floats  # [m, d] complete configurations
    result: decision.Result  # [S, m]
    losses: Floats  # [S, m]
    today: float  # the loss of the best decision that is possible without a further run
    holder: str  # what that decision is, in words
    met: bool  # whether it meets the goals
    centre: dict[str, Floats]  # per number [m]: what is believed of each
    deviation: dict[str, Floats]  # per number [m]: how far one run may move that
    runs: Integers  # [m] runs made before

    @property
    def chance(self) -> Floats:
        """How likely each candidate [m] is to be better than the best decision of today."""
        return np.asarray((self.losses < self.today).mean(axis=0))


def prospects(desk: "Desk", arena: Arena, suggestions: tuple[Suggestion, ...]) -> Prospects | None:
    """Everything that could be run for a question; None where no configuration is legal."""
    rng = np.random.default_rng(arena.seed)
    encoder = Encoder(arena.space)
    own = np.array([encoder.encode(s.config) for s in suggestions]).reshape(-1, len(arena.start))
    record = _record(desk, arena)
    known = _best_measured(arena, record)
    seen = np.empty((0, len(arena.start))) if record is None else record.X[known]
    found = [own, seen[:_REPEATED], _pool(arena, np.concatenate([own, seen]), rng)]
    X = np.concatenate(found)
    if desk.plan.query.kind is Kind.RECOMMEND and len(X):
        X = completed(desk.plan, desk.judge, arena, X)
    X = _first_of_each(X[_fine(arena, X)])
    if not len(X):
        return None
    drawn, centre, deviation, runs = _drawn(desk.judge, arena, record, X, rng)
    result = decision.result(arena, X, drawn)
    worst = float(result.value.max())
    losses = result.losses(worst)
    today, holder = _today(desk, arena, record, known, worst)
    for place, suggestion in enumerate(suggestions):
        spot = np.flatnonzero((own[place] == X).all(axis=1))
        if suggestion.trust.label is Label.TRUSTED and len(spot):
            expected = float(losses[:, spot[0]].mean())
            if expected < today:
                today, holder = expected, f"suggestion {place + 1}, as predicted"
    if not np.isfinite(today):
        middle = decision.result(arena, X[:1], {n: d[:, :1] for n, d in drawn.items()})
        today, holder = float(middle.losses(worst).mean()), "what is predicted today"
    met = today <= worst
    return Prospects(X, result, losses, today, holder, met, centre, deviation, runs)


def _record(desk: "Desk", arena: Arena) -> Record | None:
    """What was measured in the context of the question; None where there are several contexts."""
    if arena.record is not None or not isinstance(arena.predict, Averaged):
        return arena.record
    # A record is kept of what is minimised; goals are looked up in the same way.
    aimed = tuple(t.model_copy(update={"direction": "minimize"}) for t in arena.targets)
    plan, asked = desk.plan, replace(arena, targets=aimed)
    return record_of(desk.judge, asked, plan.contexts, arena.predict.spread)


def _best_measured(arena: Arena, record: Record | None) -> Integers:
    """Positions in the record of the best configurations that are legal, best first."""
    if record is None:
        return np.empty(0, dtype=np.int64)
    rows = np.ones(len(record.X), dtype=np.bool_)
    for name in _names(arena):
        rows &= record.runs[name] > 0
    places = np.flatnonzero(rows)
    places = places[_fine(arena, record.X[places])]
    if not len(places):
        return places
    as_measured = {name: _plain(record.mean[name][places]) for name in _names(arena)}
    found = decision.result(arena, record.X[places], as_measured)
    losses = found.losses(float(found.value.max()))[0]
    return np.asarray(places[np.argsort(losses, kind="stable")[:_PARENTS]])


def _names(arena: Arena) -> tuple[str, ...]:
    """The outcomes that decide."""
    aimed = [target.name for target in arena.targets]
    return tuple(dict.fromkeys([*aimed, *(arena.outcomes if arena.outcome_rules else ())]))


def _plain(scores: Floats) -> Floats:
    """Numbers, or positions of the likeliest class, [1, m] from scores [m, outputs]."""
    one = scores[:, 0] if scores.shape[1] == 1 else scores.argmax(axis=1).astype(np.float64)
    return np.asarray(one[None, :])


def _fine(arena: Arena, X: Floats) -> NDArray[np.bool_]:
    """Which configurations [n] are legal and obey the rules on features."""
    fine = broken(arena, X) == 0
    for column in arena.movable:
        fine &= legal_mask(arena.space.parameters[column], X[:, column])
    return np.asarray(fine)


def _pool(arena: Arena, parents: Floats, rng: np.random.Generator) -> Floats:
    """Legal candidates: near the parents, mixtures of them, and from anywhere."""
    bare = replace(arena, record=None)
    groups = blocks(bare) if len(arena.movable) else []
    if not groups or any(block.table is not None and not len(block.table) for block in groups):
        return arena.start[None, :]
    herd = herd_of(bare, groups)
    random = np.repeat(herd.home[None, :], _RANDOM, axis=0)
    for block in groups:
        random[:, block.columns] = draw(block, len(random), rng)
    heads = parents if len(parents) else random
    bred = children(herd, heads, _BRED, rng)
    X = np.concatenate([*(_steps(x, groups) for x in heads[:4]), bred, random])
    X = settle(bare, X[broken(arena, X) == 0])
    return _rounded(arena, X)


def _steps(x: Floats, groups: list[Block]) -> Floats:
    """Configurations that differ from x [d] by one step of one column."""
    found = [x]
    for block in groups:
        for column, values in zip(block.columns, block.values, strict=True):
            here = int(np.searchsorted(values, x[column]))
            for place in (here - 1, here, here + 1):
                if 0 <= place < len(values) and values[place] != x[column]:
                    moved = x.copy()
                    moved[column] = values[place]
                    found.append(moved)
    return np.array(found)


def _rounded(arena: Arena, X: Floats) -> Floats:
    """Numbers without a grid as a person would type them, where the rules allow it."""
    short = X.copy()
    for column in arena.movable:
        parameter = arena.space.parameters[column]
        if isinstance(parameter, Number) and not parameter.step and not parameter.allowed:
            values = X[:, column]
            told = [float(f"{value:.{_DIGITS}g}") for value in values]
            kept = (values == arena.geometry.none[column]) | (values == arena.start[column])
            short[:, column] = np.where(kept, values, told)
    return np.where(_fine(arena, short)[:, None], short, X)


def _first_of_each(X: Floats) -> Floats:
    _, first = np.unique(X, axis=0, return_index=True)
    return np.asarray(X[np.sort(first)])


def _drawn(
    judge: Judge, arena: Arena, record: Record | None, X: Floats, rng: np.random.Generator
) -> tuple[dict[str, Floats], dict[str, Floats], dict[str, Floats], Integers]:
    """Per outcome draws [S, m]; per number what is believed and how far a run may move it."""
    assert isinstance(arena.predict, Averaged)
    said, spreads = arena.predict(X), arena.predict.spread(X)
    runs = np.zeros(len(X), dtype=np.int64)
    if record is not None:
        place = record.find(X)
        tried = np.flatnonzero(place >= 0)
        believed = record.believed({n: v[tried] for n, v in said.items()}, place[tried])
        for name in said:
            said[name] = said[name].copy()
            said[name][tried] = believed[name]
        runs[tried] = np.min([record.runs[n][place[tried]] for n in _names(arena)], axis=0)
    drawn, centre, deviation = {}, {}, {}
    for name in _names(arena):
        trained, parameter = judge.trained[name], judge.bench.prepared.space[name]
        if not isinstance(parameter, Number):
            first = arena.labels.get(name, int(said[name].mean(axis=0).argmax()))
            z = decision.joint(-_members(trained, X, first), _DRAWS, rng)
            drawn[name] = decision.classes_drawn(said[name], z, first)
            continue
        assert trained.interval is not None
        half = trained.interval.deviation(said[name][:, 0], spreads[name])
        half = np.where(np.isfinite(half), half, trained.scale)
        own = _UNKNOWN if record is None else record.reliability[name]
        centre[name], deviation[name] = said[name][:, 0], decision.surprise(half, own, runs)
        z = decision.joint(_members(trained, X, 0), _DRAWS, rng)
        drawn[name] = decision.numbers_drawn(
            centre[name], deviation[name], z, positive=parameter.low > 0
        )
    return drawn, centre, deviation, runs


def _members(trained: Trained, X: Floats, output: int) -> Floats:
    """What every tree of the perturbed models says of X [m, d], [t, m]."""
    forest = trained.perturbed.forests[0]
    said = [flat.mean(forest.only(t, t + 1), X)[:, output] for t in range(forest.trees)]
    return np.array(said)


def _today(
    desk: "Desk", arena: Arena, record: Record | None, known: Integers, worst: float
) -> tuple[float, str]:
    """The loss of the best measured configuration, and which it is; infinite where there is none.

    What was measured is drawn towards the model as far as runs scatter.
    """
    if record is None or not len(known):
        return np.inf, ""
    X = record.X[known]
    believed = record.believed(arena.predict(X), known)
    found = decision.result(arena, X, {n: _plain(believed[n]) for n in _names(arena)})
    losses = found.losses(worst)[0]
    place = int(known[int(np.argmin(losses))])
    told = []
    for target in arena.targets:
        value = desk.judge.value(target.name, record.mean[target.name][place])
        unit = getattr(desk.bench.prepared.space[target.name], "unit", None)
        amount = f"{value:.4g}" if isinstance(value, float) else format_value(value)
        told.append(f"{target.name} {amount}" + (f" {unit}" if unit else ""))
    rows = rows_of(desk, record.X[place])
    return float(losses.min()), f"row {rows[0]} ({', '.join(told)})"


def rows_of(desk: "Desk", x: Floats) -> list[int]:
    """The numbers of the past runs of a configuration x [d], in the person's data."""
    here = desk.bench.past_of(desk.judge.here.features.names)
    from compass.prepare.split import configurations

    key = configurations(x[None, :])[0]
    first, last = np.searchsorted(here.key, key), np.searchsorted(here.key, key, side="right")
    spots = [i for i in range(int(first), int(last)) if np.array_equal(here.X[i], x)]
    return sorted(int(desk.bench.prepared.row_id[here.position[i]]) for i in spots)
