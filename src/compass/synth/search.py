"""A search that asks a synthesizer: configurations as past runs that met the goal had them.

The past runs are learnt with the outcomes of the question, and rows are drawn on the condition that
the outcomes are as wanted; where one is minimised or maximised, among the best tenth of the runs.
What is drawn is judged as any other candidate: by rules and by the models.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from compass import registry
from compass.domain.space import Category, Number, Role, Space
from compass.domain.target import Target
from compass.generate.base import Candidates, Floats
from compass.generate.pick import pick, preferred
from compass.generate.repair import restore_forced
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.rules import Domain
from compass.rules.domains import domain_of, of_values
from compass.settings import SynthesisSettings
from compass.synth.base import silent, synthesizer

_DRAWS = 5_000
_BEST = 0.1  # share of the runs that count as good where an outcome is minimised
_LEAST = 10  # runs below which there is nothing to learn
_SYNTHESIZER = "cart"


@dataclass(frozen=True, eq=False)
class LearntRuns:
    """Past configurations with what was measured, to draw others like them."""

    X: Floats  # [n, d]
    y: Mapping[str, Floats]  # [n, outputs]
    space: Space

    def generate(self, task: SearchTask) -> Candidates:
        """The best configurations that were drawn, and the start if it is legal."""
        X = np.vstack([task.start[None, :], self._drawn(task)])
        scored = score(task, np.unique(restore_forced(task, X), axis=0))
        legal = scored.take(np.flatnonzero(scored.violation == 0))
        ranked = preferred(task, legal)
        if (ranked.valid <= 0).any():  # who meets the goals needs no company of those who do not
            ranked = ranked.take(np.flatnonzero(ranked.valid <= 0))
        best = ranked.take(pick(task, ranked))
        return best.candidates(evaluated=len(scored))

    def _drawn(self, task: SearchTask) -> Floats:
        """Configurations drawn on the condition of the goals, [m, d]."""
        goals = [target for target in task.targets if target.name in self.y]
        columns = [self._outcome(target, task.labels.get(target.name, 0)) for target in goals]
        rows = np.column_stack([self.X, *(column for _, column, _ in columns)])
        rows = rows[~np.isnan(rows).any(axis=1)]
        if not len(task.movable) or len(rows) < _LEAST:
            return np.empty((0, len(task.start)))
        outcomes = [parameter for parameter, _, _ in columns]
        space = Space(parameters=(*self.space.parameters, *outcomes))
        model = synthesizer(_SYNTHESIZER).fit(
            rows, space, seed=task.seed, settings=SynthesisSettings(), tell=silent
        )
        given = np.full((_DRAWS, len(space)), np.nan)
        given[:, : len(task.start)] = task.start
        given[:, task.movable] = np.nan
        legal = [domain_of(parameter) for parameter in self.space]
        domains = (*legal, *(domain for _, _, domain in columns))
        drawn = model.sample(given, domains, np.random.default_rng(task.seed))
        return drawn[:, : len(task.start)]

    def _outcome(
        self, target: Target, label_place: int
    ) -> tuple[Number | Category, Floats, Domain]:
        """The outcome of a target as a column, its values [n], and those that are wanted."""
        measured = self.y[target.name]
        unknown = np.isnan(measured).any(axis=1)
        name = f"outcome {target.name}"
        if target.is_class:
            column = np.where(unknown, np.nan, np.nan_to_num(measured).argmax(axis=1))
            labels = tuple(range(measured.shape[1]))
            label = Category(name=name, role=Role.OUTCOME, values=labels)
            one = of_values(np.array([float(label_place)]), None)
            return label, column, one
        column = measured[:, 0]
        seen = column[~unknown]
        low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 0.0)
        number = Number(name=name, role=Role.OUTCOME, low=low, high=high)
        return number, column, _wanted(target, seen, domain_of(number))


def _wanted(target: Target, seen: Floats, legal: Domain) -> Domain:
    """The measured values that a target asks for; all, where none was measured."""
    good = seen[(seen >= target.low) & (seen <= target.high)]
    if not len(good):
        return legal
    if target.direction is None:
        return legal.clip((target.low, target.high))
    share = _BEST if target.direction == "minimize" else 1 - _BEST
    edge = float(np.quantile(good, share))
    small = target.direction == "minimize"
    best = good[good <= edge] if small else good[good >= edge]
    return of_values(np.unique(best), None)


@registry.add("generator", "synthetic")
class SyntheticSearch:
    """Draws configurations as past runs that met the goals had them; learns for every question."""

    name = "synthetic"

    @staticmethod
    def fit(X: Floats, y: Mapping[str, Floats], *, space: Space, seed: int) -> LearntRuns:
        """Keep the past runs; what is learnt of them depends on the goals."""
        del seed
        return LearntRuns(X, y, space)
