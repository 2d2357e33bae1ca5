"""The plan is the same for the same seed, balanced, and holds sensible configurations only."""

import pytest

from compass.collect.plan import (
    KERNELS,
    default_configuration,
    is_sensible,
    knobs_for,
    plan,
    problem_n,
    sizes_for,
)
from compass.collect.sweep import (
    columns,
)


def test_same_seed_same_plan() -> None:
    knobs = knobs_for(2)
    first = plan(knobs, rows=300, seed=7, kernels=KERNELS)
    assert first == plan(knobs, rows=300, seed=7, kernels=KERNELS)
    assert first != plan(knobs, rows=300, seed=8, kernels=KERNELS)


def test_plan_is_sensible_distinct_and_balanced() -> None:
    configurations = plan(knobs_for(8), rows=520, seed=1, kernels=KERNELS)
    assert len(set(configurations)) == len(configurations) == 520
    assert all(is_sensible(c) for c in configurations)
    cells = [(k, s) for k in KERNELS for s in sizes_for(k)]
    for kernel, size in cells:
        count = sum((c.kernel, c.size_kib) == (kernel, size) for c in configurations)
        assert count == 520 // len(cells)


def test_plan_holds_single_changes_of_the_usual_configuration() -> None:
    knobs = knobs_for(2)
    configurations = plan(knobs, rows=3000, seed=7, kernels=KERNELS)
    start = default_configuration("stencil", 1536, knobs)
    assert start in configurations
    for flags in knobs.flags:
        assert any(
            (c.flags, c.tile, c.threads, c.schedule, c.chunk, c.unroll, c.precision)
            == (flags, start.tile, start.threads, "static", 0, start.unroll, start.precision)
            for c in configurations
            if (c.kernel, c.size_kib) == ("stencil", 1536)
        )


@pytest.mark.parametrize(
    ("cores", "threads"), [(1, (1,)), (2, (1, 2)), (6, (1, 2, 4, 6)), (8, (1, 2, 4, 8))]
)
def test_threads_go_up_to_the_cores(cores: int, threads: tuple[int, ...]) -> None:
    assert knobs_for(cores).threads == threads


def test_binding_is_a_knob_only_with_enough_cores() -> None:
    assert not knobs_for(2).varies_binding
    assert knobs_for(4).varies_binding
    assert "binding" not in columns(binding=False)
    assert "binding" in columns(binding=True)


@pytest.mark.parametrize("kernel", KERNELS)
def test_problem_size_grows_and_suits_every_unroll(kernel: str) -> None:
    sizes = [problem_n(kernel, size) for size in sizes_for(kernel)]
    assert sizes == sorted(set(sizes))
    assert all(n % 8 == 0 for n in sizes)
