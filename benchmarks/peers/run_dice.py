"""DiCE 0.12: random, genetic and kdtree, four suggestions each. Runs in the peers' environment.

DiCE knows ranges, fixed features and precisions, and is told all three: the ranges that the rules
leave while other columns stay fixed included. It has no place for rules between columns.
"""

import contextlib
import io
import random
import warnings
from typing import Any

import numpy as np

from benchmarks.peers.ask import Answer, main, sheet
from benchmarks.peers.case import VARIANTS, Case, Question, Sheet, limits, movable
from benchmarks.peers.forest import grow
from benchmarks.peers.jobs import COLUMNS, NAMES, OUTCOME, columns_of, decode, encode

COUNT = 4
# Per tool: the method and what differs from the defaults. Of DiCE's two searches for sparser
# suggestions only `binary` does anything for a regressor; it costs time and sometimes the goal.
BINARY = {"posthoc_sparsity_algorithm": "binary"}
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "DiCE random": ("random", {}),
    "DiCE random, binary": ("random", BINARY),
    "DiCE genetic": ("genetic", {}),
    "DiCE kdtree": ("kdtree", {}),
    "DiCE kdtree, binary": ("kdtree", BINARY),
}


class Encoded:
    """The forest behind the table's own labels, as DiCE wants to call it."""

    def __init__(self, forest: Any) -> None:
        self.forest = forest
        self.places = {
            column.name: {label: float(i) for i, label in enumerate(column.labels)}
            for column in COLUMNS
            if column.labels
        }

    def predict(self, frame: Any) -> Any:
        """Predictions [n] for a frame with labels."""
        X = np.empty((len(frame), len(NAMES)))
        for j, name in enumerate(NAMES):
            values = frame[name]
            place = self.places.get(name)
            X[:, j] = [place[v] for v in values] if place else values.to_numpy(dtype=float)
        return self.forest.predict(X)


def run(case: Case) -> list[Sheet]:
    """The replies of every method to both variants."""
    import dice_ml
    import pandas as pd

    warnings.filterwarnings("ignore")
    forest = grow(case)
    frame = pd.DataFrame(columns_of(case.X, case.y))
    numbers = [column.name for column in COLUMNS if not column.labels]
    data = dice_ml.Data(
        dataframe=frame,
        continuous_features=numbers,
        outcome_name=OUTCOME,
        continuous_features_precision={c.name: 3 for c in COLUMNS if not c.whole},
    )
    model = dice_ml.Model(model=Encoded(forest), backend="sklearn", model_type="regressor")
    probe = forest.predict(np.array([q.start for q in case.questions])).tolist()
    sheets = []
    for variant in VARIANTS:
        for tool, (method, options) in TOOLS.items():
            explainer = dice_ml.Dice(data, model, method=method)
            asked = _Dice(explainer, variant, options, method == "random")
            said = f"dice-ml 0.12 {method}, ranges, features_to_vary, {options or 'defaults'}"
            sheets.append(sheet(case, tool, variant, COUNT, said, asked, probe))
    return sheets


class _Dice:
    """One method of DiCE on one variant."""

    def __init__(self, explainer: Any, variant: str, options: dict[str, Any], seeded: bool) -> None:
        self.explainer, self.variant, self.options = explainer, variant, options
        self.seeded = seeded

    def __call__(self, question: Question) -> Answer:
        import pandas as pd

        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 - DiCE draws from the global generators
        config = decode(question.row)
        permitted: dict[str, Any] = {}
        for name, (low, high) in limits(question.row, self.variant).items():
            column = COLUMNS[NAMES.index(name)]
            permitted[name] = list(column.labels) if column.labels else [low, high]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found = self.explainer.generate_counterfactuals(
                    pd.DataFrame([config]),
                    total_CFs=COUNT,
                    desired_range=[0.0, question.ceiling],
                    permitted_range=permitted,
                    features_to_vary=list(movable(self.variant)),
                    **self.options,
                    **({"random_seed": 0} if self.seeded else {}),
                )
        except Exception as error:  # DiCE raises when it finds nothing: that is its answer
            return [], [], f"{type(error).__name__}: {error}"[:200]
        example = found.cf_examples_list[0]
        frame = example.final_cfs_df_sparse
        if frame is None:
            frame = example.final_cfs_df
        if frame is None:
            return [], [], "nothing found"
        rows = [encode(row).tolist() for row in frame[list(NAMES)].to_dict("records")]
        return rows, frame[OUTCOME].astype(float).tolist(), ""


if __name__ == "__main__":
    main("run_dice", run)
