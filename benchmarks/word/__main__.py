"""Do answers keep their word? `make word`.

goals   laws of jobs, ten analytical laws and exhaustive tables, at a stated chance of 50, 80 and
        95 %: the share of answers whose first suggestion truly meets its goal
peers   the reductions among these questions put to DiCE, treecf and a look-up of measured runs
labels  how often the first suggestion is trusted, and how often a trusted one keeps its promise
first   the first suggestion for the minimum, in every context of tables that are wholly learnt

Truth is a new run drawn from the law, or what was measured of the configuration. Nothing is tuned
for a table: every engine has the default settings. Shares are printed with their 95 % Wilson
interval; `--json` keeps every question. The exit code is 1 where a target is missed.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.roles import data_folder
from benchmarks.show import save
from benchmarks.word import analytic, exhaustive, first, goals, labels, lookup, peers
from benchmarks.word.judge import Check
from benchmarks.word.laws import LAWS, JobLaw
from benchmarks.word.questions import SEED

Report = tuple[str, list[Check], list[Any]]  # what is printed, targets, every question


@dataclass(frozen=True)
class Plan:
    """How much is asked; 0 rows, subjects or contexts: all that there are."""

    jobs: int = 300  # questions per law of jobs
    analytic: int = 30  # per analytical law
    space: int = 24  # per space of an exhaustive table
    peers: int = 60  # per law of jobs
    labels: int = 120  # per law of jobs
    table: int = 24  # per outcome of a public table
    trace: int = 100
    rows: int = 0  # that are learnt of a law or trace
    subjects: int = 0  # of the analytical laws, spaces, and tables
    contexts: int = 0  # per table
    patience: int = 20  # seconds that another tool may take for a question


QUICK = Plan(12, 6, 4, 3, 8, 6, 6, rows=1000, subjects=1, contexts=1, patience=3)


class Word:
    """The parts, for the subjects that were asked for."""

    def __init__(self, plan: Plan, python: str, subjects: Sequence[str], folder: Path) -> None:
        self.plan, self.python, self.subjects, self.folder = plan, python, subjects, folder

    def goals(self) -> Report:
        """Part A."""
        plan, found = self.plan, []
        for law in self._laws():
            found += goals.examine(law, self._rows(law), plan.jobs, goals.CHANCES)
        if self._wanted(analytic.GROUP):
            for law in self._some(analytic.analytic()):
                found += goals.examine(
                    law, self._rows(law), plan.analytic, goals.CHANCES, analytic.GROUP
                )
        if self._wanted(exhaustive.GROUP):
            for space in self._some(list(exhaustive.every_space(self.folder))):
                found += exhaustive.examine(space, plan.space, goals.CHANCES)
        told = goals.summaries(found, goals.CHANCES)
        return goals.show(told), goals.checks(goals.parts(told)), found

    def peers(self) -> Report:
        """Part B."""
        found = []
        for law in self._laws():
            rows, plan = self._rows(law), self.plan
            found += peers.examine(law, rows, plan.peers, self.python, plan.patience)
        return peers.show(peers.lines(found)), peers.checks(found), found

    def labels(self) -> Report:
        """Part C."""
        plan, found = self.plan, []
        for law in self._laws():
            found += labels.by_law(law, self._rows(law), plan.labels)
        tables = lookup.few_problems if plan.subjects else lookup.table_problems
        for name, problem in tables(self.folder).items():
            if self._wanted(name):
                found += labels.by_table(name, problem, plan.table)
        if self._wanted("traces"):
            found += labels.by_trace(self.folder, plan.trace, plan.rows)
        told = labels.lines(found)
        return labels.show(told), labels.checks(told, [law.name for law in LAWS]), found

    def first(self) -> Report:
        """Part D."""
        found = []
        for name, source in first.known().items():
            absent = source.absent(self.folder)
            if absent:
                goals.say(f"{name}: skipped, {self.folder} has no {', '.join(absent)}")
            # The largest table takes longer to learn than everything else that is quick.
            elif self._wanted(name) and not (self.plan.contexts and name == "convolution"):
                found += first.examine(source, self.folder, self.plan.contexts)
        return first.show(found), first.checks(found), found

    def _laws(self) -> list[JobLaw]:
        return [law for law in LAWS if self._wanted(law.name)]

    def _rows(self, law: JobLaw) -> int:
        return min(self.plan.rows, law.rows) if self.plan.rows else law.rows

    def _wanted(self, name: str) -> bool:
        return not self.subjects or name in self.subjects

    def _some(self, every: list[Any]) -> list[Any]:
        """A few that are spread over the list, where few are wanted."""
        few = self.plan.subjects
        return every[:: max(len(every) // few, 1)][:few] if few else every


def parts_of(word: Word) -> dict[str, Callable[[], Report]]:
    """Every part by name, in the order of the report."""
    return {
        "goals": word.goals,
        "peers": word.peers,
        "labels": word.labels,
        "first": word.first,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts, print, and say whether all targets are reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.word", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    names = ("goals", "peers", "labels", "first")
    parser.add_argument("--only", action="append", choices=names, help="this part (may repeat)")
    parser.add_argument(
        "--subject",
        action="append",
        metavar="NAME",
        help="this law or table (may repeat): jobs, cluster, analytic, exhaustive, traces, zeus...",
    )
    parser.add_argument("--questions", type=int, help="of part A, per law of jobs (300)")
    parser.add_argument("--quick", action="store_true", help="few rows and questions: two minutes")
    parser.add_argument("--python", default=".venv-peers/bin/python", help="of the other tools")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep every question here")
    given = parser.parse_args(arguments)
    plan = QUICK if given.quick else Plan()
    if given.questions:
        plan = Plan(**{**asdict(plan), "jobs": given.questions})
    word = Word(plan, given.python, given.subject or (), data_folder())
    seeds = {"questions": SEED, "engine": goals.ENGINE_SEED}
    kept: dict[str, Any] = {"seeds": seeds, "plan": asdict(plan)}
    found: list[Check] = []
    for name, part in parts_of(word).items():
        if name not in (given.only or names):
            continue
        began = time.perf_counter()
        text, checks, questions = part()
        goals.say(f"{name}: {time.perf_counter() - began:.0f} s")
        if not questions:
            goals.say(f"{name}: nothing was asked")
            continue
        print(f"{name}\n{text}\n", flush=True)
        found += checks
        kept[name] = [asdict(one) for one in questions]
    for check in found:
        print(check)
    if given.json:
        save(given.json, {**kept, "checks": [asdict(check) for check in found]})
    return 0 if all(check.passed for check in found) else 1


if __name__ == "__main__":
    sys.exit(main())
