"""First runs are far apart."""

import numpy as np
from scipy.spatial.distance import pdist

from compass.acquire.loop.starts import spread


def test_starts_are_further_apart_than_random_ones():
    rng = np.random.default_rng(0)
    Z = rng.random((400, 3))
    places = spread(Z, 10, np.empty((0, 3)), np.random.default_rng(1))
    assert len(set(places.tolist())) == 10
    random = np.median([pdist(Z[rng.permutation(400)[:10]]).min() for _ in range(50)])
    assert pdist(Z[places]).min() > 1.5 * random


def test_starts_keep_away_from_what_was_run():
    Z = np.linspace(0, 1, 11)[:, None]
    assert spread(Z, 1, np.array([[0.0]]), np.random.default_rng(0)).tolist() == [10]


def test_no_more_than_there_are():
    Z = np.arange(3.0)[:, None]
    places = spread(Z, 5, np.empty((0, 1)), np.random.default_rng(0))
    assert sorted(places.tolist()) == [0, 1, 2]
    assert len(spread(Z[:0], 5, Z, np.random.default_rng(0))) == 0
