"""Pairs of runs that show what a parameter does, where past runs do not say it."""

import re
from typing import Any

import numpy as np
import pytest

import compass as cp
from compass.domain.answer import Effect, Finding, Suggestion
from compass.settings import ForestSettings, TrustSettings

QUICK = cp.Settings(
    surrogate="forest", forest=ForestSettings(trees=20), trust=TrustSettings(trees=4)
)


def confounded(n: int = 160, seed: int = 4) -> dict[str, list[Any]]:
    """Every program has its own size and its own node count: nodes never vary within it."""
    rng = np.random.default_rng(seed)
    program = rng.integers(0, 8, n)
    nodes = 2 ** (program % 4 + 1)
    threads = rng.choice([4, 8, 16], n)
    size = 1000.0 * 4.0 ** (program % 4)
    runtime = size / (nodes * threads) * rng.normal(1, 0.02, n)
    return {
        "app": [f"p{k}" for k in program],
        "nodes": nodes.tolist(),
        "threads": threads.tolist(),
        "runtime": runtime.tolist(),
    }


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    data = cp.read(confounded()).roles(
        knobs=["nodes", "threads"], context=["app"], outcomes=["runtime"]
    )
    return cp.Compass(data, rules=["nodes * threads <= 128"], settings=QUICK).fit()


def lacking(suggestion: Suggestion) -> list[Effect]:
    return [e for e in suggestion.trust.effects if e.finding is not Finding.SUPPORTED]


def test_the_pair_that_is_missing_comes_first(engine: cp.Compass) -> None:
    row = engine.data.table.arrow.to_pylist().index(
        next(r for r in engine.data.table.arrow.to_pylist() if r["nodes"] == 4)
    )
    answer = engine.what_if(row, {"nodes": 8}, ["runtime"])
    (effect,) = lacking(answer[0])
    assert effect.finding is Finding.NEVER_OBSERVED
    first = answer.run_next[0]
    run = engine.data.row(row)
    assert first.config == {"app": run["app"], "nodes": 8, "threads": run["threads"]}
    assert re.match(r"with row \d+ it makes a comparable pair: ", first.why)
    assert "tells whether nodes 4 -> 8" in first.why
    assert "as the model expects" in first.why


def test_pairs_obey_the_rules_and_stay_in_the_context(engine: cp.Compass) -> None:
    rows = engine.data.table.arrow.to_pylist()
    row = next(i for i, r in enumerate(rows) if r["nodes"] == 4 and r["threads"] == 16)
    question = "What if we change X = {nodes: old -> 2*old}, how would that affect Y = {runtime}"
    proposals = engine.run_next(6, question, run=row)
    assert proposals
    for proposal in proposals:
        assert proposal.config["app"] == rows[row]["app"]
        assert proposal.config["nodes"] * proposal.config["threads"] <= 128
    configs = [tuple(p.config.values()) for p in proposals]
    assert len(set(configs)) == len(configs)


def test_as_many_different_pairs_are_proposed_as_are_needed(engine: cp.Compass) -> None:
    rows = engine.data.table.arrow.to_pylist()
    row = next(i for i, r in enumerate(rows) if r["nodes"] == 4)
    question = "What if we change X = {nodes: old -> 2*old}, how would that affect Y = {runtime}"
    (effect,) = lacking(engine.ask(question, run=row)[0])
    assert effect.pairs == 0
    pairs = [p for p in engine.run_next(6, question, run=row) if "comparable pair" in p.why]
    assert len(pairs) == engine.settings.trust.pairs == 3
    for pair in pairs:
        known = int(pair.why.split()[2])
        assert pair.config == {**pair.config, "app": rows[known]["app"], "nodes": 8}
        assert rows[known]["nodes"] == 4
        assert rows[known]["threads"] == pair.config["threads"]
    assert len({pair.config["threads"] for pair in pairs}) == 3


def test_one_half_of_a_pair_may_be_the_new_value() -> None:
    """Runs at the new value only: the missing runs are those at the old one."""
    columns = confounded()
    rng = np.random.default_rng(1)
    columns = {name: [*values] for name, values in columns.items()}
    for threads in (4, 8, 16):
        columns["app"].append("p1")
        columns["nodes"].append(8)
        columns["threads"].append(threads)
        columns["runtime"].append(4000.0 / (8 * threads) * float(rng.normal(1, 0.02)))
    keep = [
        i
        for i, (app, nodes) in enumerate(zip(columns["app"], columns["nodes"], strict=True))
        if app != "p1" or nodes == 8
    ]
    start = {"app": "p1", "nodes": 4, "threads": 8}
    columns = {name: [values[i] for i in keep] for name, values in columns.items()}
    data = cp.read(columns).roles(knobs=["nodes", "threads"], context=["app"], outcomes=["runtime"])
    own = cp.Compass(data, settings=QUICK).fit()
    question = "What if we change X = {nodes: old -> 2*old}, how would that affect Y = {runtime}"
    pairs = [p for p in own.run_next(6, question, run=start) if "comparable pair" in p.why]
    assert [p.config["nodes"] for p in pairs] == [4, 4, 4]
    assert pairs[0].config == start
    assert {p.config["threads"] for p in pairs} == {4, 8, 16}


def test_measuring_the_pairs_makes_the_effect_observed() -> None:
    """The proposed runs, measured by a law and told, turn the finding."""
    data = cp.read(confounded()).roles(
        knobs=["nodes", "threads"], context=["app"], outcomes=["runtime"]
    )
    own = cp.Compass(data, settings=QUICK).fit()
    rows = data.table.arrow.to_pylist()
    row = next(i for i, r in enumerate(rows) if r["nodes"] == 4)
    app, size = rows[row]["app"], 4000.0
    question = "What if we change X = {nodes: old -> 2*old}, how would that affect Y = {runtime}"
    before = own.ask(question, run=row)
    assert [e.finding for e in before[0].trust.effects] == [Finding.NEVER_OBSERVED]
    for _ in range(3):
        wanted = [p.config for p in own.run_next(4, question, run=row) if p.config["nodes"] == 8]
        if not wanted:
            break
        own.tell(
            {
                "app": [app] * len(wanted),
                "nodes": [c["nodes"] for c in wanted],
                "threads": [c["threads"] for c in wanted],
                "runtime": [size / (c["nodes"] * c["threads"]) for c in wanted],
            }
        )
    after = own.ask(question, run=row)
    (effect,) = after[0].trust.effects
    assert effect.pairs >= 3
    assert effect.observed == pytest.approx(-50, abs=3)
    # The confounded model still expects the opposite: now the data say so.
    assert effect.finding is Finding.CONTRADICTED
    assert effect.expected > 0


def test_where_nothing_names_the_program_both_runs_are_proposed() -> None:
    columns = confounded()
    columns["user"] = [f"u{name[1:]}" for name in columns.pop("app")]
    data = cp.read(columns).roles(
        knobs=["nodes", "threads"], context=["user"], outcomes=["runtime"]
    )
    own = cp.Compass(data, settings=QUICK).fit()
    answer = (
        own.what_if(0, {"nodes": 8}, ["runtime"])
        if columns["nodes"][0] != 8
        else (own.what_if(0, {"nodes": 4}, ["runtime"]))
    )
    assert {e.finding for e in answer[0].trust.effects} == {Finding.NOT_IDENTIFIABLE}
    first, second = answer.run_next[:2]
    assert "the same program and input has to be run at" in first.why
    assert "the trace should name them" in second.why
    assert {first.config["nodes"], second.config["nodes"]} == {
        answer[0].config["nodes"],
        columns["nodes"][0],
    }
