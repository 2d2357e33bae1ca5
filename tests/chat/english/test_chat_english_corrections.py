"""Another number, column or row for what was said before."""

import pytest

from compass.chat import dialogue
from compass.chat.draft import Draft
from compass.domain.goal import Change, Extreme, Within
from compass.domain.query import Row, SetTo
from compass.domain.space import Category, Number, Role, Space

SPACE = Space(
    parameters=(
        Number(name="nodes", role=Role.KNOB, low=1, high=64, step=1),
        Number(name="threads", role=Role.KNOB, low=1, high=16, step=1),
        Category(name="solver", role=Role.KNOB, values=("cg", "gmres", "bicgstab")),
        Category(name="case", role=Role.CONTEXT, values=("wing", "pipe")),
        Number(name="runtime_s", role=Role.OUTCOME, low=10.0, high=9000.0, unit="s"),
        Number(name="energy_kj", role=Role.OUTCOME, low=10.0, high=9000.0, unit="kJ"),
    )
)


def draft_of(*messages: str) -> Draft:
    talk, _ = dialogue.begin(SPACE)
    for message in messages:
        talk, _ = dialogue.respond(talk, message, SPACE)
    return talk.draft


@pytest.mark.parametrize(
    "correction",
    [
        "600 is too much, 400",
        "make that 400",
        "sorry, 400 s",
        "400 s, not 600",
        "no, under 400",
        "hm, 600 is too slow. Let's say 400.",
        "let's go for 400 instead",
        "change the runtime limit to 400 s",
        "runtime below 400 rather than 600",
    ],
)
def test_a_number_takes_the_place_of_the_one_that_was_said(correction: str) -> None:
    draft = draft_of("Recommend nodes with runtime under 600 s on the wing.", correction)
    assert draft.goals == {"runtime_s": Within(high=400.0)}
    assert draft.where == ("case == 'wing'",)


def test_an_old_number_tells_which_is_meant_when_several_could_be() -> None:
    draft = draft_of(
        "Recommend a solver with at most 16 nodes and runtime under 20 s.", "12, not 16"
    )
    assert draft.where == ("nodes <= 12",)
    assert draft.goals == {"runtime_s": Within(high=20.0)}


def test_a_share_takes_another_share_and_an_amount_takes_its_place() -> None:
    first = "from row 4, 20 % less energy"
    assert draft_of(first, "no, 30").goals == {"energy_kj": Change(direction="reduce", by=0.3)}
    amount = Change(direction="reduce", by=100.0, relative=False)
    assert draft_of(first, "I meant by 100 kJ, not by 20 %").goals == {"energy_kj": amount}


def test_another_column_another_row_and_another_value() -> None:
    best = draft_of("Which solver has the lowest runtime?", "not runtime, energy")
    assert best.goals == {"energy_kj": Extreme(direction="minimize")}
    assert draft_of("from row 4, 20 % less energy", "row 5, not row 4").baseline == Row(row=5)
    assert draft_of("What if I use 8 nodes?", "what about 16?").change == {"nodes": SetTo(value=16)}


def test_another_change_instead_takes_the_place_of_the_first() -> None:
    changed = draft_of("What if I use 8 nodes?", "what about 4 threads instead?").change
    assert changed == {"threads": SetTo(value=4)}


@pytest.mark.parametrize(
    ("message", "given"),
    [
        (
            "Our production runs use 8 nodes and cg. Make it 20% faster.",
            {"nodes": 8, "solver": "cg"},
        ),
        ("With 8 nodes and cg my job takes 1000 s. I want 700.", {"nodes": 8, "solver": "cg"}),
        ("Baseline: nodes=8, threads=4. Reduce energy by 15%.", {"nodes": 8, "threads": 4}),
    ],
)
def test_what_a_sentence_describes_is_where_somebody_starts(
    message: str, given: dict[str, object]
) -> None:
    baseline = draft_of(message).baseline
    assert baseline is not None
    assert baseline.model_dump()["config"] == given


def test_a_negation_that_was_not_understood_never_leaves_its_opposite() -> None:
    draft = draft_of("Recommend a solver, we do not frobnicate more than 600 s of runtime.")
    assert draft.goals == {}
