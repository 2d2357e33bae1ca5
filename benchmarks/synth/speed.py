"""Seconds of one processor: learning, 5,000 rows, and a range of 1 % by drawing or by rejection."""

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from compass.settings import SynthesisSettings
from compass.synth.base import FittedSynthesizer, Floats
from compass.synth.conditions import Conditions, conditions_of
from compass.synth.tune import changed

from .kept import Kept, rounded
from .learn import drawn, learnt
from .tables import RealTable, ml_table

_ROWS = 5000
_TABLES = ("magic", "heloc", "california", "parkinsons", "digits")
_EPOCHS = 300  # of the GAN: as in CTGAN
_LANGUAGE = 100  # epochs of the language model; one is measured
_FIRST = 2000  # rows that the GAN and the language model are started with once, untimed


def run(kept: Kept) -> Iterator[str]:
    """All of it, line by line."""
    yield "| table | synthesizer | fit, s | 5,000 rows, s |"
    yield "|---|---|---:|---:|"
    for name in _TABLES:
        for synthesizer in ("cart", "copula"):
            took = kept.once("speed", f"{name} {synthesizer}", partial(_took, name, synthesizer))
            yield f"| {name} | {synthesizer} | {took[0]:.2f} | {took[1]:.3f} |"
    ours = sum(kept.once("speed", "magic cart", partial(_took, "magic", "cart")))
    gan = sum(kept.once("speed", "magic ctgan", partial(_network, "ctgan", _EPOCHS)))
    learning, writing = kept.once("speed", "magic great, 1 epoch", partial(_network, "great", 1))
    whole = learning * _LANGUAGE + writing
    yield f"\nMAGIC, learnt and 5,000 rows drawn: CTGAN of {_EPOCHS} epochs {gan:.0f} s, "
    yield f"{gan / ours:.0f} times the default; the language model {whole:.0f} s for {_LANGUAGE} "
    yield f"epochs (one took {learning:.0f} s), {whole / ours:.0f} times; {writing:.0f} s of that "
    yield "for its rows.\n"
    for name in ("magic", "california"):
        for column, took in kept.once("speed", f"{name} range", partial(_ranges, name)).items():
            first, again, waited = took
            yield f"{name}, 1 % of {column}: first {first:.3f} s, then {again:.4f} s; rejection "
            yield f"{waited:.2f} s: {waited / first:.0f} and {waited / again:.0f} times.\n"


def _took(name: str, synthesizer: str) -> list[float]:
    """Seconds to learn a table, and to draw rows."""
    table = ml_table(name)
    model, seconds = learnt(table, table.rows, synthesizer)
    _, more = drawn(table, model, _ROWS, 1)
    return [rounded(seconds, 3), rounded(more, 3)]


def _network(synthesizer: str, epochs: int) -> list[float]:
    """The same for so many epochs; libraries are loaded before."""
    table = ml_table("magic")
    known = SynthesisSettings()
    learnt(table, table.rows[:_FIRST], synthesizer, changed(known, synthesizer, {"epochs": 1}))
    settings = changed(known, synthesizer, {"epochs": epochs})
    model, seconds = learnt(table, table.rows, synthesizer, settings)
    _, more = drawn(table, model, _ROWS, 1)
    return [rounded(seconds, 4), rounded(more, 3)]


def _ranges(name: str) -> dict[str, list[float]]:
    """5,000 rows in a range of a number that 1 % of the rows has, of an early and a late column.

    Seconds of the first time, of the next ones, and of drawing freely and keeping what fits.
    """
    table = ml_table(name)
    found = {}
    for place in (0, len(table.space) - 2):
        model, _ = learnt(table, table.rows, "cart")
        column = table.space.names[place]
        low, high = map(float, np.quantile(table.rows[:, place], [0.5, 0.51]))
        texts = [f"{column} >= {low!r}", f"{column} <= {high!r}"]
        conditions = conditions_of(table.space, (), texts)
        first = _asked(model, conditions)
        again = min(_asked(model, conditions) for _ in range(3))
        waited = _rejected(model, table, conditions)
        found[column] = [rounded(seconds, 3) for seconds in (first, again, waited)]
    return found


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
