"""Errors speak the person's language: what is wrong, where, and what to do."""

import re

import pytest

from compass.domain import errors
from compass.domain.errors import (
    BadInput,
    CompassError,
    ConflictingRules,
    EnvironmentProblem,
    QuerySyntax,
    UnknownName,
    nearest,
    unknown,
)

COLUMNS = ("num_nodes_req", "num_cores_req", "run_time", "Partition")


def test_the_tree_at_the_top_of_the_file_is_complete() -> None:
    drawn = re.findall(r"^[│├└─ ]*([A-Z]\w+)  ", errors.__doc__ or "", flags=re.MULTILINE)
    classes = [
        name
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, CompassError)
    ]
    assert sorted(drawn) == sorted(classes)


def test_bad_input_is_apart_from_a_lacking_machine() -> None:
    assert issubclass(QuerySyntax, BadInput)
    assert not issubclass(EnvironmentProblem, BadInput)


def test_an_error_prints_its_hint() -> None:
    assert str(BadInput("no", hint="yes")) == "no\nhint: yes"
    assert str(BadInput("no")) == "no"


def test_conflicting_rules_are_named() -> None:
    assert ConflictingRules("both", rules=("a < 1", "a > 1")).rules == ("a < 1", "a > 1")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("num_node", "num_nodes_req"),
        ("NUM_NODE", "num_nodes_req"),
        ("runtime", "run_time"),
        ("RunTime", "run_time"),
        ("partition", "Partition"),
        ("zzz", None),
        ("", None),
    ],
)
def test_the_nearest_name(name: str, found: str | None) -> None:
    assert nearest(name, COLUMNS) == found


def test_nothing_is_nearest_to_nothing() -> None:
    assert nearest("a", ()) is None


def test_an_unknown_name_offers_the_nearest() -> None:
    error = unknown("column", "num_node", iter(COLUMNS), where="in X")
    assert isinstance(error, UnknownName)
    assert error.message == "no column named 'num_node' in X"
    assert error.hint == "did you mean num_nodes_req?"


def test_an_unknown_name_lists_what_there_is() -> None:
    assert unknown("joint", "zzz", ["b", "a"]).hint == "there are: b, a"
    assert unknown("joint", "zzz", []).hint == "there are none"
    many = unknown("joint", "zzz", [str(i) for i in range(9)])
    assert many.hint == "there are: 0, 1, 2, 3, 4, 5, 6, 7, ..."


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("node", "Recommend X = {nodes: ?, node: ?}", "node: ?}"),
        ("a", "Recommend a configuration X = {b: ?, a: ?}", "a: ?}"),
        ("in", "What if we change X = {`in`: 4} in ...", "in`: 4"),
        ("X+_*", "What if we change X = {X+_*: 4}", "X+_*: 4"),
        ("node", "gpus < node", "node"),
        ("gpux", "Recommend X = {n: ?} to achieve Y = {t: min} where p: GPUX", "GPUX"),
    ],
)
def test_an_unknown_name_points_at_itself(name: str, text: str, place: str) -> None:
    error = unknown("column", name, []).within(text)
    message, line, caret, hint = str(error).splitlines()
    assert line[caret.index("^") :].startswith(place)
    assert (message, hint) == (error.message, f"hint: {error.hint}")


def test_an_unknown_name_that_is_not_in_the_text_points_nowhere() -> None:
    error = unknown("column", "node", []).within("Recommend X = {nodes: ?}")
    assert str(error) == "no column named 'node'\nhint: there are none"


class TestPointer:
    def test_the_caret_stands_below_the_place(self) -> None:
        error = QuerySyntax("no", text="abcdef", column=3)
        assert error.pointer() == "  abcdef\n     ^"

    def test_behind_the_end(self) -> None:
        assert QuerySyntax("no", text="abc", column=3).pointer() == "  abc\n     ^"

    @pytest.mark.parametrize("column", [0, 35, 36, 37, 500, 999])
    def test_in_a_long_text(self, column: int) -> None:
        text = "".join(chr(0x4E00 + i) for i in range(1000))
        line, caret = QuerySyntax("no", text=text, column=column).pointer().splitlines()
        assert line[caret.index("^")] == text[column]
        assert len(line) <= 74

    def test_line_breaks_and_tabs_take_one_place(self) -> None:
        error = QuerySyntax("no", text="a\n\tb\r\nc", column=6)
        assert error.pointer() == "  a  b  c\n        ^"

    def test_without_a_text_there_is_no_place(self) -> None:
        error = QuerySyntax("no", hint="yes", column=3)
        assert error.pointer() == ""
        assert str(error) == "no\nhint: yes"

    def test_everything_is_printed(self) -> None:
        error = QuerySyntax("no", hint="yes", text="ab", column=1)
        assert str(error) == "no\n  ab\n   ^\nhint: yes"
