"""NICE (NICEx 0.2.3, sparsity), one suggestion. Runs in the peers' environment.

NICE explains classes: here inside and outside the asked range, by the forest. It cannot fix a
column, so it sees the hidden ones alone, with the others as the question has them; it chooses from
the values of past runs. It has no place for rules.
"""

import warnings
from typing import Any

import numpy as np

from benchmarks.masked_peers.case import RECONFIGURE, Case, Question, Reply, grow, main, replies


def run(case: Case) -> dict[str, list[Reply]]:
    """The replies to all reconfigurations."""
    from nice import NICE

    warnings.filterwarnings("ignore")
    forest = grow(case)
    asked = list(case.asked)
    past = np.unique(case.X[:, asked], axis=0)
    labels = [i for i, place in enumerate(asked) if case.columns[place].labels]

    def ask(question: Question) -> Any:
        row = np.array(question.row)

        def classes(hidden: Any) -> Any:
            whole = np.tile(row, (len(hidden), 1))
            whole[:, asked] = hidden
            predicted = forest.predict(whole)
            inside = (question.low <= predicted) & (predicted <= question.high)
            return np.column_stack([~inside, inside]).astype(float)

        explainer = NICE(
            classes, past.copy(), cat_feat=labels, optimization="sparsity", justified_cf=False
        )
        found = explainer.explain(row[asked][None, :].copy(), target_class=[1])
        told = row.copy()
        told[asked] = found[0]
        return told, None, ""

    return {"NICE": replies("NICE", case.of(RECONFIGURE), ask)}


if __name__ == "__main__":
    main(run, "run_nice")
