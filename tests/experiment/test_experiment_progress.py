"""What a change makes of a run."""

from datetime import UTC, datetime, timedelta

import pytest

from compass.domain.experiment import RunChange, RunState
from compass.experiment.progress import LEGAL, Progress, changed

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def to(state: RunState, **facts: object) -> RunChange:
    return RunChange.model_validate({"number": 1, "state": state, **facts})


@pytest.mark.parametrize("before", RunState)
@pytest.mark.parametrize("after", RunState)
def test_only_legal_changes_are_made(before: RunState, after: RunState) -> None:
    made = changed(Progress(before, outcomes={"y": 1}), to(after, outcomes={"y": 2}), NOON)
    assert (made is not None) == (after in LEGAL[before])
    if before.ended:
        assert not LEGAL[before]
    if made is not None:
        assert made.state is after


def test_a_run_gathers_facts_until_it_ends() -> None:
    run = Progress(RunState.SUGGESTED)
    for minute, change in enumerate(
        [
            to(RunState.SUBMITTED, job="17_3", worker="a"),
            to(RunState.RUNNING, outcomes={"power": 5}),
            to(RunState.DONE, outcomes={"runtime": 2.5}, seconds=3.0, output="17/out"),
        ]
    ):
        made = changed(run, change, NOON + timedelta(minutes=minute))
        assert made is not None
        run = made
    assert run == Progress(
        RunState.DONE,
        job="17_3",
        worker="a",
        outcomes={"power": 5, "runtime": 2.5},
        seconds=3.0,
        output="17/out",
        submitted_at=NOON,
        started_at=NOON + timedelta(minutes=1),
        ended_at=NOON + timedelta(minutes=2),
    )


def test_the_same_end_again_is_nothing_new() -> None:
    done = Progress(RunState.DONE, outcomes={"runtime": 2, "power": 5})
    assert changed(done, to(RunState.DONE, outcomes={"runtime": 2.0}), NOON) is done
    assert changed(done, to(RunState.DONE), NOON) is done
    failed = Progress(RunState.FAILED, reason="it crashed")
    assert changed(failed, to(RunState.FAILED, reason="signal 11"), NOON) is failed


def test_an_end_stays() -> None:
    done = Progress(RunState.DONE, outcomes={"runtime": 2})
    assert changed(done, to(RunState.DONE, outcomes={"runtime": 3}), NOON) is None
    assert changed(done, to(RunState.FAILED), NOON) is None


def test_a_run_that_is_put_back_into_the_queue_has_not_begun() -> None:
    running = Progress(RunState.RUNNING, job="5", submitted_at=NOON, started_at=NOON)
    queued = changed(running, to(RunState.SUBMITTED), NOON + timedelta(hours=1))
    assert queued == Progress(RunState.SUBMITTED, job="5", submitted_at=NOON)


def test_a_run_that_is_given_back_is_nobodys() -> None:
    running = Progress(RunState.RUNNING, job="5", worker="a", submitted_at=NOON, started_at=NOON)
    assert changed(running, to(RunState.SUGGESTED), NOON) == Progress(RunState.SUGGESTED)


def test_what_says_nothing_new_changes_nothing() -> None:
    running = Progress(RunState.RUNNING, job="5", submitted_at=NOON, started_at=NOON)
    assert changed(running, to(RunState.RUNNING, job="5"), NOON + timedelta(hours=1)) is running
