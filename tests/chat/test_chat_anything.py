"""Whatever is said, the dialogue replies, and nothing runs unconfirmed."""

from hypothesis import given
from hypothesis import strategies as st
from tests.chat.chat_case import Talk, link, quick_answer, says

from compass.chat.dialogue import show_answer, show_findings, show_proposals
from compass.chat.draft import Act, How, Inquiry, Reading, Topic
from compass.chat.replies import query_text
from compass.domain.findings import Findings
from compass.domain.goal import Change, Observe, minimize
from compass.domain.query import Given, Kind, Row, SetTo, times
from compass.language import parse_query
from property_examples import examples

RUNTIME = {"runtime": minimize}
WHOLE = says(kind=Kind.RECOMMEND, ask=("nodes",), goals=RUNTIME, where=("nodes < 16",))


PARTS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(Kind),
        "ask": st.lists(st.sampled_from(("nodes", "num_threads", "runtime", "nope")), max_size=2),
        "everything": st.booleans(),
        "keep": st.lists(st.sampled_from(("nodes", "queue")), max_size=1),
        "goals": st.dictionaries(
            st.sampled_from(("runtime", "power", "queue")),
            st.sampled_from((minimize, Observe(), Change(direction="reduce", by=0.2))),
            max_size=2,
        ),
        "change": st.dictionaries(
            st.sampled_from(("nodes", "thread_affinity")),
            st.sampled_from((times(2), SetTo(value="close"), SetTo(value=4))),
            max_size=2,
        ),
        "where": st.lists(
            st.sampled_from(("nodes < 8", "nodes > 9", "queue == debug", "x ==", "power < 3 s")),
            max_size=2,
        ),
        "baseline": st.sampled_from((Row(row=2), Given(config={"nodes": 4}))),
        "count": st.integers(1, 1000),
        "correction": st.booleans(),
        "dropped": st.lists(st.sampled_from(("nodes", "runtime")), max_size=1),
        "outcome_without_goal": st.lists(st.sampled_from(("power", "nope")), max_size=1),
    },
)
LINKS = st.lists(
    st.builds(
        link,
        st.just("words"),
        st.sampled_from(("nodes", "runtime", "num_threads", "queue", "nope")),
        how=st.sampled_from(How),
    ),
    max_size=2,
).map(tuple)
SAID = st.one_of(
    st.sampled_from((Act.YES, Act.NO, Act.MORE, Act.UNDO, Act.WHY, Act.RESTART, Act.NOTHING)).map(
        lambda act: Reading(act=act)
    ),
    st.just(Reading(act=Act.YES)),
    st.just(WHOLE),
    st.builds(
        lambda topic, places, rows: Reading(
            act=Act.INQUIRE, inquiry=Inquiry(topic=topic, places=places, rows=rows)
        ),
        st.sampled_from(Topic),
        st.sampled_from(((), (1, 3), (1, -1), (1, 90))),
        st.booleans(),
    ),
    st.builds(
        lambda act, links, parts: says(act, links, **parts), st.sampled_from(Act), LINKS, PARTS
    ),
)


def check(talk: Talk, text: str, reading: Reading | None) -> None:
    """One more message, and what must hold after every message."""
    before, last = talk.reply, talk.conversation.last
    reply = talk.say(text, reading)
    assert reply.text
    if reply.query is not None:
        assert query_text(reply.query) in reply.text or reply.run is not None
        assert parse_query(query_text(reply.query)) == reply.query
    if reply.run is None:
        return
    assert reply.run == reply.query
    if reply.run == before.query:
        assert query_text(reply.run) in before.text
    else:  # further suggestions of what was confirmed before
        assert last is not None
        assert reply.run.model_copy(update={"count": last.count}) == last
        assert query_text(reply.run) in reply.text


def finish(talk: Talk) -> None:
    """Whatever was confirmed is answered, and runs that were asked for are told."""
    if talk.reply.run is not None:
        done = quick_answer().model_copy(update={"query": talk.reply.run})
        talk.conversation, talk.reply = show_answer(talk.conversation, done)
        talk.answer = done
    elif talk.reply.propose is not None:
        talk.conversation, talk.reply = show_proposals(talk.conversation, (), talk.space)
    elif talk.reply.inquiry is not None:
        found = Findings(text="It is known.")
        talk.conversation, talk.reply = show_findings(talk.conversation, found, talk.space)


@examples(150)
@given(st.lists(st.tuples(st.text(max_size=12), SAID), max_size=12))
def test_nothing_that_is_said_breaks_the_dialogue_or_runs_unconfirmed(
    messages: list[tuple[str, Reading]],
) -> None:
    talk = Talk()
    for text, reading in messages:
        check(talk, text, reading)
        finish(talk)


WORDS = (
    "recommend nodes to minimize runtime",
    "reconfigure row 3 to reduce power by 10%",
    "what if I double the threads?",
    "minimize runtime",
    "number of threads and thread binding",
    "under 8 nodes",
    "no, under 4 nodes",
    "more than 900 nodes",
    "at most 0.2 kW",
    "I meant gpus",
    "only the debug queue",
    "the nightly queue",
    "row 7",
    "power",
    "all of them",
    "give me 10 options",
    "give me more options",
    "why?",
    "undo",
    "start over",
    "help",
    "how sure are you?",
    "compare the first and the third",
    "what was my best run so far?",
    "no",
    "yes",
    "yes",
    "yes",
    "Recommend X = {nodes: ?} to achieve Y = {power: minimize} where C = {nodes < 4}",
    "Recommend X = {nodes: ",
)


@examples(60)
@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=30)), max_size=12))
def test_nothing_that_is_typed_breaks_the_dialogue(messages: list[str]) -> None:
    talk = Talk()
    for text in messages:
        check(talk, text, None)
        finish(talk)
