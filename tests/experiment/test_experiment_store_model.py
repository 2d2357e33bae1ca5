"""Whatever is asked and told in whichever order: the store is as a plain dictionary would be."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from experiment_case import PLAN, check_history
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from compass.domain.errors import UnknownName
from compass.domain.experiment import MeasuredRun, NewRun, RunChange, RunOrigin, RunState
from compass.experiment.progress import LEGAL
from compass.experiment.store import ExperimentStore
from property_examples import examples

VALUES = st.integers(0, 6)
REPEATS = st.integers(0, 1)
WORKERS = st.sampled_from("ab")
OUTCOMES = st.sampled_from([{}, {"runtime": 1}, {"runtime": 2}])
FREE = (RunState.CANCELLED, RunState.INFEASIBLE)
TAKEN = (RunState.SUBMITTED, RunState.RUNNING)


class Stored(RuleBasedStateMachine):
    """An experiment, and a dictionary by number of what it should hold."""

    store: ExperimentStore
    names: Iterator[int]

    def __init__(self) -> None:
        super().__init__()
        self.name = f"tune {next(self.names)}"
        self.store.create(self.name, PLAN)
        self.expected: dict[int, dict[str, Any]] = {}
        self.last = 0  # event that has been read
        self.read: dict[int, RunState] = {}

    def add(self, x: int, repeat: int, state: RunState, **facts: Any) -> int:
        number = len(self.expected) + 1
        plain = {"job": None, "worker": None, "outcomes": {}, "origin": RunOrigin.MODEL}
        self.expected[number] = {"x": x, "repeat": repeat, "state": state, **plain, **facts}
        return number

    def standing(self) -> list[dict[str, Any]]:
        return [run for run in self.expected.values() if run["state"] is not RunState.CANCELLED]

    @rule(wanted=st.lists(st.tuples(VALUES, REPEATS), max_size=4), budget=st.none() | VALUES)
    def suggest(self, wanted: list[tuple[int, int]], budget: int | None) -> None:
        runs = [NewRun(config={"x": x}, repeat=repeat) for x, repeat in wanted]
        got = self.store.suggest(self.name, runs, budget=budget)
        own = [r for r in self.standing() if r["origin"] is RunOrigin.MODEL]
        left = 99 if budget is None else budget - sum(r["state"] not in FREE for r in own)
        numbers = []
        for x, repeat in dict.fromkeys(wanted):
            there = any((r["x"], r["repeat"]) == (x, repeat) for r in self.standing())
            if not there and len(numbers) < left:
                numbers.append(self.add(x, repeat, RunState.SUGGESTED))
        assert [run.number for run in got] == numbers

    @rule(worker=WORKERS, most=st.integers(1, 3))
    def claim(self, worker: str, most: int) -> None:
        got = self.store.claim(self.name, most, worker)
        free = [n for n, r in self.expected.items() if r["state"] is RunState.SUGGESTED][:most]
        assert [run.number for run in got] == free
        for number in free:
            self.expected[number] |= {"state": RunState.SUBMITTED, "worker": worker}

    @rule(
        number=st.integers(1, 12),
        state=st.sampled_from(RunState),
        worker=st.none() | WORKERS,
        outcomes=OUTCOMES,
        job=st.sampled_from([None, "7"]),
    )
    def change(self, number: int, state: RunState, worker: str | None, **facts: Any) -> None:
        one = RunChange(number=number, state=state, **facts)
        if number not in self.expected:
            with pytest.raises(UnknownName):
                self.store.change(self.name, [one], worker)
            return
        run = self.expected[number]
        merged = {**run["outcomes"], **facts["outcomes"]}
        if run["state"].ended:
            holds = state is run["state"] and merged == run["outcomes"]
        else:
            mine = worker is None or run["worker"] in (None, worker)
            holds = mine and state in LEGAL[run["state"]]
            if holds and state is RunState.SUGGESTED:
                run |= {"state": state, "outcomes": {}, "job": None, "worker": None}
            elif holds:
                job = facts["job"] or run["job"]
                run |= {"state": state, "outcomes": merged, "job": job}
        assert self.store.change(self.name, [one], worker) == (holds,)

    @rule(worker=WORKERS, with_jobs=st.booleans())
    def release(self, worker: str, with_jobs: bool) -> None:
        gone = [
            number
            for number, run in self.expected.items()
            if run["worker"] == worker and run["state"] in TAKEN and (with_jobs or not run["job"])
        ]
        assert self.store.release(self.name, worker=worker, with_jobs=with_jobs) == tuple(gone)
        for number in gone:
            fresh = {"state": RunState.SUGGESTED, "outcomes": {}, "job": None, "worker": None}
            self.expected[number] |= fresh

    @rule(x=VALUES)
    def attach(self, x: int) -> None:
        past = MeasuredRun(config={"x": x}, outcomes={"runtime": 1})
        known = [r for r in self.expected.values() if r["x"] == x]
        if any(r["origin"] is RunOrigin.HISTORY for r in known):
            assert self.store.attach(self.name, [past]) == range(0)
            return
        last = max((r["repeat"] for r in self.standing() if r["x"] == x), default=-1)
        about = {"outcomes": {"runtime": 1}, "origin": RunOrigin.HISTORY}
        number = self.add(x, last + 1, RunState.DONE, **about)
        assert self.store.attach(self.name, [past]) == range(number, number + 1)

    @rule()
    def read_on(self) -> None:
        fresh = self.store.runs(self.name, after=self.last)
        self.read |= {run.number: run.state for run in fresh}
        self.last = max([self.last, *(run.event for run in fresh)])
        assert self.read == {number: run["state"] for number, run in self.expected.items()}

    @invariant()
    def is_as_expected(self) -> None:
        for run in self.store.runs(self.name):
            expected = self.expected[run.number]
            found = {name: getattr(run, name) for name in expected if name != "x"}
            assert found | run.config == expected

    def teardown(self) -> None:
        assert len(self.store.runs(self.name)) == len(self.expected)
        counts = self.store.counts(self.name)
        for state in RunState:
            own = [r for r in self.expected.values() if r["origin"] is RunOrigin.MODEL]
            assert counts[state] == sum(r["state"] is state for r in own)
        check_history(self.store, self.name)


def test_the_store_is_as_a_dictionary_would_be(store_place: str) -> None:
    with ExperimentStore.open(store_place) as store:

        class Here(Stored):
            pass

        Here.store, Here.names = store, count()
        run_state_machine_as_test(Here, settings=examples(25, stateful_step_count=25))
