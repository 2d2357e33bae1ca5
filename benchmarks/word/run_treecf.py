"""treecf: the genetic search, one suggestion. Runs in the peers' environment.

treecf is told the linear rules, ranges, frozen columns, whole numbers and the scale of distance.
"""

import math
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.word.case import Case, Reply, grow, load, save_replies, told
from benchmarks.word.laws import JobLaw


def run(case: Case) -> dict[str, list[Reply]]:
    """The replies to all questions; one explainer per set of movable columns."""
    import treecf

    warnings.filterwarnings("ignore")
    trees = labelled(grow(case), case.law)
    explainers: dict[tuple[str, ...], Any] = {}
    own = []
    for place, question in enumerate(case.questions):
        if question.free not in explainers:
            explainers[question.free] = _explainer(trees, case, question.free)
        began = time.process_time()
        target = treecf.Target.raw(range=(0.0, question.ceiling))
        found = explainers[question.free].explain(
            question.row, target=target, backend="genetic", seed=0
        )
        took = time.process_time() - began
        if isinstance(found, treecf.Infeasible):
            own.append(Reply(question.number, (), took, found.reason[:200]))
        else:
            own.append(Reply(question.number, (tuple(found.x_cf.tolist()),), took))
        told("treecf", place, len(case.questions), took)
    return {"treecf": own}


def _explainer(trees: Any, case: Case, free: tuple[str, ...]) -> Any:
    import treecf

    law = case.law
    rules: list[Any] = [treecf.Linear(dict(r.terms), "<=", r.bound) for r in law.rules]
    rules += [treecf.Freeze(name) for name in law.names if name not in free]
    rules += [treecf.Range(c.name, c.low, c.high) for c in law.columns if not c.labels]
    return treecf.Explainer(
        trees,
        background=case.X,
        constraints=rules,
        normalizers=dict(zip(law.names, case.scale.tolist(), strict=True)),
        value_policy={c.name: "integer" for c in law.columns if c.whole and not c.labels},
    )


def labelled(forest: Any, law: JobLaw) -> Any:
    """A scikit-learn forest in treecf's form: splits on a label's position become sets."""
    from treecf.ir.model import CategoricalFeature, Tree
    from treecf.ir.parsers import parse_model

    plain = parse_model(forest, None)
    kinds = {
        j: CategoricalFeature(len(column.labels), column.labels)
        for j, column in enumerate(law.columns)
        if column.labels
    }
    trees = tuple(Tree(tuple(_node(node, kinds) for node in tree.nodes)) for tree in plain.trees)
    return replace(plain, trees=trees, feature_names=law.names, categorical=kinds)


def _node(node: Any, kinds: dict[int, Any]) -> Any:
    if node.feature not in kinds:
        return node
    left = frozenset(range(math.floor(node.threshold) + 1))
    return replace(node, threshold=None, op=None, categories=left)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    save_replies(folder / "run_treecf.json", run(load(folder)))
