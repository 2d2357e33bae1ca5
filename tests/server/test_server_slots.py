"""Places that everybody shares: nobody may hold all of them."""

import pytest

from compass.server.problems import Refused
from compass.server.slots import Slots, WorkspaceCreators


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
    creators = WorkspaceCreators(3, unused.__contains__)
    for name in "abc":
        creators.check("1")
        creators.note("1", name)
    creators.check("2")
    with pytest.raises(Refused, match="3 workspaces that are not used") as refused:
        creators.check("1")
    assert (refused.value.status, refused.value.problem.code) == (429, "too-many-workspaces")
    unused.remove("b")  # somebody works with it now
    creators.check("1")
