"""What a server finds when it starts, and what people may name on it."""

import asyncio
import os
from pathlib import Path

import pytest

from compass.domain.api import DatasetInfo, Job
from compass.server.file_checks import allowed
from compass.server.jobs import StoredJob
from compass.server.problems import Refused
from compass.server.service import Service
from compass.server.settings import ServerSettings
from compass.server.store import new_id, now

WHOLE, UNREAD, AWAITED, GIVEN_UP = (sign * 16 for sign in "abcd")


def test_datasets_that_nobody_will_read_are_set_aside_or_removed(tmp_path: Path) -> None:
    """Of one, no job is known; the job of another ended the server twice, and is given up."""

    async def scene() -> None:
        service = Service(ServerSettings(state=tmp_path / "state"))
        workspace, _ = service.store.create()
        for name in (WHOLE, UNREAD, AWAITED, GIVEN_UP):
            about = DatasetInfo(
                id=name, name="x.csv", created=now(), ready=name == WHOLE, reader="csv"
            )
            workspace.put("datasets", name, about)
        job = Job(id=new_id(), kind="read", created=now(), dataset=AWAITED)
        workspace.put("jobs", job.id, StoredJob(job=job, given={"dataset": AWAITED}))
        ended = Job(id=new_id(), kind="read", created=now(), dataset=GIVEN_UP)
        given = StoredJob(job=ended, given={"dataset": GIVEN_UP}, attempts=2)
        workspace.put("jobs", ended.id, given)

        async def reading(*_: object, **__: object) -> bytes:
            await asyncio.Event().wait()
            return b""

        service.ask_pool.do = reading  # type: ignore[method-assign,assignment]
        assert service.resume() == 1
        assert set(workspace.names("datasets")) == {WHOLE, AWAITED}
        (aside,) = (service.store.root / "quarantine").iterdir()
        assert aside.name.startswith(f"{workspace.id}-datasets-{UNREAD}-")
        assert (aside / "about.json").is_file()
        await asyncio.sleep(0)
        await service.jobs.cancel(workspace, job.id)
        assert workspace.names("datasets") == [WHOLE]
        await service.close()

    asyncio.run(scene())


def test_a_dataset_that_is_deleted_while_it_is_read_stays_deleted(tmp_path: Path) -> None:
    async def scene() -> None:
        service = Service(ServerSettings(state=tmp_path / "state"))
        workspace, _ = service.store.create()
        about = DatasetInfo(id=UNREAD, name="x.csv", created=now(), reader="csv")

        async def reading(*_: object, **__: object) -> bytes:
            workspace.remove("datasets", UNREAD)
            return b'{"rows": 1, "columns": 1, "fingerprint": "x", "used": 1}'

        service.ask_pool.do = reading  # type: ignore[method-assign,assignment]
        workspace.put("datasets", UNREAD, about)
        job = service.jobs.start(workspace, "read", {"dataset": UNREAD}, dataset=UNREAD)
        with pytest.raises(Refused) as told:
            await service.jobs.wait(job, 60)
        assert told.value.status == 404
        assert workspace.names("datasets") == []
        await service.close()

    asyncio.run(scene())


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, ...]:
    for name in ("one", "two", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.csv").write_text("a\n1\n")
    return tmp_path / "one", tmp_path / "two"


def denied(path: object, folders: tuple[Path, ...]) -> str:
    with pytest.raises(Refused) as told:
        allowed(str(path), folders)
    assert told.value.status == 403
    return told.value.problem.code


def test_paths_inside_are_taken(folders: tuple[Path, ...]) -> None:
    one, two = folders
    assert allowed(str(one / "x.csv"), folders) == one / "x.csv"
    assert allowed(str(one / ".." / "two" / "x.csv"), folders) == two / "x.csv"
    assert allowed(str(one), folders) == one
    (one / "across").symlink_to(two / "x.csv")
    assert allowed(str(one / "across"), folders) == two / "x.csv"


def test_paths_outside_are_not(folders: tuple[Path, ...]) -> None:
    one, _ = folders
    out = one.parent / "out"
    assert denied(one / "x.csv", ()) == "no-folders"
    for path in (out / "x.csv", one / ".." / "out", "/etc/passwd", one / "none", "x\0y", "~", ""):
        assert denied(path, folders) == "not-allowed"
    (one / "leak").symlink_to(out / "x.csv")
    assert denied(one / "leak", folders) == "not-allowed"
    # A folder is read as a whole: a link in it is as good as a path.
    assert denied(one, folders) == "not-allowed"
    (one / "leak").unlink()
    (one / "loop").symlink_to(one / "loop")
    assert denied(one / "loop", folders) == "not-allowed"
    os.mkfifo(one / "pipe")
    assert denied(one / "pipe", folders) == "not-allowed"
