"""Questions about machines, asked of a server: the same answers as in the library."""

from pathlib import Path

import pyarrow.csv
import pytest
from tests.platforms.machine_law import roofline_table

import compass as cp
from compass.domain.errors import UnknownName
from compass.engine.machine_order import ForecastOptions, machine_forecast, machines_view
from served import served

STUDY = cp.Study.model_validate(
    {
        "columns": {
            name: {"role": "ignored"} for name in ("PAPI_TOT_INS", "PAPI_LD_INS", "flops", "bytes")
        },
        "machines": {"prices": {"lassen": 2.5}},
    }
)


def test_machines_are_told_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("COMPASS_TOKEN", raising=False)
    runs = tmp_path / "runs.csv"
    pyarrow.csv.write_csv(roofline_table(6, seed=4).arrow, runs)
    here = cp.Compass(cp.read(runs, study=STUDY), seed=5)
    with served(runs, tmp_path / "state") as running, cp.connect(running.url) as server:
        sent = server.upload(runs)
        data = cp.read(runs)
        assert sent.machines() == machines_view(data)
        told = sent.on_machines("app02", "quartz", prices={"ruby": 2.0})
        options = ForecastOptions(prices={"ruby": 2.0})
        assert told == machine_forecast(data, "app02", "quartz", options)
        with pytest.raises(UnknownName, match="cray"):
            sent.on_machines("app02", "cray")
        there = sent.with_study(STUDY).fit(seed=5, outcomes=[])
        own = {"machine": "quartz", "app": "mine", "size": 3, "runtime": 2.0, "flops": 4e10}
        for ask in (
            lambda engine: engine.what_if(0, {"machine": "lassen"}),
            lambda engine: engine.what_if(own, {"machine": "corona"}),
            lambda engine: engine.recommend(
                ["machine"], {"runtime": cp.minimize}, where=["app == 'app02'", "size == 4"]
            ),
        ):
            mine, theirs = ask(here), ask(there)
            assert mine.machines == theirs.machines
            assert mine.machines is not None
            assert mine.run_next == theirs.run_next
            assert [one.outcomes for one in mine] == [one.outcomes for one in theirs]
            assert [one.trust.reason for one in mine] == [one.trust.reason for one in theirs]
        assert there.learnt == ()
