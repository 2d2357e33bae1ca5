"""Limits that protect the machine."""

import os

import pytest

from compass.server.limits import GIB, MIB, Limits, settled
from compass.server.problems import Refused
from compass.server.uploads import Uploads


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


def test_only_so_many_files_are_on_their_way() -> None:
    uploads = Uploads(2)
    with uploads.one():
        with pytest.raises(OSError, match="cut"), uploads.one():
            raise OSError("cut")  # one that fails makes room again
        with uploads.one(), pytest.raises(Refused) as refused, uploads.one():
            pass
        assert (refused.value.status, refused.value.retry_after) == (503, 10)
    assert uploads.now == 0
