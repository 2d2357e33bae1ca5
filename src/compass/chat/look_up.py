"""What an engine knows already, for a person who asks: past runs, what matters, how well it knows.

Nothing is searched for. The text of what is found has few lines; its fields have all of it.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import isnan

import numpy as np
from numpy.typing import NDArray

from compass.chat.draft import Inquiry, Topic
from compass.chat.listing import aligned, cell, settings_list
from compass.chat.replies import usual_direction
from compass.domain.answer import ModelCard
from compass.domain.base import Config
from compass.domain.constraint import Constraint
from compass.domain.errors import BadInput, BaselineProblem, QueryProblem, UnknownName
from compass.domain.explanation import ColumnImportance
from compass.domain.findings import Findings, PastRun
from compass.domain.space import Category, Number, Role, Space
from compass.engine.compass import Compass
from compass.engine.constants import remaining
from compass.engine.rules import compiled, ignored_column
from compass.language import listed
from compass.language.bind import bind_constraint, column
from compass.prepare import Prepared
from compass.prepare.encode import decode_value
from compass.trust.outcome_words import skill_in_words

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_ROWS = 5  # rows of equally good runs that are named
_COLUMNS = 8  # columns that matter, in a text
_MODELS = 10  # outcomes whose models are told
_SETTINGS = 7  # settings and outcomes of two runs side by side
_OUTCOMES = 4
_REPEATS = 5  # shuffles of each column: a person waits
_CLEAR = 2.0  # standard errors by which shuffling a column must raise the error
_TOGETHER = 0.9  # rank correlation from which two columns are said to go together
_COMPARED = 5000  # runs that it is taken from; more change the second digit
_SHARED = (
    "This is what the model relies on, not what causes it. Columns that went together in past "
    "runs share the credit: each may look less important than it is."
)


def look_up(engine: Compass, inquiry: Inquiry) -> Findings:
    """What the engine knows about this."""
    match inquiry.topic:
        case Topic.BEST_RUN:
            return _best_run(engine, inquiry)
        case Topic.IMPORTANCE:
            return _importance(engine, inquiry)
        case Topic.ROW:
            return _one_run(engine, inquiry)
        case Topic.COMPARE:
            return _two_runs(engine, inquiry)
        case Topic.CERTAINTY:
            return _models(engine, inquiry)


# Past runs


def _best_run(engine: Compass, inquiry: Inquiry) -> Findings:
    """The measured run with the least or the most of an outcome, of those that obey the rules."""
    prepared = engine.data.prepared
    name = outcome_meant(engine.space, inquiry.outcome)
    parameter = prepared.space[name]
    if isinstance(parameter, Category):
        raise QueryProblem(
            f"{name} has labels, of which none is the best",
            hint="name an outcome that is a number",
        )
    direction = inquiry.direction or usual_direction(name)
    y = prepared.outcome(name)
    among = np.isfinite(y) & prepared.measured & _obeying(prepared, inquiry.where)
    which = f" where {' and '.join(inquiry.where)}" if inquiry.where else ""
    if not among.any():
        return Findings(text=f"No past run{which} has a measured {name}.", outcome=name, among=0)
    best = y[among].min() if direction == "minimize" else y[among].max()
    first, *others = np.flatnonzero(among & (y == best)).tolist()
    run = _past_run(engine, int(prepared.row_id[first]))
    ties = tuple(int(row) for row in prepared.row_id[others])
    most = "lowest" if direction == "minimize" else "highest"
    count = int(among.sum())
    runs = "the only past run" if count == 1 else f"{count} past runs"
    lines = [
        f"The {most} {name} of {runs}{which}: {cell(float(best), parameter.unit)}, in "
        f"{_label(run)}.",
        *_columns(run, prepared.space),
        *_equally_good(ties),
        *_repeated(prepared, first, name, parameter),
    ]
    return Findings(text="\n".join(lines), outcome=name, runs=(run,), ties=ties, among=count)


def _obeying(prepared: Prepared, rules: Sequence[str]) -> Bools:
    """Which of the runs [n] obey all these rules."""
    bound = []
    for text in rules:
        try:
            rule = bind_constraint(Constraint(text=text), prepared.with_constants)
        except UnknownName as error:
            raise ignored_column(error, prepared) from None
        left = remaining(rule.text, prepared)
        if left is not None:
            bound.append(rule.model_copy(update={"text": left}))
    fine = np.ones(prepared.rows, dtype=np.bool_)
    for check in compiled(bound, prepared.space, prepared.space.names):
        fine &= check.holds(prepared.values)
    return fine


def _equally_good(ties: Sequence[int]) -> list[str]:
    if not ties:
        return []
    rows = [str(row) for row in ties[:_ROWS]]
    more = [f"{len(ties) - _ROWS} more"] if len(ties) > _ROWS else []
    return [f"Just as good: {'row' if len(ties) == 1 else 'rows'} {listed([*rows, *more])}."]


def _repeated(prepared: Prepared, position: int, name: str, parameter: Number) -> list[str]:
    """What the same configuration gave in all of its runs: the best of many was lucky."""
    X = prepared.columns_of(prepared.space.having(Role.KNOB, Role.CONTEXT))
    same = (X[position] == X).all(axis=1) & prepared.measured
    values = prepared.outcome(name)[same]
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return []
    mean = cell(float(values.mean()), parameter.unit)
    return [f"This configuration was run {len(values)} times: {mean} on average."]


def _one_run(engine: Compass, inquiry: Inquiry) -> Findings:
    """One row with every column."""
    if inquiry.row is None:
        raise BadInput("no row is named", hint="name one, such as row 12")
    run = _past_run(engine, inquiry.row)
    label = _label(run)
    lines = [f"{label[0].upper()}{label[1:]}:", *_columns(run, engine.space)]
    if run.others:
        lines.append(f"Not in use: {settings_list(run.others, {})}")
    if run.left_out:
        lines.append(f"Nothing is learnt from it: {run.left_out}.")
    return Findings(text="\n".join(lines), runs=(run,))


def _two_runs(engine: Compass, inquiry: Inquiry) -> Findings:
    """Two rows side by side: settings that differ, and what was measured."""
    if len(inquiry.places) != 2:
        raise BadInput("two rows are compared", hint="name two, such as rows 3 and 7")
    last = engine.data.table.rows - 1
    runs = tuple(_past_run(engine, last if row == -1 else row) for row in inquiry.places)
    one, other = runs
    units = _units(engine.space)
    differing = [n for n in one.settings if one.settings[n] != other.settings[n]]
    rows = [("", *(f"row {run.row}" for run in runs))]
    rows += [_side_by_side(n, [r.settings for r in runs], units) for n in differing[:_SETTINGS]]
    measured = [*one.outcomes][:_OUTCOMES]
    rows += [_side_by_side(n, [r.outcomes for r in runs], units) for n in measured]
    count = f"{len(differing)} of {len(one.settings)} settings differ"
    left = f"; the first {_SETTINGS} of them" if len(differing) > _SETTINGS else ""
    lines = [f"{count}{left}:", aligned(rows)]
    if len(one.outcomes) > _OUTCOMES:
        lines.append(f"{len(one.outcomes) - _OUTCOMES} more outcomes are not shown.")
    lines += [f"Nothing is learnt from it: {run.left_out}." for run in runs if run.left_out]
    return Findings(text="\n".join(lines), runs=runs)


def _side_by_side(
    name: str, runs: Sequence[Config], units: Mapping[str, str | None]
) -> tuple[str, ...]:
    return (name, *(cell(run[name], units.get(name)) for run in runs))


def _past_run(engine: Compass, row: int) -> PastRun:
    """A row by what its columns are for: as it was cleaned where it was used, else as it is."""
    table, prepared = engine.data.table, engine.data.prepared
    values = table.row(row)
    file, _ = table.part_of(row)
    left_out = ""
    try:
        cleaned = prepared.values[prepared.position(row)]
    except BaselineProblem as error:
        left_out = error.message
    else:
        for parameter, value in zip(prepared.space, cleaned.tolist(), strict=True):
            values[parameter.name] = None if isnan(value) else decode_value(parameter, value)
    known = engine.space
    return PastRun(
        row=row,
        file=file if len(table.parts) > 1 else None,
        source=table.source_of(row),
        left_out=left_out,
        settings={n: values.get(n) for n in known.having(Role.KNOB, Role.CONTEXT)},
        outcomes={n: values.get(n) for n in known.having(Role.OUTCOME)},
        others={n: value for n, value in values.items() if n not in known},
    )


def _label(run: PastRun) -> str:
    """A row as people know it."""
    place = run.source or run.file
    return f"row {run.row}" if place is None else f"row {run.row} ({place})"


def _columns(run: PastRun, space: Space) -> list[str]:
    """The columns in use of a run, one line for each role."""
    units = _units(space)
    parts = {
        "Knobs": {n: run.settings[n] for n in space.having(Role.KNOB)},
        "Context": {n: run.settings[n] for n in space.having(Role.CONTEXT)},
        "Outcomes": run.outcomes,
    }
    return [f"{head}: {settings_list(part, units)}" for head, part in parts.items() if part]


def _units(space: Space) -> dict[str, str | None]:
    return {p.name: p.unit if isinstance(p, Number) else None for p in space}


# Models


def _importance(engine: Compass, inquiry: Inquiry) -> Findings:
    """Which columns the model of an outcome relies on, each with its share."""
    name = outcome_meant(engine.space, inquiry.outcome)
    found = engine.importance(name, repeats=_REPEATS)
    clear = [c for c in found.columns if c.rise > _CLEAR * c.error and c.rise > 0]
    total = sum(c.rise for c in clear)
    context = {*engine.space.having(Role.CONTEXT)}
    unseen = "held-out runs" if found.unseen else "runs that the model may have seen"
    if not clear:
        text = f"No column clearly matters for {name}: shuffling one makes no prediction worse."
    else:
        text = "\n".join(
            [
                f"What matters for {name}: how much worse {found.rows} {unseen} are predicted",
                "when the values of a column are shuffled, as a share of all such rises.",
                aligned(_shares(clear, total, context)),
                *_others(clear, total, [c.name for c in found.columns if c not in clear]),
            ]
        )
    doubt = [skill_in_words(c) for c in _cards(engine) if c.target == name and not c.skilled]
    lines = [text, *(f"Caution: the model of {name}, {words}." for words in doubt), _SHARED]
    lines += _together(engine.data.prepared, [c.name for c in found.columns[:_COLUMNS]])
    return Findings(text="\n".join(lines), outcome=name, importance=found)


def _shares(
    clear: Sequence[ColumnImportance], total: float, context: set[str]
) -> list[tuple[str, ...]]:
    return [
        (c.name, f"{100 * c.rise / total:.0f} %", "context" if c.name in context else "knob")
        for c in clear[:_COLUMNS]
    ]


def _others(clear: Sequence[ColumnImportance], total: float, unclear: Sequence[str]) -> list[str]:
    """What is not in the table: the smaller shares, and columns without a clear one."""
    lines = []
    rest = clear[_COLUMNS:]
    if rest:
        share = 100 * sum(c.rise for c in rest) / total
        lines.append(f"{len(rest)} more columns have {share:.0f} % together.")
    if unclear:
        named = listed(unclear) if len(unclear) <= _ROWS else f"{len(unclear)} other columns"
        lines.append(f"No clear share: {named}.")
    return lines


def _together(prepared: Prepared, names: Sequence[str]) -> list[str]:
    """Which of these columns of numbers rise and fall together in past runs."""
    some = slice(None, None, 1 + prepared.rows // _COMPARED)
    numbers = [name for name in names if isinstance(prepared.space[name], Number)]
    ranks = {name: _ranks(prepared.column(name)[some]) for name in numbers}
    found = [
        (one, other)
        for one, other in combinations(numbers, 2)
        if np.ptp(ranks[one]) > 0
        and np.ptp(ranks[other]) > 0
        and abs(np.corrcoef(ranks[one], ranks[other])[0, 1]) >= _TOGETHER
    ]
    pairs = [f"{one} with {other}" for one, other in found[:_ROWS]]
    return [f"Here these go together: {listed(pairs)}."] if pairs else []


def _ranks(values: Floats) -> Floats:
    """The rank of each value [n]; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)


def _models(engine: Compass, inquiry: Inquiry) -> Findings:
    """How well outcomes are predicted on runs that the models did not see.

    Of the outcome that is named, else of those that are learnt; the first, where none is.
    """
    usual = engine.space.having(Role.KNOB, Role.CONTEXT)
    learnt = [card.target for card in _cards(engine)]
    named = None if inquiry.outcome is None else outcome_meant(engine.space, inquiry.outcome)
    if named is not None or not learnt:
        learnt = [named or outcome_meant(engine.space, None)]
    trained = engine.store.train(usual, learnt[:_MODELS])
    cards = [one.card for one in trained.values()]
    lines = ["How well past runs that were held out are predicted:"]
    lines += [f"- {_card(card)}" for card in cards]
    others = len(engine.space.having(Role.OUTCOME)) - len(cards)
    if named is None and others:
        lines.append(f"You can ask about {others} more outcome{'s' if others > 1 else ''} by name.")
    lines.append("How sure the prediction of one configuration is, its answer tells.")
    kept = tuple(card.model_copy(update={"scores": ()}) for card in cards)
    return Findings(text="\n".join(lines), outcome=named, models=kept)


def _cards(engine: Compass) -> list[ModelCard]:
    """The models that learnt from all knobs and the context; questions may have made others."""
    usual = engine.space.having(Role.KNOB, Role.CONTEXT)
    return [card for card in engine.cards if card.features == usual]


def _card(card: ModelCard) -> str:
    """One model: its error, the interval of it, and how much better than nothing it is."""
    text = f"{card.target}: {card.error_name} {_percent(card.error)}"
    if card.low is not None and card.high is not None:
        text += f" (95 %: {_percent(card.low)} to {_percent(card.high)})"
    text += f" on {card.checked} runs{'' if card.unseen else ', which the model may have seen'}"
    if card.skilled and card.skill is not None:
        return f"{text}; {100 * card.skill:.0f} % less error than the simplest prediction"
    return f"{text}; {skill_in_words(card)}" if not card.skilled else text


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def outcome_meant(space: Space, name: str | None) -> str:
    """The outcome that is meant: the one named, else the first."""
    outcomes = space.having(Role.OUTCOME)
    if not outcomes:
        raise QueryProblem(
            "no column is known to be an outcome",
            hint="give one the role outcome (--role COLUMN=outcome)",
        )
    if name is None:
        numbers = [n for n in outcomes if isinstance(space[n], Number)]
        return (numbers or list(outcomes))[0]
    known = column(name, space)
    if known not in outcomes:
        raise QueryProblem(
            f"{known} is not an outcome", hint=f"choose one of {', '.join(outcomes[:8])}"
        )
    return known
