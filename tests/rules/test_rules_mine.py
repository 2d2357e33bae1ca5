import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compass.domain.space import Category, Number, Role, Space
from compass.language import bind_rule, parse_rule
from compass.rules import compile_rule, mine

DATA = Path(os.environ.get("COMPASS_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
APPS = DATA / "stampede2_apps"


def table(columns, outcomes=(), ignored=(), labels=(), units=None, optional=()):
    """A matrix and its space from arrays by name."""
    parameters = []
    for name, values in columns.items():
        role = Role.OUTCOME if name in outcomes else Role.KNOB
        role = Role.IGNORED if name in ignored else role
        if name in labels:
            parameters.append(Category(name=name, role=role, values=labels[name]))
            continue
        good = values[~np.isnan(values)]
        whole = bool((good == np.floor(good)).all())
        parameters.append(
            Number(
                name=name,
                role=role,
                low=good.min(),
                high=good.max(),
                step=1 if whole else None,
                unit=(units or {}).get(name),
                optional=name in optional,
            )
        )
    return np.column_stack(list(columns.values())), Space(parameters=tuple(parameters))


def texts(X, space, kind=None):
    found = mine(X, space)
    for one in found:
        rule = compile_rule(bind_rule(parse_rule(one.text), space), space, space.names)
        present = ~np.isnan(X[:, [space.names.index(n) for n in rule.names]]).any(axis=1)
        for name in rule.names:
            parameter = space[name]
            if isinstance(parameter, Number) and parameter.optional:
                present &= X[:, space.names.index(name)] != parameter.none_code
        assert rule.holds(X[present]).all(), one.text
        if one.kind != "implication":
            assert one.rows == present.sum()
        assert one.why
    return [one.text for one in found if kind is None or one.kind == kind]


@pytest.fixture
def random():
    return np.random.default_rng(11)


def draw(random, n, *values):
    return random.choice(np.array(values, dtype=float), n)


def test_equal_columns_and_constant_ratios(random):
    n = 2_000
    nodes = random.integers(1, 60, n).astype(float)
    X, space = table(
        {
            "nodes": nodes,
            "nodes_alloc": nodes,
            "cores": 36 * nodes,
            "half": nodes / 2,
            "other": random.integers(1, 60, n).astype(float),
            "odd": nodes * np.pi,
        }
    )
    assert texts(X, space, "equality") == ["nodes_alloc == nodes"]
    assert texts(X, space, "ratio") == ["cores == 36 * nodes", "nodes == 2 * half"]
    assert len(mine(X, space)) == 3


def test_bounds_with_and_without_a_factor(random):
    n = 3_000
    nodes = random.integers(1, 60, n)
    cores = random.integers(1, 32 * nodes + 1)
    cores[::50] = 32 * nodes[::50]
    tasks = random.integers(1, cores + 1)
    tasks[::40] = cores[::40]
    eighth = random.integers(0, nodes // 8 + 1)
    columns = {"nodes": nodes, "cores": cores, "tasks": tasks, "eighth": eighth}
    X, space = table({k: v.astype(float) for k, v in columns.items()})
    assert sorted(texts(X, space)) == [
        "8 * eighth <= nodes",
        "cores <= 32 * nodes",
        "tasks <= cores",
    ]


def test_a_bound_that_is_never_reached_needs_a_common_unit(random):
    n = 2_000
    limit = random.uniform(1, 100, n)
    run = limit * random.uniform(0.1, 0.95, n)
    columns = {"run": run, "limit": limit}
    X, space = table(columns, outcomes=("run",))
    assert texts(X, space) == []
    X, space = table(columns, outcomes=("run",), units={"run": "s", "limit": "s"})
    assert texts(X, space) == ["run <= limit"]
    X, space = table(columns, outcomes=("run",), units={"run": "s", "limit": "W"})
    assert texts(X, space) == []


def test_a_reached_bound_between_an_outcome_and_a_feature(random):
    n = 2_000
    limit = random.integers(1, 100, n).astype(float)
    run = np.minimum(limit * random.uniform(0.1, 1.3, n), limit)
    X, space = table({"run": run, "limit": limit}, outcomes=("run",))
    assert texts(X, space) == ["run <= limit"]


def test_rules_among_outcomes_only_and_ignored_columns_are_left_out(random):
    n = 1_000
    nodes = random.integers(1, 50, n).astype(float)
    time = random.uniform(1, 9, n)
    X, space = table(
        {"nodes": nodes, "time": time, "time_ms": 1000 * time, "copy": nodes},
        outcomes=("time", "time_ms"),
        ignored=("copy",),
    )
    assert texts(X, space) == []


def test_products_are_told_once_and_what_they_imply_is_not(random):
    n = 4_000
    p, q, r = (draw(random, n, 1, 2, 4, 8) for _ in range(3))
    nodes = draw(random, n, 1, 2, 4)
    good = (p * q * r) % nodes == 0
    columns = {"P": p, "Q": q, "R": r, "nodes": nodes, "ppn": p * q * r / nodes}
    X, space = table({k: v[good] for k, v in columns.items()})
    assert texts(X, space) == ["P * Q * R == nodes * ppn"]


def test_a_product_with_a_factor_and_a_constant_product(random):
    n = 3_000
    a, b = draw(random, n, 1, 2, 3, 4, 6), draw(random, n, 1, 2, 3, 5, 8)
    X, space = table({"a": a, "b": b, "c": 4 * a * b})
    assert texts(X, space) == ["4 * a * b == c"]
    d = draw(random, n, 1, 2, 3, 4, 6, 8, 12, 24)
    X, space = table({"d": d, "e": 24 / d})
    assert texts(X, space) == ["d * e == 24"]


def test_a_product_confined_to_few_values(random):
    n = 3_000
    ppn = draw(random, n, 1, 2, 4, 8, 16, 32, 64)
    total = draw(random, n, 64, 128)
    X, space = table({"ppn": ppn, "threads": total / ppn})
    assert texts(X, space) == ["ppn * threads in {64, 128}"]


def test_multiples_and_multiples_of_products(random):
    n = 5_000
    sets = draw(random, n, 1, 2, 3, 4, 5, 6)
    groups = draw(random, n, 12, 24, 30, 36, 48, 60, 75, 90, 100, 105)
    good = groups % sets == 0
    X, space = table({"groups": groups[good], "sets": sets[good]})
    assert texts(X, space) == ["groups % sets == 0"]
    block, lanes = draw(random, n, 8, 16, 32), draw(random, n, 1, 2, 4, 8)
    tile = draw(random, n, 16, 32, 64, 128)
    good = tile % (block * lanes) == 0
    X, space = table({"tile": tile[good], "block": block[good], "lanes": lanes[good]})
    assert texts(X, space) == ["tile % (block * lanes) == 0"]


def test_zeros_divide_but_prove_nothing(random):
    n = 1_000
    gpus = np.where(random.random(n) < 0.97, 0.0, 12.0)
    cores = draw(random, n, 1, 2, 3, 4, 6, 12, 5, 7, 11)
    gpus[(gpus % cores) != 0] = 0.0
    X, space = table({"gpus": gpus, "cores": cores})
    assert texts(X, space, "modulo") == []


def test_what_a_label_settles(random):
    n = 1_500
    partition = random.integers(0, 3, n).astype(float)
    gpus = np.where(partition == 0, 0.0, random.integers(0, 5, n))
    gpus = np.where(partition == 1, np.maximum(gpus, 1.0), gpus)
    nodes = random.integers(1, 90, n).astype(float)
    labels = {"partition": ("cpu", "gpu", "mixed"), "queue": ("c", "g", "m")}
    X, space = table(
        {"partition": partition, "queue": partition, "gpus": gpus, "nodes": nodes}, labels=labels
    )
    found = texts(X, space, "implication")
    assert found == ["partition == 'cpu' -> gpus == 0", "partition == 'gpu' -> gpus >= 1"]


def test_missing_and_none_cells_are_passed_over(random):
    n = 2_000
    nodes = random.integers(1, 60, n).astype(float)
    copy = nodes.copy()
    copy[::7] = np.nan
    X, space = table({"nodes": nodes, "copy": copy}, optional=("nodes",))
    X[1::7, 0] = space["nodes"].none_code
    (found,) = mine(X, space)
    assert found.text == "copy == nodes"
    assert found.rows == (~np.isnan(X[:, 1]) & (X[:, 0] != space["nodes"].none_code)).sum()


def test_a_single_row_that_breaks_it_is_enough(random):
    n = 50_000
    nodes = random.integers(1, 60, n).astype(float)
    for name, values in {
        "copy": nodes.copy(),
        "twice": 2 * nodes,
    }.items():
        values[random.integers(n)] += 1
        X, space = table({"nodes": nodes, name: values})
        assert not [t for t in texts(X, space) if "==" in t]


def test_unrelated_columns_have_no_dependencies(random):
    n = 3_000
    X, space = table(
        {
            "nodes": draw(random, n, 1, 2, 4, 8, 16),
            "threads": draw(random, n, 1, 2, 4, 8, 16, 32),
            "block": draw(random, n, 16, 32, 64),
            "flag": draw(random, n, 0, 1),
            "size": random.integers(1, 500, n).astype(float),
            "ratio": random.uniform(0, 1, n),
            "constant": np.full(n, 32.0),
        },
        outcomes=("ratio",),
    )
    assert texts(X, space) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(3, 9), st.integers(20, 200))
def test_few_unrelated_rows_do_not_fool_it(seed, width, rows):
    random = np.random.default_rng(seed)
    columns = {}
    for i in range(width):
        values = np.unique(random.integers(1, 40, random.integers(2, 7)))
        columns[f"c{i}"] = random.choice(values, rows).astype(float)
    X, space = table(columns)
    assert texts(X, space) == []


def test_few_settings_of_a_nested_design_are_a_coincidence(random):
    n = 4_000
    app = random.integers(0, 5, n)
    size = np.array([10, 20, 30, 40, 50.0])[app]
    memory = np.array([20, 40, 90, 100, 200.0])[app]
    threads = draw(random, n, 1, 2, 4, 8)
    X, space = table({"size": size, "memory": memory, "threads": threads})
    assert texts(X, space) == []


def test_a_short_table_proves_nothing_and_limit_limits(random):
    nodes = np.arange(10.0)
    X, space = table({"nodes": nodes, "copy": nodes})
    assert mine(X, space) == ()
    nodes = random.integers(1, 60, 500).astype(float)
    X, space = table({f"n{i}": nodes for i in range(6)})
    assert len(mine(X, space)) == 5
    assert len(mine(X, space, limit=2)) == 2


def test_names_that_are_not_words_are_quoted(random):
    nodes = random.integers(1, 60, 500).astype(float)
    X, space = table({"core 0": nodes, "Time[s]": 2 * nodes})
    assert texts(X, space) == ["`Time[s]` == 2 * `core 0`"]


def test_the_same_table_gives_the_same_answer(random):
    X, space = table({n: draw(random, 999, 1, 2, 4, 8) for n in "abcd"})
    X[:, 3] = X[:, 0] * X[:, 1]
    assert mine(X, space) == mine(X, space)


def real(path, outcomes, ignored=("idx",)):
    if not path.exists():
        pytest.skip(f"{path.name} is not here; COMPASS_DATA names the folder of the datasets")
    import pyarrow.csv

    read = pyarrow.csv.read_csv(path)
    columns = {n: read[n].to_numpy().astype(float) for n in read.column_names}
    return table(columns, outcomes=outcomes, ignored=ignored)


def test_the_decomposition_of_amg():
    X, space = real(APPS / "amg_train.csv", ("wall_time", "wall_time2"))
    found = texts(X, space)
    assert sorted(found) == ["P * Q * R == ppn_count", "nthreads * ppn_count in {64, 128}"]


def test_the_sets_of_kripke():
    X, space = real(APPS / "kripke_train.csv", tuple(f"k{i}" for i in range(1, 10)))
    assert sorted(texts(X, space)) == [
        "ndirections % ndirsets == 0",
        "ngroups % ngroupsets == 0",
        "ppn * nthreads in {64, 128}",
    ]


def test_the_tuning_space_of_gemm():
    path = DATA / "kernel_tuner_hub" / "gemm.csv"
    if not path.exists():
        pytest.skip("gemm.csv is not here; COMPASS_DATA names the folder of the datasets")
    import pyarrow.csv

    read = pyarrow.csv.read_csv(path)
    knobs = read.column_names[: read.column_names.index("PRECISION")]
    X, space = table({n: read[n].to_numpy().astype(float) for n in knobs})
    assert {
        "MWG % (MDIMC * VWM) == 0",
        "NWG % (NDIMC * VWN) == 0",
        "MWG % (MDIMA * VWM) == 0",
        "NWG % (NDIMB * VWN) == 0",
    } <= set(texts(X, space))
