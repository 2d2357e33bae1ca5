"""Taking in new runs: what drifted, which models go on and which begin anew.

Decision 0018 (docs/decisions).
"""

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from compass.domain.answer import Answer, Drift, ModelCard
from compass.domain.errors import CompassError, DataProblem, nearest
from compass.domain.query import Query
from compass.domain.space import Category, Number, Role, Space
from compass.domain.tell import Learnt, Reanswered, TellReport, Update
from compass.engine.dataset import Dataset, read
from compass.engine.failed_runs import (
    COLUMN,
    failure_note,
    failures_apart,
    noting_failures,
    with_reasons,
)
from compass.engine.tell_report import compared, reanswered, sentences
from compass.exporters.spreadsheet import unguarded
from compass.learn.compare import Selection
from compass.learn.drift import drift, verdict
from compass.learn.features import Floats, Rows
from compass.learn.outcomes import OutcomeData, OutcomeModel
from compass.learn.store import ModelStore
from compass.learn.training import (
    FinalModel,
    TrainingData,
    TrainingPlan,
    train_final,
    with_score,
)
from compass.learn.update import Updated, continued
from compass.model.base import Fitted, Learner
from compass.model.error import row_errors
from compass.prepare.weigh import mean
from compass.readers.combine import combine
from compass.readers.table import Table

if TYPE_CHECKING:
    from compass.engine.compass import Compass

_FEATURES = (Role.KNOB, Role.CONTEXT)
_WORSE = 1.05  # a model that goes on and is this much worse than before is trained anew
_NOT_LEARNT = ("brought", "given")  # families of models that somebody gave: nothing to train
Key = tuple[tuple[str, ...], str]
_How = tuple[Update, str]  # and why


def tell(engine: "Compass", source: Any, questions: Sequence[str | Query] = ()) -> TellReport:
    """Add runs to an engine and let its models learn them; say what that changed.

    The engine is changed at the very end, when nothing can fail any more.
    """
    began = time.perf_counter()
    before = _answers(engine, questions)
    data, notes = with_runs(engine.data, source)
    first = engine.data.table.rows
    arrived = data.table.rows - first
    used = _usable(data, first)
    failed = int((data.prepared.failures.row_id >= first).sum())
    store, learnt = _learnt_from(engine, data, first)
    changed = {*engine.space.having(*_FEATURES)} ^ {*data.prepared.space.having(*_FEATURES)}
    if changed:
        names = ", ".join(sorted(changed))
        notes += (
            f"with the new runs other columns count ({names}): the next question learns anew",
        )
    later = [name for name in engine.space.having(Role.OUTCOME) if name not in engine.learnt]
    if later:
        notes += (f"learnt with these runs when a question needs it: {', '.join(later)}",)
    notes += failure_note(data.prepared.failures, first)
    if used + failed < arrived:
        notes += (f"{arrived - used - failed} of the new runs cannot be used; see compass columns",)
    beside = compared(engine.store, store, first)
    answers = _again(engine, data, store, before)
    again = [reanswered(was, now) for (_, was), now in zip(before, answers, strict=True)]
    drifted = tuple(
        f"{one.target} drifted: {one.drift.reason}."
        for one in learnt
        if one.drift is not None and one.drift.kind != "none"
    )
    report = TellReport(
        rows=arrived,
        used=used,
        total=data.prepared.rows,
        learnt=learnt,
        arrivals=beside.arrivals,
        coverage=beside.coverage,
        labels=beside.labels,
        questions=tuple(one for one in again if isinstance(one, Reanswered)),
        changes=(*beside.sentences(), *drifted, *sentences(again)),
        notes=(*notes, *beside.notes, *(one for one in again if isinstance(one, str))),
        seconds=time.perf_counter() - began,
    )
    fresh = [
        (query, now)
        for (query, _), now in zip(before, answers, strict=True)
        if isinstance(now, Answer)
    ]
    engine.data, engine.store = data, store
    engine.asked = fresh  # what others were answered before is out of date
    return report


def _usable(data: Dataset, first: int) -> int:
    """How many of the runs from row `first` on tell anything; an error where none does."""
    prepared = data.prepared
    fresh = prepared.row_id >= first
    filled = np.zeros(len(fresh), dtype=np.bool_)
    for name in prepared.space.having(Role.OUTCOME):
        filled |= np.isfinite(prepared.outcome(name))
    failed = prepared.failures.row_id >= first
    if not (filled & fresh).any() and not failed.any():
        arrived = data.table.rows - first
        what = "the new run" if arrived == 1 else f"any of the {arrived} new runs"
        raise DataProblem(
            f"nothing can be learnt from {what}: no outcome is filled in, or they cannot be used",
            hint="fill in the outcome columns (failed: REASON, if a run failed) and tell again",
        )
    return int((fresh & ~np.isin(prepared.row_id, prepared.failures.row_id)).sum())


def _answers(engine: "Compass", questions: Sequence[str | Query]) -> list[tuple[Query, Answer]]:
    """The questions to compare, with their answers so far; a wrong one is refused first."""
    if not questions:
        return list(engine.asked)
    known = [engine.ask(question) for question in questions]
    return [(answer.query, answer) for answer in known]


def _again(
    engine: "Compass", data: Dataset, store: ModelStore, before: Sequence[tuple[Query, Answer]]
) -> list[Answer | str]:
    """Answers to the same questions now, or why there is none: that loses no run."""
    later = copy(engine)
    later.data, later.store = data, store
    found: list[Answer | str] = []
    for query, was in before:
        try:
            found.append(later.ask(query))
        except CompassError as error:
            found.append(f"cannot be answered any more: {was.text}: {error.message}")
    return found


def _learnt_from(
    engine: "Compass", data: Dataset, first: int
) -> tuple[ModelStore, tuple[Learnt, ...]]:
    """The models of an engine that know the new runs, from row `first` on."""
    old = engine.store
    kept = data.reduced(engine.settings.keep, engine.settings.reducer, engine.settings.seed)
    store = ModelStore(
        data.prepared, kept, old.settings, old.progress, old.given, old.journal, old.executor
    )
    learnt = []
    for place, key in enumerate(old.trained):
        store.tell(f"taking in runs: {key[1]}", place, len(old.trained))
        trained, report = _taken_in(old, store, key, first)
        store.trained[key] = trained
        learnt.append(report)
    return store, tuple(learnt)


def with_runs(data: Dataset, source: Any) -> tuple[Dataset, tuple[str, ...]]:
    """The runs with new ones after them; columns that are not in use may be missing from these."""
    given = source.table if isinstance(source, Dataset) else read(source).table
    known = data.table
    told, reasons = failures_apart(unguarded(given, known), data.prepared.space)
    fresh = replace(given, arrow=told)
    used = {*data.prepared.space.names}
    lacking = [name for name in known.names if name not in (*fresh.names, COLUMN)]
    needed = [name for name in lacking if name in used]
    extra = [name for name in fresh.names if name not in (*known.names, COLUMN)]
    if needed:
        close = nearest(needed[0], extra)
        raise DataProblem(
            f"the new runs have no column '{needed[0]}'",
            hint=f"is it called {close} there?" if close else "they need all columns in use",
        )
    arrow = fresh.arrow.select([name for name in fresh.names if name in known.names])
    for name in lacking:
        arrow = arrow.append_column(name, pa.nulls(fresh.rows))
    tables = with_reasons(known.arrow, arrow, reasons)
    both = combine(tables, ["the runs known so far", "the new runs"])
    notes = [f"columns that are not known were left out: {', '.join(extra)}"] if extra else []
    if fresh.sampled is not None and known.sampled is None:
        notes.append("the new runs are a sample, the known ones are not: each new run counts once")
    table = Table.of(both, (*known.parts, *fresh.parts))
    return noting_failures(data, table), tuple(notes)


@dataclass(frozen=True, eq=False)
class _Case:
    """One outcome before and after new runs arrived."""

    old: ModelStore
    store: ModelStore
    before: OutcomeModel
    was: OutcomeData
    now: OutcomeData
    arrived: Rows  # positions of the new runs in which the outcome was measured
    target: str

    @property
    def data(self) -> TrainingData:
        """All rows of the outcome now."""
        return self.now.training(self.store.settings)

    @property
    def scale(self) -> float | None:
        """The size below which an outcome counts as zero."""
        return self.data.scale_of(self.now.train)


def _taken_in(
    old: ModelStore, store: ModelStore, key: Key, first: int
) -> tuple[OutcomeModel, Learnt]:
    began = time.perf_counter()
    features, target = key
    was, now = old.data_of(features, target), store.data_of(features, target)
    fresh = store.prepared.row_id >= first
    complete = np.isfinite(now.view.X).all(axis=1) & np.isfinite(now.y)
    usable = np.flatnonzero(fresh & complete)
    arrived = store.prepared.citable(usable)  # a synthetic row says nothing about drift
    case = _Case(old, store, old.trained[key], was, now, arrived, target)
    outcome = Space(parameters=(old.prepared.space[target],))
    same = _same_codes(was.view.features, now.view.features) and _same_codes(
        outcome, Space(parameters=(store.prepared.space[target],))
    )
    if not len(usable) and same:
        return _kept(case)
    change = _drift(case) if same and len(arrived) else None
    final, selected, (update, why) = _learnt(case, same, change)
    trained = store.assembled(now, target, final, selected, began)
    how = f"{update}: {why}"
    card = _card(trained.card, case, update, how, change)
    before = _error(case, case.before.model) if same and _unseen(case).size else None
    report = Learnt(
        target=target,
        update=update,
        how=how,
        error_name=card.error_name,
        error_before=before,
        error_after=card.error,
        unseen=card.unseen,
        drift=change,
    )
    return replace(trained, card=card), report


def _kept(case: _Case) -> tuple[OutcomeModel, Learnt]:
    """The model as it was, with everything that was measured of it."""
    how, old = f"{Update.KEPT}: none of the new runs tells it", case.before
    report = Learnt(
        target=case.target,
        update=Update.KEPT,
        how=how,
        error_name=old.card.error_name,
        error_before=old.card.error,
        error_after=old.card.error,
        unseen=old.card.unseen,
    )
    return replace(old, card=old.card.model_copy(update={"update": how})), report


def _unseen(case: _Case) -> Rows:
    """The runs to check with that the old model did not learn."""
    learnt = case.old.prepared.row_id[case.was.train]
    ids = case.store.prepared.row_id[case.now.valid]
    return np.asarray(case.now.valid[~np.isin(ids, learnt)])


def _card(
    card: ModelCard, case: _Case, update: Update, how: str, change: Drift | None
) -> ModelCard:
    old = case.before.card
    anew = card.rows if update.from_the_beginning else old.anew
    # How the recipe was found stays true as long as it is followed.
    found = {"scores": card.scores or old.scores, "notes": card.notes or old.notes}
    return card.model_copy(update={"update": how, "drift": change, "anew": anew, **found})


def _learnt(case: _Case, same: bool, change: Drift | None) -> tuple[FinalModel, Selection, _How]:
    """The model that knows the new runs, how it came to that, and why."""
    recipe = Selection(case.before.recipe, ())
    if case.before.recipe.family in _NOT_LEARNT:
        kept = (Update.KEPT, "it was brought, not learnt here")
        return _as_it_is(case, same), recipe, kept
    if change is not None and change.kind == "law":
        kind, selected = case.store.chosen(case.now, case.target)
        chosen = (Update.CHOSEN_ANEW, "the outcomes follow another law")
        return _anew(case, kind), selected, chosen
    why = _why_anew(case, same)
    if why is None:
        found = _continued(case)
        if isinstance(found, str):
            why = found
        else:
            final, before = _final(case, found.fitted), _error(case, case.before.model)
            if final.score.error <= _WORSE * before:
                return final, recipe, (Update.CONTINUED, found.how)
            why = "going on made it worse"
    kind, _ = case.store.followed(case.now, case.target, case.before.recipe)
    return _anew(case, kind), recipe, (Update.TRAINED_ANEW, why)


def _as_it_is(case: _Case, same: bool) -> FinalModel:
    """A model that somebody brought, over the columns as they are now."""
    if same:
        return _final(case, case.before.model)
    if case.target not in case.store.given:
        raise DataProblem(
            f"the new runs have labels or ranges that the brought model of {case.target} was not"
            " asked about",
            hint="bring the model again (compass fit DATA --model OUTCOME=FILE -o X)",
        )
    kind, _ = case.store.followed(case.now, case.target, case.before.recipe)
    return _anew(case, kind)


def _why_anew(case: _Case, same: bool) -> str | None:
    """What forbids to go on with the old model."""
    if not same:
        return "the new runs have labels or ranges that the old ones had not"
    if len(_unseen(case)) < len(case.now.valid):
        return "runs that it learnt are now needed to check it"
    return None


def _continued(case: _Case) -> Updated | str:
    rows = case.now.train
    # Counted from the last training from the beginning: many small steps are a large one.
    new = max(len(rows) - case.before.card.anew, 1)
    return continued(case.before.recipe, case.before.model, case.data.take(rows), new)


def _anew(case: _Case, learner: Learner) -> FinalModel:
    (final,) = train_final([TrainingPlan(learner, case.data, case.now.train, case.now.valid)])
    return final


def _final(case: _Case, fitted: Fitted) -> FinalModel:
    return with_score(fitted, case.data, case.now.train, case.now.valid)


def _error(case: _Case, fitted: Fitted) -> float:
    """The error of a model on runs that neither it nor its successor learnt."""
    return case.data.score(fitted, _unseen(case), scale=case.scale).error


def _drift(case: _Case) -> Drift:
    """What changed between the runs that the model knows and those that arrived."""
    features, model = case.now.view.features, case.before.model
    known = np.concatenate([case.was.train, case.was.valid])
    old_X, new_X = case.was.view.X[known], case.now.view.X[case.arrived]
    weight = case.old.prepared.weight[known], case.store.prepared.weight[case.arrived]
    seed = case.store.settings.seed
    columns = drift(old_X, new_X, features, seed=seed, old_weight=weight[0], new_weight=weight[1])
    before = _losses(case, model, case.was, case.was.valid)
    after = _losses(case, model, case.now, case.arrived)
    held = case.old.prepared.weight[case.was.valid]
    kind, reason = verdict(columns, before, after, seed=seed, weights=(held, weight[1]))
    return Drift(
        rows=len(case.arrived),
        columns=columns,
        error_before=mean(before, held),
        error_new=mean(after, weight[1]),
        kind=kind,
        reason=reason,
    )


def _losses(case: _Case, model: Any, data: OutcomeData, rows: Rows) -> Floats:
    predicted = model.predict(data.view.X[rows])
    if data.task.classes is None:
        return row_errors(data.y[rows], predicted[:, 0], scale=case.scale)
    return np.asarray(np.argmax(predicted, axis=1) != data.y[rows], dtype=np.float64)


def _same_codes(one: Space, other: Space) -> bool:
    """Whether encoded rows mean the same in both spaces."""

    def code(parameter: Number | Category) -> object:
        if isinstance(parameter, Category):
            return parameter.name, parameter.values
        return parameter.name, parameter.none_code if parameter.optional else None

    return [code(p) for p in one] == [code(p) for p in other]
