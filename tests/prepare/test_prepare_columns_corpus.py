"""Roles of labelled tables are guessed right, and the scorer counts what it says it counts."""

import pyarrow as pa
from tests.prepare.columns_case import guessed, report, score, tables

from compass.prepare import infer
from compass.readers import read


def test_the_roles_of_the_develop_half_are_right() -> None:
    found = score(guessed, "develop")
    assert found.right >= RIGHT, report(found, wrong=True)
    taken = {(one.table, one.column) for one in found.outcomes_as_knobs}
    assert taken <= TAKEN_FOR_KNOBS, report(found, wrong=True)


RIGHT = 1348  # of 1,377 columns
TAKEN_FOR_KNOBS = {
    ("nvidia_smi_power", "clocks_throttle_reasons.sw_power_cap"),
    ("vasp_scaling", "it"),
}


def test_a_wrong_role_is_counted_once_and_a_defensible_one_is_right() -> None:
    every = [column for table in tables("develop") for column in table.roles.values()]
    nothing = score(lambda table: {}, "develop")
    assert nothing.columns == len(every)
    assert nothing.right == sum("ignored" in roles for roles in every)
    assert not nothing.outcomes_as_knobs
    knobs = score(lambda table: dict.fromkeys(table.column_names, "knob"), "develop")
    leaked = [roles for roles in every if "outcome" in roles and "knob" not in roles]
    assert len(knobs.outcomes_as_knobs) == len(leaked)


def test_the_rows_of_a_table_are_always_the_same() -> None:
    first, *_ = tables("develop")
    assert first.arrow().equals(first.arrow())


def test_wrong_guesses_are_asked_about_more_often_than_right_ones() -> None:
    asked: dict[bool, list[bool]] = {True: [], False: []}  # by whether the guess is right
    for table in tables("develop"):
        for one in infer(read(table.arrow()))[1]:
            asked[one.role.value in table.roles[one.name]].append(one.question is not None)
    assert sum(asked[False]) / len(asked[False]) > 3 * sum(asked[True]) / len(asked[True])


def test_a_guesser_sees_plain_columns() -> None:
    kinds = {field.type for table in tables("develop") for field in table.arrow().schema}
    assert kinds <= {pa.int64(), pa.float64(), pa.bool_(), pa.large_string(), pa.timestamp("s")}
