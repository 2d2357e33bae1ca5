"""Learning and drawing, with the processor time that each takes."""

import time

import numpy as np

from compass.rules.domains import domain_of
from compass.settings import SynthesisSettings
from compass.synth.base import FittedSynthesizer, Floats, silent, synthesizer

from .tables import RealTable


def learnt(
    table: RealTable, rows: Floats, name: str, settings: SynthesisSettings | None = None
) -> tuple[FittedSynthesizer, float]:
    """What a synthesizer learns of the rows, and its seconds of one processor."""
    start = time.process_time()
    chosen = settings or SynthesisSettings()
    model = synthesizer(name).fit(rows, table.space, seed=0, settings=chosen, tell=silent)
    return model, time.process_time() - start


def drawn(
    table: RealTable, model: FittedSynthesizer, count: int, seed: int
) -> tuple[Floats, float]:
    """Rows, and the seconds of one processor for them."""
    start = time.process_time()
    legal = tuple(domain_of(parameter) for parameter in table.space)
    given = np.full((count, len(table.space)), np.nan)
    made = model.sample(given, legal, np.random.default_rng(seed))
    return made, time.process_time() - start
