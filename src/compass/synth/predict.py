"""Predictions: all features given, the outcomes drawn; the third use of PERFGEN (section V-B)."""

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from compass.domain.base import Noun, Value
from compass.domain.errors import BadInput
from compass.domain.space import Category, Number, Role
from compass.prepare.encode import decode_value
from compass.synth import draw as drawing
from compass.synth.base import Floats, Tell, silent

if TYPE_CHECKING:
    from compass.readers.table import Table
    from compass.synth.model import SynthesisModel

LEVEL = 0.9  # share of the draws between `low` and `high`


class OutcomePredictions(Noun):
    """Predictions of an outcome for the rows of a table, and how good they are where that is known.

    Lists have one entry for each row; None: there is none, or no end.
    """

    outcome: str
    source: str = Field(description="the name of the synthesizer, or `surrogate`")
    values: tuple[Value, ...] = Field(description="the mean of the draws, or the commonest label")
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    level: float | None = Field(None, description="share of new runs, or draws, from low to high")
    shares: tuple[float | None, ...] = Field((), description="of the label that is predicted")
    measured: int = Field(0, description="rows that say what was measured")
    error: float | None = Field(None, description="mean absolute error, or share of wrong labels")
    squared: float | None = Field(None, description="mean squared error")
    inside: float | None = Field(None, description="share of the measured between low and high")


class Predictions(Noun):
    """What outcomes of given rows are predicted to be."""

    rows: int
    draws: int
    predictions: tuple[OutcomePredictions, ...]
    notes: tuple[str, ...] = ()


def predict(
    model: "SynthesisModel",
    table: "Table",
    *,
    draws: int = 50,
    level: float = LEVEL,
    seed: int | None = None,
    tell: Tell = silent,
) -> Predictions:
    """Draw the outcomes of every row; what the table says of them is only compared with."""
    outcomes = [j for j, p in enumerate(model.space) if p.role is Role.OUTCOME]
    if not outcomes:
        raise BadInput(
            "no outcome was learnt", hint="give one the role outcome (--role NAME=outcome)"
        )
    if draws < 1:
        raise BadInput(f"{draws} draws cannot be made", hint="ask for at least one")
    X = model.encoded(table)
    truth = X[:, outcomes]
    X[:, outcomes] = np.nan
    others = [j for j in range(X.shape[1]) if j not in outcomes]
    lacking = [model.space.names[j] for j in others if np.isnan(X[:, j]).any()]
    notes = [f"{name} is not given in every row: it is drawn too" for name in lacking]
    found = drawing.fill(
        model.learnt,
        np.repeat(X, draws, axis=0),
        model.conditions(),
        seed=model.meta.seed if seed is None else seed,
        tell=tell,
    )
    drawn = found.values.reshape(len(X), draws, X.shape[1])
    filled = found.filled.reshape(len(X), draws)
    failed = int((~filled.any(axis=1)).sum())
    if failed:
        notes.append(f"{failed} rows have no prediction: what they give breaks a rule")
    predictions = tuple(
        _outcome(model.space.parameters[j], drawn[:, :, j], truth[:, k], model.meta.name, level)
        for k, j in enumerate(outcomes)
    )
    return Predictions(rows=len(X), draws=draws, predictions=predictions, notes=tuple(notes))


def _outcome(
    parameter: Number | Category, drawn: Floats, truth: Floats, source: str, level: float
) -> OutcomePredictions:
    """Predictions from draws [rows, draws]."""
    known = ~np.isnan(drawn)
    if isinstance(parameter, Category):
        codes = np.full(len(drawn), np.nan)
        shares = np.full(len(drawn), np.nan)
        for row, (values, some) in enumerate(zip(drawn, known, strict=True)):
            if some.any():
                counts = np.bincount(values[some].astype(np.int64))
                codes[row], shares[row] = counts.argmax(), counts.max() / some.sum()
        return labels_predicted(parameter, codes, shares, truth, source)
    mean, low, high = (np.full(len(drawn), np.nan) for _ in range(3))
    edge = (1 - level) / 2
    for row, (values, some) in enumerate(zip(drawn, known, strict=True)):
        if some.any():
            mean[row] = values[some].mean()
            low[row], high[row] = np.quantile(values[some], [edge, 1 - edge])
    return numbers_predicted(parameter, mean, (low, high, level), truth, source)


def labels_predicted(
    parameter: Category, codes: Floats, shares: Floats, truth: Floats, source: str
) -> OutcomePredictions:
    """Predicted labels [n], beside the measured ones [n]; NaN: there is none."""
    both = ~np.isnan(codes) & ~np.isnan(truth)
    return OutcomePredictions(
        outcome=parameter.name,
        source=source,
        values=tuple(None if np.isnan(c) else decode_value(parameter, float(c)) for c in codes),
        shares=_plain(shares),
        measured=int(both.sum()),
        error=float((codes[both] != truth[both]).mean()) if both.any() else None,
    )


def numbers_predicted(
    parameter: Number,
    values: Floats,
    band: tuple[Floats, Floats, float] | None,
    truth: Floats,
    source: str,
) -> OutcomePredictions:
    """Predicted numbers [n] and both ends of what they lie between, beside the measured ones."""
    both = ~np.isnan(values) & ~np.isnan(truth)
    inside = None
    if band is not None and both.any():
        inside = float(((truth >= band[0]) & (truth <= band[1]))[both].mean())
    apart = values[both] - truth[both]
    return OutcomePredictions(
        outcome=parameter.name,
        source=source,
        values=_plain(values),
        low=() if band is None else _plain(band[0]),
        high=() if band is None else _plain(band[1]),
        level=None if band is None else band[2],
        measured=int(both.sum()),
        error=float(np.abs(apart).mean()) if both.any() else None,
        squared=float(np.square(apart).mean()) if both.any() else None,
        inside=inside,
    )


def _plain(values: Floats) -> tuple[float | None, ...]:
    return tuple(float(value) if np.isfinite(value) else None for value in values)
