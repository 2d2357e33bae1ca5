import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.space import Category, Number, Role, Space
from compass.language import bind_rule, parse_rule
from compass.rules import compile_rule, mine
from property_examples import examples

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
    assert found[:2] == ["partition == 'cpu' -> gpus == 0", "partition == 'gpu' -> gpus >= 1"]
    assert sorted(found[2:]) == [  # the same column under other labels comes last, told once
        "partition == 'cpu' -> queue == 'c'",
        "partition == 'gpu' -> queue == 'g'",
        "partition == 'mixed' -> queue == 'm'",
    ]


def test_limits_of_a_label_on_a_number(random):
    n = 4_000
    gpu = random.integers(0, 3, n).astype(float)
    cap = np.where(
        gpu == 1, draw(random, n, 100, 125, 150, 200, 250), draw(random, n, *range(100, 401, 25))
    )
    batch = random.integers(1, 200, n).astype(float)
    labels = {"gpu": ("a40", "p100", "v100")}
    X, space = table({"gpu": gpu, "cap": cap, "batch": batch}, labels=labels)
    assert texts(X, space)[0] == "gpu == 'p100' -> cap <= 250"


def test_a_number_beside_a_flag_is_no_multiple(random):
    n = 3_000
    columns = {
        "padding": draw(random, n, 0, 1),
        "block": 16 * random.integers(1, 17, n).astype(float),
        "other": random.integers(1, 6, n).astype(float),
    }
    good = (columns["padding"] == 0) | (columns["block"] % 32 != 0)
    X, space = table({name: values[good] for name, values in columns.items()})
    assert texts(X, space) == ["padding == 1 -> block % 32 != 0"]
    X, space = table(
        {name: values[~good | (columns["padding"] == 0)] for name, values in columns.items()}
    )
    assert texts(X, space) == ["padding == 1 -> block % 32 == 0"]


def test_labels_that_go_with_a_label(random):
    n = 3_000
    app, other = random.integers(0, 4, n).astype(float), random.integers(0, 90, n).astype(float)
    solver = random.integers(0, 6, n).astype(float)
    good = (app != 2) | np.isin(solver, (1, 4))
    good &= (app != 3) | (solver != 0)
    columns = {"app": app, "solver": solver, "other": other}
    labels = {"app": tuple("abcd"), "solver": tuple("uvwxyz")}
    X, space = table({name: values[good] for name, values in columns.items()}, labels=labels)
    assert texts(X, space) == [
        "app == 'c' -> solver in {'v', 'y'}",
        "solver == 'u' -> app in {'a', 'b'}",  # with the first: app == 'd' -> solver != 'u'
    ]


def test_a_product_below_a_limit(random):
    n = 4_000
    columns = {
        "x": 16 * random.integers(1, 17, n).astype(float),
        "y": draw(random, n, 1, 2, 4, 8, 16),
        "z": draw(random, n, 1, 2, 3),
    }
    good = columns["x"] * columns["y"] <= 1024
    X, space = table({name: values[good] for name, values in columns.items()})
    assert texts(X, space) == ["x * y <= 1024"]


def test_what_a_third_column_decides_is_no_dependency(random):
    """Each of 6 networks has its optimizer and its batch sizes; machines and limits are crossed."""
    n = 6_000
    network = random.integers(0, 6, n)
    optimizer = np.array([0, 0, 0, 1, 1, 1])[network].astype(float)
    largest = np.array([64, 128, 128, 256, 512, 256.0])[network]
    batch = np.minimum(draw(random, n, 8, 16, 32, 64, 128, 256, 512), largest)
    columns = {
        "network": network.astype(float),
        "optimizer": optimizer,
        "batch": batch,
        "machine": random.integers(0, 5, n).astype(float),
        "limit": random.integers(4, 12, n).astype(float),
    }
    labels = {"network": tuple("abcdef"), "optimizer": ("adam", "sgd"), "machine": tuple("vwxyz")}
    X, space = table(columns, labels=labels)
    found = texts(X, space)
    assert "network == 'a' -> batch <= 64" in found
    assert not [text for text in found if "optimizer" in text and "batch" in text]


def test_values_that_become_rare_are_not_cut_off(random):
    """The largest load on few nodes is where few rows are: the next row may go further."""
    n = 20_000
    nodes = random.integers(1, 6, n).astype(float)
    load = np.minimum(random.poisson(3 * nodes), 40).astype(float)
    columns = {"nodes": nodes, "load": load, "size": random.integers(0, 500, n).astype(float)}
    X, space = table(columns)
    assert texts(X, space) == []
    assert load[nodes == 1].max() < 0.5 * load.max()  # a limit on each number of nodes would hold
    X[:, 1] = np.where((nodes == 5) & (load > 8), 8, load)
    assert "nodes == 5 -> load <= 8" in texts(X, space)


def test_members_of_a_group_are_as_many_draws_as_members(random):
    n = 4_000
    subject = random.integers(0, 40, n)
    age = np.sort(random.integers(50, 66, 40))[random.permutation(40)][subject]
    columns = {"subject": subject, "age": age, "size": random.integers(0, 500, n)}
    X, space = table({name: values.astype(float) for name, values in columns.items()})
    assert texts(X, space) == []


def test_one_odd_run_does_not_make_all_others_a_rule(random):
    n = 3_000
    columns = {name: random.integers(0, 4, n).astype(float) for name in "abcd"}
    columns["a"][0], columns["b"][0] = 4.0, 9.0  # `a == 0 -> b <= 3` holds, by this row alone
    X, space = table(columns)
    assert texts(X, space) == []


@examples(30)
@given(st.data())
def test_a_planted_implication_is_found_and_nothing_else(data):
    """By the rows that are left the rule forbids: the mined rules forbid the same, and no more."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    sizes = data.draw(st.lists(st.integers(3, 6), min_size=2, max_size=4))
    n = 4_000
    columns = {f"c{i}": random.integers(0, size, n).astype(float) for i, size in enumerate(sizes)}
    a, b = data.draw(st.permutations(sorted(columns)))[:2]
    given = float(data.draw(st.integers(0, int(columns[a].max()))))
    kind = data.draw(st.sampled_from(["==", "<=", ">="]))
    limit = float(data.draw(st.integers(1, int(columns[b].max()) - 1)))
    obeys = {"==": columns[b] == limit, "<=": columns[b] <= limit, ">=": columns[b] >= limit}[kind]
    good = (columns[a] != given) | obeys
    columns["size"] = random.integers(0, 200, n).astype(float)
    X, space = table({name: values[good] for name, values in columns.items()})
    found = texts(X, space)
    assert found
    axes = np.meshgrid(*(np.unique(X[:, j]) for j in range(len(sizes))), [0.0])
    grid = np.stack(axes, axis=-1).reshape(-1, len(sizes) + 1)
    held = np.ones(len(grid), dtype=bool)
    for text in found:
        held &= compile_rule(bind_rule(parse_rule(text), space), space, space.names).holds(grid)
    x, y = grid[:, int(a[1:])], grid[:, int(b[1:])]
    law = {"==": y == limit, "<=": y <= limit, ">=": y >= limit}[kind]
    assert np.array_equal(held, (x != given) | law)


@examples(15)
@given(st.integers(0, 2**31), st.integers(3, 8), st.integers(100, 5_000))
def test_unrelated_labels_and_numbers_have_no_dependencies(seed, width, rows):
    random = np.random.default_rng(seed)
    columns, labels = {}, {}
    for i in range(width):
        size = int(random.integers(2, 9))
        weight = random.dirichlet(np.ones(size))  # some values are rare
        columns[f"c{i}"] = random.choice(size, rows, p=weight).astype(float)
        if i % 2:
            labels[f"c{i}"] = tuple(f"l{j}" for j in range(size))
    columns["size"] = random.lognormal(size=rows)
    X, space = table(columns, labels=labels)
    assert texts(X, space) == []


def test_in_a_long_table_one_row_of_many_decides(random):
    """Only some rows of a long table are looked at first; a limit is that of all rows."""
    n = 120_000
    nodes = random.integers(1, 60, n)
    cores = random.integers(1, 16 * nodes + 1)
    cores[::50] = 16 * nodes[::50]
    copy = nodes.copy()
    copy[7] += 1
    gpu = random.integers(0, 3, n)
    cap = np.where(gpu == 1, random.integers(1, 6, n), random.integers(1, 11, n))
    columns = {"nodes": nodes, "cores": cores, "copy": copy, "gpu": gpu, "cap": cap}
    columns = {name: values.astype(float) for name, values in columns.items()}
    X, space = table(columns, labels={"gpu": ("a", "b", "c")})
    found = texts(X, space)
    assert "cores <= 16 * nodes" in found
    assert "gpu == 'b' -> cap <= 5" in found
    assert not [text for text in found if text.startswith(("copy == ", "nodes == "))]
    X[random.integers(n), 4] = 7.0
    X[:, 3][X[:, 4] == 7.0] = 1.0
    assert "gpu == 'b' -> cap <= 5" not in texts(X, space)
    assert mine(X, space)[0].rows == n


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


@examples(25)
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
    assert found[:2] == ["P * Q * R == ppn_count", "nthreads * ppn_count in {64, 128}"]
    # The only decomposition with 16 that was sampled.
    assert sorted(found[2:]) == ["P == 16 -> Q == 2", "P == 16 -> R == 2"]


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


def test_the_conditions_of_convolution():
    """Three of the four conditions that the tuning space states; the last has five columns."""
    path = DATA / "kernel_tuner_hub" / "convolution_milo.csv"
    if not path.exists():
        pytest.skip("convolution_milo.csv is not here; COMPASS_DATA names the folder of datasets")
    import pyarrow.csv

    read = pyarrow.csv.read_csv(path)
    knobs = read.column_names[: read.column_names.index("gpu")]
    X, space = table({n: read[n].to_numpy().astype(float) for n in knobs})
    assert texts(X, space) == [
        "block_size_x * block_size_y <= 1024",
        "use_padding == 1 -> use_shmem == 1",
        "use_padding == 1 -> block_size_x % 32 != 0",
    ]
