"""Text into queries and rules. Names stay as written: `bind` gives them a meaning.

Decision 0001 (docs/decisions).
"""

import re
from functools import lru_cache
from typing import Any

from lark import Tree, UnexpectedInput
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken, VisitError

from compass.domain.arguments import takes
from compass.domain.arguments import text as text_argument
from compass.domain.errors import CompassError, QuerySyntax
from compass.domain.expression import Expression
from compass.domain.query import Query
from compass.language.build_query import BuildQuery
from compass.language.format import format_value
from compass.language.grammar import parser

_WORDS = re.compile(r"[\w.+/ -]{2,40}\Z")
LONGEST_TEXT = 8000  # characters; longer texts are refused


@lru_cache(maxsize=1024)
def parse_rule(text: str) -> Expression:
    """The tree of a rule such as `gpus <= 4 * nodes`."""
    tree: Expression = _parse(text, "rule")
    return tree


@takes(text=text_argument)
def parse_query(text: str) -> Query:
    """The query that a text in one of the three templates asks."""
    query: Query = _parse(text, "query")
    return query


def _parse(text: str, start: str) -> Any:
    if len(text) > LONGEST_TEXT:
        raise QuerySyntax(
            f"the text has {len(text):,} characters; the limit is {LONGEST_TEXT:,}",
            hint="shorten it, or put standing rules into a study file",
        )
    if not text.strip():
        raise QuerySyntax(f"the {start} is empty", hint=_EXAMPLES[start])
    _check_characters(text)
    try:
        return BuildQuery().transform(parser().parse(text, start=start))
    except UnexpectedInput as error:
        raise _explain(error, text, start) from None
    except VisitError as error:
        raise _inner(error, text) from None


def _check_characters(text: str) -> None:
    # Half of a pair of code units can be in a str, but not in a file, a page or JSON.
    try:
        text.encode()
    except UnicodeEncodeError as error:
        shown = text.encode(errors="replace").decode()
        raise QuerySyntax(
            "the text holds a character that is broken",
            hint="write it again",
            text=shown,
            column=error.start,
        ) from None


def _inner(failure: VisitError, text: str) -> QuerySyntax:
    """What a piece of the text cannot mean, pointing at where that piece begins."""
    error = failure.orig_exc
    if isinstance(error, RecursionError):
        return QuerySyntax("the text is nested too deeply", hint="split it into several rules")
    assert isinstance(failure.obj, Tree)
    start, end = failure.obj.meta.start_pos, failure.obj.meta.end_pos
    if isinstance(error, QuerySyntax):
        place = error.column or start
        return QuerySyntax(error.message, hint=error.hint, text=text, column=place)
    if not isinstance(error, ValueError | CompassError):
        raise error
    message = error.message if isinstance(error, CompassError) else str(error)
    return QuerySyntax(message, hint=f"look at {text[start:end][:60]}", text=text, column=start)


_EXAMPLES = {
    "query": (
        "for example: Recommend a configuration X = {threads: ?} "
        "to achieve Y = {runtime: minimize} where C = {nodes < 16}"
    ),
    "rule": "for example: gpus <= 4 * nodes",
}
_EXPECTED = {
    "NAME": "a column",
    "KEY": "a column",
    "LABEL": "a value",
    "BACKTICK": "a column in backticks",
    "NUMBER": "a number",
    "STRING": "a quoted value",
    "ARROW": "->",
    "PERCENT": "a percentage",
    "_ACHIEVE": "to achieve Y = {...}",
    "_WHERE": "where C = {...}",
    "_AFFECT": "how would that affect Y = {...}",
    "_KEEP": "keep Y = {...} the same",
    "_RECOMMEND": "Recommend",
    "_RECONFIGURE": "Reconfigure",
    "_WHAT_IF": "What if",
    "_IS": ":",
    "_MINIMIZE": "minimize",
    "_MAXIMIZE": "maximize",
    "_REDUCE": "reduce by ...%",
    "LSQB": "[low, high]",
    "RBRACE": "}",
    "LBRACE": "{",
    "RPAR": ")",
    "COMMA": ",",
    "QMARK": "?",
    "UPPER": "<=",
    "EQUAL": "==",
    "_IN": "in {...}",
}


def _explain(error: UnexpectedInput, text: str, start: str) -> QuerySyntax:
    column = getattr(error, "pos_in_stream", None)
    if isinstance(error, UnexpectedEOF) or (
        isinstance(error, UnexpectedToken) and error.token.type == "$END"
    ):
        message, column = "the text ends too early", len(text.rstrip())
    elif isinstance(error, UnexpectedToken):
        message = f"did not expect '{error.token[:40]}' here"
    else:
        shown = text[column] if column is not None and column < len(text) else ""
        message = f"did not expect '{shown}' here"
    wanted = getattr(error, "accepts", None) or getattr(error, "expected", None)
    if isinstance(error, UnexpectedCharacters):
        wanted = error.allowed
    names = list(dict.fromkeys(_EXPECTED[w] for w in _EXPECTED if w in (wanted or ())))
    hint = f"expected {', '.join(names[:6])}" if names else _EXAMPLES[start]
    if not column:
        hint = _EXAMPLES[start]
    elif value := _unquoted(text, column):
        hint += f"; if it is one value, quote it: {format_value(value)}"
    return QuerySyntax(message, hint=hint, text=text, column=column or 0)


def _unquoted(text: str, column: int) -> str | None:
    """The words around a place that may be one value without its quotes: `model: Tesla V100`."""
    begin = max(text.rfind(mark, 0, column) for mark in ":=>{,") + 1
    end = min(at for mark in ",}\n" if (at := f"{text},".find(mark, column)) >= 0)
    value = text[begin:end].strip()
    behind = text[: text.find(value, begin)].rstrip()
    plain = _WORDS.match(value) and value[0].isalnum() and any(c.isalpha() for c in value)
    return value if plain and behind.endswith((":", "=", "->", "=>")) else None
