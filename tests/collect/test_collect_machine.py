"""What is known about the machine, and what is missing on it."""

from pathlib import Path

import pytest

from compass.collect import machine
from compass.collect.sweep import (
    collect,
)
from compass.domain.errors import EnvironmentProblem


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
