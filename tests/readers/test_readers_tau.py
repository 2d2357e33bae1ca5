"""TAU profiles: hand-made folders, and a real one against hatchet's numbers."""

import random
from pathlib import Path

import pytest

from compass.domain.errors import CompassError, DataProblem
from compass.readers import files, read
from compass.readers.profiles import read_runs
from compass.readers.profiles.base import ProfileOptions
from compass.readers.profiles.tau import Tau

METADATA = (
    "<metadata><attribute><name>Metric Name</name><value>TIME</value></attribute>"
    "<attribute><name>OMP &amp; threads</name><value>4</value></attribute>"
    "<attribute><name>TAU_PROFILE</name><value>on</value></attribute>"
    "<attribute><name>pid</name><value>{rank}</value></attribute></metadata>"
)


def thread(rank: int, metric: str = "TIME", metadata: str = METADATA) -> str:
    """main calls solve twice, which calls MPI_Wait; on rank 1 all takes twice as long."""
    n = (rank + 1) * 1_000_000
    return (
        f"5 templated_functions_MULTI_{metric}\n"
        f"# Name Calls Subrs Excl Incl ProfileCalls # {metadata.format(rank=rank)}\n"
        f'"main" 1 2 {n} {6 * n} 0 GROUP="TAU_DEFAULT"\n'
        f'"solve [{{a.c}} {{1,2}}]" 2 2 {2 * n} {5 * n} 0 GROUP="TAU_USER"\n'
        f'"main => solve [{{a.c}} {{1,2}}]" 2 2 {2 * n} {5 * n} 0 GROUP="TAU_CALLPATH"\n'
        f'"MPI_Wait()  " 1 0 {3 * n} {3 * n} 0 GROUP="MPI"\n'
        f'"main => solve [{{a.c}} {{1,2}}] => MPI_Wait()  " 1 0 {3 * n} {3 * n} 0 GROUP="MPI"\n'
        '0 aggregates\n1 userevents\n# eventname numevents max min mean sumsqr\n"x" 1 4 4 4 16\n'
    )


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    folder = tmp_path / "toy"
    folder.mkdir()
    for rank in (0, 1):
        (folder / f"profile.{rank}.0.0").write_text(thread(rank))
    return folder


def test_a_folder_is_one_row(toy: Path) -> None:
    table = read(toy)
    assert table.row(0) == {
        "run": "toy", "OMP & threads": 4, "ranks": 2, "threads": 2, "time": 12.0,
        "time.MPI_Wait()": 6.0, "time.solve [{a.c} {1,2}]": 10.0,
    }  # fmt: skip
    assert table.arrow.schema.field("time").metadata == {b"unit": b"s"}
    assert files.reader_for(toy).name == "tau"


def test_one_file_is_a_run_of_one_thread(toy: Path) -> None:
    row = read(toy / "profile.1.0.0").row(0)
    assert (row["time"], row["ranks"], row["pid"]) == (12.0, 1, 1)


def test_names_with_quotes_and_lines_without_a_group(toy: Path) -> None:
    file = toy / "profile.0.0.0"
    text = file.read_text().replace('"MPI_Wait()  " 1 0', '"say" 1 2 3 4 5 GROUP="x" 1 0')
    file.write_text(text.replace(' GROUP="TAU_DEFAULT"', ""))
    assert read(file).row(0)['time.say" 1 2 3 4 5 GROUP="x'] == 3.0


def test_call_paths_and_ways_over_ranks(toy: Path) -> None:
    asked = "solve [{a.c} {1,2}]/MPI_Wait()"
    row = read_runs(toy, regions=[asked, "main"], ranks="mean").row(0)
    assert (row["time"], row[f"time.{asked}"], row["time.main"]) == (9.0, 4.5, 9.0)


def test_several_metrics_stand_in_folders(tmp_path: Path) -> None:
    for metric in ("TIME", "PAPI_TOT_CYC"):
        folder = tmp_path / "run" / f"MULTI__{metric}"
        folder.mkdir(parents=True)
        for rank in (0, 1):
            (folder / f"profile.{rank}.0.0").write_text(thread(rank, metric))
    assert read(tmp_path / "run").row(0)["time"] == 12.0
    table = read_runs(tmp_path, metrics=["PAPI_TOT_CYC", "time"], regions=["main"], ranks="sum")
    assert table.row(0)["PAPI_TOT_CYC.main"] == 18_000_000
    assert table.row(0)["time.main"] == 18.0
    assert table.arrow.schema.field("PAPI_TOT_CYC").metadata is None


def test_ten_ranks_come_in_order_of_their_numbers(toy: Path) -> None:
    for rank in range(2, 11):
        (toy / f"profile.{rank}.0.0").write_text(thread(rank))
    row = read(toy).row(0)
    assert (row["ranks"], row["time"]) == (11, 66.0)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("5 templated", "500 templated", "500 functions should follow"),
        ("5 templated_functions", "five functions", "first line"),
        ('"main" 1 2', '"main" 1', "line 3 is not a function"),
        (" 1000000 6000000", " nan 6000000", "line 3 holds a value that is not a number"),
        ("</metadata>", "", "metadata breaks off"),
        ("</name>", "</nome>", "metadata is broken"),
        ("<metadata>", '<!DOCTYPE x [<!ENTITY a "b">]><metadata>', None),
    ],
)
def test_damage_is_told_by_file(toy: Path, old: str, new: str, why: str | None) -> None:
    file = toy / "profile.0.0.0"
    file.write_text(file.read_text().replace(old, new, 1))
    if why is None:  # what stands before the metadata is not read
        assert read(toy).rows == 1
        return
    with pytest.raises(DataProblem, match=r"profile\.0\.0\.0") as caught:
        read(toy)
    assert why in caught.value.message


def test_entities_in_metadata_are_refused(toy: Path) -> None:
    bomb = '<metadata><!DOCTYPE x [<!ENTITY a "b">]></metadata>'
    (toy / "profile.0.0.0").write_text(thread(0, metadata=bomb))
    with pytest.raises(DataProblem, match=r"profile\.0\.0\.0"):
        read(toy)


def test_broken_copies_are_refused_or_read(toy: Path) -> None:
    file = toy / "profile.1.0.0"
    content = file.read_bytes()
    refused = []
    for seed in range(100):
        place = random.Random(seed).randrange(len(content))
        file.write_bytes(content[:place] + (content[place + 7 :] if seed % 2 else b""))
        try:
            assert read(toy).rows == 1
        except CompassError as problem:
            refused.append(problem.message)
    assert len(refused) > 40
    assert [message for message in refused if str(toy) not in message] == []


def test_cpi_agrees_with_hatchet(real_data: Path) -> None:
    folder = real_data / "profiles" / "hatchet_tests" / "tau-cpi-mpi"
    if not folder.is_dir():
        pytest.skip(f"no profiles in {real_data}")
    found = Tau(ProfileOptions(regions=(".TAU application/MPI_Finalize()",))).profile(folder)
    at = {name: n for n, name in enumerate(found.regions)}
    time = found.metrics["time"]
    roots = [51781, 55329, 54029, 52908]  # inclusive microseconds of the four ranks
    opened = [27490, 26904, 27029, 27051]
    finalize = [32304, 32754, 32755, 32754]
    assert time.total["sum"] * 1e6 == pytest.approx(sum(roots))
    assert time.total["max"] * 1e6 == pytest.approx(max(roots))
    assert time.inclusive["max"][at["MPI_File_open()"]] * 1e6 == pytest.approx(max(opened))
    assert time.inclusive["mean"][at["MPI_File_open()"]] * 1e6 == pytest.approx(sum(opened) / 4)
    path = at[".TAU application/MPI_Finalize()"]
    assert time.inclusive["sum"][path] * 1e6 == pytest.approx(sum(finalize))
    assert found.about["CPU Cores"] == 16
    assert not any(name.startswith("TAU_") for name in found.about)
