"""Training of the neural network: slopes, steps, the epoch that is kept, and threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from model_dense_cases import FEATURES, runs, thirds
from scipy.special import expit, logsumexp

from compass.model import perceptron
from compass.model.base import Task
from compass.model.dense import dense_rows
from compass.native import kernel
from compass.settings import NeuralSettings


def raw_columns(net: np.ndarray, Z: np.ndarray, layers: int, units: int, raw: int) -> np.ndarray:
    """What the last layer says of each row [n, raw] in double precision; Z ends in ones."""
    a = Z.shape[1] * units
    b = a + (layers - 1) * (units + 1) * units
    h = Z @ net[:a].reshape(-1, units)
    h = h * expit(h)
    for weights in net[a:b].reshape(-1, units + 1, units):
        more = h @ weights[:-1] + weights[-1]
        h = h + more * expit(more)
    last = net[b:].reshape(units + 1, raw)
    return np.asarray(h @ last[:-1] + last[-1])


def error(
    net: np.ndarray, Z: np.ndarray, y: np.ndarray, layers: int, units: int, raw: int, classes: bool
) -> np.ndarray:
    """The error of each row [n]."""
    out = raw_columns(net, Z, layers, units, raw)
    if classes:
        return logsumexp(out, axis=1) - out[np.arange(len(y)), y.astype(int)]
    miss = np.abs(out[:, 0] - y)
    return np.where(miss > 0.1, miss - 0.05, miss**2 / 0.2)


@pytest.mark.parametrize("n", [1, 4, 7])
@pytest.mark.parametrize("m", [1, 2, 9])
@pytest.mark.parametrize("columns", [1, 11, 16, 37])
def test_products_of_all_sizes_and_layouts(n: int, m: int, columns: int) -> None:
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, m)).astype(np.float32)
    B = rng.normal(size=(m, columns)).astype(np.float32)
    for given, turned in ((A, 0), (np.ascontiguousarray(A.T), 1)):
        out = np.full((n, columns), np.nan, np.float32)
        kernel("product")(given, B, turned, out)
        np.testing.assert_allclose(out, A.astype(float) @ B.astype(float), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
def test_slopes_of_the_error_against_central_differences(layers: int, classes: bool) -> None:
    rng = np.random.default_rng(layers)
    n, width, units, raw = 13, 4, 5, 3 if classes else 1
    Z = np.column_stack([rng.normal(size=(n, width - 1)), np.ones(n)]).astype(np.float32)
    size = width * units + (layers - 1) * (units + 1) * units + (units + 1) * raw
    net = rng.normal(0, 0.6, size).astype(np.float32)
    y = (rng.integers(0, raw, n) if classes else rng.normal(size=n)).astype(np.float32)
    weight = rng.uniform(0.5, 2, n).astype(np.float32)
    if not classes:
        out = raw_columns(net.astype(float), Z.astype(float), layers, units, raw)
        y[::3] = out[::3, 0] + 0.03  # near enough to count by their squares
    found, mean = np.empty_like(net), np.empty(1)
    kernel("error_slopes")(
        net, Z, y, weight, np.arange(n), layers, units, int(classes), found, mean
    )

    def averaged(step: np.ndarray) -> float:
        where = net.astype(float) + step
        miss = error(where, Z.astype(float), y, layers, units, raw, classes)
        return float(np.average(miss, weights=weight))

    assert mean[0] == pytest.approx(averaged(np.zeros(size)), rel=1e-5)
    expected = [(averaged(e) - averaged(-e)) / 2e-6 for e in 1e-6 * np.eye(size)]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_steps_are_those_of_adamw() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    net, mean, square = rng.normal(size=50).astype(np.float32), *np.zeros((2, 50), np.float32)
    theirs = torch.tensor(net.copy(), requires_grad=True)
    descent = torch.optim.AdamW([theirs], lr=0.02, weight_decay=0.1)
    for step in range(1, 6):
        by = rng.normal(size=50).astype(np.float32)
        theirs.grad = torch.tensor(by)
        descent.step()
        kernel("adamw")(net, by, mean, square, 0.02, 0.1, step)
        np.testing.assert_allclose(net, theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rate", [0.01, 3.0])
def test_the_epoch_with_the_least_error_on_held_out_rows_is_kept(rate: float) -> None:
    rng = np.random.default_rng(1)
    Z = np.column_stack([rng.normal(size=(90, 2)), np.ones(90)]).astype(np.float32)
    y, weight = (Z[:, 0] * Z[:, 1]).astype(np.float32), np.ones(90, np.float32)
    held, rows = np.arange(19), np.arange(19, 90)
    least = []
    # The same way down, left after more and more epochs without a better network.
    for patience in (0.0, 0.1, 2.0):
        net = np.random.default_rng(2).normal(0, 0.3, 3 * 8 + 9 * 8 + 9).astype(np.float32)
        plan, draws = (2, 8, 16, 200, rate, 0.0, patience), np.array([5], np.uint64)
        found = np.empty(1)
        kernel("descend")(net, Z, y, weight, held, rows.copy(), draws, *plan, 0, found)
        least.append(found[0])
        own = error(net.astype(float), Z[held], y[held], 2, 8, 1, False).mean()
        assert least[-1] == pytest.approx(own, rel=1e-4)
    assert least == sorted(least, reverse=True)
    assert least[0] > least[-1]
    if rate < 1:
        assert least[-1] < 0.5 * np.abs(y[held]).mean()


def test_every_row_stays_in_the_order_and_the_order_changes() -> None:
    order, draws = np.arange(100), np.array([3], np.uint64)
    seen = []
    for _ in range(3):
        kernel("shuffle")(order, draws)
        assert np.array_equal(np.sort(order), np.arange(100))
        seen.append(order.copy())
    assert len({tuple(one) for one in seen}) == 3


def test_networks_trained_at_once_are_those_trained_one_by_one() -> None:
    X, y = runs(120)
    chosen = NeuralSettings(layers=2, units=16, epochs=15)
    numbers = dense_rows(X, y, Task(), None, FEATURES)
    classes = dense_rows(X, thirds(y), Task(3), None, FEATURES)
    asked = [(numbers, 1), (classes, 1), (numbers, 2), (numbers, 1)]
    alone = [perceptron.train(taught, seed, chosen) for taught, seed in asked]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda one: perceptron.train(*one, chosen), asked))
    for one, other in zip(alone, together, strict=True):
        for mine, theirs in zip(one, other, strict=True):
            assert np.array_equal(mine, theirs)


def test_large_tables_are_learnt_from_fewer_times() -> None:
    times = [perceptron.passes(rows) for rows in (1, 100, 10_000, 100_000, 10**7)]
    assert times == sorted(times, reverse=True)
    assert times[-1] == 10
