"""What the networks are made of: modes, conditional vectors, the pool that answers conditions."""

import numpy as np
import pytest
from synth_tables import legal, nothing, plain

import compass as cp
from compass.domain.errors import EngineProblem
from compass.domain.space import Number, Space
from compass.settings import SynthesisSettings
from compass.synth.base import Floats, silent
from compass.synth.conditions import conditions_of
from compass.synth.ctgan import Labels, TabularGAN
from compass.synth.modes import modes_of
from compass.synth.tvae import TabularVAE
from compass.testing.synthesizer import SETTINGS, runs, space

pytest.importorskip("torch")


def test_modes_are_found_where_they_are() -> None:
    rng = np.random.default_rng(0)
    column = np.concatenate([rng.normal(-5, 0.2, 700), rng.normal(3, 0.5, 300)])[:, None]
    one = Space(parameters=(Number(name="x", low=-10, high=10),))
    modes = modes_of(column, one, 10, 0)
    near = [int(np.abs(modes.means - centre).argmin()) for centre in (-5, 3)]
    assert modes.means[near] == pytest.approx([-5, 3], abs=0.2)
    assert modes.deviations[near] == pytest.approx([0.2, 0.5], abs=0.15)


def test_rows_become_numbers_for_networks_and_come_back() -> None:
    modes = modes_of(runs(), space(), 10, 0)
    matrix = modes.encode(runs(), np.random.default_rng(1))
    assert matrix.shape == (len(runs()), modes.width)
    for block in modes.blocks:
        assert (matrix[:, block.first : block.first + block.count].sum(axis=1) == 1).all()
    back = modes.decode(matrix)
    assert (back[:, 0] == runs()[:, 0]).all()
    assert (back[:, 2] == runs()[:, 2]).mean() > 0.95
    assert np.abs(back[:, 6] - runs()[:, 6]).mean() < 0.05 * runs()[:, 6].std()


def test_conditional_vectors_ask_for_rare_labels_more_often_than_they_are() -> None:
    two = plain({"kind": 2, "y": 0})
    X = np.column_stack([np.repeat([0.0, 1.0], [990, 10]), np.zeros(1000)])
    labels = Labels.of(two, X=X)
    asked = [
        labels.draw(5000, np.random.default_rng(0), log=log)[2].mean() for log in (False, True)
    ]
    assert asked[0] == pytest.approx(0.01, abs=0.006)
    assert 0.2 < asked[1] < 0.5


def two_kinds(n: int = 1500) -> Floats:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, n)
    return np.column_stack([kind, np.where(kind, 20.0, -20.0) + rng.normal(size=n)])


@pytest.mark.parametrize(("kind", "epochs"), [(TabularVAE, 120), (TabularGAN, 60)])
def test_a_network_learns_what_two_columns_have_to_do_with_each_other(
    kind: type[TabularGAN] | type[TabularVAE], epochs: int
) -> None:
    small = {"epochs": epochs, "batch": 100, "units": 64, "latent": 16}
    chosen = SynthesisSettings.model_validate(
        {"ctgan": {**small, "rate": 1e-3, "pack": 5}, "tvae": small, "modes": 3}
    )
    two = plain({"kind": 2, "y": 0})
    model = kind.fit(two_kinds(), two, seed=1, settings=chosen, tell=silent)
    drawn = model.rows(2000, np.random.default_rng(2))
    assert 0.3 < drawn[:, 0].mean() < 0.7
    assert ((drawn[:, 1] > 0) == (drawn[:, 0] == 1)).mean() > 0.9


def test_conditions_are_answered_from_a_pool_of_the_network_own_rows() -> None:
    model = TabularVAE.fit(runs(), space(), seed=1, settings=SETTINGS, tell=silent)
    pool = model._trees.rows
    assert len(pool) == SETTINGS.pool
    asked = conditions_of(space(), (), ["app == ft", "nodes <= 8"])
    drawn = model.sample(nothing(200, space()), asked.domains, np.random.default_rng(1))
    assert asked.met(drawn).all()
    assert all(np.isin(drawn[:, place], pool[:, place]).all() for place in range(7))
    free = model.sample(nothing(50, space()), legal(space()), np.random.default_rng(1))
    assert np.array_equal(free, model.rows(50, np.random.default_rng(1)))


def test_weights_of_other_layers_are_refused() -> None:
    model = TabularVAE.fit(runs(), space(), seed=1, settings=SETTINGS, tell=silent)
    arrays = model.arrays()
    name = next(key for key in arrays if key.startswith("weight."))
    with pytest.raises(EngineProblem):
        TabularVAE.restore({**arrays, name: arrays[name][:-1]}, space())
    with pytest.raises(EngineProblem):
        TabularVAE.restore({**arrays, "means": arrays["means"][:-1]}, space())


def test_a_model_of_a_network_draws_on_conditions_and_says_how_many_obeyed() -> None:
    columns = {"kind": np.where(two_kinds(200)[:, 0] > 0, "b", "a"), "y": two_kinds(200)[:, 1]}
    data = cp.read({name: column.tolist() for name, column in columns.items()})
    few = SynthesisSettings.model_validate({"tvae": {"epochs": 2, "units": 16}, "pool": 500})
    model = cp.synthesizer(data.roles(knobs=["kind"], outcomes=["y"]), "tvae", settings=few)
    drawn = model.sample(20, where=["kind == a"])
    assert set(drawn.table.column("kind").to_pylist()) == {"a"}
    assert drawn.report.rows == 20
