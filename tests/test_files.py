"""A file is replaced whole or not at all, and nothing is left beside it."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from compass import files


class Killed(BaseException):
    """The program ends in this moment."""


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    mask = os.umask(0o027)
    yield tmp_path / "runs.csv"
    os.umask(mask)


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "disk full"), Killed()])
def test_a_failed_write_leaves_the_old_file(
    step: str, problem: BaseException, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write_text(path, "old")

    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(problem)):
        files.write_text(path, "new", files.READABLE)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_what_fails_while_it_writes_leaves_the_old_file(path: Path) -> None:
    files.write_text(path, "old")

    def interrupted() -> None:
        with files.replacing(path) as temporary:
            temporary.write_text("half of it")
            raise Killed

    with pytest.raises(Killed):
        interrupted()
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_the_content_reaches_the_disk_before_its_name_does(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    synced, replaced = os.fsync, os.replace

    def fsync(handle: int) -> None:
        name = os.path.basename(os.readlink(f"/proc/self/fd/{handle}"))
        seen.append("folder" if name == path.parent.name else "content")
        synced(handle)

    def replace(old: Path, new: Path) -> None:
        seen.append("name")
        replaced(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    files.write_text(path, "a\r\nb\n")
    assert seen == ["content", "name", "folder"]
    assert path.read_bytes() == b"a\r\nb\n"


def test_permissions_are_the_persons_unless_they_are_named(path: Path) -> None:
    for mode, expected in ((None, 0o640), (files.READABLE, 0o644), (files.PRIVATE, 0o600)):
        files.write_bytes(path, b"1", mode)
        assert path.stat().st_mode & 0o777 == expected


def test_a_private_file_is_private_before_it_is_complete(path: Path) -> None:
    with files.replacing(path, files.PRIVATE) as temporary:
        assert temporary.stat().st_mode & 0o777 == 0o600


def test_the_longest_name_can_be_written(path: Path) -> None:
    longest = path.with_name("ä" * 127)
    files.write_text(longest, "text")
    assert longest.read_text() == "text"


def test_the_file_may_be_made_in_another_folder(path: Path) -> None:
    elsewhere = path.parent / "parts"
    elsewhere.mkdir()
    with files.replacing(path, folder=elsewhere) as temporary:
        assert temporary.parent == elsewhere
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert not list(elsewhere.iterdir())


def test_a_folder_that_cannot_be_synced_is_no_obstacle(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Path) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(files, "sync", refused)
    number = errno.EINVAL
    files.write_text(path, "new")
    assert path.read_text() == "new"
    number = errno.EIO
    with pytest.raises(OSError, match="refused"):
        files.write_text(path, "newer")


def test_everything_in_a_tree_is_synced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path.parent / "a" / "b").mkdir(parents=True)
    (path.parent / "a" / "b" / "file").write_text("x")
    seen: list[Path] = []
    monkeypatch.setattr(files, "sync", seen.append)
    files.sync_tree(path.parent)
    assert set(seen) == {path.parent, *path.parent.rglob("*")}


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        files.write_text(pipe, "a table")
        assert os.read(reader, 100) == b"a table"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
