"""Tables of runs: rules kept, two-sample test, efficiency, by synthesizer."""

from collections.abc import Iterator

import numpy as np

from compass.synth.conditions import conditions_of
from compass.synth.draw import draw
from compass.synth.quality.dense import thinned
from compass.synth.quality.efficiency import best, efficiencies
from compass.synth.quality.predictive import global_utility, two_sample_auc

from .learn import learnt
from .tables import PERFORMANCE, performance_table

SEEDS = 3
_MOST = 4000


def run() -> Iterator[str]:
    """The table, line by line."""
    yield "| table | synthesizer | rows | rules kept | accepted | two-sample AUC | utility "
    yield "| error growth (best model) | fit, s |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for name in PERFORMANCE:
        for synthesizer in ("cart", "copula"):
            yield _line(name, synthesizer)


def _line(name: str, synthesizer: str) -> str:
    table = performance_table(name)
    conditions = conditions_of(table.space, table.rules)
    found = []
    for seed in range(SEEDS):
        train, test = (thinned(rows, _MOST, seed) for rows in table.split(seed))
        model, seconds = learnt(table, train, synthesizer)
        made = draw(model, len(train), conditions, seed=seed, effort=100)
        rows = made.values
        kept = conditions.met(rows).mean()
        one = best(efficiencies(table.space, table.target, train, rows, test, seed))
        found.append(
            (
                kept,
                made.acceptance,
                two_sample_auc(train, rows, seed),
                global_utility(table.space, train, rows, test, seed),
                one.gap,
                seconds,
            )
        )
    mean = np.mean(found, axis=0)
    return (
        f"| {name} | {synthesizer} | {len(train)} | {mean[0]:.0%} | {mean[1]:.1%} | "
        f"{mean[2]:.3f} | {mean[3]:.3f} | {mean[4]:+.1%} | {mean[5]:.2f} |"
    )
