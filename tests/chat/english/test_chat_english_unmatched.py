"""Conditions that cannot be placed are told; what is understood is not said to be unknown."""

import pytest
from tests.chat.chat_case import Talk
from tests.chat.corpus_case import tables

from compass.chat import english
from compass.chat.draft import Slot
from compass.chat.english.marked_labels import masked
from compass.domain.expression import Comparison, Literal, Name
from compass.domain.goal import minimize
from compass.domain.query import Kind
from compass.domain.space import Category, Number, Role, Space
from compass.language import parse_rule

KERNELS = tables()["kernels"]
BEST = "recommend threads to minimize runtime_ms"
SIGNS = Space(
    parameters=(
        Category(
            name="kernel",
            values=("<b>x</b>", "<i>x</i>", 'it\'s "q"', "a/b", "++", "triad"),
            role=Role.CONTEXT,
        ),
        Number(name="Ünits", low=1, high=8, step=1),
        Number(name="threads", low=1, high=8, step=1),
        Number(name="power {W}", low=1, high=400, unit="W", role=Role.OUTCOME),
        Number(name="runtime_ms", low=1, high=100, unit="ms", role=Role.OUTCOME),
    )
)


@pytest.mark.parametrize(
    ("condition", "unknown"),
    [
        ("where kernel is foobar", "foobar"),
        ("where kernel is not foobar", "foobar"),
        ("where kernel == foobar", "foobar"),
        ('where kernel = "foo bar"', "foo"),
        ("where kernel is <b>x</b>", "b>x</b"),
        ("where kernel is foobar or triad", "foobar"),
        ("where kernel is triad and colour is red", "colour is red"),
        ("where colour is red", "colour is red"),
        ("where kernel starts with t", "kernel starts"),
        ("where threads is foobar", "foobar"),
        ("when colour is red", "colour is red"),
        ("such that colour is red", "colour is red"),
        ("given colour = red", "colour = red"),
        ("where colour < 3", "colour < 3"),
        ("with temperature below 80", "temperature below 80"),
        ("if the kernel is foobar", "foobar"),
        (", kernel: foobar", "foobar"),
        (", foobar kernel", "foobar kernel"),
        ("for kernel gemm", "gemm"),
        ("for the gemm kernel", "gemm kernel"),
        ("for gemm", "gemm"),
        ("on frontier", "frontier"),
        ("with shared memory", "shared memory"),
        ("with hyperthreading", "hyperthreading"),
        ("using MPI", "MPI"),
        ("without hyperthreading", "hyperthreading"),
        ("and bananas", "bananas"),
    ],
)
def test_a_condition_that_cannot_be_placed_is_asked_about(condition: str, unknown: str) -> None:
    reading = english.read(f"{BEST} {condition}", KERNELS)
    assert any(unknown in words for words in reading.unknown)
    assert reading.parts.ask == ("threads",)
    assert reading.parts.goals == {"runtime_ms": minimize}
    talk = Talk(KERNELS)
    reply = talk.say(f"{BEST} {condition}")
    assert "I did not understand" in reply.text
    assert unknown in reply.text
    assert reply.query is None
    assert reply.expecting is Slot.WORDS
    assert reply.choices[-1] == "leave it out"
    reply = talk.say("leave it out")
    assert reply.query is not None
    assert unknown not in str(reply.query)


def test_words_that_stay_unclear_are_left_out_and_that_is_said() -> None:
    talk = Talk(KERNELS)
    talk.say(f"{BEST} with hyperthreading")
    reply = talk.say("with multithreadification")
    assert "I go on without" in reply.text
    assert reply.query is not None


def test_a_condition_at_the_start_is_told_too() -> None:
    reading = english.read(f"where colour is red {BEST}", KERNELS)
    assert any("colour is red" in words for words in reading.unknown)
    assert reading.parts.ask == ("threads",)


def test_the_values_of_the_column_are_offered() -> None:
    talk = Talk(KERNELS)
    reply = talk.say(f"{BEST} where kernel is foobar")
    assert "No value of kernel named 'foobar'. There are: matmul, spmv, stencil, triad." in (
        reply.text
    )
    reply = Talk(KERNELS).say(f"{BEST} where kernel is my_stencil_v2")
    assert "Did you mean stencil?" in reply.text
    reply = Talk(KERNELS).say(f"{BEST} where threads is foobar")
    assert "threads is a number" in reply.text.casefold()


def test_a_knob_with_an_unknown_value_is_not_asked_for_instead() -> None:
    reading = english.read(f"{BEST} where schedule is foobar", KERNELS)
    assert reading.parts.ask == ("threads",)
    assert reading.misfits == (("schedule", "foobar"),)
    for tried in ("set the schedule to foobar", "use schedule foobar", "use the foobar schedule"):
        reading = english.read(f"what if I {tried}?", KERNELS)
        assert reading.misfits == (("schedule", "foobar"),)
        assert reading.parts.change == {}


def test_a_bound_on_something_unknown_does_not_bound_the_last_column() -> None:
    reading = english.read("threads under 8 and colour < 3", KERNELS)
    assert reading.parts.where == ("threads < 8",)
    assert reading.unknown == ("colour < 3",)


def test_a_condition_alone_is_told_and_the_question_stays() -> None:
    talk = Talk(KERNELS)
    reply = talk.say("where kernel is gemm")
    assert "I did not understand 'kernel is gemm'." in reply.text
    assert "There are: matmul" in reply.text
    talk.expects(Slot.KIND)


def test_a_correction_that_cannot_be_placed_is_told() -> None:
    talk = Talk(KERNELS)
    query = talk.say(BEST).query
    reply = talk.say("no, kernel is foobar")
    assert "I did not understand 'kernel is foobar'." in reply.text
    assert reply.query == query


@pytest.mark.parametrize("text", ["what about bananas?", "how many bananas should I eat?"])
def test_a_question_about_something_else_is_not_taken_without_a_word(text: str) -> None:
    assert english.read(text, KERNELS).unknown[0] == "bananas"
    assert "I did not understand 'bananas'" in Talk(KERNELS).say(text).text


@pytest.mark.parametrize(
    "text",
    [
        "hi there, could you please recommend threads and schedule for the fastest triad run on my "
        "laptop? thanks a lot",
        "I am writing my master thesis and need the best threads for matmul",
        "for my paper, recommend threads and tile so that gflops is as high as possible",
        "find the threads with the lowest runtime, if possible",
        "with all due respect, please give me the fastest threads",
        "tell me where the sweet spot for threads is, runtime minimal",
        "where should I set threads to be fastest?",
        "recommend threads where runtime is minimal",
        "recommend threads where kernel is triad or matmul and chunk is 4",
        "recommend threads where the kernel is not triad, minimizing runtime",
        "Which flags should I use when the kernel is triad?",
        "given that kernel is triad, which threads are fastest?",
        "only static and guided schedules please",
        "Recommend a configuration for my simulation.",
        "what is the best schedule?",
        "what about 2 threads?",
        "how about the static schedule?",
    ],
)
def test_nothing_is_unknown_in_what_is_understood(text: str) -> None:
    reading = english.read(text, KERNELS)
    assert (reading.unknown, reading.misfits) == ((), ())


def test_the_parameter_that_is_to_be_chosen_is_asked_for() -> None:
    for doing in ("choosing", "picking", "selecting", "tuning"):
        query = Talk(KERNELS).say(f"minimize runtime_ms by {doing} threads").query
        assert query is not None
        assert (query.kind, query.ask) == (Kind.RECOMMEND, ("threads",))
        assert query.goals == {"runtime_ms": minimize}


@pytest.mark.parametrize("label", ["<b>x</b>", "<i>x</i>", 'it\'s "q"', "a/b", "++"])
@pytest.mark.parametrize("form", ["where kernel is {}", 'where kernel = "{}"', "for kernel {}"])
def test_a_label_with_signs_is_known_as_it_is_written(label: str, form: str) -> None:
    talk = Talk(SIGNS)
    reply = talk.say(f"{BEST} {form.format(label)}")
    assert "did not understand" not in reply.text
    assert reply.query is not None
    (rule,) = reply.query.where
    tree = parse_rule(rule.text)
    assert tree == Comparison("==", Name("kernel"), Literal(label))


def test_a_label_is_masked_as_a_whole_only() -> None:
    assert masked("x is A/B", ["a/b"]) == ("x is \ue000", {"\ue000": "a/b"})
    assert masked("ta/b", ["a/b"]) == ("ta/b", {})
    assert masked("a/b \ue000", ["a/b"]) == ("a/b \ue000", {})


def test_braces_in_the_name_of_a_column_are_plain_words() -> None:
    text = "recommend Ünits to minimize power {W}"
    draft = english.read(text, SIGNS).parts
    assert (draft.ask, draft.goals) == (("Ünits",), {"power {W}": minimize})
    reply = Talk(SIGNS).say(text)
    assert reply.query is not None
