"""Decisions: limits and some columns given, the rest drawn, with how it is distributed.

The second use of PERFGEN (section V-A): not one configuration, but those that runs within the
limits had, and how often.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from compass.domain.base import Config, Noun
from compass.domain.space import Category, Number, Role
from compass.prepare.encode import decode_value
from compass.synth.base import Floats, Tell, silent
from compass.synth.conditions import Asked
from compass.synth.report import SynthesisReport
from compass.synth.summary import ColumnSummary, summary_of

if TYPE_CHECKING:
    from compass.synth.model import SynthesisModel, SyntheticRows

_SHOWN = 10  # choices that are told
_FEW = 32  # different values up to which a number is part of a choice


class Choice(Noun):
    """Values of the knobs that were drawn together, and what the outcomes were then."""

    config: Config
    share: float = Field(description="of the drawn rows")
    outcomes: tuple[ColumnSummary, ...] = ()


class Decision(Noun):
    """What runs within the limits look like."""

    report: SynthesisReport
    columns: tuple[ColumnSummary, ...] = Field(description="the columns that were not given")
    choices: tuple[Choice, ...] = Field(
        description="the commonest values of the knobs together; columns of knobs with many "
        "different values are only among `columns`"
    )


@dataclass(frozen=True, eq=False)
class DecidedRows:
    """A decision, and the rows that it sums up."""

    decision: Decision
    rows: "SyntheticRows"


def decide(
    model: "SynthesisModel",
    *,
    where: Iterable[str] = (),
    given: Asked | None = None,
    count: int = 500,
    seed: int | None = None,
    tell: Tell = silent,
) -> DecidedRows:
    """Draw rows within limits; a column that these leave more than one value is summed up."""
    drawn = model.sample(count, where=where, given=given, seed=seed, tell=tell)
    X = drawn.values
    free = [j for j in range(len(model.space)) if np.ptp(X[:, j]) > 0]
    columns = tuple(summary_of(model.space.parameters[j], X[:, j]) for j in free)
    decision = Decision(report=drawn.report, columns=columns, choices=_choices(model, X, free))
    return DecidedRows(decision, drawn)


def _choices(model: "SynthesisModel", X: Floats, free: list[int]) -> tuple[Choice, ...]:
    parameters = model.space.parameters
    chosen = [j for j in free if _is_choice(parameters[j], X[:, j])]
    if not chosen:
        return ()
    kinds, place, counts = np.unique(X[:, chosen], axis=0, return_inverse=True, return_counts=True)
    outcomes = [j for j in range(X.shape[1]) if parameters[j].role is Role.OUTCOME]
    found = []
    for at in np.argsort(-counts, kind="stable")[:_SHOWN].tolist():
        rows = X[place.ravel() == at]
        config = {
            parameters[j].name: decode_value(parameters[j], float(value))
            for j, value in zip(chosen, kinds[at], strict=True)
        }
        found.append(
            Choice(
                config=config,
                share=float(counts[at] / len(X)),
                outcomes=tuple(summary_of(parameters[j], rows[:, j]) for j in outcomes),
            )
        )
    return tuple(found)


def _is_choice(parameter: Number | Category, column: Floats) -> bool:
    if parameter.role is not Role.KNOB:
        return False
    return isinstance(parameter, Category) or len(np.unique(column)) <= _FEW
