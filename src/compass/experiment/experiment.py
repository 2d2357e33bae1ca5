"""An experiment: asked for the runs worth making, told what came of them, kept in a store."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.domain.base import Config, Value
from compass.domain.errors import BadInput, QueryProblem
from compass.domain.experiment import (
    ExperimentPlan,
    ExperimentReport,
    ExperimentRun,
    ExperimentStatus,
    NewRun,
    RunChange,
    RunEvent,
    RunOrigin,
    RunState,
)
from compass.domain.space import Space
from compass.experiment.objective import Objective
from compass.experiment.place import place_of
from compass.experiment.space import complete_config, rules_of, space_of
from compass.rules import Rule

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.engine.dataset import Dataset
    from compass.experiment.history import Attached
    from compass.experiment.results import Told
    from compass.experiment.store import ExperimentStore
    from compass.experiment.suggest import Suggested

_EVENTS = 1000  # that are read at a time
_TRIES = 4  # times that runs are chosen while others choose too
BY_HAND = "by hand"  # the worker of runs that somebody asked for and will tell


class Experiment:
    """Runs that are chosen, made and told until a budget is spent or nothing is left to gain.

    `Experiment.start(plan, "tune.experiment")` begins one, `Experiment.open("tune.experiment")`
    goes on with it. Everything is in the store: another process may do either at the same time.
    """

    def __init__(self, store: "ExperimentStore", place: str, name: str) -> None:
        self.store = store
        self.place = place
        self.name = name
        self.plan: ExperimentPlan = store.plan(name)

    @classmethod
    def start(
        cls,
        plan: ExperimentPlan | Mapping[str, Any] | str | PathLike[str],
        place: str | PathLike[str],
        name: str | None = None,
    ) -> "Experiment":
        """Begin an experiment, or go on with the one of the same plan.

        A plan file, or a mapping like one, may name it and the past runs that it begins with.
        """
        from compass.experiment.plan_file import history_of, load_plan, name_of, plan_of
        from compass.experiment.store import ExperimentStore
        from compass.pareto.acquisition import front_acquisition

        history, folder = None, Path()
        if isinstance(plan, str | PathLike):
            folder = Path(plan).parent
            plan = load_plan(fspath(plan))
        if not isinstance(plan, ExperimentPlan):
            history, name = history_of(plan, folder), name or name_of(plan)
            plan = plan_of(plan)
        rules_of(plan, space_of(plan))  # a plan that cannot be is refused before a file is made
        if Objective(plan).traded:
            front_acquisition(plan.acquisition)
        where = place_of(place, name)
        store = ExperimentStore.open(where.store)
        store.create(where.name, plan)
        begun = cls(store, where.store, where.name)
        if history is not None and not begun.runs():
            from compass.engine.dataset import read

            try:
                begun.attach(read(history))
            except BaseException:
                begun.close()
                raise
        return begun

    @classmethod
    def open(cls, place: str | PathLike[str], name: str | None = None) -> "Experiment":
        """Go on with an experiment that was begun."""
        from compass.experiment.store import ExperimentStore

        where = place_of(place, name)
        store = ExperimentStore.open(where.store)
        names = store.names()
        if name is None and len(names) == 1:
            return cls(store, where.store, names[0])
        if where.name not in names:
            store.close()
            if not names:
                raise BadInput(
                    f"there is no experiment {where.shown}",
                    hint="compass run PLAN.yml begins one",
                )
            raise BadInput(
                f"there is no experiment '{where.name}' in {where.shown}",
                hint=f"it has {', '.join(names)}",
            )
        return cls(store, where.store, where.name)

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def __enter__(self) -> "Experiment":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def space(self) -> Space:
        """The columns that a run is made of."""
        return space_of(self.plan)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that every run obeys."""
        return rules_of(self.plan, self.space)

    @cached_property
    def objective(self) -> Objective:
        """What is minimised."""
        return Objective(self.plan)

    @cached_property
    def units(self) -> dict[str, str]:
        """The units of settings and outcomes, where they are known."""
        return {n: one.unit for n, one in self.plan.study.columns.items() if one.unit is not None}

    @cached_property
    def _chooser(self) -> Any:
        from compass.experiment.suggest import Chooser

        return Chooser(self)

    def runs(self, *states: RunState) -> tuple[ExperimentRun, ...]:
        """The runs, those in these states only where some are named, by number."""
        return self.store.runs(self.name, states or None)

    def run(self, number: int) -> ExperimentRun:
        """One run."""
        return self.store.run(self.name, number)

    def events(self, after: int = 0) -> tuple[RunEvent, ...]:
        """Everything that happened, from behind this event on."""
        found: list[RunEvent] = []
        while part := self.store.events(self.name, after, _EVENTS):
            found += part
            after = part[-1].id
        return tuple(found)

    def example(self) -> Config:
        """Some legal configuration."""
        found: Config = self._chooser.example()
        return found

    # -- ask ------------------------------------------------------------------------------

    def next(self, count: int = 1, *, worker: str = BY_HAND) -> tuple[ExperimentRun, ...]:
        """Up to so many runs to make now; nobody else is given them.

        First come those that were added before. There are fewer, or none, where the budget is
        spent or more runs are not worth it: `status()` says which.
        """
        taken = self.store.claim(self.name, count, worker)
        # Another process may have asked for the same ones meanwhile: then others are chosen.
        for _ in range(_TRIES):
            if len(taken) >= count:
                break
            found = self.suggest(count - len(taken))
            if found.stop is not None:
                break
            taken += self.store.claim(self.name, count - len(taken), worker)
        return taken

    def at_once(self) -> int:
        """How many runs are worth making at a time: more would be chosen knowing too little.

        All that cover the space, then a tenth of the budget.
        """
        found: int = self._chooser.at_once()
        return found

    def suggest(self, count: int = 1) -> "Suggested":
        """Add so many runs that are worth making, or all repeats of a configuration."""
        found: Suggested = self._chooser.suggest(count)
        return found

    def enqueue(
        self, config: Mapping[str, Value], *, repeats: int | None = None, again: bool = True
    ) -> int:
        """Add a configuration of a person's own, to be run before what models choose.

        One that was run before is run again, unless `again` is false. Returns how many runs were
        added.
        """
        whole = complete_config(config, self.space, self.rules)
        known = self.store.repeats(self.name, whole)
        if known and not again:
            return 0
        first = 1 + max((run.repeat for run in known), default=-1)
        times = range(first, first + (repeats or self.plan.repeats))
        why = "added by a person"
        new = [NewRun(config=whole, repeat=n, origin=RunOrigin.PERSON, why=why) for n in times]
        added = self.store.suggest(self.name, new, budget=self.plan.budget)
        if not added:
            raise QueryProblem(
                f"the budget of {self.plan.budget} runs is spent",
                hint="raise the budget of the plan, or cancel runs that are awaited",
            )
        return len(added)

    # -- tell -----------------------------------------------------------------------------

    def tell(
        self,
        number: int,
        outcomes: Mapping[str, Value] | None = None,
        *,
        failed: str | None = None,
        infeasible: str | None = None,
    ) -> bool:
        """What came of a run; `failed`, `infeasible`: why. False: it ended otherwise before."""
        from compass.experiment.results import ended

        change = ended(
            self.run(number),
            outcomes or {},
            self.objective,
            failed=failed,
            infeasible=infeasible,
        )
        return self.change([change])[0]

    def tell_table(self, source: Any) -> "Told":
        """Runs of a file or table, by their number or their configuration.

        Returns how many were taken in, how many were known already, and how many differ from what
        their ended runs have, which stay as they are. Runs that nobody asked for are taken in too.
        """
        from compass.experiment.results import told_runs

        return told_runs(self, source)

    def change(self, changes: Sequence[RunChange], worker: str | None = None) -> tuple[bool, ...]:
        """What became of runs; for each, whether it is so now: an ended run keeps its end."""
        return self.store.change(self.name, changes, worker)

    def cancel(self, *numbers: int, reason: str = "cancelled by a person") -> int:
        """Wait for these runs no longer (without numbers: for any); how many that were."""
        waiting = {r.number for r in self.runs(*(s for s in RunState if s.pending))}
        for number in numbers:
            if number not in waiting:
                raise QueryProblem(
                    f"run {number} is {self.run(number).state.value}",
                    hint="only runs that have not ended can be cancelled",
                )
        changes = [
            RunChange(number=number, state=RunState.CANCELLED, reason=reason)
            for number in (numbers or sorted(waiting))
        ]
        return sum(self.change(changes))

    def attach(self, data: "Dataset", *, where: Iterable[str] = ()) -> "Attached":
        """Past runs that the experiment learns from: how many of its own kind, how many of others.

        Those that its values and rules do not allow are left out, and counted. Runs with the fixed
        values of the plan count as its own. The others (of another machine, size or version) tell
        where to begin, as long as that does not mislead.
        """
        from compass.experiment.history import attached

        return attached(self, data, where)

    # -- look -----------------------------------------------------------------------------

    def status(self, *, outlook: bool = True) -> ExperimentStatus:
        """How far the experiment has come, and its best run.

        `outlook`: with why there are no more runs to make, or what one more is expected to gain;
        the models are asked for that.
        """
        from compass.experiment.status import status_of

        return status_of(self, outlook=outlook)

    def outlook(self) -> "Suggested":
        """Whether more runs are worth it, without adding one."""
        found: Suggested = self._chooser.outlook()
        return found

    def report(self) -> ExperimentReport:
        """What was found, the learning curve, and how good the predictions were."""
        from compass.experiment.status import errors_by_label, learning_curve

        runs = self.runs()
        own = tuple(run for run in runs if run.origin is not RunOrigin.HISTORY)
        return ExperimentReport(
            status=self.status(),
            title=self.objective.title,
            curve=learning_curve(self.objective, runs),
            errors=errors_by_label(own),
            runs=own,
        )

    def best(self) -> ExperimentRun | None:
        """The best run so far; None where none meets the goals."""
        from compass.experiment.status import best_run

        return best_run(self.objective, self.runs())

    def table(self) -> "pa.Table":
        """The runs that ended, as a table: settings, outcomes, predictions, how each ended."""
        from compass.experiment.export import table_of

        return table_of(self.plan, self.space, self.runs())

    def dataset(self) -> "Dataset":
        """The runs that ended, as past runs for an engine: `cp.Compass(experiment.dataset())`."""
        from compass.experiment.export import dataset_of

        return dataset_of(self.plan, self.space, self.runs())


def config_text(config: Config) -> str:
    """A configuration in a line: `threads = 4, flags = O2`."""
    return ", ".join(f"{name} = {value}" for name, value in config.items())
