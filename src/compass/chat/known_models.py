"""What the models of an engine rely on, and how well they predict."""

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from compass.chat.listing import aligned
from compass.chat.outcomes import outcome_meant
from compass.domain.answer import ModelCard
from compass.domain.explanation import ColumnImportance
from compass.domain.findings import Findings
from compass.domain.space import Number, Role
from compass.engine.compass import Compass
from compass.language import listed
from compass.prepare import Prepared
from compass.trust.outcome_words import share, skill_in_words

Floats = NDArray[np.float64]

_NAMED = 5  # columns or pairs that are named in a sentence
_COLUMNS = 8  # columns that matter, in a text
_MODELS = 10  # outcomes whose models are told
_REPEATS = 5  # shuffles of each column: a person waits
_CLEAR = 2.0  # standard errors by which shuffling a column must raise the error
_TOGETHER = 0.9  # rank correlation from which two columns are said to go together
_COMPARED = 5000  # runs that it is taken from; more change the second digit
_SHARED = (
    "This is what the model relies on, not what causes it. Columns that went together in past "
    "runs share the credit: each may look less important than it is."
)


def importance(engine: Compass, outcome: str | None) -> Findings:
    """Which knobs the model of an outcome relies on, each with its share, and what the context has.

    Shares are of the rise of the error when the values of a column are shuffled. Those of knobs are
    among the knobs: the context often decides most, and nobody can choose it.
    """
    name = outcome_meant(engine.space, outcome)
    found = engine.importance(name, repeats=_REPEATS)
    clear = [c for c in found.columns if c.rise > max(_CLEAR * c.error, 0.0)]
    context = {*engine.space.having(Role.CONTEXT)}
    knobs = [c for c in clear if c.name not in context]
    seen = "held-out runs" if found.unseen else "runs that the model may have seen"
    lines = _ranked(name, knobs, f"{found.rows} {seen}")
    unclear = [c.name for c in found.columns if c not in clear]
    if unclear and knobs:
        named = listed(unclear) if len(unclear) <= _NAMED else f"{len(unclear)} other columns"
        lines.append(f"No clear share: {named}.")
    lines += _beside(clear, context)
    doubt = [skill_in_words(c) for c in _cards(engine) if c.target == name and not c.skilled]
    lines += [f"Caution: the model of {name}, {words}." for words in doubt]
    lines += [_SHARED, *_together(engine.data.prepared, [c.name for c in found.columns[:_COLUMNS]])]
    return Findings(text="\n".join(lines), outcome=name, importance=found)


def _ranked(name: str, knobs: Sequence[ColumnImportance], runs: str) -> list[str]:
    """The knobs with their shares, below what these are shares of."""
    if not knobs:
        why = f"{runs} are predicted as well when the values of any are shuffled"
        return [f"No knob clearly matters for {name}: {why}."]
    return [
        f"What matters for {name}: how much worse {runs} are predicted",
        "when the values of one knob are shuffled, as a share of all knobs.",
        aligned(_shares(knobs)),
        *_smaller(knobs),
    ]


def _shares(knobs: Sequence[ColumnImportance]) -> list[tuple[str, str]]:
    total = sum(c.rise for c in knobs)
    return [(c.name, share(c.rise / total)) for c in knobs[:_COLUMNS]]


def _smaller(knobs: Sequence[ColumnImportance]) -> list[str]:
    """What the table has no room for."""
    rest = knobs[_COLUMNS:]
    if not rest:
        return []
    together = share(sum(c.rise for c in rest) / sum(c.rise for c in knobs))
    return [f"{len(rest)} more: {together} together."]


def _beside(clear: Sequence[ColumnImportance], context: Collection[str]) -> list[str]:
    """How much of everything the context has."""
    given = [c for c in clear if c.name in context]
    if not given:
        return []
    total = sum(c.rise for c in clear)
    named = [f"{c.name} {share(c.rise / total)}" for c in given[:_NAMED]]
    own = share(1 - sum(c.rise for c in given) / total)
    return [f"Beside the context, knobs have {own} of it all: {', '.join(named)}."]


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
    pairs = [f"{one} with {other}" for one, other in found[:_NAMED]]
    return [f"Here these go together: {listed(pairs)}."] if pairs else []


def _ranks(values: Floats) -> Floats:
    """The rank of each value [n]; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)


def models(engine: Compass, outcome: str | None) -> Findings:
    """How well outcomes are predicted on runs that the models did not see.

    Of the outcome that is named, else of those that are learnt; the first, where none is.
    """
    usual = engine.space.having(Role.KNOB, Role.CONTEXT)
    learnt = [card.target for card in _cards(engine)]
    named = None if outcome is None else outcome_meant(engine.space, outcome)
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
        return f"{text}; {share(card.skill)} less error than the simplest prediction"
    return f"{text}; {skill_in_words(card)}" if not card.skilled else text


def _percent(error: float) -> str:
    return f"{100 * error:.2g} %"
