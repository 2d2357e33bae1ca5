"""Counters of different vendors as features that all machines share.

The mapping is a file (`counters.yaml`, or one that the person brings). Counts of events become
ratios to all instructions, as in the tables of the papers: a count grows with the input, a ratio
says what kind of work it is. Work becomes rates and intensity.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import yaml
from pydantic import Field

from compass.domain.base import Input, valid
from compass.domain.errors import StudyProblem
from compass.platforms.pairs import Floats

BUILT_IN = Path(__file__).with_name("counters.yaml")
WORK = ("instructions", "iterations", "flops", "bytes")


class CounterFeature(Input):
    """A feature that all machines share, and what vendors call it."""

    kind: Literal["count", "work", "share"] = Field(description="how it is used")
    names: tuple[str, ...] = Field(description="names of counters", min_length=1)


@dataclass(frozen=True)
class CounterMapping:
    """Names of counters -> features."""

    features: Mapping[str, CounterFeature]

    def found(self, names: Sequence[str]) -> dict[str, int]:
        """Feature -> the place of the first counter in `names` that means it."""
        places: dict[str, int] = {}
        for place, name in enumerate(names):
            places.setdefault(_plain(name), place)
        chosen = {}
        for feature, about in self.features.items():
            known = [places[_plain(name)] for name in about.names if _plain(name) in places]
            if known:
                chosen[feature] = known[0]
        return chosen

    def unknown(self, names: Sequence[str]) -> tuple[str, ...]:
        """The counters that the mapping does not know."""
        known = {_plain(name) for about in self.features.values() for name in about.names}
        return tuple(name for name in names if _plain(name) not in known)


def counter_mapping(path: Path | None = None) -> CounterMapping:
    """The mapping of a file; without one, the one that comes with Compass."""
    return _read(BUILT_IN if path is None else path)


@cache
def _read(path: Path) -> CounterMapping:
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise StudyProblem(
            f"the counter mapping {path.name} cannot be read: {str(problem)[:200]}",
            hint="write 'feature: {kind: count, names: [PAPI_BR_INS]}'",
        ) from problem
    if not isinstance(given, dict) or not given:
        raise StudyProblem(
            f"the counter mapping {path.name} names no feature",
            hint="write 'feature: {kind: count, names: [PAPI_BR_INS]}'",
        )
    features = {str(name): valid(CounterFeature, about) for name, about in given.items()}
    odd = [name for name, about in features.items() if about.kind == "work" and name not in WORK]
    if odd:
        raise StudyProblem(
            f"the counter mapping calls '{odd[0]}' work", hint=f"work is one of {', '.join(WORK)}"
        )
    return CounterMapping(features)


def physical(
    counters: Floats, names: Sequence[str], log_runtime: Floats, mapping: CounterMapping
) -> tuple[Floats, tuple[str, ...]]:
    """Ratios, rates and intensity, [n, p], of counters [n, d] and log runtimes [n]."""
    found = mapping.found(names)
    with np.errstate(divide="ignore", invalid="ignore"):
        work = {name: np.log(counters[:, found[name]]) for name in WORK if name in found}
    work = {name: np.where(np.isfinite(log), log, np.nan) for name, log in work.items()}
    columns: dict[str, Floats] = {
        f"{name} per second": log - log_runtime for name, log in work.items()
    }
    base = next((work[name] for name in ("instructions", "iterations") if name in work), None)
    unit = "instruction" if "instructions" in work else "iteration"
    if base is not None:
        columns |= {
            f"{name} per {unit}": log - base
            for name, log in work.items()
            if name in ("flops", "bytes")
        }
    if "flops" in work and "bytes" in work:
        columns["intensity"] = work["flops"] - work["bytes"]
    for name, place in found.items():
        kind = mapping.features[name].kind
        if kind == "share":
            columns[name] = counters[:, place]
        elif kind == "count" and base is not None:
            columns[f"{name} per {unit}"] = np.log1p(
                np.maximum(counters[:, place], 0) / np.exp(base)
            )
    return (
        np.column_stack(list(columns.values())) if columns else np.zeros((len(counters), 0)),
        tuple(columns),
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
