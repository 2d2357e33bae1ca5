"""Keras files: predictions equal the library's own, and files made to do harm are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_file_cases import (
    CODED,
    NEW,
    SPACE,
    changed,
    keras_library,
    keras_net,
    quiet,
    refused,
    the_same_in_every_batch,
)

from compass.domain.errors import BadInput
from compass.model.base import Task
from compass.model.files import bring, keras_check, runners


@pytest.mark.parametrize("suffix", ["keras", pytest.param("h5", marks=pytest.mark.soak)])
def test_keras(tmp_path: Path, suffix: str) -> None:
    module = keras_net()
    module.compile("adam", "mse")
    path = tmp_path / f"model.{suffix}"
    with quiet():
        module.save(path)
        expected = np.asarray(module(NEW.astype(np.float32)).detach())
    model = bring(path, columns=CODED, log=True).fitted(SPACE, "runtime", Task())
    np.testing.assert_allclose(model.predict(NEW), np.exp(expected), rtol=1e-4)
    the_same_in_every_batch(model)


def keras_file(change: Callable[[dict[str, Any]], Any], tmp_path: Path) -> bytes:
    path = tmp_path / "m.keras"
    with quiet():
        keras_net().save(path)

    def edit(files: dict[str, bytes]) -> None:
        config = json.loads(files["config.json"])
        change(config)
        files["config.json"] = json.dumps(config).encode()

    return changed(path.read_bytes(), edit)


def layer(**fields: Any) -> Callable[[dict[str, Any]], None]:
    def change(config: dict[str, Any]) -> None:
        config["config"]["layers"][1].update(fields)

    return change


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (layer(module="os", class_name="system", config="touch canary"), "os.system"),
        (layer(module="builtins", class_name="eval", config="1"), "builtins.eval"),
        (layer(module="builtins", class_name="function", config="exec"), "builtins.function"),
        (layer(class_name="Lambda"), "Lambda layer"),
        (layer(class_name="__lambda__", module=None), "Lambda layer"),
        (layer(class_name="TorchModuleWrapper"), "TorchModuleWrapper"),
        (layer(class_name="StringLookup"), "StringLookup"),
        (layer(module="keras.src.utils.file_utils", class_name="get_file"), "get_file"),
        (layer(module="keras.layers.core", class_name="Dense"), "keras.layers.core.Dense"),
        (layer(registered_name="mine>Dense"), "Dense"),
        (layer(module=["os"]), "damaged"),
        (
            lambda config: config["config"]["layers"][1]["config"].update(
                activation={"class_name": "function", "config": "exec", "module": "builtins"}
            ),
            "builtins.function",
        ),
        (lambda config: config.update(module="os"), "os.Sequential"),
        (lambda config: config.update(class_name="Dense", module="keras.layers"), "no Keras model"),
    ],
)
def test_keras_files_may_only_name_keras_layers(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], match: str
) -> None:
    refused(keras_file(change, tmp_path), "m.keras", match)


def test_a_lambda_is_refused_in_both_formats(tmp_path: Path) -> None:
    keras = keras_library()
    with quiet():
        model = keras_net(None, keras.layers.Lambda(lambda x: x * 2))
        for suffix in ("keras", "h5"):
            path = tmp_path / f"m.{suffix}"
            model.save(path)
            with pytest.raises(BadInput, match="Lambda layer") as told:
                bring(path, columns=CODED)
            assert "ONNX" in told.value.hint


@pytest.mark.parametrize("trick", ["link", "storage", "circle"])
def test_h5_files_that_reach_for_other_files_are_refused(tmp_path: Path, trick: str) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = "{}"
        if trick == "link":
            file["weights"] = h5py.ExternalLink("/etc/passwd", "/")
        elif trick == "storage":
            file.create_dataset("w", (8,), dtype="u1", external=[("/etc/passwd", 0, 8)])
        else:
            file["again"] = file.create_group("group")
    words = {"link": "links to other places", "storage": "read another file", "circle": "twice"}
    with pytest.raises(BadInput, match=words[trick]):
        runners._plain_h5(path.read_bytes(), "m.h5")


def test_deep_configurations_are_refused() -> None:
    with pytest.raises(BadInput, match="damaged Keras"):
        keras_check.check("[" * 100_000, "m.keras")
    with pytest.raises(BadInput, match="damaged Keras"):
        keras_check.check("{", "m.keras")
