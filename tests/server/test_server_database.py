"""Two servers that share a state: whichever a request lands on, it is answered the same."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from server_case import (
    API,
    ask,
    dataset,
    fit,
)
from server_pair import Pair, pair

from postgres_lab import PostgresLab

pytest_plugins = ("server_fixtures",)


@pytest.fixture(scope="module")
def two(
    tmp_path_factory: pytest.TempPathFactory, postgres: PostgresLab, saved: Path
) -> Iterator[Pair]:
    state = tmp_path_factory.mktemp("two") / "state"
    with pair(postgres, saved, state) as found:
        yield found


@pytest.fixture(scope="module")
def person(two: Pair) -> Iterator[httpx.Client]:
    with two.newcomer() as client:
        yield client


@pytest.fixture(scope="module")
def data(person: httpx.Client) -> str:
    return dataset(person)


@pytest.fixture(scope="module")
def engine(person: httpx.Client, data: str) -> str:
    return fit(person, data)


def test_a_session_may_land_on_either_server(person: httpx.Client, engine: str, two: Pair) -> None:
    first = ask(person, engine)
    assert first.status_code == 200, first.text
    made = first.json()["id"]
    with two.at(0, person) as here, two.at(1, person) as there:
        for path in (
            *("datasets", "engines", "answers", "workspaces/mine"),
            *(f"answers/{made}", f"answers/{made}/evidence", f"answers/{made}/exports/csv"),
        ):
            told = [one.get(f"{API}/{path}") for one in (here, there)]
            assert told[0].status_code == 200
            assert told[0].text == told[1].text
