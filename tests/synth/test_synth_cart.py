"""The default synthesizer: it draws from rows that are alike, and on conditions without waiting."""

import numpy as np
import pytest
from synth_tables import legal, nothing, plain

from compass.domain.errors import EngineProblem
from compass.domain.space import Role
from compass.settings import SynthesisSettings
from compass.synth.base import Floats, silent
from compass.synth.cart import DonorTrees, SequentialTrees
from compass.synth.conditions import conditions_of

SPACE = plain({"kind": 3, "x": 0, "y": 0})


def rows(n: int = 4000) -> Floats:
    rng = np.random.default_rng(0)
    kind, x = rng.integers(0, 3, n), rng.normal(size=n)
    return np.column_stack([kind, x, 3.0 * kind + x + 0.1 * rng.normal(size=n)])


def learnt(X: Floats | None = None) -> DonorTrees:
    given = rows() if X is None else X
    return SequentialTrees.fit(given, SPACE, seed=1, settings=SynthesisSettings(), tell=silent)


def test_what_columns_have_to_do_with_each_other_is_kept() -> None:
    X = learnt().sample(nothing(4000, SPACE), legal(SPACE), np.random.default_rng(2))
    rest = X[:, 2] - 3.0 * X[:, 0] - X[:, 1]
    assert (
        np.abs(rest).mean() < 0.2
    )  # 0.08 in the rows; 2 if they had nothing to do with each other
    assert np.bincount(X[:, 0].astype(int), minlength=3) / 4000 == pytest.approx(
        [1 / 3] * 3, abs=0.04
    )


def test_a_range_is_drawn_as_rejection_would_draw_it() -> None:
    """Against the definition: rows drawn freely, of which those in the range are kept."""
    model = learnt()
    many = model.sample(nothing(200_000, SPACE), legal(SPACE), np.random.default_rng(3))
    kept = many[(many[:, 2] >= 2.0) & (many[:, 2] <= 2.3)]
    asked = conditions_of(SPACE, (), ["y >= 2", "y <= 2.3"])
    drawn = model.sample(nothing(8000, SPACE), asked.domains, np.random.default_rng(4))
    assert asked.met(drawn).all()
    for place in range(2):
        assert drawn[:, place].mean() == pytest.approx(kept[:, place].mean(), abs=0.15)
        assert drawn[:, place].std() == pytest.approx(kept[:, place].std(), abs=0.15)


def test_conditions_on_several_columns_are_met_by_rows_that_meet_them_together() -> None:
    asked = conditions_of(SPACE, (), ["kind == c", "y <= 5", "x >= -2"])
    drawn = learnt().sample(nothing(500, SPACE), asked.domains, np.random.default_rng(4))
    assert asked.met(drawn).all()
    assert np.abs(drawn[:, 2] - 6.0 - drawn[:, 1]).mean() < 0.5


def test_every_value_was_measured_unless_a_condition_leaves_none() -> None:
    X = rows()
    drawn = learnt().sample(nothing(500, SPACE), legal(SPACE), np.random.default_rng(4))
    assert all(np.isin(drawn[:, place], X[:, place]).all() for place in range(3))
    far = conditions_of(SPACE, (), ["y >= 50", "y <= 60"])
    unseen = learnt().sample(nothing(500, SPACE), far.domains, np.random.default_rng(4))
    assert unseen[:, 2].min() >= 50
    assert unseen[:, 2].max() <= 60


def test_an_outcome_is_predicted_from_given_cells() -> None:
    given = rows()[:300].copy()
    truth = given[:, 2].copy()
    given[:, 2] = np.nan
    X = rows(3000)[300:]
    filled = learnt(X).sample(given, legal(SPACE), np.random.default_rng(4))
    assert np.abs(filled[:, 2] - truth).mean() < 0.25


def test_rows_of_a_damaged_file_are_refused() -> None:
    arrays = learnt(rows(50)).arrays()
    strange = arrays["rows"].copy()
    strange[3, 0] = 17.0
    with pytest.raises(EngineProblem, match="unknown label"):
        SequentialTrees.restore({**arrays, "rows": strange}, SPACE)
    with pytest.raises(EngineProblem, match="order"):
        SequentialTrees.restore({**arrays, "order": np.array([0, 0, 1])}, SPACE)


def test_what_tells_labels_of_an_outcome_apart_is_kept_where_much_else_varies() -> None:
    """The label shows in the sign of a product, which no split of a single column sees."""
    space = plain({"good": 2, "a": 0, "b": 0, "c": 0})
    space = space.model_copy(
        update={
            "parameters": tuple(
                p.model_copy(update={"role": Role.OUTCOME if p.name == "good" else Role.KNOB})
                for p in space
            )
        }
    )
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 6000))
    X = np.column_stack([a * b > 0, a, b, a + b + 0.3 * rng.normal(size=6000)]).astype(float)
    model = SequentialTrees.fit(X, space, seed=1, settings=SynthesisSettings(), tell=silent)
    drawn = model.sample(nothing(6000, space), legal(space), np.random.default_rng(8))
    right = (drawn[:, 1] * drawn[:, 2] > 0) == (drawn[:, 0] > 0.5)
    assert right.mean() > 0.95
    asked = conditions_of(space, (), ["c >= 2"])
    some = model.sample(nothing(500, space), asked.domains, np.random.default_rng(9))
    assert asked.met(some).all()
