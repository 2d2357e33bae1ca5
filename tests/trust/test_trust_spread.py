"""Disagreement of models of perturbed data."""

import io

import numpy as np
import pytest
from trust_reference import disagreement, mixed_rows, mixed_space

from compass.domain.errors import BadInput, EngineProblem
from compass.model.base import Task
from compass.settings import Settings, TrustSettings
from compass.trust.spread import Perturbed

space = mixed_space()
X_train, X_valid, new = mixed_rows(1, 150), mixed_rows(2, 60), mixed_rows(3, 25)
numbers = X_train[:, 0] * (1 + X_train[:, 3]) + np.random.default_rng(4).normal(size=150)
classes = np.digitize(numbers, np.quantile(numbers, [0.4, 0.8])).astype(float)


def settings(**trust: object) -> Settings:
    return Settings(trust=TrustSettings(**{"trees": 4, **trust}))


def fit(
    y: dict[str, np.ndarray] | None = None,
    tasks: dict[str, Task] | None = None,
    chosen: Settings | None = None,
    seed: int = 7,
    **more: np.ndarray,
) -> Perturbed:
    y = {"runtime": numbers} if y is None else y
    tasks = tasks or dict.fromkeys(y, Task())
    more = {"X_valid": X_valid, **more}
    return Perturbed.fit(X_train, y, tasks, space, chosen or settings(), seed, **more)


def test_variance_is_that_of_the_models_in_variances_of_the_target() -> None:
    made = fit()
    slow = [disagreement(made.forests[0], 5, x) / np.var(numbers) for x in new]
    assert made.variance(new) == pytest.approx(slow, rel=1e-9, abs=1e-15)


def test_variance_of_classes_is_the_mean_over_their_scores() -> None:
    made = fit({"state": classes}, {"state": Task(4)})  # the last class occurs in no row
    share = np.bincount(classes.astype(int), minlength=4) / classes.size
    scale = np.mean(share * (1 - share))
    slow = [disagreement(made.forests[0], 5, x) / scale for x in new]
    assert made.variance(new) == pytest.approx(slow, rel=1e-9, abs=1e-15)


def test_several_targets_count_alike_whatever_their_units() -> None:
    both = fit(
        {"runtime": numbers, "energy": 1e6 * numbers[::-1]}, {"runtime": Task(), "energy": Task()}
    )
    parts = [
        [disagreement(forest, 5, x) / scale for x in new]
        for forest, scale in zip(
            both.forests, [np.var(numbers), 1e12 * np.var(numbers)], strict=True
        )
    ]
    assert both.variance(new) == pytest.approx(np.mean(parts, axis=0), rel=1e-9)


def test_uq_is_the_share_of_validation_rows_that_are_more_certain() -> None:
    made = fit()
    known, u = made.variance(X_valid), made.variance(new)
    assert made.uq(new) == pytest.approx([np.mean(known < one) for one in u])


def test_a_configuration_has_the_same_variance_in_every_batch() -> None:
    made = fit(chosen=settings(models=11))
    single = [made.variance(x[np.newaxis])[0] for x in new]
    assert np.array_equal(made.variance(new), single)
    assert (made.uq(X_valid[np.argsort(made.variance(X_valid))[:1]]) == 0).all()


def test_where_all_models_agree_nothing_is_less_certain() -> None:
    made = fit({"runtime": np.full(150, 0.1)})
    assert not made.variance(new).any()
    assert not made.uq(new).any()


def test_models_resample_and_move_rows() -> None:
    # Without resampling and jitter all models would be grown from the same rows; their own seeds
    # would still make them differ, so look at what the leaves have seen.
    made = fit(chosen=settings(trees=1, models=3))
    roots = made.forests[0].value[made.forests[0].roots, 0]
    assert np.unique(roots).size == 3


def test_settings_and_seed_change_the_result() -> None:
    base = fit().variance(new)
    assert np.array_equal(base, fit().variance(new))
    for other in (
        fit(seed=8),
        fit(chosen=settings(models=3)),
        fit(chosen=settings(trees=6)),
        fit(chosen=settings(jitter=1.0)),
    ):
        assert not np.array_equal(base, other.variance(new))
    assert fit(chosen=settings(models=3)).forests[0].trees == 12
    assert fit(chosen=settings(validation_rows=10)).known.size == 10


def test_rows_without_weight_teach_nothing() -> None:
    odd = np.arange(150) % 2 == 1
    made = fit({"runtime": np.where(odd, 1e9, numbers)}, weight=np.where(odd, 0.0, 1.0))
    assert made.forests[0].value.max() <= numbers.max()
    assert made.scales[0] == pytest.approx(np.var(numbers[~odd]))


def test_weights_of_validation_rows_enter_the_shares() -> None:
    heavy = np.where(np.arange(60) % 2, 5.0, 0.1)
    assert not np.allclose(fit(valid_weight=heavy).uq(new), fit().uq(new))


def test_targets_joined_later_are_those_trained_together() -> None:
    one, two = fit({"runtime": numbers}), fit({"state": classes}, {"state": Task(3)})
    joined = Perturbed.together([one, two])
    expected = (one.variance(new) + two.variance(new)) / 2
    assert joined.variance(new) == pytest.approx(expected)
    known = (one.variance(X_valid) + two.variance(X_valid)) / 2
    assert joined.uq(new) == pytest.approx([np.mean(known < u) for u in expected])
    assert Perturbed.together([one]) is one
    thrice = Perturbed.together([joined, one])
    assert thrice.variance(new) == pytest.approx((2 * one.variance(new) + two.variance(new)) / 3)
    with pytest.raises(BadInput, match="no outcome"):
        Perturbed.together([])


def test_targets_with_other_validation_rows_are_compared_on_the_same_ones() -> None:
    one, two = fit(), fit({"state": classes}, {"state": Task(3)}, X_valid=X_valid[:20])
    joined = Perturbed.together([two, one])
    known = (one.variance(X_valid) + two.variance(X_valid)) / 2
    u = (one.variance(new) + two.variance(new)) / 2
    assert joined.uq(new) == pytest.approx([np.mean(known < x) for x in u])


def test_restored_models_are_the_same_bit_for_bit() -> None:
    made = Perturbed.together([fit(), fit({"state": classes}, {"state": Task(3)})])
    file = io.BytesIO()
    np.savez(file, **{name.replace("/", "|"): array for name, array in made.arrays().items()})
    file.seek(0)
    saved = np.load(file, allow_pickle=False)
    again = Perturbed.restore({name.replace("|", "/"): saved[name] for name in saved})
    assert np.array_equal(again.variance(new), made.variance(new))
    assert np.array_equal(again.uq(new), made.uq(new))
    assert np.array_equal(again.error(new), made.error(new))
    assert np.array_equal(again.risk(new), made.risk(new))


def test_damaged_models_are_refused() -> None:
    arrays = fit().arrays()
    with pytest.raises(EngineProblem, match="lacks known"):
        Perturbed.restore({name: array for name, array in arrays.items() if name != "known"})
    for name, cut in (("known", -1), ("usual", -1), ("sizes", 0)):
        with pytest.raises(EngineProblem, match=f"{name} has the shape"):
            Perturbed.restore(arrays | {name: arrays[name][:cut]})
    for name, wrong in (("known", -1.0), ("weight", np.nan), ("scales", 0.0), ("rows", np.inf)):
        with pytest.raises(EngineProblem, match=f"its array {name} holds"):
            Perturbed.restore(arrays | {name: np.full_like(arrays[name], wrong)})
    with pytest.raises(EngineProblem, match="none of its rows counts"):
        Perturbed.restore(arrays | {"weight": np.zeros_like(arrays["weight"])})
    for name in ("0/width", "errors/0/width"):
        with pytest.raises(EngineProblem, match="about other columns"):
            Perturbed.restore(arrays | {name: np.array([9])})
    with pytest.raises(EngineProblem, match="are no sizes"):
        Perturbed.restore(arrays | {"errors/0/value": -arrays["errors/0/value"]})
    with pytest.raises(EngineProblem, match="shared out"):
        Perturbed.restore(arrays | {"models": np.array([7])})
    with pytest.raises(EngineProblem, match="saved forest is damaged: it lacks"):
        Perturbed.restore({name: a for name, a in arrays.items() if not name.startswith("0/")})


def test_without_outcomes_there_is_nothing_to_measure() -> None:
    with pytest.raises(BadInput, match="no outcome"):
        fit({})


def test_the_expected_error_of_several_targets_is_their_mean() -> None:
    one, two = fit(), fit({"state": classes}, {"state": Task(3)}, X_valid=X_valid[:20])
    joined = Perturbed.together([two, one])
    e = (one.error(new) + two.error(new)) / 2
    known = (one.error(X_valid) + two.error(X_valid)) / 2
    assert joined.error(new) == pytest.approx(e)
    assert joined.risk(new) == pytest.approx([np.mean(known < x) for x in e])


def test_a_row_has_the_same_expected_error_in_every_batch() -> None:
    made = fit()
    alone = np.concatenate([made.error(x[np.newaxis]) for x in new])
    assert np.array_equal(alone, made.error(new))
