"""The sweep measures for real and keeps the runs that were disturbed least."""

import csv
import json
from pathlib import Path

import pytest

from compass.collect.plan import (
    KERNELS,
    Configuration,
    knobs_for,
    plan,
)
from compass.collect.runner import (
    Sample,
    variant_of,
)
from compass.collect.sweep import (
    SweepSamples,
    collect,
    columns,
    disagreement_pct,
    fastest,
    groups,
    provenance_path,
    table_rows,
)
from compass.domain.errors import CompassError, EnvironmentProblem

SMALL = Configuration("triad", 24, "double", 1, "static", 0, 64, 1, "O1")


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_groups_keep_every_configuration_and_one_program_each() -> None:
    configurations = plan(knobs_for(4), rows=200, seed=3, kernels=KERNELS)
    found = groups(configurations)
    assert sorted(map(repr, configurations)) == sorted(repr(c) for g in found for c in g)
    assert all(len({(variant_of(c), c.binding) for c in group}) == 1 for group in found)


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
