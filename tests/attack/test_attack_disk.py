"""A disk that is full, for real: a small file system is filled while a server works on it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

sys.path.append(str(Path(__file__).parents[1] / "server"))

from server_case import (
    API,
    NOTHING,
    RECOMMEND,
    Server,
    ask,
    dataset,
    fair,
    fit,
    job_over,
    jobs_csv,
    left_by_people,
    serving,
    upload,
)

PLAN = {
    "columns": {"threads": {"allowed": [1, 2, 4]}},
    "goals": {"runtime": "minimize"},
    "budget": 3,
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system of 6 MB."""
    place = tmp_path_factory.mktemp("disk") / "state"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root mounts a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> Path:
    """Take all that is left; hidden, as the server looks at what else is in its folder."""
    junk = place / ".junk"
    with junk.open("wb") as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    os.write(file.fileno(), b"x" * size)
            except OSError:
                continue
    return junk


def requests(
    client: httpx.Client, data: str, engine: str, chat: str, tune: str
) -> list[httpx.Response]:
    """Whatever keeps something."""
    plan = {"name": "other", "plan": PLAN}
    told = {"results": [{"threads": 4, "runtime": 2.0}] * 50}
    runs = {"names": ["nodes", "gpus", "cores", "app", "size", "runtime"]}
    runs["rows"] = [[2, 1, 16, "wrf", 100, 9.5]] * 50  # type: ignore[assignment]
    return [
        upload(client, jobs_csv(400), "more.csv"),
        client.put(f"{API}/datasets/{data}/study", json={"rules": ["nodes <= 4"] * 50}),
        ask(client, engine, RECOMMEND, seed=7),
        client.post(f"{API}/chats", json={"engine": engine}),
        client.post(f"{API}/chats/{chat}/messages", json={"text": "make wrf faster " * 40}),
        client.post(f"{API}/experiments", json=plan),
        client.post(f"{API}/experiments/{tune}/tell", json=told),
        client.post(f"{API}/experiments/{tune}/next", json={"count": 1}),
        client.post(f"{API}/engines", json={"dataset": data}, params={"wait": 60}),
        client.post(f"{API}/engines/{engine}/tell", json=runs, params={"wait": 60}),
        client.post(f"{API}/synthesizers", json={"dataset": data}, params={"wait": 60}),
        client.post(f"{API}/workspaces"),
    ]


def test_a_full_disk_is_told_and_loses_nothing(small: Path) -> None:
    with serving(NOTHING, small, "--limit", "ask_workers=1") as server:
        with server.newcomer() as client:
            _tried(server, client, small)
        # The operator is told what the disk did not take; nothing is taken for a fault of Compass.
        told = {one["event"] for one in server.events() if one["level"] == "error"}
        assert told - {"offer"} == {"disk", "audit"}  # there is nothing to offer


def _tried(server: Server, client: httpx.Client, small: Path) -> None:
    data = dataset(client, 60)
    engine = fit(client, data, surrogate="linear")
    answer = ask(client, engine).json()
    chat = client.post(f"{API}/chats", json={"engine": engine}).json()["id"]
    tune = client.post(f"{API}/experiments", json={"name": "tune", "plan": PLAN}).json()["id"]
    told = client.post(
        f"{API}/experiments/{tune}/tell", json={"results": [{"threads": 2, "runtime": 1.0}]}
    )
    assert told.status_code == 200, told.text
    kept = (f"datasets/{data}", f"engines/{engine}", f"chats/{chat}", f"experiments/{tune}")
    before = {one: client.get(f"{API}/{one}").json() for one in kept}
    junk = fill(small)
    replies = requests(client, data, engine, chat, tune)
    for reply in replies:
        if reply.status_code == 202:  # a job that ends later
            done = job_over(client, reply.json()["id"])
            assert done["state"] == "done" or done["problem"]["code"] == "disk", done
        elif not reply.is_success:
            assert fair(reply, 503)["code"] == "disk", reply.text
            assert "retry-after" in reply.headers
    assert sum(reply.status_code == 503 for reply in replies) >= 6
    # What was there is there, can be looked at meanwhile, and made room of.
    assert {one: client.get(f"{API}/{one}").json() for one in kept} == before
    assert client.get(f"{API}/answers/{answer['id']}").json()["answer"] == answer["answer"]
    assert client.get("/readyz").status_code == 200
    assert client.delete(f"{API}/chats/{chat}").status_code == 204
    junk.unlink()
    assert left_by_people(server) == []
    more = upload(client, jobs_csv(400), "more.csv")
    assert more.status_code == 201, more.text
    assert ask(client, engine, RECOMMEND, seed=7).status_code == 200
    given = {"results": [{"threads": 4, "runtime": 2.0}]}
    told = client.post(f"{API}/experiments/{tune}/tell", json=given)
    assert told.status_code == 200, told.text
