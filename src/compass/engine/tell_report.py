"""What new runs changed: predictions beside measurements, labels, and answers to questions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Answer, Effect, Label, Prediction
from compass.domain.base import Value
from compass.domain.quantity import quantity
from compass.domain.space import Category, Number, Role, Space
from compass.domain.tell import Arrival, Best, Coverage, OutcomeCheck, Reanswered, Relabelled
from compass.evidence.assessor import Assessor
from compass.language import format_value
from compass.learn.store import ModelStore

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_SHOWN = 20  # new runs that are shown one by one
_CHECKED = 2000  # new runs that are compared at all
_UNKNOWN = "not known"


@dataclass(frozen=True)
class Compared:
    """New runs beside what was predicted of them."""

    arrivals: tuple[Arrival, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    labels: tuple[Relabelled, ...] = ()
    notes: tuple[str, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """One plain sentence for each of it."""
        lines = []
        for one in self.coverage:
            how = "had the predicted class"
            if one.level is not None:
                how = f"lay inside the {one.level:.0%} interval predicted for them"
            lines.append(f"{one.outcome}: {one.inside} of {one.runs} new runs {how}.")
        moves = [
            f"{one.runs} {_word(one.before)} -> {one.after.value}"
            if one.before != one.after
            else f"{one.runs} {one.after.value} as before"
            for one in self.labels
        ]
        if moves:
            lines.append(f"Labels of the new runs: {', '.join(moves)}.")
        return tuple(lines)


def _word(label: Label | None) -> str:
    return _UNKNOWN if label is None else label.value


def compared(old: ModelStore, new: ModelStore, first: int) -> Compared:
    """The runs from row `first` on: predicted by the old models, measured, and their labels."""
    features = _features(old)
    fresh = np.flatnonzero(new.prepared.row_id >= first)
    if features is None or any(name not in new.prepared.space for name in features):
        return Compared()
    X = new.prepared.columns_of(features)
    rows = new.prepared.citable(fresh[np.isfinite(X[fresh]).all(axis=1)])
    if not len(rows):
        return Compared()
    notes: tuple[str, ...] = ()
    if len(rows) > _CHECKED:
        notes = (f"the first {_CHECKED} of the new runs were compared with their predictions",)
    rows = rows[:_CHECKED]
    outcomes = tuple(target for known, target in old.trained if known == features)
    was, now = _assessor(old, features, outcomes), _assessor(new, features, outcomes)
    known = recoded(X[rows], now.view.features, was.view.features)
    possible = np.flatnonzero(np.isfinite(known).all(axis=1))
    before: list[Label | None] = [None] * len(rows)
    checks: dict[int, list[OutcomeCheck]] = {i: [] for i in range(len(rows))}
    if len(possible):
        for spot, label in zip(possible, was.labels(known[possible]), strict=True):
            before[int(spot)] = label
        for name in outcomes:
            for place, check in _checked(was, new, name, known[possible], rows[possible]):
                checks[int(possible[place])].append(check)
    after = now.labels(X[rows])
    arrivals = tuple(
        Arrival(
            row=int(new.prepared.row_id[row]),
            before=before[i],
            after=after[i],
            outcomes=tuple(checks[i]),
        )
        for i, row in enumerate(rows[:_SHOWN])
    )
    coverage = _coverage(was, outcomes, [c for found in checks.values() for c in found])
    return Compared(arrivals, coverage, _relabelled(before, after), notes)


def _features(store: ModelStore) -> tuple[str, ...] | None:
    """The columns that the models are asked about: all knobs and context, else any that are."""
    usual = store.prepared.space.having(Role.KNOB, Role.CONTEXT)
    known = [features for features, _ in store.trained]
    return usual if usual in known else next(iter(known), None)


def _assessor(store: ModelStore, features: tuple[str, ...], outcomes: Iterable[str]) -> Assessor:
    return Assessor(store, store.view_of(features), store.train(features, outcomes))


def recoded(X: Floats, now: Space, was: Space) -> Floats:
    """Rows X [n, d] of one space in the codes of another; NaN for labels that it does not have."""
    found = np.empty_like(X)
    for column, (new, old) in enumerate(zip(now, was, strict=True)):
        values = X[:, column]
        if isinstance(new, Category) and isinstance(old, Category):
            place = {value: float(i) for i, value in enumerate(old.values)}
            codes = np.array([place.get(value, np.nan) for value in new.values])
            found[:, column] = codes[values.astype(np.int64)]
        elif isinstance(new, Number) and isinstance(old, Number):
            found[:, column] = np.where(values == new.none_code, old.none_code, values)
        else:
            found[:, column] = np.nan
    return found


def _checked(
    was: Assessor, new: ModelStore, name: str, X: Floats, rows: Rows
) -> list[tuple[int, OutcomeCheck]]:
    """One outcome of new runs X [n, d], in the old codes, at `rows` [n] of the new table."""
    model, parameter = was.trained[name].model, new.prepared.space[name]
    scores = model.predict(X)
    band = was.band(name, scores, model.spread(X))
    y = new.prepared.outcome(name)[rows]
    found = []
    for i in np.flatnonzero(np.isfinite(y)):
        predicted = was.value(name, scores[i])
        measured: Value = float(y[i])
        low = high = None
        if isinstance(parameter, Category):
            measured = parameter.values[int(y[i])]
            inside = predicted == measured
        else:
            assert band is not None
            low, high = float(band[0][i]), float(band[1][i])
            inside = bool(low <= y[i] <= high)
        check = OutcomeCheck(
            outcome=name,
            unit=parameter.unit if isinstance(parameter, Number) else None,
            predicted=predicted,
            low=low,
            high=high,
            measured=measured,
            inside=inside,
        )
        found.append((int(i), check))
    return found


def _coverage(
    was: Assessor, outcomes: Sequence[str], checks: Sequence[OutcomeCheck]
) -> tuple[Coverage, ...]:
    found = []
    for name in outcomes:
        own = [check for check in checks if check.outcome == name]
        number = was.trained[name].interval is not None
        if own:
            found.append(
                Coverage(
                    outcome=name,
                    runs=len(own),
                    inside=sum(check.inside for check in own),
                    level=was.store.settings.interval if number else None,
                )
            )
    return tuple(found)


def _relabelled(before: Sequence[Label | None], after: Sequence[Label]) -> tuple[Relabelled, ...]:
    counted = Counter(zip(before, after, strict=True))
    return tuple(
        Relabelled(before=was, after=now, runs=runs) for (was, now), runs in counted.most_common()
    )


def reanswered(was: Answer, now: Answer | str) -> Reanswered | str:
    """What changed in the answer to a question; the note where it has none any more."""
    if isinstance(now, str):
        return now
    before, after = _best(was), _best(now)
    lines = _moved(before, after)
    if was.answered != now.answered:
        lines.append(f"now there is {'an' if now.answered else 'no'} supported answer")
    findings = _findings(before, after)
    return Reanswered(
        question=now.text,
        before=before,
        after=after,
        changed=bool(lines or findings),
        summary=(*lines, *findings) or (_same(after),),
    )


def sentences(again: Sequence[Reanswered | str]) -> tuple[str, ...]:
    """What changed in the answers, one plain sentence each."""
    return tuple(
        f"{one.question}: {line}."
        for one in again
        if isinstance(one, Reanswered)
        for line in one.summary
    )


def _best(answer: Answer) -> Best | None:
    if answer.population is not None:
        return Best(settings={}, outcomes=answer.population.outcomes)
    if not answer.suggestions:
        return None
    first = answer.suggestions[0]
    return Best(
        settings=first.settings,
        outcomes=first.outcomes,
        label=first.trust.label,
        effects=first.trust.effects,
    )


def _moved(before: Best | None, after: Best | None) -> list[str]:
    """Another best suggestion, or another label of the same one."""
    if before is None or after is None:
        if before is after:
            return []
        return [f"best suggestion: {_told(before)} -> {_told(after)}"]
    if before.settings != after.settings:
        return [f"best suggestion: {_told(before)} -> {_told(after)}"]
    if before.label != after.label:
        return [
            f"best suggestion as before, {_settings(after)}: {_word(before.label)} -> "
            f"{_word(after.label)} ({_outcomes(before)} -> {_outcomes(after)})"
        ]
    return []


def _same(after: Best | None) -> str:
    if after is None:
        return "still no suggestion"
    return f"best suggestion as before: {_told(after)}"


def _told(best: Best | None) -> str:
    if best is None:
        return "none"
    label = "" if best.label is None else f", {best.label.value}"
    return f"{_settings(best)} ({_outcomes(best)}{label})"


def _settings(best: Best) -> str:
    lines = [f"{name} = {_value(value)}" for name, value in best.settings.items()]
    return ", ".join(lines) or "the mean over matching runs"


def _outcomes(best: Best) -> str:
    return ", ".join(f"{o.name} {_amount(o)}" for o in best.outcomes)


def _amount(outcome: Prediction) -> str:
    number = isinstance(outcome.value, float)
    return quantity(outcome.value, outcome.unit) if number else _value(outcome.value)


def _value(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else format_value(value)


def _findings(before: Best | None, after: Best | None) -> list[str]:
    """Effects whose evidence changed, of parameters that both suggestions move."""
    if before is None or after is None:
        return []
    known = {(e.knob, e.outcome): e for e in before.effects}
    lines = []
    for effect in after.effects:
        was = known.get((effect.knob, effect.outcome))
        if was is not None and was.finding != effect.finding:
            lines.append(
                f"effect of {effect.knob} on {effect.outcome}: {_finding(was)} -> "
                f"{_finding(effect)}"
            )
    return lines


def _finding(effect: Effect) -> str:
    return f"{effect.finding.value} ({effect.pairs} pairs)"
