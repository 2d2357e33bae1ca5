"""Made-up tables for the tests of representations."""

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Space
from compass.settings import EmbeddingSettings, Settings

Floats = NDArray[np.float64]

SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=64),
        Category(name="app", values=("amg", "comd", "lulesh")),
        Number(name="cap", low=50, high=200, optional=True),
        Number(name="noise", low=0, high=1),
    )
)


def settings(**changed: float) -> Settings:
    """Default settings with some of the representation changed."""
    return Settings(embedding=EmbeddingSettings.model_validate(changed))


def runs(n: int = 400, seed: int = 0) -> tuple[Floats, Floats]:
    """Runs with numbers, a category and an optional number; noise says nothing."""
    rng = np.random.default_rng(seed)
    nodes = rng.choice([1.0, 2, 4, 8, 16, 32, 64], n)
    app = rng.integers(0, 3, n)
    cap = np.where(rng.random(n) < 0.3, SPACE.parameters[2].none_code, rng.uniform(50, 200, n))
    X = np.column_stack([nodes, app, cap, rng.random(n)]).astype(np.float64)
    slow = np.where(cap == SPACE.parameters[2].none_code, 1.0, 200 / np.maximum(cap, 50))
    return X, (10 + 20 * app) / nodes * slow * np.exp(rng.normal(0, 0.05, n))


def mixtures(n: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
    """Twelve noisy mixtures of two hidden causes; the outcome is the product of the causes."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 2))
    directions = np.random.default_rng(99).normal(size=(2, 12))
    X = causes @ directions + rng.normal(0, 0.3, (n, 12))
    return X, causes[:, 0] * causes[:, 1] + 0.5 * np.abs(causes[:, 1])


def explained(Z: Floats, y: Floats) -> float:
    """The share of the variance that a linear model explains on rows it has not seen."""
    from sklearn.linear_model import Ridge

    half = len(Z) // 2
    return float(Ridge().fit(Z[:half], y[:half]).score(Z[half:], y[half:]))
