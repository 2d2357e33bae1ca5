"""The sweep measures for real, refuses wrong results and is the same for the same seed."""

import csv
import json
from pathlib import Path

import pytest

from compass import embedded
from compass.collect import machine
from compass.collect.plan import (
    KERNELS,
    Configuration,
    default_configuration,
    is_sensible,
    knobs_for,
    plan,
    problem_n,
    sizes_for,
)
from compass.collect.quiet import watched
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
    SweepSamples,
    collect,
    columns,
    disagreement_pct,
    fastest,
    groups,
    measure,
    provenance_path,
    table_rows,
)
from compass.domain.errors import CompassError, EnvironmentProblem

SMALL = Configuration("triad", 24, "double", 1, "static", 0, 64, 1, "O1")


def small_of(kernel: str, **change: object) -> Configuration:
    fields = {"kernel": kernel, "size_kib": 24, "precision": "double", "threads": 1}
    rest = {"schedule": "static", "chunk": 0, "tile": 16, "unroll": 1, "flags": "O1"}
    return Configuration(**{**fields, **rest, **change})  # type: ignore[arg-type]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


# ---- the plan ----


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


def test_groups_keep_every_configuration_and_one_program_each() -> None:
    configurations = plan(knobs_for(4), rows=200, seed=3, kernels=KERNELS)
    found = groups(configurations, 5)
    assert sorted(map(repr, configurations)) == sorted(repr(c) for g in found for c in g)
    assert all(len({(variant_of(c), c.binding) for c in group}) == 1 for group in found)


# ---- real runs ----


def test_real_sweep(tmp_path: Path) -> None:
    output = tmp_path / "made" / "runs.csv"
    seen: list[tuple[int, int]] = []
    report = collect(
        output,
        rows=4,
        repeats=2,
        kernels=["spmv", "triad"],
        patience=0,
        progress=lambda done, total: seen.append((done, total)),
    )
    rows = read(output)
    assert report.path == output
    assert report.rows == len(rows)
    assert report.rows + report.failed == 4
    assert seen[-1] == (8, 8)
    binding = "binding" in (rows[0] if rows else {})
    assert all(tuple(row) == columns(binding=binding) for row in rows)
    about = json.loads(provenance_path(output).read_text(encoding="utf-8"))
    assert about == report.machine
    assert about["seed"] == 7
    assert str(tmp_path) not in json.dumps(about)
    assert {path.name for path in output.parent.iterdir()} == {"runs.csv", "runs.machine.json"}


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


# ---- reading answers ----


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


def test_the_fastest_visit_counts_and_must_be_confirmed() -> None:
    taken = SweepSamples()
    taken.add(SMALL, Sample((2.0, 2.0), 1e9))
    assert taken.unconfirmed() == []  # a single visit has nothing to disagree with
    taken.add(SMALL, Sample((1.0, 1.0), 1e9))
    assert taken.unconfirmed() == [SMALL]
    taken.add(SMALL, Sample((1.05, 1.05), 1e9))
    assert taken.unconfirmed() == []
    assert fastest(taken.samples[SMALL]).seconds == (1.0, 1.0)
    assert disagreement_pct(taken.samples[SMALL]) == pytest.approx(5.0)
    rows, _ = table_rows(taken)
    assert rows[SMALL].runtime_ms == 1000.0


def test_repeats_that_disagree_wildly_are_left_out() -> None:
    taken = SweepSamples()
    taken.add(SMALL, Sample((1.0, 1.0, 5.0), 1e9))
    assert table_rows(taken) == ({}, {"repeats disagree": 1})
    taken.add(SMALL, Sample((2.0, 2.0, 2.0), 1e9))
    rows, reasons = table_rows(taken)
    assert (rows[SMALL].runtime_ms, dict(reasons)) == (2000.0, {})


def test_watched_returns_the_result_and_a_load() -> None:
    result, others = watched(lambda: "done")
    assert result == "done"
    assert others >= 0


# ---- what can go wrong ----


def test_missing_compiler_is_told_with_a_hint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(EnvironmentProblem, match="no-such-compiler") as caught:
        collect(tmp_path / "runs.csv", rows=1)
    assert "CC" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="gcc, cc or clang"):
        machine.find_compiler()


def test_compiler_without_openmp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "cc-without-openmp"
    fake.write_text("#!/bin/sh\necho 'error: no OpenMP' >&2\nexit 1\n", encoding="ascii")
    fake.chmod(0o755)
    monkeypatch.setenv("CC", str(fake))
    with pytest.raises(EnvironmentProblem, match="no OpenMP") as caught:
        collect(tmp_path / "runs.csv", rows=1)
    assert "OpenMP" in caught.value.hint


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": 0},
        {"visits": 0},
        {"patience": -1},
        {"repeats": 1},
        {"repeats": 500},
        {"kernels": ["fft"]},
        {"kernels": []},
    ],
)
def test_wrong_arguments_are_told(tmp_path: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(CompassError):
        collect(tmp_path / "runs.csv", **wrong)  # type: ignore[arg-type]


# ---- the table that comes with Compass ----


def test_embedded_table_is_complete() -> None:
    rows = read(embedded.path())
    assert 2500 <= len(rows) <= 3500
    assert all(tuple(row) == columns(binding=False) for row in rows)
    assert all(value not in ("", None, "nan") for row in rows for value in row.values())
    for name in ("size_kib", "threads", "tile", "unroll", "runtime_ms", "gflops"):
        assert all(float(row[name]) > 0 for row in rows), name
    assert {row["kernel"] for row in rows} == set(KERNELS)
    assert embedded.path().stat().st_size < 400_000


def test_embedded_rows_obey_the_rules_of_the_plan() -> None:
    numbers = ("size_kib", "threads", "chunk", "tile", "unroll")
    names = ("kernel", "precision", "schedule", "flags", *numbers)
    keys = set()
    for row in read(embedded.path()):
        fields = {name: int(row[name]) if name in numbers else row[name] for name in names}
        configuration = Configuration(**fields)  # type: ignore[arg-type]
        assert is_sensible(configuration)
        keys.add(configuration)
    assert len(keys) == len(read(embedded.path()))


def test_embedded_machine_describes_but_does_not_name() -> None:
    about = embedded.machine()
    for name in ("cpu", "cores", "caches_kib", "compiler", "date", "command", "seed", "repeats"):
        assert about[name]
    assert "/" not in json.dumps(about).replace("p90 - p10) / median", "")
