"""Sequential attention: what it learns, what it looks at, and that rows stay on their own."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from embed_laws import SPACE, explained, mixtures, runs, settings

from compass import registry
from compass.domain.errors import EngineProblem
from compass.embed.attention import Attention, AttentionEmbedding, owners, trained
from compass.embed.base import Embedder, Embedding, embedder
from compass.embed.forward import attended
from compass.embed.train import dense, network_rows
from compass.model.base import Task
from compass.model.recipe import Recipe
from compass.prepare.design import Design

torch = pytest.importorskip("torch")


@cache
def learnt() -> AttentionEmbedding:
    X, y = runs(400)
    found = Attention.fit(
        X, y, classes=None, weight=None, seed=1, settings=settings(epochs=20), features=SPACE
    )
    assert isinstance(found, Embedding)
    assert isinstance(Attention, Embedder)
    return found


@pytest.mark.parametrize("steps", [1, 3])
def test_the_arrays_give_what_the_trained_network_gives(steps: int) -> None:
    X, y = runs(300)
    chosen = settings(epochs=6, steps=steps, width=5).embedding
    ready = network_rows(X, y, None, None, SPACE, 1, chosen)
    network = trained(torch, ready, chosen, 1)
    for name, tensor in network.state.items():
        network.state[name] = tensor.detach().double()
    with torch.no_grad():
        decided, masks = network(torch.from_numpy(ready.dense), learning=False)
    out, shared, strength = attended(
        ready.dense, owners(ready.design), network.folded(), chosen.relax
    )
    np.testing.assert_allclose(out, decided.numpy(), atol=1e-5)
    assert shared.shape == (300, steps, 4)
    for step, mask in enumerate(masks):
        np.testing.assert_allclose(shared[:, step], mask.numpy(), atol=1e-5)
    np.testing.assert_allclose(strength.sum(axis=1), decided.sum(dim=1).numpy(), atol=1e-5)


def test_masks_and_importance_are_shares() -> None:
    X, _ = runs(200, seed=5)
    masks, importance = learnt().masks(X), learnt().importance(X)
    assert masks.shape == (200, 3, 4)
    assert (masks >= 0).all()
    np.testing.assert_allclose(masks.sum(axis=2), 1, atol=1e-9)
    assert (masks == 0).mean() > 0.2  # most columns get no attention in a step
    assert importance.shape == (200, 4)
    assert (importance >= 0).all()
    np.testing.assert_allclose(importance.sum(axis=1), 1, atol=1e-9)


def test_importance_is_the_masks_by_what_their_steps_decided() -> None:
    X, _ = runs(50, seed=6)
    front = learnt()
    _, masks, strength = attended(
        dense(front.design, X), owners(front.design), front.layers, float(front.layers["relax"][0])
    )
    strength[strength.sum(axis=1) == 0] = 1.0
    truth = np.einsum("ns,nsd->nd", strength, masks) / strength.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(front.importance(X), truth, atol=1e-12)


def test_it_looks_at_the_columns_that_matter() -> None:
    X, _ = runs(300, seed=5)
    share = learnt().importance(X).mean(axis=0)
    assert share[3] == share.min()
    assert share[3] < 0.1
    assert share[0] > 0.1


def test_a_category_and_the_level_none_are_attended_to_as_a_whole() -> None:
    X, _ = runs(50)
    assert owners(Design.of(X, SPACE)).tolist() == [0, 1, 1, 1, 2, 2, 3]


def test_every_batch_and_every_thread_gives_the_same_bits() -> None:
    X, _ = runs(257, seed=3)
    front = learnt()
    whole, why = front.transform(X), front.importance(X)
    with ThreadPoolExecutor(4) as pool:
        for size in (1, 2, 3, 7, 64, 256):
            pieces = [X[at : at + size] for at in range(0, len(X), size)]
            assert np.array_equal(np.vstack(list(pool.map(front.transform, pieces))), whole)
            assert np.array_equal(np.vstack(list(pool.map(front.importance, pieces))), why)


def test_classes_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    label = ((X[:, 0] * X[:, 1]) > 0).astype(np.float64)
    front = Attention.fit(X, label, classes=2, weight=None, seed=1, settings=settings(epochs=20))
    unseen = rng.normal(size=(1000, 3))
    truth = ((unseen[:, 0] * unseen[:, 1]) > 0).astype(np.float64)
    assert explained(unseen, truth) < 0.05
    assert explained(front.transform(unseen), truth) > 0.4


def test_damaged_arrays_are_refused() -> None:
    arrays = learnt().arrays()
    for name in ("first", "later_bias", "attend", "centre_out", "levels"):
        cut = arrays[name][..., :-1]
        with pytest.raises(EngineProblem, match="damaged"):
            Attention.restore(arrays | {name: np.ascontiguousarray(cut)})
    with pytest.raises(EngineProblem, match="damaged"):
        Attention.restore(arrays | {"first": arrays["first"] * np.nan})
    with pytest.raises(EngineProblem, match="damaged"):
        Attention.restore({name: arrays[name] for name in arrays if name != "relax"})


@pytest.mark.parametrize("log", [False, True])
def test_a_recipe_with_attention_in_front_fits_restores_and_predicts_the_same(log: bool) -> None:
    X, y = runs(200)
    family = "linear" if "linear" in registry.everything("surrogate") else "forest"
    recipe = Recipe(family=family, embedding="attention", log=log)
    model = recipe.fit(
        X, y, task=Task(), weight=None, seed=1, settings=settings(epochs=10), features=SPACE
    )
    unseen, _ = runs(100, seed=9)
    again = recipe.restore(recipe.arrays(model), Task())
    assert np.array_equal(model.predict(unseen), again.predict(unseen))
    assert np.array_equal(model.spread(unseen), again.spread(unseen))
    single = np.vstack([model.predict(unseen[[row]]) for row in range(len(unseen))])
    assert np.array_equal(single, model.predict(unseen))


def test_a_linear_model_behind_attention_is_better_on_noisy_mixtures() -> None:
    if "linear" not in registry.everything("surrogate"):
        pytest.skip("there is no linear family")
    X, y = mixtures(600)
    unseen, truth = mixtures(seed=1)
    given = {"task": Task(), "weight": None, "seed": 1, "settings": settings(epochs=20)}
    miss = [
        float(np.mean((recipe.fit(X, y, **given).predict(unseen)[:, 0] - truth) ** 2))  # type: ignore[arg-type]
        for recipe in (Recipe(family="linear"), Recipe(family="linear", embedding="attention"))
    ]
    assert miss[1] < 0.5 * miss[0]


def test_all_are_found_by_name() -> None:
    assert {"attention", "autoencoder", "vae"} <= registry.everything("embedding").keys()
    assert embedder("attention") is Attention
