"""The query and rule language: text <-> objects, and names <-> columns."""

from compass.language.bind import bind_query, bind_rule
from compass.language.format import format_goal, format_query, format_rule, format_value, listed
from compass.language.parse import parse_query, parse_rule

__all__ = [
    "bind_query",
    "bind_rule",
    "format_goal",
    "format_query",
    "format_rule",
    "format_value",
    "listed",
    "parse_query",
    "parse_rule",
]
