"""What holds among the features on all past runs."""

import numpy as np
import pyarrow as pa

import compass as cp
from compass.learn.features import FeatureView
from conftest import QUICK


def view_of(columns: dict[str, object], study: dict[str, object] | None = None) -> FeatureView:
    data = cp.read(pa.table(columns), study=study or {})
    knobs = [name for name in columns if name != "runtime"]
    data = data.roles(knobs=knobs, outcomes=["runtime"])
    return cp.Compass(data, settings=QUICK).store.view_of(tuple(knobs))


def test_they_are_found_once_and_counted_in_configurations() -> None:
    rng = np.random.default_rng(1)
    nodes = rng.integers(1, 60, 400)
    view = view_of({"nodes": nodes, "cores": 36 * nodes, "runtime": rng.random(400)})
    known = view.dependencies
    assert [one.rule.text for one in known.found] == ["cores == 36 * nodes"]
    assert known.configurations == len(np.unique(nodes))
    assert view.dependencies is known


def test_a_rule_that_a_run_without_a_value_breaks_is_none() -> None:
    """`none` equals only `none`: a rule on what has no value would forbid those runs."""
    rng = np.random.default_rng(2)
    nodes = rng.integers(1, 60, 600)
    cap = [None if i % 7 == 0 else 5 * int(n) for i, n in enumerate(nodes)]
    columns = {"nodes": nodes, "cap": cap, "runtime": rng.random(600)}
    whole = view_of(columns | {"cap": [5 * int(n) for n in nodes]})
    assert [one.rule.text for one in whole.dependencies.found] == ["cap == 5 * nodes"]
    gaps = view_of(columns, {"columns": {"cap": {"missing": "none"}}})
    assert gaps.features["cap"].optional
    assert [one.rule.text for one in gaps.dependencies.found] == []
