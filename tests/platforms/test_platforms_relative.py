import numpy as np
import pytest

from compass.platforms.base import Training
from compass.platforms.relative import RelativeMember, RelativeOptions, train_relative

torch = pytest.importorskip("torch")
SMALL = RelativeOptions(latent=4, units=16, layers=(32, 32, 32), epochs=60)


def made(seed: int = 1, n: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """Two hidden causes behind eight counters and the ratios of three machines."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 2))
    X = causes @ rng.normal(size=(2, 8)) + 0.05 * rng.normal(size=(n, 8))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    log_ratio = np.column_stack([np.zeros(n), causes[:, 0], causes[:, 0] * 0.5 - causes[:, 1] - 1])
    return X, log_ratio


def test_ratios_are_learnt_from_few_latents() -> None:
    X, log_ratio = made()
    log_ratio[::7, 2] = np.nan
    model = train_relative(X[:120], log_ratio[:120], np.ones(120), options=SMALL)
    assert model.latent(X).shape == (160, 4)
    found = model.predict(X[120:])
    truth = log_ratio[120:]
    left = np.nanmean((found - truth) ** 2, axis=0)
    assert (left[1:] < 0.4 * np.nanvar(truth, axis=0)[1:]).all()
    assert left[0] < 0.05  # the source is never anything but itself


def test_the_same_rows_and_seed_give_the_same_model() -> None:
    X, log_ratio = made()
    quick = RelativeOptions(latent=3, units=8, layers=(8, 8, 8), epochs=5)
    first, again = (
        train_relative(X, log_ratio, np.ones(160), options=quick, seed=3) for _ in range(2)
    )
    assert np.array_equal(first.predict(X), again.predict(X))
    other = train_relative(X, log_ratio, np.ones(160), options=quick, seed=4)
    assert not np.array_equal(first.predict(X), other.predict(X))


def test_the_decoder_is_calibrated_on_some_rows_first() -> None:
    X, log_ratio = made()
    quick = RelativeOptions(latent=3, units=8, layers=(8, 8, 8), epochs=5)
    cpu = np.arange(160) < 60
    first = train_relative(X, log_ratio, np.ones(160), options=quick)
    calibrated = train_relative(X, log_ratio, np.ones(160), options=quick, calibrate=cpu)
    assert not np.array_equal(first.predict(X), calibrated.predict(X))
    assert np.isfinite(calibrated.predict(X)).all()


def test_it_is_a_member() -> None:
    X, log_ratio = made()
    names = np.repeat([f"app{i}" for i in range(16)], 10)
    member = RelativeMember(options=RelativeOptions(layers=(8,), epochs=3))
    predict = member.fit(Training(X, log_ratio, names, np.ones(160), 7))
    assert predict(X).shape == (160, 3)
