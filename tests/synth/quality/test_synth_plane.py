"""Rows as points of a plane: principal components by numpy's own, UMAP where it is installed."""

import sys

import numpy as np
import pytest

from compass.domain.errors import EnvironmentProblem, UnknownName
from compass.synth.quality.plane import PCA, in_the_plane


def rows() -> np.ndarray:
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(80, 4)) * [5.0, 2.0, 0.5, 0.1]
    return whole - whole.mean(axis=0)


def test_principal_components_are_those_of_the_covariance() -> None:
    whole = rows()
    (placed,), axes = in_the_plane(whole, (whole,), "pca", 1)
    assert axes == PCA
    variance = np.sort(np.linalg.eigvalsh(np.cov(whole.T)))[::-1][:2]
    assert placed.var(axis=0, ddof=1) == pytest.approx(variance)


def test_one_column_lies_on_a_line() -> None:
    (placed,), _ = in_the_plane(rows()[:, :1], (rows()[:5, :1],), "pca", 1)
    assert placed.shape == (5, 2)
    assert (placed[:, 1] == 0).all()


def test_without_its_extra_umap_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(EnvironmentProblem) as caught:
        in_the_plane(rows(), (rows(),), "umap", 1)
    assert "compass-hpc[umap]" in caught.value.hint


def test_another_picture_is_unknown() -> None:
    with pytest.raises(UnknownName, match="pcb"):
        in_the_plane(rows(), (rows(),), "pcb", 1)
