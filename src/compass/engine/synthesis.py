"""Synthetic rows of a dataset: learnt, loaded, and judged."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compass.domain.arguments import (
    anything_of,
    function,
    maybe,
    number,
    path_name,
    takes,
    text,
    texts,
)
from compass.domain.errors import BadInput
from compass.domain.space import Category, Role, Space
from compass.engine.dataset import Dataset, read
from compass.engine.rules import standing
from compass.prepare import Encoder
from compass.readers.table import Table
from compass.settings import Settings, SynthesisSettings
from compass.synth.base import Floats, Tell, silent
from compass.synth.model import SynthesisModel, fit_prepared, given_table, load_model
from compass.synth.predict import (
    OutcomePredictions,
    Predictions,
    labels_predicted,
    numbers_predicted,
)
from compass.synth.quality.judge import judge
from compass.synth.quality.report import QualityReport

if TYPE_CHECKING:
    from compass.engine.compass import Compass


@takes(
    name=text,
    rules=texts("for example rules=['gpus <= 4 * nodes']"),
    settings=maybe(anything_of(SynthesisSettings)),
    tune=number(0, 10_000_000),
    tell=function,
)
def synthesizer(
    data: Any,
    name: str = "cart",
    *,
    rules: Iterable[str] = (),
    seed: int | None = None,
    settings: SynthesisSettings | None = None,
    tune: float = 0.0,
    journal: str | PathLike[str] | None = None,
    tell: Tell = silent,
) -> SynthesisModel:
    """Learn the measured rows of a dataset, to draw new ones and to fill in empty cells.

    `name` is a registered synthesizer. The rules of the study and these hold in every row. `tune`
    are seconds in which better settings are looked for; a later search goes on from the file
    `journal`.
    """
    runs = data if isinstance(data, Dataset) else read(data)
    texts_of_rules = [rule.text for rule in standing(runs, rules)]
    return fit_prepared(
        runs.prepared,
        name,
        rules=texts_of_rules,
        seed=seed,
        settings=settings,
        tuning=tune,
        journal=None if journal is None else Path(journal),
        tell=tell,
    )


@takes(path=path_name)
def load_synthesizer(path: str | PathLike[str]) -> SynthesisModel:
    """A synthesizer that was saved with `save`."""
    return load_model(str(path))


def predict_beside(
    model: SynthesisModel, rows: Any, engine: "Compass | None" = None, **options: Any
) -> Predictions:
    """The outcomes of given rows by a synthesizer, and by the surrogate of an engine beside it.

    `options` are those of `SynthesisModel.predict`.
    """
    table = given_table(rows)
    found = model.predict(table, **options)
    if engine is None:
        return found
    both: list[OutcomePredictions] = []
    notes = list(found.notes)
    for one in found.predictions:
        both.append(one)
        if one.outcome not in engine.space.having(Role.OUTCOME):
            notes.append(f"the engine does not predict {one.outcome}")
        else:
            both.append(_surrogate(engine, table, one.outcome))
    return found.model_copy(update={"predictions": tuple(both), "notes": tuple(notes)})


def _surrogate(engine: "Compass", table: Table, outcome: str) -> OutcomePredictions:
    """What the model of an engine says of an outcome at the rows of a table."""
    from compass.evidence.assessor import Assessor

    store = engine.store
    view = store.view_of(engine.space.having(Role.KNOB, Role.CONTEXT))
    trained = store.train(view.names, [outcome])
    X = _known(view.features, table)
    truth = _known(Space(parameters=(engine.space[outcome],)), table)[:, 0]
    good = ~np.isnan(X).any(axis=1)
    scores = trained[outcome].model.predict(X[good])
    parameter = engine.space[outcome]
    if isinstance(parameter, Category):
        codes, shares = np.full(len(X), np.nan), np.full(len(X), np.nan)
        codes[good], shares[good] = scores.argmax(axis=1), scores.max(axis=1)
        return labels_predicted(parameter, codes, shares, truth, "surrogate")
    assessor = Assessor(store, view, trained, None)
    values, low, high = (np.full(len(X), np.nan) for _ in range(3))
    values[good] = np.maximum(scores[:, 0], assessor.floor(outcome))
    band = assessor.band(outcome, scores, trained[outcome].model.spread(X[good]))
    if band is None:
        return numbers_predicted(parameter, values, None, truth, "surrogate")
    low[good], high[good] = band
    return numbers_predicted(parameter, values, (low, high, assessor.level), truth, "surrogate")


def _known(space: Space, table: Table) -> Floats:
    """The cells of a table in the terms of a space [n, d]; NaN where there is none."""
    X = np.full((table.rows, len(space)), np.nan)
    for place, parameter in enumerate(space):
        if parameter.name in table.names:
            X[:, place] = Encoder(Space(parameters=(parameter,))).encode_table(table)[:, 0]
    return X


_HELD_OUT = 0.25  # of the real rows, where none are given that nothing was learnt from


@takes(target=maybe(text), picture=text, tell=function)
def judge_synthetic(
    real: Any,
    synthetic: Any,
    *,
    test: Any = None,
    target: str | None = None,
    seed: int | None = None,
    picture: str = "pca",
    tell: Tell = silent,
) -> QualityReport:
    """How like real rows synthetic ones are, each measure beside real against real rows.

    `test` are real rows that the synthetic ones were not learnt from; without them a quarter of
    the real rows is held out, and the report says that the synthetic ones may know these.
    `picture` of the rows: pca, or umap (extra `umap`).
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
            "no test rows (--test): models are tested on a quarter of the real rows, which the "
            "synthetic ones may have been learnt from",
        )
    else:
        train, checked, notes = whole, _gapless(_encoded(test, space)), ()
    report = judge(space, train, made, checked, target, seed=seed, picture=picture, tell=tell)
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
