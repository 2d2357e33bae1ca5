"""Limits that depend on the machine."""

import os

import pytest

from compass.server.limits import GIB, MIB, Limits, settled


@pytest.mark.parametrize(("gib", "each"), [(64, 4 * GIB), (8, 2 * GIB), (1, 512 * MIB)])
def test_all_processes_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch, gib: int, each: int
) -> None:
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": gib * GIB // 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert settled(Limits(askers=2, fitters=1)).memory_bytes == each


def test_what_the_operator_says_counts() -> None:
    found = settled(Limits(askers=3, memory_bytes=GIB))
    assert (found.askers, found.memory_bytes) == (3, GIB)
    assert settled(Limits()).askers >= 1
