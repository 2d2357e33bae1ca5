"""Rows made ready, and what training leaves alone."""

import sys

import numpy as np
import pytest
from embed_laws import SPACE, explained, mixtures, runs, settings

from compass.domain.errors import EnvironmentProblem
from compass.embed.base import embedder
from compass.embed.train import dense, moments, network_rows
from compass.settings import EmbeddingSettings

torch = pytest.importorskip("torch")
NAMES = ("attention", "autoencoder", "vae")


def test_some_rows_are_held_out_and_few_rows_are_repeated() -> None:
    X, y = runs(200)
    ready = network_rows(X, y, None, None, SPACE, 1, EmbeddingSettings())
    assert len(ready.check) == 20
    assert sorted([*ready.learn, *ready.check]) == list(range(200))
    few = network_rows(X[:3], y[:3], None, None, SPACE, 1, EmbeddingSettings())
    assert len(few.dense) >= 32
    assert len(np.unique(few.dense, axis=0)) == 3
    assert np.array_equal(few.learn, few.check)


def test_a_large_table_is_learnt_from_a_sample() -> None:
    X, y = runs(300)
    ready = network_rows(X, y, None, None, SPACE, 1, EmbeddingSettings(rows=100))
    assert len(ready.dense) == len(ready.target) == len(ready.weight) == 100
    again = network_rows(X, y, None, None, SPACE, 1, EmbeddingSettings(rows=100))
    assert np.array_equal(ready.dense, again.dense)


def test_outcomes_are_standardised_by_weight_and_large_spans_by_their_logarithm() -> None:
    X, y = runs(200)
    weight = np.random.default_rng(0).uniform(0.1, 3, 200)
    ready = network_rows(X, y, None, weight, SPACE, 1, EmbeddingSettings())
    logs = np.log(y)
    middle = np.average(logs, weights=weight)
    spread = np.sqrt(np.average((logs - middle) ** 2, weights=weight))
    np.testing.assert_allclose(ready.target, (logs - middle) / spread)
    narrow = network_rows(X, 100 + y / y.max(), None, None, SPACE, 1, EmbeddingSettings())
    np.testing.assert_allclose(narrow.target, (y - y.mean()) / y.std())
    labels = np.arange(200.0) % 3
    classes = network_rows(X, labels, 3, None, SPACE, 1, EmbeddingSettings())
    assert np.array_equal(classes.target, labels)


def test_values_far_beyond_those_learnt_from_count_as_far() -> None:
    X, y = runs(100)
    ready = network_rows(X, y, None, None, SPACE, 1, EmbeddingSettings())
    far = X[:1].copy()
    far[0, 3] = 1e300
    assert np.isfinite(dense(ready.design, far)).all()
    assert dense(ready.design, far).max() == 10.0


def test_columns_that_do_not_vary_keep_their_scale() -> None:
    middle, scale = moments(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(middle, [2.5, 5.0])
    np.testing.assert_allclose(scale, [np.sqrt(0.75), 1.0])


@pytest.mark.parametrize("name", NAMES)
def test_without_torch_the_reason_and_the_remedy_are_told(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = runs(50)
    kind = embedder(name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(EnvironmentProblem, match="needs PyTorch") as error:
        kind.fit(X, y, classes=None, weight=None, seed=1, settings=settings(), features=SPACE)
    assert "compass-hpc[deep]" in error.value.hint


@pytest.mark.parametrize("name", NAMES)
def test_training_says_nothing_and_leaves_the_state_of_torch_alone(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    X, y = runs(60)
    before = torch.get_num_threads()
    torch.set_num_threads(2)  # training takes one
    state = torch.random.get_rng_state()
    made = [
        embedder(name).fit(
            X, y, classes=None, weight=None, seed=seed, settings=settings(epochs=2), features=SPACE
        )
        for seed in (1, 1, 2)
    ]
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)
    said = capfd.readouterr()
    assert said.out + said.err == ""
    one, same, other = (front.transform(X) for front in made)
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("name", NAMES)
def test_columns_have_mean_0_and_deviation_1_where_they_vary(name: str) -> None:
    X, y = runs(300)
    front = embedder(name).fit(
        X, y, classes=None, weight=None, seed=1, settings=settings(epochs=3), features=SPACE
    )
    Z = front.transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    spread = Z.std(axis=0)
    assert ((np.abs(spread - 1) < 1e-9) | (spread < 1e-6)).all()
    assert (np.abs(spread - 1) < 1e-9).any()


@pytest.mark.parametrize("name", ["attention", "vae"])
def test_rows_count_by_their_weight(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    first = np.arange(600) < 300
    y = np.where(first, np.abs(X[:, 0]), np.abs(X[:, 1]))
    ask = np.random.default_rng(5).normal(size=(500, 3))
    for place, heavy in enumerate((first, ~first)):
        front = embedder(name).fit(
            X,
            y,
            classes=None,
            weight=np.where(heavy, 1.0, 1e-3),
            seed=1,
            settings=settings(epochs=20, width=2, downstream=20),
        )
        Z = front.transform(ask)
        right, wrong = (explained(Z, np.abs(ask[:, at])) for at in (place, 1 - place))
        assert right > wrong + 0.3


@pytest.mark.soak
def test_supervised_columns_help_a_linear_model_of_noisy_mixtures() -> None:
    X, y = mixtures()
    unseen, truth = mixtures(seed=1)
    raw = explained(unseen, truth)
    for name in ("attention", "vae"):
        front = embedder(name).fit(
            X, y, classes=None, weight=None, seed=1, settings=settings(epochs=20)
        )
        better = explained(np.hstack([unseen, front.transform(unseen)]), truth)
        assert better > raw + 0.4, name
