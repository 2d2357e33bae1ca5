"""Forecasts of a dataset, beside the same question asked of its matched runs, and a roofline."""

import numpy as np
import pyarrow as pa
import pytest
from tests.platforms.machine_law import COLUMNS, MACHINES, roofline_table, seconds

import compass as cp
from compass.domain.errors import BadInput, DataProblem, UnknownName
from compass.engine import machine_order
from compass.engine.machine_order import ForecastOptions, machine_forecast, machines_view
from compass.platforms import AskOptions, ask, match

STUDY = {
    "columns": {name: {"role": "ignored"} for name in COLUMNS.counters},
    "machines": {"prices": {"lassen": 2.5}},
}


def table() -> pa.Table:
    """Ten applications on four machines, one of them on quartz only."""
    arrow = roofline_table(10, seed=4).arrow
    ran = zip(arrow["app"].to_pylist(), arrow["machine"].to_pylist(), strict=True)
    return arrow.filter(pa.array([app != "app03" or machine == "quartz" for app, machine in ran]))


@pytest.fixture(scope="module")
def data() -> cp.Dataset:
    return cp.read(table(), study=STUDY)


def test_a_table_tells_which_runs_there_are(data: cp.Dataset) -> None:
    view = machines_view(data)
    assert (view.machine, view.application, view.runtime) == ("machine", "app", "runtime")
    assert (view.configuration, set(view.counters)) == (("size",), set(COLUMNS.counters))
    assert view.machines == tuple(sorted(MACHINES))
    rows = table().to_pylist()
    for one in view.applications:
        seen = {(r["machine"], r["size"]) for r in rows if r["app"] == one.application}
        assert one.lines == len({size for _, size in seen})
        counts = {machine: sum(m == machine for m, _ in seen) for machine in MACHINES}
        assert one.machines == {machine: count for machine, count in counts.items() if count}


def test_forecasts_are_those_of_the_matched_runs_and_near_the_truth(data: cp.Dataset) -> None:
    found = machine_forecast(data, "app03", "quartz", ForecastOptions(power={"ruby": 300.0}))
    runs = match(data.meant, COLUMNS)
    options = AskOptions(prices={"lassen": 2.5}, power={"ruby": 300.0})
    assert found == ask(runs, "app03", "quartz", options)
    rows = [row for row in table().to_pylist() if row["app"] == "app03"]
    for line in found.lines:
        row = next(r for r in rows if r["size"] == line.configuration["size"])
        told = {one.machine: one for one in line.machines}
        assert told["lassen"].cost == pytest.approx(2.5 * (told["lassen"].runtime or 0))
        assert told["ruby"].energy == pytest.approx(300.0 * (told["ruby"].runtime or 0))
        truth = {m: seconds(m, row["bytes"], row["flops"]) for m in MACHINES}
        assert line.machines[0].machine == min(truth, key=truth.__getitem__)
        inside = [
            (told[m].low or 0) <= truth[m] / truth["quartz"] <= (told[m].high or np.inf)
            for m in MACHINES
            if m != "quartz"
        ]
        assert sum(inside) >= 2


def test_the_model_is_learnt_once(data: cp.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    machine_forecast(data, "app03", "quartz")
    monkeypatch.setattr("compass.engine.machines.fit", None)
    again = machine_forecast(data, "app03", "quartz", ForecastOptions(prices={"ruby": 1.0}))
    assert again.lines[0].machines[0].fastest is not None


def test_of_many_inputs_some_are_told(data: cp.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = machine_forecast(data, "app03", "quartz").lines
    monkeypatch.setattr(machine_order, "MOST_LINES", 3)
    parts = [
        machine_forecast(data, "app03", "quartz", ForecastOptions(first=at)).lines
        for at in (0, 3, 9)
    ]
    assert [len(part) for part in parts] == [3, 1, 0]
    assert (*parts[0], *parts[1]) == whole


def test_what_is_not_known_is_refused_with_what_is(data: cp.Dataset) -> None:
    with pytest.raises(UnknownName, match="frontier"):
        machine_forecast(data, "app03", "quartz", ForecastOptions(prices={"frontier": 1.0}))
    with pytest.raises(DataProblem, match="was not run on lassen") as told:
        machine_forecast(data, "app03", "lassen")
    assert told.value.hint == "it was run on quartz"
    with pytest.raises(UnknownName, match="app77"):
        machine_forecast(data, "app77", "quartz")
    with pytest.raises(BadInput, match="several machines"):
        machines_view(cp.read({"threads": [1, 2, 4], "runtime": [3.0, 2.0, 1.0]}))
