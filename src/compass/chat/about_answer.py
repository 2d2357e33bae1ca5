"""What is asked of an answer that is there: how sure it is, and how two suggestions differ."""

import math
from collections.abc import Sequence

from compass.chat.listing import aligned, settings_list
from compass.domain.answer import Answer, Prediction, Suggestion
from compass.domain.base import Value
from compass.domain.quantity import quantity, setting
from compass.trust.outcome_words import classes_in_words, share

_ROWS = 5  # supporting runs that are named
_SETTINGS = 6  # settings and outcomes in a table
_OUTCOMES = 3


def certainty(answer: Answer, outcome: str | None) -> str | None:
    """How sure the first suggestion is; None: the answer says nothing about this outcome."""
    if answer.population is not None:
        told = _told(answer.population.outcomes, answer, outcome)
        head = f"The change over {answer.population.runs} past runs, on average:"
        lines = [head, *map(_line, told), _sentence(answer.population.reason)]
        return "\n".join(lines) if told else None
    found = (*answer.suggestions, *answer.ideas)
    if not found:
        return None if outcome else _sentence(f"There is no suggestion: {answer.no_answer}")
    first = found[0]
    told = _told(first.outcomes, answer, outcome)
    if not told:
        return None
    what = "The first suggestion" if answer.suggestions else "The closest idea, not a suggestion"
    settings = settings_list(first.settings, {}) or "no change"
    return "\n".join(
        [
            f"{what}: {settings}.",
            *map(_line, told),
            _sentence(first.trust.reason),
            _supporting(first),
        ]
    )


def comparison(answer: Answer, places: Sequence[int]) -> str:
    """Two suggestions side by side: the settings that differ, and what is predicted."""
    there = len(answer.suggestions)
    if there < 2:
        count = "no suggestion" if not there else "one suggestion"
        return f"The last answer has {count}, so there is nothing to compare."
    at = [there if place == -1 else place for place in places]
    outside = [place for place in at if not 1 <= place <= there]
    if len(at) != 2 or outside:
        missing = f"There is no suggestion {outside[0]}. " if outside else ""
        return f"{missing}The last answer has {there} suggestions: name two of 1 to {there}."
    if at[0] == at[1]:
        return f"That is suggestion {at[0]} twice: name two of 1 to {there}."
    one, other = (answer.suggestions[place - 1] for place in at)
    differing = [n for n in one.config if one.config[n] != other.config.get(n)]
    rows = [("", *(f"suggestion {place}" for place in at))]
    rows += [
        (name, *(setting(s.config.get(name)) for s in (one, other)))
        for name in differing[:_SETTINGS]
    ]
    for outcome in _told(one.outcomes, answer, None)[:_OUTCOMES]:
        pair = [s.outcome(outcome.name) for s in (one, other)]
        unit = f" ({outcome.unit})" if outcome.unit else ""
        rows.append((f"{outcome.name}{unit}", *map(_within, pair)))
        if any(p.chance is not None for p in pair):
            chances = ("" if p.chance is None else share(p.chance) for p in pair)
            rows.append(("chance of goal", *chances))
    rows.append(("label", one.trust.label.value, other.trust.label.value))
    rows.append(("close past runs", str(one.trust.support), str(other.trust.support)))
    return "\n".join([_compared(len(differing), len(one.config)), aligned(rows)])


def _compared(differing: int, settings: int) -> str:
    if not differing:
        return "They have the same settings:"
    left = f"; the first {_SETTINGS} of those that differ" if differing > _SETTINGS else ""
    return f"They differ in {differing} of {settings} settings{left}:"


def _told(
    outcomes: Sequence[Prediction], answer: Answer, outcome: str | None
) -> tuple[Prediction, ...]:
    """The outcome that was named, else those with a goal, else all."""
    if outcome is not None:
        return tuple(one for one in outcomes if one.name == outcome)
    wanted = [one for one in outcomes if one.name in answer.query.goals]
    return tuple(wanted or outcomes)


def _line(outcome: Prediction) -> str:
    """One outcome as an item: value, interval, chance."""
    text = f"- {outcome.name}: {_value(outcome)}"
    if _bounded(outcome) and outcome.level is not None:
        ends = f"{quantity(outcome.low, outcome.unit)} and {quantity(outcome.high, outcome.unit)}"
        text += f"; {100 * outcome.level:g} % of new runs are between {ends}"
    elif not outcome.scores:
        text += "; no interval can be promised"
    if outcome.chance is not None:
        text += f"; the chance of meeting the goal is {share(outcome.chance)}"
    return text


def _value(outcome: Prediction) -> str:
    value: Value = outcome.value
    return classes_in_words(outcome.scores) if outcome.scores else quantity(value, outcome.unit)


def _within(outcome: Prediction) -> str:
    """Value and interval in a cell; the unit stands beside the name."""
    value = classes_in_words(outcome.scores) if outcome.scores else quantity(outcome.value)
    if _bounded(outcome):
        return f"{value} [{quantity(outcome.low)}, {quantity(outcome.high)}]"
    return value if outcome.scores else f"{value} [?]"


def _bounded(outcome: Prediction) -> bool:
    """Whether there is an interval; few runs to check with promise no finite one."""
    ends = (outcome.low, outcome.high)
    return all(end is not None and math.isfinite(end) for end in ends)


def _supporting(suggestion: Suggestion) -> str:
    trust = suggestion.trust
    if not trust.support:  # of the runs that were learnt from
        known = "No other past run" if trust.measured else "No past run"
        return f"{known} is close to it."
    rows = [str(run.row) for run in trust.evidence[:_ROWS]]
    more = trust.support - len(rows)
    tail = f" and {more} more" if rows and more > 0 else ""
    named = f": {'row' if len(rows) == 1 else 'rows'} {', '.join(rows)}{tail}" if rows else ""
    runs = "1 past run is" if trust.support == 1 else f"{trust.support} past runs are"
    return f"{runs} close to it{named}."


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
