"""The public tables: where they are, what their columns mean and what is asked of them."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import compass as cp
from compass.prepare import merge, study_from
from compass.prepare.study_file import study_of

# Figures of the search are of one known model, whichever family would learn the table best.
PLAIN = cp.Settings(surrogate="forest", scale="linear")
FILE = Path(__file__).with_name("roles.yaml")
ROOT = FILE.resolve().parent.parent


@dataclass(frozen=True)
class Source:
    """One table: its files below the data folder, its study and its masked question."""

    name: str
    about: str
    path: str
    study: cp.Study
    ask: tuple[str, ...]
    goals: tuple[str, ...]
    test: str | None = None
    constraints: str | None = None

    def read(self, folder: Path) -> cp.Dataset:
        """The table with its study; rules and legal values of a constraints file are added."""
        study = self.study
        if self.constraints is not None:
            study = merge(study, kernel_tuner(folder / self.constraints, set(study.columns)))
        return cp.read(str(folder / self.path), study=study)

    def absent(self, folder: Path) -> list[str]:
        """The files of this table that are not in the folder."""
        files = [one for one in (self.path, self.test, self.constraints) if one is not None]
        return [one for one in files if not (folder / one).is_file()]


def data_folder() -> Path:
    """Where the public tables are: COMPASS_DATA, else beside the project."""
    return Path(os.environ.get("COMPASS_DATA", ROOT.parent / "shared" / "data"))


def sources(file: Path = FILE) -> dict[str, Source]:
    """Every table of the roles file by name."""
    raw: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {name: _source(name, given) for name, given in raw.items()}


def _source(name: str, given: Mapping[str, Any]) -> Source:
    rest = {key: value for key, value in given.items() if key not in ("study", "ask", "goals")}
    return Source(
        name=name,
        study=study_of(given["study"], where=f"the study of {name}"),
        ask=tuple(given["ask"]),
        goals=tuple(given["goals"]),
        **rest,
    )


def kernel_tuner(path: Path, columns: set[str]) -> cp.Study:
    """Legal values of these columns and rules, from a Kernel Tuner search-space file (T1 JSON).

    Its conditions are Python expressions; those without powers and floor divisions are rules as
    they are.
    """
    space = json.loads(path.read_text(encoding="utf-8"))["ConfigurationSpace"]
    allowed = {
        one["Name"]: {"allowed": json.loads(one["Values"])}
        for one in space["TuningParameters"]
        if one["Name"] in columns
    }
    rules = [" ".join(one["Expression"].split()) for one in space["Conditions"]]
    return study_of({"columns": allowed, "rules": rules}, where=str(path))


def stated(data: cp.Dataset) -> cp.Study:
    """A study that states the legal values of the whole table.

    Which values are legal is known before any run (a machine has so many cores), so an engine that
    learns from a part of the rows may know it; it learns nothing about outcomes.
    """
    space, reports = data.inferred
    own = data.study
    return study_from(space, reports).model_copy(
        update={"drop": own.drop, "rules": own.rules, "map": own.map, "group": own.group}
    )
