"""How sure a person wants to be, in their own words; what is left over is read as before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.chat import english
from compass.chat.draft import Act
from compass.chat.english.certainty import Certainty, take_certainty
from compass.chat.english.dialogue_acts import act_of
from compass.domain.goal import at_most, less, minimize
from compass.domain.space import Number, Role, Space

NAMES = ("nodes", "runtime", "power")
SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=64, step=1),
        Number(name="runtime", low=1, high=3600, unit="s", role=Role.OUTCOME),
        Number(name="power", low=1, high=900, unit="W", role=Role.OUTCOME),
    )
)


@pytest.mark.parametrize(
    ("text", "chance", "rest"),
    [
        ("minimize runtime with 95 % certainty", 0.95, "minimize runtime"),
        ("I want to be 95% sure", 0.95, ""),
        ("i want to be at least 95 percent sure that runtime is low", 0.95, "runtime is low"),
        ("with a chance of 90 %, nodes < 4", 0.9, ", nodes < 4"),
        ("runtime under 40 s, at least 90 % likely", 0.9, "runtime under 40 s,"),
        ("with ninety-five percent confidence", 0.95, ""),
        ("with a probability of at least 0.9 runtime < 3", 0.9, "runtime < 3"),
        ("we need to be 99.9% certain of meeting it", 0.999, "meeting it"),
        ("it should be 80% likely that runtime stays", 0.8, "runtime stays"),
        ("reduce power by 10% with at least 80% probability", 0.8, "reduce power by 10%"),
        ("90% less power", None, "90% less power"),
        ("runtime of at least 90", None, "runtime of at least 90"),
        ("I am not sure", None, "I am not sure"),
    ],
)
def test_a_chance_in_plain_words(text: str, chance: float | None, rest: str) -> None:
    found, left = take_certainty(text, NAMES)
    assert found == Certainty(chance=chance)
    assert " ".join(left.split()) == rest


@pytest.mark.parametrize(
    ("text", "beyond", "rest"),
    [
        ("it may also go beyond what was run", True, ""),
        ("beyond past runs is fine", True, ""),
        (
            "minimize runtime, and you can go beyond what we have measured",
            True,
            "minimize runtime,",
        ),
        ("search outside of the known configurations too", True, ""),
        ("do not go beyond past runs", False, ""),
        ("never look beyond my past runs", False, ""),
        ("stay within past runs", False, ""),
        ("runtime beyond 5 s", None, "runtime beyond 5 s"),
    ],
)
def test_beyond_past_runs_in_plain_words(text: str, beyond: bool | None, rest: str) -> None:
    found, left = take_certainty(text, NAMES)
    assert found == Certainty(beyond=beyond)
    assert " ".join(left.split()) == rest


@pytest.mark.parametrize("share", ["100%", "0 %", "150 percent"])
def test_a_share_that_no_chance_can_be_is_told(share: str) -> None:
    found, _ = take_certainty(f"with {share} certainty", NAMES)
    assert found == Certainty(impossible=(f"with {share} certainty",))
    reading = english.read(f"minimize runtime with {share} certainty", SPACE)
    assert f"with {share} certainty" in reading.note
    assert reading.parts.options.chance is None
    assert reading.parts.goals == {"runtime": minimize}


def test_a_word_that_names_a_column_is_about_that_column() -> None:
    text = "with a chance of 90 % rain"
    assert take_certainty(text, ("rain_chance",)) == (Certainty(), text)


@given(st.floats(0.1, 99.9).map(lambda value: round(value, 3)))
def test_any_share_is_read_as_written(percent: float) -> None:
    found, left = take_certainty(f"with {percent:f} % certainty", NAMES)
    assert found.chance == pytest.approx(percent / 100, abs=1e-12)
    assert left.strip() == ""


def test_what_else_a_message_says_is_read_beside_it() -> None:
    reading = english.read(
        "from row 3 reduce power by 10 % and keep runtime under 40 s by changing nodes, "
        "I want to be 95% sure, and it may go beyond past runs",
        SPACE,
    )
    assert (reading.parts.options.chance, reading.parts.options.beyond) == (0.95, True)
    assert reading.parts.goals == {"power": less(0.1), "runtime": at_most(40)}
    assert reading.unknown == ()


@pytest.mark.parametrize(
    "text",
    [
        "what should I run next?",
        "which runs should I make next",
        "what to measure next",
        "And which 3 experiments should we do next?",
        "which configuration should I run next, please",
        "what are the next runs?",
        "which runs would help most?",
        "propose the next experiments",
        "run next",
    ],
)
def test_asking_what_to_run_next(text: str) -> None:
    assert act_of(text, None) is Act.RUN_NEXT


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("next", Act.MORE),
        ("show me the next configurations", Act.MORE),
        ("what should i do", Act.HELP),
        ("run it", Act.YES),
        ("which nodes should I use next", None),
        ("what should I run to minimize runtime", None),
    ],
)
def test_asking_something_else(text: str, act: Act | None) -> None:
    assert act_of(text, None) is act
