"""Limits that protect the machine."""

import os
import resource
from pathlib import Path

import pytest

from compass.domain.errors import EnvironmentProblem
from compass.domain.limits import GIB, MIB, ServerLimits
from compass.server import memory
from compass.server.settings import machine_limits


@pytest.mark.parametrize(("gib", "each"), [(64, 4 * GIB), (9, 2 * GIB), (1, 512 * MIB)])
def test_all_processes_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gib: int, each: int
) -> None:
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": gib * GIB // 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path)  # no container
    # Two that read messages have half a GiB each; the others share what is left with the server.
    assert (
        machine_limits(ServerLimits(ask_workers=2, fit_workers=1, chat_workers=2)).memory_bytes
        == each
    )


def test_what_the_operator_says_counts() -> None:
    found = machine_limits(ServerLimits(ask_workers=3, memory_bytes=GIB))
    assert (found.ask_workers, found.memory_bytes) == (3, GIB)
    assert machine_limits(ServerLimits()).ask_workers >= 1


def test_connections_fit_into_the_files_that_may_be_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def allowed(soft: int, hard: int) -> None:
        monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))

    few = ServerLimits(ask_workers=2, fit_workers=1, chat_workers=1, uploads=10)
    allowed(256, 256)
    assert machine_limits(few).connections == 256 - 64 - 10 - 3 * 4
    allowed(1 << 20, 1 << 20)
    assert machine_limits(few).connections == 4096
    allowed(resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    assert machine_limits(few).connections == 4096
    allowed(256, 256)
    for given in (few.model_copy(update={"connections": 200}), ServerLimits(uploads=500)):
        with pytest.raises(EnvironmentProblem, match="may open 256 files") as refused:
            machine_limits(given)
        assert "LimitNOFILE" in refused.value.hint
