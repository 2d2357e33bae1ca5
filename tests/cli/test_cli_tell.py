"""`compass tell`: new runs into a saved engine, what drifted, and nothing lost when it fails."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_case import FLAGS, QUICK, RECOMMEND, compass, refused, write_csv

import compass as cp
from conftest import ROLES, cluster_columns


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = cp.read(cluster_columns(250)).roles(**ROLES)
    return cp.Compass(data, settings=QUICK).fit().save(tmp_path_factory.mktemp("kept") / "e")


@pytest.fixture
def saved(kept: Path, tmp_path: Path) -> Path:
    """A saved engine that a test may replace."""
    return Path(shutil.copytree(kept, tmp_path / "jobs.compass"))


def new(folder: Path, n: int = 15, **columns: Any) -> Path:
    return write_csv(folder / "new.csv", cluster_columns(n, seed=9) | columns)


def answered(place: Path) -> Any:
    result = compass("ask", place, RECOMMEND, "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    del found["seconds"]
    return found


def test_it_says_what_became_of_each_model(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = compass("tell", saved, new(tmp_path))
    assert result.code == 0, result.err
    head, titles, *rows = result.out.split("\n\n", maxsplit=1)[0].splitlines()
    assert head.startswith("15 of 15 new runs taken in, 265 known now; saved ")
    assert titles.split() == ["outcome", "model", "on", "unseen", "runs", "drift"]
    assert [row.split()[0] for row in rows] == ["runtime", "power", "state"]
    for row in rows:
        assert "continued: 1 of 10 trees" in row or "trained anew: " in row
        assert " -> " in row
        assert "none: the new runs have the values of the old ones" in row
    assert len(cp.load(saved).data) == 265


def test_another_place_leaves_the_engine_as_it_was(saved: Path, tmp_path: Path) -> None:
    before = answered(saved)
    other = tmp_path / "b.compass"
    assert compass("tell", saved, new(tmp_path), "-o", other).code == 0
    assert answered(saved) == before
    assert len(cp.load(saved).data) == 250
    assert len(cp.load(other).data) == 265


def test_json_tells_the_same(saved: Path, tmp_path: Path) -> None:
    runs = cluster_columns(60, seed=9)
    runs["runtime"] = [2 * value for value in runs["runtime"]]
    result = compass("tell", saved, write_csv(tmp_path / "new.csv", runs), "--json")
    assert (result.code, result.err) == (0, "")
    found = json.loads(result.out)
    assert (found["path"], found["rows"], found["used"]) == (str(saved), 60, 60)
    told = {one["target"]: one for one in found["learnt"]}
    assert told["runtime"]["drift"]["kind"] == "law"
    assert told["runtime"]["how"].startswith("chosen anew")
    assert told["power"]["drift"]["kind"] == "none"


def test_notes_are_shown(saved: Path, tmp_path: Path) -> None:
    nodes = [None, *cluster_columns(15, seed=9)["nodes"][1:]]
    result = compass("tell", saved, new(tmp_path, nodes=nodes, comment=["x"] * 15))
    assert result.code == 0, result.err
    assert "14 of 15 new runs taken in" in result.out
    assert "note: columns that are not known were left out: comment" in result.out
    assert "note: 1 of the new runs cannot be used" in result.out


def test_what_cannot_be_taken_in_leaves_the_engine(saved: Path, tmp_path: Path) -> None:
    before = answered(saved)
    runs = cluster_columns(15, seed=9)
    runs["node"] = runs.pop("nodes")
    refused(
        compass("tell", saved, write_csv(tmp_path / "new.csv", runs)), "no column 'nodes'", "node"
    )
    refused(compass("tell", saved, tmp_path / "missing.csv"), "missing.csv")
    refused(compass("tell", tmp_path / "missing.compass", new(tmp_path)), "not a saved engine")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("mine")
    refused(compass("tell", saved, new(tmp_path), "-o", tmp_path / "thesis"), "cannot save")
    assert answered(saved) == before


def test_a_table_is_no_engine(tmp_path: Path) -> None:
    runs = write_csv(tmp_path / "runs.csv", cluster_columns(60))
    refused(compass("tell", runs, new(tmp_path)), "runs.csv")
    refused(compass("tell", runs, new(tmp_path), *FLAGS[:2]), "--role")


def test_a_file_that_was_not_filled_in_is_refused(saved: Path, tmp_path: Path) -> None:
    empty = dict.fromkeys(("runtime", "power", "state"), [None] * 15)
    result = compass("tell", saved, new(tmp_path, **empty))
    refused(result, "nothing can be learnt", "fill in the outcome columns")
    assert len(cp.load(saved).data) == 250


def test_runs_by_hand_and_failed_ones(saved: Path, tmp_path: Path) -> None:
    first = cp.load(saved).data.table.row(0)
    values = {name: first[name] for name in ROLES["knobs"] + ROLES["context"]}
    typed = ", ".join(f"{name}={value}" for name, value in values.items())
    rest = ", ".join(f"{name}={first[name]}" for name in ROLES["outcomes"] if name != "runtime")
    result = compass(
        "tell",
        saved,
        "--run",
        f"{typed}, {rest}, runtime=12.5",
        "--run",
        f"{typed}, runtime=failed: out of memory",
    )
    assert result.code == 0, result.err
    assert "1 of the new runs failed: out of memory" in " ".join(result.out.split())
    assert cp.load(saved).data.prepared.failures.reasons == ("failure: out of memory",)


def test_runs_by_hand_that_cannot_be_read(saved: Path, tmp_path: Path) -> None:
    refused(compass("tell", saved, "--run", "nodes=4, 8"), "'8' is no name=value")
    refused(compass("tell", saved), "no runs to tell")
    refused(compass("tell", saved, new(tmp_path), "--run", "nodes=4"), "a file, or typed")
