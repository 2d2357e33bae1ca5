"""Bodies and paths of requests that are made to hurt: each has a clear answer."""

import json
import random
import string
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from pydantic import ValidationError
from server_case import API, RECOMMEND, fair, shared_engine

from compass.domain.base import Noun
from compass.domain.options import AskOptions, FitOptions
from compass.server.routes.engines import NewEngine
from compass.server.routes.queries import Question

pytest_plugins = ("server_fixtures",)
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"question":' * 20_000 + b"1" + b"}" * 20_000,
        b'{"question": ' + b"[" * 900 + b"]" * 900 + b"}",
        b"\xff\xfe",
        b'{"question": "\\ud800"}',
        b'{"\\udfff": 1}',
        b'{"question": "x", "seed": 1e400}',
        b'{"question": "x", "seed": ' + b"9" * 5000 + b"}",
        b'{"question": "x", "weights": {"gpus": NaN}}',
        b'{"question": "x", "diversity": Infinity}',
        b'{"question": "x", "run": -1}',
        b'{"question": "x", "run": 99999999999999999999}',
        b'{"question": "x", "run": {"gpus": NaN}}',
        b'{"question": "x", "count": 0}',
        b'{"question": "x\\u0000y"}',
        b'{"question": null}',
        b"null",
        b"[]",
        b'"x"',
        b"",
    ],
    ids=lambda body: repr(body[:24]),
)
def test_odd_bodies(stranger: httpx.Client, body: bytes) -> None:
    engine = shared_engine(stranger)
    for path in (
        f"engines/{engine}/queries",
        f"engines/{engine}/answers?wait=60",
        "chats",
        "engines",
    ):
        fair(stranger.post(f"{API}/{path}", content=body, headers=JSON), 400, 422)


@pytest.mark.parametrize(
    "more",
    [
        {"weights": {"gpus": float("nan")}},
        {"weights": {"gpus": 1e308, "nodes": -1}},
        {"weights": {"\ud800": 1}},
        {"diversity": float("inf")},
        {"loss": {"valid": float("nan")}},
        {"loss": {"nothing": 1}},
        {"run": {"gpus": float("inf"), "app": "wrf"}},
        {"run": {"gpus": 10**300}},
        {"run": 10**18},
        {"where": ["gpus < " + "9" * 400]},
        {"where": ["(" * 3000 + "gpus" + ")" * 3000 + " < 1"]},
        {"where": ["not " * 1900 + "gpus < 1"]},
        {"where": ["gpus < 1" + " + 1" * 1900]},
        {"where": ["gpus == 'wrf'"]},
        {"where": ["gpus / 0 < 1"]},
        {"where": ["gpus ^ gpus ^ gpus ^ 99999 < 1"]},
        {"where": ["nodes < 1 and nodes > 1"]},
        {"curve": ["nothing"]},
        {"level": 1e-300},
        {"chance": 1e-300, "beyond": True},
        {"chance": 1.0},
        {"chance": "most"},
        {"beyond": 1},
        {"count": 1000, "prove": 0},
        {"count": True},
        {"generator": "nothing"},
        {"generator": "x" * 101},
    ],
    ids=lambda more: json.dumps(more)[:40],
)
def test_odd_questions(stranger: httpx.Client, more: dict[str, Any]) -> None:
    engine = shared_engine(stranger)
    body = json.dumps({"question": RECOMMEND, **more}).encode()
    for path in ("queries", "answers?wait=60"):
        answer = stranger.post(f"{API}/engines/{engine}/{path}", content=body, headers=JSON)
        if answer.status_code != 200:
            fair(answer, 400, 422)


@pytest.mark.parametrize(
    ("noun", "given"),
    [
        (Question, {"where": ["a < 1"] * 201}),
        (Question, {"where": ["x" * 8001]}),
        (Question, {"curve": ["a"] * 51}),
        (Question, {"run": 2**63}),
        (Question, {"generator": "x" * 101}),
        (NewEngine, {"rules": ["a < 1"] * 201}),
        (NewEngine, {"tune": 3601}),
        (NewEngine, {"surrogate": "x" * 101}),
        (NewEngine, {"reducer": ""}),
    ],
)
def test_a_request_has_narrower_limits_than_a_call(noun: type[Noun], given: Any) -> None:
    needed = {Question: {"question": "x"}, NewEngine: {"dataset": "a" * 16}}[noun]
    assert noun.model_validate(needed)
    with pytest.raises(ValidationError):
        noun.model_validate(needed | given)


def test_requests_know_every_option() -> None:
    assert set(AskOptions.model_fields) <= set(Question.model_fields)
    assert set(FitOptions.model_fields) <= set(NewEngine.model_fields)


def test_values_that_no_table_holds(stranger: httpx.Client) -> None:
    engine = shared_engine(stranger)
    for rows in (
        [[10**400]],
        [["\ud800"]],
        [["=1"]],
        [["x" * 10_000]],
        [[None]],
        [[True]],
        [["\0"]],
    ):
        body = json.dumps({"names": ["runtime"], "rows": rows}).encode()
        path = f"{API}/engines/{engine}/tell?wait=60"
        fair(stranger.post(path, content=body, headers=JSON), 400, 422)


def test_noise_in_the_path(stranger: httpx.Client) -> None:
    rng = random.Random(1)
    for _ in range(50):
        noise = "".join(rng.choices(string.punctuation + "é\u2028 a0", k=rng.randint(1, 60)))
        kind = rng.choice(["datasets", "engines", "answers", "jobs", "chats", "models"])
        answer = stranger.get(f"{API}/{kind}/{quote(noise)}")
        assert answer.status_code in {200, 307, 400, 404, 405, 422}, noise


def test_text_that_is_none_is_refused(stranger: httpx.Client) -> None:
    body = b'{"dataset": "0000000000000000", "model_columns": {"a": ["\\ud800"]}}'
    said = stranger.post(
        f"{API}/engines", content=body, headers={"Content-Type": "application/json"}
    )
    assert (said.status_code, said.json()["code"]) == (422, "invalid")


def test_the_chance_and_beyond_are_options_of_a_request(stranger: httpx.Client) -> None:
    path = f"{API}/engines/{shared_engine(stranger)}/queries"
    given = {"question": RECOMMEND, "chance": 0.95, "beyond": True}
    found = stranger.post(path, json=given).json()
    assert found["text"].endswith("chance 95% beyond")
    assert (found["query"]["chance"], found["query"]["beyond"]) == (0.95, True)
    again = stranger.post(path, json={"question": found["query"]}).json()
    assert again == found
    for wrong in ({"chance": 1.0}, {"chance": 0}, {"chance": "most"}, {"beyond": "maybe"}):
        (name,) = wrong
        refused = stranger.post(path, json={"question": RECOMMEND, **wrong})
        fair(refused, 422)
        assert name in refused.text
    schemas = stranger.get("/openapi.json").json()["components"]["schemas"]
    for noun in ("Query", "Question", "RunNextRequest"):
        properties = schemas[noun]["properties"]
        assert "how likely a new run has to meet each goal" in properties["chance"]["description"]
        assert "no past run of this context" in properties["beyond"]["description"]
