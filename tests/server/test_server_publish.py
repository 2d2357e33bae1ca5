"""What an operator offers: `compass serve DATA`, and the same again after a restart."""

import io
import json
import sys
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest
from server_case import (
    API,
    NOTHING,
    STUDY,
    jobs_csv,
    serving,
    until,
    upload,
)

from compass.cli.main import run
from compass.domain.errors import EngineProblem
from compass.server.publish import source_and_study

pytest_plugins = ("server_fixtures",)


def under_way(client: httpx.Client) -> list[Any]:
    """The outcomes that are being learnt."""
    jobs = client.get(f"{API}/jobs").json()
    return [job for job in jobs if job["kind"] == "learn" and job["stage"]]


def test_a_table_is_read_offered_and_learnt(tmp_path: Path) -> None:
    path, study, state = tmp_path / "jobs.csv", tmp_path / "study.json", tmp_path / "state"
    path.write_bytes(jobs_csv(60))
    study.write_text(json.dumps(STUDY))
    words = ("--study", str(study), "--limit", "ask_workers=1")
    with serving(path, state, *words) as server, server.newcomer() as client:
        key = client.headers["Compass-Workspace"]
        (job,) = until(lambda: under_way(client))
        assert client.delete(f"{API}/jobs/{job['id']}").status_code == 403
        (data,) = client.get(f"{API}/datasets").json()
        assert (data["name"], data["rows"], data["shared"]) == ("jobs.csv", 60, True)
        whole = client.get(f"{API}/datasets/{data['id']}").json()
        assert whole["study"]["drop"] == STUDY["drop"]
        (engine,) = client.get(f"{API}/engines").json()  # it can be asked while it learns
        assert (engine["dataset"], engine["id"]) == (data["id"], job["engine"])
        assert (job["outcome"], engine["learnt"]) == ("runtime", 0)
        assert client.put(f"{API}/datasets/{data['id']}/study", json={}).status_code == 403
        assert client.delete(f"{API}/datasets/{data['id']}").status_code == 403
        own = upload(client, jobs_csv(40)).json()
        brief = {name: value for name, value in own.items() if name != "study"}
        for worker in server.workers():
            worker.suspend()  # so that it is still learning when it is told to stop
    with serving(path, state, *words) as server, server.client(key) as client:
        # The same offer: it is not read again, and what was being learnt is gone on with.
        assert server.events()[0]["resumed"] == 1
        assert client.get(f"{API}/datasets").json() == [brief, data]
        until(lambda: under_way(client))
        jobs = client.get(f"{API}/jobs").json()
        mine = [one for one in jobs if one["engine"] == job["engine"]]
        assert [(one["kind"], one["state"]) for one in mine if one["id"] != job["id"]] == [
            ("fit", "done")
        ]
    quick = (*words, "--surrogate", "forest")
    with serving(path, state, *quick) as server, server.client(key) as client:
        # Another family is another engine on the same data.
        (engine,) = until(
            lambda: [
                one for one in client.get(f"{API}/engines").json() if one["id"] != job["engine"]
            ]
        )
        assert engine["dataset"] == data["id"]
        path = f"{API}/engines/{engine['id']}"
        cards = until(lambda: client.get(path).json()["models"])
        assert [(card["target"], card["family"]) for card in cards] == [("runtime", "forest")]
        # What the earlier start was learning is of no use, and is not waited for.
        states = {one["id"]: one["state"] for one in client.get(f"{API}/jobs").json()}
        assert states[job["id"]] in {"cancelled", "done"}
    with serving(NOTHING, state) as server, server.client(key) as client:
        # What cannot be offered is the operator's to see, and people keep what they have.
        told = until(lambda: [e for e in server.events() if e["event"] == "offer"])
        assert "one column only" in told[0]["problem"]
        assert client.get(f"{API}/datasets/{own['id']}").json() == own


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--limit", "rows"), "no number"),
        (("--limit", "rowz=3"), "there is no limit"),
        (("--limit", "rows=1..2"), "no number"),
        (("--limit", "rows=0"), "rows"),
        (("--token", "short"), "8 to 200"),
        (("--token", "with blank inside"), "8 to 200"),
        (("--allow", "/no/such/folder"), "no such folder"),
        (("--llm", "http://localhost:1"), "belong together"),
        (("--host", "203.0.113.7"), "cannot listen"),
        (("no-such-file.csv",), "there is no file"),
        (("--surrogate", "forrest"), "did you mean forest"),
        (("--origin", "https://example.org/page"), "without a path"),
    ],
)
def test_what_cannot_be_is_refused_before_it_starts(
    tmp_path: Path, logged: None, words: tuple[str, ...], part: str
) -> None:
    said = io.StringIO()
    argv = ["compass", "serve", "--state", str(tmp_path / "state"), "--port", "0", *words]
    with patch.object(sys, "argv", argv), redirect_stderr(said), pytest.raises(SystemExit) as left:
        run()
    assert left.value.code != 0
    assert part in said.getvalue()
    assert "Traceback" not in said.getvalue()


def test_where_the_operator_has_the_data_is_not_told(jobs_file: Path, tmp_path: Path) -> None:
    long = tmp_path / "allowed" / f"{'n' * 220}.csv"
    long.parent.mkdir()
    long.write_bytes(jobs_file.read_bytes())
    words = ("--allow", str(long.parent), "--limit", "ask_workers=1")
    with serving(jobs_file, tmp_path / "state", *words) as server, server.newcomer() as client:
        (data,) = until(lambda: client.get(f"{API}/datasets").json())
        assert data["path"] is None
        assert client.get(f"{API}/datasets/{data['id']}").json()["path"] is None
        # A file on the server with a name that is too long to show.
        own = client.post(f"{API}/datasets/from-path?wait=60", json={"path": str(long)})
        assert (own.status_code, len(own.json()["name"])) == (201, 200)
        assert own.json()["path"] == str(long)


def test_an_engine_of_another_version_is_refused_before_it_starts(tmp_path: Path) -> None:
    old = tmp_path / "old.compass"
    (old / "generation-1").mkdir(parents=True)
    (old / "CURRENT").write_text("generation-1\n")
    (old / "generation-1" / "engine.json").write_text('{"format": 1}')
    with pytest.raises(EngineProblem, match="saved in format 1"):
        source_and_study(str(old), None)
