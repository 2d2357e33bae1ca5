"""What is learnt one by one comes together in one saved engine, whoever saves at the same time."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import compass as cp
from compass.domain.errors import EngineProblem, EnvironmentProblem
from compass.engine import store
from compass.engine.cache import ModelCache
from conftest import QUICK, ROLES, cluster_columns

OUTCOMES = ("runtime", "power", "state")
QUESTION = "What if we change X = {gpus: 0 -> 4}"


def engine_of(*outcomes: str, seed: int = 7, rows: int = 80) -> cp.Compass:
    settings = QUICK.model_copy(update={"seed": seed})
    data = cp.read(cluster_columns(rows)).roles(**ROLES)
    return cp.Compass(data, settings=settings).fit(outcomes)


def answer(engine: cp.Compass) -> Any:
    def untimed(told: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in told.items() if name != "seconds"}

    return json.loads(engine.ask(QUESTION).model_dump_json(), object_hook=untimed)


def inodes(path: Path) -> dict[str, int]:
    return {file.name: file.stat().st_ino for file in store.generation_of(path).iterdir()}


def test_what_is_learnt_is_added_and_nothing_else_is_written(tmp_path: Path) -> None:
    place = engine_of("runtime").save(tmp_path / "e")
    before = inodes(place)
    loaded = cp.load(place).fit(["power"])
    store.add(loaded, place)
    after = inodes(place)
    assert cp.load(place).learnt == ("runtime", "power")
    assert [after[name] == before[name] for name in ("model-0.npz", "data.parquet")] == [True, True]
    assert len(list(place.iterdir())) == 2  # the pointer and one generation
    assert answer(cp.load(place)) == answer(engine_of(*OUTCOMES))


def test_what_others_added_meanwhile_stays(tmp_path: Path) -> None:
    place = engine_of().save(tmp_path / "e")
    first, second = cp.load(place), cp.load(place)
    store.add(first.fit(["power"]), place)
    store.add(second.fit(["runtime"]), place)
    assert cp.load(place).learnt == ("runtime", "power")
    assert first.learnt == ("power",)
    store.refresh(first, place)
    assert first.learnt == ("runtime", "power")
    assert answer(first) == answer(engine_of(*OUTCOMES))


def test_another_engine_in_its_place_stays(tmp_path: Path) -> None:
    place = engine_of("runtime").save(tmp_path / "e")
    loaded = cp.load(place).fit(["power"])
    for other in (engine_of("state", seed=8), engine_of("state", rows=60)):
        other.save(place)
        for use in (store.add, store.refresh):
            with pytest.raises(EngineProblem, match="saved anew meanwhile"):
                use(loaded, place)
        assert cp.load(place).learnt == ("state",)


def test_an_engine_that_was_removed_is_not_made_again(tmp_path: Path) -> None:
    place = engine_of("runtime").save(tmp_path / "e")
    loaded = cp.load(place).fit(["power"])
    place.rename(tmp_path / "elsewhere")
    with pytest.raises(EnvironmentProblem, match="cannot save"):
        store.add(loaded, place)
    assert not place.exists()


def test_without_links_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    place = engine_of("runtime").save(tmp_path / "e")
    loaded = cp.load(place).fit(["power"])
    monkeypatch.setattr("os.link", none)
    store.add(loaded, place)
    assert cp.load(place).learnt == ("runtime", "power")


def test_a_kill_while_something_is_added_leaves_the_engine_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    place = engine_of("runtime").save(tmp_path / "e")
    loaded = cp.load(place).fit(["power"])
    monkeypatch.setattr(store, "_discard", lambda *_: None)  # a kill leaves everything behind
    monkeypatch.setattr(store.files, "sync_tree", killed)
    with pytest.raises(KeyboardInterrupt):
        store.add(loaded, place)
    monkeypatch.undo()
    assert cp.load(place).learnt == ("runtime",)
    store.add(loaded, place)
    assert cp.load(place).learnt == ("runtime", "power")
    assert len(list(place.iterdir())) == 2


def test_the_cache_keeps_what_several_processes_learn_at_once(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
sys.path.insert(0, "tests/engine")
from compass.engine.cache import ModelCache
from test_engine_generation import engine_of
engine = engine_of(sys.argv[2])
sys.stdin.read()  # until all are ready
ModelCache(Path(sys.argv[1]), 1 << 30).keep("k", engine)
"""
    folder = tmp_path / "models"
    command = [sys.executable, "-c", program, str(folder)]
    tests = Path(__file__).parents[1]
    started = [
        subprocess.Popen(
            [*command, name], stdin=subprocess.PIPE, cwd=tests.parent, env=_path_of(tests)
        )
        for name in OUTCOMES
    ]
    for one in started:
        assert one.stdin is not None
        one.stdin.close()
    assert [one.wait(120) for one in started] == [0, 0, 0]
    study = engine_of().data.study
    found = ModelCache(folder, 1 << 30).find("k", study, [None])
    assert found is not None
    assert found.learnt == OUTCOMES
    assert answer(found) == answer(engine_of(*OUTCOMES))


def _path_of(tests: Path) -> dict[str, str]:
    import os

    return os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(tests)])}


def test_the_cache_replaces_what_was_learnt_otherwise(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path, 1 << 30)
    cache.keep("k", engine_of("runtime"))
    cache.keep("k", engine_of("power", seed=8))
    found = cache.find("k", engine_of().data.study, [None])
    assert found is not None
    assert found.learnt == ("power",)
