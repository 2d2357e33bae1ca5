"""The grammar is sound, and whatever is said is read without a crash and without inventions."""

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.chat.corpus_case import tables
from tests.property_examples import examples

from compass.chat import english
from compass.chat.draft_columns import columns_of
from compass.chat.english.clauses import Clauses
from compass.chat.english.grammar import Chart, _productions
from compass.chat.english.lexicon import PHRASES
from compass.chat.english.spans import spans_of
from compass.chat.english.vocabulary import index_of
from compass.domain.space import Category

VALUES = {"COL", "LAB", "NUM", "PCT", "FRAC", "WORD"}
SPACE = tables()["simulation"]
WORDS = sorted({word for phrase in PHRASES for word in phrase})
NOUNS = [*SPACE.names, "4", "16 W", "2 h", "10 %", "half", "row 7", "wombat", "amg", "double"]
SALAD = st.lists(st.sampled_from([*WORDS, *NOUNS, *NOUNS]), min_size=1, max_size=12).map(" ".join)


def test_every_symbol_is_a_class_a_value_or_a_head() -> None:
    grammar = _productions()
    classes = {part.tag for parts in PHRASES.values() for part in parts}
    symbols = {name for made in grammar.values() for one in made for name, _ in one.symbols}
    assert symbols <= classes | VALUES | set(grammar)
    assert classes - symbols <= {"END", "CHANGES", "IF"}  # these only end or name a question


def test_every_action_is_there_and_every_one_is_used() -> None:
    named = {one.action for made in _productions().values() for one in made if one.action}
    actions = {
        name for name in dir(Clauses) if not name.startswith("_") and name not in {"act", "better"}
    }
    assert named == actions


@given(SALAD)
@examples(60)
def test_any_words_are_read_and_columns_are_never_invented(text: str) -> None:
    reading = english.read(text, SPACE)
    said = set(re.findall(r"\w+", text.casefold()))
    index = index_of(SPACE)
    spans = spans_of(text, {}, index)
    meant = {
        name
        for row in spans.at
        for span in row
        for name in (
            getattr(span.value, "scores", None)
            or [column for column, _ in getattr(span.value, "labels", ())]
        )
    }
    concepts = {p.name for p in SPACE if p.role == "outcome"}
    units = {p.name for p in SPACE if not isinstance(p, Category) and p.unit}
    assert set(columns_of(reading.parts)) <= meant | concepts | units
    for words in reading.unknown:
        told = re.findall(r"\w+", words.casefold())
        assert not told or any(word in said for word in told)


@given(SALAD)
@examples(20)
def test_the_chart_stays_small(text: str) -> None:
    index = index_of(SPACE)
    spans = spans_of(text, {}, index)
    chart = Chart(spans, Clauses(spans, index).act)
    for place in range(spans.length):
        chart.at("clause", place)
    heads = len(_productions()) + len(VALUES) + 80
    assert len(chart._known) <= heads * (spans.length + 1)
    assert max((len(ways) for ways in chart._known.values()), default=0) <= 64
