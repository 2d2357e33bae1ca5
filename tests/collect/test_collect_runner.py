"""Kernels are compiled and run for real; a wrong result is refused."""

from pathlib import Path

import pytest

from compass.collect import machine
from compass.collect.plan import (
    KERNELS,
    Configuration,
)
from compass.collect.runner import (
    Refusal,
    Sample,
    compile_variant,
    result_from,
    run_group,
    summary,
    variant_of,
    variation_pct,
)
from compass.collect.sweep import (
    SweepOptions,
    measure,
    table_rows,
)

SMALL = Configuration("triad", 24, "double", 1, "static", 0, 64, 1, "O1")


def small_of(kernel: str, **change: object) -> Configuration:
    fields = {"kernel": kernel, "size_kib": 24, "precision": "double", "threads": 1}
    rest = {"schedule": "static", "chunk": 0, "tile": 16, "unroll": 1, "flags": "O1"}
    return Configuration(**{**fields, **rest, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("precision", ["single", "double"])
def test_each_kernel_computes_the_right_result(tmp_path: Path, precision: str) -> None:
    compiler = machine.find_compiler()
    asked = [small_of(k, precision=precision, unroll=4, flags="O2") for k in KERNELS]
    program = compile_variant(compiler, variant_of(asked[0]), tmp_path)
    outcomes = run_group(program, asked, 2)
    assert all(isinstance(outcome, Sample) for outcome in outcomes), outcomes


def test_a_wrong_result_is_refused(tmp_path: Path) -> None:
    asked = [small_of(kernel) for kernel in KERNELS]
    spoiled = compile_variant(
        machine.find_compiler(), variant_of(asked[0]), tmp_path, extra=["-DCOMPASS_FAULT"]
    )
    settings = SweepOptions(rows=4, repeats=2, seed=1, kernels=KERNELS, visits=1, patience=0)
    taken = measure({variant_of(asked[0]): spoiled}, asked, settings)
    rows, reasons = table_rows(taken)
    assert rows == {}
    assert sum(reasons.values()) == len(KERNELS)
    assert all("wrong result" in reason for reason in reasons)


def test_a_program_that_stops_leaves_refusals(tmp_path: Path) -> None:
    program = tmp_path / "stops"
    program.write_text("#!/bin/sh\nexit 3\n", encoding="ascii")
    program.chmod(0o755)
    outcomes = run_group(program, [SMALL, SMALL], 2)
    assert outcomes == [Refusal("the program stopped")] * 2


@pytest.mark.parametrize("error", ["nan nan", "0 nan", "0 inf", "0.5 0.5"])
def test_an_error_that_is_large_or_no_number_is_refused(error: str) -> None:
    assert isinstance(result_from(f"ok {error} 100 1 0.1 0.1", "double"), Refusal)


def test_summary_of_repeats() -> None:
    sample = result_from("ok 0 0 2e9 3 1.0 1.0 2.0", "double")
    assert isinstance(sample, Sample)
    result = summary(sample)
    assert (result.runtime_ms, result.gflops) == (1000.0, 2.0)
    assert variation_pct([1.0, 1.0, 1.0]) == 0
    assert variation_pct([9.0, 10.0, 11.0]) == pytest.approx(16.0)
