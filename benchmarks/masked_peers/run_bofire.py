"""BoFire 0.5: SoboStrategy with the target as objective, one suggestion. In its own environment.

It is told 80 past runs, those with the most given values in common first, with the logarithm of the
outcome. Given columns are fixed, asked numbers are continuous and moved to the nearest legal value;
rules that are not linear cannot be told. For a what-if its Gaussian process predicts. Every
question has a domain of its own.
"""

import math
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.masked_peers.case import (
    RECOMMEND,
    WHAT_IF,
    Case,
    Question,
    Reply,
    main,
    replies,
)

RUNS = 80
OUTCOME = "outcome"


def run(case: Case) -> dict[str, list[Reply]]:
    """The replies to recommendations and what-ifs."""
    warnings.filterwarnings("ignore")

    def ask(question: Question) -> Any:
        from bofire.strategies.api import SoboStrategy

        past = history(case, question)
        strategy = SoboStrategy.make(domain=domain(case, question, past), seed=case.seed)
        strategy.tell(past)
        if question.kind == WHAT_IF:
            told = strategy.predict(frame(case, np.array([question.row])))
            return None, math.exp(told[f"{OUTCOME}_pred"].iloc[0]), ""
        found = strategy.ask(1)
        row = list(question.row)
        for place in case.asked:
            column = case.columns[place]
            value = found[f"x{place}"].iloc[0]
            row[place] = column.nearest(float(value[1:]) if column.labels else float(value))
        return row, None, ""

    began = time.process_time()
    import bofire.strategies.api  # noqa: F401 - what importing takes is not the first question's

    print(f"BoFire imported in {time.process_time() - began:.0f} CPU s")
    return {"BoFire": replies("BoFire", case.of(RECOMMEND, WHAT_IF), ask)}


def history(case: Case, question: Question) -> Any:
    """Past runs, those that have the most given values in common with the question."""
    given = [j for j in range(len(case.columns)) if j not in case.asked]
    differs = (case.X[:, given] != np.array(question.row)[given]).sum(axis=1)
    chosen = np.argsort(differs, kind="stable")[:RUNS]
    found = frame(case, case.X[chosen])
    found[OUTCOME] = np.log(case.y[chosen])
    found[f"valid_{OUTCOME}"] = 1
    return found


def frame(case: Case, X: Any) -> Any:
    """Encoded rows as BoFire has them: labels are words."""
    import pandas as pd

    return pd.DataFrame(
        {
            f"x{j}": [f"v{int(v)}" for v in X[:, j]] if column.labels else X[:, j].astype(float)
            for j, column in enumerate(case.columns)
        }
    )


def domain(case: Case, question: Question, past: Any) -> Any:
    """The search space of a question: asked columns are free, the others fixed.

    BoFire wants two categories at least, and each of them to be among the runs or the question.
    """
    from bofire.data_models.domain.api import Domain
    from bofire.data_models.features.api import CategoricalInput, ContinuousInput, ContinuousOutput
    from bofire.data_models.objectives.api import CloseToTargetObjective

    inputs: list[Any] = []
    for j, column in enumerate(case.columns):
        value = question.row[j]
        fixed = j not in case.asked or question.kind == WHAT_IF
        if column.labels:
            own = {f"v{int(value)}"} if fixed else set()
            words = sorted({*past[f"x{j}"], *own})
            if len(words) < 2:
                continue  # the same in all runs and in the question: it says nothing
            allowed = [not fixed or word in own for word in words]
            inputs.append(CategoricalInput(key=f"x{j}", categories=words, allowed=allowed))
        else:
            bounds = (value, value) if fixed else (column.low, column.high)
            inputs.append(ContinuousInput(key=f"x{j}", bounds=bounds))
    middle = math.log((question.low + question.high) / 2)
    objective = CloseToTargetObjective(target_value=middle, exponent=1)
    return Domain.from_lists(
        inputs=inputs, outputs=[ContinuousOutput(key=OUTCOME, objective=objective)]
    )


if __name__ == "__main__":
    main(run, "run_bofire")
