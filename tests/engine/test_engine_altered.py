"""Saved engines and model files that somebody altered: refused with a hint, never a crash."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compass as cp
from benchmarks import fuzz_files
from benchmarks.fuzz_subjects import Subject, engines, files
from compass.domain.errors import EngineProblem
from compass.files import digest
from compass.model.files import archive

SHORT = 150  # cases; `make fuzz-files` tries thousands
FAMILIES = ("forest", "xgboost", "linear", "neighbours", "svm", "gaussian")


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> list[Subject]:
    folder = tmp_path_factory.mktemp("subjects")
    return [*files(folder, apart=False), *engines(folder, FAMILIES)]


@pytest.fixture(scope="module")
def of(subjects: list[Subject]) -> Callable[[str], Path]:
    paths = {subject.name: subject.path for subject in subjects}
    return lambda family: paths[f"engine: {family}"]


@pytest.fixture
def saved(of: Callable[[str], Path], tmp_path: Path) -> Path:
    """An engine of forests that a test may alter."""
    return Path(shutil.copytree(of("forest"), tmp_path / "e.compass"))


def generation(path: Path) -> Path:
    return path / (path / "CURRENT").read_text().strip()


def described(path: Path, change: Callable[[Any], Any]) -> None:
    """Change the description of an engine."""
    file = generation(path) / "engine.json"
    found = json.loads(file.read_text())
    change(found)
    file.write_text(json.dumps(found))


def replaced(path: Path, content: bytes) -> None:
    """Put another file of arrays in the place of the first model, as its description says."""
    file = generation(path) / "model-0.npz"
    file.write_bytes(content)
    described(path, lambda found: found["models"][0].update(digest=digest(file)))


def altered(path: Path, **arrays: Any) -> None:
    with np.load(generation(path) / "model-0.npz") as held:
        changed = dict(held) | {name.replace("__", "|"): array for name, array in arrays.items()}
    made = io.BytesIO()
    np.savez_compressed(made, **changed)
    replaced(path, made.getvalue())


def opened(path: Path) -> cp.Compass:
    """The engine with everything in it restored; a question restores what it needs."""
    engine = cp.load(path)
    assert [*engine.store.trained.values(), *engine.store.views.values()]
    return engine


def refused(path: Path, match: str) -> EngineProblem:
    with pytest.raises(EngineProblem, match=match) as problem:
        opened(path)
    assert problem.value.hint
    return problem.value


def test_altered_files_and_engines_are_refused_or_answer(
    subjects: list[Subject], tmp_path: Path
) -> None:
    """The fuzz of `make fuzz-files`, a few cases of it and without a process apart."""
    came = [fuzz_files.case(number, subjects, tmp_path) for number in range(SHORT)]
    assert {name for name, _ in came} == {subject.name for subject in subjects}
    assert {how for _, how in came} == {"refused", "answered"}


def test_a_tree_that_adds_beyond_the_raw_columns(saved: Path) -> None:
    with np.load(generation(saved) / "model-0.npz") as held:
        slot = held["model|model|slot"].copy()
    slot[0] = np.iinfo(np.int64).max
    altered(saved, model__model__slot=slot)
    refused(saved, "a tree adds to a column that is not there")


@pytest.mark.parametrize("family", ["gaussian", "svm"])
def test_a_design_without_numbers(family: str, of: Callable[[str], Path], tmp_path: Path) -> None:
    path = Path(shutil.copytree(of(family), tmp_path / "e.compass"))
    with np.load(generation(path) / "model-0.npz") as held:
        centre = held["model|model|design|centre"].copy()
    centre[0] = np.nan
    altered(path, model__model__design__centre=centre)
    refused(path, "centre holds a value that is no number")


def header(shape: str, kind: str = "<f8") -> bytes:
    """The start of an array file that says that it has this shape."""
    said = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00\x76\x00" + said.ljust(117).encode() + b"\n"


@pytest.mark.parametrize(
    "content",
    [
        header("(2000000000,)"),  # 16 GB
        header("(2000000000,)") + bytes(800),
        header("(4611686018427387904, 4)"),  # the number of bytes overflows to 0
        header("(-1,)") + bytes(8),
        header("(1,)", "|O") + bytes(8),
        header("(1,)", "<q8") + bytes(8),
        header("1") + bytes(8),
        header("(" * 60 + ")" * 60),
        b"\x93NUMPY\x09\x00",
        b"",
    ],
)
def test_an_array_that_is_not_what_it_says(content: bytes, saved: Path) -> None:
    """Refused before any memory is taken for it: 16 GB would fail in many places, not all."""
    with pytest.raises(ValueError, match=r"."):
        archive.array_of(content)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        target.writestr("model|model|feature.npy", content)
    replaced(saved, made.getvalue())
    refused(saved, "not as they were saved")


def test_arrays_are_read_as_numpy_reads_them() -> None:
    for array in (
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(["exp", "é"]),
        np.zeros((0, 4)),
        np.array(3.5),
        np.zeros(2, dtype=[("left", "<i8"), ("threshold", "<f8")]),
    ):
        made = io.BytesIO()
        np.save(made, array)
        again = archive.array_of(made.getvalue())
        assert again.dtype == array.dtype
        assert np.array_equal(again, array)
        assert again.flags.aligned


def test_a_small_file_that_unpacks_to_a_lot(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    altered(saved, model__model__more=np.zeros(2**22))
    opened(saved)  # an array that nobody needs does no harm
    monkeypatch.setenv("COMPASS_INFLATED_GIB", "0.02")
    refused(saved, "unpacks to .* too much")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda m: m.update(features=["nodes", "app", "size"]), "about another outcome"),
        (lambda m: m.update(features=["nodes", "app", "size", "y"]), "not those of the data"),
        (lambda m: m.update(features=["nodes", "app", "size", "x"]), "not those of the data"),
        (lambda m: m.update(features=[]), "not as they were saved"),
        (lambda m: m.update(target="state"), "not as they were saved"),  # there is one already
        (lambda m: m.update(classes=3), "its classes are not those of the data"),
        (lambda m: m.update(scale=0.0), "not as they were saved"),
        (lambda m: m.update(scale="NaN"), "not as they were saved"),
        (lambda m: m.update(interval=None), "lacks an interval"),
        (lambda m: m["interval"].update(unseen=-1.0), "not as they were saved"),
        (lambda m: m["change"].update(log=True), "disagree about the logarithm"),
        (lambda m: m["recipe"].update(changes={"forest": {"trees": "x"}}), "settings that there"),
        (lambda m: m["recipe"].update(changes={"wood": {}}), "settings that there are not"),
        (lambda m: m.update(recipe={**m["recipe"], "log": True}), "disagree about the logarithm"),
        (lambda m: m["recipe"].update(family="linear"), "lacks levels"),
    ],
)
def test_a_model_that_does_not_fit_to_the_data(
    change: Callable[[Any], Any], why: str, saved: Path
) -> None:
    described(saved, lambda found: change(found["models"][0]))
    refused(saved, why)


def test_trees_of_numbers_are_not_taken_for_those_of_logarithms(saved: Path) -> None:
    def logged(found: Any) -> None:
        for part in ("recipe", "interval", "change"):
            found["models"][0][part]["log"] = True

    described(saved, logged)
    refused(saved, "not learnt on the logarithm")


def test_two_models_in_one_file(saved: Path) -> None:
    described(saved, lambda found: found["models"].append(found["models"][0]))
    refused(saved, "not as they were saved")


def test_a_description_that_is_nested_without_end(saved: Path) -> None:
    file = generation(saved) / "engine.json"
    for wrong in ("[" * 100_000, '{"format": 5, "study": ' + "[" * 100_000):
        file.write_text(wrong)
        refused(saved, "not as they were saved")


def test_parts_of_negative_size(saved: Path) -> None:
    described(saved, lambda found: found.update(parts=[["a", 100], ["b", -10]]))
    refused(saved, "not as they were saved")
