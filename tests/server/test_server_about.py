"""What a server tells about itself: health, counters, limits, and its document."""

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from prometheus_client.parser import text_string_to_metric_families
from server_case import API, Server

from compass.domain.api import Problem
from compass.domain.limits import ServerLimits
from compass.server.settings import machine_limits

pytest_plugins = ("server_fixtures",)


def test_it_is_well(person: httpx.Client) -> None:
    assert person.get("/healthz").json()["status"] == "ok"


def test_it_tells_its_limits(person: httpx.Client) -> None:
    told = person.get(f"{API}/about").json()
    assert ServerLimits.model_validate(told["limits"]) == machine_limits(
        ServerLimits(ask_workers=2)
    )
    assert told["uploads"] == ["csv", "tsv", "parquet"]
    assert not told["paths"]
    assert not told["language_model"]


def test_it_tells_what_can_be_chosen_by_name(person: httpx.Client) -> None:
    from compass import registry

    told = {(one["joint"], one["name"]) for one in person.get(f"{API}/plugins").json()}
    assert told == {(one.joint, one.name) for one in registry.listing()}
    assert ("surrogate", "forest") in told


def test_counters_parse_and_count(person: httpx.Client) -> None:
    def count() -> float:
        families = text_string_to_metric_families(person.get("/metrics").text)
        samples = [one for family in families for one in family.samples]
        wanted = {"method": "GET", "route": "/api/v1/about", "status": "200"}
        found = [s for s in samples if s.name == "compass_requests_total" and s.labels == wanted]
        return found[0].value if found else 0.0

    before = count()
    for _ in range(3):
        person.get(f"{API}/about")
    assert count() == before + 3


def test_names_from_outside_make_no_new_counters(person: httpx.Client) -> None:
    person.request("BREW", f"{API}/about")
    person.get("/no/such/place-4711")
    text = person.get("/metrics").text
    assert 'method="other"' in text
    assert 'route="other"' in text
    assert "BREW" not in text
    assert "place-4711" not in text


def test_the_document_is_openapi_3_1_and_complete(person: httpx.Client, server: Server) -> None:
    document = person.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    operations = {
        (method, path): told
        for path, methods in document["paths"].items()
        for method, told in methods.items()
    }
    assert len(operations) > 40
    for (method, path), told in operations.items():
        assert told["description"], (method, path)
        assert any(status.startswith("2") for status in told["responses"])
        for status in ("400", "401", "403", "404", "409", "413", "422", "429", "503"):
            assert status in told["responses"], (method, path, status)
    for schema in document["components"]["schemas"].values():
        if schema["type"] == "object":
            assert schema["additionalProperties"] is False


def test_every_route_is_in_the_document(person: httpx.Client) -> None:
    from importlib import import_module

    from compass.server.app import ROUTES

    app = FastAPI()
    for name in ROUTES:
        app.include_router(import_module(f"compass.server.routes.{name}").router)
    there = {
        (method.lower(), path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    served = {
        (method.lower(), path)
        for path, methods in person.get("/openapi.json").json()["paths"].items()
        for method in methods
    }
    assert served == there
    hidden = [r for r in app.routes if isinstance(r, APIRoute) and not r.include_in_schema]
    assert hidden == []


def test_long_answers_are_packed_for_those_who_can_unpack_them(person: httpx.Client) -> None:
    packed = person.get("/openapi.json")
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < 0.3 * len(packed.content)
    plain = person.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == packed.json()
    assert "content-encoding" not in person.get("/healthz").headers


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/api/v1", "/api/v1/engine", "/../etc/passwd"])
def test_there_is_nothing_else(person: httpx.Client, path: str) -> None:
    missing = person.get(path)
    assert missing.status_code == 404
    assert Problem.model_validate(missing.json()).error
