"""What a terminal shows while an experiment goes on."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from rich.live import Live

from compass.cli.watch import LiveWatch
from compass.experiment.experiment import Experiment

LABELS = ["conjugate-gradient-with-jacobi", "generalised-minimal-residual", "direct-factorisation"]
PLAN = {
    "columns": {
        "threads": {"allowed": [1, 2, 4, 8, 16]},
        **{f"option_number_{n}": {"values": LABELS} for n in range(8)},
    },
    "goals": {"runtime": "minimize"},
    "budget": 60,
    "starts": 60,
}


@pytest.fixture
def experiment(tmp_path: Path) -> Iterator[Experiment]:
    with Experiment.start(PLAN, tmp_path / "tune.experiment") as begun:
        yield begun


class Screen:
    """A terminal of 80 columns on which an experiment is watched."""

    def __init__(self, experiment: Experiment, height: int = 24) -> None:
        self._console = Console(file=io.StringIO(), width=80, height=height, force_terminal=True)
        self._live = Live(console=self._console, auto_refresh=False)
        self.watch = LiveWatch(experiment, self._live)
        self.watch.tick()

    def lines(self) -> list[str]:
        """What it shows now."""
        found = self._console.render_lines(self._live.get_renderable(), pad=False)
        return ["".join(part.text for part in line).rstrip() for line in found]

    def numbers(self) -> list[int]:
        """The numbers of the runs that it shows, from above."""
        lines = self.lines()
        (head,) = (place for place, line in enumerate(lines) if line.split()[:1] == ["run"])
        return [int(line.split()[0]) for line in lines[head + 1 :]]


def test_a_run_that_ends_long_after_it_was_submitted_is_seen(experiment: Experiment) -> None:
    screen = Screen(experiment)
    for run in experiment.next(30):
        screen.watch.changed(run)
    for number in (*range(2, 31), 1):
        experiment.tell(number, {"runtime": 100.0 + number})
        screen.watch.changed(experiment.run(number))
    assert screen.numbers()[-3:] == [29, 30, 1]
    lines = screen.lines()
    assert lines[0].startswith("30 of 60 runs")
    assert lines[1].startswith("best: ✔ run 1 runtime 101")


@pytest.mark.parametrize("height", [10, 24])
def test_every_run_is_one_line_and_all_fit(experiment: Experiment, height: int) -> None:
    screen = Screen(experiment, height)
    for run in experiment.next(30):
        screen.watch.changed(run)
    for number in range(1, 16):
        experiment.tell(number, failed="the solver did not converge within the given steps")
        screen.watch.changed(experiment.run(number))
    assert len(screen.lines()) < height
    shown = screen.numbers()
    assert 15 in shown
    assert [number for number in shown if number > 15]  # those that are made are there, too
    assert "15 awaited, 15 failed" in screen.lines()[0]


def test_what_was_cancelled_is_not_done(experiment: Experiment) -> None:
    first, second, third = experiment.next(3)
    screen = Screen(experiment)
    experiment.cancel(first.number)
    screen.watch.changed(experiment.run(first.number))
    experiment.tell(second.number, infeasible="too few nodes")
    screen.watch.changed(experiment.run(second.number))
    assert screen.lines()[0].startswith("0 of 60 runs")
    experiment.tell(third.number, {"runtime": 3.0})
    screen.watch.changed(experiment.run(third.number))
    assert screen.lines()[0].startswith("1 of 60 runs")


def test_runs_of_other_processes_count(experiment: Experiment) -> None:
    screen = Screen(experiment)
    mine, other = experiment.next(2)
    experiment.tell(other.number, {"runtime": 2.0})
    experiment.tell(mine.number, {"runtime": 5.0})
    screen.watch.changed(experiment.run(mine.number))
    lines = screen.lines()
    assert lines[0].startswith("2 of 60 runs")
    assert lines[1].startswith(f"best: ✔ run {other.number} runtime 2")
