"""What an acquisition is: it says which runs are worth making next."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.answer import Proposal, Suggestion
from compass.domain.base import Config
from compass.evidence.assessor import Assessor
from compass.generate.task import SearchTask

Floats = NDArray[np.float64]


def _none() -> Floats:
    return np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class AcquisitionRequest:
    """A question whose decision further runs should improve."""

    task: SearchTask
    assessor: Assessor
    suggestions: tuple[Suggestion, ...]  # what would be answered today
    count: int  # runs that can be made together
    pending: Floats = field(default_factory=_none)  # [p, d] runs that are being made already
    requested: bool = False  # a person asked for runs: propose one even where none seems needed


@runtime_checkable
class Acquisition(Protocol):
    """A way to choose runs. Register the class: `@registry.add("acquisition", "name")`.

    It takes no arguments. Proposals must be legal configurations of the task that obey its rules;
    what is pending is never proposed again.
    """

    name: str

    def propose(self, request: AcquisitionRequest) -> tuple[Proposal, ...]:
        """Up to `request.count` runs, the most useful first."""


def proposal(config: Config, why: str, gain: float | None = None) -> Proposal:
    """A run to make; the same configuration always has the same id."""
    text = json.dumps(config, sort_keys=True, default=str)
    mark = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return Proposal(id=mark, config=config, why=why, gain=gain)


def acquisition(name: str) -> Acquisition:
    """The acquisition of that name; an unknown name offers the nearest one."""
    return cast(Acquisition, registry.get("acquisition", name)())
