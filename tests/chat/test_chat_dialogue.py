"""The dialogue: what it asks, what it shows, and what it does with corrections."""

import pytest
from tests.chat.chat_case import (
    FIGURE,
    Talk,
    after_an_answer,
    link,
    number,
    quick_answer,
    quick_engine,
    says,
    text_of,
)

from compass.chat.dialogue import TURNS, edited, failed, respond, show_proposals, to_query
from compass.chat.draft import (
    CHARACTERS,
    Act,
    Conversation,
    Draft,
    How,
    NextRuns,
    Reading,
    Slot,
    Turn,
)
from compass.domain.errors import BadInput, ConflictingRules, QueryProblem, QuerySyntax
from compass.domain.goal import Change, Observe, maximize, minimize
from compass.domain.query import Kind, Row, times
from compass.domain.space import Role, Space
from compass.language import parse_query

RUNTIME = {"runtime": minimize}
WHOLE = says(kind=Kind.RECOMMEND, ask=("nodes",), goals=RUNTIME, where=("nodes < 16",))


# What is asked


def test_a_message_that_tells_everything_goes_straight_to_confirmation() -> None:
    talk = Talk()
    reply = talk.say("recommend nodes to minimize runtime with nodes < 16", WHOLE)
    talk.expects(Slot.CONFIRM)
    assert reply.text.startswith("✓ Query complete. Can you please confirm the following query:\n")
    assert parse_query(reply.text.split("\n", 1)[1]) == reply.query
    assert reply.run is None
    run = talk.yes()
    assert run.run == reply.query
    talk.expects(None)


def test_parts_are_asked_for_in_order_and_constraints_once() -> None:
    talk = Talk()
    talk.say("hm", says(kind=Kind.RECONFIGURE))
    talk.expects(Slot.GOAL)
    talk.say("10% less runtime", says(goals={"runtime": Change(direction="reduce", by=0.1)}))
    talk.expects(Slot.PARAMETERS)
    talk.say("nodes", says(ask=("nodes",)))
    talk.expects(Slot.BASELINE)
    talk.say("row 3", says(baseline=Row(row=3)))
    talk.expects(Slot.CONSTRAINTS)
    talk.say("no", Reading(act=Act.NO))
    talk.expects(Slot.CONFIRM)
    assert text_of(talk.reply) == (
        "Reconfigure X = {nodes: ?} to achieve Y = {runtime: reduce by 10%} from row 3"
    )
    assert parse_query(talk.reply.text.split("\n", 1)[1]) == talk.reply.query


def test_a_what_if_needs_only_its_change() -> None:
    talk = Talk()
    talk.say("what if", says(kind=Kind.WHAT_IF))
    talk.expects(Slot.CHANGE)
    talk.say("double the nodes", says(change={"nodes": times(2)}))
    talk.expects(Slot.CONSTRAINTS)
    talk.say("that is all", Reading(act=Act.NOTHING))
    assert text_of(talk.reply) == (
        "What if we change X = {nodes: old -> 2*old}, how would that affect Y = {runtime, power}"
    )
    assert talk.reply.text.endswith("?")


def test_the_kind_follows_from_what_is_said() -> None:
    assert to_query(Draft(ask=("nodes",), goals=RUNTIME), FIGURE).kind is Kind.RECOMMEND
    assert to_query(Draft(change={"nodes": times(2)}), FIGURE).kind is Kind.WHAT_IF
    given = Draft(ask=("nodes",), goals=RUNTIME, baseline=Row(row=1))
    assert to_query(given, FIGURE).kind is Kind.RECONFIGURE
    talk = Talk()
    talk.say("hello", says(unknown=("hello",)))
    talk.expects(Slot.KIND)


def test_a_recommendation_relative_to_a_run_asks_for_that_run() -> None:
    talk = Talk()
    goal = {"runtime": Change(direction="reduce", by=0.1)}
    talk.say("nodes for 10% less runtime", says(kind=Kind.RECOMMEND, ask=("nodes",), goals=goal))
    talk.expects(Slot.BASELINE)
    talk.say("row 7", says(baseline=Row(row=7)))
    talk.no()
    assert talk.reply.query is not None
    assert talk.reply.query.kind is Kind.RECONFIGURE


def test_an_outcome_without_a_direction_is_asked_about() -> None:
    talk = Talk()
    talk.say("recommend nodes for power", says(ask=("nodes",), outcome_without_goal=("power",)))
    talk.expects(Slot.GOAL)
    assert "minimized or maximized" in talk.reply.text
    assert talk.reply.choices == ("minimize power", "maximize power")
    talk.say("maximize", says(unknown=("maximize",), direction="maximize"))
    talk.no()
    assert talk.reply.query is not None
    assert talk.reply.query.goals == {"power": maximize}


def test_an_outcome_named_in_a_what_if_is_observed() -> None:
    talk = Talk()
    change = {"nodes": times(2)}
    talk.say(
        "power at 2x nodes", says(kind=Kind.WHAT_IF, change=change, outcome_without_goal=("power",))
    )
    assert talk.reply.query is not None
    assert talk.reply.query.goals == {"power": Observe()}


def test_everything_asks_for_all_knobs_that_are_not_kept() -> None:
    draft = Draft(kind=Kind.RECOMMEND, everything=True, keep=("nodes",), goals=RUNTIME)
    query = to_query(draft, FIGURE)
    assert query.ask == ("gpus_per_node", "cpu_cores", "num_threads", "thread_affinity")
    nothing = Draft(kind=Kind.RECOMMEND, everything=True, goals=RUNTIME, keep=FIGURE.names)
    with pytest.raises(QueryProblem, match="no parameter left"):
        to_query(nothing, FIGURE)


def test_a_query_in_the_query_language_is_taken_as_it_is() -> None:
    talk = Talk()
    text = (
        "Recommend a configuration X = {nodes: ?} to achieve Y = {runtime: minimize} "
        "where C = {power < 300} top 5 seed 9 level 80% chance 95% beyond"
    )
    talk.say(text)
    assert text_of(talk.reply) == text
    talk.say("Recommend X = {nodes: } to achieve Y = {runtime: minimize}")
    assert "did not expect" in talk.reply.text.lower()
    assert "^" in talk.reply.text
    assert text_of(talk.reply) == text  # and the query before is still there


# Words and columns


def test_words_that_are_no_exact_names_are_always_confirmed() -> None:
    talk = Talk()
    links = (link("time", "runtime"), link("machines", "nodes", how=How.FUZZY))
    talk.say("least time with some machines", says(ask=("nodes",), goals=RUNTIME, links=links))
    talk.expects(Slot.COLUMNS)
    assert talk.reply.text == (
        "Your dataset has the following as column names: runtime and nodes. "
        "Do you mean these two columns?"
    )
    assert talk.reply.links == links
    talk.yes()
    talk.expects(Slot.CONFIRM)
    again = says(where=("nodes < 8",), links=links[1:])
    talk.say("under 8 machines", again)
    talk.expects(Slot.CONFIRM)  # what was confirmed is not asked again


def test_a_name_that_nobody_said_is_confirmed_even_if_the_reader_claims_no_link() -> None:
    talk = Talk()
    talk.say("use few machines", says(ask=("nodes",), goals=RUNTIME))
    talk.expects(Slot.COLUMNS)
    assert "runtime and nodes" in talk.reply.text or "nodes and runtime" in talk.reply.text


def test_no_lists_the_columns_and_another_is_taken() -> None:
    talk = Talk()
    talk.say("fast on few machines", says(ask=("nodes",), links=(link("machines", "nodes"),)))
    talk.say("minimize runtime", says(goals=RUNTIME))
    talk.expects(Slot.COLUMNS)
    talk.no()
    talk.expects(Slot.COLUMNS)
    assert "Which column do you mean by 'machines'" in talk.reply.text
    assert "nodes" not in talk.reply.choices
    assert "gpus_per_node" in talk.reply.choices
    talk.say("gpus_per_node", says(ask=("gpus_per_node",)))
    talk.no()
    assert talk.reply.query is not None
    assert talk.reply.query.ask == ("gpus_per_node",)
    talk.say("undo", Reading(act=Act.UNDO))
    talk.expects(Slot.COLUMNS)  # the column that was refused has not become certain


def test_words_that_can_mean_several_columns_are_asked_about() -> None:
    space = Space(
        parameters=(
            number("nodes"),
            number("cpu_power", Role.OUTCOME),
            number("mem_power", Role.OUTCOME),
        )
    )
    for reply, place in (("mem_power", None), ("the second one", 1)):
        talk = Talk(space)
        both = (link("power", "cpu_power", "mem_power", how=How.EXACT),)
        talk.say("least power", says(ask=("nodes",), goals={"cpu_power": minimize}, links=both))
        # nodes was not in the message, so it is asked about first
        talk.yes()
        assert "Which column do you mean by 'power': cpu_power or mem_power?" in talk.reply.text
        assert talk.reply.choices == ("cpu_power", "mem_power", "both")
        assert "name one" in talk.yes().text
        talk.expects(Slot.COLUMNS)
        talk.say(reply, says(unknown=(reply,), ordinal=place))
        assert talk.reply.query is not None
        assert talk.reply.query.goals == {"mem_power": minimize}


def test_i_meant_another_column() -> None:
    talk = Talk()
    talk.say("recommend nodes to minimize runtime", says(ask=("nodes",), goals=RUNTIME))
    talk.say("under 8 nodes", says(where=("nodes < 8",)))
    talk.say("also under 4 cpu_cores", says(where=("cpu_cores < 4",)))
    meant = says(ask=("gpus_per_node",), correction=True)
    talk.say("I meant gpus per node", meant)
    assert text_of(talk.reply).endswith("where C = {nodes < 8, gpus_per_node < 4}")
    assert talk.reply.query is not None
    assert talk.reply.query.ask == ("nodes",)


# Corrections


def test_corrections_replace_rules_and_goals() -> None:
    talk = Talk()
    talk.say("recommend nodes to minimize runtime, nodes under 16", WHOLE)
    under = says(Act.NO, where=("nodes < 8",), correction=True)
    talk.say("no, under 8 nodes", under)
    assert text_of(talk.reply).endswith("where C = {nodes < 8}")
    talk.say("at least 2 nodes", says(where=("nodes >= 2",)))
    assert text_of(talk.reply).endswith("where C = {nodes < 8, nodes >= 2}")
    talk.say("at most 6 nodes", says(where=("nodes <= 6",)))
    assert text_of(talk.reply).endswith("where C = {nodes >= 2, nodes <= 6}")
    talk.say("actually maximize power", says(goals={"power": maximize}, correction=True))
    assert talk.reply.query is not None
    assert talk.reply.query.goals == {"power": maximize}
    talk.say("and minimize runtime", says(goals=RUNTIME))
    assert talk.reply.query.goals == {"power": maximize, **RUNTIME} or set(
        talk.reply.query.goals
    ) == {"power", "runtime"}
    talk.say("forget the nodes limit", says(dropped=("power",)))
    assert talk.reply.query.goals == RUNTIME


def test_yes_and_no_may_tell_more() -> None:
    talk = Talk()
    links = (link("machines", "nodes"),)
    talk.say("minimize runtime, some machines", says(ask=("nodes",), goals=RUNTIME, links=links))
    talk.expects(Slot.COLUMNS)
    talk.say("yes, and under 8 nodes", says(Act.YES, where=("nodes < 8",)))
    assert text_of(talk.reply).endswith("where C = {nodes < 8}")
    talk.say("no, minimize power", says(Act.NO, goals={"power": minimize}))
    assert talk.reply.query is not None
    assert talk.reply.query.goals == {"power": minimize}
    assert talk.reply.run is None


def test_undo_steps_back_and_start_over_can_be_undone() -> None:
    talk = Talk()
    talk.say("recommend nodes to minimize runtime, nodes under 16", WHOLE)
    talk.say("under 8 nodes", says(where=("nodes < 8",)))
    talk.say("under 4 nodes", says(where=("nodes < 4",)))
    undo = Reading(act=Act.UNDO)
    assert text_of(talk.say("undo", undo)).endswith("{nodes < 8}")
    assert text_of(talk.say("undo", undo)).endswith("{nodes < 16}")
    talk.say("start over", Reading(act=Act.RESTART))
    talk.expects(Slot.KIND)
    assert talk.conversation.draft == Draft()
    assert text_of(talk.say("undo", undo)).endswith("{nodes < 16}")
    talk.say("undo", undo)
    assert "nothing to undo" in talk.say("undo", undo).text
    talk.expects(Slot.KIND)


def test_no_to_the_query_asks_what_should_be_different_and_yes_then_shows_it_again() -> None:
    talk = Talk()
    talk.say("recommend nodes to minimize runtime, nodes under 16", WHOLE)
    assert "What should be different?" in talk.no().text
    assert not talk.reply.trouble
    assert talk.yes().run is None
    assert talk.reply.query is not None
    assert talk.yes().run == talk.reply.query


def test_what_is_not_understood_is_said_and_the_question_stays() -> None:
    talk = Talk()
    for slot in (Slot.KIND, Slot.GOAL, Slot.PARAMETERS, Slot.CONSTRAINTS, Slot.CONFIRM):
        talk.expects(slot)
        for _ in range(2):
            reply = talk.say("flurble", says())
            assert "did not understand 'flurble'" in reply.text
            talk.expects(slot)
            assert reply.choices
        parts = {
            Slot.KIND: says(kind=Kind.RECOMMEND),
            Slot.GOAL: says(goals=RUNTIME),
            Slot.PARAMETERS: says(ask=("nodes",)),
            Slot.CONSTRAINTS: Reading(act=Act.NOTHING),
        }
        if slot in parts:
            talk.say("runtime, nodes", parts[slot])


def test_who_agrees_to_words_that_were_not_understood_is_told_which_they_are() -> None:
    talk = Talk()
    both = says(kind=Kind.RECOMMEND, ask=("nodes",), goals=RUNTIME, unknown=("flurble",))
    asked = talk.say("recommend nodes to minimize runtime and flurble", both).text
    talk.expects(Slot.WORDS)
    assert talk.yes().text == asked
    talk.expects(Slot.WORDS)


def test_help_and_why_keep_the_question_open() -> None:
    talk = Talk()
    talk.say("recommend", says(kind=Kind.RECOMMEND))
    why = talk.say("why?", Reading(act=Act.WHY))
    assert "which outcome decides" in why.text
    assert "What is your objective?" in why.text
    assert "start over" in talk.say("help", Reading(act=Act.HELP)).text
    talk.expects(Slot.GOAL)


# Problems


def test_problems_are_told_and_nothing_is_lost() -> None:
    talk = Talk()
    talk.say("recommend nodes to minimize runtime, nodes under 16", WHOLE)
    before = talk.conversation.draft
    for reading, part in (
        (says(where=("queue == 'nightly'",)), "no value of queue named 'nightly'"),
        (says(where=("nodes > 32",)), "nodes < 16 and nodes > 32"),
        (says(goals={"nodes": minimize}), "both a parameter to set (X) and an outcome"),
        (says(where=("nodes < 3 W",)), "nodes has no known unit"),
    ):
        reply = talk.say("queue nodes", reading)
        assert part.casefold() in reply.text.casefold()
        assert talk.conversation.draft == before
        assert reply.query is not None


def test_the_good_parts_of_a_message_are_kept() -> None:
    talk = Talk()
    wrong = says(kind=Kind.RECOMMEND, goals=RUNTIME, where=("queue == 'nightly'", "nodes < 4"))
    talk.say("minimize runtime, under 4 nodes, queue nightly", wrong)
    assert "nightly" in talk.reply.text
    assert talk.conversation.draft.where == ("nodes < 4",)
    talk.expects(Slot.PARAMETERS)


def test_what_the_engine_refuses_leads_back_to_the_query() -> None:
    talk = Talk()
    talk.say("recommend nodes to minimize runtime, nodes under 16", WHOLE)
    query = talk.yes().run
    error = ConflictingRules("nothing is left", hint="relax nodes < 16")
    talk.conversation, talk.reply = failed(talk.conversation, error, talk.space)
    talk.expects(Slot.CONFIRM)
    assert talk.reply.trouble == "Nothing is left. Relax nodes < 16."
    assert talk.reply.trouble in talk.reply.text
    assert talk.reply.query == query
    assert talk.yes().run == query


def test_limits_are_told() -> None:
    talk = Talk()
    with pytest.raises(BadInput, match="2,001 characters"):
        talk.say("x" * (CHARACTERS + 1))
    turns = (Turn(who="person", text="x"),) * TURNS
    with pytest.raises(BadInput, match="500 messages"):
        respond(talk.conversation.model_copy(update={"turns": turns}), "yes", FIGURE)


def test_half_characters_can_be_kept() -> None:
    talk = Talk()
    talk.say("minimize \ud800", says())
    assert Conversation.model_validate_json(talk.conversation.model_dump_json())


# Editing the draft in a form


def test_a_draft_from_a_form_is_asked_about_or_shown_to_be_confirmed() -> None:
    talk, reply = edited(Conversation(), Draft(kind=Kind.RECOMMEND, goals=RUNTIME), FIGURE)
    assert reply.expecting is Slot.PARAMETERS
    whole = talk.draft.model_copy(update={"ask": ("nodes",)})
    talk, reply = edited(talk, whole, FIGURE)
    # No columns to confirm and no "any other constraints?": both were in sight.
    assert reply.expecting is Slot.CONFIRM
    assert reply.query == to_query(whole, FIGURE)
    talk, reply = respond(talk, "yes", FIGURE)
    assert reply.run == to_query(whole, FIGURE)


def test_edits_in_a_row_are_one_message_and_can_be_undone_one_by_one() -> None:
    talk, _ = edited(Conversation(), Draft(kind=Kind.RECOMMEND), FIGURE)
    first = talk.draft
    talk, _ = edited(talk, Draft(kind=Kind.RECOMMEND, goals=RUNTIME), FIGURE)
    assert [turn.who for turn in talk.turns] == ["person", "compass"]
    talk, _ = respond(talk, "undo", FIGURE)
    assert talk.draft == first
    talk, _ = edited(talk, Draft(kind=Kind.RECOMMEND, goals=RUNTIME), FIGURE)
    assert [turn.who for turn in talk.turns].count("person") == 3


def test_a_form_and_words_change_the_same_draft() -> None:
    talk, _ = edited(Conversation(), Draft(kind=Kind.RECOMMEND, goals=RUNTIME), FIGURE)
    _, reply = respond(talk, "nodes", FIGURE)
    assert reply.query is not None
    assert reply.query.ask == ("nodes",)
    assert set(reply.query.goals) == {"runtime"}


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        (("nodes < 4", "nodes > 8"), "nodes < 4"),
        (("nothing_like_it > 3",), "nothing_like_it"),
    ],
)
def test_what_is_wrong_with_an_edited_draft_is_told_and_nothing_is_lost(
    where: tuple[str, ...], shown: str
) -> None:
    draft = Draft(kind=Kind.RECOMMEND, ask=("nodes",), goals=RUNTIME, where=where)
    talk, reply = edited(Conversation(), draft, FIGURE)
    assert reply.query is None
    assert shown in reply.trouble
    assert reply.trouble in reply.text
    assert talk.draft == draft


def test_a_rule_that_cannot_be_read_is_refused_with_its_place() -> None:
    draft = Draft(kind=Kind.RECOMMEND, ask=("nodes",), goals=RUNTIME, where=("nodes <",))
    with pytest.raises(QuerySyntax) as refused:
        edited(Conversation(), draft, FIGURE)
    assert refused.value.text == "nodes <"


# How sure


def test_a_chance_and_beyond_stand_in_the_query_that_is_confirmed() -> None:
    talk = Talk()
    talk.say("recommend nodes to keep runtime under 100 s with 95 % certainty where nodes < 16")
    plain = (
        "Recommend a configuration X = {nodes: ?} to achieve Y = {runtime: <= 100} "
        "where C = {nodes < 16} chance "
    )
    assert text_of(talk.reply) == f"{plain}95%"
    assert parse_query(talk.reply.text.split("\n", 1)[1]) == talk.reply.query
    talk.say("beyond past runs is fine")
    assert text_of(talk.reply) == f"{plain}95% beyond"
    talk.say("I want to be 90% sure")
    assert text_of(talk.reply) == f"{plain}90% beyond"
    talk.say("no, do not go beyond past runs")
    assert text_of(talk.reply) == f"{plain}90%"
    talk.say("undo")
    assert text_of(talk.reply) == f"{plain}90% beyond"
    run = talk.say("yes").run
    assert run is not None
    assert (run.chance, run.beyond) == (0.9, True)


def test_a_chance_after_an_answer_asks_the_same_question_again() -> None:
    talk = after_an_answer()
    reply = talk.say("with 95% certainty")
    assert text_of(reply) == f"{quick_answer().text} chance 95%"


def test_a_chance_of_one_is_refused_and_the_question_stays() -> None:
    talk = Talk()
    talk.say("recommend nodes to minimize runtime where nodes < 16")
    before = text_of(talk.reply)
    talk.say("I want to be 100% sure")
    assert "chance of 0 or 100 %" in talk.reply.text
    assert text_of(talk.reply) == before


# What to run next


def test_runs_are_proposed_for_the_question_that_was_answered() -> None:
    talk = after_an_answer()
    reply = talk.say("which 2 runs should I make next?")
    assert reply.propose == NextRuns(query=quick_answer().query, count=2)
    assert reply.run is None
    engine = quick_engine()
    found = engine.run_next(2, reply.propose.query)
    conversation, shown = show_proposals(talk.conversation, found, talk.space)
    assert 1 <= len(found) <= 2  # no more than help
    for proposal in found:
        assert set(proposal.config) == set(engine.space.having(Role.KNOB, Role.CONTEXT))
        written = ", ".join(f"{name} = {value}" for name, value in proposal.config.items())
        assert f". {written}: " in shown.text
        assert proposal.why in shown.text
    assert conversation.last == quick_answer().query
    assert conversation.expecting is None


def test_runs_are_proposed_without_a_question_and_what_is_open_is_asked_again() -> None:
    talk = Talk(quick_engine().space)
    reply = talk.say("what should I run next?")
    assert reply.propose == NextRuns()
    found = quick_engine().run_next(reply.propose.count)
    conversation, shown = show_proposals(talk.conversation, found, talk.space)
    assert shown.text.startswith("What to run next:\n1. ")
    assert "\n5. " in shown.text
    assert conversation.expecting is Slot.KIND
    assert "What would you like to know?" in shown.text


def test_runs_are_proposed_for_the_question_that_is_to_be_confirmed() -> None:
    talk = Talk()
    talk.say("recommend nodes to minimize runtime where nodes < 16")
    query = talk.reply.query
    reply = talk.say("what to measure next")
    assert reply.propose == NextRuns(query=query)
    talk.conversation, shown = show_proposals(talk.conversation, (), talk.space)
    assert "No run that the rules allow is expected to help." in shown.text
    assert shown.query == query
    assert talk.say("yes").run == query
