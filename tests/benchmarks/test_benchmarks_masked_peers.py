"""Masked questions for other tools: what they are given, and how what they say is judged."""

from pathlib import Path

import numpy as np
import pytest

import compass as cp
from benchmarks.masked_peers import __main__ as masked
from benchmarks.masked_peers.case import (
    RECOMMEND,
    Case,
    Column,
    Question,
    load,
    load_replies,
    replies,
    save_replies,
)
from compass.domain.space import Category, Number

NODES = Column("nodes", values=(1.0, 2.0, 4.0, 5.0), low=1, high=5, none_code=5.0)
CASE = Case(
    table="made up",
    columns=(NODES, Column("solver", labels=("cg", "gmres")), Column("size", low=0, high=9)),
    asked=(0,),
    rules=("ReqNodes <= ReqCPUS",),
    X=np.array([[1.0, 0.0, 3.0], [4.0, 1.0, 5.0]]),
    y=np.array([1.0, 2.0]),
    scale=(1.0, 1.0, 1.0),
    trees=2,
    depth=2,
    seed=7,
    questions=(Question(0, RECOMMEND, (float("nan"), 1.0, 5.0), 1.9, 2.1),),
)


def test_a_case_is_the_same_after_it_was_saved(tmp_path: Path) -> None:
    CASE.save(tmp_path)
    again = load(tmp_path)
    assert again.columns == CASE.columns
    assert again.asked == CASE.asked
    assert again.rules == CASE.rules
    np.testing.assert_array_equal(again.X, CASE.X)
    assert again.config((5.0, 1.0, 3.5)) == {"nodes": None, "solver": "gmres", "size": 3.5}


@pytest.mark.parametrize(("code", "legal"), [(2.9, 2.0), (3.1, 4.0), (-7, 1.0), (99, 5.0)])
def test_numbers_move_to_the_nearest_legal_value(code: float, legal: float) -> None:
    assert NODES.nearest(code) == legal


def test_what_a_tool_raises_is_its_answer(tmp_path: Path) -> None:
    def ask(question: Question) -> tuple[None, None, str]:
        raise ValueError("nothing found")

    found = {"tool": replies("tool", CASE.of(RECOMMEND), ask)}
    save_replies(tmp_path / "tool.json", found)
    (one,) = load_replies(tmp_path / "tool.json")["tool"]
    assert one.row is None
    assert one.note == "ValueError: nothing found"


def test_columns_are_told_with_their_legal_values() -> None:
    power = Number(name="cap", low=50, high=90, allowed=(50, 90), optional=True)
    told = masked.column_of(power)
    assert told.values == (50.0, 90.0, power.none_code)
    assert told.cell(power.none_code) is None
    assert masked.column_of(Category(name="gpu", values=("a", "b"))).choices() == (0.0, 1.0)


def test_the_truth_is_the_mean_of_what_was_measured() -> None:
    data = cp.read({"n": [1, 1, 2], "s": [2.0, 4.0, 9.0]}).roles(knobs=["n"], outcomes=["s"])
    truth = masked.Truth(data, ("n",), "s")
    assert truth.value((1.0,)) == 3.0
    assert truth.value((3.0,)) is None


def test_a_line_counts_no_answer_as_an_error_and_names_violations() -> None:
    judged = [
        masked.Judged("t", RECOMMEND, "tool", 0, 0, 0.2, True, True, None, 0.1),
        masked.Judged("t", RECOMMEND, "tool", 1, 0, 1.0, False, False, None, 0.3),
    ]
    line = masked.show(judged).splitlines()[-1].split()
    assert line[:5] == ["t", RECOMMEND, "tool", "2", "1"]
    assert line[5] == "0.600"
    assert line[8] == "1"
