"""How much memory there is: of the machine, or of the container that the server is in."""

import os
from pathlib import Path

import pytest

from compass.domain.limits import GIB, ServerLimits
from compass.server import memory
from compass.server.settings import machine_limits


@pytest.mark.parametrize(
    ("files", "gib"),
    [
        ({}, 64),
        ({"memory.max": "max\n"}, 64),
        ({"memory.max": f"{9 * GIB}\n"}, 9),
        ({"memory.max": ""}, 64),
        ({"memory.max": "0\n"}, 64),
        ({"memory/memory.limit_in_bytes": f"{8 * GIB}\n"}, 8),
        ({"memory/memory.limit_in_bytes": "9223372036854771712\n"}, 64),  # no limit
    ],
)
def test_a_container_has_less_than_its_machine(
    files: dict[str, str], gib: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 64 * GIB // 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path)
    assert memory.of_machine() == gib * GIB
    if gib == 9:  # two that answer, one that learns, the server; a GiB for those that read messages
        assert machine_limits(ServerLimits(ask_workers=2)).memory_bytes == 2 * GIB
