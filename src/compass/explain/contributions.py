"""Why the model predicts this: contributions of the parameters, similar runs, one sentence.

Without something to compare with, a run is compared with past runs (a sample of those that were
learnt from): the contributions say how its parameters lift or lower the prediction against the mean
over them. Compared with one run they split the predicted change among the parameters that differ.
See `compass.explain.shapley` for what the numbers are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Evidence, Suggestion
from compass.domain.base import Config, Value
from compass.domain.errors import QueryProblem, unknown
from compass.domain.explanation import Contribution, Explanation, Scale
from compass.domain.quantity import plain, quantity
from compass.domain.query import Given, Row
from compass.domain.space import Category, Number, Role
from compass.evidence import baseline as base
from compass.explain import sentence as say
from compass.explain.shapley import Shapley, explained
from compass.language.bind import column
from compass.learn.features import FeatureView
from compass.learn.outcomes import OutcomeModel
from compass.learn.store import ModelStore
from compass.prepare.encode import Encoder

Floats = NDArray[np.float64]

BACKGROUND = 100  # past runs to compare with; more change the third digit
_SHOWN = 1.96  # standard errors on both sides of a 95 % interval
_AGREE = 0.005  # predictions that differ less are the same in what is printed


@dataclass(frozen=True, eq=False)
class Background:
    """What a run is compared with."""

    Z: Floats  # [b, d]
    weight: Floats  # [b]
    words: str  # "100 past runs", "row 12"
    single: bool = False  # one run: its values are shown beside those of the run


@dataclass(frozen=True, eq=False)
class Subject:
    """What is explained."""

    x: Floats  # [d]
    config: Config
    row: int | None
    measured: Config
    answered: Config  # what an answer predicted for it, where it comes from one


def explain(
    store: ModelStore,
    run: Row | Given | Suggestion,
    outcomes: tuple[str, ...] = (),
    against: Row | Given | None = None,
) -> tuple[Explanation, ...]:
    """One explanation per outcome of a past run, a configuration or a suggestion.

    A suggestion is explained with the features and outcomes of its question, anything else with
    knobs and context, and all outcomes unless some are named.
    """
    features, possible = _columns(store, run)
    wanted = _wanted(store, outcomes, possible)
    view = store.view_of(features)
    subject = _subject(store, view, run)
    trained = store.train(features, wanted)
    found = []
    for target in wanted:
        other = _background(store, view, target, against)
        shares = explained(
            trained[target].model, subject.x, other.Z, other.weight, seed=store.settings.seed
        )
        found.append(_explanation(store, view, target, trained[target], subject, other, shares))
    return tuple(found)


def _columns(
    store: ModelStore, run: Row | Given | Suggestion
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The features, and the outcomes that can be explained from them."""
    space = store.prepared.space
    if isinstance(run, Suggestion):
        return tuple(run.config), tuple(outcome.name for outcome in run.outcomes)
    features, outcomes = space.having(Role.KNOB, Role.CONTEXT), space.having(Role.OUTCOME)
    if not features or not outcomes:
        lacking = "an outcome" if features else "a knob or context"
        raise QueryProblem(
            f"no column is known to be {lacking}", hint="give one that role (--role COLUMN=ROLE)"
        )
    return features, outcomes


def _wanted(
    store: ModelStore, outcomes: tuple[str, ...], possible: tuple[str, ...]
) -> tuple[str, ...]:
    space = store.prepared.space
    found = []
    for name in outcomes:
        folded = [other for other in possible if other.casefold() == name.casefold()]
        known = name if name in possible else folded[0] if len(folded) == 1 else None
        if known is None and name in space:
            raise QueryProblem(
                f"{name} is not an outcome here", hint=f"choose one of {', '.join(possible[:8])}"
            )
        if known is None:
            raise unknown("outcome", name, possible)
        found.append(known)
    return tuple(dict.fromkeys(found)) or possible


def _subject(store: ModelStore, view: FeatureView, run: Row | Given | Suggestion) -> Subject:
    if isinstance(run, Suggestion):
        x = Encoder(view.features).encode(run.config)
        answered = {outcome.name: outcome.value for outcome in run.outcomes}
        return Subject(x, dict(run.config), None, {}, answered)
    x, measured = base.encode(run, store, view)
    row = run.row if isinstance(run, Row) else None
    return Subject(x, Encoder(view.features).decode(x), row, measured, {})


def _background(
    store: ModelStore, view: FeatureView, target: str, against: Row | Given | None
) -> Background:
    """The one run to compare with, or a seeded sample of the runs that the outcome is known of."""
    if against is not None:
        z, _ = base.encode(against, store, view)
        words = "the given configuration"
        if isinstance(against, Row):
            words = store.everything.table.row_label(against.row)
        return Background(z[np.newaxis], np.ones(1), words, single=True)
    rows = view.supporting[np.isfinite(store.prepared.outcome(target)[view.supporting])]
    if len(rows) > BACKGROUND:
        rng = np.random.default_rng(store.settings.seed)
        rows = np.sort(rng.choice(rows, BACKGROUND, replace=False))
    words = f"{len(rows)} past runs" + (" of the sample" if store.prepared.sample else "")
    return Background(view.X[rows], store.prepared.weight[rows], words)


@dataclass(frozen=True, eq=False)
class _Focus:
    """The one number per prediction that is explained."""

    share: Floats  # [d]
    error: Floats  # [d]
    reached: float  # as a person reads it: a value, or a share between 0 and 1
    usual: float
    label: Value = None
    rival: Value = None


def _focus(
    parameter: Number | Category, trained: OutcomeModel, subject: Subject, shares: Shapley
) -> _Focus:
    """For a number its prediction; for classes the one that wins, against the next."""
    if not isinstance(parameter, Category):
        ends = (float(shares.reached[0]), float(shares.usual[0]))
        if shares.scale == "factor":
            ends = (_factor(ends[0]), _factor(ends[1]))
        return _Focus(shares.share[:, 0], shares.error[:, 0], *ends)
    scores = trained.model.predict(subject.x[np.newaxis])[0]
    order = np.argsort(-scores, kind="stable")
    first, second = int(order[0]), int(order[min(1, len(order) - 1)])
    label = parameter.values[first]
    if shares.scale == "probability":
        ends = (float(shares.reached[first]), float(shares.usual[first]))
        return _Focus(shares.share[:, first], shares.error[:, first], *ends, label)
    odds = _odds(first, second, len(shares.reached))
    ends = (_sigmoid(float(shares.reached @ odds)), _sigmoid(float(shares.usual @ odds)))
    rival = parameter.values[second] if len(parameter.values) > 2 else None
    return _Focus(shares.share @ odds, np.zeros(len(subject.x)), *ends, label, rival)


def _odds(first: int, second: int, columns: int) -> Floats:
    """What raw columns are multiplied with to get the log-odds of one class against another."""
    weight = np.zeros(columns)
    if columns == 1:  # one raw column for two classes: the log-odds of the second
        weight[0] = 1.0 if first == 1 else -1.0
    else:
        weight[first] += 1.0
        weight[second] -= 1.0
    return weight


def _factor(logarithm: float) -> float:
    # exp(700) is the last that is a number.
    return float(np.exp(np.clip(logarithm, -700, 700)))


def _sigmoid(odds: float) -> float:
    return 1 / (1 + _factor(-odds))


def _explanation(
    store: ModelStore,
    view: FeatureView,
    target: str,
    trained: OutcomeModel,
    subject: Subject,
    other: Background,
    shares: Shapley,
) -> Explanation:
    parameter = store.prepared.space[target]
    unit = parameter.unit if isinstance(parameter, Number) else None
    focus = _focus(parameter, trained, subject, shares)
    scale: Scale = shares.scale  # type: ignore[assignment]
    parts = _contributions(view, scale, unit, subject, other, shares, focus)
    predicted = focus.label if isinstance(parameter, Category) else focus.reached
    measured = subject.measured.get(target)
    return Explanation(
        target=target,
        sentence=_sentence(target, parameter, scale, focus, measured, other, parts),
        predicted=predicted,
        usual=focus.usual,
        reached=focus.reached,
        measured=measured,
        unit=unit,
        scale=scale,
        label=focus.label,
        rival=focus.rival,
        contributions=parts,
        against=other.words,
        baseline=Encoder(view.features).decode(other.Z[0]) if other.single else None,
        similar=similar_runs(store, view, subject.x, target, leave_out=subject.row),
        config=subject.config,
        row=subject.row,
        family=trained.model.family,
        orders=shares.orders,
        notes=_notes(target, predicted, subject, shares),
    )


def _contributions(
    view: FeatureView,
    scale: Scale,
    unit: str | None,
    subject: Subject,
    other: Background,
    shares: Shapley,
    focus: _Focus,
) -> tuple[Contribution, ...]:
    """Largest first; beside one run only the parameters that differ from it."""
    before = Encoder(view.features).decode(other.Z[0]) if other.single else {}
    found = []
    for place in np.argsort(-np.abs(focus.share), kind="stable"):
        parameter = view.features.parameters[int(place)]
        name, amount = parameter.name, float(focus.share[place])
        if other.single and subject.x[place] == other.Z[0, place]:
            continue
        around = _SHOWN * float(focus.error[place])
        share = say.share_text(scale, amount, unit)
        value, old = subject.config[name], before.get(name)
        own = parameter.unit if isinstance(parameter, Number) else None
        found.append(
            Contribution(
                name=name,
                value=value,
                before=old,
                unit=own,
                amount=amount,
                low=None if shares.exact else amount - around,
                high=None if shares.exact else amount + around,
                factor=_factor(amount) if scale in ("factor", "log-odds") else None,
                share=share,
                text=say.contribution_text(name, value, old, other.single, own, share),
            )
        )
    return tuple(found)


def _sentence(
    target: str,
    parameter: Number | Category,
    scale: Scale,
    focus: _Focus,
    measured: Value,
    other: Background,
    parts: tuple[Contribution, ...],
) -> str:
    where = other.words if other.single else ""
    if isinstance(parameter, Category):
        total = float(sum(part.amount for part in parts))
        rival = "" if focus.rival is None else f" against {plain(focus.rival)}"
        seen = "" if measured is None else f"measured {plain(measured)}"
        start = say.start(target, plain(focus.label), f"{focus.reached:.0%}{rival}", seen)
        beside = say.class_beside(scale, total, focus.usual, where)
        even = say.level(total)
    else:
        unit = parameter.unit
        known = isinstance(measured, int | float)
        seen = f"measured {quantity(measured, unit)}" if known else ""
        start = say.start(target, quantity(focus.reached, unit), seen)
        beside = say.number_beside(scale, focus.reached, focus.usual, unit, where)
        even = say.near(focus.reached, focus.usual)
    return say.sentence(start=start, beside=beside, contributions=parts, even=even)


def _notes(target: str, predicted: Value, subject: Subject, shares: Shapley) -> tuple[str, ...]:
    notes = []
    answered = subject.answered.get(target)
    numbers = isinstance(answered, int | float) and isinstance(predicted, int | float)
    apart = (
        abs(float(answered or 0) - float(predicted or 0)) > _AGREE * abs(float(answered or 0))
        if numbers
        else answered is not None and answered != predicted
    )
    if apart:
        notes.append(
            f"The answer says {target} = {quantity(answered)}: a recommendation averages over the "
            "contexts of matching past runs. This explains the one complete configuration of the "
            "suggestion."
        )
    if shares.orders:
        notes.append(
            f"The contributions are means over {shares.orders} orders in which the parameters "
            "are changed, with 95 % intervals."
        )
    return tuple(notes)


def similar_runs(
    store: ModelStore, view: FeatureView, x: Floats, target: str, leave_out: int | None = None
) -> tuple[Evidence, ...]:
    """The past runs learnt from that are most like x float64[d], with what was measured."""
    prepared, apart = store.prepared, view.support.distances(x)
    features, outcome = Encoder(view.features), Encoder(prepared.space.select([target]))
    place = prepared.space.names.index(target)
    found: list[Evidence] = []
    for index in np.argsort(apart, kind="stable"):
        position = int(view.supporting[index])
        row = int(prepared.row_id[position])
        if len(found) == store.settings.trust.evidence:
            break
        if row == leave_out or np.isnan(prepared.values[position, place]):
            continue
        file, _ = prepared.table.part_of(row)
        found.append(
            Evidence(
                row=row,
                file=file if len(prepared.table.parts) > 1 else None,
                source=prepared.table.source_of(row),
                distance=float(apart[index]),
                config=features.decode(view.X[position]),
                outcomes=outcome.decode(prepared.values[position, [place]]),
            )
        )
    return tuple(found)


def outcome_of(store: ModelStore, name: str) -> tuple[tuple[str, ...], str]:
    """The features and the outcome of that name; an error says what there is instead."""
    features, possible = _columns(store, Given(config={}))
    return features, _wanted(store, (name,), possible)[0]


def feature_of(store: ModelStore, features: tuple[str, ...], name: str) -> str:
    """The feature of that name; an error says what there is instead."""
    known = column(name, store.prepared.space)
    if known not in features:
        raise QueryProblem(
            f"{known} is not a parameter that predictions depend on",
            hint=f"choose one of {', '.join(features[:8])}",
        )
    return known
