"""Which past runs failed by what a column says: a run that broke off is not the fastest one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.domain.space import Category, Role
from compass.language import format_value
from compass.prepare import Prepared

_FAILED = frozenset(
    [
        "failed",
        "fail",
        "failure",
        "error",
        "crash",
        "crashed",
        "timeout",
        "timedout",
        "cancelled",
        "canceled",
        "nodefail",
        "bootfail",
        "outofmemory",
        "oom",
        "killed",
        "aborted",
        "abort",
        "preempted",
        "deadline",
        "revoked",
        "invalid",
    ]
)
_NAMED = 6  # labels that are named
_SUCCESS = frozenset(
    ["valid", "success", "successful", "succeeded", "ok", "passed", "correct", "converged"]
)


@dataclass(frozen=True)
class Failures:
    """The runs that one column says have failed."""

    runs: NDArray[np.bool_]  # [n]
    words: str  # `state FAILED or TIMEOUT`


def failures(prepared: Prepared, asked: Collection[str]) -> list[Failures]:
    """The failed runs by each column that is not asked about and says so with a label."""
    found = []
    for parameter in prepared.space:
        told = parameter.role in (Role.OUTCOME, Role.CONTEXT) and parameter.name not in asked
        if not told or not isinstance(parameter, Category):
            continue
        codes = [i for i, v in enumerate(parameter.values) if _is_failure(parameter.name, v)]
        if 0 < len(codes) < len(parameter.values):
            runs = np.isin(prepared.column(parameter.name), codes)
            labels = _labels([parameter.values[code] for code in codes])
            found.append(Failures(runs, f"{parameter.name} {labels}"))
    return found


def _labels(values: Sequence[Value]) -> str:
    """`FAILED or TIMEOUT`; `CANCELLED by 12` and `CANCELLED by 34` are one."""
    first = [v.split(" ")[0] if isinstance(v, str) else format_value(v) for v in values]
    words = list(dict.fromkeys(first))
    more = [f"{len(words) - _NAMED} others"] if len(words) > _NAMED else []
    return " or ".join([*words[:_NAMED], *more])


def _is_failure(name: str, label: Value) -> bool:
    """Whether a label says that a run failed: `state` FAILED, `valid` false."""
    if isinstance(label, str):
        return _letters(label.split(" ")[0]) in _FAILED or _letters(label) in _FAILED
    return _letters(name) in _SUCCESS and label is not None and not label


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalpha())
