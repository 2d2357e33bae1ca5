"""What an operator offers: `compass serve DATA`, and the same again after a restart."""

import io
import json
import sys
from contextlib import redirect_stderr
from pathlib import Path
from unittest.mock import patch

import pytest
from server_case import API, STUDY, ask, job_over, jobs_csv, serving, shared_engine, until

from compass.cli.main import run

pytest_plugins = ("server_fixtures",)


def test_a_table_is_read_fitted_and_offered(tmp_path: Path) -> None:
    path, study, state = tmp_path / "jobs.csv", tmp_path / "study.json", tmp_path / "state"
    path.write_bytes(jobs_csv(40))
    study.write_text(json.dumps(STUDY))
    words = ("--study", str(study), "--limit", "askers=1")
    with serving(path, state, *words) as server, server.newcomer() as client:
        shown = until(lambda: [j for j in client.get(f"{API}/jobs").json() if j["kind"] == "fit"])
        job = job_over(client, shown[0]["id"])
        assert job["state"] == "done"
        assert client.delete(f"{API}/jobs/{job['id']}").status_code == 403
        engine = shared_engine(client)
        assert engine == job["engine"]
        (data,) = client.get(f"{API}/datasets").json()
        assert (data["name"], data["rows"], data["shared"]) == ("jobs.csv", 40, True)
        assert client.put(f"{API}/datasets/{data['id']}/study", json={}).status_code == 403
        assert client.delete(f"{API}/datasets/{data['id']}").status_code == 403
        answer = ask(client, engine).json()
        assert answer["answer"]["suggestions"]
        key = client.headers["Compass-Workspace"]
    with serving(path, state, *words) as server, server.client(key) as client:
        # The same engine, not fitted again.
        assert shared_engine(client) == engine
        assert client.get(f"{API}/answers/{answer['id']}").json() == answer
        assert server.workers() == []
    with serving(tmp_path / "missing.csv", state) as server, server.client(key) as client:
        # What cannot be offered is the operator's to see, and people keep what they have.
        told = until(lambda: [e for e in server.events() if e["event"] == "offer"])
        assert "there is no file" in told[0]["problem"]
        assert client.get(f"{API}/answers/{answer['id']}").json() == answer


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
