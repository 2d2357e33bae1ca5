"""treecf 0.3: the genetic search, one suggestion. Runs in the peers' environment.

treecf takes linear rules, ranges, frozen columns, whole numbers and the scale of distance, and is
told all of them. Its reader of scikit-learn forests knows no labels, its own form of trees does:
splits on a label's position are rewritten as sets of labels, so that any change of a label costs 1.
"""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.peers.ask import Answer, main, sheet
from benchmarks.peers.case import VARIANTS, Case, Question, Sheet, movable
from benchmarks.peers.forest import grow
from benchmarks.peers.jobs import COLUMNS, NAMES, RULES

SETTINGS = "treecf 0.3 genetic (defaults), Linear rules, Range, Freeze, integer policy, labels"


def run(case: Case) -> list[Sheet]:
    """The replies to both variants."""
    warnings.filterwarnings("ignore")
    forest = grow(case)
    trees = labelled(forest)
    sheets = []
    for variant in VARIANTS:
        explainer = _explainer(trees, case, variant)
        probe = _probe(explainer.ir, case)
        sheets.append(sheet(case, "treecf", variant, 1, SETTINGS, _Treecf(explainer), probe))
    return sheets


class _Treecf:
    """An explainer of one variant."""

    def __init__(self, explainer: Any) -> None:
        self.explainer = explainer

    def __call__(self, question: Question) -> Answer:
        import treecf

        target = treecf.Target.raw(range=(0.0, question.ceiling))
        found = self.explainer.explain(question.row, target=target, backend="genetic", seed=0)
        if isinstance(found, treecf.Infeasible):
            return [], [], found.reason[:200]
        off = [name for name, kept in found.snapped.items() if not kept]
        note = f"not whole: {', '.join(off)}" if off else ""
        return [found.x_cf.tolist()], [float(found.score_raw)], note


def _explainer(trees: Any, case: Case, variant: str) -> Any:
    import treecf

    rules: list[Any] = [treecf.Linear(dict(r.terms), "<=", r.bound) for r in RULES]
    rules += [treecf.Freeze(name) for name in NAMES if name not in movable(variant)]
    rules += [treecf.Range(c.name, c.low, c.high) for c in COLUMNS if not c.labels]
    return treecf.Explainer(
        trees,
        background=case.X,
        constraints=rules,
        normalizers=dict(zip(NAMES, case.scale, strict=True)),
        value_policy={c.name: "integer" for c in COLUMNS if c.whole and not c.labels},
    )


def labelled(forest: Any) -> Any:
    """A scikit-learn forest in treecf's form, with label columns as labels."""
    from treecf.ir.model import CategoricalFeature, Tree
    from treecf.ir.parsers import parse_model

    plain = parse_model(forest, None)
    kinds = {
        j: CategoricalFeature(len(column.labels), column.labels)
        for j, column in enumerate(COLUMNS)
        if column.labels
    }
    trees = tuple(Tree(tuple(_node(node, kinds) for node in tree.nodes)) for tree in plain.trees)
    return replace(plain, trees=trees, feature_names=NAMES, categorical=kinds)


def _node(node: Any, kinds: dict[int, Any]) -> Any:
    if node.feature not in kinds:
        return node
    left = frozenset(range(math.floor(node.threshold) + 1))
    return replace(node, threshold=None, op=None, categories=left)


def _probe(trees: Any, case: Case) -> list[float]:
    from treecf.ir.evaluate import raw_score

    return [float(raw_score(trees, np.array(q.start))) for q in case.questions]


if __name__ == "__main__":
    main("run_treecf", run)
