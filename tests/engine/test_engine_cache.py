"""Models of raw tables that are kept: found by content, bounded, and never half there."""

import errno
import fcntl
import json
import os
import resource
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import compass as cp
from compass import files
from compass.domain.errors import BadInput, EngineProblem, EnvironmentProblem
from compass.domain.study import Study
from compass.engine import generation
from compass.engine.cache import ModelCache
from compass.settings import ForestSettings
from conftest import QUICK, ROLES, cluster_columns

QUESTION = "Recommend X = {nodes: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}"


@pytest.fixture(scope="module")
def fitted() -> cp.Compass:
    return cp.Compass(cp.read(cluster_columns(80)).roles(**ROLES), settings=QUICK).fit()


@pytest.fixture(scope="module")
def larger() -> cp.Compass:
    settings = QUICK.model_copy(update={"forest": ForestSettings(trees=80)})
    return cp.Compass(cp.read(cluster_columns(80)).roles(**ROLES), settings=settings).fit()


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    return ModelCache(tmp_path / "cache" / "models", 1 << 30)


def answer(engine: cp.Compass) -> object:
    return engine.ask(QUESTION).model_dump(mode="json", exclude={"seconds"})


def test_what_is_kept_is_found_and_answers_alike(cache: ModelCache, fitted: cp.Compass) -> None:
    assert cache.find("k", fitted.data.study, [None]) is None
    cache.keep("k", fitted)
    found = cache.find("k", fitted.data.study, [None])
    assert found is not None
    assert answer(found) == answer(fitted)
    assert cache.folder.stat().st_mode & 0o077 == 0  # people's data


def test_rules_and_names_of_files_are_those_of_today(cache: ModelCache, fitted: cp.Compass) -> None:
    cache.keep("k", fitted)
    study = fitted.data.study.model_copy(update={"rules": ("nodes <= 2",)})
    found = cache.find("k", study, ["elsewhere/jobs.csv"])
    assert found is not None
    assert [rule.text for rule in found.rules] == ["nodes <= 2"]
    assert all(s.config["nodes"] <= 2 for s in found.ask(QUESTION))  # type: ignore[operator]
    assert found.data.table.part_of(3) == ("elsewhere/jobs.csv", 3)


def test_the_least_recently_used_goes_first(cache: ModelCache, fitted: cp.Compass) -> None:
    for age, key in enumerate(["old", "older", "oldest"]):
        cache.keep(key, fitted)
        os.utime(cache.folder / key / "CURRENT", (age, 1000 - age))
    size = cache.entries()[0].bytes
    assert cache.find("oldest", fitted.data.study, [None]) is not None  # used just now
    small = ModelCache(cache.folder, int(3.5 * size))
    small.keep("new", fitted)
    assert {entry.key for entry in small.entries()} == {"new", "oldest", "old"}
    with pytest.raises(EnvironmentProblem, match="the data has") as problem:
        ModelCache(cache.folder, 100).keep("hopeless", fitted)
    assert "COMPASS_CACHE_GIB" in problem.value.hint


def test_what_is_too_large_does_not_remove_others(
    cache: ModelCache, fitted: cp.Compass, larger: cp.Compass
) -> None:
    for key in ("one", "two"):
        cache.keep(key, fitted)
    limit = sum(entry.bytes for entry in cache.entries())
    cache.keep("large", larger)
    assert cache.entries()[0].bytes > limit > larger.data.table.arrow.nbytes
    shutil.rmtree(cache.folder / "large")
    small = ModelCache(cache.folder, limit)
    with pytest.raises(EnvironmentProblem, match="they take") as problem:
        small.keep("large", larger)
    assert "COMPASS_CACHE_GIB" in problem.value.hint
    assert {entry.key for entry in small.entries()} == {"one", "two"}


def generations(cache: ModelCache, key: str) -> set[Path]:
    return set((cache.folder / key).glob("generation-*"))


def test_what_is_replaced_stays_for_a_day(cache: ModelCache, fitted: cp.Compass) -> None:
    cache.keep("k", fitted)
    (old,) = generations(cache, "k")
    os.utime(old, (0, 0))  # it counts from when it is replaced, not from when it was written
    cache.keep("k", fitted)
    assert len(generations(cache, "k")) == 2
    cache.keep("other", fitted)
    assert old in generations(cache, "k")
    yesterday = time.time() - 25 * 3600
    os.utime(old, (yesterday, yesterday))
    cache.keep("other", fitted)
    assert len(generations(cache, "k")) == 1
    assert old not in generations(cache, "k")


def test_what_is_replaced_goes_at_once_where_room_is_short(
    cache: ModelCache, fitted: cp.Compass
) -> None:
    cache.keep("k", fitted)
    small = ModelCache(cache.folder, int(1.5 * cache.entries()[0].bytes))
    small.keep("k", fitted)
    assert len(generations(small, "k")) == 1
    assert small.find("k", fitted.data.study, [None]) is not None


def test_a_failed_save_leaves_nothing_behind_and_makes_room(
    cache: ModelCache, fitted: cp.Compass, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("one", "two"):
        cache.keep(key, fitted)
    small = ModelCache(cache.folder, cache.entries()[0].bytes)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(generation, "write_arrays", full)
    with pytest.raises(EnvironmentProblem, match="No space left"):
        small.keep("two", fitted)
    assert [entry.key for entry in small.entries()] == ["two"]
    assert len(list((small.folder / "two").iterdir())) == 2  # the old pointer and generation


def test_a_damaged_entry_is_told_and_removed(cache: ModelCache, fitted: cp.Compass) -> None:
    cache.keep("k", fitted)
    model = next(cache.folder.rglob("model-0.npz"))
    model.write_bytes(model.read_bytes()[:-100])
    with pytest.raises(EngineProblem):
        cache.find("k", fitted.data.study, [None])
    assert cache.find("k", fitted.data.study, [None]) is None
    assert cache.entries() == []


@contextmanager
def no_more_files() -> Iterator[None]:
    """This process may open no file for a while."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_an_entry_that_cannot_be_read_at_the_moment_stays(
    cache: ModelCache, fitted: cp.Compass
) -> None:
    cache.keep("k", fitted)
    with no_more_files(), pytest.raises(EnvironmentProblem, match="Too many open files"):
        cache.find("k", fitted.data.study, [None])
    assert cache.find("k", fitted.data.study, [None]) is not None


def test_damage_that_a_question_finds_hints_at_clearing(
    cache: ModelCache, fitted: cp.Compass
) -> None:
    cache.keep("k", fitted)
    model = next(cache.folder.rglob("model-0.npz"))
    with np.load(model) as arrays:
        np.savez(model, **dict(list(arrays.items())[1:]))
    manifest = model.parent / "engine.json"
    told = json.loads(manifest.read_text())
    told["models"][0]["digest"] = files.digest(model)
    manifest.write_text(json.dumps(told))
    found = cache.find("k", fitted.data.study, [None])
    assert found is not None
    with pytest.raises(EngineProblem, match="damaged") as problem:
        list(found.store.trained.values())
    assert "compass cache clear" in problem.value.hint


def test_what_a_kill_left_behind_is_listed_and_cleared(
    cache: ModelCache, fitted: cp.Compass
) -> None:
    (cache.folder / "killed" / "generation-1").mkdir(parents=True)
    (cache.folder / "killed" / "generation-1" / "data.parquet").write_bytes(b"half")
    assert cache.find("killed", Study(), []) is None
    assert [entry.bytes for entry in cache.entries()] == [4]
    cache.keep("killed", fitted)
    found = cache.find("killed", fitted.data.study, [None])
    assert found is not None
    assert [entry.rows for entry in cache.clear().removed] == [80]
    assert cache.entries() == []


def test_an_entry_that_is_being_written_stays(cache: ModelCache, fitted: cp.Compass) -> None:
    for key in ("held", "free"):
        cache.keep(key, fitted)
    writer = os.open(cache.folder / "held", os.O_RDONLY)
    fcntl.flock(writer, fcntl.LOCK_EX)
    done = cache.clear()
    os.close(writer)
    assert [entry.key for entry in done.removed] == ["free"]
    assert done.stayed == {"held": "it is being written"}


def test_file_systems_without_locks_have_a_cache_too(
    cache: ModelCache, fitted: cp.Compass, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", unknown)
    cache.keep("k", fitted)
    assert [entry.key for entry in cache.clear().removed] == ["k"]
    assert cache.entries() == []


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    """A folder that may not be looked into; root may, so this becomes nobody for a while."""
    folder.chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)


def test_a_folder_that_may_not_be_read_is_told(cache: ModelCache, fitted: cp.Compass) -> None:
    cache.keep("k", fitted)
    for use in (lambda: cache.find("k", Study(), [None]), cache.entries, cache.clear):
        with closed(cache.folder), pytest.raises(EnvironmentProblem, match="Permission") as told:
            use()
        assert "COMPASS_CACHE=DIR" in told.value.hint
    assert cache.find("k", fitted.data.study, [None]) is not None


def test_a_folder_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ModelCache(tmp_path / "file" / "models", 1 << 30)
    assert cache.find("k", Study(), [None]) is None
    for use in (cache.entries, cache.clear):
        with pytest.raises(EnvironmentProblem, match="Not a directory"):
            use()


def test_a_home_folder_of_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPASS_CACHE", "~nobody-has-this-name/cache")
    with pytest.raises(EnvironmentProblem, match="no such home folder") as problem:
        ModelCache.of_person()
    assert "whole path" in problem.value.hint


@pytest.mark.parametrize("text", ["much", "-1", "inf", "nan", "1e305"])
def test_a_limit_that_is_no_size_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPASS_CACHE_GIB", text)
    with pytest.raises(BadInput, match="COMPASS_CACHE_GIB") as problem:
        ModelCache.of_person()
    assert "0 to keep nothing" in problem.value.hint
