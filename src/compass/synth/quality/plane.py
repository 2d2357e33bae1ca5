"""Rows as points of a plane, to be looked at: principal components, or UMAP."""

from typing import Any, Literal, get_args

import numpy as np

from compass.domain.errors import EnvironmentProblem, unknown
from compass.execute.one_thread import one_thread
from compass.synth.base import Floats
from compass.synth.quality.dissimilarity import principal

Picture = Literal["pca", "umap"]
PCA, UMAP = "the first two principal components of the real rows", "UMAP of the real rows"
_NEIGHBOURS = 15  # UMAP's own
_MOST = 2000  # real rows that UMAP learns


def in_the_plane(
    whole: Floats, parts: tuple[Floats, ...], picture: str, seed: int
) -> tuple[tuple[Floats, ...], str]:
    """The points [m, 2] of rows [m, d] by a plane that all real rows [n, d] tell; and its name."""
    if picture not in get_args(Picture):
        raise unknown("picture", picture, get_args(Picture))
    if picture == "umap":
        return _umap(whole, parts, seed), UMAP
    axes = principal(whole)[1][:2]
    if len(axes) < 2:  # one column: its values against nothing
        return tuple(np.column_stack([part[:, 0], np.zeros(len(part))]) for part in parts), PCA
    return tuple(np.asarray(part @ axes.T) for part in parts), PCA


def _umap(whole: Floats, parts: tuple[Floats, ...], seed: int) -> tuple[Floats, ...]:
    umap = _library()
    rng = np.random.default_rng(seed)
    some = whole if len(whole) <= _MOST else whole[rng.choice(len(whole), _MOST, replace=False)]
    with one_thread():
        neighbours = min(_NEIGHBOURS, len(some) - 1)
        plane = umap.UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1).fit(some)
        return tuple(np.asarray(plane.transform(part), dtype=np.float64) for part in parts)


def _library() -> Any:
    try:
        import umap
    except ImportError:
        raise EnvironmentProblem(
            "this picture needs umap-learn, which is not installed",
            hint="pip install 'compass-hpc[umap]', or take pca",
        ) from None
    return umap
