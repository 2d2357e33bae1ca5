"""Files as they should not be: `read` and `compass columns` take them, or say what is wrong."""

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_case import compass

import compass as cp
from compass.domain.errors import CompassError

MARK = b"\xef\xbb\xbf"  # of the byte order
TABLE = b"a,b\n1,2\n3,4\n5,6\n7,8\n1,3\n"
LONG = b"x" * 200_000


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("runs.csv", content)
    return out.getvalue()


WHOLE = parquet(pa.table({"a": [1, 2, 3], "b": [3.0, 4.0, 5.0]}))
FAR = pa.table({"a": pa.array([2**62, -(2**62)], pa.timestamp("us")), "b": [1, 2]})

REFUSED: dict[str, tuple[bytes, str]] = {
    # name: content, and a piece of what is reported about it
    "empty.csv": (b"", "is empty"),
    "newline.csv": (b"\n", "is empty"),
    "blanks.csv": (b"  \n \t \n", "is empty"),
    "mark.csv": (MARK, "is empty"),
    "mark.tsv": (MARK, "is empty"),
    "mark-and-newlines.csv": (MARK + b"\n\n", "is empty"),
    "mark.csv.gz": (gzip.compress(MARK), "is empty"),
    "mark.jsonl": (MARK, "is empty"),
    "mark-and-header.csv": (MARK + b"a,b\n", "no rows"),
    "header.csv": (b"a,b\n", "no rows"),
    "nuls.csv": (b"\0" * 100, "is not text"),
    "long-name.csv": (LONG + b",b\n1,2\n", "more than 131,072 characters"),
    "long-name.tsv": (LONG + b"\tb\n1\t2\n", "more than 131,072 characters"),
    "long-quoted-name.csv": (b'"' + LONG + b'",b\n1,2\n', "more than 131,072 characters"),
    "long-name.csv.gz": (gzip.compress(LONG + b",b\n1,2\n"), "more than 131,072 characters"),
    "long-cell.csv": (b"a,b\n" + b"x" * 3_000_000 + b",1\ny,2\n", "a row has more than 1 MB"),
    "one-name-twice.csv": (b"a,a,b\n1,2,3\n", "several columns named a"),
    "a-place-twice.csv": (b"column_2,,b\n1,2,3\n", "several columns named column_2"),
    "lone-quote.csv": (b'"a,b\n1,2\n', "one column only"),
    "utf-16.csv": ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
    "latin-1.csv": ("a,b\nzä,2\n".encode("latin-1"), "not UTF-8"),
    "nothing.csv.gz": (gzip.compress(b""), "is empty"),
    "nothing.csv.bz2": (bz2.compress(b""), "is empty"),
    "nothing.csv.xz": (lzma.compress(b""), "is empty"),
    "cut.csv.gz": (gzip.compress(TABLE * 1000)[:-20], "cannot"),
    "cut.csv.bz2": (bz2.compress(TABLE * 1000)[:-5], "cannot"),
    "cut.csv.xz": (lzma.compress(TABLE * 1000)[:-20], "cannot"),
    "cut.csv.zst": (pa.compress(TABLE * 1000, codec="zstd", asbytes=True)[:-10], "cannot"),
    "not.csv.zst": (TABLE, "cannot uncompress"),
    "runs.zip": (zipped(TABLE), "cannot tell what kind of file"),
    "cut.zip": (zipped(TABLE)[:-10], "cannot tell what kind of file"),
    "no-columns.parquet": (parquet(pa.table({})), "no columns"),
    "no-rows.parquet": (parquet(pa.table({"a": pa.nulls(0), "b": pa.nulls(0)})), "no rows"),
    "cut.parquet": (WHOLE[:-10], "cannot be read as a Parquet file"),
    "half.parquet": (WHOLE[: len(WHOLE) // 2], "cannot be read as a Parquet file"),
    "footer.parquet": (b"PAR1\0\0\0\0PAR1", "cannot be read as a Parquet file"),
    "number.json": (b"3", "not"),
    "numbers.json": (b"[1, 2]", "not a list of JSON objects"),
    "deep.json": (b"[" * 100_000 + b"]" * 100_000, "cannot read"),
    "deep-objects.json": (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "nested too deeply"),
    "deep.jsonl": (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "nested more than"),
    "digits.json": (b'[{"a":' + b"9" * 5000 + b',"b":1}]', "cannot read"),
    "too-large.jsonl": (b'{"a":1e400,"b":2}\n{"a":2,"b":3}\n', "cannot read"),
}
TAKEN = {
    "mark-and-table.csv": MARK + TABLE,
    "no-names.csv": b",,\n1,2,3\n4,5,6\n",
    "too-large.csv": b"a,b\n1e400,2\n3,4\n5,6\n",
    "digits.csv": b"a,b\n" + b"9" * 5000 + b",2\n3,4\n",
    "only-nan.csv": b"a,b\nnan,1\nnan,2\n",
    "no-dates.csv": b"a,b\n0000-00-00,1\n99999-01-01,2\n",
    "far-dates.csv": b"a,b\n9999-12-31 23:59:59,1\n0001-01-01 00:00:00,2\n",
    "far-dates.parquet": parquet(FAR),
    "formulas.csv": b"=1+1,b\n=A1,2\n+3,4\n",
    "wide.csv": (",".join(f"column_{n}" for n in range(15_000)) + "\n" + "1," * 14_999).encode()
    + b"1\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, name: str) -> None:
    content, words = REFUSED[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CompassError) as told:
        cp.read(path)
    assert words in told.value.message
    assert told.value.hint
    result = compass("columns", path)
    assert result.code == 2
    assert words in result.err
    assert "hint:" in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize("name", TAKEN)
def test_an_odd_file_that_is_a_table_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(TAKEN[name])
    assert len(cp.read(path)) >= 1
    if name != "wide.csv":  # a line for each column takes a while
        assert compass("columns", path).code == 0
