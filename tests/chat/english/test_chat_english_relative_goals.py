"""Wishes that lean on how it is now, on another column, or on a past run."""

import pytest

from compass.chat import english
from compass.chat.draft import Draft
from compass.domain.goal import (
    Change,
    Extreme,
    Goal,
    Observe,
    Same,
    Within,
    no_less,
    no_more,
)
from compass.domain.query import Given, Kind, Plus, Row, SetTo, Times
from compass.domain.space import Category, Number, Role, Space


def outcome(name: str, high: float, unit: str | None = None, low: float = 0.01) -> Number:
    return Number(name=name, role=Role.OUTCOME, low=low, high=high, unit=unit)


SERVING = Space(
    parameters=(
        Category(name="model", role=Role.CONTEXT, values=("small", "large")),
        Number(name="file_gb", role=Role.CONTEXT, low=1, high=2000, unit="GB"),
        Number(name="replicas", low=1, high=64, step=1),
        Number(name="cache_mb", low=1, high=512, step=1, unit="MB"),
        Number(name="flush_interval", low=1, high=600, step=1, unit="min"),
        Category(name="codec", values=("lz4", "none", "zstd")),
        Category(name="prefetch", values=(False, True)),
        outcome("latency_p99_ms", 9000, "ms"),
        outcome("total_time_s", 90000, "s"),
        outcome("read_bw", 200, "GB/s"),
        outcome("tokens_per_s", 50000),
        outcome("cost_usd", 9000),
        outcome("accuracy", 1.0),
        outcome("error_rate_pct", 20),
        outcome("grph", 90),
    )
)


def parts_of(text: str) -> Draft:
    return english.read(text, SERVING).parts


@pytest.mark.parametrize(
    ("text", "name", "goal"),
    [
        ("the p99 sits at 480 ms; make it 300", "latency_p99_ms", Within(high=300)),
        ("it takes 3 hours, I want 2", "total_time_s", Within(high=7200)),
        ("we read at 3 GB/s today; how do we get to 12 GB/s?", "read_bw", Within(low=12)),
        ("our accuracy is 71 %. Aim for 75.", "accuracy", Within(low=0.75)),
        ("hit 80% accuracy", "accuracy", Within(low=0.8)),
        ("an error rate of 3 percent or better", "error_rate_pct", Within(high=3)),
        ("keep the error rate under 0.1 percent", "error_rate_pct", Within(high=0.1)),
        ("at least 5000 MB/s read bandwidth", "read_bw", Within(low=5)),
        ("we have a budget of $3k", "cost_usd", Within(high=3000)),
        ("between 400 and 600 dollars", "cost_usd", Within(low=400, high=600)),
        ("done within 2 minutes", "total_time_s", Within(high=120)),
        ("without raising the cost above 140 dollars", "cost_usd", Within(high=140)),
        ("+10% tokens per s", "tokens_per_s", Change(direction="increase", by=0.1)),
        ("the p99 2x shorter than row 7", "latency_p99_ms", Change(direction="reduce", by=0.5)),
        ("p99 a tenth of what it is", "latency_p99_ms", Change(direction="reduce", by=0.9)),
        ("20 % cheaper than run 8", "cost_usd", Change(direction="reduce", by=0.2)),
        (
            "100 bucks less than row 9",
            "cost_usd",
            Change(direction="reduce", by=100, relative=False),
        ),
        ("row 4, same accuracy", "accuracy", Same()),
        ("row 4, without losing accuracy", "accuracy", no_less()),
        ("row 4, accuracy must not suffer", "accuracy", no_less()),
        ("row 4, the accuracy should not drop", "accuracy", no_less()),
        ("row 4, at least the same accuracy", "accuracy", no_less()),
        ("row 4, lose no more than 1% accuracy", "accuracy", no_less(0.01)),
        ("row 4, do not increase the cost", "cost_usd", no_more()),
        ("row 4, with no more cost", "cost_usd", no_more()),
        ("row 4, without increasing the cost", "cost_usd", no_more()),
        ("row 4, no more expensive", "cost_usd", no_more()),
        ("row 4, the same cost or less", "cost_usd", no_more()),
        ("row 4, cost should stay the same or improve", "cost_usd", no_more()),
        ("20% more tokens per s than row 4 without getting slower", "total_time_s", no_more()),
        ("cost at most 5% above row 4", "cost_usd", no_more(0.05)),
        ("row 4, cost at most 5% above what it is now", "cost_usd", no_more(0.05)),
        ("the best tokens per second", "tokens_per_s", Extreme(direction="maximize")),
        ("I only care about the p99", "latency_p99_ms", Extreme(direction="minimize")),
        ("top 5 configs by accuracy", "accuracy", Extreme(direction="maximize")),
        ("the best error rate", "error_rate_pct", Extreme(direction="minimize")),
        ("lowest gigabytes read per hour", "grph", Extreme(direction="minimize")),
    ],
)
def test_what_an_outcome_should_become(text: str, name: str, goal: Goal) -> None:
    assert parts_of(text).goals[name] == goal


def test_equally_fast_keeps_the_time() -> None:
    draft = parts_of("cut the cost of run 12 by a third while it stays equally fast")
    assert Same() in draft.goals.values()
    assert draft.baseline == Row(row=12)
    assert draft.kind is Kind.RECONFIGURE


def test_possessive_of_a_run_names_the_run() -> None:
    assert parts_of("run 12's cost must fall by 10%").baseline == Row(row=12)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("double the replicas: p99?", {"replicas": Times(factor=2.0)}),
        ("add another 4 replicas, does the p99 go down?", {"replicas": Plus(amount=4)}),
        ("turning prefetch on: good or bad for the p99?", {"prefetch": SetTo(value=True)}),
        ("if lz4 was replaced with zstd, would the p99 go up?", {"codec": SetTo(value="zstd")}),
        ("codec lz4 -> zstd, new p99?", {"codec": SetTo(value="zstd")}),
        ("what do I lose in p99 if I cap the replicas at 8?", {"replicas": SetTo(value=8)}),
        (
            "8 replicas, no prefetch. p99?",
            {"replicas": SetTo(value=8), "prefetch": SetTo(value=False)},
        ),
        ("row 5 with zstd, lower p99?", {"codec": SetTo(value="zstd")}),
        ("replicas from 4 to 16, p99 gain?", {"replicas": SetTo(value=16)}),
        ("is the p99 better on 16 replicas than on 8?", {"replicas": SetTo(value=16)}),
    ],
)
def test_a_question_about_an_outcome_after_a_change_is_a_what_if(
    text: str, change: dict[str, object]
) -> None:
    draft = parts_of(text)
    assert draft.kind is Kind.WHAT_IF
    assert draft.change == change
    assert draft.goals == {"latency_p99_ms": Observe()}


def test_an_answered_question_goes_on_with_what_about() -> None:
    before = parts_of("which codec gives the lowest p99?")
    reading = english.read("what about 1 replica?", SERVING, before=before)
    assert reading.parts.kind is Kind.WHAT_IF
    assert reading.parts.change == {"replicas": SetTo(value=1)}


def test_a_number_without_a_noun_is_asked_about() -> None:
    reading = english.read("I tried 8 replicas. 16 should be quicker, but by how much?", SERVING)
    assert reading.unknown == ("16",)
    assert reading.parts.change == {}


def test_a_quantity_links_only_where_it_is_legal() -> None:
    assert parts_of("we write 500 GB").where == ("file_gb == 500",)
    assert parts_of("use 64 MB").where == ("cache_mb == 64",)
    assert "flush_interval" not in str(parts_of("my job needs 3 hours, make it cheaper").where)


def test_the_start_may_be_told_with_at_present() -> None:
    draft = parts_of("at present: 8 replicas, lz4. Looking for +20% tokens per s")
    assert draft.baseline == Given(config={"replicas": 8, "codec": "lz4"})
    assert draft.kind is Kind.RECONFIGURE


@pytest.mark.parametrize(
    "text",
    [
        "codec can't be altered",
        "w/o touching the codec",
        "the codec isn't up for debate",
        "the codec must not be changed",
        "everything may vary apart from the codec",
        "without sacrificing the codec",
    ],
)
def test_what_must_not_change_is_kept(text: str) -> None:
    assert parts_of(f"{text}; 10% lower p99 than row 3").keep == ("codec",)


def test_an_unknown_noun_does_not_bound_what_was_bounded_before() -> None:
    reading = english.read("p99 under 300 ms with at most 4 widgets", SERVING)
    assert reading.parts.goals == {"latency_p99_ms": Within(high=300)}
    assert any("widgets" in words for words in reading.unknown)


@pytest.mark.parametrize(
    "text", ["-> p99?", "? , replicas?", "8 or", "vs", "S/ /4", "+%", "$", ".."]
)
def test_signs_without_a_sentence_are_read_too(text: str) -> None:
    assert english.read(text, SERVING).parts is not None


@pytest.mark.parametrize("text", ["do not use more replicas", "without fewer replicas"])
def test_a_parameter_that_must_not_grow_is_left_alone(text: str) -> None:
    draft = parts_of(f"10% lower p99 than row 3, {text}")
    assert draft.keep == ("replicas",)
    assert draft.ask == ()


LESS, MORE = Change(direction="reduce", by=0.05), Change(direction="increase", by=0.05)
HIGHEST, LOWEST = Extreme(direction="maximize"), Extreme(direction="minimize")


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("cost at most 5% above what it is now", {"cost_usd": no_more(0.05)}),
        ("cost at least 5% below what it is now", {"cost_usd": LESS}),
        ("accuracy at most 5% below what it is now", {"accuracy": no_less(0.05)}),
        ("accuracy at least 5% above what it is now", {"accuracy": MORE}),
        ("do not increase the cost by more than 5%", {"cost_usd": no_more(0.05)}),
        ("the cost must not rise by more than 5%", {"cost_usd": no_more(0.05)}),
        ("accuracy should not drop more than 5%", {"accuracy": no_less(0.05)}),
        ("without losing more than 5% accuracy", {"accuracy": no_less(0.05)}),
        ("without increasing the cost by more than 5%", {"cost_usd": no_more(0.05)}),
        ("do not increase the cost, accuracy higher", {"cost_usd": no_more(), "accuracy": HIGHEST}),
        (
            "no more cost, accuracy as high as possible",
            {"cost_usd": no_more(), "accuracy": HIGHEST},
        ),
        (
            "at least the same accuracy, cost as low as possible",
            {"accuracy": no_less(), "cost_usd": LOWEST},
        ),
        (
            "without reducing accuracy, p99 and cost as low as possible",
            {"accuracy": no_less(), "latency_p99_ms": LOWEST, "cost_usd": LOWEST},
        ),
        (
            "5% less cost, accuracy and tokens per s must not suffer",
            {"cost_usd": LESS, "accuracy": no_less(), "tokens_per_s": no_less()},
        ),
        (
            "5% less cost, accuracy and tokens per s must not drop",
            {"cost_usd": LESS, "accuracy": no_less(), "tokens_per_s": no_less()},
        ),
        (
            "do not increase cost or p99",
            {"cost_usd": no_more(), "latency_p99_ms": no_more()},
        ),
        (
            "do not increase the cost or reduce accuracy",
            {"cost_usd": no_more(), "accuracy": no_less()},
        ),
        ("5% less cost, it must not get slower", {"cost_usd": LESS, "total_time_s": no_more()}),
        ("5% less cost, it cannot be less accurate", {"cost_usd": LESS, "accuracy": no_less()}),
        (
            "5% less cost, performance must not suffer",
            {"cost_usd": LESS, "total_time_s": no_more()},
        ),
        ("at least as fast as possible", {"total_time_s": LOWEST}),
    ],
)
def test_what_must_not_get_worse_beside_other_wishes(text: str, goals: dict[str, Goal]) -> None:
    assert parts_of(f"row 4: {text}").goals == goals


@pytest.mark.parametrize(
    "text",
    [
        "what if I use 8 replicas, will the cost not increase?",
        "what if I use 8 replicas, does the cost not go up?",
        "what if I do not increase the cache, how does the cost change?",
    ],
)
def test_whether_something_stays_is_a_question_in_a_what_if(text: str) -> None:
    assert parts_of(text).goals == {"cost_usd": Observe()}


def test_a_demand_in_a_what_if_is_one() -> None:
    text = "what if I use 8 replicas but the cost must not increase, what else has to change?"
    assert parts_of(text).goals == {"cost_usd": no_more()}


def test_a_class_stays_as_it_is_and_amounts_that_cannot_be_said_are_told() -> None:
    space = Space(
        parameters=(
            *SERVING.parameters,
            Category(name="job_state", role=Role.OUTCOME, values=("ok", "failed")),
        )
    )
    reading = english.read("10% lower p99 than row 3 without sacrificing job_state", space)
    assert reading.parts.goals["job_state"] == Same()
    assert reading.parts.keep == ()
    lost = english.read("row 3, the cost must not rise by more than 100 dollars", SERVING)
    assert lost.parts.goals == {}
    assert any("100 dollars" in words for words in lost.unknown)
