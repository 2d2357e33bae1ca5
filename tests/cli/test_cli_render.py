"""Answers as a person reads them: numbers, layouts for any width, labels."""

import io

import pytest
from rich.console import Console

from compass.cli import render
from compass.domain.answer import (
    Answer,
    Certificate,
    CertificateStatus,
    Label,
    Measured,
    ModelCard,
    Moved,
    Prediction,
    Price,
    Proposal,
    Provenance,
    Suggestion,
    Trust,
)
from compass.domain.query import Kind, Query


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
    assert render.with_interval(88.0, None, None, "s") == ("88 s", "")


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
    assert "1  64 -> 128    1235 [1000, 1500]  ! caution" in text


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


_UNLIKELY = Prediction(
    name="runtime",
    value=39.0,
    unit="s",
    low=30.0,
    high=50.0,
    level=0.9,
    before=52.0,
    observed=50.0,
    change=-13.0,
    change_percent=-25.0,
    against=50.0,
    wanted="runtime <= 40",
    meets=False,
    chance=0.55,
)
_LIKELY = _UNLIKELY.model_copy(update={"value": 30.0, "meets": True, "chance": 0.92})


def found(outcome: Prediction, label: Label, **fields: object) -> Suggestion:
    return Suggestion.model_validate(
        {
            "config": {"threads": 6, "flags": "O3"},
            "settings": {"threads": 6},
            "edits": (Moved(name="threads", old=8, new=6),),
            "outcomes": (outcome,),
            "distance": 0.3,
            "meets_goals": outcome.meets is not False,
            "trust": Trust(
                label=label,
                published=Label.CAUTION,
                ood=0.14,
                uq=0.97,
                support=0,
                tau=1.0,
                reason=f"{label.value.capitalize()}: so it is.",
            ),
        }
        | fields
    )


_BEST = Measured(
    rows=(12,),
    runs=1,
    config={"threads": 4, "flags": "O3"},
    settings={"threads": 4},
    open={"flags": "O3"},
    outcomes={"runtime": 31.5},
)
_PRICES = (
    Price(chance=0.5, reached=True, distance=0.3, settings={"threads": 6}),
    Price(chance=0.8, reached=True, distance=0.6, settings={"threads": 4, "flags": "O3"}),
    Price(chance=0.95, reached=False),
)
_PROOF = Certificate(
    status=CertificateStatus.OPTIMAL,
    reason="No smaller change meets the goals under this model.",
    goals=("runtime <= 33.2",),
    chance=0.8,
    tolerance=0.01,
    measured=True,
)


def said(width: int = 80, **fields: object) -> str:
    told = Answer.model_validate(
        {
            "query": Query(kind=Kind.RECONFIGURE),
            "text": "Reconfigure ...",
            "context": "Baseline: row 5; everything not named stays as it is.",
            "baseline": {"threads": 8, "flags": "O2"},
            "chance": 0.8,
            "provenance": Provenance(data="x", seed=7, versions={}),
        }
        | fields
    )
    out = io.StringIO()
    render.answer(Console(file=out, width=width), told)
    return out.getvalue()


def flat(**fields: object) -> str:
    return " ".join(said(**fields).split())


def test_ideas_stand_apart_from_suggestions() -> None:
    text = said(
        suggestions=(found(_LIKELY, Label.TRUSTED),),
        ideas=(found(_UNLIKELY, Label.CAUTION), found(_LIKELY, Label.UNSUPPORTED)),
    )
    above, _, below = text.partition("Ideas to measure, not suggested")
    assert "1. Trusted: so it is." in above
    assert "chance 92 %" in above
    assert "i1. Caution: so it is." in below
    assert "chance 55 %: too low" in below
    assert "misses its goal" in below
    assert "unsupported" not in above
    assert max(map(len, text.splitlines())) <= 80


def test_a_goal_stands_with_what_it_is_measured_against_and_its_chance() -> None:
    words = "Goal: runtime <= 40 (50 s measured at the baseline), with a chance of 80 %."
    assert words in flat(suggestions=(found(_LIKELY, Label.TRUSTED),))
    assert words in flat(ideas=(found(_UNLIKELY, Label.CAUTION),), no_answer="nothing is sure")
    assert "Goal" not in flat()


def test_the_label_of_algorithm_1_stands_beside_ours_with_its_scores() -> None:
    text = flat(width=200, suggestions=(found(_LIKELY, Label.TRUSTED),))
    for part in ("trusted", "Algorithm 1: caution", "OOD 0.14, UQ 0.97"):
        assert part in text


def test_the_best_measured_run_is_always_told() -> None:
    words = (
        "Best measured run of this context: row 12: runtime 31.5 s with threads = 4. flags is open "
        "(flags = O3 there): asking for it too gives at least as good a value."
    )
    assert words in flat(suggestions=(found(_LIKELY, Label.TRUSTED),), best_measured=_BEST)
    assert words.replace(" s with", " with") in flat(best_measured=_BEST, no_answer="nothing")


def test_certainty_has_its_price_on_a_line_for_each_chance() -> None:
    lines = [" ".join(line.split()) for line in said(prices=_PRICES).splitlines()]
    place = lines.index("What certainty costs")
    assert lines[place + 1 : place + 4] == [
        "50 % threads 8 -> 6 (distance 0.3)",
        "80 % (asked) threads 8 -> 4, flags O2 -> O3 (distance 0.6)",
        "95 % nothing found",
    ]
    assert "certainty" not in said()


def test_a_certificate_says_what_it_is_about() -> None:
    text = flat(suggestions=(found(_LIKELY, Label.TRUSTED),), certificate=_PROOF)
    assert (
        "optimal: No smaller change meets the goals under this model. (goal runtime <= 33.2 for a "
        "chance of 80 %; tolerance 1 %; measured runs count)" in text
    )
    model = _PROOF.model_copy(update={"goals": (), "chance": None, "measured": False})
    assert "(tolerance 1 %; the model alone counts)" in flat(certificate=model)
    bare = Certificate(status=CertificateStatus.NO_PROOF, reason="No time.")
    assert "no proof: No time. 0.00 s" in flat(certificate=bare)


@pytest.mark.parametrize(
    "fields",
    [
        {"ideas": (found(_UNLIKELY, Label.CAUTION),), "no_answer": "nothing is sure"},
        {"suggestions": (found(_UNLIKELY, Label.CAUTION),), "no_answer": "not met"},
        {"no_answer": "nothing"},
    ],
)
def test_nothing_that_misses_its_goal_is_called_optimal(fields: dict[str, object]) -> None:
    text = flat(certificate=_PROOF, **fields)
    assert "optimal" not in text
    assert "best found" in text


@pytest.mark.parametrize("skilled", [True, False])
def test_the_model_line_has_the_skill(skilled: bool) -> None:
    card = ModelCard(
        target="runtime",
        family="forest",
        log=True,
        rows=9,
        features=("nodes",),
        error=0.12,
        error_name="MAPE",
        skill=0.834 if skilled else 0.01,
        skilled=skilled,
        seconds=0.3,
    )
    line = "runtime: forest (log) on 9 runs, MAPE 12.0% on unseen ones, "
    line += (
        "skill 0.83 |" if skilled else "skill 0.01, does not clearly beat the simplest prediction"
    )
    assert line in flat(models=(card,))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_whole_answer_fits_the_terminal(width: int) -> None:
    text = said(
        width,
        suggestions=(found(_LIKELY, Label.TRUSTED),),
        ideas=(found(_UNLIKELY, Label.CAUTION),),
        best_measured=_BEST,
        prices=_PRICES,
        certificate=_PROOF,
    )
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
