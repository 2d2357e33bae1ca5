from pathlib import Path

import pyarrow.csv
import pytest
import yaml
from machine_law import MACHINES, roofline_table

from compass.domain.errors import CompassError
from compass.platforms.amm import load_amm
from compass.platforms.config import read_config, run_config


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight applications to train on, four to test, six kernels as benchmark."""
    folder = tmp_path_factory.mktemp("xamm")
    for name, count, seed in (("train", 8, 1), ("test", 4, 2), ("kernels", 6, 3)):
        pyarrow.csv.write_csv(roofline_table(count, seed=seed).arrow, folder / f"{name}.csv")
    return folder


def written(folder: Path, **fields: object) -> Path:
    path = folder / "config.yml"
    plain = {"columns": {"configuration": ["size"]}, "embedding": "network", "epochs": 20}
    path.write_text(yaml.safe_dump(plain | fields))
    return path


@pytest.fixture(scope="module")
def trained(tables: Path) -> Path:
    report = run_config(
        written(
            tables,
            func="train",
            app_train_data_path="train.csv",
            machine_data_path="kernels.csv",
            output="out",
        )
    )
    assert report.trained
    assert {path.name for path in report.written} == {
        "model.npz",
        *(f"{machine}.amm.json" for machine in MACHINES),
    }
    return tables / "out"


def test_a_trained_model_predicts_with_saved_machine_models(tables: Path, trained: Path) -> None:
    fields = {
        "func": "test",
        "app_test_data_path": "test.csv",
        "source_model_path": "out/model.npz",
        "source_machine": "quartz",
        "target_machine": "lassen",
        "output": "predicted",
    }
    amms = {
        "src_machine_amm": "out/quartz.amm.json",
        "target_machine_amm": "out/lassen.amm.json",
    }
    report = run_config(written(tables, **fields, **amms))
    assert (report.trained, report.with_amms) == (False, True)
    assert report.predictions is not None
    assert report.predictions.num_rows == 16
    assert report.mape is not None
    assert report.mape < 60
    kept = pyarrow.csv.read_csv(tables / "predicted" / "predictions.csv")
    assert kept.column_names == [
        *("application", "size", "runtime on quartz", "runtime ratio", "runtime on lassen"),
    ]
    named = {"src_machine_amm": "quartz", "target_machine_amm": "lassen"}
    again = run_config(written(tables, **fields, **named))
    assert again.predictions == report.predictions
    plain = run_config(written(tables, **fields))
    assert plain.with_amms is False
    table = run_config(
        written(tables, **fields, src_machine_amm="quartz", target_machine_amm="kernels.csv")
    )
    assert table.predictions == report.predictions


def test_without_a_model_training_is_triggered(tables: Path) -> None:
    report = run_config(
        written(
            tables,
            func="test",
            app_train_data_path="train.csv",
            app_test_data_path="test.csv",
            source_machine="quartz",
            target_machine="ruby",
            output="both",
        )
    )
    assert report.trained
    assert report.with_amms is False
    assert (tables / "both" / "model.npz").exists()


def test_machine_models_are_made_alone(tables: Path, trained: Path) -> None:
    report = run_config(
        written(
            tables,
            func="amm",
            machine_data_path="kernels.csv",
            src_model_path="out/model.npz",
            output="amms",
        )
    )
    assert not report.trained
    assert len(report.written) == len(MACHINES)
    made, before = (load_amm(tables / f / "lassen.amm.json") for f in ("amms", "out"))
    assert made == before


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"func": "trian"}, "func: input should be 'amm', 'train' or 'test'"),
        ({"func": "train"}, "func: train needs app_train_data_path"),
        ({"func": "test"}, "func: test needs app_test_data_path"),
        ({"func": "amm", "machine_data_path": "k.csv"}, "needs src_model_path, or app_train"),
        ({"func": "train", "app_train_path": "a"}, "no field 'app_train_path'"),
        ({"func": "train", "app_train_data_path": "absent.csv"}, "no file"),
        ({"func": "train", "app_train_data_path": "train.csv", "epochs": 0}, "epochs"),
        (
            {"func": "train", "app_train_data_path": "train.csv", "columns": {"machine": "m"}},
            "no column named 'm'",
        ),
    ],
)
def test_bad_fields_get_clear_errors(tables: Path, fields: dict[str, object], message: str) -> None:
    with pytest.raises(CompassError, match=message) as raised:
        run_config(written(tables, **fields))
    assert raised.value.hint


def test_what_the_model_does_not_know_is_an_error(tables: Path, trained: Path) -> None:
    fields = {
        "func": "test",
        "app_test_data_path": "test.csv",
        "src_model_path": "out/model.npz",
        "target_machine": "lassen",
    }
    with pytest.raises(CompassError, match="which machine is meant: source_machine"):
        run_config(written(tables, **fields))
    with pytest.raises(CompassError, match="not trained on the source machine frontier"):
        run_config(written(tables, **fields, source_machine="frontier"))
    with pytest.raises(CompassError, match="neither a file nor a machine"):
        run_config(written(tables, **fields, source_machine="quartz", target_machine_amm="lasen"))


def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    for text in ("- a", "{", ""):
        path.write_text(text)
        with pytest.raises(CompassError, match=r"config\.yml"):
            read_config(path)
    with pytest.raises(CompassError, match="there is no file") as caught:
        read_config(tmp_path / "confg.yml")
    assert "did you mean" in str(caught.value.hint)


def test_machine_models_are_made_as_the_model_learnt_them(tables: Path, trained: Path) -> None:
    fields = {
        "app_test_data_path": "test.csv",
        "machine_data_path": "kernels.csv",
        "src_model_path": "out/model.npz",
        "source_machine": "quartz",
        "target_machine": "lassen",
        "src_machine_amm": "quartz",
    }
    # The l2 of the training is the default here: say nothing, and it stays that.
    made = run_config(written(tables, func="amm", output="again", **fields))
    assert {load_amm(path).aggregate for path in made.written} == {"l2"}
    with pytest.raises(CompassError, match="aggregate: variance, but the model was trained"):
        run_config(written(tables, func="amm", aggregate="variance", **fields))
    odd = load_amm(trained / "lassen.amm.json").model_copy(update={"aggregate": "mean"})
    odd.save(tables / "odd.json")
    with pytest.raises(CompassError, match="made by mean"):
        run_config(written(tables, func="test", target_machine_amm="odd.json", **fields))
