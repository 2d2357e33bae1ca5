"""What a table tells by itself, against the rows that it was made of."""

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.overview import GapCode, Overview


def table(**more: list[Any]) -> dict[str, list[Any]]:
    """Two programs on nodes and threads, each configuration twice; faster with both."""
    rows = [*product(["ft", "cg"], [1, 2, 4], [8, 16], [0, 1])]
    made: dict[str, list[Any]] = {
        "app": [app for app, *_ in rows],
        "nodes": [nodes for _, nodes, *_ in rows],
        "threads": [threads for _, _, threads, _ in rows],
        "runtime": [
            (100.0 if app == "ft" else 30.0) / nodes + 80 / threads + again
            for app, nodes, threads, again in rows
        ],
    }
    return made | more


def overview(given: dict[str, list[Any]], **roles: list[str]) -> Overview:
    usual = {"knobs": ["nodes", "threads"], "context": ["app"], "outcomes": ["runtime"]}
    return cp.read(given).roles(**(usual | roles)).overview()


def test_the_best_configuration_of_each_context_is_the_mean_of_its_runs() -> None:
    (runtime,) = overview(table()).outcomes
    found = {one.context["app"]: one for one in runtime.contexts}
    assert set(found) == {"ft", "cg"}
    best = found["ft"].best[0]
    assert best.settings == {"nodes": 4, "threads": 16}
    assert best.value == pytest.approx(100 / 4 + 80 / 16 + 0.5)
    assert (best.rows, best.runs) == ((10, 11), 2)
    assert (found["ft"].runs, found["ft"].configurations) == (12, 6)
    assert found["cg"].worst == pytest.approx(30 + 80 / 8 + 1)


def test_more_is_better_for_what_names_say_so() -> None:
    made = table(gflops=[float(i) for i in range(24)])
    found = {one.name: one for one in overview(made, outcomes=["runtime", "gflops"]).outcomes}
    assert found["gflops"].direction == "maximize"
    assert max(one.best[0].value for one in found["gflops"].contexts) == pytest.approx(22.5)
    assert found["runtime"].direction == "minimize"


def test_means_are_those_of_pyarrow_on_random_runs() -> None:
    rng = np.random.default_rng(3)
    n = 300
    made = {
        "app": rng.choice(["ft", "cg", "mg"], n).tolist(),
        "nodes": rng.choice([1, 2, 4], n).tolist(),
        "threads": rng.choice([8, 16], n).tolist(),
        "runtime": rng.uniform(1, 9, n).tolist(),
    }
    grouped = pa.table(made).group_by(["app", "nodes", "threads"]).aggregate([("runtime", "mean")])
    means: dict[str, list[float]] = {}
    for one in grouped.to_pylist():
        means.setdefault(one["app"], []).append(one["runtime_mean"])
    (runtime,) = overview(made).outcomes
    assert len(runtime.contexts) == 3
    for context in runtime.contexts:
        best = [one.value for one in context.best]
        assert best == pytest.approx(sorted(means[str(context.context["app"])])[:5])


def test_runs_that_failed_are_told_and_are_not_the_best() -> None:
    runtime: list[Any] = table()["runtime"]
    state = ["COMPLETED"] * 24
    runtime[0], state[0] = 0.01, "FAILED"
    found = overview(table(runtime=runtime, state=state), outcomes=["runtime", "state"])
    told = {one.name: one for one in found.outcomes}
    assert min(one.best[0].value for one in told["runtime"].contexts) > 1
    assert [(one.label, one.runs) for one in told["state"].labels] == [
        ("COMPLETED", 23),
        ("FAILED", 1),
    ]
    assert [(one.runs, one.failed, one.first) for one in found.lost] == [(1, True, (0,))]


def test_a_reason_in_the_place_of_a_number_is_told_once() -> None:
    runtime: list[Any] = [str(value) for value in table()["runtime"]]
    runtime[5] = runtime[6] = "out of memory"
    found = overview(table(runtime=runtime))
    assert sum(one.runs for one in found.lost) == 2
    assert all(one.failed for one in found.lost)
    assert found.used == 22


def test_what_was_left_out_says_why() -> None:
    nodes: list[Any] = table()["nodes"]
    nodes[3] = None
    (lost,) = overview(table(nodes=nodes)).lost
    assert (lost.reason, lost.runs, lost.first) == ("nodes is missing", 1, (3,))
    assert not lost.failed


def gaps(given: dict[str, list[Any]], **roles: list[str]) -> dict[GapCode, tuple[str, ...]]:
    return {one.code: one.columns for one in overview(given, **roles).gaps}


def test_a_full_sweep_with_repeats_leaves_no_gap() -> None:
    assert gaps(table()) == {}


def test_a_knob_that_goes_with_the_program_was_never_varied() -> None:
    made = table(nodes=[4 if app == "ft" else 1 for app in table()["app"]])
    assert gaps(made)[GapCode.NEVER_VARIED] == ("nodes",)


def test_knobs_that_tell_each_other_cannot_be_told_apart() -> None:
    ranks = [nodes * 10 for nodes in table()["nodes"]]
    found = gaps(table(ranks=ranks), knobs=["nodes", "threads", "ranks"])
    assert found[GapCode.TOGETHER] == ("nodes", "ranks")


def test_a_setting_that_was_never_tried_otherwise_is_named() -> None:
    found = overview(table(compiler=["gcc"] * 24))
    (gap,) = [one for one in found.gaps if one.code is GapCode.CONSTANT]
    assert gap.columns == ("compiler",)
    assert "gcc" in gap.text


def test_without_repeats_the_scatter_is_not_known() -> None:
    once = {name: column[::2] for name, column in table().items()}
    assert GapCode.NO_REPEATS in gaps(once)


def test_an_outcome_of_some_runs_only_is_incomplete() -> None:
    energy = [float(i) if i % 2 else None for i in range(24)]
    found = gaps(table(energy=energy), outcomes=["runtime", "energy"])
    assert found[GapCode.INCOMPLETE] == ("energy",)


def test_a_table_without_outcomes_has_nothing_to_tell() -> None:
    found = overview(table(), outcomes=[], ignored=["runtime"])
    assert found.outcomes == ()
    assert found.used == 24
