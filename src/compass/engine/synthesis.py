"""Synthetic rows of a dataset: learnt, loaded, and judged."""

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np

from compass.domain.arguments import anything_of, function, maybe, path_name, takes, text, texts
from compass.domain.errors import BadInput
from compass.domain.space import Space
from compass.engine.dataset import Dataset, read
from compass.engine.rules import standing
from compass.prepare import Encoder
from compass.settings import Settings, SynthesisSettings
from compass.synth.base import Floats, Tell, silent
from compass.synth.model import SynthesisModel, fit_prepared, load_model
from compass.synth.quality.judge import judge
from compass.synth.quality.report import QualityReport


@takes(
    name=text,
    rules=texts("for example rules=['gpus <= 4 * nodes']"),
    settings=maybe(anything_of(SynthesisSettings)),
    tell=function,
)
def synthesizer(
    data: Any,
    name: str = "cart",
    *,
    rules: Iterable[str] = (),
    seed: int | None = None,
    settings: SynthesisSettings | None = None,
    tell: Tell = silent,
) -> SynthesisModel:
    """Learn the measured rows of a dataset, to draw new ones and to fill in empty cells.

    `name` is a registered synthesizer. The rules of the study and these hold in every row.
    """
    runs = data if isinstance(data, Dataset) else read(data)
    texts_of_rules = [rule.text for rule in standing(runs, rules)]
    return fit_prepared(
        runs.prepared, name, rules=texts_of_rules, seed=seed, settings=settings, tell=tell
    )


@takes(path=path_name)
def load_synthesizer(path: str | PathLike[str]) -> SynthesisModel:
    """A synthesizer that was saved with `save`."""
    return load_model(str(path))


_HELD_OUT = 0.25  # of the real rows, where none are given that nothing was learnt from


@takes(target=maybe(text), tell=function)
def judge_synthetic(
    real: Any,
    synthetic: Any,
    *,
    test: Any = None,
    target: str | None = None,
    seed: int | None = None,
    tell: Tell = silent,
) -> QualityReport:
    """How like real rows synthetic ones are, each measure beside real against real rows.

    `test` are real rows that the synthetic ones were not learnt from; without them a quarter of
    the real rows is held out, and the report says that the synthetic ones may know these.
    """
    runs = real if isinstance(real, Dataset) else read(real)
    seed = Settings().seed if seed is None else seed
    space = runs.prepared.space
    whole = _gapless(runs.prepared.values[runs.prepared.measured])
    made = _gapless(_encoded(synthetic, space))
    if test is None:
        order = np.random.default_rng(seed).permutation(len(whole))
        held = round(_HELD_OUT * len(whole))
        train, checked = whole[order[held:]], whole[order[:held]]
        notes: tuple[str, ...] = (
            "no --test rows: models are tested on a quarter of the real rows, which the synthetic "
            "ones may have been learnt from",
        )
    else:
        train, checked, notes = whole, _gapless(_encoded(test, space)), ()
    report = judge(space, train, made, checked, target, seed=seed, tell=tell)
    return report.model_copy(update={"notes": (*notes, *report.notes)})


def _encoded(source: Any, space: Space) -> Floats:
    """The rows of another table in the terms of a space; a strange cell is NaN."""
    table = source.table if isinstance(source, Dataset) else read(source).table
    lacking = [name for name in space.names if name not in table.names]
    if lacking:
        raise BadInput(
            f"the table has no column {lacking[0]}",
            hint="both tables need the same columns; leave others out (--drop)",
        )
    return Encoder(space).encode_table(table)


def _gapless(rows: Floats) -> Floats:
    return np.asarray(rows[~np.isnan(rows).any(axis=1)])
