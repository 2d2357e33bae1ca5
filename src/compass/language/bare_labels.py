"""Labels that stand in a rule without quotes and read as arithmetic: `model == ResNet-50`."""

from functools import lru_cache

from compass.domain.base import Value
from compass.domain.errors import QuerySyntax
from compass.domain.expression import Arithmetic, Comparison, Expression, Negative
from compass.domain.space import Category
from compass.language.format import format_rule
from compass.language.parse import parse_rule


def is_arithmetic(node: Expression) -> bool:
    """Whether a label without quotes could have been read as this."""
    return isinstance(node, Arithmetic | Negative)


def bare_label(node: Expression, category: Category) -> tuple[Value, ...]:
    """The one label of a category that reads as this expression; empty if none or several do."""
    written = _folded(node)
    found = tuple(
        label for label in category.values if isinstance(label, str) and _reads_as(label) == written
    )
    return found if len(found) == 1 else ()


def as_written(node: Expression) -> str:
    """The expression as the one word that a person may have meant by it."""
    return format_rule(node).replace(" ", "")


def _folded(node: Expression) -> str:
    return format_rule(node).casefold()


@lru_cache(maxsize=4096)
def _reads_as(label: str) -> str | None:
    """A label as the expression that it reads as; None if it is no arithmetic."""
    try:
        rule = parse_rule(f"label == {label}")
    except QuerySyntax:
        return None
    if not isinstance(rule, Comparison) or not is_arithmetic(rule.right):
        return None
    return _folded(rule.right)
