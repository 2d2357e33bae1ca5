"""What can be said after an answer: why, what if, more, and other questions."""

import pytest
from tests.chat.chat_case import (
    Talk,
    after_an_answer,
    quick_answer,
    quick_engine,
    says,
    text_of,
)

import compass as cp
from compass.chat.dialogue import respond, show_answer
from compass.chat.draft import Act, Conversation, Draft, Reading, Reply, Slot
from compass.chat.replies import query_text
from compass.domain.answer import Answer
from compass.domain.goal import minimize
from compass.domain.query import Given, Kind, SetTo, Times, times
from conftest import cluster_columns

RUNTIME = {"runtime": minimize}


@pytest.fixture
def engine() -> cp.Compass:
    return quick_engine()


@pytest.fixture
def answer() -> Answer:
    return quick_answer()


@pytest.fixture
def answered() -> Talk:
    return after_an_answer()


def test_an_answer_is_told_in_plain_sentences(answered: Talk, answer: Answer) -> None:
    text = answered.reply.text
    first = answer[0]
    assert f"I suggest gpus = {first.settings['gpus']}" in text
    assert "runtime is predicted to be" in text
    assert first.trust.reason in text
    assert text.endswith("You can ask why, what if, or for more options.")
    answered.expects(None)
    # Who shows the answer beside the conversation need not show its words.
    assert [turn.answer for turn in answered.conversation.turns[-2:]] == [False, True]


def test_why_after_an_answer_tells_trust_and_past_runs(answered: Talk, answer: Answer) -> None:
    text = answered.say("why?", Reading(act=Act.WHY)).text
    assert answer[0].trust.reason in text
    assert f"row{'s' if len(answer[0].trust.evidence) > 1 else ''} " in text
    assert str(answer[0].trust.evidence[0].row) in text
    for effect in answer[0].trust.effects:
        assert effect.reason in text
    answered.answer = None
    assert "no answer yet" in answered.say("why?", Reading(act=Act.WHY)).text


def test_a_forced_move_is_told_with_its_rule(engine: cp.Compass) -> None:
    jobs = cluster_columns(300)
    sizes = list(zip(jobs["nodes"], jobs["cores"], strict=True))
    talk = Talk(engine.space)
    result = engine.what_if(sizes.index((8, 256)), {"nodes": 1}, ["runtime"])
    talk.answer = result
    talk.conversation, _ = show_answer(
        talk.conversation.model_copy(update={"expecting": None}), result
    )
    text = talk.say("why?", Reading(act=Act.WHY)).text
    forced = [edit for edit in result[0].edits if edit.forced_by]
    assert forced
    for edit in forced:
        assert f"because of the rule {edit.forced_by}" in text


def test_more_runs_the_same_query_with_more_options(answered: Talk, answer: Answer) -> None:
    reply = answered.say("give me more options", Reading(act=Act.MORE))
    assert reply.run == answer.query.model_copy(update={"count": 6})
    assert reply.query == reply.run
    assert query_text(reply.run) in reply.text
    ten = answered.say("give me 10 options", says(Act.MORE, count=10))
    assert ten.run is None  # the six have not been told yet
    answered.conversation, _ = show_answer(
        answered.conversation, answer.model_copy(update={"query": reply.run})
    )
    more = answered.say("10 more", says(Act.MORE, count=10, further=True))
    assert more.run == answer.query.model_copy(update={"count": 16})
    limited = answered.say("more options under 4 nodes", says(Act.MORE, where=("nodes < 4",)))
    assert limited.run is None
    assert text_of(limited).endswith("nodes < 4} top 16")
    answered.say("undo", Reading(act=Act.UNDO))
    most = answer.query.model_copy(update={"count": 1000})
    draft = answered.conversation.draft.model_copy(update={"count": 1000})
    full = answered.conversation.model_copy(
        update={"last": most, "draft": draft, "expecting": None}
    )
    _, reply = respond(full, "more", answered.space, read=lambda *_, **__: says(Act.MORE))
    assert reply.run is None
    assert "1000" in reply.text


def test_what_if_goes_on_from_the_first_suggestion(
    answered: Talk, answer: Answer, engine: cp.Compass
) -> None:
    reply = answered.say("what if I double the cores?", says(change={"cores": times(2)}))
    query = reply.query
    assert query is not None
    assert reply.run is None
    assert query.kind is Kind.WHAT_IF
    assert query.baseline == Given(config=answer[0].config)
    assert query.change == {"cores": Times(factor=2)}
    assert list(query.goals) == ["runtime"]
    assert "first suggestion" in reply.text
    confirmed = answered.yes().run
    assert confirmed == query
    answered.conversation, told_it = show_answer(answered.conversation, engine.ask(confirmed))
    assert "cores from" in told_it.text
    assert "no other options" in answered.say("more", Reading(act=Act.MORE)).text


def test_a_change_after_an_answer_changes_the_answered_question(answered: Talk) -> None:
    answered.say("minimize power", says(goals={"power": minimize}))
    assert answered.reply.query is not None
    assert answered.reply.query.goals == {"power": minimize}
    undone = answered.say("undo", Reading(act=Act.UNDO))
    assert undone.query is not None
    assert undone.query.goals == RUNTIME


def test_what_if_i_use_is_a_change_and_not_a_start(answered: Talk, answer: Answer) -> None:
    reading = says(kind=Kind.WHAT_IF, baseline=Given(config={"gpus": 1}))
    answered.say("what if I use 1 gpus?", reading)
    assert answered.reply.query is not None
    assert answered.reply.query.change == {"gpus": SetTo(value=1)}
    assert answered.reply.query.baseline == Given(config=answer[0].config)


def test_a_new_question_after_an_answer_starts_afresh(answered: Talk) -> None:
    answered.say("recommend nodes", says(kind=Kind.RECOMMEND, ask=("nodes",)))
    answered.expects(Slot.GOAL)
    assert answered.conversation.draft == Draft(kind=Kind.RECOMMEND, ask=("nodes",))


def test_a_whole_question_of_another_kind_replaces_the_one_to_be_confirmed(
    engine: cp.Compass,
) -> None:
    talk = Talk(engine.space)
    talk.say("what if I double the gpus of row 9?")
    if talk.conversation.expecting is Slot.COLUMNS:
        talk.say("yes")
    talk.expects(Slot.CONFIRM)
    talk.say("Reconfigure row 5 so that power goes down by 20% by changing nodes")
    assert text_of(talk.reply) == (
        "Reconfigure X = {nodes: ?} to achieve Y = {power: reduce by 20%} from row 5"
    )


def test_no_answer_says_why_and_what_to_measure(engine: cp.Compass) -> None:
    result = engine.ask("Recommend X = {gpus: ?} to achieve Y = {runtime: <= 0.001}")
    assert not result.answered
    _, reply = show_answer(Conversation(), result)
    assert result.no_answer is not None
    assert result.no_answer in reply.text
    assert "What to run next:" in reply.text
    assert result.run_next[0].why in reply.text


def test_an_answer_over_all_runs_is_told(engine: cp.Compass) -> None:
    result = engine.ask("What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime}")
    _, reply = show_answer(Conversation(), result)
    assert result.population is not None
    assert f"Over {result.population.runs} past runs" in reply.text
    assert "less" in reply.text


def test_a_whole_conversation_in_plain_words(engine: cp.Compass) -> None:
    talk = Talk(engine.space)

    def run() -> Reply:
        assert talk.reply.run is not None, talk.reply.text
        talk.answer = engine.ask(talk.reply.run)
        talk.conversation, talk.reply = show_answer(talk.conversation, talk.answer)
        return talk.reply

    assert talk.say("I'd like wrf to run as fast as possible").expecting is Slot.PARAMETERS
    assert "runtime. Do you mean this column?" in talk.say("gpus").text
    talk.say("yes")
    assert text_of(talk.reply) == (
        "Recommend a configuration X = {gpus: ?} to achieve Y = {runtime: minimize} "
        "where C = {app == 'wrf'}"
    )
    assert text_of(talk.say("under 8 nodes")).endswith("{app == 'wrf', nodes < 8}")
    assert text_of(talk.say("no, under 4 nodes")).endswith("{app == 'wrf', nodes < 4}")
    assert text_of(talk.say("undo")).endswith("{app == 'wrf', nodes < 8}")
    talk.say("yes")
    assert "I suggest gpus = " in run().text
    first = talk.answer
    assert "Past runs that support it" in talk.say("why?").text
    what_if = talk.say("what if I double the cores?").query
    assert what_if is not None
    assert what_if.baseline == Given(config=first[0].config)
    talk.say("yes")
    assert "cores from" in run().text
    talk.say("start over")
    talk.expects(Slot.KIND)
    talk.say("Reconfigure row 5 so that power goes down by 20% by changing nodes")
    assert text_of(talk.reply) == (
        "Reconfigure X = {nodes: ?} to achieve Y = {power: reduce by 20%} from row 5"
    )
