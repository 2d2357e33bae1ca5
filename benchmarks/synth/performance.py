"""Tables of runs: rules kept, two-sample test, efficiency, by synthesizer."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from compass.synth.conditions import conditions_of
from compass.synth.draw import draw
from compass.synth.quality.dense import thinned
from compass.synth.quality.efficiency import best, efficiencies
from compass.synth.quality.predictive import global_utility, two_sample_auc

from .kept import Kept, rounded
from .learn import learnt
from .tables import PERFORMANCE, performance_table

SEEDS = 3
_MOST = 4000


def run(kept: Kept) -> Iterator[str]:
    """The table, line by line."""
    yield "| table | synthesizer | rows | rules kept | accepted | two-sample AUC | utility "
    yield "| error growth (best model) | fit, s |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for name in PERFORMANCE:
        for synthesizer in ("cart", "copula"):
            found = [
                kept.once("performance", f"{name} {synthesizer} {seed}",
                          partial(_measured, name, synthesizer, seed))
                for seed in range(SEEDS)
            ]  # fmt: skip
            mean = np.mean(found, axis=0)
            yield (
                f"| {name} | {synthesizer} | {mean[0]:.0f} | {mean[1]:.0%} | {mean[2]:.1%} | "
                f"{mean[3]:.3f} | {mean[4]:.3f} | {mean[5]:+.1%} | {mean[6]:.2f} |"
            )


def _measured(name: str, synthesizer: str, seed: int) -> list[float]:
    """Rows, rules kept, acceptance, two-sample AUC, utility, growth of the error, seconds."""
    table = performance_table(name)
    conditions = conditions_of(table.space, table.rules)
    train, test = (thinned(rows, _MOST, seed) for rows in table.split(seed))
    model, seconds = learnt(table, train, synthesizer)
    made = draw(model, len(train), conditions, seed=seed, effort=100)
    rows = made.values
    one = best(efficiencies(table.space, table.target, train, rows, test, seed))
    found = (
        len(rows),
        conditions.met(rows).mean(),
        made.acceptance,
        two_sample_auc(train, rows, seed),
        global_utility(table.space, train, rows, test, seed),
        one.gap,
        seconds,
    )
    return [rounded(float(value)) for value in found]
