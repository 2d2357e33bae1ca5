"""Two servers that share a state: whichever a request lands on, it is answered the same.

All tests share the two, which are ended in the last ones: by a kill, by a pause so long that one
seems dead, and in good order.
"""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_case import (
    API,
    RECONFIGURE,
    Server,
    answers,
    ask,
    dataset,
    job_over,
    learnt,
    prepared,
    shared_engine,
    stages,
    until,
    upload,
)
from server_pair import Pair, pair
from tests.experiment.law_case import PLAN, law

from postgres_lab import PostgresLab

pytest_plugins = ("server_fixtures",)


@pytest.fixture(scope="module")
def two(
    tmp_path_factory: pytest.TempPathFactory, postgres: PostgresLab, saved: Path
) -> Iterator[Pair]:
    state = tmp_path_factory.mktemp("two") / "state"
    limits = ("waiting_per_workspace=4", "workspace_bytes=2MB")
    with pair(postgres, saved, state, *(word for one in limits for word in ("--limit", one))) as it:
        yield it


@pytest.fixture(scope="module")
def person(two: Pair) -> Iterator[httpx.Client]:
    with two.newcomer() as client:
        yield client


@pytest.fixture(scope="module")
def here(two: Pair, person: httpx.Client) -> Iterator[httpx.Client]:
    """The same person, at the first server only."""
    with two.at(0, person) as client:
        yield client


@pytest.fixture(scope="module")
def there(two: Pair, person: httpx.Client) -> Iterator[httpx.Client]:
    with two.at(1, person) as client:
        yield client


@pytest.fixture(scope="module")
def offered(person: httpx.Client) -> str:
    return shared_engine(person)


@pytest.fixture(scope="module")
def data(person: httpx.Client) -> str:
    return dataset(person)


def long_job(client: httpx.Client, data: str, seconds: int = 600) -> dict[str, Any]:
    """Learning that goes on for so long at least, once it has begun."""
    engine = prepared(client, data, tune=seconds)
    made = client.post(
        f"{API}/engines/{engine}/outcomes", params={"wait": 0}, json={"outcome": "runtime"}
    )
    assert made.status_code == 202, made.text
    return dict(made.json())


def told(server: Server, event: str, job: str) -> bool:
    """Whether a server has logged this of a job."""
    return any((one["event"], one.get("job")) == (event, job) for one in server.events())


def test_a_session_may_land_on_either_server(
    person: httpx.Client, here: httpx.Client, there: httpx.Client, offered: str, data: str
) -> None:
    first = ask(person, offered)
    assert first.status_code == 200, first.text
    made = first.json()["id"]
    for path in (
        *("datasets", "engines", "answers", "workspaces/mine", f"datasets/{data}/rows"),
        *(f"answers/{made}", f"answers/{made}/evidence", f"answers/{made}/exports/csv"),
    ):
        both = [one.get(f"{API}/{path}") for one in (here, there)]
        assert both[0].status_code == 200
        assert both[0].text == both[1].text
    assert here.put(f"{API}/answers/{made}/name", json={"name": "mine"}).status_code == 200
    assert [one["name"] for one in there.get(f"{API}/answers").json()] == ["mine"]
    assert there.delete(f"{API}/answers/{made}").status_code == 204
    assert here.get(f"{API}/answers/{made}").status_code == 404
    assert here.get(f"{API}/answers").json() == []


def test_the_same_question_at_both_is_answered_once(
    two: Pair, here: httpx.Client, there: httpx.Client, offered: str
) -> None:
    with ThreadPoolExecutor(6) as many:
        found = list(many.map(lambda one: ask(one, offered, RECONFIGURE, run=5), [here, there] * 3))
    assert {one.status_code for one in found} == {200}
    assert len({(one.json()["id"], one.json()["created"]) for one in found}) == 1
    # What is pending of it comes at the other server, too, and nothing goes back.
    made = found[0].json()["id"]
    parts = list(completed(here, made)) + list(completed(there, made))
    assert parts[-1] == 0
    assert here.get(f"{API}/answers/{made}").text == there.get(f"{API}/answers/{made}").text


def completed(client: httpx.Client, answer: str) -> Iterator[int]:
    """How much is pending of an answer, as its stream of events tells it."""
    with client.stream("GET", f"{API}/answers/{answer}/events") as stream:
        assert stream.status_code == 200
        for line in stream.iter_lines():
            if line.startswith("data: "):
                yield len(json.loads(line.removeprefix("data: "))["answer"]["pending"])


def test_a_job_of_one_is_followed_and_ended_at_the_other(
    here: httpx.Client, there: httpx.Client, data: str
) -> None:
    job = long_job(here, data)["id"]
    seen = []
    for one in stages(there, job):
        seen.append(one)
        if one["stage"]:
            break
    assert seen[-1]["state"] == "running"
    assert job in [one["id"] for one in there.get(f"{API}/jobs").json()]
    assert here.get(f"{API}/jobs/{job}").json()["state"] == "running"
    assert there.delete(f"{API}/jobs/{job}").json()["state"] == "cancelled"
    for client in (here, there):
        assert client.get(f"{API}/jobs/{job}").json()["state"] == "cancelled"


def test_an_outcome_is_learnt_once_for_both(
    here: httpx.Client, there: httpx.Client, data: str
) -> None:
    engine = prepared(here, data)
    assert learnt(there, engine) == []

    def learn(client: httpx.Client) -> int:
        path = f"{API}/engines/{engine}/outcomes"
        return client.post(path, params={"wait": 60}, json={"outcome": "runtime"}).status_code

    with ThreadPoolExecutor(4) as many:
        assert set(many.map(learn, [here, there] * 2)) == {200}
    assert learnt(here, engine) == learnt(there, engine) == ["runtime"]
    assert learn(here) == learn(there) == 200
    jobs = [one for one in here.get(f"{API}/jobs").json() if one["engine"] == engine]
    assert sorted(one["kind"] for one in jobs) == ["fit", "learn"]
    assert ask(there, engine).status_code == ask(here, engine).status_code == 200


def test_messages_of_a_chat_at_both_are_all_in_it(
    person: httpx.Client, here: httpx.Client, there: httpx.Client, offered: str
) -> None:
    chat = f"{API}/chats/{person.post(f'{API}/chats', json={'engine': offered}).json()['id']}"
    texts = ["make runtime as short as possible", "for wrf", "change gpus", "and nodes"]

    def say(number: int) -> int:
        client = (here, there)[number % 2]
        return client.post(f"{chat}/messages", json={"text": texts[number]}).status_code

    with ThreadPoolExecutor(4) as many:
        assert list(many.map(say, range(4))) == [200] * 4
    turns = here.get(chat).json()["conversation"]["turns"]
    assert Counter(one["text"] for one in turns if one["who"] == "person") == Counter(texts)
    assert there.get(chat).json() == here.get(chat).json()


def test_limits_of_a_workspace_hold_over_both(two: Pair) -> None:
    with two.newcomer() as client:
        data = dataset(client)
        first = [long_job(client, data)["id"] for _ in range(4)]
        for which in (0, 1):
            with two.at(which, client) as one:
                refused = one.post(f"{API}/engines", json={"dataset": data})
                assert refused.status_code == 429, refused.text
                assert refused.headers["Retry-After"]
        for job in first:
            assert client.delete(f"{API}/jobs/{job}").json()["state"] == "cancelled"
        text = b"a,b\n" + b"1,2\n" * 150_000
        kept = [upload(client, text).status_code for _ in range(6)]
        assert set(kept) == {201, 413}
        assert client.get(f"{API}/workspaces/mine").json()["bytes"] <= 2_000_000
        assert client.delete(f"{API}/workspaces/mine").status_code == 204
        assert client.get(f"{API}/datasets").status_code == 401


def test_an_experiment_goes_on_at_either(here: httpx.Client, there: httpx.Client) -> None:
    made = here.post(f"{API}/experiments", json={"name": "tune", "plan": PLAN})
    assert made.status_code == 201, made.text
    begun = f"{API}/experiments/{made.json()['id']}"
    seen = set()
    for client in (here, there):
        runs = client.post(f"{begun}/next", json={"count": 2}).json()["runs"]
        seen |= {run["number"] for run in runs}
        results = [{"run": run["number"], "runtime": law(run["config"])} for run in runs]
        done = client.post(f"{begun}/tell", json={"results": results}).json()
        assert (done["taken"], done["status"]["name"]) == (2, "tune")
    assert len(seen) == 4
    assert here.get(begun).json() == there.get(begun).json()
    assert here.get(f"{begun}/report").json()["status"]["name"] == "tune"
    with there.stream("GET", f"{begun}/events") as stream:
        line = next(one for one in stream.iter_lines() if one.startswith("data: "))
        assert json.loads(line.removeprefix("data: "))["facts"]
    before = here.get(f"{API}/workspaces/mine").json()["bytes"]
    assert there.delete(begun).status_code == 204
    assert here.get(begun).status_code == 404
    assert here.get(f"{API}/workspaces/mine").json()["bytes"] < before


def test_the_audit_log_of_both_is_one(two: Pair, person: httpx.Client) -> None:
    files = list((two.state / "audit").iterdir())
    assert len(files) == 2
    lines = [json.loads(line) for one in files for line in one.read_text().splitlines()]
    mine = [
        one
        for one in lines
        if one.get("workspace") == person.get(f"{API}/workspaces/mine").json()["id"]
    ]
    ends = Counter(one["job"] for one in mine if one["action"].startswith("job_"))
    assert ends
    assert set(ends.values()) == {1}


def test_a_killed_server_loses_nothing(
    two: Pair,
    person: httpx.Client,
    here: httpx.Client,
    there: httpx.Client,
    data: str,
    offered: str,
) -> None:
    kept = {path: there.get(f"{API}/{path}").text for path in ("datasets", "engines", "answers")}
    engine = prepared(here, data, tune=2)
    path = f"{API}/engines/{engine}/outcomes"
    job = here.post(path, params={"wait": 0}, json={"outcome": "runtime"}).json()["id"]
    until(lambda: here.get(f"{API}/jobs/{job}").json()["stage"])
    for worker in two.servers[0].workers():
        worker.suspend()  # so that nothing ends before the server does
    question = ask(here, offered, RECONFIGURE, run=9, wait=0).json()
    with ThreadPoolExecutor(1) as aside:
        followed = aside.submit(lambda: list(stages(there, job)))
        two.servers[0].kill()
        # People go on at the other server, which the proxy finds for them.
        for name, text in kept.items():
            if name != "engines":
                assert person.get(f"{API}/{name}").text == text
        ended = followed.result()
    assert ended[-1]["state"] == "done", ended[-1]
    assert job_over(there, question["id"])["state"] == "done"
    assert there.get(f"{API}/answers/{question['answer']}").status_code == 200
    assert learnt(there, engine) == ["runtime"]
    own = [one for one in there.get(f"{API}/jobs").json() if one["engine"] == engine]
    assert sorted(one["kind"] for one in own) == ["fit", "learn"]
    two.again(0)
    with two.at(0, person) as again:
        assert again.get(f"{API}/jobs/{job}").json()["state"] == "done"
        assert again.get(f"{API}/engines").text == there.get(f"{API}/engines").text


def test_one_that_only_seemed_dead_leaves_its_jobs_alone(
    two: Pair, person: httpx.Client, data: str
) -> None:
    with two.at(0, person) as first, two.at(1, person) as second:
        job = long_job(first, data)["id"]
        until(lambda: first.get(f"{API}/jobs/{job}").json()["stage"])
        process = two.servers[0].process
        process.send_signal(signal.SIGSTOP)
        try:
            until(lambda: told(two.servers[1], "job-taken", job))
        finally:
            process.send_signal(signal.SIGCONT)
        until(lambda: told(two.servers[0], "job-lost", job))
        assert answers(two.servers[0])
        # It is followed and ended at the one that has lost it as at any other.
        assert first.get(f"{API}/jobs/{job}").json()["state"] in {"waiting", "running"}
        assert first.delete(f"{API}/jobs/{job}").json()["state"] == "cancelled"
        assert second.get(f"{API}/jobs/{job}").json()["state"] == "cancelled"


def test_one_after_the_other_is_replaced_and_nobody_notices(
    two: Pair, person: httpx.Client, data: str
) -> None:
    job = ""
    with two.at(0, person) as first:
        job = long_job(first, data)["id"]
        until(lambda: first.get(f"{API}/jobs/{job}").json()["stage"])
    for which in (0, 1):
        with ThreadPoolExecutor(1) as aside:
            ended = aside.submit(two.servers[which].stop)
            while not ended.done():
                assert person.get(f"{API}/datasets").status_code == 200
            assert ended.result() == 0
        assert person.get(f"{API}/jobs/{job}").json()["state"] in {"waiting", "running"}
        two.again(which)
    until(lambda: person.get(f"{API}/jobs/{job}").json()["state"] == "running")
    assert person.delete(f"{API}/jobs/{job}").json()["state"] == "cancelled"


def test_nothing_went_wrong_behind_it(two: Pair) -> None:
    logs = [*two.state.parent.glob("state-*.log")]
    assert len(logs) == 5
    logged = [json.loads(line) for one in logs for line in one.read_text().splitlines()]
    assert not [one for one in logged if one["event"] in {"fault", "database", "damaged"}]
    assert not [one for one in logged if one["event"] == "request" and one["status"] >= 500]
