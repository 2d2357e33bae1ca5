"""Optuna's TPE, 100 trials, one suggestion. Runs in the peers' environment.

The loss is how far the forest's prediction is outside the range (in units of its width), and for a
reconfiguration the distance from the start besides; rules are constraints of the trials.
"""

import warnings
from typing import Any

import numpy as np

from benchmarks.masked_peers.case import (
    RECOMMEND,
    RECONFIGURE,
    Case,
    Question,
    Reply,
    grow,
    main,
    replies,
)

TRIALS = 100
OUTSIDE = 100.0  # units of loss that a width outside the range costs: reaching it comes first


def run(case: Case) -> dict[str, list[Reply]]:
    """The replies to recommendations and reconfigurations."""
    import optuna

    warnings.filterwarnings("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    forest = grow(case)

    def ask(question: Question) -> Any:
        start = np.array(question.row)

        def objective(trial: Any) -> float:
            row = start.copy()
            for place in case.asked:
                row[place] = _suggest(trial, case, place)
            predicted = float(forest.predict(row[None, :])[0])
            trial.set_constraint("rules", float(case.broken(row)))
            trial.set_user_attr("row", row.tolist())
            outside = max(question.low - predicted, predicted - question.high, 0.0)
            loss = OUTSIDE * outside / (question.high - question.low)
            return loss + (_distance(case, row, start) if question.kind == RECONFIGURE else 0.0)

        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
        study.optimize(objective, n_trials=TRIALS)
        return study.best_trial.user_attrs["row"], None, ""

    return {"Optuna TPE": replies("Optuna", case.of(RECOMMEND, RECONFIGURE), ask)}


def _distance(case: Case, row: Any, start: Any) -> float:
    apart = 0.0
    for column, scale, one, other in zip(case.columns, case.scale, row, start, strict=True):
        apart += float(one != other) if column.labels else abs(one - other) / scale
    return apart


def _suggest(trial: Any, case: Case, place: int) -> float:
    column = case.columns[place]
    if column.choices():
        return float(trial.suggest_categorical(column.name, column.choices()))
    if column.whole:
        return float(trial.suggest_int(column.name, int(column.low), int(column.high)))
    return float(trial.suggest_float(column.name, column.low, column.high))


if __name__ == "__main__":
    main(run, "run_optuna")
