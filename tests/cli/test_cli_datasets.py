"""`compass datasets`: list, show and get."""

import hashlib
import json
from pathlib import Path

import pytest
from cli_case import compass, refused

from compass.readers.catalogue import Piece, PublicDataset, catalogue, known

CONTENT = b"nodes,runtime\n" + b"".join(b"%d,%.1f\n" % (n, 64 / n) for n in range(1, 65))


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror that holds one dataset, which is all that the catalogue knows."""
    piece = Piece(
        path="jobs.csv",
        url="http://127.0.0.1:1/jobs.csv",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )
    toy = PublicDataset(
        name="toy",
        about="A toy",
        licence="CC0",
        rows=64,
        files=(piece,),
        notes=("Look out.",),
        study={
            "columns": {"nodes": {"role": "knob"}, "runtime": {"role": "outcome", "unit": "s"}},
            "rules": ["nodes <= 64"],
        },
    )
    far = PublicDataset(
        name="far", about="Far", licence="?", table=False, instructions="ask for it"
    )
    monkeypatch.setattr(known, "catalogue", lambda: {"toy": toy, "far": far})
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / "jobs.csv").write_bytes(CONTENT)
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path / "mirror"))
    monkeypatch.setenv("COMPASS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "mirror"


def test_all_are_listed() -> None:
    said = compass("datasets")
    assert said.code == 0
    assert f"{len(catalogue())} datasets" in said.out
    for name in catalogue():
        assert f"{name}\n" in said.out
    told = json.loads(compass("datasets", "--json").out)
    assert {one["name"] for one in told} == set(catalogue())
    assert all(one["licence"] and one["source"] for one in told)


def test_one_is_shown() -> None:
    said = compass("datasets", "show", "zeus")
    assert said.code == 0
    for part in (
        "knobs:     batch_size, power_limit, optimizer",
        "outcomes:  time_per_epoch, average_power",
        "licence:   Apache-2.0",
        "github.com/ml-energy/zeus at 75a8b9398034",
        "rule:      gpu == 'v100' -> power_limit <= 250",
        "unknown until the first download",
        "compass datasets get zeus",
    ):
        assert part in said.out
    told = json.loads(compass("datasets", "show", "kabre", "--json").out)
    assert told["files"][0]["address"].startswith("https://raw.githubusercontent.com/")
    assert len(told["files"][0]["sha256"]) == 64
    assert "by hand" in compass("datasets").out
    assert "aws s3 cp" in compass("datasets", "show", "mit-supercloud").out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("swf-kth", "kth-sp2?"),  # a word of it
        ("Kripky", "kripke?"),  # the nearest
        ("deepperf-kripke", "kripke, kripke-test, deepperf-"),  # the rare word first
        ("zzz", "compass datasets"),
    ],
)
def test_an_unknown_name_offers_those_like_it(typed: str, offered: str) -> None:
    said = compass("datasets", "show", typed)
    refused(said, f"no dataset named '{typed}'", offered)


def test_every_name_is_offered_for_each_of_its_words() -> None:
    for name in catalogue():
        for word in (part for part in name.split("-") if len(part) > 2):
            assert name in known.alike(f"none of these {word}")


def test_get_says_where_it_is_and_how_to_go_on(mirror: Path, tmp_path: Path) -> None:
    said = compass("datasets", "get", "toy")
    assert said.code == 0
    assert said.out == f"{mirror / 'toy' / 'jobs.csv'}\n"
    assert said.err == "next: compass columns dataset:toy\n"
    said = compass("datasets", "get", "toy", "-o", tmp_path / "mine", "--json")
    told = json.loads(said.out)
    assert told["files"] == [str(tmp_path / "mine" / "toy" / "jobs.csv")]
    assert told["next"] == f"COMPASS_DATA={tmp_path / 'mine'} compass columns dataset:toy"


def test_the_commands_take_it_with_its_study(mirror: Path, tmp_path: Path) -> None:
    told = json.loads(compass("columns", "dataset:toy", "--json").out)
    assert {one["name"]: one["role"] for one in told["columns"]} == {
        "nodes": "knob",
        "runtime": "outcome",
    }
    assert told["rules"] == [{"text": "nodes <= 64", "broken_by": 0}]
    said = compass("read", "dataset:toy", "-o", tmp_path / "x.parquet", "--json")
    assert json.loads(said.out)["columns"][1]["unit"] == "s"


def test_problems_are_told(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(compass("datasets", "get", "toi"), "did you mean toy?")
    refused(compass("datasets", "get", "far"), "cannot be downloaded", "ask for it")
    refused(compass("columns", "dataset:toi"), "did you mean toy?")
    (mirror / "toy" / "jobs.csv").write_bytes(b"other")
    refused(compass("datasets", "get", "toy"), "SHA-256", "unset COMPASS_DATA")
    monkeypatch.delenv("COMPASS_DATA")
    refused(compass("datasets", "get", "toy"), "127.0.0.1:1", "fetch it by hand")
