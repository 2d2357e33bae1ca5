"""An engine is there at once; an outcome is learnt when a question first needs it, and once."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_case import (
    API,
    NOTHING,
    QUICK,
    RULES,
    Server,
    ask,
    dataset,
    gone,
    job_over,
    jobs_csv,
    learnt,
    outcomes,
    prepared,
    serving,
    shared_engine,
    stages,
    start,
    until,
)

import compass as cp
from conftest import ROLES

THREE = {
    "columns": {
        **{name: {"role": "knob"} for name in ("nodes", "cores", "gpus")},
        **{name: {"role": "context"} for name in ("app", "size")},
        **{name: {"role": "outcome"} for name in ("runtime", "power", "state")},
    }
}
RUNTIME = "Recommend X = {gpus: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}"
POWER = RUNTIME.replace("runtime", "power")
UNDER_POWER = "Recommend X = {gpus: ?} to achieve Y = {runtime: minimize} where C = {power <= 900}"
ALL = "What if we change X = {gpus: 0 -> 4}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with serving(NOTHING, tmp_path_factory.mktemp("lazy") / "state") as running:
        yield running


@pytest.fixture
def person(server: Server) -> Any:
    with server.newcomer() as client:
        yield client


@pytest.fixture
def engine(person: httpx.Client) -> str:
    """An engine of three outcomes that has learnt none."""
    return prepared(person, dataset(person, 120, THREE))


def learning(client: httpx.Client) -> list[tuple[str, str]]:
    """The outcomes that jobs learnt, in the order of these, with how they ended."""
    jobs = [job for job in client.get(f"{API}/jobs").json() if job["kind"] == "learn"]
    return [(job["outcome"], job["state"]) for job in reversed(jobs)]


def untimed(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name not in ("seconds", "created")}


def test_a_question_learns_what_it_needs_and_no_more(person: httpx.Client, engine: str) -> None:
    assert (learnt(person, engine), learning(person)) == ([], [])
    assert outcomes(person, engine) == ["runtime", "power", "state"]
    assert ask(person, engine, RUNTIME).status_code == 200
    assert learnt(person, engine) == ["runtime"]
    assert ask(person, engine, RUNTIME, count=2).status_code == 200
    assert ask(person, engine, UNDER_POWER).status_code == 200  # a condition needs it, too
    assert learning(person) == [("runtime", "done"), ("power", "done")]
    listed = [one for one in person.get(f"{API}/engines").json() if one["id"] == engine]
    assert [(one["learnt"], len(one["outcomes"])) for one in listed] == [(2, 3)]


def test_answers_are_those_of_an_engine_that_learnt_everything(
    person: httpx.Client, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "jobs.csv"
    path.write_bytes(jobs_csv(120))
    whole = cp.Compass(cp.read(path).roles(**ROLES), rules=RULES, **QUICK).fit()
    for text in (POWER, ALL, RUNTIME):
        there = ask(person, engine, text, prove=0).json()["answer"]
        here = json.loads(whole.ask(text, prove=0).model_dump_json())
        for one in (there, here):
            one.pop("provenance")  # where the file is
            one.pop("pending", None)
            one.pop("run_next", None)  # comes later on a server
        text_of = [json.dumps(one, sort_keys=True) for one in (there, here)]
        parsed = [json.loads(one, object_hook=untimed) for one in text_of]
        for kept in parsed:
            for suggestion in kept["suggestions"]:
                for evidence in suggestion["trust"]["evidence"]:
                    evidence.pop("file", None)
        assert parsed[0] == parsed[1]


def test_progress_says_what_is_learnt(person: httpx.Client, engine: str) -> None:
    job = ask(person, engine, ALL, wait=0).json()
    told = list(stages(person, job["id"]))
    assert told[-1]["state"] == "done"
    seen = list(dict.fromkeys(one["stage"] for one in told if one["stage"].startswith("learning")))
    assert seen == [
        f"learning {name}, {place} of 3 outcomes"
        for place, name in enumerate(("runtime", "power", "state"), 1)
    ]
    assert {*learnt(person, engine)} == {"runtime", "power", "state"}


def test_two_questions_at_once_learn_an_outcome_once(person: httpx.Client, engine: str) -> None:
    with ThreadPoolExecutor(4) as aside:
        asked = [aside.submit(ask, person, engine, RUNTIME, seed=seed) for seed in range(3)]
        asked.append(aside.submit(ask, person, engine, POWER))
        assert [one.result().status_code for one in asked] == [200] * 4
    assert sorted(learning(person)) == [("power", "done"), ("runtime", "done")]
    assert sorted(learnt(person, engine)) == ["power", "runtime"]


def test_a_question_tells_what_it_needs_before_it_is_asked(
    person: httpx.Client, engine: str
) -> None:
    path = f"{API}/engines/{engine}/queries"

    def needed(text: str) -> Any:
        return person.post(path, json={"question": text}).json()["to_learn"]

    assert needed(UNDER_POWER) == ["runtime", "power"]
    assert needed(ALL) == ["runtime", "power", "state"]
    assert learning(person) == []
    ask(person, engine, RUNTIME)
    assert needed(UNDER_POWER) == ["power"]
    assert needed(RUNTIME) == []


def test_what_is_wrong_with_a_question_is_told_before_anything_is_learnt(
    person: httpx.Client, engine: str
) -> None:
    told = ask(person, engine, RUNTIME.replace("gpus", "gpuz"))
    assert (told.status_code, told.json()["code"]) == (422, "unknown-name")
    assert ask(person, engine, RUNTIME, where=["nodes <"]).status_code == 422
    assert (learnt(person, engine), learning(person)) == ([], [])


def test_explanations_curves_and_runs_to_make_learn_what_they_need(
    person: httpx.Client, engine: str
) -> None:
    path = f"{API}/engines/{engine}"
    body = {"run": 3, "parameters": ["gpus"], "outcomes": ["power"]}
    assert person.post(f"{path}/curves", json=body).status_code == 200
    assert learnt(person, engine) == ["power"]
    asked = {"outcome": "Runtime", "repeats": 2}  # as a person may write it
    assert person.get(f"{path}/importance", params=asked).status_code == 200
    assert learnt(person, engine) == ["power", "runtime"]
    assert person.get(f"{path}/importance", params={"outcome": "rumtime"}).status_code == 422
    assert person.post(f"{path}/explanations", json={"run": 3}).status_code == 200
    assert learnt(person, engine) == ["power", "runtime", "state"]
    assert person.post(f"{path}/run-next", json={"runs": 2}).status_code == 200
    assert len(learning(person)) == 3


def test_an_outcome_can_be_learnt_before_it_is_asked_about(
    person: httpx.Client, engine: str
) -> None:
    path = f"{API}/engines/{engine}/outcomes"
    made = person.post(path, params={"wait": 60}, json={"outcome": "state"})
    assert made.status_code == 200
    assert [card["target"] for card in made.json()["models"]] == ["state"]
    again = person.post(path, params={"wait": 0}, json={"outcome": "state"})
    assert again.status_code == 200
    assert learning(person) == [("state", "done")]
    for name, code in (("nodes", "query-problem"), ("stat", "unknown-name")):
        told = person.post(path, json={"outcome": name})
        assert (told.status_code, told.json()["code"]) == (422, code)


def test_who_waits_for_learning_that_is_cancelled_is_told(person: httpx.Client) -> None:
    engine = prepared(person, dataset(person, 120, THREE), tune=600)
    job = ask(person, engine, RUNTIME, wait=0).json()
    other = until(lambda: [j for j in person.get(f"{API}/jobs").json() if j["kind"] == "learn"])
    assert person.delete(f"{API}/jobs/{other[0]['id']}").json()["state"] == "cancelled"
    told = job_over(person, job["id"])
    assert (told["state"], told["problem"]["code"]) == ("failed", "cancelled")
    assert learnt(person, engine) == []


def test_questions_that_wait_for_learning_are_counted(tmp_path: Path) -> None:
    words = ("--limit", "waiting_per_workspace=2")
    with serving(NOTHING, tmp_path / "state", *words) as server, server.newcomer() as client:
        engine = prepared(client, dataset(client, 120, THREE), tune=600)
        first = ask(client, engine, RUNTIME, wait=0)
        assert first.status_code == 202
        until(lambda: ("runtime", "running") in learning(client))
        second = ask(client, engine, RUNTIME, seed=2, wait=0).json()
        until(lambda: client.get(f"{API}/jobs/{second['id']}").json()["stage"])
        refused = ask(client, engine, RUNTIME, seed=3, wait=0)
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-requests")
        assert "retry-after" in refused.headers
        assert client.delete(f"{API}/engines/{engine}").status_code == 204
        for job in (first.json(), second):
            assert job_over(client, job["id"])["problem"]["code"] == "cancelled"


def test_a_deleted_engine_is_not_learnt_any_further(person: httpx.Client, server: Server) -> None:
    engine = prepared(person, dataset(person, 120, THREE), tune=600)
    ask(person, engine, RUNTIME, wait=0)
    until(lambda: ("runtime", "running") in learning(person))
    assert person.delete(f"{API}/engines/{engine}").status_code == 204
    assert learning(person) == [("runtime", "cancelled")]
    assert person.get(f"{API}/engines/{engine}").status_code == 404


def test_what_is_learnt_counts_as_kept(person: httpx.Client, engine: str) -> None:
    before = person.get(f"{API}/workspaces/mine").json()["bytes"]
    size = person.get(f"{API}/engines/{engine}").json()["bytes"]
    ask(person, engine, RUNTIME)
    grown = person.get(f"{API}/engines/{engine}").json()["bytes"] - size
    assert grown > 0
    assert person.get(f"{API}/workspaces/mine").json()["bytes"] >= before + grown


def test_what_one_person_needs_of_an_offered_engine_is_there_for_the_next(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_bytes(jobs_csv(80))
    study = tmp_path / "study.json"
    study.write_text(json.dumps(THREE))
    words = ("--study", str(study), "--surrogate", "forest")
    every = ["power", "runtime", "state"]
    with (
        serving(path, tmp_path / "state", *words) as server,
        server.newcomer() as one,
        server.newcomer() as other,
    ):
        engine = shared_engine(one)
        with ThreadPoolExecutor(2) as aside:
            asked = [aside.submit(ask, who, engine, POWER) for who in (one, other)]
            assert [told.result().status_code for told in asked] == [200, 200]
        # It goes on learning by itself, so that the next need not wait.
        until(lambda: sorted(learnt(one, engine)) == every)
        until(lambda: sorted(learning(one)) == [(name, "done") for name in every])


def test_a_kill_amid_learning_loses_neither_the_question_nor_the_engine(tmp_path: Path) -> None:
    state, words = tmp_path / "state", ("--limit", "ask_workers=1")
    server = start(NOTHING, state, *words)
    try:
        with server.newcomer() as client:
            key = client.headers["Compass-Workspace"]
            # So slow that it is still learning when it is killed.
            engine = prepared(client, dataset(client, 120, THREE), tune=2)
            assert ask(client, engine, POWER).status_code == 200
            job = ask(client, engine, RUNTIME, wait=0).json()
            until(lambda: ("runtime", "running") in learning(client))
            workers = server.kill()
            until(lambda: gone(workers))
    finally:
        server.process.kill()
        server.process.wait()
        assert server.process.stdout is not None
        server.process.stdout.close()
    with serving(NOTHING, state, *words) as later, later.client(key) as client:
        done = job_over(client, job["id"])
        assert done["state"] == "done", done
        assert client.get(f"{API}/answers/{done['answer']}").status_code == 200
        assert learnt(client, engine) == ["power", "runtime"]
        assert learning(client) == [("power", "done"), ("runtime", "done")]
