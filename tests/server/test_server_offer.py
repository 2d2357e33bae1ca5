"""What an operator offers: `compass serve DATA`, and the same again after a restart."""

import json
from pathlib import Path

import pytest
from server_case import API, STUDY, ask, jobs_csv, job_over, serving, shared_engine, until

pytest_plugins = ("server_fixtures",)


def test_a_table_is_read_fitted_and_offered(tmp_path: Path) -> None:
    path, study = tmp_path / "jobs.csv", tmp_path / "study.json"
    path.write_bytes(jobs_csv(60))
    study.write_text(json.dumps(STUDY))
    words = ("--study", str(study), "--limit", "askers=1")
    with serving(path, tmp_path / "state", *words) as server, server.newcomer() as client:
        shown = until(lambda: [j for j in client.get(f"{API}/jobs").json() if j["kind"] == "fit"])
        job = job_over(client, shown[0]["id"])
        assert job["state"] == "done"
        assert client.delete(f"{API}/jobs/{job['id']}").status_code == 403
        engine = shared_engine(client)
        assert engine == job["engine"]
        (data,) = client.get(f"{API}/datasets").json()
        assert (data["name"], data["rows"], data["shared"]) == ("jobs.csv", 60, True)
        assert client.put(f"{API}/datasets/{data['id']}/study", json={}).status_code == 403
        assert client.delete(f"{API}/datasets/{data['id']}").status_code == 403
        answer = ask(client, engine).json()
        assert answer["answer"]["suggestions"]
        key = client.headers["Compass-Workspace"]
    with serving(path, tmp_path / "state", *words) as server, server.client(key) as client:
        # The same engine, not fitted again.
        assert shared_engine(client) == engine
        assert [e["event"] for e in server.events()].count("offer") == 0
        assert client.get(f"{API}/answers/{answer['id']}").json() == answer
        assert server.workers() == []


def test_another_offer_replaces_it(tmp_path: Path, saved: Path) -> None:
    with serving(saved, tmp_path / "state") as server, server.newcomer() as client:
        first = shared_engine(client)
        answer = ask(client, first).json()
        key = client.headers["Compass-Workspace"]
    missing = tmp_path / "missing.csv"
    with serving(missing, tmp_path / "state") as server, server.client(key) as client:
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
    tmp_path: Path, words: tuple[str, ...], part: str
) -> None:
    import io
    import sys
    from contextlib import redirect_stderr
    from unittest.mock import patch

    from compass.cli.main import run

    said = io.StringIO()
    argv = ["compass", "serve", "--state", str(tmp_path / "state"), "--port", "0", *words]
    with patch.object(sys, "argv", argv), redirect_stderr(said), pytest.raises(SystemExit) as left:
        run()
    assert left.value.code != 0
    assert part in said.getvalue()
    assert "Traceback" not in said.getvalue()
