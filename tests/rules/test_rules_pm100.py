import numpy as np
from rules_reference import compiled

from compass.domain.space import Number, Space
from compass.rules import domains_of, propagate

PM100 = Space(
    parameters=tuple(
        Number(name=name, low=0, high=10_000, step=1)
        for name in (
            "nodes_req",
            "nodes_alloc",
            "cores_req",
            "cores_alloc",
            "cores_per_task",
            "gpus_req",
            "gpus_alloc",
            "mem_req",
            "mem_alloc",
            "run_time",
            "time_limit",
            "num_tasks",
        )
    )
)
PM100_RULES = (
    "nodes_req >= 1",
    "nodes_alloc == nodes_req",
    "cores_req >= 1",
    "cores_req <= 32 * nodes_req",
    "cores_alloc <= cores_req",
    "cores_per_task >= 1",
    "cores_per_task <= cores_alloc",
    "gpus_req >= 0",
    "gpus_req <= 4 * nodes_req",
    "gpus_alloc == gpus_req",
    "mem_req > 0",
    "mem_req <= 256 * nodes_req",
    "mem_alloc == mem_req",
    "run_time > 0",
    "time_limit > 0",
    "run_time <= time_limit",
    "num_tasks >= 1",
    "num_tasks <= cores_alloc",
    "nodes_alloc >= 0",
    "cores_alloc >= 0",
    "gpus_alloc >= 0",
    "mem_alloc >= 0",
)


def test_the_rules_of_pm100_hold_on_a_table_made_by_them():
    random = np.random.default_rng(3)
    n = 5_000
    nodes = random.integers(1, 65, n)
    cores = random.integers(1, 32 * nodes + 1)
    alloc = random.integers(1, cores + 1)
    per_task = random.integers(1, alloc + 1)
    gpus = random.integers(0, 4 * nodes + 1)
    mem = random.integers(1, 256 * nodes + 1)
    limit = random.integers(1, 10_000, n)
    run = random.integers(1, limit + 1)
    tasks = random.integers(1, alloc + 1)
    X = np.column_stack(
        [nodes, nodes, cores, alloc, per_task, gpus, gpus, mem, mem, run, limit, tasks]
    ).astype(float)
    assert len(PM100_RULES) == 22
    for text in PM100_RULES:
        found = compiled(text, PM100)
        assert found.holds(X).all(), text
        assert not found.violation(X).any(), text
        assert found.linear is not None


def test_broken_pm100_rows_are_told_by_amount():
    X = np.ones((2, len(PM100)))
    place = PM100.names.index
    X[0, place("gpus_req")] = 7.0
    X[1, place("run_time")] = 5.0
    broken = {
        text: compiled(text, PM100).violation(X).tolist()
        for text in PM100_RULES
        if not compiled(text, PM100).holds(X).all()
    }
    assert broken == {
        "gpus_req <= 4 * nodes_req": [3.0, 0.0],
        "gpus_alloc == gpus_req": [6.0, 0.0],
        "run_time <= time_limit": [0.0, 4.0],
    }


def test_asking_for_few_nodes_bounds_everything_else():
    rules = [compiled(text, PM100) for text in PM100_RULES]
    found = propagate(rules, domains_of(PM100, PM100.names), {"nodes_req": 2.0})
    assert {name: (found[name].low, found[name].high) for name in PM100.names} == {
        "nodes_req": (2, 2),
        "nodes_alloc": (2, 2),
        "cores_req": (1, 64),
        "cores_alloc": (1, 64),
        "cores_per_task": (1, 64),
        "gpus_req": (0, 8),
        "gpus_alloc": (0, 8),
        "mem_req": (1, 512),
        "mem_alloc": (1, 512),
        "run_time": (1, 10_000),
        "time_limit": (1, 10_000),
        "num_tasks": (1, 64),
    }
