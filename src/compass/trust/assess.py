"""A label and a reason for each configuration (Algorithm 1, steps 3 and 5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Label
from compass.settings import TrustSettings
from compass.trust.rank import Floats
from compass.trust.spread import Perturbed
from compass.trust.support import Support


@dataclass(frozen=True, eq=False)
class Verdict:
    """How far the prediction for one configuration can be relied on, and why."""

    label: Label
    ood: float  # share of validation runs that are closer to the training runs
    uq: float  # share of validation runs whose prediction is more certain
    rows: NDArray[np.int64]  # training rows within tau (the support), nearest first
    distances: Floats  # how far away they are
    reason: str


def assess(
    X: Floats,
    support: Support,
    perturbed: Perturbed | Sequence[Perturbed],
    settings: TrustSettings,
) -> list[Verdict]:
    """Judge configurations X float64[n, d]; `perturbed` is one measure or one per target."""
    whole = perturbed if isinstance(perturbed, Perturbed) else Perturbed.together(perturbed)
    verdicts = []
    for x, ood, uq in zip(X, support.ood(X), whole.uq(X), strict=True):
        rows, distances = support.support(x)
        label, reason = judge(float(ood), float(uq), rows.size, support.tau, settings)
        verdicts.append(Verdict(label, float(ood), float(uq), rows, distances, reason))
    return verdicts


def judge(
    ood: float, uq: float, near: int, tau: float, settings: TrustSettings
) -> tuple[Label, str]:
    """The label for these scores and this many runs within tau, and the reason as a sentence."""
    if ood > settings.unsupported:
        return (
            Label.UNSUPPORTED,
            f"Unsupported: this configuration is further from the past runs than {_most(ood)} "
            f"held out for comparison, and {_only(near)} near it.",
        )
    doubts = []
    if ood > settings.caution:
        doubts.append(f"it is further from the past runs than {_most(ood)} held out for comparison")
    if near == 0:
        doubts.append(
            f"no past run is within {tau:.2g} of this configuration"
            if tau > 0
            else "no past run has exactly this configuration"
        )
    if uq > settings.caution:
        doubts.append(f"the prediction is less certain here than for {_most(uq)}")
    if doubts:
        return Label.CAUTION, f"Caution: {_join(doubts)}."
    runs = f"{near:,} past runs are" if near > 1 else "1 past run is"
    return (
        Label.TRUSTED,
        f"Trusted: {runs} this close, and predictions there are as certain as usual.",
    )


def _most(share: float) -> str:
    # Rounded down: 99.97 % must not read as all of them.
    return "all past runs" if share >= 1 else f"{math.floor(share * 1000) / 10:g} % of past runs"


def _only(near: int) -> str:
    if near == 0:
        return "no past run is"
    return "only 1 past run is" if near == 1 else f"only {near:,} past runs are"


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
