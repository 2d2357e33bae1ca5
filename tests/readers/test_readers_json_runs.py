"""A folder with a JSON or YAML file per run."""

import datetime as dt
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.errors import DataProblem
from compass.readers import files, read
from compass.readers.json_runs import JsonRuns
from property_examples import examples


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_nested_keys_become_columns_and_missing_ones_missing_cells(tmp_path: Path) -> None:
    write(tmp_path / "b.json", {"config": {"nodes": 8}, "time": 2, "note": "slow"})
    write(tmp_path / "a.json", {"config": {"nodes": 4, "app": "amg"}, "time": 3.5})
    table = read(tmp_path)
    assert table.names == ("run", "config.nodes", "config.app", "time", "note")
    assert [table.row(n) for n in range(2)] == [
        {"run": "a", "config.nodes": 4, "config.app": "amg", "time": 3.5, "note": None},
        {"run": "b", "config.nodes": 8, "config.app": None, "time": 2.0, "note": "slow"},
    ]


def test_a_folder_per_run_and_yaml(tmp_path: Path) -> None:
    for n in (1, 2):
        write(
            tmp_path / f"job{n}" / "result.yaml",
            f"nodes: {n}\nwhen: 2024-05-0{n} 10:00:00\ndims: [64, 32]\nflags: [a, b]\n",
        )
    table = read(tmp_path)
    assert table.arrow["run"].to_pylist() == ["job1/result", "job2/result"]
    assert table.names == ("run", "nodes", "when", "dims.0", "dims.1", "flags")
    assert table.arrow["when"].to_pylist()[1] == dt.datetime(2024, 5, 2, 10)
    assert table.row(0)["flags"] == '["a", "b"]'


def test_lists_of_many_numbers_and_of_records_are_text(tmp_path: Path) -> None:
    run = {
        "few": [1, 2.5],
        "many": list(range(9)),
        "records": [{"a": 1}],
        "none": [],
        "yes": [True],
    }
    row = read(write(tmp_path / "x.json", run)).row(0)
    assert (row["few.0"], row["few.1"]) == (1, 2.5)
    assert json.loads(str(row["many"])) == list(range(9))
    assert json.loads(str(row["records"])) == [{"a": 1}]
    assert (row["none"], row["yes"]) == ("[]", "[true]")


def test_values_of_several_types_become_text(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"n": 1, "cap": 5})
    write(tmp_path / "b.json", {"n": 2, "cap": "none"})
    assert read(tmp_path).arrow["cap"].to_pylist() == ["5", "none"]


def test_settings_beside_the_data_are_not_data(tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", "a,b\n1,2\n")
    write(tmp_path / "study.yaml", "target: b\n")
    assert read(tmp_path).names == ("a", "b")


def test_the_right_reader_gets_a_json_file(tmp_path: Path) -> None:
    assert files.reader_for(write(tmp_path / "one.json", {"a": 1})).name == "json-runs"
    assert files.reader_for(write(tmp_path / "list.json", [{"a": 1}])).name == "json"
    assert files.reader_for(write(tmp_path / "s.yml", "a: 1")).name == "json-runs"
    assert files.reader_for(write(tmp_path / "l.jsonl", '{"a": 1}\n')).name == "jsonl"


def test_compressed_files(tmp_path: Path) -> None:
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(b'{"a": 1, "b": 2}'))
    (tmp_path / "y.yaml.gz").write_bytes(gzip.compress(b"a: 1\nb: 2\n"))
    assert read(tmp_path / "x.json.gz").row(0) == {"run": "x", "a": 1, "b": 2}
    assert read(tmp_path / "y.yaml.gz").row(0) == {"run": "y", "a": 1, "b": 2}
    (tmp_path / "x.json.gz").write_bytes(gzip.compress(b'{"a": 1, "b": 2}' * 99)[:-20])
    with pytest.raises(DataProblem, match=r"x\.json\.gz"):
        read(tmp_path / "x.json.gz")


def test_a_key_named_run_keeps_its_value(tmp_path: Path) -> None:
    assert read(write(tmp_path / "x.json", {"run": 9, "t": 1})).row(0) == {
        "run": "x", "run (file)": 9, "t": 1
    }  # fmt: skip


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 9)}]\n"
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("x.json", '{"a": 1', "is not JSON"),
        ("x.json", '{"a": ' + "[" * 100_000, "nested too deeply"),
        ("x.json", '{"a": ' + "9" * 10_000 + "}", "number too long"),
        ("x.json", "{}", "holds no values"),
        ("x.json", "", "is empty"),
        ("x.json", json.dumps({"a": {"b": 1}, "a.b": 2}), "several values for 'a.b'"),
        ("x.json", json.dumps({str(n): n for n in range(6000)}), "more than 5000 keys"),
        ("x.yaml", "a: [1, 2", "is not YAML"),
        ("x.yaml", "- 1\n- 2\n", "one run"),
        ("x.yaml", "just text", "one run"),
        ("x.yaml", LAUGHS, "more than 200000 values"),
        ("x.yaml", "a: &a [*a]\nb: 1\n", "more than 200000 values"),
        ("x.yaml", "a: !!python/object/apply:os.system [echo]\n", "is not YAML"),
        ("x.yaml", "a: " + "[" * 50_000, "nested more than 200 deep"),
        ("x.yaml", "- " * 50_000, "nested more than 200 deep"),
        ("x.yaml", "".join(" " * n + "a:\n" for n in range(1100)), "nested more than 200 deep"),
        ("x.yaml", "# " + "x" * (3 << 20), "holds more than 2 MB"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, content: str, why: str) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(DataProblem) as caught:
        JsonRuns().read(path)
    assert why in caught.value.message
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(DataProblem, match="not UTF-8"):
        JsonRuns().read(path)


KEYS = st.text("abc", min_size=1, max_size=3)
CELLS = st.none() | st.booleans() | st.integers(-9, 9) | st.text("xyz", min_size=1, max_size=4)


@examples(40)
@given(st.lists(st.dictionaries(KEYS, CELLS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_every_value_comes_back(tmp_path_factory: pytest.TempPathFactory, runs: list[dict]) -> None:  # type: ignore[type-arg]
    folder = tmp_path_factory.mktemp("runs")
    paths = [write(folder / f"r{n}.json", run) for n, run in enumerate(runs)]
    tables = JsonRuns().read_together(paths)
    for n, (run, table) in enumerate(zip(runs, tables, strict=True)):
        (row,) = table.to_pylist()
        assert row.pop("run") == f"r{n}"
        for name, cell in row.items():
            value = run.get(name)
            as_text = str(value).lower() if isinstance(value, bool) else str(value)
            assert cell in (value, as_text)
