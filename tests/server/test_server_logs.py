"""Logs tell an operator what happened, and nothing that people have, ask or are called."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from server_case import API, Server, ask, csv_of, job_over, serving, shared_engine, upload

from conftest import cluster_columns

pytest_plugins = ("server_fixtures",)
SECRET = "zxqv"  # in everything that people send


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Iterator[tuple[Server, str]]:
    """A server that was sent secrets in every way, and all that it logged."""
    folder = tmp_path_factory.mktemp("logs")
    allowed = folder / f"{SECRET}-folder"
    allowed.mkdir()
    (allowed / f"{SECRET}.csv").write_bytes(b"a,b\n1,2\n")
    words = ("--allow", str(allowed), "--limit", "ask_workers=1")
    with serving(saved, folder / "state", *words, COMPASS_TOKEN=f"{SECRET}-token") as server:
        with server.newcomer() as client:
            keys = [client.headers["Compass-Workspace"]]
            _talk(client, allowed)
        with httpx.Client(base_url=server.url, trust_env=False) as rude:
            _shout(rude, f"{SECRET}-token")
    yield server, server.log.read_text() + "".join(keys[:0])
    assert not any(key.partition(".")[2] in server.log.read_text() for key in keys)


def _talk(client: httpx.Client, allowed: Path) -> None:
    columns = cluster_columns(60)
    named = {f"{SECRET} {name}": values for name, values in columns.items()}
    named[f"{SECRET} app"] = [f"{SECRET}-{value}" for value in columns["app"]]
    made = upload(client, csv_of(named), f"{SECRET}.csv").json()["id"]
    client.get(f"{API}/datasets/{made}/columns")
    client.get(f"{API}/datasets/{made}/rows")
    client.put(f"{API}/datasets/{made}/study", json={"columns": {SECRET: {"role": "knob"}}})
    client.put(f"{API}/datasets/{made}/study", json={SECRET: 1})
    client.post(f"{API}/datasets/{made}/rules/check", json={"rules": [f"{SECRET} < 3", SECRET]})
    for content in (b"", b"\0" + SECRET.encode(), f"{SECRET}\n\xff".encode("latin-1"), b"PAR1zxqv"):
        upload(client, content, f"{SECRET}.csv")
        upload(client, content, f"{SECRET}.parquet")
        client.post(f"{API}/models/upload", params={"name": f"{SECRET}.onnx"}, content=content)
    for path in (f"{SECRET}.csv", "none.csv", ".", f"../{SECRET}"):
        client.post(f"{API}/datasets/from-path", json={"path": str(allowed / path), "name": SECRET})
    engine = shared_engine(client)
    ask(client, engine, f"Recommend X = {{{SECRET}: ?}} to achieve Y = {{runtime: minimize}}")
    ask(client, engine, SECRET)
    ask(client, engine, where=[f"app == '{SECRET}'"])
    ask(client, engine, run={SECRET: SECRET})
    answer = ask(client, engine).json()["id"]
    client.post(f"{API}/answers/{answer}/exports/sbatch", json={"template": f"{{{SECRET}}}"})
    job = client.post(
        f"{API}/engines", params={"wait": 0}, json={"dataset": made, "surrogate": SECRET}
    ).json()
    job_over(client, job["id"])
    chat = client.post(f"{API}/chats", json={"engine": engine}).json()["id"]
    client.post(f"{API}/chats/{chat}/messages", json={"text": f"run {SECRET} faster"})
    client.post(
        f"{API}/engines/{engine}/tell",
        params={"wait": 60},
        json={"names": [SECRET], "rows": [[SECRET]]},
    )


def _shout(client: httpx.Client, token: str) -> None:
    signed = {"Authorization": f"Bearer {token}"}
    client.get(f"{API}/{SECRET}", headers=signed)
    client.get(f"{API}/datasets?{SECRET}={SECRET}", headers=signed | {"Compass-Workspace": SECRET})
    client.get(
        f"{API}/about", headers=signed | {"Host": SECRET, "User-Agent": SECRET, "Cookie": SECRET}
    )
    client.get(f"{API}/about", headers={"Authorization": f"Bearer {SECRET}"})
    client.get(f"{API}/about", headers=signed | {"Origin": SECRET, "Referer": SECRET})
    client.request(SECRET.upper(), f"{API}/about", headers=signed)
    client.post(f"{API}/chats", content=SECRET.encode(), headers=signed)


def test_a_token_that_was_given_is_not_printed(talked: tuple[Server, str]) -> None:
    server, _ = talked
    assert SECRET not in server.said
    assert "every request needs the token that was given" in server.said


def test_nothing_that_people_sent_is_in_the_log(talked: tuple[Server, str]) -> None:
    text = talked[1]
    assert SECRET not in text.lower()
    assert "Traceback" not in text


def test_every_line_is_json_with_a_time_and_an_event(talked: tuple[Server, str]) -> None:
    lines = [json.loads(line) for line in talked[1].splitlines()]
    assert all({"time", "level", "event"} <= set(line) for line in lines)
    assert [line["event"] for line in lines[:1]] == ["started"]
    assert lines[-1]["event"] == "stopped"
    requests = [line for line in lines if line["event"] == "request"]
    assert len(requests) > 40
    assert {line["status"] for line in requests} >= {200, 201, 401, 403, 404, 422}
    assert all(line["status"] < 500 for line in requests)


def test_routes_are_told_as_patterns(talked: tuple[Server, str]) -> None:
    lines = [json.loads(line) for line in talked[1].splitlines()]
    routes = {line["route"] for line in lines if line["event"] == "request"}
    assert "/api/v1/datasets/{id}/rows" in routes
    assert "other" in routes
