"""A real server in a process of its own, and ways to talk to it."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from compass.domain.api import Problem
from conftest import cluster_columns

API = "/api/v1"
RULES = ("cores <= 32 * nodes", "cores >= 8 * nodes")
RECOMMEND = "Recommend X = {gpus: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}"
RECONFIGURE = (
    "Reconfigure X = {gpus: ?, nodes: ?, cores: ?} to achieve Y = {runtime: reduce by 10%}"
)
NOTHING = Path(__file__)  # no table, for servers that need no engine: they are up sooner
QUICK = {"surrogate": "forest", "seed": 3}
# One outcome, so that an engine is there soon.
STUDY: dict[str, Any] = {
    "columns": {
        **{name: {"role": "knob"} for name in ("nodes", "cores", "gpus")},
        **{name: {"role": "context"} for name in ("app", "size")},
        "runtime": {"role": "outcome", "unit": "s"},
    },
    "drop": ["power", "state"],
}
_PATIENCE = 120.0  # for what must happen; never for how quickly it does


def csv_of(columns: Mapping[str, Sequence[object]]) -> bytes:
    """A table as the content of a CSV file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def jobs_csv(rows: int = 240) -> bytes:
    """A small table of jobs."""
    return csv_of(cluster_columns(rows))


def small_model() -> bytes:
    """A model that somebody brings, as LightGBM writes it."""
    import lightgbm
    import numpy as np

    columns = cluster_columns(60)
    names = ["nodes", "cores", "gpus"]
    X = np.column_stack([columns[name] for name in names]).astype(float)
    frame = lightgbm.Dataset(X, np.array(columns["runtime"]), feature_name=names)
    small = {"num_leaves": 4, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}
    return lightgbm.train(small, frame, num_boost_round=3).model_to_string().encode()


@dataclass
class Server:
    """A running server."""

    process: "subprocess.Popen[str]"
    url: str
    said: str
    state: Path
    log: Path
    given: str | None = None  # the token that it was started with

    @property
    def token(self) -> str | None:
        """The token that it was given, or that it made and printed."""
        found = [line for line in self.said.splitlines() if line.startswith("token: ")]
        return found[0].removeprefix("token: ") if found else self.given

    def client(self, key: str | None = None, **headers: str) -> httpx.Client:
        """Somebody who talks to it, with the key of a workspace."""
        sent = dict(headers)
        if key is not None:
            sent["Compass-Workspace"] = key
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        return httpx.Client(base_url=self.url, headers=sent, timeout=_PATIENCE, trust_env=False)

    def newcomer(self) -> httpx.Client:
        """Somebody with a workspace of their own."""
        with self.client() as client:
            made = client.post(f"{API}/workspaces")
            assert made.status_code == 201, made.text
        return self.client(made.json()["key"])

    def workers(self) -> list[psutil.Process]:
        """Its working processes."""
        return psutil.Process(self.process.pid).children()

    def kill(self) -> list[psutil.Process]:
        """Kill it as a failure of power would; the working processes that it had."""
        workers = self.workers()
        self.process.kill()
        self.process.wait()
        return workers

    def stop(self) -> int:
        """Tell it to stop; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=_PATIENCE)

    def events(self) -> list[dict[str, Any]]:
        """What it logged."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def start(
    source: Path | str, state: Path, *words: str, listens: str = "", **environment: str
) -> Server:
    """Start `compass serve`, and wait until it listens; on a Unix socket if one is said."""
    state.parent.mkdir(parents=True, exist_ok=True)
    log = state.parent / f"{state.name}-{time.monotonic_ns()}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "compass.cli.main", "serve", str(source)),
                *("--port", "0", "--state", str(state), *words),
            ],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | environment,
        )
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if line.startswith("stop with"):
            break
    else:
        process.stdout.close()
        raise AssertionError(f"the server ended with {process.wait()}: {log.read_text()}")
    url = said.split("listens on ")[1].split()[0].replace("0.0.0.0", "127.0.0.1")
    token = words[words.index("--token") + 1] if "--token" in words else None
    server = Server(process, url, said, state, log, environment.get("COMPASS_TOKEN", token))
    if not listens:
        until(lambda: answers(server))
    return server


def answers(server: Server) -> bool:
    """Whether it answers at all."""
    try:
        return httpx.get(f"{server.url}/healthz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def serving(source: Path | str, state: Path, *words: str, **environment: str) -> Iterator[Server]:
    """A server for the length of a block; it must end well."""
    server = start(source, state, *words, **environment)
    try:
        yield server
        assert server.stop() == 0
    finally:
        server.process.kill()
        server.process.wait()
        assert server.process.stdout is not None
        server.process.stdout.close()


def until(true: Callable[[], Any], seconds: float = _PATIENCE) -> Any:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
    return found


def gone(processes: Sequence[psutil.Process]) -> bool:
    """Whether processes have ended; one that waits to be buried has."""
    return not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes)


def upload(
    client: httpx.Client, content: Any, name: str = "jobs.csv", **more: Any
) -> httpx.Response:
    """Upload a dataset."""
    return client.post(
        f"{API}/datasets/upload", params={"name": name, "wait": 60, **more}, content=content
    )


def dataset(client: httpx.Client, rows: int = 240, study: Any = STUDY) -> str:
    """A dataset of jobs whose columns are explained; its id."""
    made = upload(client, jobs_csv(rows))
    assert made.status_code == 201, made.text
    said = client.put(f"{API}/datasets/{made.json()['id']}/study", json=study)
    assert said.status_code == 200, said.text
    return str(made.json()["id"])


def fit(client: httpx.Client, data: str, **options: Any) -> str:
    """An engine that has learnt all outcomes of a dataset; its id."""
    made = prepared(client, data, **options)
    for outcome in outcomes(client, made):
        done = client.post(
            f"{API}/engines/{made}/outcomes", params={"wait": 60}, json={"outcome": outcome}
        )
        assert done.status_code == 200, done.text
    return made


def outcomes(client: httpx.Client, engine: str) -> list[str]:
    """The outcomes of an engine, whether it has learnt them or not."""
    space = client.get(f"{API}/engines/{engine}").json()["space"]
    return [one["name"] for one in space["parameters"] if one["role"] == "outcome"]


def learnt(client: httpx.Client, engine: str) -> list[str]:
    """The outcomes that an engine has learnt."""
    return [card["target"] for card in client.get(f"{API}/engines/{engine}").json()["models"]]


def prepared(client: httpx.Client, data: str, **options: Any) -> str:
    """An engine that has learnt nothing of a dataset yet; its id."""
    made = client.post(
        f"{API}/engines",
        params={"wait": 60},
        json={"dataset": data, "rules": RULES, **QUICK, **options},
    )
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def shared_engine(client: httpx.Client) -> str:
    """The engine that the operator offers; its id."""

    def offered() -> Any:
        found = client.get(f"{API}/engines").json()
        return [one["id"] for one in found if one["shared"]]

    return str(until(offered)[0])


def ask(
    client: httpx.Client, engine: str, question: Any = RECOMMEND, **more: Any
) -> httpx.Response:
    """An answer."""
    wait = more.pop("wait", 60)
    return client.post(
        f"{API}/engines/{engine}/answers",
        params={"wait": wait},
        json={"question": question, **more},
    )


def job_over(client: httpx.Client, name: str) -> dict[str, Any]:
    """A job once it is over."""

    def over() -> Any:
        found = client.get(f"{API}/jobs/{name}").json()
        return found if found["state"] not in {"waiting", "running"} else None

    return dict(until(over))


def stages(client: httpx.Client, name: str) -> Iterator[dict[str, Any]]:
    """A job as it is told in its stream of events."""
    with client.stream("GET", f"{API}/jobs/{name}/events") as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def left_over(server: Server) -> list[str]:
    """What is on its way."""
    return os.listdir(server.state / "passing")


def left_by_people(server: Server) -> list[str]:
    """What is on its way but for the engine that the server itself offers."""
    return [name for name in left_over(server) if not name.startswith("shared-")]


def fair(answer: httpx.Response, *statuses: int) -> dict[str, Any]:
    """A refusal that a person can act on, which says nothing about the server itself."""
    assert answer.status_code in statuses, answer.text
    told: dict[str, Any] = answer.json()
    problem = Problem.model_validate(told)
    assert problem.hint
    assert "/state/" not in answer.text
    assert "Traceback" not in answer.text
    return told
