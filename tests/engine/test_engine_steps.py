"""The answer comes first, then its proof, then the runs to make next."""

from typing import Any

import pytest

import compass as cp
from compass.domain.answer import Answer, Pending
from compass.domain.errors import CompassError

QUESTION = "Reconfigure X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {power: reduce by 10%}"

# A search that does not try everything, so that there is something to prove.
PROVED: Any = {"run": 3, "prove": 60.0, "generator": "c3g"}


def _content(answer: Answer) -> dict[str, object]:
    return answer.model_dump(exclude={"seconds"})


def test_the_last_step_is_the_whole_answer(engine: cp.Compass) -> None:
    steps = list(engine.stream(QUESTION, **PROVED))
    assert steps[-1].pending == ()
    assert _content(steps[-1]) == _content(engine.ask(QUESTION, **PROVED))


def test_the_answer_comes_before_its_proof(engine: cp.Compass) -> None:
    first, *later = engine.stream(QUESTION, **PROVED)
    assert Pending.PROOF in first.pending
    assert first.certificate is None
    assert first.suggestions
    assert later[0].certificate is not None
    assert Pending.PROOF not in later[0].pending
    assert "proof" in later[0].seconds
    assert "proof" not in first.seconds


def test_a_proof_that_takes_no_time_comes_with_the_answer(engine: cp.Compass) -> None:
    few = "Recommend X = {nodes: ?} to achieve Y = {runtime: minimize} where C = {cores: 64}"
    first = next(iter(engine.stream(few)))
    assert Pending.PROOF not in first.pending
    assert first.certificate is not None


def test_runs_to_make_come_last(engine: cp.Compass) -> None:
    steps = list(
        engine.stream(
            "What if we change X = {size: 5000}, how would that affect Y = {runtime}?", run=3
        )
    )
    assert [answer.pending for answer in steps] == [(Pending.RUN_NEXT,), ()]
    assert [bool(answer.run_next) for answer in steps] == [False, True]


def test_who_stops_at_the_first_needs_no_proof(engine: cp.Compass) -> None:
    told: list[str] = []
    before, engine.store.progress = engine.store.progress, lambda what, *_: told.append(what)
    try:
        steps = engine.stream(QUESTION, **PROVED)
        next(steps)
        assert "proving" not in told
        next(steps)
        assert "proving" in told
    finally:
        engine.store.progress = before


def test_a_wrong_question_is_told_at_once(engine: cp.Compass) -> None:
    with pytest.raises(CompassError, match="nodez"):
        engine.stream("Recommend X = {nodez: ?} to achieve Y = {runtime: minimize}")
