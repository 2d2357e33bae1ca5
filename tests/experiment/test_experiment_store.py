"""The store of experiments, in a SQLite file and in PostgreSQL."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from experiment_case import PLAN, begun, check_history, new

from compass.domain.answer import Label, Prediction
from compass.domain.errors import BadInput, ExperimentProblem, UnknownName
from compass.domain.experiment import MeasuredRun, NewRun, RunChange, RunOrigin, RunState
from compass.experiment.store import ExperimentStore

DONE, FAILED, CANCELLED = RunState.DONE, RunState.FAILED, RunState.CANCELLED
SUGGESTED, SUBMITTED, RUNNING = RunState.SUGGESTED, RunState.SUBMITTED, RunState.RUNNING


@pytest.fixture
def store(store_place: str) -> Iterator[ExperimentStore]:
    with begun(store_place) as opened:
        yield opened


def to(number: int, state: RunState, **facts: Any) -> RunChange:
    return RunChange.model_validate({"number": number, "state": state, **facts})


def numbers(runs: Any) -> list[int]:
    return [run.number for run in runs]


def test_an_experiment_is_begun_once(store: ExperimentStore) -> None:
    store.create("tune", PLAN)
    store.create("other", PLAN)
    assert store.names() == ("tune", "other")
    assert store.plan("tune") == PLAN
    with pytest.raises(ExperimentProblem, match="another plan") as error:
        store.create("tune", PLAN.model_copy(update={"seed": 7}))
    assert error.value.hint
    assert store.plan("tune") == PLAN


def test_nothing_is_there_before_it_is_made(store_place: str) -> None:
    with ExperimentStore.open(store_place) as store:
        assert store.names() == ()
        with pytest.raises(ExperimentProblem, match="no experiment in"):
            store.suggest("tune", new(1))
        assert store.names() == ()


def test_an_unknown_name_offers_the_nearest(store: ExperimentStore) -> None:
    with pytest.raises(UnknownName) as error:
        store.runs("tuna")
    assert error.value.hint == "did you mean tune?"
    with pytest.raises(UnknownName, match="tune has no run 7"):
        store.run("tune", 7)
    with pytest.raises(UnknownName, match="has no run"):
        store.run("tune", 10**30)
    with pytest.raises(UnknownName, match="tune has no run 7") as error:
        store.change("tune", [to(7, DONE)])
    assert error.value.hint == "it has no runs yet"
    store.suggest("tune", new(1, 2))
    with pytest.raises(UnknownName) as error:
        store.run("tune", 7)
    assert error.value.hint == "its runs are 1 to 2"


@pytest.mark.parametrize("name", ["", " ", "a\0b", "a\nb", "x" * 201])
def test_what_is_no_name(store: ExperimentStore, name: str) -> None:
    with pytest.raises(BadInput, match="is no name of an experiment"):
        store.create(name, PLAN)
    with pytest.raises(BadInput, match="is no name of a worker"):
        store.claim("tune", 1, name)


def test_a_run_from_its_suggestion_to_its_end(store: ExperimentStore) -> None:
    before = datetime.now(UTC)
    asked = NewRun(
        config={"x": 3, "flag": True, "mode": "fast", "cap": None},
        member="forest",
        predicted=(Prediction(name="runtime", value=2.0, unit="s", low=1.5, high=2.5, level=0.9),),
        failure=0.25,
        improvement=0.1,
        label=Label.CAUTION,
        model="forest of 20 runs",
        why="it may be quicker",
    )
    (suggested,) = store.suggest("tune", [asked])
    assert store.run("tune", 1) == suggested
    assert NewRun(**{n: getattr(suggested, n) for n in NewRun.model_fields}) == asked
    (claimed,) = store.claim("tune", 5, "node1:17")
    assert store.run("tune", 1) == claimed
    assert (claimed.state, claimed.worker) == (SUBMITTED, "node1:17")
    assert store.change("tune", [to(1, SUBMITTED, job="4711_1")], "node1:17") == (True,)
    assert store.change("tune", [to(1, RUNNING)]) == (True,)
    end = to(1, DONE, outcomes={"runtime": 2.25}, seconds=2.5, output="runs/1")
    assert store.change("tune", [end]) == (True,)
    done = store.run("tune", 1)
    assert (done.outcomes, done.seconds, done.output) == ({"runtime": 2.25}, 2.5, "runs/1")
    stored = [done.suggested_at, done.submitted_at, done.started_at, done.ended_at]
    times = [before, *(at for at in stored if at is not None), datetime.now(UTC)]
    assert len(times) == 6
    assert times == sorted(times)
    events = store.events("tune")
    assert [event.state for event in events] == [
        None,
        SUGGESTED,
        SUBMITTED,
        SUBMITTED,
        RUNNING,
        DONE,
    ]
    assert events[0].facts == {"created": "tune"}
    assert events[-1].facts == {"outcomes": {"runtime": 2.25}, "seconds": 2.5, "output": "runs/1"}
    assert store.by_job("tune", "4711_1") == (done,)
    assert store.by_job("tune", "4711") == ()
    check_history(store)


def test_nothing_is_asked_twice_unless_a_repeat_is_meant(store: ExperimentStore) -> None:
    assert numbers(store.suggest("tune", new(1, 1.0, True, 2))) == [1, 2, 3]
    assert store.suggest("tune", new(1, 2.0)) == ()
    assert numbers(store.suggest("tune", new(1, 2, 3, repeat=1))) == [4, 5, 6]
    assert numbers(store.repeats("tune", {"x": 1.0})) == [1, 4]
    store.change("tune", [to(1, FAILED, reason="it crashed")])
    assert store.suggest("tune", new(1)) == ()
    store.change("tune", [to(2, CANCELLED)])
    assert numbers(store.suggest("tune", new(True))) == [7]
    check_history(store)


def test_a_budget_counts_what_was_tried_or_will_be(store: ExperimentStore) -> None:
    store.attach("tune", [MeasuredRun(config={"x": i}, outcomes={"runtime": 1}) for i in range(50)])
    assert numbers(store.suggest("tune", new(100, 101, 102), budget=2)) == [51, 52]
    assert store.suggest("tune", new(103), budget=2) == ()
    store.change("tune", [to(51, CANCELLED), to(52, RunState.INFEASIBLE, reason="no such node")])
    assert numbers(store.suggest("tune", new(100, 103, 104), budget=2)) == [53, 54]
    counts = store.counts("tune")
    assert (counts[CANCELLED], counts[RunState.INFEASIBLE], counts[SUGGESTED]) == (1, 1, 2)
    assert counts[DONE] == 0


def test_runs_are_claimed_oldest_first_and_by_one_only(store: ExperimentStore) -> None:
    store.suggest("tune", new(*range(5)))
    assert numbers(store.claim("tune", 2, "a")) == [1, 2]
    assert numbers(store.claim("tune", 9, "b")) == [3, 4, 5]
    assert store.claim("tune", 1, "a") == ()
    assert store.change("tune", [to(3, RUNNING), to(1, RUNNING)], "a") == (False, True)
    assert store.run("tune", 3).state is SUBMITTED


def test_runs_are_taken_by_whoever_asks_for_them(store: ExperimentStore) -> None:
    store.suggest("tune", new(1))
    taken = store.suggest("tune", new(1, 2, 3), worker="a")
    assert [(run.number, run.state, run.worker) for run in taken] == [
        (2, SUBMITTED, "a"),
        (3, SUBMITTED, "a"),
    ]
    assert store.runs("tune", states=[SUBMITTED]) == taken
    assert numbers(store.claim("tune", 9, "b")) == [1]
    assert store.release("tune", worker="a") == (2, 3)
    check_history(store)


def test_an_end_is_told_once_and_stays(store: ExperimentStore) -> None:
    store.suggest("tune", new(1))
    end = to(1, DONE, outcomes={"runtime": 2})
    assert store.change("tune", [end, end]) == (True, True)
    assert store.change("tune", [end], "somebody") == (True,)
    assert len(store.events("tune")) == 3
    other = to(1, DONE, outcomes={"runtime": 3})
    assert store.change("tune", [other, other], "late") == (False, False)
    assert store.change("tune", [other], "late") == (False,)
    assert store.change("tune", [to(1, CANCELLED), to(1, RUNNING)]) == (False, False)
    assert store.run("tune", 1).outcomes == {"runtime": 2}
    refused = store.events("tune", after=3)
    assert [(event.number, event.state) for event in refused] == [(1, None)]
    assert refused[0].facts == {"refused": "done", "outcomes": {"runtime": 3}, "told_by": "late"}
    check_history(store)


def test_changes_are_made_together_or_not_at_all(store: ExperimentStore) -> None:
    store.suggest("tune", new(1))
    with pytest.raises(UnknownName):
        store.change("tune", [to(1, DONE), to(2, DONE)])
    assert store.run("tune", 1).state is SUGGESTED


def test_numbers_that_are_none_survive(store: ExperimentStore) -> None:
    store.suggest("tune", [NewRun(config={"x": math.nan, "y": math.inf}, failure=math.nan)])
    assert store.suggest("tune", [NewRun(config={"y": math.inf, "x": math.nan})]) == ()
    store.change("tune", [to(1, DONE, outcomes={"runtime": -math.inf, "power": math.nan})])
    run = store.run("tune", 1)
    assert isinstance(run.config["x"], float)
    assert math.isnan(run.config["x"])
    assert run.config["y"] == math.inf
    assert run.failure is not None
    assert math.isnan(run.failure)
    assert run.outcomes["runtime"] == -math.inf
    assert str(run.outcomes["power"]) == "nan"
    again = to(1, DONE, outcomes={"runtime": -math.inf, "power": math.nan})
    assert store.change("tune", [again]) == (True,)


def test_any_text_survives(store: ExperimentStore) -> None:
    text = "é\0\n'\"; DROP TABLE compass_runs --\U0001f600"
    store.suggest("tune", [NewRun(config={text: text}, why=text)])
    store.change("tune", [to(1, FAILED, reason=text, output=text)])
    run = store.run("tune", 1)
    assert (run.config, run.why, run.reason, run.output) == ({text: text}, text, text, text)
    assert store.events("tune")[-1].facts["reason"] == text


def test_history_that_has_grown_is_attached_again(store: ExperimentStore) -> None:
    first = [MeasuredRun(config={"x": i // 2}, outcomes={"runtime": 1.0}) for i in range(6)]
    first += [MeasuredRun(config={"x": 9}, state=FAILED, reason="out of memory")]
    assert store.attach("tune", first) == range(1, 8)
    assert store.attach("tune", first) == range(0)
    grown = [*first, MeasuredRun(config={"x": 0}, outcomes={"runtime": 1.0})]
    assert store.attach("tune", grown) == range(8, 9)
    runs = store.repeats("tune", {"x": 0})
    assert [(run.number, run.repeat, run.origin) for run in runs] == [
        (1, 0, RunOrigin.HISTORY),
        (2, 1, RunOrigin.HISTORY),
        (8, 2, RunOrigin.HISTORY),
    ]
    assert store.run("tune", 7).reason == "out of memory"
    assert [event.facts for event in store.events("tune")][1:] == [
        {"attached": 7, "first": 1, "last": 7},
        {"attached": 1, "first": 8, "last": 8},
    ]
    assert store.suggest("tune", new(0)) == ()


def test_a_run_that_was_made_has_an_end() -> None:
    with pytest.raises(ValueError, match="done or failed, not running"):
        MeasuredRun(config={"x": 1}, state=RUNNING)


def test_whoever_polls_reads_what_is_new(store: ExperimentStore) -> None:
    store.suggest("tune", new(*range(4)))
    seen = max(run.event for run in store.runs("tune"))
    assert store.runs("tune", after=seen) == ()
    store.claim("tune", 2, "a")
    store.change("tune", [to(2, DONE), to(4, CANCELLED)])
    fresh = store.runs("tune", after=seen)
    assert [(run.number, run.state) for run in fresh] == [(1, SUBMITTED), (2, DONE), (4, CANCELLED)]
    assert store.runs("tune", after=max(run.event for run in fresh)) == ()
    assert numbers(store.runs("tune", states=[SUGGESTED, DONE])) == [2, 3]
    assert numbers(store.runs("tune", states=[DONE], after=seen)) == [2]
    assert [event.id for event in store.events("tune", after=2, limit=3)] == [3, 4, 5]


def test_runs_of_a_worker_that_is_gone_are_made_by_another(store: ExperimentStore) -> None:
    store.suggest("tune", new(*range(4)))
    store.claim("tune", 3, "gone")
    store.claim("tune", 1, "here")
    store.change("tune", [to(2, RUNNING), to(3, SUBMITTED, job="77")], "gone")
    assert store.release("tune", silent_for=3600) == ()
    store.heartbeat("tune", "here")
    assert store.release("tune", worker="gone") == (1, 2)
    assert store.release("tune", worker="gone") == ()
    released = store.run("tune", 2)
    assert (released.state, released.worker, released.started_at) == (SUGGESTED, None, None)
    assert store.events("tune")[-1].facts == {"released_from": "gone"}
    assert numbers(store.claim("tune", 9, "here")) == [1, 2]
    assert store.change("tune", [to(1, DONE, outcomes={"runtime": 1})], "gone") == (False,)
    assert store.events("tune")[-1].facts["refused"] == "done"
    assert store.release("tune", worker="gone", with_jobs=True) == (3,)
    assert store.release("tune", silent_for=-60) == (1, 2, 4)
    check_history(store)


def test_a_result_of_a_run_that_nobody_has_taken_since_is_welcome(store: ExperimentStore) -> None:
    store.suggest("tune", new(1))
    store.claim("tune", 1, "slow")
    store.release("tune", worker="slow")
    assert store.change("tune", [to(1, DONE, outcomes={"runtime": 1})], "slow") == (True,)


def test_experiments_do_not_see_each_other(store: ExperimentStore) -> None:
    store.create("other", PLAN)
    store.suggest("tune", new(1))
    assert numbers(store.suggest("other", new(1, 2))) == [1, 2]
    store.claim("other", 2, "a")
    assert store.release("tune", worker="a") == ()
    assert store.counts("tune")[SUGGESTED] == 1
    assert store.run("tune", 1).state is SUGGESTED


def test_a_store_that_was_closed_opens_again(store: ExperimentStore) -> None:
    store.suggest("tune", new(1))
    store.close()
    assert numbers(store.runs("tune")) == [1]


def test_many_runs_at_once(store: ExperimentStore) -> None:
    assert len(store.suggest("tune", new(*range(2500)))) == 2500
    assert store.suggest("tune", new(*range(2500))) == ()
    claimed = store.claim("tune", 2500, "a")
    changes = [to(run.number, DONE, outcomes={"runtime": 1.0}) for run in claimed]
    assert store.change("tune", changes, "a") == (True,) * 2500
    assert store.counts("tune")[DONE] == 2500
    check_history(store)
