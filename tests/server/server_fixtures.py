"""A server that tests share, and what they ask it. Test files name this as a plug-in."""

import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from server_case import API, Server, dataset, fit, jobs_csv, serving, shared_engine

import compass as cp
from compass.settings import ForestSettings, TrustSettings
from conftest import ROLES


@pytest.fixture(scope="session")
def jobs_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served") / "offered.csv"
    path.write_bytes(jobs_csv(120))
    return path


@pytest.fixture(scope="session")
def saved(jobs_file: Path) -> Path:
    """A saved engine, so that servers need not fit one."""
    few = cp.Settings(
        surrogate="forest", forest=ForestSettings(trees=5), trust=TrustSettings(trees=2)
    )
    data = cp.read(jobs_file).roles(**ROLES)
    return cp.Compass(data, settings=few).fit().save(jobs_file.parent / "engine")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Iterator[Server]:
    """A server with its default limits, for tests that leave its settings alone."""
    state = tmp_path_factory.mktemp("shared") / "state"
    with serving(saved, state, "--limit", "ask_workers=2") as running:
        yield running


@pytest.fixture(scope="session")
def person(server: Server) -> Iterator[httpx.Client]:
    with server.newcomer() as client:
        yield client


@pytest.fixture(scope="session")
def offered(person: httpx.Client) -> str:
    """The engine that the server offers to everybody."""
    return shared_engine(person)


@pytest.fixture(scope="session")
def data(person: httpx.Client) -> str:
    return dataset(person)


@pytest.fixture(scope="session")
def engine_id(person: httpx.Client, data: str) -> str:
    return fit(person, data)


@pytest.fixture
def stranger(server: Server) -> Iterator[httpx.Client]:
    with server.newcomer() as client:
        yield client
        client.delete(f"{API}/workspaces/mine")


@pytest.fixture
def logged() -> Iterator[None]:
    """Whatever a test does to logs, they are as they were afterwards."""
    loggers = [
        logging.getLogger(name) for name in ("", "uvicorn", "uvicorn.error", "compass.server")
    ]
    before = [(one, one.handlers[:], one.level, one.propagate) for one in loggers]
    yield
    logging.captureWarnings(False)
    logging.raiseExceptions = True
    for logger, handlers, level, propagate in before:
        logger.handlers[:] = handlers
        logger.setLevel(level)
        logger.propagate = propagate
