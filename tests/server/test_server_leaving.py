"""How a server leaves: others learn of it first; who connects meanwhile is not turned away."""

import signal
from pathlib import Path

from server_case import API, NOTHING, serving, until


def test_a_server_that_leaves_says_so_and_still_serves(tmp_path: Path) -> None:
    limits = ("--limit", "ask_workers=1", "--limit", "drain_seconds=86400")
    with serving(NOTHING, tmp_path / "state", *limits) as server, server.newcomer() as person:
        assert person.get("/readyz").status_code == 200
        server.process.send_signal(signal.SIGTERM)
        refused = until(lambda: (r := person.get("/readyz")).status_code == 503 and r)
        assert refused.json()["code"] == "closing"
        assert int(refused.headers["retry-after"]) > 0
        assert person.get("/healthz").status_code == 200  # it lives, and must not be killed
        assert person.get(f"{API}/datasets").status_code == 200
        # Told again (this is what the end of the block does), it ends at once.
