"""Asking a raw table twice: learnt once, whoever asks at the same time, whatever is killed."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_case import FLAGS, RECOMMEND, RECONFIGURE, Result, compass, process, refused, write_csv

from compass.cli import sources
from compass.engine import cache_key
from conftest import cluster_columns

REUSED = "note: reused models"
ASK = ("--no-prove", "--surrogate", "linear", *FLAGS)


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table, and a cache that nobody has used, as processes see it that begin now."""
    cache_key._software_here.cache_clear()
    monkeypatch.setenv("COMPASS_CACHE", str(tmp_path / "cache"))
    return write_csv(tmp_path / "jobs.csv", cluster_columns(60))


def asked(jobs: Path, *more: str) -> Result:
    done = compass("ask", jobs, RECOMMEND, *ASK, *more)
    assert done.code == 0, done
    return done


def answer(done: Result) -> object:
    """What was answered, without how long anything took."""
    return json.loads(
        done.out, object_hook=lambda told: {k: v for k, v in told.items() if k != "seconds"}
    )


def test_the_second_question_learns_nothing(jobs: Path) -> None:
    first = asked(jobs, "--json")
    assert REUSED not in first.err
    second = asked(jobs, "--json")
    assert second.err.count("\n") == 1
    assert REUSED in second.err
    assert answer(first) == answer(second) == answer(asked(jobs, "--json", "--no-cache"))


def test_other_rules_need_no_new_models(jobs: Path) -> None:
    asked(jobs)
    done = asked(jobs, "--rule", "gpus <= 1", "--json")
    assert REUSED in done.err
    assert all(one["config"]["gpus"] <= 1 for one in json.loads(done.out)["suggestions"])


def test_other_content_roles_or_settings_do(jobs: Path) -> None:
    asked(jobs)
    for more in (["--drop", "size"], ["--trust", "tau=0.1"], ["--surrogate", "neighbours"]):
        assert REUSED not in asked(jobs, *more).err
    jobs.write_text(jobs.read_text().replace("wrf", "nemo").replace("lammps", "wrf"))
    assert REUSED not in asked(jobs).err


def test_a_question_about_another_outcome_adds_to_what_is_kept(jobs: Path) -> None:
    asked(jobs)
    power = RECOMMEND.replace("runtime", "power")
    done = compass("ask", jobs, power, *ASK)
    assert REUSED not in done.err  # nothing of what was kept is about power
    assert REUSED in compass("ask", jobs, power, *ASK).err
    listed = json.loads(compass("cache", "--json").out)
    assert [entry["outcomes"] for entry in listed["entries"]] == [["runtime", "power"]]


def test_a_question_that_needs_kept_and_new_models_says_so(jobs: Path) -> None:
    asked(jobs)
    both = RECOMMEND.replace("minimize", "minimize, power: minimize")
    assert REUSED in compass("ask", jobs, both, *ASK).err


def test_a_wrong_question_is_told_as_without_a_cache(jobs: Path) -> None:
    asked(jobs)
    refused(compass("ask", jobs, RECONFIGURE, *ASK, "--from", "row:4000"), "no row 4000")


def test_no_cache_uses_nothing_and_keeps_nothing(jobs: Path) -> None:
    assert REUSED not in asked(jobs, "--no-cache").err
    assert json.loads(compass("cache", "--json").out)["entries"] == []


def test_without_room_nothing_is_kept(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPASS_CACHE_GIB", "0")
    assert asked(jobs).err == asked(jobs).err == ""


def test_other_commands_share_the_models(jobs: Path) -> None:
    asked(jobs)
    study = ("--surrogate", "linear", *FLAGS)
    for words in (
        ("explain", jobs, "--row", 3, "--outcome", "runtime", *study),
        ("next", jobs, RECOMMEND, *study),
    ):
        done = compass(*words)
        assert done.code == 0, done
        assert REUSED in done.err


@pytest.mark.parametrize("gone", [False, True])
def test_data_that_changes_while_it_is_read_is_not_kept(
    gone: bool, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, text = sources.dataset, jobs.read_text()

    def changing(*given: Any) -> object:
        jobs.write_text(text.replace("wrf", "nemo").replace("lammps", "wrf"))
        data = read(*given)
        if gone:
            jobs.unlink()
        return data

    monkeypatch.setattr(sources, "dataset", changing)
    assert "not kept: the data changed while it was read\nhint: ask again" in asked(jobs).err
    monkeypatch.undo()
    monkeypatch.setenv("COMPASS_CACHE", str(jobs.parent / "cache"))
    jobs.write_text(text)
    assert REUSED not in asked(jobs).err
    assert REUSED in asked(jobs).err


def test_the_cache_is_listed_and_cleared(jobs: Path) -> None:
    assert "No models are kept" in compass("cache").out
    asked(jobs)
    place = Path(compass("cache", "path").out.strip())
    assert place.is_dir()
    listed = compass("cache")
    assert "jobs.csv" in listed.out
    assert "runtime" in listed.out
    told = json.loads(compass("cache", "--json").out)
    assert told["path"] == str(place)
    assert told["bytes"] == sum(p.stat().st_size for p in place.rglob("*") if p.is_file())
    assert told["bytes"] < told["limit"]
    assert [(e["rows"], e["files"]) for e in told["entries"]] == [(60, [str(jobs)])]
    cleared = compass("cache", "clear")
    assert "1 tables" in cleared.err
    nothing = {"removed": 0, "bytes": 0, "stayed": {}}
    assert json.loads(compass("cache", "clear", "--json").out) == nothing
    assert REUSED not in asked(jobs).err


def test_a_damaged_entry_is_dropped_and_learnt_again(jobs: Path) -> None:
    first = asked(jobs, "--json")
    place = Path(compass("cache", "path").out.strip())
    for file in place.rglob("data.parquet"):
        file.write_bytes(b"PAR1 and nothing else")
    second = asked(jobs, "--json")
    assert "note: kept models cannot be used and are learnt again" in second.err
    assert answer(first) == answer(second) == answer(third := asked(jobs, "--json"))
    assert REUSED in third.err


@pytest.mark.parametrize("name", ["below a file", "too long" * 40])
def test_a_cache_that_cannot_be_written_is_no_obstacle(
    name: str, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_CACHE", str((jobs if "file" in name else jobs.parent) / name))
    done = asked(jobs)
    assert "note: the models are not kept" in done.err
    assert "hint: " in done.err


def test_what_is_not_cleared_is_told(jobs: Path) -> None:
    asked(jobs)
    entry = next(Path(compass("cache", "path").out.strip()).iterdir())
    writer = os.open(entry, os.O_RDONLY)
    fcntl.flock(writer, fcntl.LOCK_EX)
    done = compass("cache", "clear")
    os.close(writer)
    assert "removed the models of 0 tables" in done.err
    assert "note: those of 1 tables stayed: it is being written" in done.err


def test_a_folder_that_cannot_be_listed_is_told(
    jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, why in (
        (jobs / "below a file", "Not a directory"),
        (jobs.parent / ("too long" * 40), "File name too long"),
        ("~nobody-has-this-name", "no such home folder"),
    ):
        monkeypatch.setenv("COMPASS_CACHE", str(folder))
        for words in (("cache",), ("cache", "clear")):
            refused(compass(*words), why)


def start(jobs: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "compass.cli.main", "ask", str(jobs), RECOMMEND, *ASK]
    return subprocess.Popen(
        [*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_processes_that_learn_the_same_at_once_all_answer(jobs: Path) -> None:
    running = [start(jobs) for _ in range(3)]
    done = [Result(one.wait(120), *one.communicate()) for one in running]
    assert [one.code for one in done] == [0, 0, 0], done
    assert all("not kept" not in one.err and "cannot be used" not in one.err for one in done)
    last = asked(jobs, "--json")
    assert REUSED in last.err
    assert all(answer(one) == answer(last) for one in done)
    assert len(json.loads(compass("cache", "--json").out)["entries"]) == 1


KILLED = """
import os, signal, sys
from compass.cli.main import run
from compass.engine import store

when, save, sync = int(sys.argv.pop(1)), store.save, os.fsync

def dying(handle):
    global when
    when -= 1
    if when == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(handle)

def saving(*given, **more):
    os.fsync = dying
    save(*given, **more)

store.save = saving
run()
"""


@pytest.mark.parametrize(
    ("when", "whole"),
    [
        (1, False),  # before the first of its four files has reached the disk
        (4, False),
        (6, False),  # before the pointer has
        (7, True),  # the pointer is there, its name has not reached the disk
    ],
)
def test_a_kill_during_the_save_leaves_a_whole_entry_or_none(
    when: int, whole: bool, jobs: Path
) -> None:
    killed = process(when, "ask", jobs, RECOMMEND, *ASK, code=KILLED)
    assert killed.code == -signal.SIGKILL
    place = Path(compass("cache", "path").out.strip())
    assert len(list(place.glob("*/generation-*"))) == 1
    done = asked(jobs, "--json")
    assert (REUSED in done.err) == whole
    assert "cannot be used" not in done.err
    assert answer(done) == answer(asked(jobs, "--json", "--no-cache"))
    compass("cache", "clear")
    assert not any(place.iterdir())
