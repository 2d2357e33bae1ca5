import numpy as np
import pytest

from compass.platforms.intervals import application_quantile


def test_every_application_counts_the_same() -> None:
    scores = np.concatenate([np.full(100, 1.0), [2.0], [3.0]])[:, None]
    names = np.array(["big"] * 100 + ["b", "c"])
    assert application_quantile(scores, names, 0.5) == 2.0  # level 2/3
    assert application_quantile(scores, names, 0.1) == 1.0
    assert application_quantile(scores, names, 0.9) == 3.0


def test_a_plain_search_finds_the_same() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random((60, 3))
    scores[rng.random((60, 3)) < 0.3] = np.nan
    names = rng.choice(["a", "b", "c", "d", "e"], 60)
    found = application_quantile(scores, names, 0.7)
    level = 0.7 * (1 + 1 / 5)
    own = [scores[names == n] for n in "abcde"]
    own = [values[np.isfinite(values)] for values in own]
    assert np.mean([np.mean(values < found) for values in own]) < level
    assert level <= np.mean([np.mean(values <= found) for values in own]) + 1e-12


def test_nothing_known_has_no_quantile() -> None:
    assert np.isnan(application_quantile(np.full((2, 1), np.nan), np.array(["a", "b"])))


def test_applications_not_seen_are_covered() -> None:
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(300):
        scale = np.repeat(rng.lognormal(0, 0.5, 21), 5)
        scores = np.abs(rng.normal(0, scale))[:, None]
        names = np.repeat([f"app{i}" for i in range(21)], 5)
        q = application_quantile(scores[:100], names[:100])
        inside.append((scores[100:] <= q).mean())
    assert np.mean(inside) == pytest.approx(0.92, abs=0.03)
