"""HPCToolkit databases, old and new, against hatchet's numbers and hand-made files."""

import csv
import random
import shutil
import struct
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from compass.domain.errors import CompassError, DataProblem, UnknownName
from compass.readers import read
from compass.readers.profiles import read_runs
from compass.readers.profiles.base import Profile, ProfileOptions
from compass.readers.profiles.hpctoolkit import HpcToolkit

XML = """<?xml version="1.0"?>
<!DOCTYPE HPCToolkitExperiment [<!ELEMENT M EMPTY>
]>
<HPCToolkitExperiment version="2.0"><Header n="toy"><Info/></Header>
<SecCallPathProfile i="0" n="toy"><SecHeader>
<MetricTable>
<Metric i="2" n="REALTIME (usec):Sum (I)" t="inclusive"/>
<Metric i="3" n="REALTIME (usec):Sum (E)" t="exclusive"/>
<Metric i="4" n="REALTIME (usec):Mean (I)" t="inclusive"/>
</MetricTable>
<MetricDBTable>
<MetricDB i="0" n="REALTIME (usec) (I)" t="inclusive" db-id="0" db-num-metrics="2"/>
<MetricDB i="1" n="REALTIME (usec) (E)" t="exclusive" db-id="1" db-num-metrics="2"/>
</MetricDBTable>
<ProcedureTable><Procedure i="7" n="main"/><Procedure i="8" n="solve"/></ProcedureTable>
</SecHeader>
<SecCallPathProfileData>
<M n="2" v="9"/>
<PF i="2" n="7"><M n="2" v="3e6"/><M n="4" v="1.5e6"/>
<C i="3"><M n="2" v="9"/><PF i="4" n="8"><M n="2" v="2e6"/><M n="4" v="1e6"/>
<C i="5"><PF i="6" n="8"><M n="2" v="1e6"/><M n="4" v="5e5"/><S i="7"/></PF></C></PF></C></PF>
</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>
"""


def metric_db(inclusive: list[float]) -> bytes:
    """A file of one thread: for each node the inclusive value and nothing else."""
    head = b"HPCPROF-metricdb__00.10b" + struct.pack(">II", len(inclusive), 2)
    return head + b"".join(struct.pack(">dd", value, 0.0) for value in inclusive)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "experiment.xml").write_text(XML)
    for rank, scale in enumerate((1e6, 2e6)):
        values = [3 * scale, 3 * scale, 2 * scale, 2 * scale, scale, scale, scale]
        name = f"1.toy-{rank:06}-000-a8c0-16044{rank}-0.metric-db"
        (folder / name).write_bytes(metric_db(values))
    return folder


def profile(folder: Path, **options: object) -> Profile:
    return HpcToolkit(ProfileOptions(**options)).profile(folder)  # type: ignore[arg-type]


def test_a_database_is_one_row(toy: Path) -> None:
    table = read(toy)
    assert table.row(0) == {
        "run": "toy", "program": "toy", "ranks": 2, "threads": 2,
        "REALTIME": 6.0, "REALTIME.solve": 4.0,
    }  # fmt: skip
    assert table.arrow.schema.field("REALTIME").metadata == {b"unit": b"s"}
    assert read(toy / "experiment.xml").row(0)["REALTIME"] == 6.0


def test_recursion_counts_once_and_paths_can_be_asked_for(toy: Path) -> None:
    found = profile(toy, regions=("solve", "solve/solve", "main/solve"))
    at = dict(zip(found.regions, found.metrics["REALTIME"].inclusive["sum"], strict=True))
    own = dict(zip(found.regions, found.metrics["REALTIME"].exclusive["sum"], strict=True))
    assert at == {"main": 9.0, "solve": 6.0, "solve/solve": 3.0, "main/solve": 6.0}
    assert own == {"main": 3.0, "solve": 6.0, "solve/solve": 3.0, "main/solve": 3.0}


def test_without_files_of_threads_the_summary_is_used(toy: Path) -> None:
    for file in toy.glob("*.metric-db"):
        file.unlink()
    assert read_runs(toy).row(0) == {
        "run": "toy", "program": "toy", "REALTIME": 1.5, "REALTIME.solve": 1.0
    }  # fmt: skip
    assert read_runs(toy, ranks="sum").row(0)["REALTIME"] == 3.0
    with pytest.raises(DataProblem, match="does not hold the max"):
        read_runs(toy, ranks="max")


def test_an_unknown_metric_offers_the_nearest(toy: Path) -> None:
    with pytest.raises(UnknownName, match="no metric named 'RELTIME'") as caught:
        read_runs(toy, metrics=["RELTIME"])
    assert "REALTIME" in caught.value.hint


BOMB = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">\n' for n in range(12))


@pytest.mark.parametrize(
    "declared", [BOMB, '<!ENTITY x SYSTEM "file:///etc/passwd">', '<!ENTITY % x "y">']
)
def test_entities_are_refused(toy: Path, declared: str) -> None:
    file = toy / "experiment.xml"
    file.write_text(XML.replace("<!ELEMENT M EMPTY>\n", declared))
    with pytest.raises(DataProblem, match="declares the entity"):
        read(toy)


def test_files_that_do_not_fit_together(toy: Path) -> None:
    (toy / "1.toy-000001-000-a8c0-160441-0.metric-db").write_bytes(metric_db([1.0] * 3))
    with pytest.raises(DataProblem, match=r"160441-0.metric-db .*does not fit experiment.xml"):
        read(toy)


def broken(content: bytes, seed: int) -> bytes:
    """The content with one piece cut off, overwritten or taken out."""
    rng = random.Random(seed)
    place = rng.randrange(len(content))
    match rng.randrange(4):
        case 0:
            return content[:place]
        case 1:
            return content[:place] + b"\xff" * 8 + content[place + 8 :]
        case 2:
            return content[:place] + bytes(8) + content[place + 8 :]
        case _:
            return content[:place] + content[place + 30 :]


def check_broken(folder: Path, name: str, tries: int) -> int:
    """How many broken copies of a file are refused; each refusal names the file."""
    file = folder / name
    content = file.read_bytes()
    refused = []
    for seed in range(tries):
        file.write_bytes(broken(content, seed))
        try:
            assert read(folder).rows == 1
        except CompassError as problem:
            refused.append(problem.message)
    assert [message for message in refused if str(folder) not in message] == []
    file.write_bytes(content)
    assert read(folder).rows == 1
    return len(refused)


def test_damaged_files_are_told_by_name(toy: Path) -> None:
    assert check_broken(toy, "experiment.xml", 60) > 20
    assert check_broken(toy, "1.toy-000000-000-a8c0-160440-0.metric-db", 40) > 10
    (toy / "experiment.xml").write_text(XML[: len(XML) // 2])
    with pytest.raises(DataProblem, match=r"experiment.xml cannot be read as hpctoolkit"):
        read(toy)


# --- real databases --------------------------------------------------------------------------


@pytest.fixture
def profiles(real_data: Path) -> Path:
    if not (real_data / "profiles").is_dir():
        pytest.skip(f"no profiles in {real_data}")
    return real_data / "profiles"


def writable(source: Path, target: Path) -> Path:
    target.mkdir()
    for file in source.iterdir():
        if file.is_file():
            shutil.copyfile(file, target / file.name)
    return target


def test_cpi_agrees_with_the_table_that_hatchet_made(profiles: Path) -> None:
    inclusive: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    with (profiles / "hatchet_tests" / "hpctoolkit-cpi-graphframe.csv").open() as text:
        for row in csv.DictReader(text):
            if row["type"] == "PF":
                # hatchet writes the line of the call before some names
                name = row["name"].split(":", 1)[-1]
                inclusive[name][row["rank"]] += float(row["time (inc)"])
    found = profile(profiles / "hatchet_tests" / "hpctoolkit-cpi-database")
    time = found.metrics["CPUTIME"]
    assert time.total["sum"] == pytest.approx(3.998242)
    assert time.total["max"] == pytest.approx(1.000306)
    assert (found.about["ranks"], found.about["threads"]) == (4, 4)
    assert set(found.regions) == set(inclusive)
    for n, name in enumerate(found.regions):
        if name == "<unknown procedure>":  # calls itself; the table counts each level
            continue
        assert time.inclusive["sum"][n] * 1e6 == pytest.approx(sum(inclusive[name].values()))
        assert time.inclusive["max"][n] * 1e6 == pytest.approx(max(inclusive[name].values()))
    assert time.exclusive["sum"].sum() == pytest.approx(time.total["sum"])


def test_allgather_agrees_with_hatchet(profiles: Path) -> None:
    found = profile(profiles / "hatchet_tests" / "hpctoolkit-allgather-database")
    time = found.metrics["CPUTIME"]
    # Largest inclusive time of each of the ten ranks, as hatchet reads it.
    ranks = [
        2615761,
        2615895,
        2615739,
        2609734,
        2615742,
        2609469,
        2615908,
        2615967,
        2616218,
        2610149,
    ]
    main = found.regions.index("<program root>")
    assert time.inclusive["max"][main] * 1e6 == pytest.approx(max(ranks))
    assert time.inclusive["sum"][main] * 1e6 == pytest.approx(sum(ranks))
    assert time.inclusive["mean"][main] * 1e6 == pytest.approx(np.mean(ranks))
    assert (found.about["ranks"], found.about["threads"]) == (10, 20)


def test_a_new_database_agrees_with_hatchet(profiles: Path) -> None:
    found = profile(profiles / "pipit_tests" / "ping-pong-hpctoolkit")
    time = found.metrics["CPUTIME"]
    assert time.total["sum"] == pytest.approx(0.262070)
    at = dict(zip(found.regions, time.inclusive["sum"], strict=True))
    finalize = next(name for name in at if name.startswith("PMPI_Finalize"))
    assert at[finalize] == pytest.approx(0.012029)
    assert time.exclusive["sum"].sum() == pytest.approx(time.total["sum"])
    assert found.about == {"program": "ping-pong", "ranks": 2, "threads": 2}


def test_damaged_new_databases_are_told_by_name(profiles: Path, tmp_path: Path) -> None:
    folder = writable(profiles / "pipit_tests" / "ping-pong-hpctoolkit", tmp_path / "db")
    assert check_broken(folder, "meta.db", 60) > 15
    assert check_broken(folder, "profile.db", 60) > 15
    # A context whose children are itself must not keep the reader busy for ever.
    meta = folder / "meta.db"
    content = bytearray(meta.read_bytes())
    (section,) = struct.unpack_from("<Q", content, 0x48)
    (entries,) = struct.unpack_from("<Q", content, section)
    (child,) = struct.unpack_from("<Q", content, entries + 8)
    struct.pack_into("<QQ", content, child, 0x20, child)
    meta.write_bytes(content)
    with pytest.raises(DataProblem, match=r"meta.db .*stands in it twice"):
        read(folder)
