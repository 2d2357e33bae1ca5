"""An answer in a few plain sentences, and the reasons for it."""

from collections.abc import Sequence

from compass.domain.answer import Answer, Effect, Moved, Prediction, Proposal, Suggestion
from compass.domain.base import Config
from compass.domain.quantity import estimate, quantity, setting
from compass.domain.query import Kind
from compass.language import listed
from compass.trust.outcome_words import (
    classes_in_words,
    condition_in_words,
    measured_in_words,
    prices_in_words,
    share,
    worth_telling,
)

_RUNS = 3  # runs to measure that are written out
_ROWS = 5  # supporting runs that are written out


def summary(answer: Answer) -> str:
    """The answer in a few plain sentences: what to do, what comes of it, how far to trust it."""
    parts = []
    if answer.no_answer is not None:
        parts.append(f"There is no supported answer: {_sentence(answer.no_answer)}")
        if answer.ideas:
            closest = _settings(answer.ideas[0], answer)
            parts.append(f"The closest that I found, not a suggestion: {closest}.")
        elif answer.suggestions:
            parts.append(f"The closest that I found: {_settings(answer.suggestions[0], answer)}.")
    elif answer.population is not None:
        parts += _over_runs(answer)
    elif answer.suggestions:
        parts += _first(answer.suggestions[0], answer)
        parts += _trade_offs(answer)
    else:
        parts.append("There is no suggestion.")
    parts += _measured(answer)
    if answer.no_answer is not None:
        parts += _prices(answer)
        if answer.run_next:
            parts.append(runs_to_make(answer.run_next[:_RUNS]))
    return "\n".join(parts)


def _trade_offs(answer: Answer) -> list[str]:
    """Of several outcomes: that this is one of several trade-offs, and where the others end."""
    if answer.front is None:
        return []
    ends = [point for point in answer.front.points if not point.idea and not point.dominated]
    if len(ends) < 2:
        return []
    told = []
    for end in dict.fromkeys((0, len(ends) - 1)):
        pairs = (
            f"{name} {quantity(value, answer.units.get(name))}"
            for name, value in ends[end].values.items()
        )
        told.append(f"suggestion {ends[end].place + 1} with {listed(list(pairs))}")
    return [f"It balances {listed(list(answer.front.directions))}; the ends are {listed(told)}."]


def _measured(answer: Answer) -> list[str]:
    """The best measured run of the context, where it is known."""
    if answer.best_measured is None:
        return []
    found = (*answer.suggestions, *answer.ideas)
    units = ({o.name: o.unit for o in found[0].outcomes} if found else {}) | answer.units
    return [measured_in_words(answer.best_measured, tuple(answer.query.goals), units)]


def _prices(answer: Answer) -> list[str]:
    """What more or less certainty costs, where it is known."""
    words = prices_in_words(answer.prices, answer.baseline, answer.units)
    return [words] if words else []


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _settings(suggestion: Suggestion, answer: Answer) -> str:
    edits = {edit.name: edit for edit in suggestion.edits}
    names = list(suggestion.settings) or list(edits)
    settings = [_setting(n, suggestion, edits.get(n), answer) for n in names]
    return listed(settings) if settings else "no change"


def _setting(name: str, suggestion: Suggestion, edit: Moved | None, answer: Answer) -> str:
    value = suggestion.settings.get(name, suggestion.config.get(name))
    if edit is None or answer.query.kind is Kind.RECOMMEND:
        return f"{name} = {setting(value, answer.units.get(name))}"
    return f"{name} from {setting(edit.old, edit.unit)} to {setting(edit.new, edit.unit)}"


def _first(suggestion: Suggestion, answer: Answer) -> list[str]:
    verb = {
        Kind.RECOMMEND: "I suggest",
        Kind.RECONFIGURE: "The smallest change that I found:",
        Kind.WHAT_IF: "With",
    }[answer.query.kind]
    wanted = [o for o in suggestion.outcomes if o.name in answer.query.goals]
    outcomes = [_outcome(o, answer.contexts) for o in wanted or suggestion.outcomes]
    more = len(answer.suggestions) - 1
    others = f" There {'is one other' if more == 1 else f'are {more} others'}." if more else ""
    trust = suggestion.trust
    end = ":" if answer.query.kind is Kind.WHAT_IF else "."
    return [
        f"{verb} {_settings(suggestion, answer)}{end}{others}",
        *outcomes,
        *(condition_in_words(one) for one in suggestion.conditions if worth_telling(one)),
        _sentence(trust.reason),
    ]


def _outcome(outcome: Prediction, contexts: int) -> str:
    value = classes_in_words(outcome.scores) if outcome.scores else None
    told, ends = quantity(outcome.value, outcome.unit), None
    if isinstance(outcome.value, float) and outcome.low is not None and outcome.high is not None:
        told, ends = estimate(outcome.value, outcome.low, outcome.high, outcome.unit)
    text = f"{outcome.name} is predicted to be {value or told}"
    if contexts > 1:
        text += f" on average over {contexts} contexts"
    if ends is not None and outcome.level is not None:
        text += f", between {ends[0]} and {ends[1]} for {100 * outcome.level:g} % of new runs"
    if outcome.scores_before:
        text += f"; before, {classes_in_words(outcome.scores_before)}"
    if outcome.change_percent is not None:
        text += f"; that is {_changed(outcome.change_percent)} than before"
    if outcome.chance is not None:
        text += f"; it meets the goal with a chance of {share(outcome.chance)}"
    elif outcome.meets is False:
        text += "; it misses the goal"
    return f"{text}."


def _changed(percent: float) -> str:
    return f"{abs(percent):.1f} % {'less' if percent < 0 else 'more'}"


def _over_runs(answer: Answer) -> list[str]:
    population = answer.population
    assert population is not None
    parts = [f"Over {population.runs} past runs, on average:"]
    for outcome in population.outcomes:
        if outcome.change is None or outcome.change_percent is None:
            was = classes_in_words(outcome.scores_before)
            now = classes_in_words(outcome.scores)
            parts.append(f"{outcome.name} becomes {now}; before, {was}.")
        else:
            now = quantity(outcome.value, outcome.unit)
            parts.append(f"{outcome.name} becomes {now}, {_changed(outcome.change_percent)}.")
    conditions = filter(worth_telling, population.conditions)
    return [*parts, *map(condition_in_words, conditions), _sentence(population.reason)]


def runs_to_make(runs: Sequence[Proposal]) -> str:
    """Runs to make next, each with every feature of its configuration, and what it would settle."""
    if not runs:
        return "No run that the rules allow is expected to help."
    lines = [
        f"{rank}. {_configuration(run.config)}: {_sentence(run.why)}"
        for rank, run in enumerate(runs, 1)
    ]
    return "\n".join(["What to run next:", *lines])


def _configuration(config: Config) -> str:
    return ", ".join(f"{name} = {setting(value)}" for name, value in config.items())


def reasons(answer: Answer) -> str:
    """Why the first suggestion is what it is: trust, effects, past runs, moves that rules force."""
    if answer.population is not None:
        return _sentence(answer.population.reason)
    if not answer.suggestions:
        return "\n".join(_why_nothing(answer))
    first = answer.suggestions[0]
    parts = [] if answer.no_answer is None else [_sentence(answer.no_answer)]
    parts.append(f"The first suggestion. {_sentence(first.trust.reason)}")
    named = {(d.columns, d.outcome) for d in first.trust.doubts if d.outcome is not None}
    parts += [_effect(e) for e in first.trust.effects if ((e.knob,), e.outcome) not in named]
    if first.trust.evidence:
        rows = [str(run.row) for run in first.trust.evidence[:_ROWS]]
        more = first.trust.support - len(rows)
        tail = f", and {more} more" if more > 0 else ""
        word = "row" if len(rows) == 1 else "rows"
        parts.append(f"Past runs that support it: {word} {', '.join(rows)}{tail}.")
    elif not first.trust.measured:  # those are told already, though none was learnt from
        parts.append("No past run is close to it.")
    parts += [
        f"{edit.name} had to go from {setting(edit.old, edit.unit)} to "
        f"{setting(edit.new, edit.unit)} "
        f"{'to reach' if edit.for_goal else 'because of the rule'} {edit.forced_by}."
        for edit in first.edits
        if edit.forced_by
    ]
    if answer.certificate is not None:
        parts.append(_sentence(answer.certificate.reason))
    return "\n".join([*parts, *_measured(answer), *_prices(answer)])


def _why_nothing(answer: Answer) -> list[str]:
    """Why there is no suggestion, and what speaks against the closest idea."""
    parts = [_sentence(answer.no_answer or "There is no suggestion")]
    if answer.ideas:
        closest = answer.ideas[0]
        parts.append(f"The closest that I found is not a suggestion: {_settings(closest, answer)}.")
        parts.append(_sentence(closest.trust.reason))
    return [*parts, *_measured(answer), *_prices(answer)]


def _effect(effect: Effect) -> str:
    return f"{effect.finding.value.capitalize()}: {_sentence(effect.reason)}"
