"""What is kept survives an end at any moment: whole things, and only those that were finished."""

import errno
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass import files
from compass.domain.api import DatasetInfo, Job, ModelInfo
from compass.domain.errors import EnvironmentProblem
from compass.domain.limits import ServerLimits
from compass.server.listing import MODELS, part_of
from compass.server.problems import Refused
from compass.server.sizes import readable_size, size_of
from compass.server.store import Store, Workspace, new_id, now
from property_examples import examples

NAME = "0" * 16

NAMES = [f"{n:016x}" for n in range(3)]


class Ended(BaseException):
    """The server is gone in this moment."""


class Fuse:
    """Ends everything at the n-th step on disk."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def burn(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Ended

    @contextmanager
    def lit(self) -> Iterator[None]:
        def before(step):  # type: ignore[no-untyped-def]
            def stepped(*args, **kwargs):  # type: ignore[no-untyped-def]
                self.burn()
                return step(*args, **kwargs)

            return stepped

        with (
            patch.object(os, "rename", before(os.rename)),
            patch.object(os, "replace", before(os.replace)),
            patch.object(files, "sync", before(files.sync)),
            patch.object(shutil, "rmtree", before(shutil.rmtree)),
            patch.object(Path, "write_bytes", before(Path.write_bytes)),
        ):
            yield


def about(name: str, version: int) -> ModelInfo:
    return ModelInfo(id=name, name=f"version {version}", created=now(), bytes=version)


def step(workspace: Workspace, action: str, name: str, version: int) -> None:
    if action == "make":
        with workspace.making("models", name) as draft:
            (draft / "about.json").write_bytes(about(name, version).model_dump_json().encode())
            (draft / "model").write_bytes(b"%d" % version * 100)
    elif action == "put" and workspace.has("models", name):
        workspace.put("models", name, about(name, version))
    elif action == "remove":
        workspace.remove("models", name)


actions = st.lists(
    st.tuples(st.sampled_from(["make", "make", "put", "remove"]), st.sampled_from(NAMES)),
    min_size=1,
    max_size=12,
)


@examples(60)
@given(actions, st.integers(1, 60))
def test_an_end_at_any_step_leaves_whole_things(plan: list[tuple[str, str]], steps: int) -> None:
    with TemporaryDirectory() as place:
        first = Store(Path(place) / "state", ServerLimits())
        workspace, key = first.create()
        known: dict[str, int] = {}  # what was finished
        now_at: tuple[str, str, int] | None = None
        try:
            with Fuse(steps).lit():
                for version, (action, name) in enumerate(plan, 1):
                    now_at = (action, name, version)
                    step(workspace, action, name, version)
                    if action == "remove":
                        known.pop(name, None)
                    elif action == "make" or name in known:
                        known[name] = version
                now_at = None
        except Ended:
            pass
        first.close()
        again = Store(Path(place) / "state", ServerLimits())
        assert os.listdir(again.passing) == []
        opened = again.open(key)
        found = {
            name: opened.get("models", name, ModelInfo).bytes for name in opened.names("models")
        }
        for name in NAMES:
            if now_at is not None and now_at[1] == name:
                # The last step happened or not; a thing that is replaced may be gone, never half.
                assert found.get(name) in {known.get(name), now_at[2], None}
                assert now_at[0] != "put" or found.get(name) is not None or name not in known
            else:
                assert found.get(name) == known.get(name)
        for name in found:
            assert (opened.place("models", name) / "model").stat().st_size in {100, 200}
        assert opened.bytes == size_of(opened.folder)
        again.close()


@examples(40)
@given(actions)
def test_the_count_of_bytes_is_what_is_there(plan: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as place:
        store = Store(Path(place) / "state", ServerLimits())
        workspace, _ = store.create()
        for version, (action, name) in enumerate(plan, 1):
            step(workspace, action, name, version)
            assert workspace.bytes == size_of(workspace.folder)
        store.close()


def test_what_goes_wrong_while_it_is_made_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "state", ServerLimits())
    workspace, _ = store.create()

    def fail() -> None:
        with workspace.making("models", NAMES[0]) as draft:
            (draft / "model").write_text("half")
            raise ValueError("oh")

    with pytest.raises(ValueError, match="oh"):
        fail()
    assert workspace.names("models") == []
    assert os.listdir(store.passing) == []
    store.close()


def test_one_server_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path / "state", ServerLimits())
    with pytest.raises(EnvironmentProblem, match="another server"):
        Store(tmp_path / "state", ServerLimits())
    store.close()
    Store(tmp_path / "state", ServerLimits()).close()


def test_a_state_is_for_its_owner_only(tmp_path: Path) -> None:
    Store(tmp_path / "state", ServerLimits()).close()
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblem, match="cannot keep anything"):
        Store(tmp_path / "file", ServerLimits())


@given(st.text(max_size=40))
@examples(40)
def test_no_text_is_a_key_or_an_id(text: str) -> None:
    with TemporaryDirectory() as place:
        store = Store(Path(place), ServerLimits())
        workspace, key = store.create()
        with suppress(UnicodeEncodeError), pytest.raises(Refused):
            store.open(text)
        with suppress(UnicodeEncodeError), pytest.raises(Refused):
            store.open(f"{workspace.id}.{text}")
        with pytest.raises(Refused):
            workspace.place("models", text)
        assert store.open(key) is workspace
        store.close()


def test_a_workspace_that_was_deleted_does_not_come_back(tmp_path: Path) -> None:
    store = Store(tmp_path / "state", ServerLimits())
    workspace, _ = store.create()

    def late() -> None:
        with workspace.making("models", NAMES[0]) as draft:
            (draft / "about.json").write_text("{}")
            store.forget(workspace)

    with pytest.raises(Refused) as gone:
        late()
    assert gone.value.status == 404
    assert os.listdir(store.root / "workspaces") == []
    store.close()


def test_what_another_version_kept_is_told_and_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path / "state", ServerLimits())
    workspace, _ = store.create()
    workspace.put("models", NAMES[0], about(NAMES[0], 1))
    (workspace.place("models", NAMES[0]) / "about.json").write_text('{"other": 1}')
    assert part_of([workspace], MODELS, 10) == ([], None)
    with pytest.raises(Refused) as refused:
        workspace.get("models", NAMES[0], ModelInfo)
    assert refused.value.status == 409
    assert workspace.remove("models", NAMES[0])
    assert not workspace.remove("models", NAMES[0])
    store.close()


def test_sizes_for_people() -> None:
    told = [readable_size(n) for n in (0, 1023, 1024, 20 * 2**20, 3 * 2**40)]
    assert told == ["0 bytes", "1023 bytes", "1.0 KiB", "20 MiB", "3072 GiB"]
    assert len(new_id()) == 16


def test_two_threads_that_keep_the_same_answer_do_not_get_in_each_others_way(
    tmp_path: Path,
) -> None:
    workspace, _ = Store(tmp_path / "state", ServerLimits()).create()
    failed: list[OSError] = []

    def keep() -> None:
        for _ in range(20):
            try:
                with workspace.making("answers", NAME) as draft:
                    (draft / "about.json").write_text("{}")
            except OSError as error:
                failed.append(error)

    threads = [threading.Thread(target=keep) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert workspace.bytes == size_of(workspace.folder)


def test_a_folder_of_other_things_is_no_state_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "workspaces" / "my-project").mkdir(parents=True)
    (tmp_path / "notes.txt").write_text("mine")
    mode = tmp_path.stat().st_mode
    with pytest.raises(EnvironmentProblem, match="other things"):
        Store(tmp_path, ServerLimits())
    assert (tmp_path / "workspaces" / "my-project").is_dir()
    assert tmp_path.stat().st_mode == mode


def test_what_is_not_of_the_server_stays_in_its_state(tmp_path: Path) -> None:
    Store(tmp_path, ServerLimits()).close()
    (tmp_path / "workspaces" / "lost+found").mkdir()
    (tmp_path / "workspaces" / NAME).mkdir()  # of a server that was killed
    Store(tmp_path, ServerLimits()).close()
    assert os.listdir(tmp_path / "workspaces") == ["lost+found"]


def test_a_state_that_is_named_from_here_is_kept_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a whole path is recognised, and hidden, in what a working process tells people."""
    monkeypatch.chdir(tmp_path)
    store = Store(Path("state"), ServerLimits())
    assert store.shared.place("engines", NAME) == tmp_path / "state" / "shared" / "engines" / NAME


def test_workspaces_that_were_never_used_make_room(tmp_path: Path) -> None:
    store = Store(tmp_path, ServerLimits(workspaces=2))
    used, key = store.create()
    used.put("answers", NAME, Job(id=NAME, kind="ask", created=now()))
    idle, _ = store.create()
    with pytest.raises(Refused, match="at most 2"):
        store.create()
    an_hour_ago = time.time() - 4000
    for one in (used, idle):
        os.utime(one.folder, (an_hour_ago, an_hour_ago))
    store.create()
    assert store.open(key) is used
    assert not idle.folder.exists()


def test_a_full_disk_leaves_nothing_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, ServerLimits())
    workspace, _ = store.create()
    about = DatasetInfo(id=NAME, name="a", created=now())
    workspace.put("datasets", NAME, about)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("compass.files.sync", full)
    with pytest.raises(OSError, match="No space"):
        workspace.put("datasets", NAME, about.model_copy(update={"name": "b"}))
    with pytest.raises(OSError, match="No space"):
        store.create()
    assert os.listdir(store.passing) == []
    assert workspace.get("datasets", NAME, DatasetInfo) == about
