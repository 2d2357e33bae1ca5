"""Built-in readers keep their promises, and the suite tells when one does not."""

import json
import mmap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from testing_broken import caught

from compass import registry
from compass.domain.errors import BadInput, DataProblem
from compass.readers import files
from compass.readers.columnar import JsonLinesReader
from compass.testing import check, check_reader
from compass.testing.formats import ROWS, SAMPLES

# Formats that have columns of their own, or are no single files: the suite cannot make one.
OWN = {
    "caliper": "caliper",
    "darshan": "darshan",
    "dataset": "catalogue",
    "hpctoolkit": "hpctoolkit",
    "json-runs": "json_runs",
    "sacct": "sacct",
    "sacct-json": "sacct_json",
    "sacct-live": "sacct_live",
    "swf": "workload",
    "tau": "tau",
    "timemory": "timemory",
}
READERS = Path(__file__).parent.parent / "readers"


@pytest.mark.parametrize("name", SAMPLES)
def test_built_ins_keep_their_promises(name: str) -> None:
    check("reader", name, sample=SAMPLES[name](), expected=ROWS)


def test_every_built_in_is_checked_here_or_by_tests_of_its_own() -> None:
    assert set(registry.everything("reader")) == {*SAMPLES, *OWN}
    for file in OWN.values():
        assert (READERS / f"test_readers_{file}.py").is_file()


CONTENT = b"#records\n" + SAMPLES["jsonl"]()


class Records:
    """JSON objects below a line that says `#records`."""

    name = "records"
    suffixes: Any = (".rec",)

    def sniff(self, path: Path, head: bytes) -> bool:
        return head.startswith(b"#records\n")

    def read(self, path: Path) -> pa.Table:
        return pa.table(self.columns(self.content(path), path))

    def content(self, path: Path) -> bytes:
        with files.opened(path) as stream:
            content: bytes = stream.read()
        if not self.sniff(path, content):
            raise DataProblem(f"{path} holds no records", hint="its first line says #records")
        return content

    def columns(self, content: bytes, path: Path) -> dict[str, list[Any]]:
        rows = []
        for line in content.splitlines()[1:]:
            try:
                rows.append(json.loads(line))
            except ValueError:
                raise DataProblem(f"{path} is cut short", hint="copy it again") from None
        return {key: [row[key] for row in rows] for key in (rows[0] if rows else ())}


def test_an_honest_reader_passes() -> None:
    check_reader(Records, sample=CONTENT, expected=ROWS)


def test_the_sample_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "sample.rec"
    path.write_bytes(CONTENT)
    check_reader(Records, sample=path, expected=ROWS)


def reader(**changes: Any) -> type[Records]:
    return type("Changed", (Records,), {"__doc__": "Changed.", **changes})


def leaking(self: Records, path: Path) -> pa.Table:
    OPEN.append(open(path, "rb"))  # noqa: SIM115
    return Records.read(self, path)


OPEN: list[Any] = []


def mapping(self: Records, path: Path) -> pa.Table:
    with open(path, "rb") as file:
        OPEN.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return Records.read(self, path)


def only_good_files_closed(self: Records, path: Path) -> pa.Table:
    file = open(path, "rb")  # noqa: SIM115
    OPEN.append(file)
    table = Records.read(self, path)
    file.close()
    return table


def marking(self: Records, path: Path) -> pa.Table:
    table = Records.read(self, path)
    path.touch()
    with open(path, "ab") as file:
        file.write(b"\n")
    return table


def uncompressed(self: Records, path: Path) -> bytes:
    content = path.read_bytes()
    if not self.sniff(path, content):
        raise DataProblem("no records", hint="none")
    return content


def raw(self: Records, content: bytes, path: Path) -> dict[str, list[Any]]:
    rows = [json.loads(line) for line in content.splitlines()[1:]]
    return {key: [row[key] for row in rows] for key in (rows[0] if rows else ())}


def generous(self: Records, path: Path) -> pa.Table:
    try:
        return Records.read(self, path)
    except DataProblem:
        return pa.table({"a": [1], "b": [2]})


def wrong(self: Records, path: Path) -> pa.Table:
    return pa.table({**ROWS, "runtime": [10.5, 6.25, 3.5, 2.5]})


def hintless(self: Records, path: Path) -> bytes:
    try:
        return Records.content(self, path)
    except DataProblem as error:
        raise DataProblem(error.message) from None


def without(name: str) -> Any:
    return lambda self, path: Records.read(self, path).drop_columns([name])


def once(self: Records, path: Path) -> pa.Table:
    if str(path) in SEEN:
        raise OSError("it is locked")
    SEEN.add(str(path))
    return Records.read(self, path)


SEEN: set[str] = set()


def odd_types(self: Records, path: Path) -> pa.Table:
    return Records.read(self, path).append_column("raw", pa.array([b"\xff"] * 4))


def sniffer(says: Any) -> type[Records]:
    """Reads as before, but recognises other files."""
    return reader(
        sniff=lambda self, path, head: says(head),
        content=lambda self, path: Records.content(Records(), path),
    )


BROKEN: dict[str, tuple[Any, str]] = {
    "no name": (reader(name=""), "it has a `name`"),
    "needs an argument": (reader(__init__=lambda self, path: None), "needs no arguments"),
    "no endings": (reader(suffixes=()), "`suffixes`"),
    "an ending as text": (reader(suffixes=".rec"), "`suffixes`"),
    "upper case": (reader(suffixes=(".REC",)), "`suffixes`"),
    "two dots": (reader(suffixes=(".tar.rec",)), "`suffixes`"),
    "a compression": (reader(suffixes=(".gz",)), "`suffixes`"),
    "cannot read": (reader(read=lambda s, p: 1 / 0), "it reads a file of its format"),
    "reads once": (reader(read=once), "a second time"),
    "bytes": (reader(read=odd_types), "types that Compass knows"),
    "a dict": (reader(read=lambda self, path: dict(ROWS)), "pyarrow.Table"),
    "a lost row": (reader(read=lambda s, p: Records.read(s, p).slice(1)), "it reads every row"),
    "a lost column": (reader(read=without("app")), "every column"),
    "a wrong value": (reader(read=wrong), "every value as it was written"),
    "text for numbers": (
        reader(read=lambda s, p: Records.read(s, p).cast(pa.schema([(n, "string") for n in ROWS]))),
        "every value as it was written",
    ),
    "an open file": (reader(read=leaking), "does not keep the file open"),
    "a mapped file": (reader(read=mapping), "does not keep the file open"),
    "compressed files": (reader(content=uncompressed), "it reads a compressed file"),
    "everything is a table": (reader(read=generous), "it refuses an empty file"),
    "an open refusal": (reader(read=only_good_files_closed), "it closes a file that it refuses"),
    "no hint": (reader(content=hintless), "with a hint"),
    "a crash on junk": (
        reader(sniff=lambda s, p, head: head.decode().startswith("#records\n")),
        "the only error for bytes without meaning is a DataProblem",
    ),
    "a crash on half a file": (reader(columns=raw), "cut short"),
    "a changed file": (reader(read=marking), "it leaves the file as it is"),
    "does not know its own": (sniffer(lambda head: False), "it recognises its own file"),
    "claims junk": (sniffer(lambda head: b"\x00" not in head), "it does not claim an empty file"),
    "claims the files of others": (
        sniffer(lambda head: head.startswith((b"#records", b"{"))),
        "it does not claim a jsonl file",
    ),
    "cannot tell": (sniffer(lambda head: 1 / 0), "it can tell whether its own file"),
    "says perhaps": (
        sniffer(lambda head: head.startswith(b"#records") or None),
        "`sniff` answers True or False",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_reader_is_caught(what: str) -> None:
    plugin, promise = BROKEN[what]
    try:
        caught(lambda: check_reader(plugin, sample=CONTENT, expected=ROWS), promise)
    finally:
        while OPEN:
            OPEN.pop().close()


def test_a_missing_file_is_a_problem_of_the_data() -> None:
    class Magic(Records):
        """Makes up what it does not find."""

        def content(self, path: Path) -> bytes:
            return super().content(path) if path.exists() else CONTENT

    promise = "a file that does not exist is a DataProblem"
    caught(lambda: check_reader(Magic, sample=CONTENT, expected=ROWS), promise)


def test_a_registered_reader_is_compared_with_those_before_it() -> None:
    """JSON Lines may be claimed by csv, which is asked last, but not the other way round."""
    greedy = type(
        "Greedy",
        (JsonLinesReader,),
        {"__doc__": "x", "name": "greedy", "sniff": lambda s, p, h: b"," in h},
    )
    registry.add("reader", "greedy")(greedy)
    try:
        caught(
            lambda: check("reader", "greedy", sample=SAMPLES["jsonl"](), expected=ROWS),
            "it does not claim bytes without meaning",
        )
    finally:
        registry.remove("reader", "greedy")


def test_a_reader_without_a_sample_cannot_be_checked() -> None:
    with pytest.raises(BadInput, match="a file of its format") as error:
        check("reader", "csv")
    assert "sample" in error.value.hint
