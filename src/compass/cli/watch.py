"""Watching an experiment: a live table on a terminal, lines in a pipe, events as JSON."""

import json
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from compass.domain.experiment import ExperimentReport, ExperimentRun, RunOrigin, RunState

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from compass.domain.front import Front
    from compass.experiment.experiment import Experiment

_SHOWN = 12  # runs on a terminal, where it is high enough
_TRIED = (RunState.DONE, RunState.FAILED)  # what counts as done of a budget
_MARK = {
    RunState.DONE: "✔",
    RunState.FAILED: "✘",
    RunState.INFEASIBLE: "✘",
    RunState.CANCELLED: "-",
    RunState.RUNNING: "▸",
    RunState.SUBMITTED: "…",
    RunState.SUGGESTED: "·",
}


class Watch:
    """Sees every change of a run; this one prints a line on standard error for each end."""

    def __init__(self, experiment: "Experiment") -> None:
        self._experiment = experiment
        self._best: ExperimentRun | None = None
        self._front: Front | None = None
        self.notes: list[str] = []

    def changed(self, run: ExperimentRun) -> None:
        """A run came further."""
        if run.state.ended:
            self._line(run_line(run, self._experiment.units))

    def tick(self) -> None:
        """Time passed."""

    def note(self, text: str) -> None:
        """Something worth knowing."""
        self._line(f"note: {text}")

    def report(self, report: ExperimentReport) -> None:
        """The end."""
        from compass.cli.experiments import print_report

        print_report(report, self._experiment)

    @staticmethod
    def _line(text: str) -> None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


class JsonWatch(Watch):
    """Prints each change, and the report at the end, as a line of JSON."""

    def changed(self, run: ExperimentRun) -> None:
        """A run came further."""
        self._event("run", run.model_dump(mode="json", exclude_defaults=True))

    def note(self, text: str) -> None:
        """Something worth knowing."""
        self._event("note", text)

    def report(self, report: ExperimentReport) -> None:
        """The end."""
        self._event("report", report.model_dump(mode="json"))

    @staticmethod
    def _event(kind: str, facts: Any) -> None:
        sys.stdout.write(json.dumps({"event": kind, kind: facts}) + "\n")
        sys.stdout.flush()


class LiveWatch(Watch):
    """The runs that ended last and those that are made, as a table, with the best so far."""

    def __init__(self, experiment: "Experiment", live: "Live") -> None:
        super().__init__(experiment)
        self._live = live
        self._last: deque[ExperimentRun] = deque(maxlen=_SHOWN)  # in the order of their ends
        self._waiting: dict[int, ExperimentRun] = {}
        self._began = time.monotonic()
        self._done: dict[int, ExperimentRun] = {}  # with a result, what several goals need
        self._tried: set[int] = set()  # runs of the budget
        self._failed = 0
        self._event = 0  # up to which the store was read
        self._read()
        self._before = len(self._tried)

    def changed(self, run: ExperimentRun) -> None:
        """A run came further."""
        if run.state.ended:
            self._waiting.pop(run.number, None)
            self._last.append(run)
            self._failed += run.state is RunState.FAILED
            self._read()
        else:
            self._waiting[run.number] = run
        self.tick()

    def tick(self) -> None:
        """Time passed."""
        self._live.update(self._table(), refresh=True)

    def note(self, text: str) -> None:
        """Something worth knowing."""
        self._live.console.print(f"note: {text}", markup=False)

    def _read(self) -> None:
        """Take in which runs ended since the last look, those of other processes too."""
        from compass.experiment.front import front_of_runs
        from compass.experiment.status import best_run

        store, name = self._experiment.store, self._experiment.name
        new = store.runs(name, _TRIED, self._event)
        self._event = max((run.event for run in new), default=self._event)
        self._tried.update(run.number for run in new if run.origin is not RunOrigin.HISTORY)
        done = {run.number: run for run in new if run.state is RunState.DONE}
        if len(self._experiment.objective.extremes) > 1:
            # What several goals are worth together may hang on all runs.
            self._done |= done
        else:
            best = {} if self._best is None else {self._best.number: self._best}
            self._done = best | done
        runs = [self._done[number] for number in sorted(self._done)]
        objective = self._experiment.objective
        if objective.traded:
            self._front = front_of_runs(objective, runs)
        else:
            self._best = best_run(objective, runs)

    def _table(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        from compass.cli.experiments import runs_table

        console = self._live.console
        above = [Text(self._head())]
        if self._front is not None:
            above.append(Text(front_line(self._front, self._experiment.units), style="green"))
        if self._best is not None:
            above.append(
                Text(f"best: {run_line(self._best, self._experiment.units)}", style="green")
            )
        high = sum(len(text.wrap(console, console.width)) for text in above)
        # Where there is no room for all, a terminal shows the beginning.
        room = min(_SHOWN, max(console.height - high - 2, 1))
        table = runs_table(self._shown(room), self._experiment, console, one_line=True)
        return Group(*above, table)

    def _head(self) -> str:
        budget, done = self._experiment.plan.budget, len(self._tried)
        parts = [f"{done} of {budget} runs"]
        if done > self._before:
            left = (budget - done) * (time.monotonic() - self._began) / (done - self._before)
            parts.append(f"about {_minutes(left)} left" if left > 0 else "")
        parts.append(f"{len(self._waiting)} awaited" if self._waiting else "")
        parts.append(f"{self._failed} failed" if self._failed else "")
        return ", ".join(filter(None, parts))

    def _shown(self, room: int) -> list[ExperimentRun]:
        """As many runs as there is room for: ended ones in their order, then running ones.

        Where there are many of both, each has half of the room.
        """
        running = sorted(self._waiting.values(), key=lambda run: run.state is not RunState.RUNNING)
        running = running[: max(room - len(self._last), room // 2)]
        ended = room - len(running)
        return [*(list(self._last)[-ended:] if ended else ()), *running]


@contextmanager
def watching(experiment: "Experiment", *, as_json: bool) -> Iterator[Watch]:
    """How an experiment is watched here."""
    if as_json:
        yield JsonWatch(experiment)
        return
    if not sys.stderr.isatty():
        yield Watch(experiment)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        watch = LiveWatch(experiment, live)
        watch.tick()
        yield watch
        live.stop()


def front_line(front: "Front", units: Mapping[str, str]) -> str:
    """A front in one line: how many trade-offs, from where to where, the volume."""
    from compass.domain.quantity import number, quantity

    parts = []
    for name in front.directions:
        values = [point.values[name] for point in front.points]
        ends = [quantity(value, units.get(name)) for value in (min(values), max(values))]
        parts.append(f"{name} {' to '.join(dict.fromkeys(ends))}")
    count = f"{len(front.points)} trade-off{'' if len(front.points) == 1 else 's'}"
    return f"{count}: {', '.join(parts)}; hypervolume {number(front.hypervolume)}"


def run_line(run: ExperimentRun, units: Mapping[str, str]) -> str:
    """A run in one line: number, what came out, what was predicted, the settings."""
    from compass.domain.quantity import quantity

    parts = [f"{_MARK[run.state]} run {run.number}"]
    parts += [f"{n} {quantity(v, units.get(n))}" for n, v in run.outcomes.items()]
    if run.predicted and run.state is RunState.DONE:
        told = ", ".join(quantity(one.value, one.unit) for one in run.predicted)
        label = f", {run.label.value}" if run.label else ""
        parts.append(f"(predicted {told}{label})")
    if run.reason and run.state is not RunState.DONE:
        parts.append(f"{run.state.value}: {run.reason}")
    settings = ", ".join(
        f"{n} = {v:g}" if isinstance(v, float) else f"{n} = {v}" for n, v in run.config.items()
    )
    return f"{' '.join(parts)}: {settings}"


def _minutes(seconds: float) -> str:
    from compass.domain.quantity import quantity

    return quantity(float(f"{seconds:.2g}"), "s")
