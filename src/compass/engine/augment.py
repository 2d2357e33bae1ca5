"""Synthetic rows beside the measured ones, where models then predict measured rows better.

The gate is cross-validation: in each fold synthetic rows are learnt from the fold's training rows
alone, and the model that learns from both is held against the one that learns from the measured
ones, on measured rows that neither has seen. An outcome that does not clearly gain gets none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from compass.domain.base import Noun
from compass.domain.errors import QueryProblem
from compass.domain.origin import RowOrigin
from compass.domain.space import Space
from compass.engine.columns import study_in_full
from compass.engine.dataset import Dataset
from compass.learn.features import FeatureView
from compass.learn.outcomes import OutcomeData
from compass.learn.training import TrainingData
from compass.model.recipe import Recipe
from compass.prepare import Prepared
from compass.readers.table import Table, TablePart
from compass.settings import Settings, SynthesisSettings
from compass.synth.base import Floats, silent, synthesizer
from compass.synth.cells import columns_of
from compass.synth.conditions import Conditions, conditions_of
from compass.synth.draw import draw

_FOLDS = 10
_SURE = 2.0  # standard errors that the gain must exceed
_WORTH = 0.01  # share of the error that it must take away at least
_ORIGIN = "row_origin"
Rows = NDArray[np.int64]
Progress = Callable[[str, int, int], None]


class AugmentedOutcome(Noun):
    """What synthetic rows did for one outcome, on measured rows that no model had seen."""

    outcome: str
    used: bool = Field(description="whether its model learns from synthetic rows")
    error: float = Field(description="cross-validated, learnt from measured rows")
    augmented: float = Field(description="the same, learnt from synthetic ones as well")
    doubt: float = Field(description="standard error of the difference of the two")


class Augmentation(Noun):
    """Which outcomes learn from synthetic rows, and how many of these there are."""

    synthesizer: str
    rows: int = Field(description="synthetic rows that were added; 0: no outcome gains")
    outcomes: tuple[AugmentedOutcome, ...]


@dataclass(frozen=True, eq=False)
class _Source:
    """What synthetic rows are learnt with, and which rules they obey."""

    name: str
    space: Space
    conditions: Conditions
    seed: int

    def rows(self, measured: Floats, count: int, seed: int) -> Floats:
        """Synthetic rows like these measured ones, [k, d]; k may be less than `count`."""
        chosen = SynthesisSettings()
        model = synthesizer(self.name).fit(
            measured, self.space, seed=self.seed, settings=chosen, tell=silent
        )
        drawn = draw(model, count, self.conditions, seed=seed, effort=chosen.effort)
        return drawn.values


def augmented(
    data: Dataset,
    view: FeatureView,
    recipes: dict[str, Recipe],
    rules: Sequence[str],
    name: str,
    settings: Settings,
    tell: Progress | None = None,
) -> tuple[Dataset, Augmentation]:
    """The dataset with synthetic rows for the outcomes that gain by them, and what was found.

    `recipes` are the models of the outcomes. Rows that are held out to measure errors take no part.
    """
    prepared = data.prepared
    _check(prepared)
    known = prepared.space.select([*view.names, *recipes])
    kept = [rule for rule in rules if _speaks_of(rule, known)]
    outcomes = []
    for place, (outcome, recipe) in enumerate(recipes.items()):
        if tell is not None:
            tell("trying synthetic rows", place, len(recipes))
        space = prepared.space.select([*view.names, outcome])
        own = [rule for rule in kept if _speaks_of(rule, space)]
        source = _Source(name, space, conditions_of(space, own), settings.seed)
        outcomes.append(_gain(OutcomeData.of(view, outcome), outcome, recipe, source, settings))
    wanted = [one.outcome for one in outcomes if one.used]
    if not wanted:
        return data, Augmentation(synthesizer=name, rows=0, outcomes=tuple(outcomes))
    space = prepared.space.select([*view.names, *wanted])
    measured = _training_rows(prepared, view, space)
    own = [rule for rule in kept if _speaks_of(rule, space)]
    source = _Source(name, space, conditions_of(space, own), settings.seed)
    made = source.rows(measured, len(measured), settings.seed)
    report = Augmentation(synthesizer=name, rows=len(made), outcomes=tuple(outcomes))
    return _with_rows(data, space, made), report


def _check(prepared: Prepared) -> None:
    if prepared.weighed_by is not None:
        raise QueryProblem(
            "a weighted sample is not augmented", hint="learn from all rows, or without augment"
        )
    if not prepared.measured.all():
        raise QueryProblem(
            "the table has synthetic rows already", hint="leave out augment, or those rows"
        )


def _speaks_of(rule: str, space: Space) -> bool:
    from compass.domain.expression import names_in
    from compass.language import parse_rule

    return set(names_in(parse_rule(rule))) <= set(space.names)


def _training_rows(prepared: Prepared, view: FeatureView, space: Space) -> Floats:
    rows = prepared.columns_of(space.names)[view.train]
    return np.asarray(rows[~np.isnan(rows).any(axis=1)])


def _gain(
    data: OutcomeData, outcome: str, recipe: Recipe, source: _Source, settings: Settings
) -> AugmentedOutcome:
    """Errors of the recipe with and without synthetic rows, over folds of the training rows."""
    whole = data.training(settings)
    rows = data.train
    fold = _folds(whole.X[rows], settings.seed)
    errors = []
    for held in np.unique(fold):
        train, valid = rows[fold != held], rows[fold == held]
        scale = whole.scale_of(train)
        plain = whole.score(whole.fit(recipe, train), valid, scale=scale).error
        measured = np.column_stack([whole.X[train], whole.y[train]])
        made = source.rows(measured, len(train), settings.seed + int(held))
        both = _together(whole, train, made)
        fitted = both.fit(recipe, np.arange(len(both.y)))
        errors.append((plain, whole.score(fitted, valid, scale=scale).error))
    table = np.array(errors)
    gains = table[:, 0] - table[:, 1]
    doubt = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else np.inf
    plain, better = table.mean(axis=0)
    return AugmentedOutcome(
        outcome=outcome,
        used=bool(gains.mean() > max(_SURE * doubt, _WORTH * plain)),
        error=float(plain),
        augmented=float(better),
        doubt=doubt,
    )


def _folds(X: Floats, seed: int) -> Rows:
    """The fold of each row; rows of one configuration stay together."""
    _, kinds = np.unique(X, axis=0, return_inverse=True)
    kinds = kinds.ravel()
    luck = np.random.default_rng(seed).permutation(int(kinds.max()) + 1)
    return np.asarray(luck[kinds] % _FOLDS)


def _together(data: TrainingData, rows: Rows, made: Floats) -> TrainingData:
    """The training data of these rows with synthetic ones behind them."""
    weight = data.weight_of(rows)
    return replace(
        data,
        X=np.vstack([data.X[rows], made[:, :-1]]),
        y=np.concatenate([data.y[rows], made[:, -1]]),
        weight=None if weight is None else np.concatenate([weight, np.ones(len(made))]),
    )


def _with_rows(data: Dataset, space: Space, made: Floats) -> Dataset:
    """The dataset with synthetic rows behind the measured ones, and a column that tells them."""
    table = data.table
    origin = _ORIGIN
    while origin in table.names:
        origin = f"_{origin}"
    columns = columns_of(made, space)
    fields, parts = [], []
    for field in table.arrow.schema:
        own = columns.get(field.name)
        fields.append(field)
        parts.append(pa.nulls(len(made), field.type) if own is None else own.cast(field.type))
    rows = pa.table(parts, schema=pa.schema(fields))
    labels = [RowOrigin.MEASURED.value] * table.rows + [RowOrigin.SYNTHETIC.value] * len(made)
    whole = pa.concat_tables([table.arrow, rows.replace_schema_metadata(None)])
    whole = whole.append_column(origin, pa.array(labels, pa.large_string()))
    study = study_in_full(data)
    arrow = Table.of(whole, (*table.parts, TablePart("synthetic rows", len(made))))
    return Dataset(arrow, study.model_copy(update={"origin": origin}), data.steps)
