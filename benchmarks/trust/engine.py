"""An engine that learnt a part of a table, and what it says about runs that it has not seen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.trust.problems import Problem, Rows
from compass.domain.answer import Trust
from compass.evidence.assessor import Assessor
from compass.learn.outcomes import OutcomeModel
from compass.learn.score import row_errors, small

Floats = NDArray[np.float64]
_DECIDE = 2000  # rows on which the family and the scale of an outcome are chosen


@dataclass(frozen=True)
class Learnt:
    """One outcome learnt from a part of the rows."""

    problem: Problem
    engine: cp.Compass
    assessor: Assessor
    trained: OutcomeModel
    small: float  # amounts below this count as this much when errors and widths are made relative

    @property
    def calibration(self) -> int:
        """Rows that the intervals were calibrated on."""
        return self.trained.card.checked

    @property
    def draws(self) -> float:
        """How many independent draws these rows are: repeats of a configuration share an error."""
        interval = self.trained.interval
        return float(interval.weights.sum() / interval.unseen) if interval is not None else 0.0

    def trust(self, X: Floats) -> list[Trust]:
        """Label and scores of configurations [n, d]."""
        return self.assessor.trust(X)

    def errors(self, X: Floats, y: Floats) -> Floats:
        """Relative error of each run, [n]; of classes 0 or 1."""
        said = self.trained.model.predict(X)
        if self.problem.classes:
            return np.asarray(np.argmax(said, axis=1) != y, dtype=np.float64)
        return row_errors(y, said[:, 0], scale=self.small)

    def band(self, X: Floats, level: float) -> tuple[Floats, Floats]:
        """Both ends [n] of the interval of a new run at configurations X [n, d]."""
        settings = self.engine.settings.model_copy(update={"interval": level})
        self.assessor.store.settings, before = settings, self.assessor.store.settings
        try:
            model = self.trained.model
            found = self.assessor.band(self.problem.outcome, model.predict(X), model.spread(X))
        finally:
            self.assessor.store.settings = before
        assert found is not None
        return found


def plain(surrogate: str) -> cp.Settings:
    """The defaults with one family, on one processor: two tables are studied at once."""
    own = cp.Settings()
    trust = own.trust.model_copy(update={"evidence": 0})
    return own.model_copy(update={"surrogate": surrogate, "threads": 1, "trust": trust})


def decided(problem: Problem, rows: Rows, surrogate: str, seed: int) -> cp.Settings:
    """Settings with the family and the scale that win on some of the rows [n].

    Choosing takes far longer than learning and hardly depends on the split: it is done once.
    """
    some = np.sort(np.random.default_rng([seed, 3]).permutation(rows)[:_DECIDE])
    recipe = learn(problem, some, plain(surrogate), seed).trained.recipe
    scale = "log" if recipe.log else "linear"
    return plain(recipe.family).model_copy(update={"scale": scale})


def learn(problem: Problem, rows: Rows, settings: cp.Settings, seed: int) -> Learnt:
    """An engine that learnt the outcome from these rows [n]."""
    engine = cp.Compass(problem.part(rows), settings=settings, seed=seed)
    names = problem.features.names
    if engine.space.select(names) != problem.features:
        raise ValueError(f"{problem.name}: a part of the table has other values than the whole")
    trained = engine.store.train(names, (problem.outcome,))
    assessor = Assessor(engine.store, engine.store.view_of(names), trained)
    scale = 0.0 if problem.classes else small(problem.y[rows])
    return Learnt(problem, engine, assessor, trained[problem.outcome], scale)
