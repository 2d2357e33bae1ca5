"""Every text of the corpus means what was written down by hand, and survives all three forms."""

import pytest
from language_case import Case
from language_forms import CLAUSES, EDITS, GOALS, WHERE
from language_paper import TABLE_VI, TEMPLATES

from compass.domain.query import Query
from compass.language import format_query, parse_query

CORPUS = [*TABLE_VI, *TEMPLATES, *GOALS, *EDITS, *WHERE, *CLAUSES]
every_case = pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)


def test_the_corpus_is_complete_and_without_repeats() -> None:
    names = [case.name for case in CORPUS]
    assert len(names) == len(set(names))
    assert [case.name for case in TABLE_VI] == [
        f"{kind} {data}"
        for kind in ("recommend", "reconfigure", "what-if")
        for data in ("Monet", "PM-100", "BUTTER-E", "CoMD", "FT")
    ]


@every_case
def test_a_text_means_the_query(case: Case) -> None:
    parsed = parse_query(case.text)
    assert parsed == case.query
    # true == 1 to Python, so equality alone would not notice a label that changed its kind.
    assert kinds(parsed) == kinds(case.query)


@every_case
def test_a_query_prints_as_canonical_text(case: Case) -> None:
    assert format_query(case.query) == case.canonical


@every_case
def test_canonical_text_reads_back_and_prints_the_same(case: Case) -> None:
    again = parse_query(case.canonical)
    assert again == case.query
    assert kinds(again) == kinds(case.query)
    assert format_query(again) == case.canonical


@every_case
def test_json_reads_back(case: Case) -> None:
    again = Query.model_validate_json(case.query.model_dump_json())
    assert again == case.query
    assert format_query(again) == case.canonical


def kinds(query: Query) -> dict[str, bool]:
    """Which of the values of a query are true/false."""
    found = {f"stated {name}": value for name, value in query.stated.items()}
    found |= {f"X {name}": getattr(edit, "value", None) for name, edit in query.change.items()}
    found |= {f"Y {name}": getattr(goal, "value", None) for name, goal in query.goals.items()}
    found |= getattr(query.baseline, "config", {})
    return {name: isinstance(value, bool) for name, value in found.items()}
