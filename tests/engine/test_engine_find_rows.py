"""Rows that somebody looks for, against a plain loop over the table."""

from typing import Any

import pytest

import compass as cp
from compass.domain.errors import CompassError, UnknownName
from compass.engine.find_rows import find_rows

TABLE: dict[str, list[Any]] = {
    "app": ["ft", "CG", "ft", "mg", "cg", "ft"],
    "nodes": [4, 1, 2, 8, 4, 2],
    "runtime": [3.5, 9.0, 6.25, None, 3.5, 7.0],
}


def found(**wanted: Any) -> list[int]:
    roles = {"knobs": ["nodes"], "context": ["app"], "outcomes": ["runtime"]}
    return list(find_rows(cp.read(TABLE).roles(**roles).prepared, **wanted))


def test_nothing_asked_is_the_whole_table_in_its_order() -> None:
    assert found() == [0, 1, 2, 3, 4, 5]


def test_rules_are_those_of_questions() -> None:
    # Row 3 has no outcome: it was left out, and has no clean values.
    assert found(where=["nodes >= 4"]) == [0, 4]
    assert found(where=["nodes >= 4", "app == 'ft'"]) == [0]
    assert found(where=["nodes > 100"]) == []


def test_a_text_is_found_in_any_cell_in_capitals_or_not() -> None:
    assert found(text="cg") == [1, 4]
    assert found(text="6.25") == [2]
    assert found(text="cg", where=["nodes == 4"]) == [4]


@pytest.mark.parametrize("down", [False, True])
def test_rows_are_sorted_by_a_column_and_gaps_come_last(down: bool) -> None:
    known = [row for row in range(6) if TABLE["runtime"][row] is not None]
    sign = -1 if down else 1
    expected = sorted(known, key=lambda row: (sign * TABLE["runtime"][row], row))
    assert found(sort="runtime", down=down) == [*expected, 3]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UnknownName, match="runtim"):
        found(sort="runtim")
    with pytest.raises(CompassError):
        found(where=["nodes >="])
    with pytest.raises(UnknownName):
        found(where=["cores > 1"])
