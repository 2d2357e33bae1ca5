"""DiCE: random, genetic and kdtree, four suggestions each. Runs in the peers' environment.

DiCE is told ranges, fixed columns and precisions; it has no place for rules between columns.
"""

import contextlib
import io
import random
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.word.case import Case, Reply, grow, load, ranges, save_replies, told
from benchmarks.word.laws import JobLaw
from benchmarks.word.questions import Question

COUNT = 4
METHODS = ("random", "genetic", "kdtree")


class TooLong(BaseException):
    """A search that does not end; no ordinary exception, which DiCE might catch."""


def _stop(*_: object) -> None:
    raise TooLong


class Encoded:
    """The forest behind the table's own labels, as DiCE wants to call it."""

    def __init__(self, forest: Any, law: JobLaw) -> None:
        self.forest, self.law = forest, law

    def predict(self, frame: Any) -> Any:
        """Predictions [n] for a frame with labels."""
        X = np.empty((len(frame), len(self.law.columns)))
        for j, column in enumerate(self.law.columns):
            values = frame[column.name]
            if column.labels:
                place = {label: float(i) for i, label in enumerate(column.labels)}
                X[:, j] = [place[v] for v in values]
            else:
                X[:, j] = values.to_numpy(dtype=float)
        return self.forest.predict(X)


def run(case: Case) -> dict[str, list[Reply]]:
    """The replies of every method."""
    import dice_ml
    import pandas as pd

    warnings.filterwarnings("ignore")
    law = case.law
    frame = pd.DataFrame(law.columns_of(case.X, case.y))[[*law.names, law.outcome]]
    data = dice_ml.Data(
        dataframe=frame,
        continuous_features=[c.name for c in law.columns if not c.labels],
        outcome_name=law.outcome,
        continuous_features_precision={
            c.name: 3 for c in law.columns if not c.whole and not c.labels
        },
    )
    model = dice_ml.Model(model=Encoded(grow(case), law), backend="sklearn", model_type="regressor")
    found = {}
    for method in METHODS:
        explainer = dice_ml.Dice(data, model, method=method)
        own = []
        for place, question in enumerate(case.questions):
            began = time.process_time()
            rows, note = ask(explainer, case, question, method)
            took = time.process_time() - began
            own.append(Reply(question.number, tuple(map(tuple, rows)), took, note))
            told(f"DiCE {method}", place, len(case.questions), took)
        found[f"DiCE {method}"] = own
    return found


def ask(
    explainer: Any, case: Case, question: Question, method: str
) -> tuple[list[list[float]], str]:
    """Suggestions, encoded, or why there are none."""
    import pandas as pd

    law = case.law

    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - DiCE draws from the global generators
    permitted: dict[str, Any] = {}
    for name, (low, high) in ranges(law, question).items():
        column = law.columns[law.names.index(name)]
        permitted[name] = list(column.labels) if column.labels else [low, high]
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(case.patience)  # the genetic search may go on for ever
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            found = explainer.generate_counterfactuals(
                pd.DataFrame([law.decode(question.row)]),
                total_CFs=COUNT,
                desired_range=[0.0, question.ceiling],
                permitted_range=permitted,
                features_to_vary=list(question.free),
                **({"random_seed": 0} if method == "random" else {}),
            )
    except Exception as error:  # DiCE raises when it finds nothing: that is its answer
        return [], f"{type(error).__name__}: {error}"[:200]
    except TooLong:
        return [], f"no answer in {case.patience} s"
    finally:
        signal.alarm(0)
    example = found.cf_examples_list[0]
    frame = example.final_cfs_df_sparse
    if frame is None:
        frame = example.final_cfs_df
    if frame is None:
        return [], "nothing found"
    return [law.encode(row).tolist() for row in frame[list(law.names)].to_dict("records")], ""


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    save_replies(folder / "run_dice.json", run(load(folder)))
