"""Masked questions: hide some parameters of a run that was held out, and ask for them.

A held-out run never is in the engine's data, nor is any run of the same configuration. For each:

* recommend: everything but the asked parameters is given, the goal is a range of 5 % on either
  side of what was measured (the class, where the outcome is one), and the first suggestion is
  compared with the run's own parameters.
* reconfigure: the same goal, from a past run of the same context whose asked parameters differ;
  what else differs from the held-out run is stated as a change.
* what-if: from the same past run, all parameters of the held-out run are stated as a change, and
  the predicted outcomes are compared with the measured ones.

A question that fails or has no suggestion counts as an error of 100 %. For comparison, `copied`
takes the asked parameters from the past run that is nearest in what is given and in the goal.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.legal import Checker
from benchmarks.measure import NO_ANSWER, penalised, scale_of
from compass.domain.answer import Answer
from compass.domain.goal import Goal
from compass.domain.space import Number, Role, Space
from compass.prepare.encode import Encoder

Floats = NDArray[np.float64]
TOLERANCE = 0.05
KINDS = ("recommend", "reconfigure", "what-if")

Ask = Callable[[], Answer]


@dataclass
class Tally:
    """What came out of the questions of one kind on one partition."""

    errors: list[float] = field(default_factory=list)
    copied: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # the first question is not in here
    stages: dict[str, list[float]] = field(default_factory=dict)
    unanswered: int = 0
    forced: int = 0  # answers that moved something else because of a rule, and said so
    violations: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class HeldOut:
    """Runs that the engine has not seen, encoded in its own space."""

    space: Space
    values: Floats  # [n, d]

    def __iter__(self) -> Iterator[tuple[Floats, dict[str, Any]]]:
        encoder = Encoder(self.space)
        for row in self.values:
            yield row, encoder.decode(row)


class Examiner:
    """Asks one engine for what was hidden."""

    def __init__(
        self, engine: cp.Compass, ask: tuple[str, ...], goals: tuple[str, ...], checker: Checker
    ) -> None:
        self.engine = engine
        self.ask, self.goals, self.checker = ask, goals, checker
        self.space = engine.space
        self.features = self.space.having(Role.KNOB, Role.CONTEXT)
        self.given = tuple(name for name in self.features if name not in ask)
        self.prepared = engine.data.prepared
        self.scales = {name: self._scale(name) for name in (*ask, *goals)}

    def examine(self, held_out: HeldOut, seed: int) -> dict[str, Tally]:
        """Put the three questions for every held-out run."""
        rng = np.random.default_rng(seed)
        tallies = {kind: Tally() for kind in KINDS}
        for vector, run in held_out:
            start, stated = self.start(vector, rng)
            given = {name: run[name] for name in self.given}
            asked = {name: run[name] for name in self.ask}
            goals = {name: goal_for(run[name]) for name in self.goals}
            changed = {name: run[name] for name in stated}
            recommend = partial(self.engine.recommend, self.ask, goals, fixed=given)
            self._put(tallies["recommend"], recommend, given, asked)
            reconfigure = partial(self.engine.reconfigure, start, self.ask, goals, change=changed)
            self._put(tallies["reconfigure"], reconfigure, given, asked)
            what_if = partial(self.engine.what_if, start, changed | asked, self.goals)
            measured = {name: run[name] for name in self.goals}
            self._put(tallies["what-if"], what_if, given | asked, measured, outcomes=True)
            tallies["recommend"].copied.append(self._copied(vector, run))
        for tally in tallies.values():
            del tally.seconds[:1]
        return tallies

    def _put(
        self,
        tally: Tally,
        ask: Ask,
        given: dict[str, Any],
        want: dict[str, Any],
        *,
        outcomes: bool = False,
    ) -> None:
        began = time.perf_counter()
        try:
            answer = ask()
        except cp.CompassError as problem:
            tally.failures.append(str(problem))
            tally.errors.append(NO_ANSWER)
            return
        tally.seconds.append(time.perf_counter() - began)
        for stage, seconds in answer.seconds.items():
            tally.stages.setdefault(stage, []).append(seconds)
        # Goals here are narrow: what was found counts, whether or not it is likely enough.
        found = [*answer, *answer.ideas]
        for suggestion in found:
            tally.violations += self.checker.problems(suggestion, given)
        if not found:
            tally.unanswered += 1
            tally.errors.append(NO_ANSWER)
            return
        first = found[0]
        tally.forced += any(edit.forced_by for edit in first.edits)
        got = {o.name: o.value for o in first.outcomes} if outcomes else first.config
        broken = self.checker.share_broken(first.config)
        tally.errors.append(penalised(got, want, self.scales, broken))

    def start(self, vector: Floats, rng: np.random.Generator) -> tuple[int, list[str]]:
        """A past run to start from, and the given features in which it differs.

        Runs whose asked parameters are those of the held-out run would give the answer away.
        """
        past = self.prepared.columns_of(self.features)
        here = vector[[self.space.names.index(name) for name in self.features]]
        differs = past != here
        asked = np.array([name in self.ask for name in self.features])
        context = np.array([self.space[name].role is Role.CONTEXT for name in self.features])
        far = 1000 * differs[:, ~asked & context].sum(1) + differs[:, ~asked & ~context].sum(1)
        far = far + 10**6 * ~differs[:, asked].any(axis=1)
        row = int(rng.choice(np.flatnonzero(far == far.min())))
        other = [
            n for n, d, a in zip(self.features, differs[row], asked, strict=True) if d and not a
        ]
        return int(self.prepared.row_id[row]), other

    def _copied(self, vector: Floats, run: dict[str, Any]) -> float:
        """The error of the asked parameters of the nearest past run, broken rules included."""
        apart = np.zeros(self.prepared.rows)
        for name in (*self.given, *self.goals):
            past, here = self.prepared.column(name), vector[self.space.names.index(name)]
            number = isinstance(self.space[name], Number)
            scale = (scale_of(past) or 1.0) if number else 1.0
            apart += np.abs(past - here) / scale if number else past != here
        row = int(np.nanargmin(apart))
        past_run = Encoder(self.space).decode(self.prepared.values[row])
        got = {**{name: run[name] for name in self.given}, **{n: past_run[n] for n in self.ask}}
        want = {name: run[name] for name in self.ask}
        return penalised(got, want, self.scales, self.checker.share_broken(got))

    def _scale(self, name: str) -> float | None:
        parameter = self.space[name]
        if not isinstance(parameter, Number):
            return None
        values = self.prepared.column(name)
        return scale_of(values[values != parameter.none_code] if parameter.optional else values)


def goal_for(measured: Any) -> Goal:
    """The goal that a measured outcome stands for: a range around it, or its class."""
    if isinstance(measured, float | int) and not isinstance(measured, bool):
        slack = TOLERANCE * abs(measured)
        return cp.within(measured - slack, measured + slack)
    return cp.is_class(measured)
