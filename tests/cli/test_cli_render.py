"""Answers as a person reads them: numbers, layouts for any width, labels."""

import io

import pytest
from rich.console import Console

from compass.cli import render
from compass.domain.answer import (
    Answer,
    Label,
    ModelCard,
    Moved,
    Prediction,
    Proposal,
    Provenance,
    Suggestion,
    Trust,
)
from compass.domain.base import Value
from compass.domain.query import Kind, Query


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4, "4"),
        (4.0, "4"),
        (0.1234567, "0.1235"),
        (1234.567, "1235"),
        (766123.4, "766100"),
        (1.5e12, "1.5e+12"),
        (2e-7, "2e-07"),
        (-12345.6, "-12350"),
        (float("inf"), "inf"),
        (None, "none"),
        (True, "True"),
        ("wrf", "wrf"),
    ],
)
def test_values_are_short_and_readable(value: Value, text: str) -> None:
    assert render.show(value) == text
    assert render.show(value, "s") == f"{text} s"


def test_changes_have_a_sign() -> None:
    assert render.percent(12.34) == "+12.3 %"
    assert render.percent(-0.5) == "-0.5 %"
    assert render.percent(None) == ""


def test_a_change_stands_beside_its_interval() -> None:
    made = Prediction(
        name="t",
        value=88.0,
        low=80.0,
        high=95.5,
        before=100.0,
        change=-12.0,
        change_percent=-12.0,
        change_low=-1234.5,
        change_high=4.25,
    )
    assert render.predicted(made) == "88 [80, 95.5]\n-12.0 % [-1234 %, +4.2 %]"
    assert render.predicted(made.model_copy(update={"change_low": None})).endswith("\n-12.0 %")


def test_an_interval_without_ends_is_called_unbounded() -> None:
    endless = Prediction(
        name="t",
        value=88.0,
        low=0.0,
        high=float("inf"),
        before=100.0,
        change_percent=-12.0,
        change_low=float("-inf"),
        change_high=float("inf"),
    )
    assert render.predicted(endless) == "88 [unbounded]\n-12.0 % [unbounded]"
    assert render.interval(None, None) == ""


def suggestion(names: list[str], outcomes: int) -> Suggestion:
    return Suggestion(
        config=dict.fromkeys(names, 128),
        settings=dict.fromkeys(names, 128),
        edits=(Moved(name=names[0], old=64, new=128),),
        outcomes=tuple(
            Prediction(
                name=f"outcome_{i}", value=1234.5, low=1000.0, high=1500.0, change_percent=-12.3
            )
            for i in range(outcomes)
        ),
        distance=1.0,
        meets_goals=True,
        trust=Trust(label=Label.CAUTION, ood=0.5, uq=0.5, support=0, tau=1.0, reason="Caution."),
    )


def printed(width: int, *, names: int, outcomes: int, count: int) -> str:
    columns = [f"parameter_{i}" for i in range(names)]
    told = Answer(
        query=Query(kind=Kind.RECONFIGURE),
        text="Reconfigure ...",
        suggestions=tuple(suggestion(columns, outcomes) for _ in range(count)),
        provenance=Provenance(data="x", seed=7, versions={}),
    )
    out = io.StringIO()
    render.answer(Console(file=out, width=width), told)
    return out.getvalue()


def test_broken_dependencies_stand_beside_the_reason() -> None:
    broken = suggestion(["gpus"], 1).model_copy(update={"breaks": ("a <= b", "c % 2 == 0")})
    told = Answer(
        query=Query(kind=Kind.RECOMMEND),
        text="Recommend ...",
        suggestions=(broken, suggestion(["gpus"], 1)),
        provenance=Provenance(data="x", seed=7, versions={}),
    )
    out = io.StringIO()
    render.answer(Console(file=out, width=120), told)
    assert "1. Caution. Breaks what holds on all rows: a <= b; c % 2 == 0.\n2. Caution.\n" in (
        out.getvalue()
    )


def test_a_short_answer_has_one_line_per_suggestion() -> None:
    text = printed(80, names=1, outcomes=1, count=3)
    assert "   parameter_0  outcome_0" in text
    assert "1  64 -> 128    1234 [1000, 1500]  ! caution" in text


def test_a_wide_answer_has_one_column_per_suggestion() -> None:
    words = [line.split() for line in printed(80, names=6, outcomes=2, count=2).splitlines()]
    assert ["parameter_0", "64", "->", "128", "64", "->", "128"] in words
    assert ["parameter_5", "128", "128"] in words
    assert ["trust", "!", "caution", "!", "caution"] in words


def test_more_suggestions_than_fit_go_below() -> None:
    words = [line.split() for line in printed(50, names=3, outcomes=2, count=5).splitlines()]
    assert ["1", "2"] in words
    assert ["3", "4"] in words
    assert ["5"] in words


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize(("names", "outcomes", "count"), [(1, 1, 1), (8, 3, 3), (10, 4, 12)])
def test_nothing_is_lost_at_any_width(width: int, names: int, outcomes: int, count: int) -> None:
    text = printed(width, names=names, outcomes=outcomes, count=count)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert text.count("[1000, 1500]") == outcomes * count
    for i in range(names):
        assert f"parameter_{i} " in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_run_to_make_is_printed_with_every_feature(width: int) -> None:
    configs = [{f"parameter_{i}": 128 + i * run for i in range(12)} for run in range(2)]
    told = Answer(
        query=Query(kind=Kind.RECOMMEND),
        text="Recommend ...",
        run_next=tuple(Proposal(config=config, why="to know") for config in configs),
        provenance=Provenance(data="x", seed=7, versions={}),
    )
    out = io.StringIO()
    render.answer(Console(file=out, width=width), told)
    text = " ".join(out.getvalue().split())
    for config in configs:
        written = ", ".join(f"{name} = {value}" for name, value in config.items())
        assert f"{written}: to know" in text


@pytest.mark.parametrize("unseen", [True, False])
def test_no_model_is_said_to_be_checked_on_runs_that_it_may_know(unseen: bool) -> None:
    card = ModelCard(
        target="runtime",
        family="brought",
        rows=9,
        features=("nodes",),
        error=0.05,
        error_name="MAPE",
        unseen=unseen,
        seconds=0.3,
    )
    told = Answer(
        query=Query(kind=Kind.RECOMMEND),
        text="Recommend ...",
        models=(card,),
        provenance=Provenance(data="x", seed=7, versions={}),
    )
    out = io.StringIO()
    render.answer(Console(file=out, width=200), told)
    assert ("unseen" in out.getvalue()) is unseen
    assert ("may have been trained on" in out.getvalue()) is not unseen


def test_control_characters_are_shown_and_not_obeyed() -> None:
    shown = render.printable("a\x1b[2J\tb\nc")
    assert shown.plain == "a\ufffd[2J\ufffdb\nc"
