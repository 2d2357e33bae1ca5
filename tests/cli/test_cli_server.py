"""`--server URL`: every command says what it says without one, and what a server adds."""

import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_case import Result, compass, refused, write_csv

import compass as cp
from conftest import cluster_columns
from served import Served, served

ASK = "Recommend X = {gpus: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}"
CHANGE = "Reconfigure X = {gpus: ?, nodes: ?} to achieve Y = {runtime: reduce by 10%}"
HOPELESS = "Reconfigure X = {gpus: ?} to achieve Y = {runtime: reduce by 99%}"
TOKEN = "open-sesame"
FLAGS = (
    *(word for name in ("nodes", "cores", "gpus") for word in ("--role", f"{name}=knob")),
    *(word for name in ("app", "size") for word in ("--role", f"{name}=context")),
    *("--role", "runtime=outcome", "--unit", "runtime=s", "--drop", "power", "--drop", "state"),
    *("--rule", "cores <= 32 * nodes"),
)
LEARN = (*FLAGS, "--surrogate", "forest")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli-server")


@pytest.fixture(scope="module")
def runs(folder: Path) -> Path:
    return write_csv(folder / "jobs.csv", cluster_columns(120))


@pytest.fixture(scope="module")
def saved(folder: Path, runs: Path) -> Path:
    """An engine fitted here, as the one that the server will fit."""
    place = folder / "here.compass"
    result = compass("fit", runs, "-o", place, *LEARN)
    assert result.code == 0, result.err
    return place


@pytest.fixture(scope="module")
def there(folder: Path, saved: Path) -> Iterator[Served]:
    with served(saved, folder / "state", "--token", TOKEN) as running:
        yield running


@pytest.fixture(autouse=True)
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All commands of these tests come from one person."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.delenv("COMPASS_SERVER", raising=False)
    monkeypatch.setenv("COMPASS_TOKEN", TOKEN)
    return folder / "config"


def untimed(text: str) -> str:
    """JSON as it was printed, without how long things took."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(one) for name, one in value.items() if name != "seconds"}
        return [without(one) for one in value] if isinstance(value, list) else value

    return json.dumps(without(json.loads(text)), indent=2)


def both(there: Served, *words: object) -> tuple[Result, Result]:
    """A command here and on the server."""
    here, remote = compass(*words), compass(*words, "--server", there.url)
    assert here.code == remote.code, remote.err
    return here, remote


def test_json_is_the_same(
    there: Served, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (
        ("ask", runs, ASK, *LEARN, "--count", 2, "--where", "nodes < 8", "--curve", "gpus"),
        ("columns", runs, *FLAGS, "--rules"),
        ("fit", runs, "-o", "told.compass", *LEARN),
    ):
        here, remote = both(there, *words, "--json")
        assert untimed(here.out) == untimed(remote.out)
        assert here.err == remote.err == ""


@pytest.mark.parametrize(
    "words",
    [
        ("ask", CHANGE, "--from", "row:3", "--weight", "nodes=3", "--no-prove"),
        ("ask", CHANGE, "--from", "row:3", "--loss", "valid=2", "--generator", "c3g", "--no-prove"),
        ("ask", HOPELESS, "--from", "row:3"),
        ("next", ASK, "-n", 3),
        ("next", "-n", 2),
        ("explain", "--row", 3, "--importance"),
        ("explain", "--query", CHANGE, "--from", "row:3", "--suggestion", 1),
    ],
    ids=lambda words: " ".join(map(str, words))[:30],
)
def test_json_is_that_of_an_engine_here(
    there: Served, runs: Path, saved: Path, words: tuple[object, ...]
) -> None:
    command, *others = words
    here = compass(command, saved, *others, "--json")
    remote = compass(command, runs, *others, *LEARN, "--json", "--server", there.url)
    assert (here.code, here.err) == (remote.code, remote.err)
    assert untimed(here.out) == untimed(remote.out)


def test_what_people_read_is_the_same(
    there: Served, runs: Path, saved: Path, tmp_path: Path
) -> None:
    here = compass("ask", saved, ASK)
    remote = compass("ask", runs, ASK, *LEARN, "--server", there.url)
    timed = re.compile(r"[0-9.]+\s+s,\s+seed")
    assert timed.sub("seed", here.out) == timed.sub("seed", remote.out)
    files = [tmp_path / name for name in ("here.csv", "there.csv", "here.yaml", "there.yaml")]
    compass("next", saved, ASK, "--csv", files[0])
    compass("next", runs, ASK, *LEARN, "--csv", files[1], "--server", there.url)
    assert files[0].read_text() == files[1].read_text()
    columns = cluster_columns(60)
    columns["threads"] = [2 * int(str(cores)) for cores in columns["cores"]]
    more = write_csv(tmp_path / "more.csv", columns)
    words = ("columns", more, *FLAGS, "--confirm", "all", "--write-study")
    compass(*words, files[2])
    compass(*words, files[3], "--server", there.url)
    assert files[2].read_text() == files[3].read_text()
    assert "dependencies" in files[2].read_text()


def test_new_runs_are_told(there: Served, runs: Path, saved: Path, tmp_path: Path) -> None:
    new = write_csv(tmp_path / "new.csv", cluster_columns(12, seed=9))
    named = compass("fit", runs, "-o", "tell-me", *LEARN, "--server", there.url)
    assert named.code == 0, named.err
    here = compass("tell", saved, new, "-o", tmp_path / "b", "--ask", ASK, "--json")
    remote = compass("tell", "tell-me", new, "--ask", ASK, "--json", "--server", there.url)
    assert remote.code == 0, remote.err
    mine, theirs = json.loads(untimed(here.out)), json.loads(untimed(remote.out))
    assert (mine.pop("path"), theirs.pop("path")) == (str(tmp_path / "b"), "tell-me")
    assert mine == theirs
    # The name means the newest: the one that knows the runs.
    asked = json.loads(compass("ask", "tell-me", ASK, "--json", "--server", there.url).out)
    told = json.loads(compass("ask", tmp_path / "b", ASK, "--json").out)
    assert asked["provenance"] == told["provenance"]
    assert asked["provenance"]["data"] != cp.load(saved).data.table.fingerprint


def test_chat_is_the_same(there: Served, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = []
    for words in (("chat", saved), ("chat", "here.compass", "--server", there.url)):
        lines = "recommend gpus to minimize runtime\nyes\nyes\n"
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        result.append(compass(*words, "--json"))
    here, remote = result
    assert (here.code, remote.code) == (0, 0), remote.err
    assert [untimed(line) for line in here.out.splitlines()] == [
        untimed(line) for line in remote.out.splitlines()
    ]
    assert any("answer" in json.loads(line) for line in remote.out.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "Recommend X = {gpu: ?} to achieve Y = {runtime: minimize}", *LEARN),
        ("ask", "Recommend X = {gpus ?", *LEARN),
        ("ask", ASK, *LEARN, "--from", "row:4000"),
        ("ask", ASK, *FLAGS, "--surrogate", "forrest"),
        ("ask", ASK, *LEARN, "--role", "nodez=knob"),
        ("columns", "--rule", "nodes <"),
        ("explain", *LEARN, "--row", 4000),
    ],
    ids=lambda words: " ".join(str(word) for word in (*words[:1], *words[-2:]))[:40],
)
def test_problems_are_the_same(there: Served, runs: Path, words: tuple[object, ...]) -> None:
    command, *others = words
    here, remote = both(there, command, runs, *others)
    refused(remote)
    assert here.err == remote.err


def test_names_of_the_server_are_data_too(there: Served, runs: Path, tmp_path: Path) -> None:
    one = compass("ask", "here.compass", ASK, "--json", "--server", there.url)
    other = compass("ask", "engine:here.compass", ASK, "--json", "--server", there.url)
    assert untimed(one.out) == untimed(other.out)
    refused(
        compass("ask", "here.compass", ASK, *LEARN, "--server", there.url),
        "a saved engine already has its roles, rules and labels",
    )
    compass("columns", runs, "--server", there.url)
    known = compass("columns", "dataset:jobs.csv", "--json", "--server", there.url)
    assert known.out == compass("columns", runs, "--json").out
    listed = json.loads(compass("engines", "--json", "--server", there.url).out)
    assert "jobs.csv" in [data["name"] for data in listed["datasets"]]
    assert "here.compass" in [engine["name"] for engine in listed["engines"]]
    shown = compass("engines", "--server", there.url).out
    assert "jobs.csv" in shown
    assert "everybody's" in shown


def test_what_only_readers_here_understand_is_sent_as_a_table(
    there: Served, runs: Path, tmp_path: Path
) -> None:
    write_csv(tmp_path / "a.csv", cluster_columns(30))
    write_csv(tmp_path / "b.csv", cluster_columns(30, seed=4))
    here, remote = both(there, "columns", f"{tmp_path}/*.csv", "--json")
    assert here.out == remote.out


def test_names_that_mean_nothing(there: Served, saved: Path, tmp_path: Path) -> None:
    at = ("--server", there.url)
    refused(compass("ask", "nowhere.csv", ASK, *at), "no file nowhere.csv here", "compass engines")
    refused(compass("ask", "engine:nothing", ASK, *at), "no engine named 'nothing' on the server")
    refused(compass("ask", "", ASK, *at), "DATA is empty")
    refused(compass("tell", "nothing", saved, *at), "no engine named 'nothing' on the server")
    mine = tmp_path / "mine.compass"
    cp.load(saved).save(mine)
    refused(compass("ask", mine, ASK, *at), "an engine on this machine", "compass serve")


def test_flags_that_do_not_go_together(there: Served, runs: Path, tmp_path: Path) -> None:
    at = ("--server", there.url)
    refused(compass("fit", runs, "-o", "x", "--executor", "threads:2", *at), "leave out --executor")
    model = ("--model", f"runtime={runs}", "--allow-pickle")
    refused(compass("ask", runs, ASK, *LEARN, *model, *at), "leave out --allow-pickle")
    refused(compass("engines"), "no server is named")


@pytest.mark.parametrize("url", ["localhost:8765", "http://127.0.0.1:1", "ftp://host"])
def test_servers_that_are_none(runs: Path, url: str) -> None:
    refused(compass("ask", runs, ASK, "--server", url))


def test_the_server_may_come_from_the_environment(
    there: Served, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_SERVER", there.url)
    assert compass("engines", "--json").code == 0
    kept = home / "compass" / "servers.json"
    assert list(json.loads(kept.read_text())["servers"]) == [there.url]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_token_is_asked_for_and_never_shown(
    there: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert TOKEN not in compass("engines", "--help").out
    monkeypatch.delenv("COMPASS_TOKEN")
    at = ("engines", "--server", there.url)
    refused(compass(*at), "the server needs a token", "COMPASS_TOKEN")
    wrong = compass(*at, "--token", "guess-guess")
    refused(wrong, "does not accept this token")
    assert "guess-guess" not in wrong.err
    assert compass(*at, "--token", TOKEN).code == 0


def test_ctrl_c_ends_the_work_on_the_server(there: Served, runs: Path) -> None:
    """The real key: a signal to the process that waits."""
    words = ["fit", str(runs), "-o", "never", *LEARN, "--tune", "600", "--server", there.url]
    process = subprocess.Popen(
        [sys.executable, "-m", "compass.cli.main", *words],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    with cp.connect(there.url) as server:

        def states() -> list[str]:
            jobs = server.connection.call("GET", "/jobs")
            return [one["state"] for one in jobs if one["kind"] == "learn"]

        while "running" not in states():
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, result = process.communicate(timeout=120)
        assert (process.returncode, result) == (130, "")
        patience = time.monotonic() + 120
        while "running" in states() and time.monotonic() < patience:
            time.sleep(0.1)  # a process that works on it is ended first
        assert states()[0] == "cancelled"
