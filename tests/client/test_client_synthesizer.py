"""A synthesizer of a real server, used from Python as the library's own."""

from pathlib import Path

import pytest
from client_case import STUDY, table

import compass as cp
from compass.domain.errors import BadInput, UnknownName
from served import served


def test_a_synthesizer_of_a_server_draws_what_the_library_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    runs = table(tmp_path / "jobs.csv")
    here = cp.synthesizer(cp.read(runs, study=STUDY), seed=3)
    where, given = ["nodes <= 4"], {"app": "wrf"}
    with served(runs, tmp_path / "state") as running, cp.connect(running.url) as server:
        data = server.upload(runs).with_study(STUDY)
        there = data.synthesizer(name="jobs", seed=3)
        own = here.sample(30, where=where, given=given)
        drawn = there.sample(30, where=where, given=given)
        assert drawn.table.to_pydict() == own.table.to_pydict()
        assert drawn.report == own.report
        rows = [{"app": "wrf", "nodes": 2}, {"nodes": 4}]
        filled = there.fill(rows, draws=2)
        assert filled.table.to_pydict() == here.fill(rows, draws=2).table.to_pydict()
        (tmp_path / "gaps.csv").write_text("app,nodes\nwrf,2\n,4\n")
        gaps = server.upload(tmp_path / "gaps.csv")
        own = here.fill(tmp_path / "gaps.csv")
        assert there.fill(gaps).table.to_pydict() == own.table.to_pydict()
        assert there.decide(where=where, count=50) == here.decide(where=where, count=50).decision
        assert there.predict(rows, draws=5) == here.predict(rows, draws=5)
        made = server.upload(drawn.table, name="drawn.csv")
        report = server.judge_synthetic(data, made, target="runtime")
        assert report.value("dissimilarity") >= 1
        assert server.synthesizer("jobs").id == there.id
        with pytest.raises(UnknownName, match="job"):
            server.synthesizer("job")
        with pytest.raises(BadInput, match="is a number"):
            there.sample(5, given={"nodes": "many"})
        there.delete()
        assert server.synthesizers() == []
