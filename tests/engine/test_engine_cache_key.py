"""Names of what is kept: everything that decides what is learnt is in them."""

import os
import shutil
from pathlib import Path

import pytest

from compass.domain.study import Study
from compass.engine.cache_key import content_of, key_of, software


def test_keys_tell_apart_what_is_learnt_from_and_how(tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text("a,b\n1,2\n")
    content = content_of([file], None)
    study = Study()
    key = key_of(content, study, {"surrogate": None})
    assert key == key_of(content, study, {})
    assert key == key_of(content, Study(rules=("a <= 2",), dependencies=("b >= 1",)), {})
    shutil.copy(file, tmp_path / "copy")
    (tmp_path / "other").mkdir()
    shutil.copy(file, tmp_path / "other" / "jobs.csv")
    assert key == key_of(content_of([tmp_path / "other" / "jobs.csv"], None), study, {})
    others = {
        key_of(content, study, {"surrogate": "forest"}),
        key_of(content, Study(drop=("a",)), {}),
        key_of(content, Study(map={"a": {"x*": "one", "*": "two"}}), {}),
        key_of(content, Study(map={"a": {"*": "two", "x*": "one"}}), {}),  # the first match counts
        key_of(content_of([tmp_path / "copy"], None), study, {}),  # read by another reader
        key_of(content_of([tmp_path / "other" / "jobs.csv"], tmp_path), study, {}),
        key_of([*content, *content], study, {}),
    }
    file.write_text("a,b\n1,3\n")
    others.add(key_of(content_of([file], None), study, {}))
    assert key not in others
    assert len(others) == 8


def test_a_folder_that_is_one_source_counts_with_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "db" / "in").mkdir(parents=True)
    (tmp_path / "db" / "in" / "x").write_text("1")
    before = content_of([tmp_path / "db"], None)
    (tmp_path / "db" / "in" / "x").write_text("2")
    assert content_of([tmp_path / "db"], None) != before


def test_libraries_that_learn_count_with_their_versions() -> None:
    import numpy as np
    import sklearn

    told = software()
    assert f"numpy {np.__version__}" in told
    assert f"scikit-learn {sklearn.__version__}" in told
    # One of the two packages that bring xgboost is always missing.
    assert sum(line.startswith("xgboost") for line in told) == 2
    assert any(line.startswith("xgboost") and line.endswith(" None") for line in told)


@pytest.mark.parametrize("file", ["alone_plugin.py", "many_plugin/inner.py"])
def test_the_files_of_a_plugin_count(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = software()
    module = file.partition("/")[0].removesuffix(".py")
    about = tmp_path / f"{module}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[compass.surrogate]\nmine = {module}:Mine\n")
    place = tmp_path / file
    place.parent.mkdir(exist_ok=True)
    (place.parent / "__init__.py").touch()
    place.write_text("raise RuntimeError('a plug-in is not imported to name an entry')\n")
    monkeypatch.syspath_prepend(tmp_path)
    installed = software()
    assert installed != before
    assert installed == software()
    os.utime(place, (1, 1))
    assert software() != installed
