"""How many processors may be used: affinity, and the limits of containers."""

import os
from pathlib import Path

import pytest

from compass.execute import cores as usable
from compass.execute.processors import _container, _share, at_most


def group(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "share"),
    [
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.max": ""}, None),
        ({"cpu.max": "nonsense"}, None),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4.0),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "5\n", "cpu/cpu.cfs_period_us": "0\n"}, None),
        ({}, None),
    ],
)
def test_the_share_of_a_container(
    files: dict[str, str], share: float | None, tmp_path: Path
) -> None:
    assert _share(group(tmp_path, files)) == share


def test_a_process_can_be_told_to_use_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compass.execute.processors._most", 1 << 20)
    monkeypatch.setattr("compass.execute.processors._container", lambda: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    at_most(3)
    assert usable() == 3
    at_most(0)
    assert usable() == 1


def test_the_smaller_of_affinity_and_share_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compass.execute.processors._CGROUPS", group(tmp_path, {"cpu.max": "5 2"}))
    monkeypatch.setattr("compass.execute.processors._container", _container.__wrapped__)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    assert usable() == 3  # two processors and a half
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0}, raising=False)
    assert usable() == 1
