"""Backups: whole or not at all, checked to the last byte, also of a state that is being used."""

import json
import os
import random
import sqlite3
import tarfile
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compass.cli.main import app
from compass.domain.api import ModelInfo
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.domain.limits import ServerLimits
from compass.server.audit import AuditLog
from compass.server.backup import back_up, check, restore
from compass.server.experiment_tasks import STORE
from compass.server.store import DATABASE, Store, Workspace, new_id, now

NAMES = [f"{n:016x}" for n in range(4)]


def model(version: int) -> bytes:
    """Bytes without a pattern: of a pattern, a changed archive may tell the same."""
    return random.Random(version).randbytes(30_000)


def make(workspace: Workspace, name: str, version: int) -> None:
    with workspace.making("models", name) as draft:
        about = ModelInfo(id=name, name=f"version {version}", created=now(), bytes=version)
        (draft / "about.json").write_text(about.model_dump_json())
        (draft / "model").write_bytes(model(version))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state with a workspace of a key, one of a user, a store of runs and a log."""
    place = tmp_path / "state"
    store = Store(place, ServerLimits())
    workspace, _ = store.create()
    for version, name in enumerate(NAMES):
        make(workspace, name, version)
    make(store.of("user:ada"), NAMES[0], 7)
    AuditLog(place).add(action="tested", user="ada")
    (place / "passing" / new_id()).write_bytes(b"on its way")
    runs = place / "workspaces" / workspace.id / "experiments" / NAMES[0] / STORE
    runs.parent.mkdir(parents=True)
    with sqlite3.connect(runs) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE runs (number)")
        database.executemany("INSERT INTO runs VALUES (?)", [(n,) for n in range(100)])
    store.close()
    return place


def test_a_state_whose_records_are_in_a_database_is_not_copied_by_halves(state: Path) -> None:
    (state / DATABASE).write_text("its name")
    with pytest.raises(BadInput, match="kept in a database") as wrong:
        back_up(state, state.parent / "backup.tar.gz")
    assert "pg_dump" in wrong.value.hint
    assert not (state.parent / "backup.tar.gz").exists()


def content(state: Path) -> dict[str, bytes]:
    """All files of a state but those that are on their way."""
    tops = ("workspaces", "shared", "audit")
    found = [one for top in tops for one in (state / top).rglob("*") if one.is_file()]
    return {str(one.relative_to(state)): one.read_bytes() for one in found if STORE not in one.name}


def test_a_restored_state_has_all_that_there_was(state: Path, tmp_path: Path) -> None:
    made = back_up(state, tmp_path / "kept.tar.gz")
    assert check(tmp_path / "kept.tar.gz") == made
    again = tmp_path / "again"
    assert restore(tmp_path / "kept.tar.gz", again) == made
    assert content(again) == content(state)
    [runs] = again.rglob(STORE)
    with sqlite3.connect(runs) as database:
        assert database.execute("SELECT count(*), sum(number) FROM runs").fetchone() == (100, 4950)
    # A server takes it as its own.
    store = Store(again, ServerLimits())
    assert store.of("user:ada").get("models", NAMES[0], ModelInfo).bytes == 7
    assert len(store.everybody()) == 3
    store.close()


def test_a_state_that_is_used_meanwhile_is_backed_up_thing_by_thing(
    state: Path, tmp_path: Path
) -> None:
    store = Store(state, ServerLimits())
    workspace = store.of("user:ada")
    stop, versions = threading.Event(), 0

    def change() -> None:
        nonlocal versions
        while not stop.is_set():
            versions += 1
            make(workspace, NAMES[versions % 4], versions)

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for number in range(5):
            back_up(state, tmp_path / f"{number}.tar.gz")
    finally:
        stop.set()
        changing.join()
    store.close()
    assert versions > 0
    for number in range(5):
        restore(tmp_path / f"{number}.tar.gz", tmp_path / f"again-{number}")
        for about in (tmp_path / f"again-{number}").rglob("models/*/about.json"):
            version = json.loads(about.read_bytes())["bytes"]
            assert about.with_name("model").read_bytes() == model(version)


def test_a_backup_that_was_cut_or_changed_is_refused(state: Path, tmp_path: Path) -> None:
    archive = tmp_path / "kept.tar.gz"
    back_up(state, archive)
    whole = archive.read_bytes()
    spoilt = tmp_path / "spoilt.tar.gz"
    wrong = [whole[: len(whole) * part // 10] for part in range(10)]
    for part in range(1, 10):
        at = len(whole) * part // 10
        wrong.append(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
    for written in wrong:
        spoilt.write_bytes(written)
        with pytest.raises(BadInput, match="no whole backup"):
            restore(spoilt, tmp_path / "again")
        assert not (tmp_path / "again").exists()
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "kept.tar.gz",
        "spoilt.tar.gz",
        "state",
    ]


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/outside", "workspaces/../../outside", "other"]
)
def test_an_archive_of_somebody_else_writes_nowhere(name: str, tmp_path: Path) -> None:
    archive = tmp_path / "kept.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo(name))
    with pytest.raises(BadInput, match="no business"):
        restore(archive, tmp_path / "again")
    with tarfile.open(archive, "w:gz") as tar:
        link = tarfile.TarInfo("workspaces/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(link)
    with pytest.raises(BadInput, match="no business"):
        restore(archive, tmp_path / "again")
    assert not (tmp_path / "again").exists()


class Ended(BaseException):
    """The program is gone in this moment."""


@pytest.mark.parametrize("steps", [0, 1, 5, 20])
def test_an_end_amid_a_backup_or_a_restore_leaves_what_there_was(
    steps: int, state: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "kept.tar.gz"

    def dying(_: str, done: int, __: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Ended

    left = steps
    try:
        back_up(state, archive, dying)
    except Ended:
        assert not archive.exists()
    back_up(state, archive)
    left = steps
    try:
        restore(archive, tmp_path / "again", dying)
    except Ended:
        assert not (tmp_path / "again").exists()
    restore(archive, tmp_path / "anew")
    assert content(tmp_path / "anew") == content(state)


def test_nothing_is_written_over(state: Path, tmp_path: Path) -> None:
    back_up(state, tmp_path / "kept.tar.gz")
    with pytest.raises(BadInput, match="something in"):
        restore(tmp_path / "kept.tar.gz", state)
    with pytest.raises(BadInput, match="not the state"):
        back_up(tmp_path / "nothing", tmp_path / "other.tar.gz")
    with pytest.raises(EnvironmentProblem):
        back_up(state, tmp_path / "nowhere" / "kept.tar.gz")


def test_the_commands(state: Path, tmp_path: Path) -> None:
    archive, again = str(tmp_path / "kept.tar.gz"), str(tmp_path / "again")
    for words in (
        ["backup", archive, "--state", str(state)],
        ["restore", archive, "--check"],
        ["restore", archive, "--state", again],
    ):
        result = CliRunner().invoke(app, [*words, "--json"])
        assert result.exit_code == 0, result.output
        assert json.loads(result.output)["things"] == 6
    assert os.listdir(again)
