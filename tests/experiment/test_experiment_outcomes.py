"""Outcomes are read from what a run left, whatever that is."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from compass.domain.base import Value
from compass.domain.errors import DataProblem, StudyProblem
from compass.experiment import printed
from compass.experiment.outcomes import check_readings, read_outcomes
from compass.experiment.readings import parse_reading


def read(how: str, folder: Path, *, is_class: bool = False) -> Value:
    name, reading = parse_reading(f"y={how}")
    check_readings({name: reading})
    return read_outcomes({name: reading}, folder, 2.5, ["y"] if is_class else [])["y"]


def after(folder: Path, output: str | bytes, how: str, *, is_class: bool = False) -> Value:
    content = output.encode() if isinstance(output, str) else output
    (folder / "output").write_bytes(content)
    return read(how, folder, is_class=is_class)


@pytest.mark.parametrize(
    ("output", "how", "value"),
    [
        ("GFLOPS: 1\nGFLOPS: 12.5 x\nend\n", r"/GFLOPS: (\S+)/", 12.5),
        ("12% 50%\r99%\r100%", r"/(\d+)%/", 100),
        ("t=3 t=4\n", r"/t=(\d)/", 3),
        ("a 7 b\n", r"/\d/", 7),
        ("T: 3\n", r"/(?i)t: (\d)|no/", 3),
        ("no newline: 8", r"/: (\d)$/", 8),
        ("energy 1.5D+02 J", r"/energy (\S+)/", 150),
        ("x -.5e-1", r"/x (\S+)/", -0.05),
        ("x 3.", r"/x (\S+)/*2", 6),
        ("warning\n12\n\n", "line", 12),
        ("", "seconds", 2.5),
        ("", "seconds*1000", 2500),
        ('{"a": {"b": [1, 2]}}', "json:a.b.1", 2),
        ('{"a": {"b": [1, 2]}}', "json:a.b.-1", 2),
        ('log\n{"a": 1}\n{"a": 2}\nmore {"a": 3}\n', "json:a", 2),
        ('x\n{\n "runs": [\n  {\n   "t": 1\n  }\n ],\n "t": 5\n}\nbye {', "json:t", 5),
        ('{"a": "3.5"}', "json:a", 3.5),
        ('[{"a": 1}, {"a": 2}]', "json:1.a", 2),
        ('{"a.b": {"": 4}}', 'json:"a.b".""', 4),
        ("7\n", "json:0", None),
    ],
)
def test_numbers(output: str, how: str, value: float | None, tmp_path: Path) -> None:
    if value is None:
        with pytest.raises(DataProblem, match="has no '0'"):
            after(tmp_path, output, how)
    else:
        assert after(tmp_path, output, how) == value


@pytest.mark.parametrize(
    ("output", "how", "label"),
    [
        ("state: converged \n", r"/state: (.*)/", "converged"),
        ('{"ok": true}', "json:ok", "true"),
        ("fine", "line", "fine"),
        ('{"level": 3}', "json:level", "3"),
    ],
)
def test_classes(output: str, how: str, label: str, tmp_path: Path) -> None:
    assert after(tmp_path, output, how, is_class=True) == label


@pytest.mark.parametrize(
    ("output", "how", "reason"),
    [
        ("GFLOPS: fast\n", r"/GFLOPS: (\S+)/", "y: 'fast' is not a number"),
        ("t: nan\n", r"/t: (\S+)/", "y: 'nan' is not a number"),
        ("t: inf\n", r"/t: (\S+)/", "y: 'inf' is not a number"),
        ("t: 1e999\n", r"/t: (\S+)/", "is not a number"),
        ("t: 1,5\n", r"/t: (\S+)/", "'1,5' is not a number"),
        ("t: \n", r"/t: (\d)?/", "y: '' is not a number"),
        ("t: ١٢\n", r"/t: (\S+)/", "is not a number"),
        ("segfault\n", r"/t: (\S+)/", r"no line of the output has /t: .*ends with: segfault"),
        ("", r"/t: (\S+)/", "it is empty"),
        ("\n \n", "line", "the output is empty"),
        ("no json", "json:a", "there is no JSON object in the output; it ends with: no json"),
        ('{"a": 1}', "json:b", "the JSON in the output has no 'b', only a"),
        ('{"a": {"b": 1}}', "json:a.c", "a in the output has no 'c', only b"),
        ('{"a": [1]}', "json:a.1", "a in the output has no '1', only 1 values"),
        ('{"a": null}', "json:a", "null is not a number"),
        ('{"a": true}', "json:a", "true is not a number"),
        ('{"a": NaN}', "json:a", "nan is not a number"),
        ('{"a": [1]}', "json:a", r"\[1\] is not a number"),
        ('{"a": 1' + "0" * 400 + "}", "json:a", "is not a number"),
        ("x", "file:out.json:json:a", r"y: out.json is not there"),
        ("x", "file:d", "y: d is no file that can be read"),
        ("x", "file:pipe", "y: pipe is no file that can be read"),
    ],
)
def test_what_is_no_outcome_is_said(output: str, how: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataProblem, match=reason):
        after(tmp_path, output, how)


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(DataProblem) as error:
        after(tmp_path, "", "file:out.json:json:a")
    assert "{folder}/out.json" in error.value.hint


@pytest.mark.parametrize(("content", "reason"), [('{"a": null}', "null"), ("[]", "has no 'a'")])
def test_what_is_no_label_is_said(content: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DataProblem, match=reason):
        after(tmp_path, content, "json:a", is_class=True)
    with pytest.raises(DataProblem, match="is not a label"):
        after(tmp_path, "x" * 1000, "line", is_class=True)


def test_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text(json.dumps({"energy": 3}))
    (tmp_path / "value.txt").write_text("\n4.5\n\n")
    assert read("file:out.json:json:energy*2", tmp_path) == 6
    assert read("file:value.txt", tmp_path) == 4.5
    assert read(r"file:value.txt:/(\d)\./", tmp_path) == 4


def test_signs_for_terminals_are_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(DataProblem) as error:
        after(tmp_path, b"\x1b[2J\x1b]0;owned\x07 \xff\x00 end", "/none/")
    assert error.value.message.isprintable()
    assert len(error.value.message) < 400


@pytest.mark.parametrize("pattern", ["(a", "(?<=a)b", r"(a)\1", "a{2000}", "*", "(?P<n>", "[z-a]"])
def test_patterns_that_cannot_be_used_are_refused(pattern: str, tmp_path: Path) -> None:
    with pytest.raises(StudyProblem, match=r"cannot be used: \w") as error:
        after(tmp_path, "a", f"/{pattern}/")
    assert "look-around" in error.value.hint


HOSTILE = 3_000_000


@pytest.mark.parametrize(
    ("output", "how"),
    [
        (b"a" * HOSTILE + b"!", "/(a+)+$/"),
        (b"a" * HOSTILE + b"!", "/(a|aa)*b/"),
        (b"\n" * HOSTILE, "line"),
        (b"\n" * HOSTILE, "json:a"),
        (b"\r" * HOSTILE, "/x/"),
        (b"\xff" * HOSTILE, "/x/"),
        (b"1" * HOSTILE, "line"),
        (b"1" * HOSTILE, "json:a"),
        (b"{" * HOSTILE, "json:a"),
        (b"{\n" * (HOSTILE // 2), "json:a"),
        (b'{"a":[\n' * (HOSTILE // 7), "json:a"),
        (b'{"a":[{},\n' * (HOSTILE // 10), "json:a"),
        (b'{"a":[' + b"1," * 1000 + b"\n" + b'{"a":[{},\n' * (HOSTILE // 10), "json:a"),
        (b"[" * HOSTILE, "json:a"),
        (b'{"a": "' + b"x" * HOSTILE, "json:a"),
        (b" " * HOSTILE, "json:a"),
        (b" {" * HOSTILE, "json:a"),
        (b'{"' * HOSTILE, "json:a"),
        (b'{"\n' * HOSTILE, "json:a"),
        (b'{\n"a": "\n' * (HOSTILE // 10), "json:a"),
    ],
    ids=range(20),
)
def test_hostile_outputs_end_in_a_reason(output: bytes, how: str, tmp_path: Path) -> None:
    with pytest.raises(DataProblem) as error:
        after(tmp_path, output, how)
    assert len(error.value.message) < 600


def test_long_outputs_are_read_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printed, "CHUNK", 2**16)
    with (tmp_path / "output").open("wb") as file:
        file.write(b"T: 5\n")
        for _ in range(50):
            file.write(b"nothing to see here\n" * 10_000)
    tracemalloc.start()
    assert read(r"/T: (\d)/", tmp_path) == 5
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "output").stat().st_size > 9e6
    assert peak < 2.5e6


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_chunks_do_not_cut_lines(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printed, "CHUNK", max(chunk, 16))
    for name, content in (
        ("output", "a 1\r\nb"),
        ("output.end", "c 2\r\nde 3\n" + "e 3\n" * (chunk - 1)),
    ):
        (tmp_path / name).write_text(content)
    assert read(r"/bc (\d)/", tmp_path) == 2
    assert read(r"/de (\d)/", tmp_path) == 3
    assert read("line", tmp_path, is_class=True) == "e 3" if chunk > 1 else "de 3"
