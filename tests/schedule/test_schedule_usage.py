"""Requested against used: sums by hand, a page that needs nothing else, jobs kept by night."""

import re
from pathlib import Path

import numpy as np
import pytest
from test_schedule_advice import made

from benchmarks.schedule.advice.dump import lines
from compass.domain.errors import BadInput, DataProblem
from compass.readers import read
from compass.schedule.advice.jobs import jobs_of_table
from compass.schedule.kept_jobs import keep, kept
from compass.schedule.usage import usage
from compass.schedule.usage_page import usage_page


def test_shares_are_sums_over_jobs() -> None:
    jobs = made(90)
    found = usage(jobs)
    hours = jobs.cores * jobs.elapsed / 3600
    assert found.whole.core_hours == pytest.approx(hours.sum())
    assert found.whole.cores_busy == pytest.approx(3.9 / 4)
    asked = jobs.memory_asked * jobs.elapsed
    assert found.whole.memory_used == pytest.approx(
        (jobs.memory_used * jobs.elapsed).sum() / asked.sum()
    )
    limits = (jobs.limit * jobs.cores).sum() / 3600
    assert found.whole.time_used == pytest.approx(hours.sum() / limits)
    assert [one.name for one in found.users] == sorted(
        ["u0", "u1", "u2"], key=lambda u: -hours[jobs.user == u].sum()
    )
    assert sum(one.jobs for one in found.users) == 90
    assert found.changes
    best = found.changes[0]
    assert best.jobs == ((jobs.user == best.user) & (jobs.name == best.application)).sum()
    unknown = usage(made(60, memory_used=np.full(60, np.nan)))
    assert unknown.whole.memory_used is None
    assert "gathers none" in unknown.remarks[0]
    with pytest.raises(DataProblem, match="no job of these ran"):
        usage(made(5, elapsed=np.zeros(5)))


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    names = np.array(["<script>alert(1)</script>"] * 200, dtype=object)
    week = np.arange(200) * 10_000.0 + 1.77e9
    page = usage_page(usage(made(200, name=names, submit=week, start=week, end=week + 100)))
    assert "<script>" not in page
    assert not re.search(r"(src|href)\s*=", page)
    assert page.count("<svg") == 4  # the trend, users, applications, partitions
    assert "What would free most" in page
    assert page.count("<circle") == 3 * 4  # three shares in each of four weeks


def test_jobs_are_kept_once_each(tmp_path: Path) -> None:
    text = lines(40, 6)
    first, later, folder = tmp_path / "a.psv", tmp_path / "b.psv", tmp_path / "kept"
    # The last job of the first night still ran.
    night = text[: 1 + 3 * 20]
    running = night[-3].replace("|COMPLETED|", "|RUNNING|")
    first.write_text("\n".join([*night[:-3], running, *night[-2:]]) + "\n")
    later.write_text("\n".join([text[0], *text[1 + 3 * 19 :]]) + "\n")
    assert keep(read(first).arrow, folder) is not None
    assert keep(read(first).arrow, folder) is None
    assert len(list(folder.iterdir())) == 1
    keep(read(later).arrow, folder)
    jobs = jobs_of_table(kept(folder))
    assert len(jobs) == len(set(jobs.id)) == 40
    assert "RUNNING" not in set(jobs.state)
    (folder / ".half").write_bytes(b"cut short")
    assert kept(folder).num_rows == 40
    with pytest.raises(BadInput, match="nothing is kept"):
        kept(tmp_path / "none")
    with pytest.raises(DataProblem, match="cannot be kept"):
        keep(read({"Elapsed": [1, 2], "State": ["A", "B"]}).arrow, folder)
