"""What a person should know beside the suggestions: assumptions, and what could not be met."""

from collections.abc import Callable
from dataclasses import replace

from compass.domain.answer import Certificate, CertificateStatus, Label, Suggestion
from compass.domain.base import Value
from compass.domain.errors import ConflictingRules
from compass.domain.goal import Extreme, Observe
from compass.domain.space import Category, Number
from compass.domain.target import Target
from compass.generate.base import Candidates, generator_for
from compass.generate.score import with_outcomes
from compass.generate.targets import in_numbers
from compass.generate.task import SearchTask
from compass.language import format_goal, format_value
from compass.prepare.encode import Encoder


def why_not(
    task: SearchTask,
    suggestions: tuple[Suggestion, ...],
    ideas: tuple[Suggestion, ...],
    found: Candidates,
    certificate: Certificate | None,
    blocking: Callable[[], tuple[str, ...]],
) -> str | None:
    """Why there is no supported answer, or None when there is one."""
    if not suggestions and not ideas:
        if certificate is not None and certificate.status is CertificateStatus.INFEASIBLE:
            return certificate.reason
        how = (
            "Every combination was tried, and no legal configuration obeys all rules."
            if found.exhaustive
            else "The search found no legal configuration that obeys all rules."
        )
        rules = blocking()
        which = f" Each of these stands in the way: {'; '.join(rules)}." if rules else ""
        return how + which
    if suggestions and task.forward:
        alone = all(s.trust.label is Label.UNSUPPORTED for s in suggestions)
        best = suggestions[0]
        if not best.meets_goals:
            return _closest(task, best, "No configuration that was found")
        return (
            "The change leads outside the past runs; run the proposed ones first."
            if alone
            else None
        )
    if suggestions:
        return None
    if any(idea.meets_goals for idea in ideas):
        return (
            "Every configuration found that meets the goals lies outside the past runs; run the "
            "proposed ones first."
        )
    every = exhausted(found, certificate)
    return _closest(
        task, ideas[0], "No legal configuration" if every else "No configuration that was found"
    )


def _closest(task: SearchTask, best: Suggestion, who: str) -> str:
    """What comes closest to the goals, and how likely it meets them."""
    goals = task.targets if task.chances is None else task.chances.targets
    missed = [_missed(t, best) for t in goals if best.outcome(t.name).meets is False]
    asked = ""
    if task.chances is not None and any(target.by_chance for target in goals):
        asked = f" with a chance of {task.chances.chance:.0%}"
    if not missed:
        return f"{who} meets the goal{asked}: past runs of those that are predicted to did not."
    return f"{who} meets the goal{asked}; closest: {'; '.join(missed)}."


def exhausted(found: Candidates, certificate: Certificate | None) -> bool:
    """Whether nothing legal was left untried, or what was is proved to be of no use."""
    excluded = certificate is not None and certificate.status is CertificateStatus.INFEASIBLE
    return found.exhaustive or excluded


def blocking_rules(task: SearchTask) -> tuple[str, ...]:
    """The rules without which, one at a time, there would be a legal configuration."""
    generator = generator_for(task)
    found = []
    for rule in (*task.rules, *task.outcome_rules):
        without = replace(
            task,
            rules=tuple(r for r in task.rules if r is not rule),
            outcome_rules=tuple(r for r in task.outcome_rules if r is not rule),
            targets=(),
            past_runs=None,
            count=1,
        )
        try:
            if len(generator.generate(without).X):
                found.append(rule.text)
        except ConflictingRules:
            continue
    return tuple(found)


def _missed(target: Target, suggestion: Suggestion) -> str:
    outcome = suggestion.outcome(target.name)
    likely = "" if outcome.chance is None else f" (met with a chance of {outcome.chance:.0%})"
    if target.is_class:
        return f"{target.name} would be {format_value(outcome.value)}{likely}"
    assert isinstance(outcome.value, float)
    return f"{target.name} {outcome.value:.5g}, wanted {in_numbers(target)}{likely}"


def notes(task: SearchTask, suggestions: tuple[Suggestion, ...]) -> tuple[str, ...]:
    """What a person should know beside the suggestions."""
    found = []
    forced = [edit for s in suggestions[:1] for edit in s.edits if edit.forced_by]
    for edit in forced:
        has = "has to move as well" if task.baseline is not None else "follows"
        why = "to reach the goal" if edit.for_goal else "because of the rule"
        found.append(f"{edit.name} {has}, {why} {edit.forced_by}.")
    given = task.baseline is not None and task.query.change and not task.query.ask
    if given and suggestions and suggestions[0].meets_goals and not forced:
        found.append("Nothing else has to move: the change alone breaks no rule.")
    wanted = task.query.count
    if wanted is not None and 0 < len(suggestions) < wanted:
        found.append(f"{wanted} answers were asked for; {len(suggestions)} that differ were found.")
    unmoved = suggestions and suggestions[0].meets_goals and not suggestions[0].edits
    # Where outcomes are traded off, the baseline is one of several answers.
    traded = sum(isinstance(goal, Extreme) for goal in task.query.goals.values()) > 1
    if task.baseline is not None and not task.forward and unmoved and not traded:
        found.append("The baseline already meets the goal; nothing has to change.")
    return tuple(found)


def goals_in_words(task: SearchTask) -> str | None:
    """The goals of a question as it states them; None: it has none."""
    goals = {n: g for n, g in task.query.goals.items() if not isinstance(g, Observe)}
    return ", ".join(f"{name}: {format_goal(goal)}" for name, goal in goals.items()) or None


def broken_conditions(task: SearchTask, found: Candidates) -> tuple[str, ...]:
    """Conditions on outcomes that the first prediction of a what-if does not meet."""
    if not task.forward or not len(found.X):
        return ()
    first = found.X[:1]
    extended = with_outcomes(first, task.predict(first), task.outcomes)
    return tuple(
        f"The condition {rule.text} is not predicted to hold after the change."
        for rule in task.conditions
        if not rule.holds(extended)[0]
    )


def assumptions(task: SearchTask) -> str:
    """Where the question starts, and what is assumed of what did not move."""
    assumed = task.assumed
    if task.baseline is not None:
        return f"Baseline: {assumed.where}; everything not named stays as it is."
    decoded = [Encoder(task.space).decode(row) for row in task.contexts]
    parts = [
        _held(parameter, list(dict.fromkeys(row[parameter.name] for row in decoded)))
        for j, parameter in enumerate(task.space.parameters)
        if j not in task.movable
    ]
    among = " of the sample" if assumed.sampled else ""
    head, whose = f"{assumed.matching:,} past runs{among} match.", "of their contexts"
    if assumed.matching == 1:
        head = f"1 past run{among} matches."
    if not assumed.matching:
        head, whose = f"No past run{among} matches.", "contexts of the closest"
    if not parts:
        return head
    if len(task.contexts) == 1:
        return f"{head} Assumed: {', '.join(parts)}."
    return f"{head} Averaged over {len(task.contexts)} {whose}: {', '.join(parts)}."


def _held(parameter: Number | Category, values: list[Value]) -> str:
    """The values of a column that does not move: one, a range, or a few of them."""
    numbers = [v for v in values if isinstance(v, int | float)]
    if len(values) == 1:
        return f"{parameter.name} = {format_value(values[0])}"
    if isinstance(parameter, Number) and len(numbers) > 1:
        none = " or none" if None in values else ""
        return f"{parameter.name} {min(numbers):g}..{max(numbers):g}{none}"
    more = ", ..." if len(values) > 4 else ""
    return f"{parameter.name} in {{{', '.join(format_value(v) for v in values[:4])}{more}}}"
