"""What is kept and cannot be understood: told clearly, moved aside, never deleted."""

import json
import re
from pathlib import Path

import httpx
import pytest
from server_case import API, NOTHING, Server, ask, dataset, fair, serving, upload

from compass.domain.api import DatasetInfo, ModelInfo
from compass.domain.limits import ServerLimits
from compass.server.problems import lost_worker
from compass.server.publish import _known
from compass.server.store import Store, now

pytest_plugins = ("server_fixtures",)
NAME = "a" * 16


def folder(server: Server, client: httpx.Client) -> Path:
    """Where the things of somebody are."""
    key = client.headers["Compass-Workspace"]
    return server.state / "workspaces" / key.partition(".")[0]


@pytest.mark.parametrize("damage", [b"", b'{"query": {', b"\xff\xfe", b'{"other": 1}'])
def test_a_damaged_answer_is_told_and_can_be_asked_for_again(
    server: Server, stranger: httpx.Client, offered: str, damage: bytes
) -> None:
    name = ask(stranger, offered).json()["id"]
    kept = folder(server, stranger) / "answers" / name / "answer.json"
    kept.write_bytes(damage)
    paths = ("", "/exports/csv", "/exports/json", "/exports/sbatch", "/exports/python", "/evidence")
    for path in paths:
        told = fair(stranger.get(f"{API}/answers/{name}{path}"), 409)
        assert (told["code"], told["error"]) == ("damaged", "this answer is damaged on the server")
    fair(ask(stranger, offered), 409)
    assert stranger.delete(f"{API}/answers/{name}").status_code == 204
    assert ask(stranger, offered).status_code == 200


def test_an_answer_of_before_digests_is_served(
    server: Server, stranger: httpx.Client, offered: str
) -> None:
    first = ask(stranger, offered)
    about = folder(server, stranger) / "answers" / first.json()["id"] / "about.json"
    known = json.loads(about.read_text())
    del known["digest"]
    about.write_text(json.dumps(known))
    assert stranger.get(f"{API}/answers/{first.json()['id']}").json() == first.json()


@pytest.mark.parametrize(
    ("written", "code"), [("{", "damaged"), ('{"other": 1}', "other-version"), (None, "damaged")]
)
def test_a_thing_that_is_not_understood_can_be_deleted(
    server: Server, stranger: httpx.Client, offered: str, written: str | None, code: str
) -> None:
    name = upload(stranger, b"a,b\n1,2\n2,3\n3,5\n").json()["id"]
    chat = stranger.post(f"{API}/chats", json={"engine": offered}).json()["id"]
    for kind, one in (("datasets", name), ("chats", chat)):
        about = folder(server, stranger) / kind / one / "about.json"
        about.unlink()
        if written is not None:
            about.write_text(written)
        assert fair(stranger.get(f"{API}/{kind}/{one}"), 409)["code"] == code
        listed = stranger.get(f"{API}/{kind}").json()
        assert one not in {entry["id"] for entry in listed}
        assert stranger.delete(f"{API}/{kind}/{one}").status_code == 204
        assert stranger.get(f"{API}/{kind}/{one}").status_code == 404


def test_a_damaged_telling_and_a_damaged_workspace(
    server: Server, stranger: httpx.Client, offered: str
) -> None:
    told = server.state / "shared" / "engines" / offered / "tell-report.json"
    told.write_text("{")
    try:
        assert fair(stranger.get(f"{API}/engines/{offered}/tell-report"), 409)["code"] == "damaged"
    finally:
        told.unlink()
    about = folder(server, stranger) / "about.json"
    whole = about.read_text()
    about.write_text("{")
    assert fair(stranger.get(f"{API}/workspaces/mine"), 409)["code"] == "damaged"
    assert stranger.get(f"{API}/datasets").status_code == 200
    about.write_text(whole)
    (folder(server, stranger) / "key").write_bytes(b"\xff")
    assert fair(stranger.get(f"{API}/workspaces/mine"), 401)["code"] == "no-workspace"


def test_what_a_start_does_not_understand_is_moved_aside(tmp_path: Path) -> None:
    state = tmp_path / "state"
    store = Store(state, ServerLimits())
    whole, _ = store.create()
    lacking, _ = store.create()
    for one in (whole, lacking):
        with one.making("datasets", NAME) as draft:
            about = DatasetInfo(id=NAME, name="x.csv", created=now(), ready=True, reader="csv")
            (draft / "about.json").write_text(about.model_dump_json())
            (draft / "runs.csv").write_text("precious")
    (lacking.folder / "about.json").unlink()
    (whole.folder / "jobs" / NAME).mkdir(parents=True)
    (whole.folder / "jobs" / NAME / "about.json").write_text("{")
    (state / "passing" / "notes of the operator").write_text("mine")
    (state / "passing" / ("b" * 16)).write_text("on its way")
    store.close()
    with serving(NOTHING, state) as server:
        aside = {
            re.sub(r"-20\d{6}T\d{6}Z.*", "", path.name): path
            for path in (state / "quarantine").iterdir()
        }
        assert set(aside) == {
            f"workspace-{lacking.id}",
            f"{whole.id}-jobs-{NAME}",
            "passing-notes of the operator",
        }
        moved = aside[f"workspace-{lacking.id}"]
        assert (moved / "datasets" / NAME / "runs.csv").read_text() == "precious"
        assert aside["passing-notes of the operator"].read_text() == "mine"
        assert f"set aside: 3 in {state / 'quarantine'}" in server.said
        events = [one for one in server.events() if one["event"] == "quarantined"]
        assert len(events) == 3
        assert all(one["hint"] and one["problem"] for one in events)
        assert (whole.folder / "datasets" / NAME / "runs.csv").read_text() == "precious"
        assert list((state / "passing").iterdir()) == []


def test_a_workspace_with_more_in_it_than_a_new_one_is_not_unused(tmp_path: Path) -> None:
    store = Store(tmp_path / "state", ServerLimits())
    used, empty = store.create()[0], store.create()[0]
    (used.folder / "notes").write_text("of somebody")
    store._sweep(-1)
    assert used.folder.is_dir()
    assert not empty.folder.exists()
    store.close()


def test_moving_aside_frees_the_bytes_of_a_workspace(tmp_path: Path) -> None:
    store = Store(tmp_path / "state", ServerLimits())
    workspace, _ = store.create()
    before = workspace.bytes
    workspace.put("models", NAME, ModelInfo(id=NAME, name="m", created=now()))
    workspace.set_aside("models", NAME, "a test")
    assert workspace.bytes == before
    assert not workspace.there("models", NAME)
    store.close()


def test_an_offer_that_is_damaged_is_set_aside(tmp_path: Path) -> None:
    """Then it is made again, as one that is not there."""
    store = Store(tmp_path / "state", ServerLimits())
    store.shared.put("datasets", NAME, DatasetInfo(id=NAME, name="x", created=now(), shared=True))
    assert _known(store.shared, "datasets", NAME, DatasetInfo)
    (store.shared.place("datasets", NAME) / "about.json").write_text("{")
    assert not _known(store.shared, "datasets", NAME, DatasetInfo)
    (moved,) = (store.root / "quarantine").iterdir()
    assert moved.name.startswith(f"shared-datasets-{NAME}-")
    assert not store.shared.there("datasets", NAME)
    store.close()


def test_the_end_of_a_process_is_told_as_far_as_it_is_known() -> None:
    held = "it held 1.0 GiB of the 4.0 GiB of memory that it may"
    outside = lost_worker(9, held, short=False)
    assert (outside.status, outside.retry_after) == (503, 5)
    assert outside.message == (
        f"a working process was ended from outside by signal 9 (SIGKILL); {held}"
    )
    starved = lost_worker(9, held, short=True)
    assert (starved.status, "no memory left" in starved.message) == (413, True)
    library = lost_worker(6, "", short=False)
    assert library.status == 413
    assert "signal 6 (SIGABRT)" in library.message
    assert "signal 40" in lost_worker(40, "", short=False).message


def test_a_dataset_of_an_engine_may_be_damaged(server: Server, stranger: httpx.Client) -> None:
    """Whatever names a damaged thing says so; the server goes on."""
    name = dataset(stranger, 60)
    (folder(server, stranger) / "datasets" / name / "about.json").write_text("[]")
    asked = stranger.post(f"{API}/engines", json={"dataset": name})
    assert fair(asked, 409)["code"] == "other-version"
    assert stranger.get(f"{API}/datasets/{name}/rows").status_code == 409
