"""Jobs over HTTP: progress as it happens, cancelling, and results that are fetched later."""

import httpx
from server_case import (
    API,
    QUICK,
    RECOMMEND,
    Server,
    ask,
    gone,
    job_over,
    learnt,
    left_by_people,
    prepared,
    stages,
    until,
)

pytest_plugins = ("server_fixtures",)


def test_progress_is_told_as_it_happens(person: httpx.Client, data: str) -> None:
    begun = person.post(
        f"{API}/engines", params={"wait": 0}, json={"dataset": data, **QUICK, "seed": 4}
    )
    assert begun.status_code == 202
    job = begun.json()
    assert (job["kind"], job["dataset"]) == ("fit", data)
    told = list(stages(person, job["id"]))
    assert told[-1]["state"] == "done"
    assert any(one["stage"] and one["total"] and one["state"] == "running" for one in told)
    assert all(one["done"] <= one["total"] for one in told if one["total"])
    assert person.get(f"{API}/engines/{job['engine']}").status_code == 200
    assert person.get(f"{API}/jobs/{job['id']}").json() == told[-1]
    assert [one["state"] for one in stages(person, job["id"])] == ["done"]
    assert job["id"] in [one["id"] for one in person.get(f"{API}/jobs").json()]


def test_an_answer_may_be_fetched_later(person: httpx.Client, offered: str) -> None:
    begun = ask(person, offered, RECOMMEND, seed=77, wait=0)
    assert begun.status_code == 202
    job = job_over(person, begun.json()["id"])
    assert job["state"] == "done"
    found = person.get(f"{API}/answers/{job['answer']}").json()
    assert found["answer"]["provenance"]["seed"] == 77
    assert person.delete(f"{API}/answers/{job['answer']}").status_code == 204


def test_a_job_that_fails_says_why(person: httpx.Client, data: str) -> None:
    asked = {"dataset": data, "surrogate": "forrest"}
    job = person.post(f"{API}/engines", params={"wait": 0}, json=asked).json()
    failed = job_over(person, job["id"])
    assert failed["state"] == "failed"
    assert failed["problem"]["code"] == "unknown-name"
    assert "forest" in failed["problem"]["hint"]
    at_once = person.post(f"{API}/engines", params={"wait": 60}, json=asked)
    assert at_once.status_code == 422
    assert at_once.json() == failed["problem"]


def test_learning_that_is_cancelled_leaves_the_engine_as_it_was(
    person: httpx.Client, data: str, server: Server
) -> None:
    before = server.workers()
    engine = prepared(person, data, surrogate="auto", tune=600)
    asked = {"outcome": "runtime"}
    path = f"{API}/engines/{engine}/outcomes"
    job = person.post(path, params={"wait": 0}, json=asked).json()
    until(lambda: person.get(f"{API}/jobs/{job['id']}").json()["state"] == "running")
    fit_workers = [one for one in server.workers() if one not in before] or server.workers()
    cancelled = person.delete(f"{API}/jobs/{job['id']}")
    assert cancelled.json()["state"] == "cancelled"
    until(lambda: any(gone([one]) for one in fit_workers))
    assert learnt(person, engine) == []
    assert person.delete(f"{API}/jobs/{job['id']}").json()["state"] == "cancelled"
    assert left_by_people(server) == []
    assert person.delete(f"{API}/engines/{engine}").status_code == 204
