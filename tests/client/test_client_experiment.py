"""An experiment on a real server, used from Python, that goes on when the server was killed."""

import signal
from pathlib import Path

import pytest
from tests.experiment.law_case import BEST, PLAN, law

import compass as cp
from compass.domain.errors import BadInput, UnknownName
from compass.domain.experiment import RunState
from served import served


def test_an_experiment_of_a_server_goes_on_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    # No table: the server needs no engine.
    with served(Path(__file__), tmp_path / "state") as running:
        with cp.connect(running.url) as server:
            there = server.start_experiment({**PLAN, "budget": 24}, "tune")
            there.enqueue({"threads": 2, "tile": 32, "flags": "O2"})
            (mine,) = there.next()
            assert there.tell(mine.number, {"runtime": law(mine.config)})
            assert not there.tell(mine.number, {"runtime": law(mine.config)})
            (bad,) = there.next()
            there.tell(bad.number, failed="out of memory")
            seen = there.events()
            ended = [e.number for e in (next(seen) for _ in range(7)) if e.state and e.state.ended]
            assert ended == [mine.number, bad.number]
            waiting = there.next(2)
            assert [next(seen).state for _ in range(4)].count(RunState.SUBMITTED) == 2
            seen.close()
        running.again(signal.SIGKILL)
        with cp.connect(running.url) as server:
            there = server.experiment("tune")
            states = [run.state.value for run in there.runs()]
            assert states == ["done", "failed", "submitted", "submitted"]
            for run in waiting:
                there.tell(run.number, {"runtime": law(run.config)})
            while runs := there.next(4):
                there.tell_all([{"run": r.number, "runtime": law(r.config)} for r in runs])
            assert law(there.best().config) < 1.3 * law(BEST)
            assert there.status().stop is not None
            assert there.table().num_rows == len(there.runs())
            assert "runtime" in there.dataset().table.names
            assert len(there.report().curve) == there.status().used
            with pytest.raises(UnknownName, match="tuna"):
                server.experiment("tuna")
            with pytest.raises(BadInput, match="makes no runs"):
                server.start_experiment({**PLAN, "command": "./law"})
            there.delete()
            assert server.experiments() == []
