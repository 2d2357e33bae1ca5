"""Questions about what is known already: they are answered, and never change the question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chat.chat_case import Talk, after_an_answer, quick_answer, quick_engine, says

from compass.chat.dialogue import show_findings
from compass.chat.draft import Act, Inquiry, Reading, Slot, Topic
from compass.chat.look_up import look_up
from compass.domain.errors import BadInput, CompassError
from compass.domain.findings import Findings
from compass.domain.goal import Change, Goal, IsClass, Observe, Same, Within, maximize, minimize
from compass.domain.query import Kind
from property_examples import examples


def asks(talk: Talk, direction: str | None = None, **inquiry: object) -> Inquiry:
    """What is to be looked up when somebody asks this."""
    wanted = Inquiry.model_validate(inquiry)
    said = Reading.model_validate({"act": Act.INQUIRE, "inquiry": wanted, "direction": direction})
    reply = talk.say("a question", said)
    assert reply.inquiry is not None
    assert reply.text == "Looking it up."
    assert reply.run is None
    return reply.inquiry


def with_goal(**goals: Goal) -> Talk:
    talk = Talk()
    talk.say("", says(kind=Kind.RECOMMEND, goals=goals))
    return talk


@pytest.mark.parametrize(
    ("goal", "direction"),
    [
        (minimize, "minimize"),
        (maximize, "maximize"),
        (Change(direction="reduce", by=0.1), "minimize"),
        (Change(direction="increase", by=0.1), "maximize"),
        (Within(high=30), "minimize"),
        (Within(low=30), "maximize"),
        (Within(low=10, high=30), None),
        (Same(beyond="less"), "minimize"),
        (Same(beyond="more"), "maximize"),
        (Observe(), None),
    ],
)
def test_the_goal_says_what_is_best(goal: Goal, direction: str | None) -> None:
    found = asks(with_goal(power=goal), topic=Topic.BEST_RUN)
    assert (found.outcome, found.direction) == ("power", direction)


def test_what_a_message_says_itself_counts_more_than_the_goal() -> None:
    talk = with_goal(power=minimize)
    assert asks(talk, "maximize", topic=Topic.BEST_RUN).direction == "maximize"
    other = asks(talk, topic=Topic.BEST_RUN, outcome="runtime")
    assert (other.outcome, other.direction) == ("runtime", None)
    matters = asks(talk, "maximize", topic=Topic.IMPORTANCE)
    assert (matters.outcome, matters.direction) == ("power", None)


def test_labels_have_no_best() -> None:
    talk = Talk(quick_engine().space)
    goals = {"state": IsClass(value="COMPLETED"), "power": minimize}
    talk.say("", says(kind=Kind.RECOMMEND, goals=goals))
    assert asks(talk, topic=Topic.BEST_RUN).outcome == "power"
    assert asks(talk, topic=Topic.IMPORTANCE).outcome == "state"


def test_certainty_is_told_of_the_answer_else_of_the_models() -> None:
    talk = after_an_answer()
    reply = talk.say("how sure are you?")
    first = quick_answer()[0]
    assert reply.inquiry is None
    assert first.trust.reason in reply.text
    # The answer does not predict the power: that is asked of its model.
    assert [one.name for one in first.outcomes] == ["runtime"]
    assert asks(talk, topic=Topic.CERTAINTY, outcome="power").outcome == "power"
    talk.say("start over")
    assert asks(talk, topic=Topic.CERTAINTY) == Inquiry(topic=Topic.CERTAINTY)


def test_there_is_nothing_to_compare_before_an_answer() -> None:
    talk = Talk()
    reply = talk.say("compare the first and the third")
    assert reply.text.startswith("There is no answer yet whose suggestions I could compare.")
    talk.expects(Slot.KIND)
    assert asks(talk, topic=Topic.COMPARE, places=(3, 7), rows=True).places == (3, 7)


def test_what_is_open_is_asked_again_and_can_be_confirmed() -> None:
    talk = Talk()
    query = talk.say("recommend nodes to minimize runtime where nodes < 16").query
    assert query is not None
    draft = talk.conversation.draft
    asks(talk, topic=Topic.ROW, row=3)
    talk.expects(Slot.CONFIRM)
    found = Findings(text="Row 3: it is there.")
    talk.conversation, reply = show_findings(talk.conversation, found, talk.space)
    assert reply.text.startswith("Row 3: it is there.\n")
    assert (reply.query, reply.findings) == (query, found)
    assert talk.conversation.draft == draft
    assert talk.say("yes").run == query


def test_the_question_about_constraints_is_asked_again() -> None:
    talk = Talk()
    talk.say("recommend nodes")
    talk.say("minimize runtime")
    talk.expects(Slot.CONSTRAINTS)
    asks(talk, topic=Topic.ROW, row=3)
    talk.conversation, talk.reply = show_findings(
        talk.conversation, Findings(text="Row 3."), talk.space
    )
    talk.expects(Slot.CONSTRAINTS)


def test_what_could_not_be_looked_up_is_told_with_a_hint() -> None:
    talk = after_an_answer()
    error = BadInput("there is no row 9", hint="rows are numbered 0 to 3")
    asks(talk, topic=Topic.ROW, row=9)
    talk.conversation, reply = show_findings(talk.conversation, error, talk.space)
    assert reply.text == "There is no row 9. Rows are numbered 0 to 3."
    assert reply.trouble == reply.text
    assert reply.findings is None
    assert talk.conversation.expecting is None  # the answered question is not asked again


COLUMNS = st.sampled_from(("runtime", "power", "state", "nodes", "nope"))
INQUIRIES = st.builds(
    Inquiry,
    topic=st.sampled_from(Topic),
    outcome=st.none() | COLUMNS,
    row=st.none() | st.integers(-2, 400),
    places=st.lists(st.integers(-2, 400), max_size=3).map(tuple),
    rows=st.booleans(),
    where=st.lists(
        st.sampled_from(("app == 'wrf'", "nodes < 4", "nodes <", "nope > 1", "runtime > 9999")),
        max_size=2,
    ).map(tuple),
    direction=st.sampled_from((None, "minimize", "maximize")),
)
STARTS = (
    says(),
    says(kind=Kind.RECOMMEND),
    says(kind=Kind.RECOMMEND, goals={"power": minimize}),
    says(kind=Kind.RECOMMEND, ask=("gpus",), goals={"runtime": minimize}),
    says(kind=Kind.RECOMMEND, ask=("gpus",), goals={"runtime": minimize}, where=("app == 'wrf'",)),
)


@examples(80)
@given(
    st.none() | st.sampled_from(STARTS),
    st.booleans(),
    st.lists(INQUIRIES, min_size=1, max_size=4),
)
def test_whatever_is_asked_the_question_stays_as_it_was(
    start: Reading | None, agreed: bool, inquiries: list[Inquiry]
) -> None:
    if start is None:
        talk = after_an_answer()
    else:
        talk = Talk(quick_engine().space)
        talk.say("", start)
        if agreed and talk.conversation.expecting is Slot.COLUMNS:
            talk.yes()
    before = talk.conversation
    for inquiry in inquiries:
        reply = talk.say("a question", Reading(act=Act.INQUIRE, inquiry=inquiry))
        assert (reply.run, reply.propose) == (None, None)
        if reply.inquiry is not None:
            found = looked_up(reply.inquiry)
            assert isinstance(found, Findings) or found.hint
            talk.conversation, reply = show_findings(talk.conversation, found, talk.space)
        assert reply.text
        after = talk.conversation
        for part in ("draft", "expecting", "before", "confirmed", "links", "undirected", "last"):
            assert getattr(after, part) == getattr(before, part), part


def looked_up(inquiry: Inquiry) -> Findings | CompassError:
    try:
        return look_up(quick_engine(), inquiry)
    except CompassError as error:
        return error
