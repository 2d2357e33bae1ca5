"""Faults that were found by using the server as a stranger, an operator or a page would."""

import asyncio
import errno
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from server_case import API, NOTHING, RECOMMEND, Server, ask, dataset, fit, serving, until, upload

from compass.domain.errors import EnvironmentProblem
from compass.server import run, worker
from compass.server.jobs import JOBS, Jobs, Running, StoredJob
from compass.server.limits import Limits
from compass.server.listing import ANSWERS, part_of
from compass.server.nouns import AnswerInfo, DatasetInfo, Job, State, now
from compass.server.paths import allowed
from compass.server.pool import Worker
from compass.server.problems import Refused
from compass.server.sizes import size_of
from compass.server.store import Store, Workspace

pytest_plugins = ("server_fixtures",)

NAME = "0" * 16


# Things that are kept


def test_two_threads_that_keep_the_same_answer_do_not_get_in_each_others_way(
    tmp_path: Path,
) -> None:
    workspace, _ = Store(tmp_path / "state", Limits()).create()
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
        Store(tmp_path, Limits())
    assert (tmp_path / "workspaces" / "my-project").is_dir()
    assert tmp_path.stat().st_mode == mode


def test_what_is_not_of_the_server_stays_in_its_state(tmp_path: Path) -> None:
    Store(tmp_path, Limits()).close()
    (tmp_path / "workspaces" / "lost+found").mkdir()
    (tmp_path / "workspaces" / NAME).mkdir()  # of a server that was killed
    Store(tmp_path, Limits()).close()
    assert os.listdir(tmp_path / "workspaces") == ["lost+found"]


def test_a_state_that_is_named_from_here_is_kept_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a whole path is recognised, and hidden, in what a working process tells people."""
    monkeypatch.chdir(tmp_path)
    store = Store(Path("state"), Limits())
    assert store.shared.place("engines", NAME) == tmp_path / "state" / "shared" / "engines" / NAME


def test_workspaces_that_were_never_used_make_room(tmp_path: Path) -> None:
    store = Store(tmp_path, Limits(workspaces=2))
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
    store = Store(tmp_path, Limits())
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


def test_only_the_answers_that_are_listed_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, _ = Store(tmp_path, Limits()).create()
    for number in range(5):
        name = f"{number:016x}"
        about = AnswerInfo(id=name, engine=NAME, created=now(), text="", answered=True)
        workspace.put("answers", name, about)
        os.utime(workspace.place("answers", name), (number, number))
    read: list[str] = []
    get = Workspace.get

    def noted(self: Workspace, kind: Any, name: str, noun: Any) -> Any:
        read.append(name)
        return get(self, kind, name, noun)

    monkeypatch.setattr(Workspace, "get", noted)
    found = part_of([workspace], ANSWERS, 2)
    assert [one.id for one in found.entries] == read == [f"{4:016x}", f"{3:016x}"]
    assert part_of([workspace], ANSWERS, 2) == found
    assert len(read) == 2  # from their summaries


def test_a_folder_with_very_many_files_is_not_walked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        (tmp_path / name).touch()
    assert allowed(str(tmp_path), [tmp_path]) == tmp_path.resolve()
    monkeypatch.setattr("compass.server.paths._MOST_FILES", 2)
    with pytest.raises(Refused, match="more than 2") as refused:
        allowed(str(tmp_path), [tmp_path])
    assert refused.value.status == 413


# Jobs and working processes


def test_a_job_that_ends_in_a_fault_of_compass_is_not_said_to_run_for_ever(tmp_path: Path) -> None:
    async def broken(*_: object) -> dict[str, str]:
        raise ValueError("quotes people's data")

    async def scene() -> None:
        workspace, _ = Store(tmp_path, Limits()).create()
        jobs = Jobs({"fit": broken}, lambda _: None)
        running = jobs.start(workspace, "fit", {})
        with pytest.raises(Refused) as refused:
            await jobs.wait(running, 10)
        assert refused.value.status == 500
        told = jobs.get(workspace, running.job.id)
        assert (told.state, told.problem and told.problem.code) == (State.FAILED, "fault")
        assert "people" not in told.model_dump_json()

    asyncio.run(scene())


def test_who_asks_the_same_meanwhile_waits_for_the_same_job(tmp_path: Path) -> None:
    async def scene() -> None:
        store = Store(tmp_path, Limits())
        (workspace, _), (other, _) = store.create(), store.create()
        ends = asyncio.Event()

        async def asking(_: Workspace, __: dict[str, Any], ___: Running) -> dict[str, str]:
            await ends.wait()
            return {}

        jobs = Jobs({"ask": asking}, lambda _: None)
        first = jobs.start(workspace, "ask", {}, kept=False, answer=NAME)
        assert jobs.answering(workspace, NAME) is first
        assert jobs.answering(other, NAME) is None
        assert jobs.answering(workspace, "1" * 16) is None
        ends.set()
        await jobs.wait(first, 10)
        assert jobs.answering(workspace, NAME) is None

    asyncio.run(scene())


def test_a_damaged_job_hides_no_others(tmp_path: Path) -> None:
    workspace, _ = Store(tmp_path, Limits()).create()
    workspace.put(
        "jobs", NAME, AnswerInfo(id=NAME, engine=NAME, created=now(), text="", answered=True)
    )
    fine = StoredJob(job=Job(id="1" * 16, kind="fit", created=now()), given={})
    workspace.put("jobs", fine.job.id, fine)
    assert part_of([workspace], JOBS, 10) == ([fine.job], None)


def test_a_result_that_the_server_could_not_hold_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Desk:
        def do(self, *_: object) -> bytes:
            return b"x" * 100

    monkeypatch.setattr(worker, "LONGEST", 99)
    with (tmp_path / "out").open("wb") as out:
        kind, content = worker._done(Desk(), {"task": "rows", "given": {}}, out)
    assert (kind, json.loads(content)["status"]) == (worker.PROBLEM, 413)


def test_working_processes_do_not_get_the_secrets_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COMPASS_TOKEN", "a-token-of-this-test")
    monkeypatch.setenv("COMPASS_LLM_KEY", "a-key-of-this-test")

    async def scene() -> bytes:
        one = Worker(2**32)
        process = await one._started()
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        await one.kill()
        return environment

    assert b"of-this-test" not in asyncio.run(scene())


def test_an_answer_is_sent_at_once() -> None:
    """asyncio turns off waiting for more to send only for sockets that say that they are TCP."""
    with run._socket("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


# Over HTTP


def test_the_same_question_twenty_times_at_once_is_one_answer(
    server: Server, stranger: httpx.Client, offered: str
) -> None:
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda _: ask(stranger, offered, RECOMMEND, seed=9), range(20)))
    assert {one.status_code for one in found} == {200}
    assert len({one.json()["id"] for one in found}) == 1
    asked = [one for one in stranger.get(f"{API}/jobs").json() if one["kind"] == "ask"]
    assert len(asked) == 1


def test_a_chat_whose_answer_was_deleted_goes_on(stranger: httpx.Client, offered: str) -> None:
    chat = stranger.post(f"{API}/chats", json={"engine": offered}).json()["id"]

    def say(text: str) -> httpx.Response:
        return stranger.post(f"{API}/chats/{chat}/messages", json={"text": text})

    say(RECOMMEND)
    answer = say("yes").json()["answer"]
    assert stranger.delete(f"{API}/answers/{answer}").status_code == 204
    assert say("why?").status_code == 200
    assert say("start over").status_code == 200


def test_a_chat_takes_no_answer_of_another_engine(
    person: httpx.Client, offered: str, engine_id: str
) -> None:
    chat = person.post(f"{API}/chats", json={"engine": offered}).json()["id"]
    of = {engine: ask(person, engine, RECOMMEND).json()["id"] for engine in (offered, engine_id)}
    path = f"{API}/chats/{chat}/told"
    assert person.post(path, json={"answer": of[engine_id]}).status_code == 422
    assert person.post(path, json={"answer": of[offered]}).json()["answer"] == of[offered]


def test_text_that_is_none_is_refused(stranger: httpx.Client) -> None:
    body = b'{"dataset": "0000000000000000", "model_columns": {"a": ["\\ud800"]}}'
    said = stranger.post(
        f"{API}/engines", content=body, headers={"Content-Type": "application/json"}
    )
    assert (said.status_code, said.json()["code"]) == (422, "invalid")


def test_a_program_says_what_it_needs_to_repeat_an_answer_of_an_engine_that_was_told(
    stranger: httpx.Client, offered: str
) -> None:
    first = ask(stranger, offered, RECOMMEND).json()["id"]
    about = stranger.get(f"{API}/engines/{offered}").json()
    names = [one["name"] for one in about["space"]["parameters"]][:8]
    points = stranger.get(f"{API}/engines/{offered}/points", params={"column": names}).json()
    values = [column[0] for column in points["columns"]]
    told = stranger.post(
        f"{API}/engines/{offered}/tell",
        params={"wait": 60},
        json={"names": names, "rows": [values]},
    )
    assert told.status_code == 201, told.text
    second = ask(stranger, told.json()["engine"]["id"], RECOMMEND).json()["id"]
    texts = [stranger.get(f"{API}/answers/{one}/exports/python").text for one in (first, second)]
    assert ["# The engine was told more runs" in text for text in texts] == [False, True]
    for text in texts:
        compile(text, "repeat.py", "exec")


def test_intervals_without_an_end_can_be_told(stranger: httpx.Client) -> None:
    """So few runs that nothing can be said about how far new ones lie from predictions."""
    engine = fit(stranger, dataset(stranger, 16), surrogate="linear", rules=[])
    about = stranger.get(f"{API}/engines/{engine}").json()
    names = [one["name"] for one in about["space"]["parameters"]]
    points = stranger.get(f"{API}/engines/{engine}/points", params={"column": names[:8]}).json()
    row = [column[0] for column in points["columns"]]
    told = stranger.post(
        f"{API}/engines/{engine}/tell",
        params={"wait": 60},
        json={"names": names[:8], "rows": [row], "questions": [RECOMMEND]},
    )
    assert told.status_code == 201, told.text
    assert '"Infinity"' in told.text


def test_a_long_text_is_shown_in_part(stranger: httpx.Client, tmp_path: Path) -> None:
    long = ["x" * 200_000 + str(number) for number in range(20)]
    pq.write_table(pa.table({"note": long, "nodes": list(range(20))}), tmp_path / "a.parquet")
    made = upload(stranger, (tmp_path / "a.parquet").read_bytes(), "a.parquet").json()
    page = stranger.get(f"{API}/datasets/{made['id']}/rows").json()
    assert {len(note) for note, _ in page["rows"]} == {1001}
    assert [nodes for _, nodes in page["rows"]] == list(range(20))


def test_points_are_the_values_of_the_rows(person: httpx.Client, data: str, engine_id: str) -> None:
    path = f"{API}/engines/{engine_id}/points"
    (names, rows) = (
        person.get(f"{API}/datasets/{data}/rows", params={"count": 1000}).json()[key]
        for key in ("names", "rows")
    )
    about = person.get(f"{API}/engines/{engine_id}").json()
    wanted = [parameter["name"] for parameter in about["space"]["parameters"]][:3]
    told = person.get(path, params={"column": wanted, "count": 50}).json()
    assert (told["names"], len(told["rows"]), told["total"] > 50) == (wanted, 50, True)
    assert told["rows"] == sorted(set(told["rows"]))
    for name, values in zip(wanted, told["columns"], strict=True):
        raw = [rows[row][names.index(name)] for row in told["rows"]]
        if isinstance(raw[0], str):
            assert values == raw
        else:
            np.testing.assert_allclose(values, raw)
    every = person.get(path, params={"column": wanted[:1]}).json()
    assert len(every["rows"]) == every["total"]
    wrong = person.get(path, params={"column": "nope"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "unknown-name")


def test_generated_clients_get_names_that_people_can_read(person: httpx.Client) -> None:
    document = person.get("/openapi.json").json()
    names = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(set(names)) == len(names)
    assert {"datasets_upload", "engines_points", "answers_ask", "jobs_cancel"} <= set(names)


def test_where_the_operator_has_the_data_is_not_told(jobs_file: Path, tmp_path: Path) -> None:
    long = tmp_path / "allowed" / f"{'n' * 220}.csv"
    long.parent.mkdir()
    long.write_bytes(jobs_file.read_bytes())
    words = ("--allow", str(long.parent), "--limit", "askers=1")
    with serving(jobs_file, tmp_path / "state", *words) as server, server.newcomer() as client:
        (data,) = until(lambda: client.get(f"{API}/datasets").json())
        assert data["path"] is None
        assert client.get(f"{API}/datasets/{data['id']}").json()["path"] is None
        # A file on the server with a name that is too long to show.
        own = client.post(f"{API}/datasets/from-path?wait=60", json={"path": str(long)})
        assert (own.status_code, len(own.json()["name"])) == (201, 200)
        assert own.json()["path"] == str(long)


def test_uploads_at_the_same_time_share_the_room_of_the_workspace(tmp_path: Path) -> None:
    words = ("--limit", "workspace_bytes=3MB", "--limit", "askers=1")
    with serving(NOTHING, tmp_path / "state", *words) as server, server.newcomer() as client:
        go_on = threading.Event()

        def slowly() -> Any:
            yield b"nodes,runtime\n" + b"1,2\n" * 500_000
            go_on.wait(30)
            yield b"3,4\n"

        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(upload, client, slowly())
            until(lambda: size_of(server.state / "passing") > 1_900_000)
            second = upload(client, b"nodes,runtime\n" + b"1,2\n" * 400_000)
            go_on.set()
            assert first.result().status_code == 201
        assert (second.status_code, second.json()["code"]) == (413, "too-large")
