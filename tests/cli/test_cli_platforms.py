"""`compass platforms`: tables of machines, orders, JSON, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.csv
import pytest
from cli_case import Result, compass
from tests.platforms.machine_law import MACHINES, roofline_table

from compass.readers.table import Table


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of nine applications; the last was run on quartz only."""
    arrow = roofline_table(9).arrow
    own = pc.equal(arrow["app"], "app08")
    arrow = arrow.filter(pc.or_(pc.invert(own), pc.equal(arrow["machine"], "quartz")))
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    pyarrow.csv.write_csv(Table.of(arrow).arrow, path)
    return path


def asked(command: str, runs: Path, *more: object) -> Result:
    return compass(
        *("platforms", command, runs, "--application", "app08", "--source", "quartz"),
        *("--config", "size", *more),
    )


def test_predictions_are_a_table_per_configuration(runs: Path) -> None:
    found = asked("predict", runs, "--price", "lassen=2.5")
    assert (found.code, found.err) == (0, "")
    assert found.out.count("seen from quartz") == 4
    for machine in MACHINES:
        assert machine in found.out
    assert "90 % interval" in found.out
    assert "cost" in found.out
    assert "held-out" in found.out


def test_the_order_comes_with_chances_and_the_run_to_make(runs: Path) -> None:
    found = asked("rank", runs, "--price", "lassen=2.5")
    assert (found.code, found.err) == (0, "")
    assert "chance to be the fastest" in found.out
    assert "cost" in found.out
    assert "in the wrong order" in " ".join(found.out.split())


def test_json_is_the_whole_answer(runs: Path) -> None:
    found = asked("predict", runs, "--json")
    answer = json.loads(found.out)
    assert answer["source"] == "quartz"
    assert {one["machine"] for one in answer["lines"][0]["machines"]} == set(MACHINES)
    assert json.loads(asked("rank", runs, "--json").out) == answer


def test_a_machine_may_come_by_its_benchmark_or_its_peaks(runs: Path, tmp_path: Path) -> None:
    arrow = roofline_table(5).arrow
    apps = [f"kernel{name}" for name in arrow["app"].to_pylist()]
    machines = ["frontier" if m == "lassen" else m for m in arrow["machine"].to_pylist()]
    arrow = arrow.set_column(1, "app", [apps]).set_column(0, "machine", [machines])
    kept = pc.is_in(arrow["machine"], pyarrow.array(["frontier", "quartz"]))
    benchmark = tmp_path / "kernels.csv"
    pyarrow.csv.write_csv(arrow.filter(kept), benchmark)
    peaks = tmp_path / "peaks.yaml"
    peaks.write_text("quartz: {bandwidth: 5e+9}\naurora: {bandwidth: 1e+11}\n")
    found = asked("predict", runs, "--benchmark", benchmark, "--peaks", peaks, "--json")
    machines_ = {m["machine"]: m for m in json.loads(found.out)["lines"][0]["machines"]}
    assert machines_["frontier"]["applications"] == 5
    assert np.isclose(machines_["aurora"]["ratio"], 0.05)
    assert "peaks" in machines_["aurora"]["reason"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--config", "sizes"), "no column named 'sizes'"),
        (("--price", "lassen"), "--price lassen is no price"),
        (("--price", "lasen=3"), "no machine named 'lasen'"),
        (("--on", "lasen"), "no machine named 'lasen'"),
        (("--peaks", "absent.yaml"), "absent.yaml cannot be read"),
        (("--runtime-column", "app"), "named twice"),
    ],
)
def test_what_cannot_be_meant_is_refused(runs: Path, more: tuple[str, ...], message: str) -> None:
    found = asked("predict", runs, *more)
    assert found.code == 2
    assert message in found.err
    assert "hint:" in found.err


def test_this_machine_is_measured_and_a_configuration_is_run(tmp_path: Path) -> None:
    found = compass("platforms", "probe", "--numpy", "--machine", "here", "-o", tmp_path / "p.csv")
    assert found.code == 0
    assert "measured 20 kernels of here" in found.out + found.err
    assert (tmp_path / "p.peaks.yaml").read_text().startswith("here: {flops:")
    pyarrow.csv.write_csv(roofline_table(5).arrow, tmp_path / "train.csv")
    config = tmp_path / "config.yml"
    config.write_text(
        "func: train\napp_train_data_path: train.csv\nembedding: raw\n"
        "columns: {configuration: [size]}\n"
    )
    found = compass("platforms", "run", config, "--json")
    assert found.code == 0
    assert json.loads(found.out)["trained"]
    config.write_text("func: tain\n")
    found = compass("platforms", "run", config)
    assert found.code == 2
    assert "func: input should be" in found.err


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("ratios", ("--source", "quartz")),
        ("order", ("--source", "quartz", "--application", "app08")),
        ("machines", ()),
    ],
)
def test_pictures_are_written(runs: Path, tmp_path: Path, kind: str, more: tuple[str, ...]) -> None:
    picture = tmp_path / "picture.svg"
    command = ("platforms", "plot", kind, runs, "--config", "size", "-o", picture)
    found = compass(*command, *more)
    assert (found.code, found.err) == (0, "")
    assert picture.read_text().startswith("<svg")
    said = json.loads(compass(*command, *more, "--json").out)
    assert said == {"kind": kind, "written": str(picture)}
    if more:
        refused = compass(*command)
        assert refused.code == 2
        assert "needs the machine" in refused.err
