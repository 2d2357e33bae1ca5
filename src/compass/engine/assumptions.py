"""What an answer assumes about everything that was not asked for, in a sentence."""

from compass.domain.base import Value
from compass.domain.space import Category, Number
from compass.generate.task import SearchTask
from compass.language import format_value
from compass.prepare.encode import Encoder


def described(task: SearchTask) -> str:
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
    head, whose = f"{assumed.matching} past runs{among} match.", "of their contexts"
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
