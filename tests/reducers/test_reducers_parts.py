"""Runs that are stopped, killed or out of disk: nothing half-written, and the next one goes on."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from reduce_case import jobs, reduced, write

from compass.domain.errors import DataProblem, EnvironmentProblem
from compass.execute.base import WorkerLost
from compass.readers import fragments
from compass.readers.fragments import Fragment
from compass.reducers import large, parts
from compass.reducers.statistics import Tally

_PROGRAM = Path(__file__).with_name("reduce_program.py")


@pytest.fixture(autouse=True)
def _small_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "ROWS", 500)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Twelve fragments."""
    return write(tmp_path / "a.parquet", jobs())


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.name != "a.parquet")


def wait_for(seen: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 60
    while not seen():
        assert process.poll() is None, "it ended too soon"
        assert time.monotonic() < until
        time.sleep(0.01)


def workers_of(pid: int) -> list[int]:
    """The processes that work for a program; Python's own keeper of resources is none."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [
        int(child)
        for child in children
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


class Failing:
    """Does some items, then fails."""

    name = "failing"
    workers = 1

    def __init__(self, items: int, problem: BaseException) -> None:
        self.items = items
        self.problem = problem

    def map(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for position in range(self.items):
            yield position, work(items[position])
        raise self.problem

    def close(self) -> None:
        pass


def test_a_run_that_was_stopped_goes_on_and_gives_the_same_sample(
    source: Path, tmp_path: Path
) -> None:
    whole, sample = reduced(source, tmp_path / "whole.parquet")
    output = tmp_path / "s.parquet"
    with pytest.raises(KeyboardInterrupt):
        reduced(source, output, executor=Failing(5, KeyboardInterrupt()))
    assert not output.exists()
    folder = parts.folder_of(output)
    assert len(list(folder.glob("*.arrow"))) == 5
    (folder / ".000007.arrow-123").write_bytes(b"half of a part")
    (folder / "000006.arrow").write_bytes((folder / "000001.arrow").read_bytes()[:-20])
    report, again = reduced(source, output)
    assert report.resumed == 5
    assert again.equals(sample)
    different = {"output", "resumed", "stages"}
    assert report.model_dump(exclude=different) == whole.model_dump(exclude=different)
    assert left(tmp_path) == ["s.parquet", "whole.parquet"]


@pytest.mark.parametrize(
    "other", [{"seed": 8}, {"keep": 0.2}, {"where": ["nodes > 1"]}, {"method": "uniform"}]
)
def test_parts_of_another_command_are_not_used(
    other: dict[str, Any], source: Path, tmp_path: Path
) -> None:
    _, sample = reduced(source, tmp_path / "whole.parquet", **other)
    output = tmp_path / "s.parquet"
    with pytest.raises(KeyboardInterrupt):
        reduced(source, output, executor=Failing(5, KeyboardInterrupt()))
    report, again = reduced(source, output, **other)
    assert report.resumed == 0
    assert again.equals(sample)


def test_the_only_part_of_another_seed_is_not_used(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "ROWS", 6000)  # one fragment: any seed looks at the same rows
    output = tmp_path / "s.parquet"
    with pytest.raises(KeyboardInterrupt):
        reduced(source, output, seed=1, executor=Failing(1, KeyboardInterrupt()))
    report, _ = reduced(source, output, seed=2)
    assert report.resumed == 0


def test_parts_of_other_data_are_not_used(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "s.parquet"
    with pytest.raises(KeyboardInterrupt):
        reduced(source, output, executor=Failing(5, KeyboardInterrupt()))
    write(source, jobs(seed=2))
    report, _ = reduced(source, output)
    assert report.resumed == 0
    assert report.rows == 6000


def test_a_lost_worker_is_told_with_its_fragment(source: Path, tmp_path: Path) -> None:
    lost = WorkerLost("a worker was killed (signal 9)", hint="give it more memory", position=4)
    with pytest.raises(WorkerLost, match=r"a\.parquet \(row groups \d+-\d+\)") as caught:
        reduced(source, tmp_path / "s.parquet", executor=Failing(4, lost))
    assert "goes on with the 8 fragments that are left" in caught.value.hint
    assert "give it more memory" in caught.value.hint
    assert not (tmp_path / "s.parquet").exists()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="there is no /proc")
def test_killed_workers_and_a_killed_program_cost_only_what_they_were_doing(
    source: Path, tmp_path: Path
) -> None:
    output = tmp_path / "s.parquet"
    folder = parts.folder_of(output)
    program = subprocess.Popen(
        [sys.executable, str(_PROGRAM), str(source), str(output), "processes:2", "0.25"],
        env=os.environ | {"PYTHONPATH": str(_PROGRAM.parent)},
    )
    try:
        wait_for(lambda: len(list(folder.glob("*.arrow"))) >= 1, program)
        victims = workers_of(program.pid)
        assert len(victims) == 2
        os.kill(victims[0], signal.SIGKILL)
        # The other one and a new one carry on.
        wait_for(lambda: len(list(folder.glob("*.arrow"))) >= 5, program)
        rest = workers_of(program.pid)
    finally:
        program.kill()
        program.wait()
    done = len(list(folder.glob("*.arrow")))
    assert 5 <= done < 12
    assert not output.exists()
    until = time.monotonic() + 20
    while any(map(alive, rest)):
        assert time.monotonic() < until, "a worker outlives its program"
        time.sleep(0.02)
    report, sample = reduced(source, output)
    assert report.resumed >= done
    _, whole = reduced(source, tmp_path / "whole.parquet")
    assert sample.equals(whole)
    assert left(tmp_path) == ["s.parquet", "whole.parquet"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with hardly any room."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if not made or made.returncode:
        pytest.skip("not allowed to mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(
    source: Path, tmp_path: Path, tiny_disk: Path
) -> None:
    filler = tiny_disk / "filler"
    filler.write_bytes(bytes(420_000))
    output = tiny_disk / "s.parquet"
    with pytest.raises(EnvironmentProblem, match=r"row groups .*No space left") as caught:
        reduced(source, output, keep=0.5)
    assert "make room and run the same command again" in caught.value.hint
    assert not list(tiny_disk.rglob(".*-*"))
    assert not output.exists()
    filler.unlink()
    report, sample = reduced(source, output, keep=0.5)
    assert report.resumed > 0
    _, whole = reduced(source, tmp_path / "whole.parquet", keep=0.5)
    assert sample.equals(whole)
    assert os.listdir(tiny_disk) == ["s.parquet"]


def test_a_disk_that_is_full_at_the_end_keeps_the_parts(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "s.parquet"
    real = parquet.ParquetWriter.write_table

    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write_table", full)
    with pytest.raises(EnvironmentProblem, match=r"cannot write .*s\.parquet.*No space") as caught:
        reduced(source, output)
    assert "goes on where it stopped" in caught.value.hint
    assert not list(tmp_path.rglob(".*-*"))
    monkeypatch.setattr(parquet.ParquetWriter, "write_table", real)
    report, _ = reduced(source, output)
    assert report.resumed == report.fragments == 12


def test_what_a_killed_run_left_of_its_sample_goes_too(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "s.parquet"
    with pytest.raises(KeyboardInterrupt):
        reduced(source, output, executor=Failing(12, KeyboardInterrupt()))
    (parts.folder_of(output) / ".s.parquet-123").write_bytes(b"PAR1")
    reduced(source, output)
    assert left(tmp_path) == ["s.parquet"]


def test_an_older_sample_stays_until_the_new_one_is_complete(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "s.parquet"
    _, old = reduced(source, output, seed=1)
    with pytest.raises(KeyboardInterrupt):
        reduced(source, output, seed=2, executor=Failing(5, KeyboardInterrupt()))
    assert parquet.read_table(output).equals(old)
    _, new = reduced(source, output, seed=2)
    assert not new.equals(old)


def damaged(source: Path, group: int, column: int) -> Path:
    """The same file, with nonsense in a column of a row group."""
    place = source.with_name("bad.parquet")
    text = bytearray(source.read_bytes())
    start = parquet.ParquetFile(source).metadata.row_group(group).column(column).data_page_offset
    text[start : start + 60] = b"\xff" * 60
    place.write_bytes(text)
    return place


def test_a_damaged_row_group_is_named_and_can_be_passed_over(source: Path, tmp_path: Path) -> None:
    bad = damaged(source, group=5, column=3)
    output = tmp_path / "s.parquet"
    with pytest.raises(DataProblem, match=r"bad\.parquet \(row groups 5-5\)") as caught:
        reduced(bad, output)
    assert "--skip-unreadable" in caught.value.hint
    assert caught.value.message.isprintable()
    assert "s.parquet" not in left(tmp_path)
    report, sample = reduced(bad, output, skip_unreadable=True)
    assert list(report.unreadable) == [f"{bad} (row groups 5-5)"]
    assert report.rows == 5500
    assert "1 fragments could not be read and are not in the sample" in report.notes
    rows = jobs().to_pylist()
    for found in sample.to_pylist():
        assert rows[found["sample_row"]]["id"] == found["id"]
        assert not 2500 <= found["sample_row"] < 3000


def test_damage_that_is_only_found_in_the_pass_is_told_too(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look reads the beginning of a fragment; the rest of it may be broken."""
    monkeypatch.setattr("compass.reducers.pilot._LEAST", 50)
    monkeypatch.setattr(fragments, "ROWS", 3000)
    bad = damaged(source, group=5, column=3)
    how = large.ReduceSettings(pool=100)
    output = tmp_path / "s.parquet"
    with pytest.raises(DataProblem, match=r"bad\.parquet \(row groups 0-5\)"):
        reduced(bad, output, settings=how)
    assert not output.exists()
    report, _ = reduced(bad, output, settings=how, skip_unreadable=True)
    assert (report.rows, len(report.unreadable)) == (3000, 1)
    assert left(tmp_path) == ["bad.parquet", "s.parquet"]


def test_a_file_that_was_cut_short_is_told_or_passed_over(source: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.parquet"
    short.write_bytes(source.read_bytes()[:-5000])
    output = tmp_path / "s.parquet"
    with pytest.raises(DataProblem, match=r"short\.parquet cannot be read as a Parquet file"):
        reduced([source, short], output)
    report, sample = reduced([source, short], output, skip_unreadable=True)
    assert list(report.unreadable) == [str(short)]
    assert report.rows == 6000
    assert set(sample.column("sample_file").to_pylist()) == {str(source)}
    with pytest.raises(DataProblem):
        reduced(short, output, skip_unreadable=True)  # nothing is left


def piece(start: int, first_row: int | None) -> Fragment:
    return Fragment("f", "csv", "csv", start, start + 1, first_row, None, 1, "x", 0)


def test_rows_after_unreadable_text_have_no_number() -> None:
    text = [piece(0, 0), piece(1, None), piece(2, None)]
    assert parts.first_rows(text, [Tally(rows=n) for n in (5, 7, 2)]) == [0, 5, 12]
    broken = [Tally(rows=5), Tally(problem="broken"), Tally(rows=2)]
    assert parts.first_rows(text, broken) == [0, 5, None]
    groups = [piece(0, 0), piece(1, 100), piece(2, 200)]
    assert parts.first_rows(groups, broken) == [0, 100, 200]


def test_a_part_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    table = pa.table({"x": [1, 2]})
    place = tmp_path / "000000.arrow"
    parts.write_part(place, [table], Tally(rows=9), piece(0, 0))
    assert parts.read_tally(place) == Tally(rows=9)
    assert [path.name for path in tmp_path.iterdir()] == [place.name]
    text = place.read_bytes()
    for cut in range(0, len(text), 16):
        place.write_bytes(text[:cut])
        assert parts.read_tally(place) is None
    assert parts.read_tally(tmp_path / "none") is None


def test_nothing_kept_is_told(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(100))
    with pytest.raises(DataProblem, match="no row was kept"):
        reduced(source, tmp_path / "s.parquet", keep=1e-9, method="uniform")
    assert not (tmp_path / "s.parquet").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_nobody_may_write_into_is_told(source: Path, tmp_path: Path) -> None:
    place = tmp_path / "locked"
    place.mkdir(mode=0o500)
    with pytest.raises(EnvironmentProblem, match="cannot write"):
        reduced(source, place / "s.parquet")
