"""Columns that say the same are found, and one of them is enough."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.space import Number, Role
from compass.domain.study import ColumnChoice, Study
from compass.prepare import ColumnReport, infer, prepare, study_from
from compass.prepare.report import RoleQuestion
from compass.prepare.same import Follower, followers, without_followers
from compass.readers import Table

RNG = np.random.default_rng(4)
N = 40
TIME = RNG.random(N).round(4) + 1
NODES = RNG.choice([1, 2, 4, 8], N)


def reports(study: Study | None = None, **columns: object) -> dict[str, ColumnReport]:
    found = infer(Table.of(pa.table(columns)), study)[1]
    return {report.name: report for report in found}


def ignored(study: Study | None = None, **columns: object) -> dict[str, str]:
    found = reports(study, **columns)
    return {name: one.same_as for name, one in found.items() if one.same_as is not None}


def test_another_unit_says_the_same() -> None:
    found = reports(nodes=NODES, runtime_s=TIME, runtime_ms=1000 * TIME)
    assert found["runtime_s"].role is Role.OUTCOME
    assert found["runtime_ms"].role is Role.IGNORED
    assert found["runtime_ms"].note == "says the same as runtime_s (1000 * runtime_s)"


def test_nobody_is_asked_about_the_role_of_a_column_that_is_not_used() -> None:
    table = pa.table({"freq": NODES, "freq_ghz": NODES})
    knob = Number(name="freq", role=Role.KNOB, low=1, high=8)
    asked = RoleQuestion(alternatives=(Role.OUTCOME,), chance=0.5, reasons=(), why="no reason")
    found = [
        (one, ColumnReport(name=one.name, kind="number", role=one.role, distinct=4, missing=0))
        for one in (knob, knob.model_copy(update={"name": "freq_ghz"}))
    ]
    doubtful = [(one, told.model_copy(update={"question": asked})) for one, told in found]
    kept, follower = (report for _, report in without_followers(doubtful, table))
    assert (kept.role, kept.question) == (Role.KNOB, asked)
    assert (follower.role, follower.question) == (Role.IGNORED, None)


def test_a_basic_unit_is_kept() -> None:
    same = ignored(nodes=NODES, **{"Energy[Wh]": TIME, "Energy[J]": 3600 * TIME})
    assert same == {"Energy[Wh]": "Energy[J]"}


def test_the_limit_of_a_job_in_two_ways() -> None:
    minutes = RNG.choice([30, 60, 1440, 2880], N)
    text = [f"{m // 1440}-{m % 1440 // 60:02d}:{m % 60:02d}:00" for m in minutes]
    found = reports(Timelimit=text, TimelimitRaw=minutes, time=TIME)
    assert found["TimelimitRaw"].same_as == "Timelimit"
    assert found["TimelimitRaw"].note == "says the same as Timelimit (Timelimit / 60)"
    assert found["Timelimit"].unit == "s"


def test_a_label_is_kept_rather_than_its_code() -> None:
    code = RNG.choice([3, 5, 9], N)
    label = np.array([f"app{c}" for c in code])
    same = ignored(app_code=code, app=label, nodes=NODES, time=TIME)
    assert same == {"app_code": "app"}


def test_copies_say_the_same_whatever_they_are_called() -> None:
    found = reports(nodes=NODES, alloc=NODES, time=TIME)
    assert found["alloc"].same_as == "nodes"
    assert found["alloc"].note == "says the same as nodes"
    # What is asked for is what a person sets.
    assert ignored(nodes=NODES, req=NODES, time=TIME) == {"nodes": "req"}
    few = slice(0, 12)  # too few rows to be sure
    assert ignored(nodes=NODES[few], req=NODES[few], time=TIME[few]) == {}


def test_a_chain_ends_at_the_column_that_is_kept() -> None:
    same = ignored(
        nodes=NODES, elapsed_s=60 * TIME, elapsed_min=TIME, total=60 * TIME, elapsed_h=TIME / 60
    )
    assert set(same.values()) == {"elapsed_s"}
    assert {"elapsed_min", "elapsed_h"} <= same.keys()


@pytest.mark.parametrize(
    "other",
    [
        {"tile_y": 2 * NODES},  # another thing that goes along
        {"tile_x2": 2 * NODES},
        {"time_limit": 1.0 * TIME},  # what is set is no result
        {"tile_x_raw": np.where(np.arange(N) == 7, 3, NODES)},  # but for one row
    ],
)
def test_what_only_goes_along_is_kept(other: dict[str, object]) -> None:
    assert ignored(tile_x=NODES, time=TIME, **other) == {}


def test_other_gaps_are_other_columns() -> None:
    gaps = [None if i in (3, 8) else float(v) for i, v in enumerate(TIME)]
    moved = [None if i in (3, 9) else 1000 * float(v) for i, v in enumerate(TIME)]
    same = [None if v is None else 1000 * v for v in gaps]
    assert ignored(nodes=NODES, time_s=gaps, time_ms=moved) == {}
    assert ignored(nodes=NODES, time_s=gaps, time_ms=same) == {"time_ms": "time_s"}


def test_what_the_study_states_does_not_follow() -> None:
    both = {"nodes": NODES, "runtime_s": TIME, "runtime_ms": 1000 * TIME}
    one = Study(columns={"runtime_ms": ColumnChoice(role=Role.OUTCOME)})
    assert ignored(one, **both) == {"runtime_s": "runtime_ms"}
    choice = ColumnChoice(role=Role.OUTCOME)
    assert ignored(Study(columns={"runtime_ms": choice, "runtime_s": choice}), **both) == {}


def test_a_study_in_full_gives_the_same_columns() -> None:
    table = Table.of(pa.table({"nodes": NODES, "time_s": TIME, "time_ms": 1000 * TIME}))
    space, found = infer(table)
    assert infer(table, study_from(space, found))[0] == space
    assert prepare(table).space.names == ("nodes", "time_s")


def brute_force(one: list[str], other: list[str]) -> bool:
    pairs = set(zip(one, other, strict=True))
    return len(pairs) == len(set(one)) == len(set(other))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=12))
def test_one_to_one_is_one_to_one(pairs: list[tuple[str, str]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    table = Table.of(pa.table({"app": one, "app_name": other, "n": list(range(len(one)))}))
    study = Study(
        columns={"app": ColumnChoice(kind="category"), "app_name": ColumnChoice(kind="category")}
    )
    space, _ = infer(table, study)
    used = [p for p in space if p.role is not Role.IGNORED]
    expected = brute_force(one, other) and 1 < len(set(one)) <= len(one) / 2
    # Inferring has left the follower out; ask again with both in use.
    both = [p.model_copy(update={"role": Role.CONTEXT}) for p in space if p.name != "n"]
    assert bool(followers(table.arrow, both)) == expected
    assert len(used) <= 3


factors = st.sampled_from([0.001, 1 / 60, 1.0, 3.6, 60.0, 1024.0, 1e6])


@given(st.lists(st.integers(-1000, 1000), min_size=12, max_size=60), factors, st.integers(0, 2))
def test_factors_are_found(values: list[int], factor: float, offset: int) -> None:
    x = np.array(values, dtype=float)
    table = Table.of(pa.table({"temp_a": x, "temp_a_raw": factor * x + offset}))
    space, _ = infer(table)
    both = [p.model_copy(update={"role": Role.CONTEXT}) for p in space]
    if any(p.kind != "number" for p in both) or len(np.unique(x)) < 3:
        return
    (found,) = followers(table.arrow, both)
    assert isinstance(found, Follower)
    assert found.factor is not None
    np.testing.assert_allclose(
        found.factor * x + found.offset, factor * x + offset, rtol=1e-8, atol=1e-8 * factor * 1000
    )
