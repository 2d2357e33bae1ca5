"""DiCE: random, genetic and kdtree, asked for one suggestion. Runs in the peers' environment.

DiCE is told ranges, fixed columns and precisions; it has no place for rules between columns, nor
for legal values of numbers: its numbers are moved to the nearest legal value.
"""

import contextlib
import io
import random
import warnings
from typing import Any

import numpy as np

from benchmarks.masked_peers.case import RECONFIGURE, Case, Question, Reply, grow, main, replies

METHODS = ("random", "genetic", "kdtree")
OUTCOME = "the outcome"


class Encoded:
    """The forest behind labels, as DiCE wants to call it."""

    def __init__(self, forest: Any, case: Case) -> None:
        self.forest, self.case = forest, case

    def predict(self, frame: Any) -> Any:
        """Predictions [n] for a frame with labels."""
        return self.forest.predict(codes(self.case, frame))


def codes(case: Case, frame: Any) -> Any:
    """A frame with labels as an encoded array [n, d]."""
    X = np.empty((len(frame), len(case.columns)))
    for j, column in enumerate(case.columns):
        values = frame[column.name]
        X[:, j] = [float(v[1:]) for v in values] if column.labels else values.astype(float)
    return X


def frame_of(case: Case, X: Any) -> Any:
    """Encoded rows as a frame; labels are told as words, which DiCE needs."""
    import pandas as pd

    return pd.DataFrame(
        {
            column.name: [f"v{int(v)}" for v in X[:, j]] if column.labels else X[:, j]
            for j, column in enumerate(case.columns)
        }
    )


def run(case: Case) -> dict[str, list[Reply]]:
    """The replies of every method."""
    import dice_ml

    warnings.filterwarnings("ignore")
    frame = frame_of(case, case.X)
    frame[OUTCOME] = case.y
    numbers = [one.name for one in case.columns if not one.labels]
    data = dice_ml.Data(
        dataframe=frame,
        continuous_features=numbers,
        outcome_name=OUTCOME,
        continuous_features_precision=dict.fromkeys(numbers, 3),
    )
    encoded = Encoded(grow(case), case)
    model = dice_ml.Model(model=encoded, backend="sklearn", model_type="regressor")
    found = {}
    for method in METHODS:
        explainer = dice_ml.Dice(data, model, method=method)

        def ask(question: Question, explainer: Any = explainer, method: str = method) -> Any:
            return suggestion(case, explainer, question, method)

        name = f"DiCE {method}"
        found[name] = replies(name, case.of(RECONFIGURE), ask)
    return found


def suggestion(case: Case, explainer: Any, question: Question, method: str) -> Any:
    """The first suggestion, its numbers at legal values."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - DiCE draws from the global generators
    free = [case.columns[place] for place in case.asked]
    permitted: dict[str, Any] = {
        one.name: [f"v{i}" for i in range(len(one.labels))] if one.labels else [one.low, one.high]
        for one in free
    }
    with contextlib.redirect_stdout(io.StringIO()):
        found = explainer.generate_counterfactuals(
            frame_of(case, np.array([question.row])),
            total_CFs=1,
            desired_range=[question.low, question.high],
            permitted_range=permitted,
            features_to_vary=[one.name for one in free],
            **({"random_seed": 0} if method == "random" else {}),
        )
    example = found.cf_examples_list[0]
    frame = example.final_cfs_df_sparse
    if frame is None or not len(frame):
        frame = example.final_cfs_df
    if frame is None or not len(frame):
        return None, None, "nothing found"
    row = codes(case, frame)[0]
    for place in case.asked:
        row[place] = case.columns[place].nearest(row[place])
    return row, None, ""


if __name__ == "__main__":
    main(run, "run_dice")
