"""The conversation that the paper prints, word for word."""

from tests.chat.chat_case import FIGURE, Talk

from compass.chat.draft import Slot
from compass.domain.goal import minimize
from compass.domain.query import Kind
from compass.language import parse_query

# Figure 5, both sides. The figure sets X with an index (user) and writes "runtime : minimize";
# the query language prints X and "runtime: minimize", and reads both.
SAID = (
    (
        "Recommend a configuration for my simulation.",
        "What is your objective?\n"
        "(e.g., minimize runtime, minimize power, or keep power within a range)",
    ),
    (
        "Minimize runtime.",
        "Which parameters should I recommend values for?\n"
        "(e.g., number of nodes, GPUs per node, CPU cores)",
    ),
    (
        "Number of threads and thread binding algorithm.",
        "Your dataset has the following as column names: num_threads and thread_affinity. "
        "Do you mean these two parameters?",
    ),
    (
        "yes",
        "Cool. Do you have any other constraints? "
        "(e.g., maximum nodes, power limits, queue restrictions)",
    ),
    (
        "The system has less than 16 nodes. So keep it under that value.",
        "✓ Query complete. Can you please confirm the following query:\n"
        "Recommend a configuration X = {num_threads: ?, thread_affinity: ?} "
        "to achieve Y = {runtime: minimize} where C = {nodes < 16}.",
    ),
)


def test_the_dialogue_of_figure_5_word_for_word() -> None:
    talk = Talk(FIGURE)
    for person, compass in SAID:
        assert talk.say(person).text == compass
        assert talk.reply.run is None
    talk.expects(Slot.CONFIRM)
    query = talk.reply.query
    assert query is not None
    assert query.kind is Kind.RECOMMEND
    assert query.ask == ("num_threads", "thread_affinity")
    assert query.goals == {"runtime": minimize}
    assert [rule.text for rule in query.where] == ["nodes < 16"]
    assert talk.say("yes").run == query


def test_the_text_of_the_figure_and_the_text_that_is_shown_are_the_same_query() -> None:
    shown = SAID[-1][1].split("\n")[1]
    printed = (
        "Recommend a configuration X_user = {num_threads: ?, thread_affinity: ?} "
        "to achieve Y = {runtime : minimize} where C = {nodes < 16}."
    )
    assert parse_query(shown) == parse_query(printed)
