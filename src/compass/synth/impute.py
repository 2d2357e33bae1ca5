"""Rows without a value: left out where they are few, else filled in, and counted."""

from dataclasses import dataclass

import numpy as np

from compass.domain.errors import DataProblem
from compass.domain.space import Category, Number, Space
from compass.prepare.legal import snap
from compass.rules.domains import domain_of
from compass.settings import SynthesisSettings
from compass.synth.base import Floats, silent
from compass.synth.cart import SequentialTrees

_CHECKED = 500  # known cells of a column that are hidden to compare two ways to fill it


@dataclass(frozen=True, eq=False)
class Complete:
    """Rows without gaps, and what was done about the gaps."""

    values: Floats  # [k, d]
    left_out: int
    imputed: dict[str, int]  # filled cells by column
    notes: tuple[str, ...]


def complete(X: Floats, space: Space, settings: SynthesisSettings, seed: int) -> Complete:
    """X [n, d] without NaN: few incomplete rows are left out, else their cells are filled.

    As in PERFGEN (section III-A) with the mean of the column, or the commonest label; by trees
    where these are nearer to known cells that are hidden from them.
    """
    gaps = np.isnan(X)
    lacking = gaps.any(axis=1)
    whole_rows = X[~lacking]
    if not lacking.any():
        return Complete(X, 0, {}, ())
    empty = [p.name for p, column in zip(space, gaps.T, strict=True) if column.all()]
    if empty or not len(whole_rows):
        names = ", ".join(empty) or "every row lacks something"
        raise DataProblem(
            f"there is nothing to learn from: {names}", hint="leave such columns out (--drop)"
        )
    count = int(lacking.sum())
    if count <= settings.few_missing * len(X):
        note = f"{count} of {len(X)} rows lack a value and were left out"
        return Complete(whole_rows, count, {}, (note,))
    learnt = SequentialTrees.fit(whole_rows, space, seed=seed, settings=settings, tell=silent)
    legal = [domain_of(parameter) for parameter in space]
    by_trees = learnt.sample(X, legal, np.random.default_rng(seed))
    filled, imputed, notes = np.array(X), {}, []
    for place, parameter in enumerate(space):
        cells = gaps[:, place]
        if not cells.any():
            continue
        usual = _usual(parameter, X[~cells, place])
        trees = _trees_better(whole_rows, place, space, usual, settings, seed)
        filled[cells, place] = by_trees[cells, place] if trees else usual
        imputed[parameter.name] = int(cells.sum())
        how = (
            "by trees"
            if trees
            else "with the mean"
            if isinstance(parameter, Number)
            else ("with the commonest label")
        )
        notes.append(f"{parameter.name}: {int(cells.sum())} missing cells were filled {how}")
    return Complete(filled, 0, imputed, tuple(notes))


def _usual(parameter: Number | Category, known: Floats) -> float:
    if isinstance(parameter, Category):
        return float(np.bincount(known.astype(np.int64)).argmax())
    numbers = known[known != parameter.none_code]
    mean = float(numbers.mean()) if len(numbers) else parameter.none_code
    return float(snap(parameter, np.array([mean]))[0])


def _trees_better(
    rows: Floats, place: int, space: Space, usual: float, settings: SynthesisSettings, seed: int
) -> bool:
    """Whether trees come nearer to hidden cells of a column than its usual value does."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(rows))
    hidden = order[: min(_CHECKED, len(rows) // 5)]
    if not len(hidden):
        return False
    others = order[len(hidden) :]
    learnt = SequentialTrees.fit(rows[others], space, seed=seed, settings=settings, tell=silent)
    asked = np.array(rows[hidden])
    asked[:, place] = np.nan
    legal = [domain_of(parameter) for parameter in space]
    drawn, truth = learnt.sample(asked, legal, rng)[:, place], rows[hidden, place]
    if isinstance(space.parameters[place], Category):
        return bool((drawn != truth).mean() < (truth != usual).mean())
    return bool(np.square(drawn - truth).mean() < np.square(truth - usual).mean())
