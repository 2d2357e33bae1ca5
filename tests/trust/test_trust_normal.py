"""The normal distribution against scipy's."""

import numpy as np
from scipy.special import ndtr

from compass.trust.normal import below


def test_shares_below_are_scipys() -> None:
    z = np.concatenate([np.linspace(-37, 37, 2001), [-np.inf, np.inf, 0.0]])
    np.testing.assert_allclose(below(z), ndtr(z), rtol=1e-12, atol=0)
    assert np.isnan(below(np.array([np.nan]))).all()


def test_shapes_stay() -> None:
    z = np.arange(6.0).reshape(2, 3)
    assert below(z.T).shape == (3, 2)
    assert np.array_equal(below(z.T), below(z).T)
