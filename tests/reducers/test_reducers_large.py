"""The same rows, whoever reads them, whatever the files are called, however they are cut."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from reduce_case import STUDY, bare, jobs, reduced, write

import compass as cp
from compass.domain.errors import BadInput, DataProblem, UnknownName
from compass.execute import opened
from compass.readers import batches, fragments
from compass.reducers import scan
from compass.reducers.plan import METHODS

_MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.fixture(autouse=True)
def _small_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "ROWS", 1000)


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Three files of unlike length."""
    folder = tmp_path / "source"
    folder.mkdir()
    return [
        write(folder / f"{name}.parquet", jobs(rows, seed))
        for name, rows, seed in (("a", 3000, 1), ("b", 1700, 2), ("c", 900, 3))
    ]


@pytest.mark.parametrize("executor", ["threads:3", "processes:2"])
def test_every_executor_keeps_the_same_rows(
    executor: str, three: list[Path], tmp_path: Path
) -> None:
    with opened(executor) as runner:
        for method in METHODS:
            one, first = reduced(three, tmp_path / "1.parquet", method=method)
            two, second = reduced(three, tmp_path / "2.parquet", method=method, executor=runner)
            assert first.equals(second)
            assert first.schema.metadata == second.schema.metadata
            different = {"output", "executor", "workers", "stages"}
            assert one.model_dump(exclude=different) == two.model_dump(exclude=different)
    assert (two.executor, two.workers) == (executor.partition(":")[0], int(executor[-1]))


def test_dask_keeps_the_same_rows(three: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    _, first = reduced(three, tmp_path / "1.parquet")
    report, second = reduced(three, tmp_path / "2.parquet", executor="dask:1")
    assert first.equals(second)
    assert report.executor == "dask"


@pytest.mark.skipif(_MPIEXEC is None, reason="there is no mpiexec")
def test_the_ranks_of_mpi_keep_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # fragments are as large there as they are
    source = [write(tmp_path / f"{n}.parquet", jobs(1500, n)) for n in range(3)]
    roles = [
        word
        for name, one in STUDY.model_dump(exclude_unset=True)["columns"].items()
        for word in ("--role", f"{name}={one['role'].value}")
    ]
    command = [str(_MPIEXEC), "-n", "3", sys.executable, "-m", "compass.cli.main", "reduce"]
    files = [*map(str, source), "-o", str(tmp_path / "mpi.parquet"), "--keep", "0.1"]
    done = subprocess.run(
        [*command, *files, *roles, "--executor", "mpi", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"workers": 2' in done.stdout
    _, single = reduced(source, tmp_path / "alone.parquet")
    assert parquet.read_table(tmp_path / "mpi.parquet").equals(single)


def test_names_places_and_order_of_files_do_not_matter(three: list[Path], tmp_path: Path) -> None:
    _, first = reduced(three, tmp_path / "1.parquet")
    other = tmp_path / "other"
    other.mkdir()
    for path, name in zip(three, ("z", "k", "x"), strict=True):
        shutil.copy(path, other / f"{name}.parquet")
    for source in (three[::-1], three[0].parent, str(three[0].parent / "*.parquet"), other):
        _, again = reduced(source, tmp_path / "2.parquet")
        assert bare(again).equals(bare(first))
    by_name = {"a": "z", "b": "k", "c": "x"}
    moved = [by_name[Path(name).stem] for name in first.column("sample_file").to_pylist()]
    assert [Path(name).stem for name in again.column("sample_file").to_pylist()] == moved


def test_a_file_listed_twice_is_two_sets_of_rows(three: list[Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy.parquet"
    shutil.copy(three[0], copy)
    report, twice = reduced([three[0], three[0]], tmp_path / "1.parquet", keep=0.2)
    assert report.rows == 6000
    rows = twice.column("sample_row").to_pylist()
    falls = [n for n in range(1, len(rows)) if rows[n] < rows[n - 1]]
    assert len(falls) == 1  # one set of rows after the other, and not the same ones
    assert rows[: falls[0]] != rows[falls[0] :]
    dotted = three[0].parent / "." / ".." / three[0].parent.name / three[0].name
    for source in ([three[0], copy], [copy, three[0]], [three[0], dotted]):
        _, again = reduced(source, tmp_path / "2.parquet", keep=0.2)
        assert bare(again).equals(bare(twice))


def test_one_file_visited_often_is_as_many_rows(three: list[Path], tmp_path: Path) -> None:
    report, sample = reduced([three[2]] * 20, tmp_path / "1.parquet", method="uniform")
    assert (report.rows, report.files, report.fragments) == (18_000, 1, 20)
    assert report.weight == pytest.approx(report.usable, rel=0.12)
    assert len(set(sample.column("id").to_pylist())) > 600


def test_cuts_into_batches_and_row_groups_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "a.parquet", jobs(3000))
    _, first = reduced(source, tmp_path / "1.parquet")
    for rows in (37, 512, 999):
        monkeypatch.setattr(scan, "batches", partial(batches.batches, rows=rows))
        _, again = reduced(source, tmp_path / "2.parquet")
        assert again.equals(first), rows
    # Fragments of other sizes: the same numbers of rows, so the same rows of a uniform sample.
    _, alike = reduced(source, tmp_path / "3.parquet", method="uniform")
    for size in (500, 1 << 20):
        monkeypatch.setattr(fragments, "ROWS", size)
        _, again = reduced(source, tmp_path / "4.parquet", method="uniform")
        assert again.equals(alike)


def test_another_seed_or_share_gives_other_rows(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(3000))
    one, two, less = (
        set(reduced(source, tmp_path / "s.parquet", method="uniform", **how)[1]["id"].to_pylist())
        for how in ({"seed": 1}, {"seed": 2}, {"seed": 1, "keep": 0.05})
    )
    assert len(one & two) < 0.3 * len(one)
    assert less < one  # a smaller share of the same draw


class Elsewhere:
    """Workers whose current folder is another one."""

    name = "elsewhere"
    workers = 1

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def map(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        before = Path.cwd()
        for position, item in enumerate(items):
            os.chdir(self.folder)
            try:
                result = work(item)
            finally:
                os.chdir(before)
            yield position, result

    def close(self) -> None:
        pass


def test_workers_may_be_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "away").mkdir()
    write(tmp_path / "a.parquet", jobs(2000))
    monkeypatch.chdir(tmp_path)
    _, first = reduced("a.parquet", Path("1.parquet"))
    _, second = reduced("a.parquet", Path("2.parquet"), executor=Elsewhere(tmp_path / "away"))
    assert first.equals(second)
    assert set(second.column("sample_file").to_pylist()) == {"a.parquet"}


def test_a_sample_is_read_with_its_weights(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(3000))
    report, sample = reduced(source, tmp_path / "s.parquet")
    data = cp.read(tmp_path / "s.parquet", study=STUDY)
    assert data.prepared.weight.sum() == pytest.approx(report.weight)
    assert data.table.sampled is not None
    assert data.table.sampled.words.startswith("a sample of 10 % (guided, seed 7)")
    row = sample.column("sample_row")[5].as_py()
    assert data.table.source_of(5) == f"row {row} of {source}"


def test_a_sample_of_a_sample_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(3000))
    reduced(source, tmp_path / "s.parquet")
    with pytest.raises(DataProblem, match="is a sample already"):
        reduced(tmp_path / "s.parquet", tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("how", "problem", "message"),
    [
        ({"keep": 0.0}, BadInput, "share of rows"),
        ({"keep": 1.5}, BadInput, "share of rows"),
        ({"method": "guidde"}, UnknownName, "did you mean guided"),
        ({"by": ["app"]}, BadInput, "makes no strata"),
        ({"method": "stratified", "by": ["ap"]}, UnknownName, "did you mean app"),
        ({"executor": "threads:x"}, BadInput, "number of workers"),
        ({"study": cp.Study(drop=("runtime",))}, BadInput, "no column is an outcome"),
    ],
)
def test_what_cannot_be_meant_is_told(
    how: dict[str, Any], problem: type[Exception], message: str, tmp_path: Path
) -> None:
    source = write(tmp_path / "a.parquet", jobs(600))
    with pytest.raises(problem) as caught:
        reduced(source, tmp_path / "s.parquet", **how)
    assert message in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_where_the_sample_cannot_be_is_told_before_the_work(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(600))
    for output, message in (
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "s.parquet", "there is no folder"),
        (tmp_path / "s.csv", "a sample is a Parquet file"),
        (source, "is one of the files to read"),
        (tmp_path / "." / "a.parquet", "is one of the files to read"),
    ):
        with pytest.raises(BadInput, match=message):
            reduced(source, output)
    assert parquet.read_table(source).equals(jobs(600))
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_sources_that_hold_nothing_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataProblem, match="the list of files is empty"):
        reduced([], tmp_path / "s.parquet")
    empty = write(tmp_path / "empty.parquet", jobs(10).slice(0, 0))
    with pytest.raises(DataProblem, match="holds no rows"):
        reduced(empty, tmp_path / "s.parquet")
    with parquet.ParquetWriter(tmp_path / "none.parquet", jobs(10).schema):
        pass  # not even an empty row group
    with pytest.raises(DataProblem, match="holds no rows"):
        reduced(tmp_path / "none.parquet", tmp_path / "s.parquet")
    _, with_empty = reduced(
        [write(tmp_path / "a.parquet", jobs(900)), empty], tmp_path / "s.parquet"
    )
    assert with_empty.num_rows > 50


def test_progress_is_told(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(3000))
    steps: list[tuple[str, int, int, int]] = []
    reduced(source, tmp_path / "s.parquet", tell=lambda *now: steps.append(now))
    assert list(dict.fromkeys(now[0] for now in steps)) == ["looking", "reading", "writing"]
    reading = [now for now in steps if now[0] == "reading"]
    assert reading[0][3] == 0
    assert reading[-1][3] == 3000
    assert reading[-1][1] == reading[-1][2] > 0
    assert [now[3] for now in reading] == sorted(now[3] for now in reading)


def test_columns_that_a_study_drops_are_not_in_the_sample(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(1500))
    study = STUDY.model_copy(update={"drop": ("id",)})
    _, sample = reduced(source, tmp_path / "s.parquet", study=study)
    assert sample.column_names == [
        *("app", "nodes", "size", "runtime"),
        *("sample_weight", "sample_file", "sample_row"),
    ]
    assert sample.schema.field("sample_row").type == pa.int64()
