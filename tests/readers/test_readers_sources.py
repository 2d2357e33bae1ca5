"""Every way to name columnar files, every compression, and files that mean harm."""

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.arrow import UNIT
from compass.domain.errors import BadInput, CompassError, DataProblem, EnvironmentProblem
from compass.readers import columnar, files, inflate, read
from compass.readers.table import Table
from compass.readers.write import write

COLUMNS = {"n": [1, 2, None, 4], "t": [0.5, 1.5, 2.5, 3.5], "app": ["wrf", "é,x", None, "a\nb"]}
FORMATS = ("parquet", "feather", "csv", "tsv", "jsonl")
ENDINGS = ("", ".gz", ".zst", ".bz2", ".xz", ".lz4")


def table() -> pa.Table:
    seconds = pa.field("t", pa.float64(), metadata={UNIT: b"s"})
    schema = pa.schema([("n", pa.int64()), seconds, ("app", pa.large_string())])
    return pa.table(COLUMNS, schema=schema)


def text(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def refused(source: object, **options: bool) -> DataProblem:
    with pytest.raises(DataProblem) as caught:
        read(source, **options)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_survives_every_compression(tmp_path: Path, form: str) -> None:
    wanted = Table.of(table())
    for ending in ENDINGS:
        path = write(table(), tmp_path / f"x.{form}{ending}")
        found = read(path)
        assert found.fingerprint == wanted.fingerprint, ending
        keeps = form in ("parquet", "feather")
        assert found.arrow.schema.field("t").metadata == ({UNIT: b"s"} if keeps else None)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"x.{form}{ending}" for ending in ENDINGS
    )


def test_compressions_are_those_of_other_programs(tmp_path: Path) -> None:
    import bz2
    import lzma

    content = b"n,t\n1,2\n3,4\n"
    for ending, pack in ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)):
        (tmp_path / f"x.csv{ending}").write_bytes(pack(content))
    # Programs that append make files of several members.
    (tmp_path / "y.csv.gz").write_bytes(gzip.compress(content) + gzip.compress(b"5,6\n"))
    assert [part.rows for part in read(tmp_path).parts] == [2, 2, 2, 3]


def test_nested_folders_of_mixed_compression(tmp_path: Path) -> None:
    for place in ("a/1.csv", "a/b/c/2.csv.gz", "a/b/3.csv.zst", "4.csv.xz"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        write(pa.table({"n": [int(place.split(".")[0][-1])], "t": [1.5]}), tmp_path / place)
    text(tmp_path / ".git" / "5.csv", "n,t\n5,1\n")
    text(tmp_path / "_temporary" / "6.csv", "n,t\n6,1\n")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    found = read(tmp_path)
    assert sorted(found.arrow.column("n").to_pylist()) == [1, 2, 3, 4]
    assert read(str(tmp_path / "**" / "*.csv*")).rows >= 4
    assert read(str(tmp_path / "a" / "b" / "**" / "*.gz")).row(0)["n"] == 2


def test_file_addresses(tmp_path: Path) -> None:
    path = text(tmp_path / "my jobs.csv", "n,t\n1,2\n")
    address = path.as_uri()
    assert "%20" in address
    assert read(address).rows == 1
    assert read(address.replace("file://", "file://localhost")).rows == 1
    assert read([address, path]).rows == 2
    assert read(tmp_path.as_uri()).rows == 1
    assert "names the machine far" in refused("file://far/x.csv").message
    assert "curl" in refused("https://example.org/x.csv").hint
    assert "not a file" in refused("s3://bucket/x.csv").message


def test_a_json_list_is_read_like_json_lines(tmp_path: Path) -> None:
    rows = [{"n": 1, "t": 2, "o": {"a": "x"}}, {"n": 2, "t": 2.5}, {"t": None, "n": 3}]
    listed = text(tmp_path / "x.json", "\ufeff" + json.dumps(rows, indent=1))
    lines = text(tmp_path / "x.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert read(listed).fingerprint == read(lines).fingerprint
    assert read(listed).names == ("n", "t", "o.a")
    assert read(text(tmp_path / "y.json", '[{"n": NaN, "t": 1}]')).row(0) == {"n": None, "t": 1}
    for bad in ('[{"n": 1}, 2]', "[]", '[{"n": 1', "[" * 100_000):
        refused(text(tmp_path / "z.json", bad))


def test_a_missing_column_is_told_or_filled(tmp_path: Path) -> None:
    write(pa.table({"n": [1], "t": [0.5]}), tmp_path / "a.parquet")
    write(pa.table({"t": [1.5], "n": [2], "cap": [90]}), tmp_path / "b.parquet")
    problem = refused(tmp_path)
    assert "a.parquet has no column 'cap'" in problem.message
    assert "--fill" in problem.hint
    found = read(tmp_path, fill=True)
    assert found.row(0) == {"n": 1, "t": 0.5, "cap": None}
    assert found.row(1) == {"n": 2, "t": 1.5, "cap": 90}
    write(pa.table({"n": ["x"], "t": [0.5]}), tmp_path / "c.parquet")
    assert "column 'n'" in refused(tmp_path, fill=True).message


def test_many_small_files(tmp_path: Path) -> None:
    for i in range(1500):
        (tmp_path / f"{i:05}.csv").write_bytes(b"n,t\n%d,0.5\n" % i)
    found = read(tmp_path)
    assert found.arrow.column("n").to_pylist() == list(range(1500))
    assert found.part_of(1499)[0] == str(tmp_path / "01499.csv")
    # Every later step walks over the pieces, so there must not be one for each file.
    assert found.arrow.column("n").num_chunks == 1


def test_a_bomb_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert inflate.InflateLimits().allowed(10) == 1 << 28
    assert inflate.InflateLimits().allowed(1 << 30) == 64 << 30
    small = inflate.InflateLimits(total=1 << 24, ratio=50, free=1 << 20)
    monkeypatch.setattr(inflate, "limits", lambda: small)
    bomb = b"n,t\n" + b"0,0\n" * (1 << 20)
    for ending, pack in ((".gz", gzip.compress), (".zst", lambda b: pa.compress(b, "zstd"))):
        path = tmp_path / f"x.csv{ending}"
        packed = pack(bomb)
        path.write_bytes(packed if isinstance(packed, bytes) else packed.to_pybytes())
        problem = refused(path)
        assert "holds more than 1 MiB" in problem.message
        assert inflate.LIMIT_VARIABLE in problem.hint
    for name in ("x.parquet.gz", "x.jsonl.gz", "x.json.gz", "x.feather.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b'[{"a": 1}' + b" " * (4 << 20)))
        refused(tmp_path / name)
    assert read(write(table(), tmp_path / "good.csv.gz")).rows == 4


def test_a_parquet_file_of_too_many_equal_cells_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = inflate.InflateLimits(total=1 << 24, ratio=50, free=1 << 20)
    monkeypatch.setattr(columnar, "limits", lambda: small)
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"n": [True] * 200_000, "t": [False] * 200_000}), path)
    assert path.stat().st_size < 50_000
    assert "holds more than" in refused(path).message


def test_the_limit_is_a_persons_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(inflate.LIMIT_VARIABLE, "2")
    assert inflate.limits().allowed(10) == 2 << 30
    for bad in ("much", "0", "-1", "nan"):
        monkeypatch.setenv(inflate.LIMIT_VARIABLE, bad)
        with pytest.raises(BadInput, match="GiB"):
            inflate.limits()


def test_deep_json_does_not_end_the_process(tmp_path: Path) -> None:
    deep = '{"a": 1, "b": ' + "[" * 200_000 + "]" * 200_000 + "}\n"
    path = text(tmp_path / "x.jsonl", '{"a": 1, "b": []}\n' + deep)
    code = (
        "import sys\nfrom compass.readers import read\n"
        "from compass.domain.errors import DataProblem\n"
        "try:\n    read(sys.argv[1])\nexcept DataProblem as problem:\n    print(problem.message)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert "nested more than 1000 deep" in done.stdout
    # Brackets in texts count, but only up to the end of their line.
    lines = "".join(json.dumps({"a": i, "b": "[" * 900}) + "\n" for i in range(50))
    assert read(text(tmp_path / "y.jsonl", lines)).rows == 50


@pytest.mark.parametrize(
    "name", ["x.parquet", "x.feather", "x.csv.gz", "x.jsonl.zst", "x.csv.xz", "x.parquet.bz2"]
)
def test_damaged_files_are_told(tmp_path: Path, name: str) -> None:
    path = write(table(), tmp_path / name)
    good = path.read_bytes()
    rng = random.Random(7)
    hinted = 0
    for turn in range(60):
        bad = bytearray(good)
        if turn % 3 == 0:
            bad = bad[: rng.randrange(len(bad))]
        else:
            for _ in range(rng.randint(1, 6)):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
        path.write_bytes(bad)
        try:
            read(path)
        except CompassError as problem:
            hinted += bool(problem.hint)
    assert hinted > 15


def test_writing_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = write(table(), tmp_path / "x.csv")
    before = path.read_bytes()
    code = (
        "import resource, signal, sys\nimport pyarrow as pa\n"
        "from compass.readers.write import write\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "table = pa.table({'n': list(range(30_000)), 't': ['abc'] * 30_000})\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n        write(table, path)\n"
        "    except Exception as problem:\n        print(type(problem).__name__, problem.message)"
    )
    names = ("x.csv", "y.parquet", "z.jsonl", "x.csv.gz", "x.feather", "x.jsonl.xz")
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, *(str(tmp_path / name) for name in names)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(names), done
    assert all(line.startswith("EnvironmentProblem cannot write") for line in lines)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.csv"]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="how to write"):
        write(table(), tmp_path / "x.xlsx")
    with pytest.raises(BadInput, match="JSON has not"):
        write(pa.table({"n": [1.0], "t": [float("inf")]}), tmp_path / "x.jsonl")
    with pytest.raises(EnvironmentProblem, match="No such file"):
        write(table(), tmp_path / "no" / "x.csv")
    assert not list(tmp_path.iterdir())


def test_a_written_file_is_as_public_as_others(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        assert write(table(), tmp_path / "x.parquet").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(mask)


def test_a_text_with_a_colon_is_a_file_first(tmp_path: Path) -> None:
    path = text(tmp_path / "dataset:zeus", "n,t\n1,2\n")
    assert read(str(path)).rows == 1
    assert files.is_there(str(path))
    assert not files.is_there("x" * 10_000)
    assert "there is no file" in refused("nothing:here").message


@pytest.mark.parametrize("name", ["x" * 10_000, "a\0b"])
def test_a_name_that_no_file_can_have(name: str) -> None:
    problem = refused(name)
    assert problem.hint == ("is it a path?" if "\0" in name else "is it a file?")
    assert len(problem.message) < 300
