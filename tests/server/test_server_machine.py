"""Limits that protect the machine."""

import os
import resource

import pytest

from compass.domain.errors import EnvironmentProblem
from compass.server.limits import GIB, MIB, Limits, settled
from compass.server.problems import Refused
from compass.server.slots import Makers, Slots


@pytest.mark.parametrize(("gib", "each"), [(64, 4 * GIB), (9, 2 * GIB), (1, 512 * MIB)])
def test_all_processes_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch, gib: int, each: int
) -> None:
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": gib * GIB // 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    # Two that read messages have half a GiB each; the others share what is left with the server.
    assert settled(Limits(askers=2, fitters=1, talkers=2)).memory_bytes == each


def test_what_the_operator_says_counts() -> None:
    found = settled(Limits(askers=3, memory_bytes=GIB))
    assert (found.askers, found.memory_bytes) == (3, GIB)
    assert settled(Limits()).askers >= 1


def test_connections_fit_into_the_files_that_may_be_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def allowed(soft: int, hard: int) -> None:
        monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))

    few = Limits(askers=2, fitters=1, talkers=1, uploads=10)
    allowed(256, 256)
    assert settled(few).connections == 256 - 64 - 10 - 3 * 4
    allowed(1 << 20, 1 << 20)
    assert settled(few).connections == 4096
    allowed(resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    assert settled(few).connections == 4096
    allowed(256, 256)
    for given in (few.model_copy(update={"connections": 200}), Limits(uploads=500)):
        with pytest.raises(EnvironmentProblem, match="may open 256 files") as refused:
            settled(given)
        assert "LimitNOFILE" in refused.value.hint


def held(uploads: Slots, workspace: str, address: str) -> tuple[int, int | None]:
    with pytest.raises(Refused) as refused, uploads.one(workspace, address):
        pass
    return refused.value.status, refused.value.retry_after


def test_nobody_holds_all_places() -> None:
    uploads = Slots("uploads", 4, 2, 3)
    with uploads.one("a", "1"):
        with pytest.raises(OSError, match="cut"), uploads.one("a", "1"):
            raise OSError("cut")  # one that fails makes room again
        with uploads.one("a", "1"):
            assert held(uploads, "a", "2") == (429, 10)  # of the workspace
            with uploads.one("b", "1"):
                assert held(uploads, "c", "1") == (503, 10)  # of the address
                with uploads.one("c", "2"):
                    assert held(uploads, "d", "3") == (503, 10)  # of all
    assert uploads.now == 0
    assert not uploads._held


def test_one_address_cannot_make_all_workspaces() -> None:
    unused = {"a", "b", "c", "d"}
    makers = Makers(3, unused.__contains__)
    for name in "abc":
        makers.check("1")
        makers.note("1", name)
    makers.check("2")
    with pytest.raises(Refused, match="3 workspaces that are not used") as refused:
        makers.check("1")
    assert (refused.value.status, refused.value.problem.code) == (429, "too-many-workspaces")
    unused.remove("b")  # somebody works with it now
    makers.check("1")
