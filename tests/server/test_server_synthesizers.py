"""Synthetic rows over HTTP: learnt by a job, drawn, filled in, decided, predicted, judged."""

import io

import httpx
import pyarrow as pa
import pyarrow.csv as pv
import pytest
from server_case import API, Server, upload

pytest_plugins = ("server_fixtures",)


@pytest.fixture(scope="module")
def made(person: httpx.Client, data: str) -> str:
    body = {"dataset": data, "rules": ["cores <= 32 * nodes"], "seed": 3}
    reply = person.post(f"{API}/synthesizers", json=body, params={"wait": 60})
    assert reply.status_code == 201, reply.text
    about = reply.json()
    assert about["synthesizer"] == "cart"
    assert about["settings"]["least"] == 5
    assert {"nodes", "runtime"} <= set(about["columns"])
    return f"{API}/synthesizers/{about['id']}"


def columns(reply: httpx.Response) -> dict[str, list[object]]:
    assert reply.status_code == 200, reply.text
    page = reply.json()
    return {name: [row[at] for row in page["rows"]] for at, name in enumerate(page["names"])}


def test_rows_are_drawn_on_conditions(person: httpx.Client, made: str) -> None:
    body = {"count": 40, "where": ["nodes <= 4"], "given": {"app": "wrf"}, "seed": 1}
    first, again = (person.post(f"{made}/sample", json=body) for _ in range(2))
    assert first.json() == again.json()
    found = columns(first)
    assert len(found["nodes"]) == 40
    assert all(nodes <= 4 for nodes in found["nodes"])
    assert set(found["app"]) == {"wrf"}
    assert all(c <= 32 * n for c, n in zip(found["cores"], found["nodes"], strict=True))
    assert set(found["origin"]) == {"synthetic"}
    none = person.post(f"{made}/sample", json={"where": ["nodes <= 4", "nodes >= 8"]})
    assert none.status_code == 422
    assert "nodes" in none.json()["error"]


def test_gaps_are_filled_and_outcomes_predicted(
    person: httpx.Client, made: str, offered: str
) -> None:
    rows = [{"app": "wrf", "nodes": 2, "gpus": None}, {"nodes": 8}]
    filled = columns(person.post(f"{made}/fill", json={"rows": rows, "draws": 3}))
    assert filled["nodes"] == [2, 2, 2, 8, 8, 8]
    assert filled["app"][:3] == ["wrf"] * 3
    assert "gpus" in filled["filled"][0]
    given = [{name: filled[name][0] for name in ("app", "nodes", "gpus", "cores", "size")}]
    body = {"rows": given, "draws": 10, "engine": offered}
    said = person.post(f"{made}/predict", json=body).json()
    sources = {(one["outcome"], one["source"]) for one in said["predictions"]}
    assert {("runtime", "cart"), ("runtime", "surrogate")} <= sources
    wrong = person.post(f"{made}/predict", json={"rows": [{"nodez": 1}]})
    assert wrong.status_code == 422


def test_the_gaps_of_a_dataset_are_filled(person: httpx.Client, made: str) -> None:
    table = b"app,nodes,gpus,runtime\nwrf,2,,\nwrf,,4,\n,8,2,\n"
    there = upload(person, table).json()["id"]
    filled = columns(person.post(f"{made}/fill", json={"dataset": there, "seed": 4}))
    assert [filled["nodes"][0], filled["nodes"][2]] == [2, 8]
    assert filled["app"][:2] == ["wrf"] * 2
    assert all(value is not None for name in ("app", "gpus") for value in filled[name])
    assert ["nodes" in cells for cells in filled["filled"]] == [False, True, False]
    rows = [
        {"app": "wrf", "nodes": 2, "gpus": None, "runtime": None},
        {"app": "wrf", "nodes": None, "gpus": 4, "runtime": None},
        {"app": None, "nodes": 8, "gpus": 2, "runtime": None},
    ]
    assert filled == columns(person.post(f"{made}/fill", json={"rows": rows, "seed": 4}))
    for body in ({}, {"rows": rows, "dataset": there}):
        assert person.post(f"{made}/fill", json=body).status_code == 422
    unknown = person.post(f"{made}/fill", json={"dataset": "0" * 16})
    assert unknown.status_code == 404


def test_decisions_and_what_is_too_much(person: httpx.Client, made: str) -> None:
    body = {"where": ["nodes <= 8"], "given": {"app": "wrf"}, "count": 60}
    found = person.post(f"{made}/decide", json=body).json()
    assert found["report"]["rows"] == 60
    assert sum(one["share"] for one in found["choices"]) <= 1.0001
    for task, much in (("sample", {"count": 10_001}),
                       ("fill", {"rows": [{"nodes": 1}] * 20, "draws": 5000})):  # fmt: skip
        reply = person.post(f"{made}/{task}", json=much)
        assert reply.status_code == 422, reply.text


def test_rows_are_judged_against_a_dataset(person: httpx.Client, made: str, data: str) -> None:
    page = person.post(f"{made}/sample", json={"count": 100}).json()
    table = pa.table({n: [row[at] for row in page["rows"]] for at, n in enumerate(page["names"])})
    file = io.BytesIO()
    pv.write_csv(table, file)
    synthetic = upload(person, file.getvalue()).json()["id"]
    body = {"real": data, "synthetic": synthetic, "target": "runtime"}
    report = person.post(f"{API}/synthesizers/check", json=body)
    assert report.status_code == 200, report.text
    assert {"dissimilarity", "two-sample AUC"} <= {m["name"] for m in report.json()["measures"]}


def test_they_are_listed_private_and_deleted(
    server: Server, person: httpx.Client, data: str
) -> None:
    body = {"dataset": data, "synthesizer": "copula", "name": "thin", "settings": {"epochs": 3}}
    assert person.post(f"{API}/synthesizers", json=body).status_code == 422  # it has no settings
    body.pop("settings")
    made = person.post(f"{API}/synthesizers", json=body, params={"wait": 60}).json()
    assert made["id"] in {one["id"] for one in person.get(f"{API}/synthesizers").json()}
    with server.newcomer() as other:
        assert other.get(f"{API}/synthesizers/{made['id']}").status_code == 404
        assert other.post(f"{API}/synthesizers/{made['id']}/sample", json={}).status_code == 404
    assert person.delete(f"{API}/synthesizers/{made['id']}").status_code == 204
    assert person.post(f"{API}/synthesizers/{made['id']}/sample", json={}).status_code == 404
    unknown = person.post(f"{API}/synthesizers", json={**body, "synthesizer": "cort"})
    assert unknown.status_code == 422
    assert "cart" in unknown.json()["hint"]
