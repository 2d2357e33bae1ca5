"""Autoencoders: what they learn, and that nothing but arrays is needed afterwards."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from embed_laws import SPACE, explained, mixtures, runs, settings

from compass.domain.errors import EngineProblem
from compass.embed.autoencoder import Autoencoder, Encoded, Variational, plain, variational
from compass.embed.base import Embedding, embedder
from compass.embed.train import network_rows

torch = pytest.importorskip("torch")


def fitted(kind: type, X: np.ndarray, y: np.ndarray, **changed: float) -> Encoded:
    found = kind.fit(X, y, classes=None, weight=None, seed=1, settings=settings(**changed))
    assert isinstance(found, Embedding)
    return found


@pytest.mark.parametrize("train", [plain, variational])
def test_the_arrays_give_what_the_trained_network_gives(train: object) -> None:
    from compass.embed.forward import perceived

    X, y = runs(300)
    chosen = settings(epochs=5, width=5).embedding
    ready = network_rows(X, y, None, None, SPACE, 1, chosen)
    network = train(torch, ready, chosen, 1)  # type: ignore[operator]
    with torch.no_grad():
        truth = network.through("encode", torch.tensor(ready.dense, dtype=torch.float32))
    found = perceived(ready.dense, *network.encoder(5))
    np.testing.assert_allclose(found, truth.numpy()[:, :5], atol=1e-5)


def test_two_causes_are_found_in_twelve_noisy_mixtures() -> None:
    X, y = mixtures()
    rng = np.random.default_rng(1)
    causes = rng.normal(size=(1000, 2))
    unseen = causes @ np.random.default_rng(99).normal(size=(2, 12))
    unseen += rng.normal(0, 0.3, unseen.shape)
    Z = fitted(Autoencoder, X, y, width=2, epochs=20).transform(unseen)
    assert explained(Z, causes[:, 0]) > 0.8
    assert explained(Z, causes[:, 1]) > 0.8


def test_labels_are_told_again() -> None:
    X, y = runs(400)
    chosen = settings(epochs=30, width=4).embedding
    ready = network_rows(X, y, None, None, SPACE, 1, chosen)
    network = plain(torch, ready, chosen, 1)
    with torch.no_grad():
        rows = torch.tensor(ready.dense, dtype=torch.float32)
        said = network.through("decode", network.through("encode", rows)).numpy()
    # The dense columns 1 to 3 are the labels of the category.
    assert (said[:, 1:4].argmax(axis=1) == X[:, 1]).mean() > 0.95
    numbers = [0, 4, 5, 6]
    apart = ((said - ready.dense)[:, numbers] ** 2).sum()
    assert apart < 0.2 * (ready.dense[:, numbers] ** 2).sum()


def test_the_loss_is_squares_for_numbers_and_cross_entropy_for_labels() -> None:
    X, y = runs(50)
    chosen = settings(epochs=1).embedding
    ready = network_rows(X, y, None, None, SPACE, 1, chosen)
    network = plain(torch, ready, chosen, 1)
    said = np.random.default_rng(0).normal(size=ready.dense.shape)
    found = network.reconstruction_loss(
        torch.from_numpy(said), torch.from_numpy(ready.dense)
    ).numpy()
    scores = np.exp(said[:, 1:4])
    right = (scores * ready.dense[:, 1:4]).sum(axis=1) / scores.sum(axis=1)
    numbers = [0, 4, 5, 6]
    squares = ((said - ready.dense)[:, numbers] ** 2).sum(axis=1)
    np.testing.assert_allclose(found, squares - np.log(right))


def test_the_plain_one_does_not_look_at_the_outcome() -> None:
    X, y = runs(100)
    one, other = (fitted(Autoencoder, X, outcome, epochs=2) for outcome in (y, y[::-1].copy()))
    assert np.array_equal(one.transform(X), other.transform(X))


@pytest.mark.soak
def test_the_outcome_shapes_the_variational_one_if_asked() -> None:
    X, y = mixtures()
    unseen, truth = mixtures(seed=1)
    with_, without = (
        explained(
            fitted(Variational, X, y, epochs=20, downstream=share, width=2).transform(unseen), truth
        )
        for share in (1.0, 0.0)
    )
    assert with_ > without + 0.3


def test_a_heavier_divergence_pulls_the_means_together() -> None:
    X, y = runs(400)
    chosen = settings(epochs=10, width=3, downstream=0.0).embedding
    size = {}
    for weight in (0.01, 30.0):
        changed = chosen.model_copy(update={"divergence": weight})
        ready = network_rows(X, y, None, None, SPACE, 1, changed)
        network = variational(torch, ready, changed, 1)
        with torch.no_grad():
            said = network.through("encode", torch.tensor(ready.dense, dtype=torch.float32))
        size[weight] = float((said[:, :3] ** 2).mean())
    assert size[30.0] < 0.1 * size[0.01]


def test_a_fresh_process_without_torch_gives_the_same_bits(tmp_path: Path) -> None:
    X, y = runs(120)
    names = ("attention", "autoencoder", "vae")
    for name in names:
        front = embedder(name).fit(
            X, y, classes=None, weight=None, seed=1, settings=settings(epochs=2), features=SPACE
        )
        np.savez(tmp_path / f"{name}.npz", **front.arrays())  # type: ignore[arg-type]
        np.savez(tmp_path / f"{name}-rows.npz", X=X, Z=front.transform(X))
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np\n"
        "from compass.embed.base import embedder\n"
        f"for name in {names}:\n"
        "    rows = np.load(f'{name}-rows.npz')\n"
        "    front = embedder(name).restore(dict(np.load(f'{name}.npz')))\n"
        "    print(name, np.array_equal(front.transform(rows['X']), rows['Z']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{name} True" for name in names]


@pytest.mark.parametrize("kind", [Autoencoder, Variational])
def test_damaged_arrays_are_refused(kind: type) -> None:
    X, y = runs(60)
    arrays = fitted(kind, X, y, epochs=1).arrays()
    sizes = arrays["sizes"].copy()
    sizes[1] += 1
    for damage in (
        {"weights": arrays["weights"][:-1]},
        {"sizes": sizes},
        {"centre_out": arrays["centre_out"][:2]},
        {"weights": arrays["weights"] * np.nan},
    ):
        with pytest.raises(EngineProblem, match="damaged"):
            kind.restore(arrays | damage)
    del arrays["weights"]
    with pytest.raises(EngineProblem, match="damaged"):
        kind.restore(arrays)
