"""xAMM as its paper drives it: one `config.yml`, and what it asks for is done."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import yaml
from pydantic import Field, model_validator

from compass import files
from compass.domain.base import Input, Whole, valid
from compass.domain.errors import BadInput, StudyProblem, nearest
from compass.platforms.amm import AbstractMachineModel, Aggregate, Reading, load_amm
from compass.platforms.columns import found_columns
from compass.platforms.counters import counter_mapping
from compass.platforms.pairs import MatchedRuns, match
from compass.platforms.source import read_source
from compass.platforms.xamm import XammModel, XammOptions, load, train
from compass.readers.files import missing

MODEL = "model.npz"
PREDICTIONS = "predictions.csv"
_MODEL_NAMES = {"source_model_path": "src_model_path"}


class ColumnNames(Input):
    """What the columns of the tables are; those that are not named have their usual names."""

    problem: ClassVar[type[BadInput]] = StudyProblem
    machine: str | None = Field(None, description="names the machine")
    application: str | None = Field(None, description="names the application")
    runtime: str | None = Field(None, description="how long a run took")
    configuration: tuple[str, ...] = Field((), description="has to be equal on both machines")
    counters: tuple[str, ...] = Field(
        (), description="counters; all known ones where none is named"
    )


class XammConfig(Input):
    """The fields of the paper's listing, and ours below them."""

    problem: ClassVar[type[BadInput]] = StudyProblem
    func: Literal["amm", "train", "test"] = Field(description="what to do")
    machine_data_path: str | None = Field(None, description="table of benchmark runs")
    app_train_data_path: str | None = Field(None, description="applications to train on")
    app_test_data_path: str | None = Field(None, description="applications to predict")
    src_model_path: str | None = Field(None, description="trained model; without it one is trained")
    src_machine_amm: str | None = Field(None, description="saved AMM, or name of a trained machine")
    target_machine_amm: str | None = Field(
        None, description="saved AMM, benchmark table, or name of a trained (related) machine"
    )
    source_machine: str | None = Field(None, description="where the test runs were measured")
    target_machine: str | None = Field(None, description="where they are predicted")
    columns: ColumnNames = Field(default_factory=ColumnNames, description="of the tables")
    output: str = Field(".", description="folder for what is made")
    embedding: Literal["attention", "network", "autoencoder", "vae", "raw"] = "attention"
    downstream: Literal["adaboost", "bagging", "forest", "xgboost"] = "xgboost"
    aggregate: Aggregate = "l2"
    reading: Reading = "weights"
    epochs: Whole = Field(100, ge=1)
    seed: Whole = Field(7, ge=0)

    @model_validator(mode="after")
    def _whole(self) -> "XammConfig":
        """Refuse what lacks a field that its function needs."""
        needed = {"amm": ["machine_data_path"], "train": ["app_train_data_path"]}
        needed["test"] = ["app_test_data_path"]
        for name in needed[self.func]:
            if getattr(self, name) is None:
                raise ValueError(f"func: {self.func} needs {name}")
        if (
            self.func != "train"
            and self.src_model_path is None
            and self.app_train_data_path is None
        ):
            raise ValueError(
                f"func: {self.func} needs src_model_path, or app_train_data_path to train on"
            )
        return self


@dataclass(frozen=True)
class XammReport:
    """What was done."""

    written: tuple[Path, ...]
    trained: bool
    with_amms: bool | None = None  # of the predictions
    predictions: pa.Table | None = None
    mape: float | None = None  # percent, where the target was measured too


def read_config(path: Path) -> XammConfig:
    """The configuration of a file; what is wrong with it is told by field."""
    if not path.exists():
        raise missing(path)
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise StudyProblem(
            f"{path.name} cannot be read: {str(problem)[:200]}",
            hint="write 'func: train' and so on",
        ) from None
    if not isinstance(given, dict):
        raise StudyProblem(f"{path.name} has no fields", hint="write 'func: train' and so on")
    plain = {_MODEL_NAMES.get(str(name), str(name)): value for name, value in given.items()}
    known = XammConfig.model_fields
    for name in plain:
        if name not in known:
            close = nearest(name, known)
            raise StudyProblem(
                f"{path.name}: there is no field '{name}'",
                hint=f"did you mean {close}?" if close else f"there are: {', '.join(known)}",
            )
    return valid(XammConfig, plain)


def run_config(path: Path) -> XammReport:
    """Do what a configuration asks for; its paths are relative to its folder."""
    config, folder = read_config(path), path.parent
    output = folder / config.output
    output.mkdir(parents=True, exist_ok=True)
    if config.func == "train" or config.src_model_path is None:
        model = _trained(config, folder)
        model.save(output / MODEL)
        written: tuple[Path, ...] = (output / MODEL,)
    else:
        model, written = load(folder / config.src_model_path), ()
    trained = bool(written)
    if config.func == "train":
        return XammReport((*written, *_save_amms(model.amms.values(), output)), trained)
    if config.func == "amm":
        assert config.machine_data_path is not None
        benchmark = _runs(folder / config.machine_data_path, config)
        made = [
            model.amm_of(benchmark, machine, *_as_trained(config, model))
            for machine in benchmark.machines
        ]
        return XammReport((*written, *_save_amms(made, output)), trained)
    return _tested(config, folder, model, output, written)


def _trained(config: XammConfig, folder: Path) -> XammModel:
    assert config.app_train_data_path is not None
    benchmark = config.machine_data_path
    return train(
        _runs(folder / config.app_train_data_path, config),
        None if benchmark is None else _runs(folder / benchmark, config),
        XammOptions(
            embedding=config.embedding,
            downstream=config.downstream,
            aggregate=config.aggregate,
            reading=config.reading,
            epochs=config.epochs,
            seed=config.seed,
        ),
    )


def _tested(
    config: XammConfig, folder: Path, model: XammModel, output: Path, written: tuple[Path, ...]
) -> XammReport:
    assert config.app_test_data_path is not None
    runs = _runs(folder / config.app_test_data_path, config)
    source_amm = _amm(config.src_machine_amm, config.source_machine, config, folder, model)
    target_amm = _amm(config.target_machine_amm, config.target_machine, config, folder, model)
    source = _named(config.source_machine, source_amm, runs.machines, "source_machine")
    target = _named(config.target_machine, target_amm, (), "target_machine")
    with_amms = source_amm is not None and target_amm is not None
    model.check_source(source)
    runs = runs.ran_on(source)
    ratio = model.predict(
        runs, source, target, source_amm=source_amm, target_amm=target_amm, with_amms=with_amms
    )
    runtime = np.exp(runs.log_runtime[:, runs.place(source)])
    columns: dict[str, Any] = {"application": runs.applications.tolist()}
    for place, name in enumerate(runs.configuration_names):
        columns[name] = runs.configuration[:, place]
    columns |= {
        f"runtime on {source}": runtime,
        "runtime ratio": ratio,
        f"runtime on {target}": ratio * runtime,
    }
    table = pa.table(columns)
    place_of = output / PREDICTIONS
    with files.replacing(place_of) as scratch:
        pyarrow.csv.write_csv(table, scratch)
    mape = None
    if target in runs.machines:
        truth = np.exp(runs.log_ratio(source)[:, runs.place(target)])
        known = np.isfinite(truth)
        if known.any():
            mape = float(100 * np.mean(np.abs(ratio[known] / truth[known] - 1)))
    return XammReport((*written, place_of), bool(written), with_amms, table, mape)


def _runs(path: Path, config: XammConfig) -> MatchedRuns:
    table, columns = read_source(str(path)), config.columns
    return match(
        table,
        found_columns(
            table,
            counter_mapping(),
            machine=columns.machine,
            application=columns.application,
            runtime=columns.runtime,
            configuration=[name for name in columns.configuration if name in table.names],
            counters=columns.counters,
        ),
    )


def _amm(
    given: str | None, machine: str | None, config: XammConfig, folder: Path, model: XammModel
) -> AbstractMachineModel | None:
    """A saved machine model, one of the trained machines, or one made of a benchmark table."""
    if given is None:
        return None
    if given in model.amms:
        return model.amms[given]
    path = folder / given
    if path.suffix == ".json":
        return load_amm(path)
    if not path.exists():
        close = nearest(given, model.amms)
        raise StudyProblem(
            f"'{given}' is neither a file nor a machine that the model knows",
            hint=f"did you mean {close}?" if close else "name a saved AMM (.json) or a table",
        )
    benchmark = _runs(path, config)
    chosen = _named(machine, None, benchmark.machines, "target_machine")
    return model.amm_of(benchmark, chosen, *_as_trained(config, model))


def _as_trained(config: XammConfig, model: XammModel) -> tuple[Aggregate, Reading]:
    """How machine models are made: as the model learnt them, unless it learnt none."""
    known = next(iter(model.amms.values()), None)
    if known is None:
        return config.aggregate, config.reading
    for name, learnt in (("aggregate", known.aggregate), ("reading", known.reading)):
        given = getattr(config, name)
        if name in config.model_fields_set and given != learnt:
            raise StudyProblem(
                f"{name}: {given}, but the model was trained with {learnt}",
                hint=f"leave {name} out, or train with it: func: train",
            )
    return known.aggregate, known.reading


def _named(
    given: str | None, amm: AbstractMachineModel | None, machines: Sequence[str], field: str
) -> str:
    """The machine that is meant: the named one, that of the AMM, or the only one there is."""
    if given is not None:
        return given
    if amm is not None:
        return amm.machine
    if len(machines) == 1:
        return machines[0]
    raise StudyProblem(f"it is not said which machine is meant: {field}", hint=f"add {field}")


def _save_amms(amms: "Sequence[AbstractMachineModel] | Any", output: Path) -> tuple[Path, ...]:
    written = []
    for amm in amms:
        path = output / f"{amm.machine}.amm.json"
        amm.save(path)
        written.append(path)
    return tuple(written)
