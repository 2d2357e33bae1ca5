"""The tables that synthetic rows are measured on, as encoded rows."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import compass as cp
from benchmarks.roles import data_folder, sources
from compass.domain.expression import names_in
from compass.domain.space import Category, Role, Space
from compass.language import parse_rule
from compass.prepare import Prepared
from compass.prepare.study_file import study_of
from compass.synth.base import Floats

_ML = {
    "digits": ("optical_digits.csv", "digit", True, ()),
    "heloc": ("heloc.csv", "RiskPerformance", True, ()),
    "magic": ("magic_telescope.csv", "class", True, ()),
    # Nineteen features as in PERFGEN: without the person's number and the other score.
    "parkinsons": ("parkinsons_telemonitoring.csv", "total_UPDRS", False,
                   ("subject#", "motor_UPDRS")),
    "california": ("california_housing.csv", "median_house_value", False, ()),
}  # fmt: skip
ML = tuple(_ML)
PERFORMANCE = ("powerbound", "kripke", "amg", "zeus", "convolution")


@dataclass(frozen=True, eq=False)
class RealTable:
    """Encoded rows, what their columns are, and which one models predict."""

    name: str
    space: Space
    rows: Floats
    target: str
    rules: tuple[str, ...] = ()

    def split(self, seed: int, share: float = 0.8) -> tuple[Floats, Floats]:
        """Rows to learn from and rows to test on."""
        order = np.random.default_rng(seed).permutation(len(self.rows))
        cut = round(share * len(order))
        return self.rows[order[:cut]], self.rows[order[cut:]]


def ml_table(name: str) -> RealTable:
    """One of the five tables of PERFGEN that are public."""
    file, target, classes, dropped = _ML[name]
    path = data_folder() / "perfgen_ml" / file
    kind = {"kind": "category"} if classes else {}
    names = path.open(encoding="utf-8").readline().strip().split(",")
    columns = {
        column: {"role": "outcome", **kind} if column == target else {"role": "knob"}
        for column in names
        if column not in dropped
    }
    study = study_of({"columns": columns, "drop": list(dropped)}, where=name)
    return _of(name, cp.read(str(path), study=study).prepared, target)


def performance_table(name: str) -> RealTable:
    """A table of runs, with the roles and rules that all benchmarks share."""
    if name == "embedded":
        data = cp.read(name)
    else:
        known = sources().items()
        source = next(one for key, one in known if key == name or one.path.startswith(name))
        data = source.read(data_folder())
    prepared = data.prepared
    outcomes = prepared.space.having(Role.OUTCOME)
    target = next(name for name in outcomes if not isinstance(prepared.space[name], Category))
    return _of(name, prepared, target, tuple(data.study.rules))


def _of(name: str, prepared: Prepared, target: str, rules: tuple[str, ...] = ()) -> RealTable:
    rows = prepared.values[~np.isnan(prepared.values).any(axis=1)]
    known = set(prepared.space.names)
    kept = tuple(rule for rule in rules if set(names_in(parse_rule(rule))) <= known)
    return RealTable(name, prepared.space, rows, target, kept)


def absent() -> str | None:
    """Why nothing can be measured; None: the tables are there."""
    folder: Path = data_folder() / "perfgen_ml"
    return None if folder.is_dir() else f"{folder} is not there (set COMPASS_DATA)"
