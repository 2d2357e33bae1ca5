"""Many questions at once: each answered as if it were asked alone, wherever that happens."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import compass as cp
from compass.domain.answer import Answer
from compass.domain.errors import BadInput, CompassError, UnknownName
from compass.engine import batch
from compass.execute import WorkerLost
from compass.execute.processes import Processes
from compass.execute.threads import Threads

ASK = "Recommend X = {nodes: ?, cores: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}"
CHANGE = "Reconfigure X = {cores: ?, gpus: ?} to achieve Y = {runtime: reduce by 10%}"
SEEDED = "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {power: minimize} top 3 seed 3"
WHAT_IF = "What if we change X = {gpus: old -> 4}, how would that affect Y = {runtime}"
QUESTIONS: list[Any] = [
    ASK,
    {"question": CHANGE, "run": 7},
    {"question": CHANGE, "run": 11, "count": 2},
    SEEDED,
    {"question": WHAT_IF, "run": 5},
    WHAT_IF,
    {"question": WHAT_IF, "run": 5, "curve": ["gpus"]},
    {"question": CHANGE, "run": 7, "chance": 0.95, "beyond": True},
]


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    made = Processes("2")
    yield made
    made.close()


def timeless(answer: Answer | None) -> dict[str, Any]:
    assert answer is not None
    return answer.model_dump(exclude={"seconds"})


@pytest.fixture(scope="module")
def alone(engine: cp.Compass) -> list[dict[str, Any]]:
    """The answers to questions that are asked one by one."""
    found = []
    for one in QUESTIONS:
        said = dict(one) if isinstance(one, dict) else {"question": one}
        found.append(timeless(engine.ask(said.pop("question"), **said, prove=0.0)))
    return found


def test_a_question_without_a_suggestion_is_answered_like_the_others(engine: cp.Compass) -> None:
    impossible = "Recommend X = {gpus: ?} to achieve Y = {runtime: <= 0.001}"
    nothing, fine = engine.ask_all([impossible, ASK], prove=0.0)
    assert nothing.error is None
    assert nothing.answer is not None
    assert not nothing.answer.answered
    assert not nothing.answer.suggestions
    assert nothing.answer.ideas
    assert nothing.answer.run_next
    assert fine.answer is not None
    assert fine.answer.suggestions


def test_without_an_executor_they_are_answered_here(
    engine: cp.Compass, alone: list[dict[str, Any]]
) -> None:
    replies = engine.ask_all(QUESTIONS, prove=0.0)
    assert [timeless(reply.answer) for reply in replies] == alone
    assert [reply.question for reply in replies] == QUESTIONS


def test_any_executor_and_number_of_workers_gives_the_same_answers(
    engine: cp.Compass, alone: list[dict[str, Any]], processes: Processes
) -> None:
    for executor in (Threads("2"), processes):
        told: list[tuple[str, int, int]] = []
        replies = engine.ask_all(
            [*QUESTIONS, *reversed(QUESTIONS)],
            executor=executor,
            progress=lambda *said: told.append(said),  # noqa: B023
            prove=0.0,
        )
        assert [timeless(reply.answer) for reply in replies] == [*alone, *reversed(alone)]
        assert told[-1] == ("answering", 16, 16)
        assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_question_that_fails_stops_no_other(
    engine: cp.Compass, alone: list[dict[str, Any]], processes: Processes
) -> None:
    wrong: list[Any] = [
        "Recommend X = {node: ?} to achieve Y = {runtime: minimize}",
        {"question": ASK, "run": 7, "colour": "red"},
        {"run": 7},
        {"question": CHANGE, "run": 10**9},
    ]
    for executor in (None, processes):
        replies = engine.ask_all([*wrong, ASK], executor=executor, prove=0.0)
        errors = [reply.error for reply in replies]
        assert [type(error) for error in errors[:3]] == [UnknownName, UnknownName, BadInput]
        assert isinstance(errors[3], CompassError)
        assert "nodes" in errors[0].hint  # type: ignore[union-attr]
        assert all(reply.answer is None for reply in replies[:4])
        assert timeless(replies[4].answer) == alone[0]


def test_no_questions_no_replies(engine: cp.Compass, processes: Processes) -> None:
    assert engine.ask_all([], executor=processes) == ()
    assert engine.ask_all([]) == ()


def test_the_last_questions_are_remembered(engine: cp.Compass, processes: Processes) -> None:
    replies = engine.ask_all([ASK, SEEDED], executor=processes, prove=0.0)
    assert [answer for _, answer in engine.asked[-2:]] == [reply.answer for reply in replies]


def test_a_question_that_ends_its_workers_is_named_and_the_others_are_answered() -> None:
    results: list[Any] = [batch._Bound(query=n) for n in range(8)]  # type: ignore[arg-type]

    class Losing(Threads):
        """Loses the worker that gets the question 5."""

        def map(self, work: Any, items: Any) -> Any:
            for place, item in enumerate(items):
                if any(one.query == 5 for one in item):
                    raise WorkerLost("it ended its worker", position=place)
                yield place, [10 * one.query for one in item]

    executor = Losing("1")
    counter = batch._Counter(None, 8, 0)
    batch._distribute(executor, batch._PackedEngine("", ()), range(8), results, counter)
    executor.close()
    assert isinstance(results[5], WorkerLost)
    assert [result for n, result in enumerate(results) if n != 5] == [0, 10, 20, 30, 40, 60, 70]
    assert counter.done == 8


def test_the_models_that_questions_need_are_learnt_once_here(processes: Processes) -> None:
    nodes = [1, 2, 4, 8] * 10
    table = pa.table({"nodes": nodes, "runtime": [1.0 / n for n in nodes], "power": nodes})
    data = cp.read(table).roles(knobs=["nodes"], outcomes=["runtime", "power"])
    fresh = cp.Compass(data, surrogate="linear")
    least = "Recommend X = {nodes: ?} to achieve Y = {runtime: minimize}"
    (reply,) = fresh.ask_all([least], executor=processes, prove=0.0)
    assert reply.answer is not None
    assert {target for _, target in fresh.store.trained} == {"runtime"}
