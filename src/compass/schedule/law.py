"""How the runtime of an application changes with its nodes: laws, and laws fitted to runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from pydantic import field_validator, model_validator

from compass.domain.base import Input, Real
from compass.domain.errors import BadInput, DataProblem, unknown
from compass.schedule.trace import Floats, Ints, names_of


class LawKind(StrEnum):
    """The shape of a law: runtime on n nodes over that on one."""

    AMDAHL = "amdahl"  # serial + (1 - serial) / n
    GUSTAFSON = "gustafson"  # 1 / (serial + (1 - serial) n)
    USL = "usl"  # (1 + contention (n - 1) + coherency n (n - 1)) / n
    COMMUNICATION = "communication"  # serial + (1 - serial) / n + log * log2 n + linear (n - 1)


PARAMETERS = {
    LawKind.AMDAHL: ("serial",),
    LawKind.GUSTAFSON: ("serial",),
    LawKind.USL: ("contention", "coherency"),
    LawKind.COMMUNICATION: ("serial", "log", "linear"),
}


def relative_time(kind: LawKind, values: Sequence[float] | Floats, nodes: Floats) -> Floats:
    """The runtime on so many nodes over that on one."""
    n = np.asarray(nodes, dtype=np.float64)
    if kind is LawKind.USL:
        found = (1 + values[0] * (n - 1) + values[1] * n * (n - 1)) / n
    elif kind is LawKind.GUSTAFSON:
        found = 1 / (values[0] + (1 - values[0]) * n)
    else:
        found = values[0] + (1 - values[0]) / n
        if kind is LawKind.COMMUNICATION:
            found = found + values[1] * np.log2(n) + values[2] * (n - 1)
    return np.asarray(found, dtype=np.float64)


class Law(Input):
    """A law of scaling with its numbers; `amdahl:serial=0.05` as a text."""

    kind: LawKind
    values: dict[str, Real]

    @model_validator(mode="after")
    def _complete(self) -> "Law":
        names = PARAMETERS[self.kind]
        if set(self.values) != set(names):
            raise ValueError(f"{self.kind.value} has the numbers {', '.join(names)}")
        return self

    @field_validator("values")
    @classmethod
    def _possible(cls, values: dict[str, float]) -> dict[str, float]:
        for name, value in values.items():
            if value < 0 or (name in ("serial", "contention") and value > 1):
                most = " and at most 1" if name in ("serial", "contention") else ""
                raise ValueError(f"{name} is at least 0{most}")
        return values

    @property
    def name(self) -> str:
        """As it is written."""
        numbers = ",".join(f"{name}={self.values[name]:.4g}" for name in PARAMETERS[self.kind])
        return f"{self.kind.value}:{numbers}"

    def time(self, nodes: float) -> float:
        """The runtime on so many nodes over that on one."""
        values = [self.values[name] for name in PARAMETERS[self.kind]]
        return float(relative_time(self.kind, values, np.array([nodes]))[0])


def law(text: str) -> Law:
    """The law that a text names: `amdahl:serial=0.05`; numbers that are not named are 0."""
    kind, _, rest = text.strip().lower().partition(":")
    if kind not in list(LawKind):
        raise unknown("law of scaling", kind, [one.value for one in LawKind])
    names = PARAMETERS[LawKind(kind)]
    values = dict.fromkeys(names, 0.0)
    for part in filter(None, rest.split(",")):
        name, _, number = part.partition("=")
        if name.strip() not in names:
            raise unknown(f"number of {kind}", name.strip(), names)
        try:
            values[name.strip()] = float(number)
        except ValueError:
            raise BadInput(
                f"{part} is no number", hint=f"write e.g. {kind}:{names[0]}=0.05"
            ) from None
    return Law(kind=LawKind(kind), values=values)


@dataclass(frozen=True)
class FittedLaw:
    """A law with how far it is from the runs that it was fitted to."""

    law: Law
    error: float  # mean absolute relative error, of node counts that were left out of the fit
    runs: int
    nodes: tuple[int, int]  # the fewest and the most that were measured


def fitted_laws(
    application: Sequence[str],
    nodes: Sequence[int] | Ints,
    runtime: Sequence[float] | Floats,
    case: Sequence[str] | None = None,
) -> dict[str, FittedLaw]:
    """The law of each application, fitted to its runs: the kind that leaves the smallest error.

    `case` names runs that may be compared, such as those of one input (default: all of an
    application). Errors are those of node counts left out of the fit.
    """
    names, count = names_of(list(application)), np.asarray(nodes, dtype=np.float64)
    times = np.asarray(runtime, dtype=np.float64)
    cases = names_of(list(case) if case is not None else [""] * len(count)).code
    if not (np.isfinite(times).all() and (times > 0).all() and (count >= 1).all()):
        raise DataProblem(
            "a scaling run needs a runtime above 0 and at least one node", hint="leave others out"
        )
    found = {}
    for place, name in enumerate(names.known):
        rows = names.code == place
        found[name] = _fitted(name, cases[rows], count[rows], times[rows])
    return found


def _fitted(name: str, case: Ints, nodes: Floats, runtime: Floats) -> FittedLaw:
    several = [one for one in np.unique(case) if len(np.unique(nodes[case == one])) > 1]
    rows = np.isin(case, several)
    counts = np.unique(nodes[rows])
    if len(counts) < 2:
        raise DataProblem(
            f"{name} was measured on one number of nodes only: no law can be fitted",
            hint="measure the same input on at least two, better four, numbers of nodes",
        )
    case, nodes, runtime = case[rows], nodes[rows], runtime[rows]
    # A law with as many numbers as there are node counts, less one for the scale, fits anything.
    possible = [kind for kind in LawKind if len(PARAMETERS[kind]) < len(counts) - 1]
    errors = {
        kind: _left_out(kind, case, nodes, runtime, counts) for kind in possible or [LawKind.AMDAHL]
    }
    best = min(errors, key=lambda kind: (errors[kind], len(PARAMETERS[kind])))
    values = _fit(best, case, nodes, runtime)
    known = dict(zip(PARAMETERS[best], values.tolist(), strict=True))
    span = (int(counts[0]), int(counts[-1]))
    return FittedLaw(Law(kind=best, values=known), errors[best], len(nodes), span)


def _left_out(kind: LawKind, case: Ints, nodes: Floats, runtime: Floats, counts: Floats) -> float:
    """The mean relative error of runs on node counts that were left out of the fit."""
    missed = []
    for one in counts:
        out = nodes == one
        if len(counts) == 2 or not np.isin(case[out], case[~out]).any():
            continue
        values = _fit(kind, case[~out], nodes[~out], runtime[~out])
        shape = np.log(relative_time(kind, values, nodes))
        for member in np.unique(case[out]):
            mine = case == member
            if not (mine & ~out).any():
                continue
            scale = (np.log(runtime) - shape)[mine & ~out].mean()
            there = mine & out
            missed += np.abs(np.exp(scale + shape[there]) / runtime[there] - 1).tolist()
    return float(np.mean(missed)) if missed else float("nan")


def _fit(kind: LawKind, case: Ints, nodes: Floats, runtime: Floats) -> Floats:
    """The numbers of a law by least squares on the logarithm; every case has a scale of its own."""
    from scipy.optimize import least_squares

    _, group = np.unique(case, return_inverse=True)
    size = np.bincount(group)
    logs = np.log(runtime)

    def residuals(values: Floats) -> Floats:
        rest = logs - np.log(relative_time(kind, values, nodes))
        centred: Floats = rest - (np.bincount(group, weights=rest) / size)[group]
        return centred

    names = PARAMETERS[kind]
    most = [1.0 if name in ("serial", "contention") else 10.0 for name in names]
    starts = ([0.05, 0.001, 0.001], [0.5, 0.1, 0.01], [0.001, 1e-5, 1e-5])
    tries = [
        least_squares(residuals, start[: len(names)], bounds=(0.0, most), x_scale=0.1)
        for start in starts
    ]
    return np.asarray(min(tries, key=lambda one: one.cost).x, dtype=np.float64)


def laws_of(fitted: Mapping[str, FittedLaw]) -> dict[str, Law]:
    """The laws alone."""
    return {name: one.law for name, one in fitted.items()}
