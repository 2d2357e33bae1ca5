"""The built-in formats, what they make of cells, and how they refuse what is not a table."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers import Table, read
from compass.readers.cell_notes import notes_of


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def csv(tmp_path: Path, content: str | bytes, name: str = "runs.csv") -> Table:
    return read(write(tmp_path / name, content))


def types(table: Table) -> dict[str, str]:
    return {field.name: str(field.type) for field in table.arrow.schema}


def test_cells_get_the_type_that_fits(tmp_path: Path) -> None:
    t = csv(
        tmp_path,
        "n,x,app,flag,when,day\n"
        "1,1.5,amg,true,2024-06-24T12:33:26,2024-01-01\n"
        "2,2,comd,false,2024-06-24T12:33:27,2024-01-02\n",
    )
    assert types(t) == {
        "n": "int64",
        "x": "double",
        "app": "large_string",
        "flag": "bool",
        "when": "timestamp[us]",
        "day": "timestamp[us]",
    }
    assert t.row(1)["when"] == "2024-06-24T12:33:27"


@pytest.mark.parametrize("word", ["", "NA", "NaN", "nan", "null", "None", "n/a", "N/A"])
def test_words_for_missing(tmp_path: Path, word: str) -> None:
    t = csv(tmp_path, f"a,b,c\n1,{word},x\n{word},2,{word}\n")
    assert types(t) == {"a": "int64", "b": "int64", "c": "large_string"}
    assert t.row(0) == {"a": 1, "b": None, "c": "x"}
    assert t.row(1) == {"a": None, "b": 2, "c": None}


def test_labels_that_look_empty_or_say_none_are_labels(tmp_path: Path) -> None:
    t = csv(tmp_path, "affinity,b\nnone,1\n ,2\n")
    assert t.row(0)["affinity"] == "none"
    assert t.row(1)["affinity"] == " "


def test_infinite_values_stay_visible(tmp_path: Path) -> None:
    assert csv(tmp_path, "a,b\ninf,1\n-inf,2\n").row(0)["a"] == float("inf")


def test_a_type_that_shows_only_far_down_is_found(tmp_path: Path) -> None:
    lines = "".join(f"{i},x\n" for i in range(300_000))
    t = csv(tmp_path, "a,b\n" + lines + "0.5,y\n")
    assert types(t)["a"] == "double"
    assert t.row(300_000) == {"a": 0.5, "b": "y"}


def test_names_are_stripped_and_the_byte_order_mark_is_not_a_name(tmp_path: Path) -> None:
    assert csv(tmp_path, "\ufeff nodes , time\n1,2\n").names == ("nodes", "time")


def test_a_column_without_a_name_is_called_by_its_place(tmp_path: Path) -> None:
    assert csv(tmp_path, ",a,b\n0,1,2\n").names == ("column_1", "a", "b")


@pytest.mark.parametrize("mark", [";", "|", "\t", ","])
def test_the_separator_is_recognised(tmp_path: Path, mark: str) -> None:
    t = csv(tmp_path, f"a{mark}b{mark}c\n1{mark}x y{mark}2.5\n")
    assert t.row(0) == {"a": 1, "b": "x y", "c": 2.5}


def test_a_separator_inside_names_or_cells_does_not_fool(tmp_path: Path) -> None:
    t = csv(tmp_path, "a|b, of c\nx,y|1\nz|2\n")
    assert t.names == ("a", "b, of c")
    quoted = csv(tmp_path, 'a,"b;c;d;e"\n1,2\n3,4\n')
    assert quoted.names == ("a", "b;c;d;e")


def test_decimal_comma_with_semicolons(tmp_path: Path) -> None:
    assert csv(tmp_path, "a;b\n1,5;x\n2,25;y\n").row(1) == {"a": 2.25, "b": "y"}


def test_quotes_and_line_breaks_in_cells(tmp_path: Path) -> None:
    t = csv(tmp_path, 'a,b\n"x\ny",1\n"say ""hi""",2\r\n')
    assert t.row(0)["a"] == "x\ny"
    assert t.row(1)["a"] == 'say "hi"'


def test_tsv_and_jsonl(tmp_path: Path) -> None:
    t = read(write(tmp_path / "r.tsv", "a\tb\n1\tx, y\n"))
    assert t.row(0) == {"a": 1, "b": "x, y"}
    j = read(write(tmp_path / "r.jsonl", '{"a": 1, "b": {"c": "x"}}\n{"a": 2.5}\n'))
    assert j.row(0) == {"a": 1.0, "b.c": "x"}
    assert j.row(1) == {"a": 2.5, "b.c": None}


def test_every_format_gives_the_same_data(tmp_path: Path) -> None:
    text = "nodes,app,t\n1,amg,0.5\n2,comd,\n"
    plain = csv(tmp_path, text)
    arrow = pa.table({"nodes": [1, 2], "app": ["amg", "comd"], "t": [0.5, None]})
    parquet.write_table(arrow, tmp_path / "r.parquet")
    feather.write_feather(arrow, tmp_path / "r.feather")
    with pa.ipc.new_stream(str(tmp_path / "r.arrow"), arrow.schema) as stream:
        stream.write_table(arrow)
    write(tmp_path / "r.csv.gz", gzip.compress(text.encode()))
    with pa.output_stream(str(tmp_path / "r.csv.zst"), compression="zstd") as out:
        out.write(text.encode())
    write(tmp_path / "r.parquet.gz", gzip.compress((tmp_path / "r.parquet").read_bytes()))
    write(
        tmp_path / "r.ndjson",
        '{"nodes": 1, "app": "amg", "t": 0.5}\n{"nodes": 2, "app": "comd", "t": null}\n',
    )
    for name in (
        "r.parquet",
        "r.feather",
        "r.arrow",
        "r.csv.gz",
        "r.csv.zst",
        "r.parquet.gz",
        "r.ndjson",
    ):
        assert read(tmp_path / name).fingerprint == plain.fingerprint, name


def test_content_decides_when_the_ending_does_not(tmp_path: Path) -> None:
    arrow = pa.table({"a": [1], "b": [2]})
    parquet.write_table(arrow, tmp_path / "data")
    assert read(tmp_path / "data").row(0) == {"a": 1, "b": 2}
    feather.write_feather(arrow, tmp_path / "data.bin")
    assert read(tmp_path / "data.bin").row(0) == {"a": 1, "b": 2}
    for name, text in (
        ("lines", '{"a": 1, "b": 2}\n'),
        ("tabs", "a\tb\n1\t2\n"),
        ("pipes.2024", "a|b\n1|2\n"),
    ):
        assert read(write(tmp_path / name, text)).row(0) == {"a": 1, "b": 2}
    write(tmp_path / "data.gz", gzip.compress(b"a,b\n1,2\n"))
    assert read(tmp_path / "data.gz").row(0) == {"a": 1, "b": 2}


def refused(path: Path) -> DataProblem:
    with pytest.raises(DataProblem) as caught:
        read(path)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (b"", "is empty", "cut short"),
        (b" \n\n", "is empty", "cut short"),
        (b"a,b\n", "no rows", "cut short"),
        (b"nodes\n1\n2\n", "one column only: 'nodes'", "comma"),
        (b"a,b,a\n1,2,3\n", "several columns named a", "name of its own"),
        (b"a,b, a\n1,2,3\n", "several columns named a", "name of its own"),
        (b"1,2\n3,4\n", "not column names", "first line"),
        (b"a,b\n1,2\n\n3\n4,5\n", "line 4 of", "separator"),
        (b"a,b\n1,2\n3,4,5\n", "line 3 of", "separator"),
        (b"\x00\x01\x02\x03" * 50, "is not text", "csv"),
        (b"\xff\xfea\x00,\x00b\x00\n\x001\x00", "UTF-16", "iconv"),
        (b"a,b\nM\xfcller,1\n", "not UTF-8", "iconv"),
        (b"PAR1" + b"\x00" * 40, "is not text", "looks like parquet"),
    ],
)
def test_what_is_wrong_with_a_csv(tmp_path: Path, content: bytes, message: str, hint: str) -> None:
    problem = refused(write(tmp_path / "runs.csv", content))
    assert message in problem.message
    assert "runs.csv" in problem.message
    assert hint in problem.hint


def test_text_in_another_encoding_far_down_is_named_by_its_column(tmp_path: Path) -> None:
    far = b"".join(b"%d,x\n" % i for i in range(300_000))
    problem = refused(write(tmp_path / "runs.csv", b"a,b\n" + far + b"0,M\xfcller\n"))
    assert "column 'b'" in problem.message


def test_ragged_rows_count_lines_not_rows(tmp_path: Path) -> None:
    problem = refused(write(tmp_path / "r.csv", 'a,b\n"x\ny",1\n1,2,3\n'))
    assert "line 4 of" in problem.message
    assert "3 cells" in problem.message


@pytest.mark.parametrize("name", ["r.parquet", "r.feather", "r.pq", "r.arrow"])
def test_binary_files_that_are_damaged_or_empty(tmp_path: Path, name: str) -> None:
    assert "cannot be read as" in refused(write(tmp_path / name, b"PAR1 oh no")).message
    assert "is empty" in refused(write(tmp_path / name, b"")).message
    arrow = pa.table({"a": list(range(1000)), "b": list(range(1000))})
    parquet.write_table(arrow, tmp_path / "whole.parquet")
    half = (tmp_path / "whole.parquet").read_bytes()[:-30]
    assert "complete" in refused(write(tmp_path / name, half)).hint


def test_a_damaged_compressed_file(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)
    assert "uncompress" in refused(write(tmp_path / "r.csv.gz", b"a,b\n1,2\n")).message
    assert "r.csv.gz" in refused(write(tmp_path / "r.csv.gz", whole[: len(whole) // 2])).message


def test_json_that_is_not_one_object_per_line(tmp_path: Path) -> None:
    assert "one JSON object" in refused(write(tmp_path / "r.jsonl", '{"a": 1}\n{"a": \n')).hint
    assert "one JSON object" in refused(write(tmp_path / "r.jsonl", "[1, 2]\n")).hint
    assert "is empty" in refused(write(tmp_path / "r.jsonl", "")).message


def test_content_that_nobody_knows(tmp_path: Path) -> None:
    problem = refused(write(tmp_path / "notes", "just words"))
    assert "cannot tell" in problem.message
    assert "parquet" in problem.hint
    assert "is empty" in refused(write(tmp_path / "nothing", "")).message


def test_a_reader_from_elsewhere_comes_in_through_the_same_door(tmp_path: Path) -> None:
    @registry.add("reader", "pairs")
    class Pairs:
        """Lines of `a=1 b=2`."""

        name = "pairs"
        suffixes = (".pairs", ".csv")

        def sniff(self, path: Path, head: bytes) -> bool:
            return b"=" in head.partition(b"\n")[0]

        def read(self, path: Path) -> pa.Table:
            rows = [
                {k: int(v) for k, v in (cell.split("=") for cell in line.split())}
                for line in path.read_text().splitlines()
            ]
            return pa.Table.from_pylist(rows)

    try:
        wanted = {"a": 1, "b": 2}
        assert read(write(tmp_path / "r.pairs", "a=1 b=2\n")).row(0) == wanted
        assert read(write(tmp_path / "r", "a=1 b=2\n")).row(0) == wanted
        # Two readers claim .csv: content decides.
        assert read(write(tmp_path / "x.csv", "a=1 b=2\n")).row(0) == wanted
        assert read(write(tmp_path / "y.csv", "a,b\n1,2\n")).row(0) == wanted
        assert read(write(tmp_path / "z.txt", "a=1 b=2\n"), reader="pairs").row(0) == wanted
    finally:
        registry.remove("reader", "pairs")


def test_row_names_of_r_are_a_column_of_their_own(tmp_path: Path) -> None:
    counted = b"nodes\ttime\n1\t4\t0.5\n2\t8\t0.25\n3\t4\t0.75\n"
    quoted = b'"nodes","time"\n"a-1",4,0.5\n"a-2",8,0.25\n"a-3",4,0.75\n'
    for name, content in (("runs.tsv", counted), ("runs.csv", quoted)):
        table = read(write(tmp_path / name, content))
        assert table.names == ("column_1", "nodes", "time")
        assert table.column("nodes").to_pylist() == [4, 8, 4]
        notes = notes_of(table.arrow.schema.field("column_1"))
        assert notes is not None
        assert "one name less" in notes.how


def test_a_separator_too_many_at_the_end_of_lines_is_no_cell(tmp_path: Path) -> None:
    rows = read(write(tmp_path / "rows.csv", b"a,b\n1,2,\n3,4,\n5,6,\n"))
    assert rows.column("a").to_pylist() == [1, 3, 5]
    assert rows.column("b").to_pylist() == [2, 4, 6]
    header = read(write(tmp_path / "header.csv", b"\na,b,\n1,2\n3,4\n5,6\n"))
    assert header.names == ("a", "b")
    assert header.column("a").to_pylist() == [1, 3, 5]


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        # A comma is missing between two names: nothing may come under the wrong name.
        (
            b"nodes cores,time\n4,1,0.5\n8,2,0.5\n4,1,0.7\n",
            "the header of {path} has 2 names, but its rows have 3 cells (line 2)",
            "is a ',' missing between two names? if the first cells are row names, name them: "
            "write row, before nodes cores",
        ),
        (
            b"nodes,time\n4,1,0.5\n8,2,0.5\n4,1,0.7\n",
            "the header of {path} has 2 names, but its rows have 3 cells (line 2)",
            "is a ',' missing",
        ),
        (
            b"nodes,time\n4,1,0.5,7\n8,2,0.5,7\n4,1,0.7,8\n",
            "the header of {path} has 2 names, but its rows have 4 cells (line 2)",
            "a name for each column",
        ),
        (
            b"nodes,cores,time\n4,1\n8,2\n4,1\n",
            "the header of {path} has 3 names, but its rows have 2 cells (line 2)",
            "without a column",
        ),
        (
            b"nodes,time\n" + b"".join(b"%d,4,0.5\n" % n for n in range(1, 31)) + b"31,8\n",
            "line 32 of {path} has 2 cells, but the rows before it have 3",
            "was the line cut short?",
        ),
        (b"a,b,c\n1,2,3\n1,2\n1,2,3\n", "line 3 of {path} has 2 cells", "was the line cut short?"),
    ],
)
def test_rows_and_header_of_different_width(
    tmp_path: Path, content: bytes, message: str, hint: str
) -> None:
    path = write(tmp_path / "runs.csv", content)
    problem = refused(path)
    assert message.format(path=path) in problem.message
    assert hint in problem.hint
