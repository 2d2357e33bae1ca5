"""Experiments over HTTP: asked, told and followed, also after a kill, by a real server."""

import json
from pathlib import Path

import httpx
import pytest
from server_case import API, Server
from tests.experiment.law_case import BEST, PLAN, law

from compass.domain.errors import BadInput
from compass.domain.experiment import MeasuredRun
from compass.experiment.experiment import Experiment
from compass.server import experiment_tasks
from compass.server.experiment_tasks import STORE, TASKS

pytest_plugins = ("server_fixtures",)


@pytest.fixture
def begun(person: httpx.Client) -> str:
    made = person.post(f"{API}/experiments", json={"name": "tune", "plan": PLAN})
    assert made.status_code == 201, made.text
    return f"{API}/experiments/{made.json()['id']}"


def test_a_loop_over_http_finds_the_minimum(person: httpx.Client, begun: str) -> None:
    while runs := person.post(f"{begun}/next", json={"count": 8}).json()["runs"]:
        results = [{"run": run["number"], "runtime": law(run["config"])} for run in runs]
        told = person.post(f"{begun}/tell", json={"results": results}).json()
        assert (told["taken"], told["known"]) == (len(runs), 0)
    shown = person.get(begun).json()
    assert shown["experiment"]["name"] == shown["status"]["name"] == "tune"
    assert shown["status"]["stop"]
    best = shown["status"]["best"]
    assert law(best["config"]) <= 1.1 * law(BEST)
    report = person.get(f"{begun}/report").json()
    assert len(report["curve"]) == shown["status"]["used"]
    assert report["curve"][-1]["best"] == best["outcomes"]["runtime"]
    listed = person.get(f"{begun}/runs", params={"after": 3, "count": 2}).json()
    assert [run["number"] for run in listed] == [4, 5]


def test_several_goals_give_a_front_over_http(person: httpx.Client) -> None:
    goals = {"runtime": "minimize", "power": "minimize"}
    plan = {**PLAN, "goals": goals, "reference": {"runtime": 40, "power": 200}, "budget": 12}
    made = person.post(f"{API}/experiments", json={"name": "two", "plan": plan})
    assert made.status_code == 201, made.text
    begun = f"{API}/experiments/{made.json()['id']}"
    while runs := person.post(f"{begun}/next", json={"count": 4}).json()["runs"]:
        results = []
        for run in runs:
            power = 20 + 6 * run["config"]["threads"]
            results.append({"run": run["number"], "runtime": law(run["config"]), "power": power})
        person.post(f"{begun}/tell", json={"results": results})
    front = person.get(begun).json()["status"]["front"]
    assert front["reference"] == {"runtime": 40, "power": 200}
    numbers = {number for point in front["points"] for number in point["runs"]}
    report = person.get(f"{begun}/report").json()
    assert numbers <= {run["number"] for run in report["runs"]}
    assert report["curve"][-1]["best"] == pytest.approx(front["hypervolume"])


def test_results_are_taken_in_once_and_failures_keep_their_reason(
    person: httpx.Client, begun: str
) -> None:
    first, second = person.post(f"{begun}/next", json={"count": 2}).json()["runs"]
    results = [
        {"run": first["number"], "runtime": 5.0},
        {**second["config"], "failure": "out of memory"},
        {**BEST, "runtime": law(BEST)},
    ]
    told = [person.post(f"{begun}/tell", json={"results": results}).json() for _ in range(2)]
    assert [(one["taken"], one["known"]) for one in told] == [(3, 0), (0, 3)]
    runs = person.get(f"{begun}/runs").json()
    assert [run["state"] for run in runs] == ["done", "failed", "done"]
    assert runs[1]["reason"] == "out of memory"


def test_added_cancelled_and_attached(person: httpx.Client, begun: str, data: str) -> None:
    added = person.post(f"{begun}/add", json={"configs": [BEST], "repeats": 2})
    assert added.json()["counts"] == {"suggested": 2}
    (run,) = person.post(f"{begun}/next", json={}).json()["runs"]
    assert run["origin"] == "person"
    left = person.post(f"{begun}/cancel", json={"runs": [run["number"]]}).json()
    assert left["counts"] == {"suggested": 1, "cancelled": 1}
    attached = person.post(f"{begun}/attach", json={"dataset": data})
    assert attached.status_code == 422  # that table has other columns
    assert "threads" in attached.json()["error"]


def test_events_are_followed(person: httpx.Client, begun: str) -> None:
    (run,) = person.post(f"{begun}/next", json={}).json()["runs"]
    person.post(f"{begun}/tell", json={"results": [{"run": run["number"], "runtime": 5.0}]})
    states = []
    with person.stream("GET", f"{begun}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                event = json.loads(line.removeprefix("data: "))
                states.append((event["number"], event["state"]))
                if event["state"] == "done":
                    break
    assert states[-3:] == [(1, "suggested"), (1, "submitted"), (1, "done")]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({**PLAN, "command": "rm -rf /"}, "a server makes no runs"),
        ({**PLAN, "columns": {"a": {"low": 2, "high": 1}}}, "low 2 is above high 1"),
        ({**PLAN, "columns": {"a": {"allowed": []}}}, "empty"),
        ({**PLAN, "columns": {"a": {"values": ["x", "x"]}}, "rules": []}, "distinct"),
        ({**PLAN, "rules": ["threads >= 32"]}, "threads"),
        ({**PLAN, "budget": 1_000_000}, "at most"),
        ({**PLAN, "goals": {"runtime": None}}, "no goal"),
        ({"goals": {"a": "minimize"}}, "nothing to vary"),
    ],
)
def test_plans_that_cannot_be_are_refused_and_leave_nothing(
    person: httpx.Client, plan: dict, message: str
) -> None:
    before = person.get(f"{API}/experiments").json()
    refused = person.post(f"{API}/experiments", json={"plan": plan})
    assert refused.status_code == 422, refused.text
    assert message in refused.json()["error"]
    assert refused.json()["hint"]
    assert person.get(f"{API}/experiments").json() == before


def test_nobody_else_sees_an_experiment(server: Server, person: httpx.Client, begun: str) -> None:
    with server.client() as other:
        key = other.post(f"{API}/workspaces").json()["key"]
    with server.client(key) as stranger:
        assert stranger.get(f"{API}/experiments").json() == []
        assert stranger.get(begun).status_code == 404
        assert stranger.post(f"{begun}/next", json={}).status_code == 404
        assert stranger.get(f"{begun}/events").status_code == 404
        assert stranger.delete(begun).status_code == 404
    assert person.delete(begun).status_code == 204
    assert person.get(begun).status_code == 404


def test_runs_that_cannot_be_made_cost_no_budget(person: httpx.Client, begun: str) -> None:
    (run,) = person.post(f"{begun}/next", json={}).json()["runs"]
    results = [{"run": run["number"], "failure": "infeasible: too few nodes"}]
    told = person.post(f"{begun}/tell", json={"results": results}).json()
    assert told["status"]["counts"] == {"infeasible": 1}
    assert told["status"]["used"] == 0
    assert person.get(f"{begun}/runs").json()[0]["reason"] == "too few nodes"


def test_runs_are_listed_from_a_number_on_and_as_they_change(
    person: httpx.Client, begun: str
) -> None:
    runs = person.post(f"{begun}/next", json={"count": 5}).json()["runs"]
    last = max(run["event"] for run in runs)
    results = [{"run": number, "runtime": 5.0} for number in (2, 4)]
    person.post(f"{begun}/tell", json={"results": results})
    for params, numbers in (
        ({}, [1, 2, 3, 4, 5]),
        ({"count": 2}, [1, 2]),
        ({"after": 3}, [4, 5]),
        ({"event": last}, [2, 4]),
        ({"event": last, "after": 2, "count": 1}, [4]),
        ({"after": 5}, []),
    ):
        found = person.get(f"{begun}/runs", params=params).json()
        assert [run["number"] for run in found] == numbers


def test_an_experiment_keeps_no_more_runs_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment_tasks, "MOST_KEPT", 30)
    given = {"store": str(tmp_path / STORE)}
    TASKS["start"]({**given, "name": "tune", "plan": PLAN}, lambda *_: None)
    with Experiment.open(given["store"]) as experiment:
        past = [MeasuredRun(config=BEST, outcomes={"runtime": float(n)}) for n in range(29)]
        experiment.store.attach("tune", past)
    one = {**BEST, "runtime": 0.5}
    for task, more in (
        ("tell", {"results": [one, one]}),
        ("add", {"configs": [BEST], "repeats": 2}),
    ):
        with pytest.raises(BadInput, match="keeps at most 30 runs; this one has 29") as refused:
            TASKS[task]({**given, **more}, lambda *_: None)
        assert "another experiment" in (refused.value.hint or "")
    told = json.loads(TASKS["tell"]({**given, "results": [one]}, lambda *_: None))
    assert told["taken"] == 1
    with Experiment.open(given["store"]) as experiment:
        assert experiment.store.size("tune") == 30
    wanted = {"count": 1, "worker": "me"}
    (run,) = json.loads(TASKS["next"]({**given, **wanted}, lambda *_: None))["runs"]
    results = [{"run": run["number"], "runtime": 4.0}]
    assert json.loads(TASKS["tell"]({**given, "results": results}, lambda *_: None))["taken"] == 1
