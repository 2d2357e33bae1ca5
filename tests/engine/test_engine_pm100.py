"""The three questions of the paper about PM-100, on jobs made by a stated law.

The 22 rules are those of its Table VIII, the questions those of Table VI. Every rule is checked
here in plain Python on what comes back.
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import compass as cp
from compass.settings import ForestSettings, TrustSettings

RULES = (
    "num_nodes_req >= 1",
    "num_nodes_alloc > 0",
    "num_nodes_alloc == num_nodes_req",
    "num_cores_req >= 1",
    "num_cores_req <= 32 * num_nodes_req",
    "num_cores_alloc > 0",
    "num_cores_alloc <= num_cores_req",
    "cores_per_task >= 1",
    "cores_per_task <= num_cores_alloc",
    "num_gpus_req >= 0",
    "num_gpus_req <= 4 * num_nodes_req",
    "num_gpus_alloc >= 0",
    "num_gpus_alloc == num_gpus_req",
    "mem_req > 0",
    "mem_req <= 256 * num_nodes_req",
    "mem_alloc > 0",
    "mem_alloc == mem_req",
    "run_time > 0",
    "time_limit > 0",
    "run_time <= time_limit",
    "num_tasks >= 1",
    "num_tasks <= num_cores_alloc",
)
COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
}
POWERS = ("node_power_consumption", "mem_power_consumption", "cpu_power_consumption")
ROLES = {
    "knobs": [
        "num_nodes_req", "num_cores_req", "cores_per_task", "num_gpus_req", "mem_req",
        "time_limit", "num_tasks",
    ],
    "context": ["num_nodes_alloc", "num_cores_alloc", "num_gpus_alloc", "mem_alloc", "partition"],
    "outcomes": [*POWERS, "run_time", "job_state"],
}  # fmt: skip
RECOMMEND = (
    "Recommend a configuration where X = {cores_per_task: ?, num_cores_req: ?, num_nodes_req: ?, "
    "mem_req: ?, time_limit: ?} to achieve Y = {node_power_consumption: minimized, "
    "mem_power_consumption: minimized, cpu_power_consumption: minimized} "
    "where C = {job_state: completed, num_gpus_req: 16, partition: 1}"
)
RECONFIGURE = (
    "Reconfigure X = {cores_per_task: ?, num_cores_req: ?, num_nodes_req: ?, mem_req: ?, "
    "time_limit: ?} to achieve Y = {node_power_consumption, mem_power_consumption, "
    "cpu_power_consumption: reduced by 10%} where C = {job_state: completed}"
)
WHAT_IF = (
    "What if we change X = {num_gpus_req: old -> 2*old} how would that affect "
    "Y = {node_power_consumption, mem_power_consumption, cpu_power_consumption} "
    "where C = {job_state: completed}?"
)


def jobs(n: int = 1000, seed: int = 11) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    nodes = rng.choice([1, 2, 4, 8, 16], n, p=[0.3, 0.2, 0.2, 0.15, 0.15])
    cores_req = nodes * rng.choice([2, 4, 8, 16, 32], n)
    cores_alloc = np.where(rng.random(n) < 0.8, cores_req, np.maximum(cores_req // 2, 1))
    per_task = np.minimum(rng.choice([1, 2, 4, 8], n), cores_alloc)
    gpus = nodes * rng.choice([0, 1, 2, 4], n)
    mem = nodes * rng.choice([16, 32, 64, 128, 256], n)
    limit = rng.choice([30, 60, 120, 240, 480, 1440], n)
    need = 60.0 * mem / (cores_alloc + 8 * gpus) * rng.normal(1, 0.02, n)
    noise = rng.normal(1, 0.01, (3, n))
    columns = {
        "num_nodes_req": nodes,
        "num_nodes_alloc": nodes,
        "num_cores_req": cores_req,
        "num_cores_alloc": cores_alloc,
        "cores_per_task": per_task,
        "num_tasks": cores_alloc // per_task,
        "num_gpus_req": gpus,
        "num_gpus_alloc": gpus,
        "mem_req": mem,
        "mem_alloc": mem,
        "time_limit": limit,
        "partition": rng.choice([1, 2], n, p=[0.8, 0.2]),
        "run_time": np.minimum(need, limit),
        "job_state": np.where(need <= limit, "COMPLETED", "TIMEOUT"),
        "node_power_consumption": (240 * nodes + 4 * cores_alloc + 60 * gpus) * noise[0],
        "mem_power_consumption": (20 * nodes + 0.25 * mem) * noise[1],
        "cpu_power_consumption": (90 * nodes + 3.5 * cores_alloc) * noise[2],
    }
    return {name: values.tolist() for name, values in columns.items()}


def violations(config: Mapping[str, Any]) -> list[str]:
    """The rules that a complete configuration breaks, read without any code of the product."""
    broken = []
    for rule in RULES:
        match = re.fullmatch(r"(\w+) (>=|<=|==|>) (?:(\d+) \* )?(\w+)", rule)
        assert match is not None
        left, sign, factor, right = match.groups()
        bound = float(right) if right.isdigit() else config[right]
        if not COMPARE[sign](config[left], bound * int(factor or 1)):
            broken.append(rule)
    return broken


@pytest.fixture(scope="module")
def pm100() -> cp.Compass:
    data = cp.read(jobs()).roles(**ROLES)
    few = cp.Settings(
        surrogate="forest", forest=ForestSettings(trees=30), trust=TrustSettings(trees=4)
    )
    return cp.Compass(data, rules=RULES, settings=few)


def row_with(data: cp.Dataset, accept: Callable[[dict[str, Any]], bool]) -> int:
    return next(n for n in range(len(data)) if accept(data.row(n)))


def completed(suggestion: cp.Suggestion) -> dict[str, Any]:
    """The configuration with its predicted run time."""
    return suggestion.config | {"run_time": suggestion.outcome("run_time").value}


def test_the_table_of_rules_is_complete_and_holds_on_every_job(pm100: cp.Compass) -> None:
    assert len(RULES) == 22
    assert pm100.broken_by() == dict.fromkeys(RULES, 0)
    for number in range(len(pm100.data)):
        assert violations(pm100.data.row(number)) == []
    broken = jobs()
    broken["num_gpus_req"][7] = 99
    assert violations({name: values[7] for name, values in broken.items()}) == [
        "num_gpus_req <= 4 * num_nodes_req",
        "num_gpus_alloc == num_gpus_req",
    ]


def test_recommend(pm100: cp.Compass) -> None:
    answer = pm100.ask(RECOMMEND)
    assert answer.answered, answer.no_answer
    assert 1 < len(answer) <= 12
    for suggestion in answer:
        config = completed(suggestion)
        assert violations(config) == []
        assert config["num_gpus_req"] == 16
        assert config["partition"] == 1
        assert suggestion.outcome("job_state").value == "COMPLETED"


def watts(config: Mapping[str, Any]) -> float:
    """The power of a node by the law."""
    nodes, cores, gpus = (config[f"num_{what}_alloc"] for what in ("nodes", "cores", "gpus"))
    return float(240 * nodes + 4 * cores + 60 * gpus)


def test_recommend_with_everything_asked_for_finds_the_best_by_the_law(pm100: cp.Compass) -> None:
    query = RECOMMEND.replace("X = {", "X = {num_tasks: ?, num_cores_alloc: ?, ")
    answer = pm100.ask(query)
    assert answer.answered, answer.no_answer
    best = answer[0]
    assert violations(completed(best)) == []
    assert best.config["num_nodes_req"] == 4  # fewest nodes that can hold 16 GPUs
    least = 240 * 4 + 4 * 4 + 60 * 16
    assert watts(best.config) <= 1.1 * least
    assert best.outcome("node_power_consumption").value == pytest.approx(
        watts(best.config), rel=0.1
    )


def test_recommend_keeps_what_is_allocated_equal_to_what_is_asked_for(pm100: cp.Compass) -> None:
    for suggestion in pm100.ask(RECOMMEND, count=6):
        config = suggestion.config
        for what in ("num_nodes", "num_gpus", "mem"):
            assert config[f"{what}_alloc"] == config[f"{what}_req"]


def test_reconfigure_reduces_all_powers_by_a_tenth(pm100: cp.Compass) -> None:
    number = row_with(
        pm100.data,
        lambda row: (
            row["num_nodes_req"] == 8
            and row["num_cores_req"] == 256
            and row["mem_req"] >= 512
            and row["job_state"] == "COMPLETED"
        ),
    )
    before = pm100.data.row(number)
    answer = pm100.ask(RECONFIGURE, run=number)
    assert answer.answered, answer.no_answer
    asked = {"cores_per_task", "num_cores_req", "num_nodes_req", "mem_req", "time_limit"}
    for suggestion in answer:
        assert violations(completed(suggestion)) == []
        for name in POWERS:
            assert suggestion.outcome(name).value <= 0.9 * before[name] + 1e-9
        for edit in suggestion.edits:
            assert edit.old == before[edit.name]
            assert edit.new == suggestion.config[edit.name]
            assert edit.name in asked or edit.forced_by in RULES
        untouched = {*suggestion.config} - {edit.name for edit in suggestion.edits}
        assert all(suggestion.config[name] == before[name] for name in untouched)
        assert suggestion.outcome("job_state").value == "COMPLETED"
    nodes, cores = answer[0].config["num_nodes_alloc"], answer[0].config["num_cores_alloc"]
    law = 90 * nodes + 3.5 * cores
    assert law <= 0.95 * before["cpu_power_consumption"]  # true by the law, not only predicted


def test_a_forced_move_names_the_rule_that_forces_it(pm100: cp.Compass) -> None:
    number = row_with(pm100.data, lambda row: row["num_nodes_req"] == 8 and row["mem_req"] == 512)
    answer = pm100.ask(RECONFIGURE, run=number)
    forced = {e.name: e.forced_by for s in answer for e in s.edits if e.forced_by is not None}
    assert forced
    for name, rule in forced.items():
        assert name in str(rule)
        assert rule in RULES
    first = [edit for edit in answer[0].edits if edit.forced_by is not None]
    for edit in first:
        assert any(edit.name in note and str(edit.forced_by) in note for note in answer.notes)


def test_what_if_there_were_twice_as_many_gpus(pm100: cp.Compass) -> None:
    roomy = row_with(
        pm100.data,
        lambda row: (
            row["num_gpus_req"] == 2 * row["num_nodes_req"]
            and row["num_nodes_req"] == 4
            and row["job_state"] == "COMPLETED"
        ),
    )
    row = pm100.data.row(roomy)
    (only,) = pm100.ask(WHAT_IF, run=roomy).suggestions
    assert violations(row | only.config) == []
    moved = {edit.name: edit for edit in only.edits}
    assert set(moved) == {"num_gpus_req", "num_gpus_alloc"}
    assert moved["num_gpus_req"].forced_by is None
    assert moved["num_gpus_alloc"].forced_by == "num_gpus_alloc == num_gpus_req"
    extra = 60 * row["num_gpus_req"]
    assert only.outcome("node_power_consumption").change == pytest.approx(extra, rel=0.35)


def test_what_if_the_nodes_are_full_more_nodes_have_to_come(pm100: cp.Compass) -> None:
    full = row_with(
        pm100.data,
        lambda row: (
            row["num_gpus_req"] == 4 * row["num_nodes_req"]
            and row["num_nodes_req"] == 4
            and row["job_state"] == "COMPLETED"
        ),
    )
    row = pm100.data.row(full)
    answer = pm100.ask(WHAT_IF, run=full)
    for suggestion in answer:
        assert violations(row | suggestion.config) == []
        assert all(e.forced_by in RULES for e in suggestion.edits if e.name != "num_gpus_req")
    only = answer[0]
    moved = {edit.name: edit for edit in only.edits}
    assert moved["num_gpus_req"].new == 2 * row["num_gpus_req"]
    assert moved["num_nodes_req"].new == 8
    assert moved["num_nodes_req"].forced_by == "num_gpus_req <= 4 * num_nodes_req"
    assert {"mem_req", "time_limit", "num_cores_req"}.isdisjoint(moved)
    assert any("num_nodes_req" in note for note in answer.notes)
    assert only.outcome("node_power_consumption").change > 0


def test_what_if_over_all_completed_jobs(pm100: cp.Compass) -> None:
    answer = pm100.ask(WHAT_IF)
    assert answer.population is not None
    assert answer.population.runs > 0
    changes = {o.name: o for o in answer.population.outcomes}
    assert set(changes) == set(POWERS)


@pytest.mark.parametrize(("query", "row"), [(RECOMMEND, None), (RECONFIGURE, 3), (WHAT_IF, 3)])
def test_the_same_question_twice(query: str, row: int | None, pm100: cp.Compass) -> None:
    one, two = (pm100.ask(query, run=row).model_dump(exclude={"seconds"}) for _ in range(2))
    assert one == two


def test_every_seed_obeys_every_rule_and_beats_what_people_did(pm100: cp.Compass) -> None:
    did = [
        row["node_power_consumption"]
        for row in map(pm100.data.row, range(len(pm100.data)))
        if row["num_gpus_req"] == 16 and row["partition"] == 1 and row["job_state"] == "COMPLETED"
    ]
    for seed in range(5):
        answer = pm100.ask(RECOMMEND, seed=seed)
        for suggestion in answer:
            assert violations(completed(suggestion)) == []
        assert watts(answer[0].config) < np.median(did)
