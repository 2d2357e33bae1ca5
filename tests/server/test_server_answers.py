"""An answer comes first; what is pending of it comes while somebody waits for it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from server_case import API, RECONFIGURE, Server, ask, fit, serving, shared_engine, start

pytest_plugins = ("server_fixtures",)

# A search that does not try everything, so that there is something to prove.
PROVED: dict[str, Any] = {"run": 3, "prove": 20.0, "generator": "c3g"}


def unfinished(client: httpx.Client, engine: str, seed: int, **more: Any) -> dict[str, Any]:
    """The view of an answer whose proof is pending."""
    asked = ask(client, engine, RECONFIGURE, seed=seed, **PROVED | more)
    assert asked.status_code == 200, asked.text
    view: dict[str, Any] = asked.json()
    assert "proof" in view["answer"]["pending"]
    assert view["answer"]["certificate"] is None
    return view


def followed(client: httpx.Client, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of an answer."""
    event = ""
    with client.stream("GET", f"{API}/answers/{name}/events") as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            if line.startswith("data: "):
                yield event, json.loads(line.removeprefix("data: "))


def completing(client: httpx.Client, name: str) -> list[dict[str, Any]]:
    """The jobs that complete an answer, whatever came of them."""
    found = client.get(f"{API}/jobs").json()
    return [one for one in found if one["kind"] == "complete" and one["answer"] == name]


def test_the_answer_comes_first_then_its_proof(person: httpx.Client, offered: str) -> None:
    view = unfinished(person, offered, 101)
    events = list(followed(person, view["id"]))
    assert {name for name, _ in events} == {"answer"}
    first, *_, last = (data for _, data in events)
    assert first == view
    assert last["answer"]["certificate"]["status"]
    assert last["answer"]["pending"] == []
    lengths = [len(data["answer"]["pending"]) for _, data in events]
    assert lengths == sorted(set(lengths), reverse=True)
    assert person.get(f"{API}/answers/{view['id']}").json() == last
    assert last["created"] == view["created"]


def test_the_runs_to_make_come_after_the_proof(person: httpx.Client, offered: str) -> None:
    none = "Recommend X = {gpus: ?} to achieve Y = {runtime: <= 0.001}"
    view = ask(person, offered, none, seed=110, prove=20.0).json()
    told = [data["answer"] for _, data in followed(person, view["id"])]
    assert [one["pending"] for one in told] == [["proof", "run next"], ["run next"], []]
    assert [one["certificate"] is None for one in told] == [True, False, False]
    assert [bool(one["run_next"]) for one in told] == [False, False, True]
    assert [job["state"] for job in completing(person, view["id"])] == ["done"]


def test_a_whole_answer_is_told_once_and_is_not_worked_on_again(
    person: httpx.Client, offered: str
) -> None:
    view = unfinished(person, offered, 102)
    whole = person.get(f"{API}/answers/{view['id']}", params={"wait": 60}).json()
    assert whole["answer"]["pending"] == []
    assert [data for _, data in followed(person, view["id"])] == [whole]
    assert ask(person, offered, RECONFIGURE, seed=102, **PROVED).json() == whole
    assert len(completing(person, view["id"])) == 1


def test_nothing_is_proved_that_nobody_waits_for(person: httpx.Client, offered: str) -> None:
    view = unfinished(person, offered, 103)
    assert not completing(person, view["id"])
    assert person.get(f"{API}/answers/{view['id']}").json() == view
    listed = person.get(f"{API}/answers").json()
    assert next(one for one in listed if one["id"] == view["id"])["pending"]


def test_two_who_follow_wait_for_the_same_work(person: httpx.Client, offered: str) -> None:
    view = unfinished(person, offered, 104)
    one, other = followed(person, view["id"]), followed(person, view["id"])
    assert next(one) == next(other)
    assert list(one)[-1] == list(other)[-1]
    assert len(completing(person, view["id"])) == 1


def test_an_answer_that_was_deleted_is_not_completed(person: httpx.Client, offered: str) -> None:
    view = unfinished(person, offered, 105)
    assert person.delete(f"{API}/answers/{view['id']}").status_code == 204
    assert person.get(f"{API}/answers/{view['id']}/events").status_code == 404
    assert person.get(f"{API}/answers/{view['id']}", params={"wait": 1}).status_code == 404


def test_an_answer_whose_engine_was_deleted_is_shown_and_exported_as_it_is(
    person: httpx.Client, data: str
) -> None:
    engine = fit(person, data)
    view = unfinished(person, engine, 108)
    assert person.delete(f"{API}/engines/{engine}").status_code == 204
    path = f"{API}/answers/{view['id']}"
    shown = person.get(path, params={"wait": 60}).json()
    assert shown.pop("problem")["code"] == "not-found"
    assert shown == view
    *_, (name, problem) = followed(person, view["id"])
    assert (name, problem["code"]) == ("problem", "not-found")
    exported = person.get(f"{path}/exports/json").json()
    assert exported["pending"] == view["answer"]["pending"]
    assert "proof" in exported["notes"][-1]
    assert "no such engine" in exported["notes"][-1]


def test_others_see_neither_an_answer_nor_its_events(server: Server, offered: str) -> None:
    with server.newcomer() as owner, server.newcomer() as other:
        view = unfinished(owner, offered, 106)
        assert other.get(f"{API}/answers/{view['id']}/events").status_code == 404


def test_a_server_that_was_killed_completes_an_answer_later(tmp_path: Path, saved: Path) -> None:
    state = tmp_path / "state"
    first = start(saved, state)
    with first.newcomer() as client:
        view = unfinished(client, shared_engine(client), 107)
        key = client.headers["Compass-Workspace"]
        first.kill()
        assert first.process.stdout is not None
        first.process.stdout.close()
    with serving(saved, state) as server, server.client(key) as again:
        shared_engine(again)
        (_, now), *_, (name, last) = followed(again, view["id"])
        assert now == view
        assert (name, last["answer"]["pending"]) == ("answer", [])
        kept = {path.name for path in state.glob(f"workspaces/*/answers/{view['id']}/*")}
        assert kept == {"about.json", "answer.json"}


def test_a_list_tells_what_was_decided_and_by_which_name(
    person: httpx.Client, offered: str
) -> None:
    view = ask(person, offered, seed=107).json()
    place = f"{API}/answers/{view['id']}"
    first = view["answer"]["suggestions"][0]

    def listed() -> dict[str, Any]:
        (found,) = [one for one in person.get(f"{API}/answers").json() if one["id"] == view["id"]]
        return dict(found)

    told = listed()
    assert told["decision"] == first["settings"]
    assert told["label"] == first["trust"]["label"]
    (runtime,) = told["outcomes"]
    assert (runtime["name"], runtime["value"]) == ("runtime", first["outcomes"][0]["value"])
    named = person.put(f"{place}/name", json={"name": "for the deadline"})
    assert (named.status_code, named.json()["name"]) == (200, "for the deadline")
    list(followed(person, view["id"]))  # completed, it keeps its name
    assert (listed()["name"], listed()["pending"]) == ("for the deadline", [])
    assert person.put(f"{place}/name", json={"name": None}).json()["name"] is None
    assert person.put(f"{place}/name", json={"name": "a\nb"}).status_code == 422
    assert person.put(f"{API}/answers/{'0' * 16}/name", json={"name": "x"}).status_code == 404
