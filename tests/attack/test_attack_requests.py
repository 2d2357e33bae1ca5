"""Bad requests over every route, with real things of every kind: no answer is a fault.

A request that would be served is changed in one to three places: a part is left out, or becomes
something that no page would send. Unlike requests that are made from the document alone
(tests/server/test_server_schema.py), these get past the first checks. COMPASS_API_EXAMPLES sets how
many requests each operation gets.
"""

import os
import random
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.csv
import pytest

sys.path.append(str(Path(__file__).parents[1] / "server"))

from server_case import (
    API,
    NOTHING,
    STUDY,
    Server,
    ask,
    dataset,
    fit,
    serving,
    small_model,
    upload,
)
from tests.platforms.machine_law import roofline_table

from benchmarks.schedule.advice.dump import lines
from compass.domain.api import Problem

EXAMPLES = int(os.environ.get("COMPASS_API_EXAMPLES", "2"))
WORDS = ["--user-header", "X-Remote-User", "--groups-header", "X-Remote-Groups"]
WORDS += ["--proxy", "127.0.0.1", "--operator", "olga"]
for _limit in ("ask_workers=1", "body_bytes=262144"):
    WORDS += ["--limit", _limit]
ROW = {"nodes": 2, "gpus": 1, "cores": 16, "app": "wrf", "size": 100, "runtime": 9.5}
RECOMMEND = "Recommend X = {gpus: ?, nodes: ?} to achieve Y = {runtime: minimize}"
QUERY = {
    "kind": "reconfigure",
    "ask": ["gpus", "cores"],
    "goals": {"runtime": {"kind": "change", "direction": "reduce", "by": 0.1}},
    "baseline": {"kind": "row", "row": 3},
    "count": 1,
    "weights": {"gpus": 2.0},
}
PLAN = {
    "columns": {
        "threads": {"allowed": [1, 2, 4]},
        "tile": {"low": 16, "high": 64, "step": 16},
        "app": {"values": ["a", "b"]},
    },
    "rules": ["threads * tile <= 128"],
    "fixed": {"app": "a"},
    "goals": {"runtime": "minimize", "power": "minimize"},
    "weights": {"runtime": 2.0},
    "budget": 4,
    "starts": 2,
    "repeats": 1,
    "seed": 3,
}
RUN = {"threads": 2, "tile": 16, "runtime": 1.5, "power": 100}


def _nested(deep: int) -> Any:
    found: Any = 1
    for _ in range(deep):
        found = [found]
    return found


# In the place of something that makes sense.
ODD: tuple[Any, ...] = (
    *(None, True, "", " ", "\0", "nothing", "nodes", "runtime", "app", "threads"),
    *(
        "=1+1",
        "<script>",
        "../../etc/passwd",
        "{gpus}",
        "$(id)",
        "`",
        "'",
        '"',
        "\\",
        "\u2028\x1b[2J",
    ),
    *(
        "ä" * 300,
        "x" * 30_000,
        "(" * 500,
        "not " * 200 + "a",
        "1" * 400,
        "1e999",
        "nan",
        "-inf",
        "😀",
    ),
    *(0, -1, 1, 3, 10**6, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**40, 0.5, -0.0, 1e-320, 1e308),
    *([], {}, [[]], [None], [""], {"": 1}, {"nodes": None}, {"nodes": [1, 2]}, {"kind": "?"}),
    *([1] * 2000, ["nodes"] * 300, _nested(60), {"a": {"b": {"c": {}}}}),
    *({"kind": "within", "low": 5, "high": 1}, {"row": 10**9}, "minimize", "<= nan", "a == b"),
)


def person(server: Server, name: str = "olga") -> httpx.Client:
    return server.client("mine", **{"X-Remote-User": name, "X-Remote-Groups": "climate"})


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(NOTHING, tmp_path_factory.mktemp("requests") / "state", *WORDS) as running:
        yield running


@pytest.fixture(scope="module")
def real(centre: Server) -> dict[str, str]:
    """One real thing of each kind."""
    with person(centre) as client:
        data = dataset(client, 120)
        engine = fit(client, data)
        answer = ask(client, engine).json()["id"]
        chat = client.post(f"{API}/chats", json={"engine": engine}).json()["id"]
        plan = {"name": "tune", "plan": PLAN}
        begun = client.post(f"{API}/experiments", json=plan)
        assert begun.status_code == 201, begun.text
        experiment = begun.json()["id"]
        told = client.post(f"{API}/experiments/{experiment}/tell", json={"results": [RUN]})
        assert told.status_code == 200, told.text
        learnt = client.post(
            f"{API}/synthesizers", json={"dataset": data, "seed": 3}, params={"wait": 60}
        )
        assert learnt.status_code == 201, learnt.text
        job = client.get(f"{API}/jobs").json()[0]["id"]
        model = client.post(
            f"{API}/models/upload", params={"name": "mine.txt"}, content=small_model()
        )
        assert model.status_code == 201, model.text
        jobs = upload(client, "\n".join(lines(60, 6)).encode(), "jobs.csv")
        assert jobs.status_code == 201, jobs.text
        table = pa.BufferOutputStream()
        pyarrow.csv.write_csv(roofline_table(6).arrow, table)
        machines = upload(client, table.getvalue().to_pybytes(), "machines.csv")
        assert machines.status_code == 201, machines.text
        return {
            "datasets": data,
            "accounting": jobs.json()["id"],
            "machines": machines.json()["id"],
            "engines": engine,
            "answers": answer,
            "chats": chat,
            "experiments": experiment,
            "synthesizers": learnt.json()["id"],
            "models": model.json()["id"],
            "jobs": job,
        }


def bodies(real: dict[str, str]) -> dict[str, Any]:
    """What each operation that takes something would serve."""
    question = {
        "question": QUERY,
        "prove": 0,
        "count": 1,
        "seed": 1,
        "curve": ["gpus"],
        "level": 0.9,
    }
    study = {**STUDY, "rules": ["cores <= 32 * nodes"]}
    drawn = {"count": 5, "where": ["nodes <= 4"], "given": {"app": "wrf"}, "seed": 1}
    request = {"user": "u1", "name": "app1", "limit": 3600.0, "memory": 1e9, "cores": 4, "nodes": 1}
    data, engine = real["datasets"], real["engines"]
    return {
        "POST /answers/{id}/exports/sbatch": {"template": "run {gpus} ${x}"},
        "PUT /answers/{id}/name": {"name": "mine"},
        "POST /chats": {"engine": engine},
        "POST /chats/{id}/answers": {"answer": real["answers"]},
        "PUT /chats/{id}/draft": {"kind": "recommend", "ask": ["gpus"], "where": ["nodes <= 4"]},
        "POST /chats/{id}/messages": {"text": "make wrf faster with at most 4 nodes"},
        "POST /datasets/from-catalogue": {"name": "none"},
        "POST /datasets/from-path": {"path": "/etc/passwd", "name": "x"},
        "POST /datasets/{id}/advice": {"request": request, "last": 5, "risk": 0.1},
        "POST /datasets/{id}/columns/check": {"study": study, "mine": True},
        "POST /datasets/{id}/machines": {
            "application": "app01",
            "source": "quartz",
            "machines": ["ruby", "lassen"],
            "prices": {"ruby": 2.0},
        },
        "POST /datasets/{id}/rules/check": {"rules": ["cores <= 32 * nodes", "app in {'wrf'}"]},
        "PUT /datasets/{id}/study": study,
        "POST /engines": {"dataset": data, "surrogate": "linear", "rules": ["nodes <= 8"]},
        "POST /engines/{id}/answers": question,
        "POST /engines/{id}/columns/check": {"study": study},
        "POST /engines/{id}/curves": {"run": ROW, "parameters": ["gpus"], "outcomes": ["runtime"]},
        "POST /engines/{id}/explanations": {"run": 3, "against": 5, "outcomes": ["runtime"]},
        "POST /engines/{id}/findings": {"topic": "importance", "outcome": "runtime", "places": []},
        "POST /engines/{id}/outcomes": {"outcome": "runtime"},
        "POST /engines/{id}/queries": {"question": RECOMMEND, "where": ["nodes <= 4"]},
        "POST /engines/{id}/run-next": {"question": RECOMMEND, "runs": 1, "pending": []},
        "POST /engines/{id}/tell": {"names": list(ROW), "rows": [list(ROW.values())] * 3},
        "POST /experiments": {"name": "x", "plan": PLAN},
        "POST /experiments/{id}/add": {"configs": [{"threads": 4, "tile": 16}], "repeats": 1},
        "POST /experiments/{id}/attach": {"dataset": data, "where": ["nodes <= 4"]},
        "POST /experiments/{id}/cancel": {"runs": []},
        "POST /experiments/{id}/next": {"count": 1, "worker": "w"},
        "POST /experiments/{id}/tell": {"results": [RUN, {"run": 2, "failure": "out of memory"}]},
        "POST /synthesizers": {"dataset": data, "rules": ["nodes <= 8"], "settings": {"least": 5}},
        "POST /synthesizers/check": {"real": data, "synthetic": data, "target": "runtime"},
        "POST /synthesizers/{id}/decide": drawn,
        "POST /synthesizers/{id}/fill": {"rows": [{"app": "wrf", "nodes": None}], "draws": 2},
        "POST /synthesizers/{id}/predict": {"rows": [ROW], "draws": 2, "engine": engine},
        "POST /synthesizers/{id}/sample": drawn,
    }


QUERIES = {
    "GET /answers/{id}/curves": {"parameter": ["gpus"], "suggestion": 1},
    "GET /answers/{id}/evidence": {"suggestion": 1},
    "GET /answers/{id}/exports/{form}": {"suggestion": 1},
    "POST /answers/{id}/exports/sbatch": {"suggestion": 1},
    "GET /datasets/{id}/rows": {
        "where": ["nodes <= 4"],
        "text": "wrf",
        "sort": "nodes",
        "count": 5,
    },
    "GET /datasets/{id}/rules": {"mine": True},
    "GET /engines/{id}/dependence": {
        "outcome": "runtime",
        "column": "gpus",
        "points": 5,
        "lines": 2,
    },
    "GET /engines/{id}/importance": {"outcome": "runtime", "repeats": 1},
    "GET /engines/{id}/points": {"column": ["nodes", "runtime"], "count": 10},
    "GET /experiments/{id}/runs": {"after": 0, "event": 0, "count": 10},
    "GET /operator/audit": {"day": "2026-11-19", "first": 0, "count": 5},
}
UPLOADS = (b"", b"a,b\n1,2\n", b"\0" * 50, b"PAR1" * 9, b"tree\n", b"nodes,runtime\n1,x\n")
LEARNS = ("POST /engines", "POST /synthesizers", "POST /engines/{id}/tell")


def fits(path: str) -> str:
    """The dataset that an operation on datasets is for."""
    if path.endswith("machines"):
        return "machines"
    return "accounting" if path.endswith(("advice", "usage")) else "datasets"


def changed(chance: random.Random, whole: Any) -> Any:
    """The same with one place changed."""
    made = deepcopy(whole)
    places = list(_places(made))
    if not places:
        return chance.choice(ODD)
    holder, key = chance.choice(places)
    way = chance.random()
    if way < 0.15 and isinstance(holder, dict):
        del holder[key]
    elif way < 0.25 and isinstance(holder, dict):
        holder[str(chance.choice(ODD))[:50]] = chance.choice(ODD)
    elif way < 0.35 and isinstance(holder, list):
        holder.extend([holder[key]] * chance.choice((1, 50)))
    else:
        holder[key] = chance.choice(ODD)
    return made


def _places(part: Any) -> Iterator[tuple[Any, Any]]:
    keys = (
        list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
    )
    for key in keys:
        yield part, key
        yield from _places(part[key])


def request_of(
    chance: random.Random, method: str, path: str, real: dict[str, str]
) -> tuple[str, dict[str, Any]]:
    """An address, and what is sent there."""
    short = f"{method} {path.removeprefix(API)}"
    kind = path.removeprefix(f"{API}/").split("/")[0]
    if kind == "datasets":
        kind = chance.choice((kind, fits(path), fits(path)))
    # A thing that is deleted is gone for the other requests.
    name = real.get(kind, "0" * 16) if method != "DELETE" else "0" * 16
    if chance.random() < 0.1:
        name = chance.choice((*real.values(), "x", "0" * 16, "%2e%2e", "a" * 500, "%00"))
    place = path.replace("{id}", name).replace(
        "{form}", chance.choice(("csv", "sbatch", "python", "x"))
    )
    sent: dict[str, Any] = {"params": {"wait": 0.2}}
    query = {**QUERIES.get(short, {"count": 5, "after": "1.1.0000000000000000"})}
    if method == "GET" and chance.random() < 0.7:
        query = changed(chance, query)
    sent["params"] |= (
        {k: v for k, v in query.items() if v is not None} if isinstance(query, dict) else {}
    )
    if path.endswith("/upload"):
        sent["params"]["name"] = chance.choice(
            ("x.csv", "x.parquet", "m.txt", "m.onnx", "a/b", "x", "\0")
        )
        sent["content"] = chance.choice(UPLOADS)
    elif method in ("POST", "PUT"):
        body: Any = bodies(real).get(short, {})
        for _ in range(chance.choice((1, 1, 2, 3))):
            body = changed(chance, body)
        sent["json"] = body
    return place, sent


def operations(server: Server) -> list[tuple[str, str]]:
    with person(server) as client:
        paths = client.get("/openapi.json").json()["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


def test_every_operation_that_takes_something_is_known(
    centre: Server, real: dict[str, str]
) -> None:
    known = {*bodies(real), "POST /workspaces"}
    for method, path in operations(centre):
        if method in ("POST", "PUT") and not path.endswith("/upload"):
            assert f"{method} {path.removeprefix(API)}" in known


def test_requests_that_were_not_changed_are_served(centre: Server, real: dict[str, str]) -> None:
    """Else what follows would only knock at the door."""
    refused = {
        "POST /datasets/from-path",
        "POST /datasets/from-catalogue",
        "POST /chats/{id}/answers",
    }
    refused |= {"POST /experiments/{id}/attach", "POST /engines/{id}/run-next"}
    wrong = []
    with person(centre) as client:
        for operation, body in bodies(real).items():
            method, path = operation.split()
            kind = path.split("/")[1]
            kind = fits(path) if kind == "datasets" else kind
            place = API + path.replace("{id}", real.get(kind, ""))
            reply = client.request(method, place, json=body, params={"wait": 60})
            if operation not in refused and not reply.is_success:
                wrong.append((operation, reply.text))
    assert not wrong, "\n".join(f"{operation}: {text}" for operation, text in wrong)


def test_no_request_is_answered_by_a_fault(centre: Server, real: dict[str, str]) -> None:
    chance = random.Random(EXAMPLES)
    bad = []
    with person(centre) as client:
        for method, path in operations(centre):
            if path.endswith("/events"):
                continue  # these have no end
            short = f"{method} {path.removeprefix(API)}"
            most = max(2, EXAMPLES // 5) if short in LEARNS else 4 * EXAMPLES
            for _ in range(most):
                place, sent = request_of(chance, method, path, real)
                try:
                    reply = client.request(method, place, timeout=120, **sent)
                except (httpx.InvalidURL, UnicodeEncodeError):
                    continue  # no client sends that
                if reply.status_code >= 500:
                    bad.append((method, place, sent, reply.text[:300]))
                elif reply.status_code >= 400:
                    assert Problem.model_validate(reply.json()).error, reply.text
    assert bad == []
    things = {kind: name for kind, name in real.items() if kind != "accounting"}
    with person(centre) as client:
        for kind, name in things.items():
            assert client.get(f"{API}/{kind}/{name}").status_code in {200, 404}, kind


def test_nothing_went_wrong_behind_it(centre: Server, real: dict[str, str]) -> None:
    events = centre.events()
    assert [one for one in events if one.get("status", 0) >= 500 or "fault" in one] == []
