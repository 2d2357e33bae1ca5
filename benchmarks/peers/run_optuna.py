"""Optuna's TPE with constraints: 300 trials, one suggestion. Runs in the peers' environment.

The distance is minimised; the goal and the rules are constraints of the trials, the ranges are
those that the rules leave, and the start is the first trial.
"""

import warnings
from typing import Any

import numpy as np

from benchmarks.peers.ask import Answer, main, sheet
from benchmarks.peers.case import VARIANTS, Case, Question, Sheet, limits
from benchmarks.peers.forest import grow
from benchmarks.peers.jobs import COLUMNS, NAMES, RULES
from benchmarks.peers.judge import distance

TRIALS = 300
SETTINGS = "optuna TPESampler(seed=0), 300 trials, start enqueued, goal and rules as constraints"


def run(case: Case) -> list[Sheet]:
    """The replies to both variants."""
    import optuna

    warnings.filterwarnings("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    forest = grow(case)
    probe = forest.predict(np.array([q.start for q in case.questions])).tolist()
    scale = np.array(case.scale)
    return [
        sheet(case, "Optuna TPE", variant, 1, SETTINGS, _Optuna(forest, scale, variant), probe)
        for variant in VARIANTS
    ]


class _Optuna:
    """A study per question."""

    def __init__(self, forest: Any, scale: Any, variant: str) -> None:
        self.forest, self.scale, self.variant = forest, scale, variant

    def __call__(self, question: Question) -> Answer:
        import optuna

        start, ranges = question.row, limits(question.row, self.variant)

        def objective(trial: Any) -> float:
            row = start.copy()
            for name, (low, high) in ranges.items():
                row[NAMES.index(name)] = _suggest(trial, name, low, high)
            predicted = float(self.forest.predict(row[None, :])[0])
            broken = [float(rule.excess(row[None, :], NAMES)[0]) for rule in RULES]
            for number, excess in enumerate(broken):
                trial.set_constraint(f"rule {number}", excess)
            trial.set_constraint("goal", predicted - question.ceiling)
            trial.set_user_attr("row", row.tolist())
            trial.set_user_attr("predicted", predicted)
            return float(distance(row[None, :], start, self.scale)[0])

        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
        study.enqueue_trial({name: _said(name, start) for name in ranges})
        study.optimize(objective, n_trials=TRIALS)
        try:
            best = study.best_trial
        except ValueError as error:  # no trial obeys all constraints
            return [], [], str(error)[:200]
        return [best.user_attrs["row"]], [best.user_attrs["predicted"]], ""


def _suggest(trial: Any, name: str, low: float, high: float) -> float:
    column = COLUMNS[NAMES.index(name)]
    if column.labels:
        return float(column.labels.index(trial.suggest_categorical(name, column.labels)))
    if column.whole:
        return float(trial.suggest_int(name, int(low), int(high)))
    return float(trial.suggest_float(name, low, high))


def _said(name: str, start: Any) -> Any:
    j = NAMES.index(name)
    column, value = COLUMNS[j], start[j]
    if column.labels:
        return column.labels[int(value)]
    return int(value) if column.whole else float(value)


if __name__ == "__main__":
    main("run_optuna", run)
