"""The API against its own document: random requests get no fault and no undocumented answer.

Requests are generated from /openapi.json. So that they reach deep, most of them carry the key of
a real workspace, names of real things and questions that can be answered; the rest is left as it
was generated. Left out are only DELETE of real things, which would take them from the other
requests, and the events of a real experiment, which have no end. That all wrong data is refused is
not checked, since a wrong part may have been replaced by a real one. COMPASS_API_EXAMPLES sets how
many requests each operation gets.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.errors import UnsupportedSchema
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from server_case import (
    API,
    RECOMMEND,
    RECONFIGURE,
    Server,
    ask,
    job_over,
    serving,
    shared_engine,
    upload,
)

from compass.server.app import ROUTES
from conftest import cluster_columns

pytest_plugins = ("server_fixtures",)
EXAMPLES = int(os.environ.get("COMPASS_API_EXAMPLES", "2"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]
LEARNS = ("/engines", "/synthesizers", "/check", "/tell", "/tell/upload")
TAGS = ROUTES  # every noun has one file of routes, and is called like it
QUESTIONS = (RECOMMEND, RECONFIGURE, "Recommend X = {nodes: ?} to achieve Y = {power: <= 100}")
REAL = {  # parts of requests that say something, by their name
    "question": st.sampled_from(QUESTIONS),
    "questions": st.lists(st.sampled_from(QUESTIONS), max_size=2),
    "run": st.one_of(st.none(), st.integers(0, 130), st.just({"nodes": 2, "gpus": 1})),
    "against": st.one_of(st.none(), st.integers(0, 130)),
    "outcomes": st.sampled_from([["runtime"], [], ["power", "state"], ["nodes"]]),
    "parameters": st.sampled_from([["gpus"], ["nodes", "cores"], ["runtime"]]),
    "where": st.sampled_from([[], ["nodes <= 4"], ["nodes < 1"], ["nodez < 1"]]),
    "curve": st.sampled_from([[], ["gpus"], ["nothing"]]),
    "weights": st.sampled_from([None, {"gpus": 2.0}, {"gpus": -1}, {"nothing": 1}]),
    "loss": st.sampled_from([None, {"valid": 2}, {"valid": -1}, {"nothing": 1}]),
    "prove": st.sampled_from([None, 0, 1]),
    "count": st.sampled_from([None, 1, 3]),
    "names": st.just(["nodes", "gpus", "cores", "app", "size", "runtime", "power", "state"]),
    "rows": st.just([[2, 1, 16, "wrf", 100, 9.5, 300, "COMPLETED"]]),
    "rules": st.sampled_from([[], ["cores <= 32 * nodes"], ["cores <"], ["app == 'wrf'"]]),
    "surrogate": st.sampled_from(["linear", "nothing"]),
    "reducer": st.none(),
    "represent": st.none(),
    "generator": st.none(),
    "keep": st.none(),
    "tune": st.none(),
    "models": st.just({}),
    "model_columns": st.just({}),
    "text": st.sampled_from(["make wrf faster", "yes", "why?", "with at most 4 nodes", "undo"]),
    "template": st.sampled_from(["run {gpus}", "{nothing}", "{{", "}"]),
    "outcome": st.sampled_from(["runtime", "state", "nodes", "nothing"]),
    "column": st.sampled_from(["gpus", "app", "runtime", "nothing"]),
    "parameter": st.sampled_from([["gpus"], ["nothing"]]),
    "suggestion": st.sampled_from([1, 1, 2, 999]),
    "first": st.sampled_from([0, 5, 10**6]),
    "name": st.sampled_from(["x.csv", "x.parquet", "x.txt"]),
    "path": st.sampled_from(["/etc/passwd", "../x.csv", "x"]),
    "pasted": st.sampled_from(["4711", "#SBATCH -t 1", "#SBATCH -t x", "JobID|User\n1|me", "what"]),
    "wait": st.sampled_from([0, 0.1]),
}


@pytest.fixture(scope="module")
def facing(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Iterator[Server]:
    """A server whose work is short."""
    words = []
    for limit in ("fit_seconds=3", "query_seconds=20", "body_bytes=65536", "upload_bytes=65536"):
        words += ["--limit", limit]
    state = tmp_path_factory.mktemp("schema") / "state"
    with serving(saved, state, *words) as running:
        yield running


@pytest.fixture(scope="module")
def real(facing: Server) -> dict[str, str]:
    """The key of a workspace, and one real thing of each kind."""
    with facing.newcomer() as client:
        engine = shared_engine(client)
        columns = {name: values[:40] for name, values in cluster_columns(40).items()}
        rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
        made = upload(client, "\n".join([",".join(columns), *rows]).encode()).json()["id"]
        job = ask(client, engine, RECONFIGURE, run=1, wait=0).json()["id"]
        assert job_over(client, job)["state"] == "done"
        answer = ask(client, engine).json()["id"]
        chat = client.post(f"{API}/chats", json={"engine": engine}).json()["id"]
        plan = {"columns": {"threads": {"allowed": [1, 2]}}, "goals": {"runtime": "minimize"}}
        begun = client.post(f"{API}/experiments", json={"plan": plan})
        experiment = begun.json()["id"]
        return {
            "key": client.headers["Compass-Workspace"],
            "datasets": made,
            "engines": engine,
            "answers": answer,
            "chats": chat,
            "experiments": experiment,
            "synthesizers": "0" * 16,  # real ones of these: tests/attack/test_attack_requests.py
            "jobs": job,
            "models": "0" * 16,
        }


@pytest.fixture(scope="module")
def schema(facing: Server) -> Any:
    found = schemathesis.openapi.from_url(f"{facing.url}/openapi.json", timeout=120)
    found.config.update(base_url=facing.url)
    return found


def made_real(case: Any, real: dict[str, str], data: st.DataObject) -> None:
    """Put real things into a request in most cases, each by a choice of its own."""

    def often() -> bool:
        return data.draw(st.integers(0, 9)) < 8

    # Not what would be gone for other requests, nor a stream that goes on for ever.
    keep_all = case.method == "DELETE" or case.path == f"{API}/experiments/{{id}}/events"
    case.headers = dict(case.headers or {})
    if not (keep_all and case.path.endswith("/mine")) and often():
        case.headers["Compass-Workspace"] = real["key"]
    kind = case.path.removeprefix(f"{API}/").split("/")[0]
    if "id" in (case.path_parameters or {}) and not keep_all and often():
        case.path_parameters["id"] = real[kind]
    for part in (case.query, case.body):
        if not isinstance(part, dict):
            continue
        for name in sorted(part):
            if name in ("dataset", "engine", "answer") and often():
                part[name] = real[f"{name}s"]
            elif name in REAL and (often() or name in ("wait", "surrogate", "tune")):
                part[name] = data.draw(REAL[name])
    if "events" in case.path:
        case.query = {}


def tried(operation: Any, real: dict[str, str]) -> None:
    """Send many requests to an operation, and check every answer."""
    right, wrong = (
        operation.as_strategy(generation_mode=mode)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    )
    # What learns takes seconds, and is tried less often.
    learns = operation.method.upper() == "POST" and operation.path.endswith(LEARNS)

    @settings(
        max_examples=max(3, EXAMPLES // 5) if learns else EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def behaves(data: st.DataObject) -> None:
        try:
            case = data.draw(wrong if data.draw(st.booleans()) else right)
        except UnsupportedSchema:  # it cannot turn every part of a document into its opposite
            case = data.draw(right)
        made_real(case, real, data)
        answer = case.call(timeout=120)
        case.validate_response(answer, checks=CHECKS)

    behaves()


@pytest.mark.parametrize("tag", TAGS)
def test_no_request_gets_an_answer_that_is_not_documented(
    tag: str, schema: Any, facing: Server, real: dict[str, str]
) -> None:
    operations = [one.ok() for one in schema.get_all_operations()]
    chosen = [one for one in operations if one.definition.raw["tags"] == [tag]]
    assert chosen
    for operation in chosen:
        tried(operation, real)


def test_every_operation_was_tried(schema: Any) -> None:
    operations = [one.ok() for one in schema.get_all_operations()]
    assert {tag for one in operations for tag in one.definition.raw["tags"]} == set(TAGS)


def test_nothing_went_wrong_behind_it(facing: Server, real: dict[str, str]) -> None:
    events = facing.events()
    assert [one for one in events if "fault" in one or one["level"] != "info"] == []
    assert [one for one in events if one.get("status", 0) in {500, 502, 504}] == []
