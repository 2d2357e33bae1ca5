"""What tests of experiments share: a plan, and what must hold of every store."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

from compass.domain.experiment import ExperimentPlan, ExperimentRun, NewRun, RunEvent, RunState
from compass.domain.goal import minimize
from compass.domain.study import ColumnChoice, Study
from compass.experiment.store import ExperimentStore

PLAN = ExperimentPlan(
    study=Study(columns={"x": ColumnChoice(low=0, high=1000, step=1)}, rules=("x <= 900",)),
    goals={"runtime": minimize},
    budget=100,
)


@contextmanager
def begun(place: str) -> Iterator[ExperimentStore]:
    """A store that holds the experiment `tune`, of which nothing has been asked yet."""
    with ExperimentStore.open(place) as store:
        store.create("tune", PLAN)
        yield store


def new(*values: object, repeat: int = 0) -> list[NewRun]:
    """Runs of configurations with one parameter."""
    return [NewRun(config={"x": value}, repeat=repeat) for value in values]


def check_history(store: ExperimentStore, name: str = "tune") -> tuple[ExperimentRun, ...]:
    """Events without gaps lead to just the runs that are there; none is asked or taken twice."""
    runs = {run.number: run for run in store.runs(name)}
    assert list(runs) == list(range(1, len(runs) + 1))
    events = store.events(name, limit=10**6)
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    path: dict[int, list[RunEvent]] = defaultdict(list)
    for event in events:
        if event.number is not None and event.state is not None:
            path[event.number].append(event)
    assert path.keys() <= runs.keys()
    for number, told in path.items():
        _check_path(told)
        assert (told[-1].state, told[-1].id) == (runs[number].state, runs[number].event)
    asked = [run for run in runs.values() if run.number in path]
    assert all(run.submitted_at is None for run in runs.values() if run.number not in path)
    standing = [(run.key, run.repeat) for run in runs.values() if run.state != RunState.CANCELLED]
    assert len(standing) == len(set(standing))
    return tuple(asked)


def _check_path(told: list[RunEvent]) -> None:
    assert told[0].state is RunState.SUGGESTED
    for before, after in pairwise(told):
        assert before.state is not None
        assert not before.state.ended
        if after.facts.keys() == {"worker"}:  # nobody takes what another one has
            assert (before.state, after.state) == (RunState.SUGGESTED, RunState.SUBMITTED)
