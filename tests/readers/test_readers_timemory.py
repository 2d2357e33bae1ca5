"""timemory's JSON: hand-made files, and a real one."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from compass.domain.errors import CompassError, DataProblem
from compass.readers import files, read
from compass.readers.profiles import read_runs
from compass.readers.profiles.timemory import Timemory


def node(name: str, inclusive: float, exclusive: float, *children: Any) -> dict[str, Any]:
    return {
        "node": {
            "prefix": name,
            "inclusive": {"entry": {"repr_data": inclusive}, "stats": {"sum": inclusive}},
            "exclusive": {"entry": {}, "stats": {"sum": exclusive}},
        },
        "children": list(children),
    }


def rank(scale: float) -> list[Any]:
    wait = node(">>> |_wait", 2 * scale, 2 * scale)
    solve = node("solve@a.cpp:12", 5 * scale, 3 * scale, wait)
    return [node("unknown-hash=0", 0, 0, node("main", 6 * scale, scale, solve))]


def tree(metric: str = "WALL_CLOCK", unit: str = "sec", **extra: Any) -> dict[str, Any]:
    whole = {"unit_repr": unit, "mpi_size": 2, "mpi": [rank(1.0), rank(2.0)], **extra}
    return {"timemory": {metric: whole}}


def flat() -> dict[str, Any]:
    graph = [
        {"prefix": ">>> main", "depth": 0, "entry": {"repr_data": 6.0}},
        {"prefix": ">>> |_solve", "depth": 1, "stats": {"sum": 4.0}},
        {"prefix": ">>>   |_wait", "depth": 2, "stats": {"sum": 1.0}},
        {"prefix": ">>> |_io", "depth": 1, "stats": {"sum": 1.5}},
    ]
    return {"timemory": {"wall": {"unit_repr": "msec", "ranks": [{"rank": 0, "graph": graph}]}}}


def write(path: Path, whole: Any) -> Path:
    path.write_text(json.dumps(whole))
    return path


def test_a_tree_is_one_row(tmp_path: Path) -> None:
    path = write(tmp_path / "run7.tree.json", tree(thread_count=3))
    assert files.reader_for(path).name == "timemory"
    table = read(path)
    assert table.row(0) == {
        "run": "run7", "ranks": 2, "threads": 3,
        "wall_clock": 12.0, "wall_clock.solve": 10.0, "wall_clock.wait": 4.0,
    }  # fmt: skip
    assert table.arrow.schema.field("wall_clock").metadata == {b"unit": b"s"}
    asked = read_runs(path, regions=["solve/wait"], ranks="mean").row(0)
    assert asked["wall_clock.solve/wait"] == 3.0


def test_the_list_form_has_depths(tmp_path: Path) -> None:
    row = read(write(tmp_path / "wall.json", flat())).row(0)
    assert row["wall"] == pytest.approx(6e-3)
    assert row["wall.solve"] == pytest.approx(4e-3)
    assert row["wall.io"] == pytest.approx(1.5e-3)


def test_files_of_several_metrics_in_a_folder_are_one_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    write(folder / "wall.tree.json", tree())
    write(folder / "peak_rss.tree.json", tree("PEAK_RSS", "MB"))
    assert read(folder).row(0)["wall_clock"] == 12.0
    table = read_runs(folder, metrics=["peak_rss", "wall_clock"], regions=["main"])
    assert table.rows == 1
    assert table.arrow.schema.field("peak_rss.main").metadata == {b"unit": b"MB"}


def test_files_of_one_metric_in_a_folder_are_several_runs(tmp_path: Path) -> None:
    for n in (1, 2):
        write(tmp_path / f"run{n}.tree.json", tree())
    assert read(tmp_path).arrow["run"].to_pylist() == ["run1", "run2"]


@pytest.mark.parametrize(
    "whole",
    [
        {"timemory": {}},
        {"timemory": {"WALL": 3}},
        {"timemory": {"WALL": {"mpi": []}}},
        {"timemory": {"WALL": {"unit_repr": "sec"}}},
        {"timemory": {"WALL": {"mpi": [[{"node": {"prefix": "a"}}]]}}},
        {"timemory": {"WALL": {"mpi": [[{"prefix": "a", "depth": 4, "stats": {"sum": 1}}]]}}},
        {"timemory": {"WALL": {"mpi": [[node("a", "x", 1)]]}}},  # type: ignore[arg-type]
        {"timemory": {"WALL": {"mpi": [[7]]}}},
    ],
)
def test_damage_is_told_by_file(tmp_path: Path, whole: Any) -> None:
    path = write(tmp_path / "x.json", whole)
    with pytest.raises(DataProblem, match=r"x\.json"):
        read_runs(path, reader="timemory")


def test_json_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"timemory": {"WALL": ' + "[" * 200_000)
    with pytest.raises(DataProblem, match=r"x\.json"):
        read(path)


def test_a_real_run(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "profiles" / "hatchet_tests" / "timemory" / "wall.tree.json"
    if not path.is_file():
        pytest.skip(f"no profiles in {real_data}")
    found = Timemory().profile(path)
    time = found.metrics["wall_clock"]
    # Sums over laps as hatchet reads them: two outer loops on each of two ranks.
    assert time.total["max"] == pytest.approx(35.638487535 + 22.997982187)
    assert time.total["sum"] == pytest.approx(58.636469722 + 33.403509927 + 21.776822844)
    own = dict(zip(found.regions, time.exclusive["max"], strict=True))
    assert own["generate_history/outer-loop-0"] == pytest.approx(1.501904, abs=1e-6)
    content = path.read_bytes()
    copy = tmp_path / "wall.tree.json"
    refused = 0
    for seed in range(40):
        place = random.Random(seed).randrange(len(content))
        copy.write_bytes(content[:place] + (content[place + 9 :] if seed % 2 else b""))
        try:
            assert read(copy).rows == 1
        except CompassError:
            refused += 1
    assert refused > 20
