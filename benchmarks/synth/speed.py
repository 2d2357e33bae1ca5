"""Seconds of one processor: learning, 5,000 rows, and a range of 1 % by drawing or by rejection."""

import time
from collections.abc import Iterator

import numpy as np

from compass.settings import AdversarialSynthesisSettings, SynthesisSettings
from compass.synth.base import FittedSynthesizer, Floats
from compass.synth.conditions import Conditions, conditions_of

from .learn import drawn, learnt
from .tables import RealTable, ml_table

_ROWS = 5000
_EPOCHS = 8  # of the GAN that are run; the time of 300 is theirs in proportion


def run() -> Iterator[str]:
    """All of it, line by line."""
    yield "| table | synthesizer | fit, s | 5,000 rows, s |"
    yield "|---|---|---:|---:|"
    fits = {}
    for name in ("magic", "heloc", "california", "parkinsons", "digits"):
        table = ml_table(name)
        for synthesizer in ("cart", "copula"):
            model, seconds = learnt(table, table.rows, synthesizer)
            _, more = drawn(table, model, _ROWS, 1)
            fits[name, synthesizer] = seconds, more
            size = f"{len(table.rows)} rows"
            yield f"| {name} ({size}) | {synthesizer} | {seconds:.2f} | {more:.3f} |"
    table = ml_table("magic")
    _gan(table, 1)  # torch is loaded, and the modes have been looked for once
    took = [_gan(table, epochs) for epochs in (1, 1 + _EPOCHS)]
    whole = took[0] + (took[1] - took[0]) / _EPOCHS * 299
    ours = sum(fits["magic", "cart"])
    yield f"\nCTGAN of 300 epochs on MAGIC: {whole:.0f} s (from {1 + _EPOCHS} epochs), "
    yield f"{whole / ours:.0f} times the default with its 5,000 rows.\n"
    for name in ("magic", "california"):
        yield from _range(ml_table(name))


def _gan(table: RealTable, epochs: int) -> float:
    settings = SynthesisSettings(ctgan=AdversarialSynthesisSettings(epochs=epochs))
    return learnt(table, table.rows, "ctgan", settings)[1]


def _range(table: RealTable) -> Iterator[str]:
    """5,000 rows whose first number lies in a range that 1 % of the rows has."""
    model, _ = learnt(table, table.rows, "cart")
    for place in (0, len(table.space) - 2):
        name = table.space.names[place]
        low, high = map(float, np.quantile(table.rows[:, place], [0.5, 0.51]))
        conditions = conditions_of(table.space, (), [f"{name} >= {low!r}", f"{name} <= {high!r}"])
        first = _asked(model, conditions)
        again = min(_asked(model, conditions) for _ in range(3))
        waited = _rejected(model, table, conditions)
        yield f"{table.name}, 1 % of {name}: first {first:.3f} s, then {again:.4f} s; rejection "
        yield f"{waited:.2f} s: {waited / first:.0f} and {waited / again:.0f} times.\n"


def _asked(model: FittedSynthesizer, conditions: Conditions) -> float:
    start = time.process_time()
    given = np.full((_ROWS, len(conditions.space)), np.nan)
    rows = model.sample(given, conditions.domains, np.random.default_rng(1))
    assert conditions.met(rows).all()
    return time.process_time() - start


def _rejected(model: FittedSynthesizer, table: RealTable, conditions: Conditions) -> float:
    start = time.process_time()
    have, seed = 0, 0
    kept: list[Floats] = []
    while have < _ROWS:
        rows, _ = drawn(table, model, 100_000, seed)
        good = rows[conditions.met(rows)]
        kept.append(good)
        have, seed = have + len(good), seed + 1
    return (time.process_time() - start) * _ROWS / have
