"""treecf: the genetic search, one suggestion. Runs in the peers' environment.

treecf is told frozen columns, ranges, whole numbers, labels and the scale of distance. The rules of
these tables are not linear, so it has none; its numbers are moved to the nearest legal value.
"""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.masked_peers.case import RECONFIGURE, Case, Question, Reply, grow, main, replies


def run(case: Case) -> dict[str, list[Reply]]:
    """The replies to all reconfigurations."""
    import treecf

    warnings.filterwarnings("ignore")
    names = [one.name for one in case.columns]
    fixed = [name for j, name in enumerate(names) if j not in case.asked]
    ranges = [one for j, one in enumerate(case.columns) if j in case.asked and not one.labels]
    explainer = treecf.Explainer(
        labelled(grow(case).trees, case),
        background=case.X,
        constraints=[
            *(treecf.Freeze(name) for name in fixed),
            *(treecf.Range(one.name, one.low, one.high) for one in ranges),
        ],
        normalizers=dict(zip(names, case.scale, strict=True)),
        value_policy={one.name: "integer" for one in ranges if one.whole},
    )

    def ask(question: Question) -> Any:
        target = treecf.Target.raw(range=(math.log(question.low), math.log(question.high)))
        row = np.array(question.row)
        found = explainer.explain(row, target=target, backend="genetic", seed=0)
        if isinstance(found, treecf.Infeasible):
            return None, None, found.reason[:200]
        told = found.x_cf.tolist()
        for place in case.asked:
            told[place] = case.columns[place].nearest(told[place])
        return told, None, ""

    return {"treecf": replies("treecf", case.of(RECONFIGURE), ask)}


def labelled(forest: Any, case: Case) -> Any:
    """A scikit-learn forest in treecf's form: splits on a label's position become sets."""
    from treecf.ir.model import CategoricalFeature, Tree
    from treecf.ir.parsers import parse_model

    plain = parse_model(forest, None)
    kinds = {
        j: CategoricalFeature(len(one.labels), tuple(map(str, one.labels)))
        for j, one in enumerate(case.columns)
        if one.labels
    }
    trees = tuple(Tree(tuple(_node(node, kinds) for node in tree.nodes)) for tree in plain.trees)
    names = tuple(one.name for one in case.columns)
    return replace(plain, trees=trees, feature_names=names, categorical=kinds)


def _node(node: Any, kinds: dict[int, Any]) -> Any:
    if node.feature not in kinds:
        return node
    left = frozenset(range(math.floor(node.threshold) + 1))
    return replace(node, threshold=None, op=None, categories=left)


if __name__ == "__main__":
    main(run, "run_treecf")
