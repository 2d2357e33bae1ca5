"""Caliper profiles: hand-made files, and real ones against the package caliper-reader."""

import gzip
import json
import random
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from compass.domain.errors import CompassError, DataProblem, UnknownName
from compass.readers import files, read
from compass.readers.profiles import read_runs
from compass.readers.profiles.base import Profile, ProfileOptions
from compass.readers.profiles.by_region import are_profiles, read_regions
from compass.readers.profiles.caliper import Caliper, _entries
from compass.readers.profiles.caliper_metrics import Meaning, meaning

HEAD = """\
__rec=node,id=12,attr=10,data=64,parent=3
__rec=node,id=13,attr=8,data=attribute.alias,parent=12
__rec=node,id=14,attr=8,data=attribute.unit,parent=12
__rec=node,id=20,attr=10,data=276,parent=3
__rec=node,id=21,attr=8,data=region,parent=20
__rec=node,id=22,attr=10,data=65,parent=1
__rec=node,id=23,attr=8,data=mpi.rank,parent=22
__rec=node,id=24,attr=14,data=sec,parent=5
__rec=node,id=25,attr=13,data=Total time,parent=24
__rec=node,id=26,attr=10,data=65,parent=25
__rec=node,id=27,attr=8,data=sum#time.duration,parent=26
__rec=node,id=28,attr=10,data=65,parent=5
__rec=node,id=29,attr=8,data=any#size,parent=28
__rec=node,id=30,attr=10,data=576,parent=3
__rec=node,id=31,attr=8,data=cluster,parent=30
__rec=node,id=32,attr=10,data=577,parent=1
__rec=node,id=33,attr=8,data=nodes,parent=32
__rec=node,id=40,attr=21,data=main
__rec=node,id=41,attr=21,data=solve,parent=40
__rec=node,id=42,attr=21,data=wait,parent=41
__rec=node,id=43,attr=21,data=wait,parent=40
"""


def cali(scale: float = 1.0, cluster: str = "quartz") -> str:
    """Two ranks; the second takes twice as long."""
    lines = [HEAD]
    for rank in (0, 1):
        for node, own in ((40, 1.0), (41, 4.0), (42, 2.0), (43, 0.5)):
            value = own * scale * (rank + 1)
            lines.append(f"__rec=ctx,ref={node},attr=23=27=29,data={rank}={value}={node}\n")
        lines.append(f"__rec=ctx,attr=23=27,data={rank}=99.0\n")  # outside of every region
    lines.append(f"__rec=node,id=50,attr=31,data={cluster}\n")
    lines.append("__rec=globals,ref=50,attr=33,data=8\n")
    return "".join(lines)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.cali"
    path.write_text(cali())
    return path


def test_a_file_is_one_row(toy: Path) -> None:
    table = read(toy)
    assert table.row(0) == {
        "run": "toy", "cluster": "quartz", "nodes": 8, "ranks": 2,
        "time": 15.0, "time.solve": 12.0, "time.wait": 5.0,
    }  # fmt: skip
    assert table.arrow.schema.field("time").metadata == {b"unit": b"s"}


def test_metrics_regions_and_ranks_can_be_chosen(toy: Path) -> None:
    table = read_runs(toy, metrics=["Total time", "size"], regions=["solve/wait"], ranks="mean")
    assert table.row(0) == {
        "run": "toy", "cluster": "quartz", "nodes": 8, "ranks": 2,
        "Total time": 11.25, "Total time.solve/wait": 3.0, "size.solve/wait": 42.0,
    }  # fmt: skip
    with pytest.raises(UnknownName, match="no metric named 'sise'") as caught:
        read_runs(toy, metrics=["sise"])
    assert "size" in caught.value.hint


def test_a_row_per_region_that_spends_its_time_itself(tmp_path: Path) -> None:
    for n in (1, 2):
        folder = tmp_path / f"nodes={n}"
        folder.mkdir()
        (folder / "run.cali").write_text(cali(n, cluster=f"c{n}"))
    assert are_profiles(str(tmp_path))
    table = read_regions(str(tmp_path))
    found = {(row["cluster"], row["region"]): row["time"] for row in table.arrow.to_pylist()}
    # main spends one second of fifteen itself: it only puts the others together.
    assert found == {
        ("c1", "solve"): 12.0, ("c1", "wait"): 5.0, ("c2", "solve"): 24.0, ("c2", "wait"): 10.0,
    }  # fmt: skip
    plain = tmp_path / "runs.csv"
    plain.write_text("a,b\n1,2\n")
    assert not are_profiles(str(plain))
    with pytest.raises(DataProblem, match="is not a profile"):
        read_regions(str(plain))


def test_a_tree_of_files_is_a_set_of_runs(tmp_path: Path) -> None:
    for n in (1, 2, 3):
        folder = tmp_path / f"n{n}"
        folder.mkdir()
        (folder / "run.cali").write_text(cali(n, cluster=f"c{n}"))
    packed = tmp_path / "n4.cali.gz"
    packed.write_bytes(gzip.compress(cali(4, cluster="c4").encode()))
    table = read(tmp_path)
    assert table.arrow["run"].to_pylist() == ["n1/run", "n2/run", "n3/run", "n4"]
    assert table.arrow["time"].to_pylist() == [15.0, 30.0, 45.0, 60.0]
    assert table.arrow["cluster"].to_pylist() == ["c1", "c2", "c3", "c4"]


def test_marks_in_names_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "x.cali"
    path.write_text(cali().replace("data=solve", r"data=a\,b\=c\\d\nend"))
    assert read_runs(path, regions=["a,b=c\\d\nend"], ranks="sum").row(0)["time"] == 22.5


@pytest.mark.parametrize(
    ("column", "means"),
    [
        ("max#inclusive#sum#time.duration", Meaning("time", True, "max", True)),
        ("avg#sum#time.duration.ns", Meaning("time", False, "mean", True)),
        ("inclusive#sum#time.duration.ns", Meaning("time", True, None, True)),
        ("sum#time.duration", Meaning("time", False, None, True)),
        ("time", Meaning("time", False, None, True)),
        ("any#any#max#Reps", Meaning("Reps", False, None, False)),
        ("max#time.duration", Meaning("max#time.duration", False, None, False)),
        ("min#inclusive#sum#time.duration", Meaning("min#sum#time.duration", True, None, False)),
    ],
)
def test_what_the_names_of_metrics_mean(column: str, means: Meaning) -> None:
    assert meaning(column) == means


def split(**extra: object) -> dict[str, object]:
    return {
        "data": [[1.5, 0, 0], [2.5, 1, 0], [0.5, 0, 1], [1.0, 1, 1], [9.0, 0, None]],
        "columns": ["time", "mpi.rank", "path"],
        "column_metadata": [
            {"is_value": True, "attribute.unit": "sec"}, {"is_value": True}, {"is_value": False},
        ],
        "nodes": [
            {"label": "main", "column": "path"}, {"label": "io", "column": "path", "parent": 0},
        ],
        **extra,
    }  # fmt: skip


def test_json_split(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(split(cluster="quartz", problem_size="30")))
    assert files.reader_for(path).name == "caliper"
    assert read(path).row(0) == {
        "run": "run", "cluster": "quartz", "problem_size": 30, "ranks": 2,
        "time": 3.5, "time.io": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"nodes": [{"label": "main", "parent": 0}]},
        {"nodes": [{"label": "main"}], "data": [[1.0, 0, 7]]},
        {"nodes": []},
        {"column_metadata": []},
        {"data": [[1.0]]},
        {"data": [1]},
        {"columns": 3},
    ],
)
def test_json_split_that_is_damaged(tmp_path: Path, wrong: dict[str, object]) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(split(**wrong)))
    with pytest.raises(DataProblem, match=r"run\.json"):
        read_runs(path, reader="caliper")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("__rec=node,id=60,attr=21,data=x,parent=60", "stands below node 60"),
        ("__rec=node,id=40,attr=21,data=other", "node 40 stands in it twice"),
        ("__rec=node,id=60,attr=999,data=x", "999"),
        ("__rec=ctx,ref=999,attr=27,data=1.0", "999"),
        ("__rec=ctx,ref=40,attr=27,data=1.0=2.0", "line 22"),
        ("__rec=ctx,ref=40,attr=27,data=abc", "abc"),
        ("__rec=what,id=1", "'what' is not a kind of record"),
        ("nonsense", "line 22"),
    ],
)
def test_a_broken_line_is_told_by_number(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "x.cali"
    path.write_text(HEAD + line + "\n")
    with pytest.raises(DataProblem, match="line 22") as caught:
        read(path)
    assert why in caught.value.message
    assert str(path) in caught.value.message


def test_files_without_profiles(tmp_path: Path) -> None:
    path = tmp_path / "x.cali"
    path.write_text(HEAD)
    with pytest.raises(DataProblem, match="no region with a metric"):
        read(path)
    path.write_text("")
    with pytest.raises(DataProblem, match="is empty"):
        read(path)
    path.write_bytes(b"__rec=ctx\xff\xfe\n")
    with pytest.raises(DataProblem, match=r"x\.cali"):
        read(path)


def test_broken_copies_are_refused_or_read(toy: Path) -> None:
    content = toy.read_bytes()
    refused = []
    for seed in range(150):
        rng = random.Random(seed)
        place = rng.randrange(len(content))
        cut = content[:place] if seed % 3 else content[:place] + content[place + 9 :]
        toy.write_bytes(cut)
        try:
            assert read(toy).rows == 1
        except CompassError as problem:
            refused.append(problem.message)
    assert len(refused) > 50
    assert [message for message in refused if str(toy) not in message] == []


# --- real files ------------------------------------------------------------------------------


@pytest.fixture
def profiles(real_data: Path) -> Path:
    if not (real_data / "profiles").is_dir():
        pytest.skip(f"no profiles in {real_data}")
    return real_data / "profiles"


def by_other_reader(path: Path) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """Paths and values of the region records as the package caliper-reader finds them."""
    caliperreader = pytest.importorskip("caliperreader")
    reader = caliperreader.CaliperReader()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        reader.read(str(path))
    found = []
    for record in reader.records:
        if record.get("spot.channel", "regionprofile") == "regionprofile" and "path" in record:
            where = record["path"]
            found.append((tuple(where) if isinstance(where, list) else (where,), record))
    return found


def regions_of(found: Profile, metric: str, way: str) -> dict[str, float]:
    return dict(zip(found.regions, found.metrics[metric].inclusive[way], strict=True))  # type: ignore[index]


@pytest.mark.parametrize(
    ("place", "column", "way"),
    [
        ("thicket_tests/mpi_scaling_cali/125_cores.cali", "max#inclusive#sum#time.duration", "max"),
        ("thicket_tests/mpi_scaling_cali/27_cores.cali", "avg#inclusive#sum#time.duration", "mean"),
        ("hatchet_tests/spotdb/0.cali", "sum#inclusive#sum#time.duration", "sum"),
        ("hatchet_tests/caliper-example-cali/example-profile.cali",
         "max#inclusive#sum#time.duration", "max"),
    ],
)  # fmt: skip
def test_inclusive_times_agree_with_caliper_reader(
    profiles: Path, place: str, column: str, way: str
) -> None:
    expected: dict[str, float] = defaultdict(float)
    total = 0.0
    for path, record in by_other_reader(profiles / place):
        if column in record and path[-1] not in path[:-1]:
            expected[path[-1]] += float(record[column])
            total += float(record[column]) if len(path) == 1 else 0.0
    found = Caliper().profile(profiles / place)
    measured = regions_of(found, "time", way)
    assert measured == {name: pytest.approx(value) for name, value in expected.items()}
    assert found.metrics["time"].total[way] == pytest.approx(total)  # type: ignore[index]


@pytest.mark.parametrize(
    "place",
    [
        "hatchet_tests/caliper-lulesh-cali/lulesh-annotation-profile.cali",
        "hatchet_tests/caliper-timeseries-cali/timeseries.cali",
    ],
)
def test_exclusive_times_become_inclusive(profiles: Path, place: str) -> None:
    expected: dict[str, float] = defaultdict(float)
    for path, record in by_other_reader(profiles / place):
        for column, scale in (("sum#time.duration", 1.0), ("sum#time.duration.ns", 1e-9)):
            for name in set(path) if column in record else ():
                expected[name] += float(record[column]) * scale
    measured = regions_of(Caliper().profile(profiles / place), "time", "sum")
    assert measured == {name: pytest.approx(value) for name, value in expected.items()}


def test_a_multi_run_set_has_a_row_per_file(profiles: Path) -> None:
    lassen = profiles / "rajaperf_quartz_lassen" / "lassen"
    paths = sorted(lassen.rglob("*.cali"))
    table = read(lassen)
    assert table.rows == len(paths) == 20
    assert [part.file for part in table.parts] == [str(path) for path in paths]
    tunings = [path.stem.split("-")[-1] for path in paths]
    assert table.arrow["tuning"].to_pylist() == tunings
    sizes = [float(path.parts[-3].split("_")[-1]) for path in paths]
    assert table.arrow["ProblemSizeRunParam"].to_pylist() == sizes
    times = [name for name in table.names if name.startswith("time.")]
    assert len(times) == 8
    assert all(table.arrow[name].null_count == 0 for name in times)
    totals = np.array(table.arrow["time"])
    assert all((np.array(table.arrow[name]) <= totals).all() for name in times)


def test_json_of_real_runs(profiles: Path) -> None:
    found = Caliper().profile(
        profiles / "hatchet_tests" / "caliper-lulesh-json" / "lulesh-annotation-profile.json"
    )
    with (
        profiles / "hatchet_tests/caliper-lulesh-json/lulesh-annotation-profile.json"
    ).open() as f:
        whole = json.load(f)
    main = [row[0] for row in whole["data"] if row[3] == 0]
    assert found.metrics["time"].total == {
        "max": max(main), "mean": pytest.approx(np.mean(main)), "sum": sum(main)
    }  # fmt: skip
    assert found.about["ranks"] == 8


def test_the_choice_of_a_counter(profiles: Path) -> None:
    quartz = profiles / "rajaperf_quartz_lassen" / "quartz"
    path = sorted(p for p in quartz.rglob("*.cali") if "topdown.retiring" in p.read_text())[0]
    options = ProfileOptions(metrics=("Retiring",), regions=("Apps_FIR",))
    found = Caliper(options).profile(path)
    values = [
        float(record["any#topdown.retiring"])
        for where, record in by_other_reader(path)
        if where[-1] == "Apps_FIR"
    ]
    assert regions_of(found, "Retiring", "max")["Apps_FIR"] == pytest.approx(np.mean(values))
    assert found.metrics["Retiring"].total == {}


def test_a_line_that_ends_in_the_middle_of_an_escape_keeps_its_last_part() -> None:
    # It was looked for from every place of the line, which took the square of its length.
    assert _entries("__rec=ctx,data=a\\,b\\") == {"__rec": ["ctx"], "data": ["a,b\\"]}
