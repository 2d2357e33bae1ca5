"""Whatever is typed: either it means something that survives, or it is refused politely."""

from collections.abc import Callable
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from language_forms import CLAUSES, EDITS, GOALS, WHERE
from language_paper import TABLE_VI, TEMPLATES
from language_table import SPACE

from compass.domain.errors import CompassError, QuerySyntax
from compass.domain.query import Query
from compass.language import (
    bind_query,
    bind_rule,
    format_query,
    format_rule,
    parse_query,
    parse_rule,
)
from compass.language.parse import LONGEST_TEXT
from property_examples import examples

TEXTS = [case.text for case in (*TABLE_VI, *TEMPLATES, *GOALS, *EDITS, *WHERE, *CLAUSES)]
BINDABLE = [
    "Recommend X = {nodes: ?, mem_gb: 64} to achieve Y = {runtime: min, power: <= 1 kW} top 3",
    "Recommend X = {nodes: ?} to achieve Y = {job_state: completed} where partition == gpu",
    "Reconfigure X = {nodes: ?} to achieve Y = {runtime: reduce by 5 min} from row 3",
    "Reconfigure X = {X+_*: ?} to achieve Y = {score: same within 3%} from {nodes: 4, app: FT}",
    "What if we change X = {time_limit: 2 h}, how would that affect Y = {runtime, power}",
    "What if we change X = {nodes: 8 -> 2*old, gpus: ?}, keep Y = {power} the same",
]
BINDABLE_RULES = [
    "mem_gb <= 64000 MB * nodes",
    "partition in {gpu, 'cpu'} -> 1 <= gpus <= 4 * nodes",
    "not (cap == none or is_gpu) and `Time[s]` % 2 == 0",
    "queue: {1, 3}",
]
RULES = [rule.text for case in (*WHERE, *TABLE_VI) for rule in case.query.where]
PIECES = [
    *("{", "}", "(", ")", "[", "]", ",", ":", "=", "?", "->", "*", "-", "'", '"', "`", "\\", "."),
    *(" where ", " not ", " in ", " and ", " old ", " from row ", " top ", "%", " GB", "1e999"),
    *("\x00", "\n", "‘", "”", "Y = ", "X = ", "0", "9" * 30, "nodes", "runtime", "partition"),
]


@st.composite
def mutated(draw: st.DrawFn, texts: list[str]) -> str:
    """A good text with pieces cut out, repeated, or put in."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 3))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        end = min(end, start + 12)
        piece = draw(st.sampled_from(PIECES) | st.just("") | st.text(max_size=2))
        repeated = text[start:end] if draw(st.booleans()) else ""
        text = text[:start] + piece + repeated + text[end if piece else start :]
    return text


def attempt(use: Callable[..., Any], *given: Any) -> Any:
    """What came out, or the problem that was told; anything else fails the test."""
    try:
        return use(*given)
    except CompassError as error:
        return error


def survives(text: str) -> None:
    """Read, print, read again, bind: nothing but a told problem may come out."""
    query = attempt(parse_query, text)
    if isinstance(query, CompassError):
        assert isinstance(query, QuerySyntax)
        assert query.hint
        assert 0 <= query.column <= len(text)
        return
    printed = format_query(query)
    if len(printed) <= LONGEST_TEXT:
        assert parse_query(printed) == query
    assert Query.model_validate_json(query.model_dump_json()) == query
    settles(bind_query, query)


def settles(bind: Callable[..., Any], thing: Any) -> None:
    """Binding gives a problem with a hint, or something that binding leaves alone."""
    bound = attempt(bind, thing, SPACE)
    if isinstance(bound, CompassError):
        assert bound.hint
    else:
        assert bind(bound, SPACE) == bound


@given(mutated(TEXTS) | mutated(BINDABLE))
@examples(250)
@example("What if we change X = {nodes: 1e308*old}")
@example("What if we change X = {mem_gb: 1e308 TB}")
def test_changed_texts(text: str) -> None:
    survives(text)


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES)).map("".join))
@examples(150)
def test_any_text(text: str) -> None:
    survives(text)
    survives("Recommend X = {" + text)
    survives("What if X = {nodes: 4} where " + text)


@given(mutated(RULES) | mutated(BINDABLE_RULES))
@examples(150)
def test_changed_rules(text: str) -> None:
    rule = attempt(parse_rule, text)
    if isinstance(rule, CompassError):
        assert isinstance(rule, QuerySyntax)
        return
    assert parse_rule(format_rule(rule)) == rule
    settles(bind_rule, rule)
