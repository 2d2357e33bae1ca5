"""Saved engines: the same answers in another process, whole or not at all, and no code inside."""

import io
import json
import os
import pickle
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import compass as cp
from compass.domain.errors import EngineProblem, EnvironmentProblem
from compass.engine import generation as written
from compass.engine import store
from compass.files import digest
from compass.settings import ForestSettings, TrustSettings
from conftest import ROLES, cluster_columns

QUICK = cp.Settings(
    surrogate="forest", forest=ForestSettings(trees=10), trust=TrustSettings(trees=4)
)
QUESTIONS = (
    "Recommend X = {nodes: ?, cores: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}",
    "Reconfigure X = {gpus: ?} to achieve Y = {runtime: reduce by 10%, state: completed} "
    "from row 3",
    "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime, power, state}",
)


def build(seed: int = 7) -> cp.Compass:
    data = cp.read(cluster_columns(250)).roles(**ROLES)
    settings = QUICK.model_copy(update={"seed": seed})
    return cp.Compass(data, rules=["cores <= 32 * nodes"], settings=settings).fit()


@pytest.fixture(scope="module")
def small() -> cp.Compass:
    return build()


@pytest.fixture(scope="module")
def other() -> cp.Compass:
    """One that answers otherwise."""
    return build(seed=8)


@pytest.fixture(scope="module")
def kept(small: cp.Compass, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.save(tmp_path_factory.mktemp("kept") / "jobs.compass")


@pytest.fixture
def saved(kept: Path, tmp_path: Path) -> Path:
    """A saved engine that a test may damage."""
    return Path(shutil.copytree(kept, tmp_path / "jobs.compass"))


def generation(path: Path) -> Path:
    return path / (path / "CURRENT").read_text().strip()


def asked(engine: cp.Compass) -> list[Any]:
    return [engine.ask(text).model_dump(mode="json", exclude={"seconds"}) for text in QUESTIONS]


@pytest.fixture(scope="module")
def expected(small: cp.Compass) -> list[Any]:
    """What the saved engine has to answer."""
    return asked(small)


def test_another_process_gives_the_same_answers_bit_for_bit(small: cp.Compass, kept: Path) -> None:
    program = (
        "import sys, json, compass as cp\n"
        "engine = cp.load(sys.argv[1])\n"
        "answers = [engine.ask(q).model_dump_json(exclude={'seconds'}) for q in sys.argv[2:]]\n"
        "print(json.dumps(answers))\n"
        "assert 'sklearn' not in sys.modules, 'nothing is left to learn'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(kept), *QUESTIONS],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    expected = [small.ask(text).model_dump_json(exclude={"seconds"}) for text in QUESTIONS]
    assert json.loads(done.stdout) == expected


def test_everything_that_was_said_about_the_data_comes_back(small: cp.Compass, kept: Path) -> None:
    again = cp.load(kept)
    assert again.data.study == small.data.study
    assert again.settings == small.settings
    assert again.rules == small.rules
    assert again.cards == small.cards
    assert again.data.table.fingerprint == small.data.table.fingerprint
    assert again.data.row(17) == small.data.row(17)


def test_rules_keep_where_they_come_from(tmp_path: Path) -> None:
    data = cp.read(cluster_columns(60), study={"dependencies": ["cores >= 8 * nodes"]})
    engine = cp.Compass(data, rules=["gpus <= 4"], settings=QUICK)
    again = cp.load(engine.save(tmp_path / "e"))
    assert again.rules == engine.rules
    assert [rule.source.value for rule in again.rules] == ["study", "dependency"]


def test_an_engine_that_was_not_fitted_is_fitted_when_it_is_asked(tmp_path: Path) -> None:
    engine = cp.Compass(cp.read(cluster_columns(60)).roles(**ROLES), settings=QUICK)
    again = cp.load(engine.save(tmp_path / "e"))
    assert again.cards == ()
    assert again.ask(QUESTIONS[0]).suggestions == engine.ask(QUESTIONS[0]).suggestions


def test_several_files_are_still_told_apart(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv as pacsv

    for name, seed in (("a", 1), ("b", 2)):
        table = pa.table(cluster_columns(80, seed))
        pacsv.write_csv(table, tmp_path / f"{name}.csv")
    engine = cp.Compass(cp.read(str(tmp_path / "*.csv")).roles(**ROLES), settings=QUICK)
    again = cp.load(engine.save(tmp_path / "e"))
    assert again.data.table.parts == engine.data.table.parts
    assert again.data.table.part_of(100) == engine.data.table.part_of(100)
    files = {e.file for s in again.ask(QUESTIONS[0]) for e in s.trust.evidence}
    assert {Path(str(file)).name for file in files} <= {"a.csv", "b.csv"}


def test_saving_again_replaces_the_engine_and_leaves_no_rubbish(
    small: cp.Compass, other: cp.Compass, saved: Path
) -> None:
    old = generation(saved)
    other.save(saved)
    assert not old.exists()
    assert sorted(path.name for path in saved.iterdir()) == ["CURRENT", generation(saved).name]
    assert asked(cp.load(saved)) == asked(other) != asked(small)


STEPS = (
    *("generation._write_arrays", "generation.write", "files.sync_tree", "files.sync"),
    *("files.write_text", "os.replace", "secrets.token_hex"),
)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_moment_leaves_an_engine(
    step: str,
    after: bool,
    small: cp.Compass,
    other: cp.Compass,
    saved: Path,
    expected: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A kill is an exception that nothing catches, before or after each step."""
    *way, name = step.split(".")
    target: Any = {"generation": written, "files": store.files, "os": os, "secrets": secrets}[
        way[0]
    ]
    real: Callable[..., Any] = getattr(target, name)

    def killed(*given: Any, **more: Any) -> None:
        if after:
            real(*given, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(store if name == "write" else target, name, killed)
    monkeypatch.setattr(store, "_discard", lambda *_: None)  # a kill leaves everything behind
    with pytest.raises(KeyboardInterrupt):
        small.save(saved)
    monkeypatch.undo()
    assert asked(cp.load(saved)) == expected
    other.save(saved)
    assert sorted(path.name for path in saved.iterdir()) == ["CURRENT", generation(saved).name]


def test_a_kill_between_pointing_and_tidying_leaves_the_new_engine(
    other: cp.Compass, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "tidy", killed)
    with pytest.raises(KeyboardInterrupt):
        other.save(saved)
    monkeypatch.undo()
    assert asked(cp.load(saved)) == asked(other)


def test_a_kill_during_the_first_save_does_not_block_the_next(
    small: cp.Compass, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    place = tmp_path / "e"
    monkeypatch.setattr(store.files, "write_text", killed)
    monkeypatch.setattr(store, "_discard", lambda *_: None)  # a kill leaves everything behind
    with pytest.raises(KeyboardInterrupt):
        small.save(place)
    monkeypatch.undo()
    with pytest.raises(EngineProblem, match="not a saved engine"):
        cp.load(place)
    small.save(place)
    assert asked(cp.load(place)) == asked(small)


def test_an_interrupted_save_leaves_nothing_behind(
    small: cp.Compass, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    before = set(saved.iterdir())
    monkeypatch.setattr(store.files, "sync_tree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        small.save(saved)
    assert set(saved.iterdir()) == before


def test_a_full_disk_is_told_and_the_old_engine_stays(
    small: cp.Compass, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(written, "write_arrays", full)
    before = set(saved.iterdir())
    with pytest.raises(EnvironmentProblem, match="No space left on device") as problem:
        small.save(saved)
    assert "disk" in problem.value.hint
    assert set(saved.iterdir()) == before  # it would stay full
    monkeypatch.undo()
    cp.load(saved)


def rewrite(path: Path, **changes: Any) -> None:
    """Change fields of the manifest."""
    file = generation(path) / "engine.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def replace_model(path: Path, content: bytes) -> None:
    """Put another file in the place of the first model, as somebody would who knows the format."""
    file = generation(path) / "model-0.npz"
    file.write_bytes(content)
    models = json.loads((generation(path) / "engine.json").read_text())["models"]
    models[0]["digest"] = digest(file)
    rewrite(path, models=models)


def packed(arrays: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def opened(path: Path) -> cp.Compass:
    """The engine with everything in it restored; a question restores what it needs."""
    engine = cp.load(path)
    assert [*engine.store.trained.values(), *engine.store.views.values()]
    return engine


def refused(path: Path) -> EngineProblem:
    with pytest.raises(EngineProblem) as problem:
        opened(path)
    assert problem.value.hint
    return problem.value


class Trap:
    """Would leave a file behind if anybody unpickled it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_objects_in_arrays_are_refused_and_never_run(saved: Path, tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    pickle.loads(pickle.dumps(Trap(sprung)))
    assert sprung.exists()  # the trap works
    sprung.unlink()
    with np.load(generation(saved) / "model-0.npz") as arrays:
        held = dict(arrays)
    trapped = np.array([Trap(sprung)], dtype=object)
    replace_model(saved, packed(held | {next(iter(held)): trapped}))
    refused(saved)
    alone = io.BytesIO()
    np.save(alone, trapped)
    replace_model(saved, alone.getvalue())
    refused(saved)
    replace_model(saved, pickle.dumps(Trap(sprung)))
    refused(saved)
    assert not sprung.exists()


@pytest.mark.parametrize(
    "pointer",
    [
        "",
        "..",
        "../other/generation-1",
        "generation-1/../../other",
        "/etc",
        "generation-\0",
        "generation-",
        "nothing",
        "generation-missing",
    ],
)
def test_a_pointer_out_of_the_engine_is_refused(pointer: str, saved: Path) -> None:
    shutil.copytree(generation(saved), saved.parent / "other" / "generation-1")
    (saved / "CURRENT").write_text(pointer)
    assert "damaged" in refused(saved).message


def test_a_pointer_that_is_not_text_is_refused(saved: Path) -> None:
    (saved / "CURRENT").write_bytes(b"\xff\xfe\x00")
    assert "damaged" in refused(saved).message


@pytest.mark.parametrize(
    "name", ["../model-0.npz", "/etc/passwd", "model-0.npz/../../x", "engine.json", ""]
)
def test_a_model_file_out_of_the_engine_is_refused(name: str, saved: Path) -> None:
    shutil.copy(generation(saved) / "model-0.npz", saved / "model-0.npz")
    models = json.loads((generation(saved) / "engine.json").read_text())["models"]
    models[0]["file"] = name
    rewrite(saved, models=models)
    assert "damaged" in refused(saved).message


def test_another_format_is_refused_before_anything_else(saved: Path) -> None:
    rewrite(saved, format=99, something_new="that this version does not know")
    assert "format 99" in refused(saved).message
    rewrite(saved, format=None)
    refused(saved)
    (generation(saved) / "engine.json").write_text("[1, 2]")
    assert "damaged" in refused(saved).message


def test_changed_data_is_refused(saved: Path) -> None:
    file = generation(saved) / "data.parquet"
    table = pq.read_table(file)
    runtime = table.column("runtime").to_pylist()
    runtime[0] += 1e-9
    place = table.column_names.index("runtime")
    pq.write_table(table.set_column(place, "runtime", [runtime]), file)
    assert "not what was saved" in refused(saved).message


def test_parts_that_do_not_cover_the_rows_are_refused(saved: Path) -> None:
    rewrite(saved, parts=[[None, 3]])
    assert "not what was saved" in refused(saved).message


@pytest.mark.parametrize("file", ["engine.json", "data.parquet", "model-0.npz"])
@pytest.mark.parametrize("how", ["missing", "empty", "cut", "noise"])
def test_a_damaged_file_is_told(file: str, how: str, saved: Path) -> None:
    path = generation(saved) / file
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])
    else:
        path.write_bytes(bytes(np.random.default_rng(0).integers(0, 256, 2000, dtype=np.uint8)))
    refused(saved)


@pytest.mark.parametrize("file", ["data.parquet", "model-0.npz"])
def test_a_single_wrong_byte_is_told(file: str, saved: Path) -> None:
    path = generation(saved) / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    refused(saved)


def test_an_array_that_is_missing_is_told(saved: Path) -> None:
    with np.load(generation(saved) / "model-0.npz") as arrays:
        held = dict(arrays)
    for gone in held:
        replace_model(saved, packed({name: array for name, array in held.items() if name != gone}))
        refused(saved)


def test_arrays_of_another_shape_are_told(saved: Path) -> None:
    with np.load(generation(saved) / "model-0.npz") as arrays:
        held = dict(arrays)
    for name, array in held.items():
        if array.size > 1 and name != "model|roots":  # fewer trees are a forest as well
            replace_model(saved, packed(held | {name: array.reshape(-1)[:1]}))
            assert refused(saved), name


def altered_view(path: Path, **arrays: Any) -> None:
    """Change arrays of the first view, as somebody would who knows the format; None: remove."""
    file = generation(path) / "view-0.npz"
    with np.load(file) as held:
        changed = {**held, **arrays}
    np.savez(file, **{name: array for name, array in changed.items() if array is not None})
    views = json.loads((generation(path) / "engine.json").read_text())["views"]
    views[0]["digest"] = digest(file)
    rewrite(path, views=views)


def test_a_view_that_does_not_fit_to_the_data_is_told(kept: Path, tmp_path: Path) -> None:
    with np.load(generation(kept) / "view-0.npz") as arrays:
        held = dict(arrays)
    changes: list[dict[str, Any]] = [{name: None} for name in held]
    changes += [{name: array[np.newaxis]} for name, array in held.items()]
    changes += [{name: array.astype(np.float32)} for name, array in held.items()]
    changes += [{"train": held["train"] + 10**6}, {"valid": held["valid"] - 10**6}]
    changes += [{"column": held["column"] + 100}, {"kind": held["kind"] - 1}]
    changes += [{"spread": 0 * held["spread"]}, {"values": held["values"][::-1] - 1}]
    changes += [{"train": held["train"][:0]}]
    for number, change in enumerate(changes):
        path = Path(shutil.copytree(kept, tmp_path / str(number)))
        altered_view(path, **change)
        assert refused(path), change
    path = Path(shutil.copytree(kept, tmp_path / "rule"))
    views = json.loads((generation(path) / "engine.json").read_text())["views"]
    views[0]["dependencies"] = [
        {"text": "cores <= <=", "kind": "bound", "rows": 1, "why": "somebody wrote it"}
    ]
    rewrite(path, views=views)
    assert refused(path)


@pytest.mark.parametrize(
    "alter",
    [
        lambda arrays: {"order": np.zeros_like(arrays["order"])},
        # Each run once, but runs of another family, or in another order, where kernels look.
        lambda arrays: {"order": np.roll(arrays["order"], 1, axis=1)},
        lambda arrays: {"order": np.ascontiguousarray(arrays["order"][:, ::-1])},
        lambda arrays: {"position": np.roll(arrays["position"], 1)},
    ],
)
def test_runs_that_are_sorted_in_another_way_are_told(
    saved: Path, alter: Callable[[Any], dict[str, Any]]
) -> None:
    with np.load(generation(saved) / "view-0.npz") as arrays:
        altered_view(saved, **alter(arrays))
    with pytest.raises(EngineProblem, match="sorted in another way") as problem:
        asked(cp.load(saved))
    assert problem.value.hint


def test_a_question_restores_what_it_needs(small: cp.Compass, kept: Path) -> None:
    again = cp.load(kept)
    restored = again.store.trained._made
    assert set(again.store.trained) == set(small.store.trained)
    assert not restored
    again.ask(QUESTIONS[0], prove=0.0)
    assert {target for _, target in restored} == {"runtime"}


def test_what_was_loaded_outlives_its_files(saved: Path, expected: list[Any]) -> None:
    again = cp.load(saved)
    shutil.rmtree(saved)
    assert asked(again) == expected


def test_arrays_are_mapped_not_copied(kept: Path) -> None:
    trained = next(iter(cp.load(kept).store.trained.values()))
    forest = trained.model.trees()
    assert forest is not None
    assert not forest.threshold.flags.owndata
    assert not forest.threshold.flags.writeable


def test_what_was_worked_out_when_saving_is_what_the_data_tells(
    small: cp.Compass, kept: Path
) -> None:
    again = cp.load(kept)
    for features, target in small.store.trained:
        checks = again.store.trained[features, target].checks
        assert checks is not None
        was = small.store.learnt(features, target).checks()
        assert checks.reliability == was.reliability
        assert (checks.usual_error, checks.carry) == (was.usual_error, was.carry)
        if was.errors is not None:
            assert checks.errors is not None
            np.testing.assert_array_equal(checks.errors.values, was.errors.values)
            np.testing.assert_array_equal(checks.errors.share, was.errors.share)
        now, then = again.store.view_of(features), small.store.view_of(features)
        for name in ("train", "valid", "X", "scale"):
            np.testing.assert_array_equal(getattr(now, name), getattr(then, name))
        np.testing.assert_array_equal(now.support.blocks.rows, then.support.blocks.rows)
        np.testing.assert_array_equal(now.support.ranks.values, then.support.ranks.values)
        assert now.support.tau == then.support.tau
        ((columns, sorting),) = now._sortings.items()
        built = then.pair_index(columns)
        np.testing.assert_array_equal(sorting.position, built.position)
        np.testing.assert_array_equal(sorting.order, built.order)
        np.testing.assert_array_equal(now.pair_index(columns).ranked, built.ranked)
        assert [d.mined for d in now.dependencies.found] == [
            d.mined for d in then.dependencies.found
        ]


def test_a_family_that_is_not_installed_is_named(saved: Path) -> None:
    models = json.loads((generation(saved) / "engine.json").read_text())["models"]
    models[0]["recipe"]["family"] = "forrest"
    rewrite(saved, models=models)
    with pytest.raises(cp.CompassError, match="forrest") as problem:
        cp.load(saved)
    assert "forest" in problem.value.hint


def test_what_is_not_an_engine_is_left_alone(small: cp.Compass, tmp_path: Path) -> None:
    file, folder = tmp_path / "notes.txt", tmp_path / "thesis"
    file.write_text("mine")
    folder.mkdir()
    (folder / "chapter.tex").write_text("mine too")
    for place in (file, folder, file / "below"):
        with pytest.raises(EngineProblem):
            small.save(place)
    assert file.read_text() == "mine"
    assert [path.name for path in folder.iterdir()] == ["chapter.tex"]
    for place in (file, folder, tmp_path / "missing"):
        with pytest.raises(EngineProblem, match="not a saved engine"):
            cp.load(place)


def test_an_engine_beside_other_files_keeps_them(small: cp.Compass, saved: Path) -> None:
    (saved / "README").write_text("about this engine")
    small.save(saved)
    assert (saved / "README").read_text() == "about this engine"


def test_new_folders_are_made_on_the_way(small: cp.Compass, tmp_path: Path) -> None:
    place = small.save(tmp_path / "a" / "b" / "c.compass")
    assert asked(cp.load(str(place))) == asked(small)
