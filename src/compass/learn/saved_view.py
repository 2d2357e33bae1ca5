"""The past runs seen through some features as plain numbers and arrays, and back.

What takes long to find out is kept: the split, how far held-out runs are from the others, the
dependencies among the features, and how runs are sorted to find comparable ones. The rest follows
from the data, which is saved anyway.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, NonNegativeInt

from compass.domain.base import Noun
from compass.domain.mined import Mined
from compass.execute.arrays import checked, damaged, floats, whole
from compass.learn.dependencies import FoundDependencies
from compass.learn.features import FeatureView
from compass.prepare import Prepared
from compass.settings import Settings
from compass.trust.blocks import Blocks
from compass.trust.distance import Scale
from compass.trust.pairs.index import Sorting
from compass.trust.rank import Ranks
from compass.trust.support import Support

_ARRAYS = {
    "train": whole("train", least=0, below="runs", some=True),
    "valid": whole("valid", least=0, below="runs", some=True),
    "scale": floats("features", above=0),
    "column": whole("columns", least=0, below="features"),
    "kind": whole("columns", least=0, below=3),
    "centre": floats("columns"),
    "spread": floats("columns", above=0),
    "none": floats("columns", missing=True),
    "values": floats("ranked", least=0, ascending=True, some=True),
    "before": floats("ranked+1", least=0, ascending=True),
}
_SORTING = {
    "position": whole("distinct", least=0, below="distinct"),
    "order": whole("features", "distinct", dtype=np.int32, least=0, below="distinct"),
}


class StoredView(Noun):
    """One set of features; its arrays are in `file`."""

    features: tuple[str, ...] = Field(min_length=1)
    file: str = Field(pattern=r"^view-[0-9]+\.npz$")
    digest: str = Field(description="of the file, so that a damaged one is noticed")
    tau: FiniteFloat = Field(ge=0, description="the distance that counts as close")
    dependencies: tuple[Mined, ...] = Field(description="what holds among the features")
    configurations: NonNegativeInt = Field(description="different ones that they were found in")
    comparable: tuple[str, ...] | None = Field(
        description="what the runs are sorted by to find pairs; None: they are not"
    )


def stored_view(
    view: FeatureView, comparable: tuple[str, ...] | None, file: str, digest: str
) -> StoredView:
    """What is kept of a view beside its arrays; runs compare that agree in `comparable`."""
    found = view.dependencies
    return StoredView(
        features=view.names,
        file=file,
        digest=digest,
        tau=view.support.tau,
        dependencies=tuple(one.mined for one in found.found),
        configurations=found.configurations,
        comparable=comparable,
    )


def view_arrays(view: FeatureView, comparable: tuple[str, ...] | None) -> dict[str, NDArray[Any]]:
    """The arrays of a view."""
    sorting = {} if comparable is None else view.pair_index(comparable).sorting.arrays()
    scale, ranks = view.support.scale, view.support.ranks
    return {
        "train": view.train,
        "valid": view.valid,
        "scale": view.scale,
        "column": scale.column,
        "kind": scale.kind,
        "centre": scale.centre,
        "spread": scale.spread,
        "none": scale.none,
        "values": ranks.values,
        "before": ranks.before,
        **sorting,
    }


def restored_view(
    kept: StoredView,
    arrays: Mapping[str, NDArray[Any]],
    prepared: Prepared,
    everything: Prepared,
    settings: Settings,
) -> FeatureView:
    """The view, if its parts fit to each other and to the data of the engine."""
    what = "the saved view of the runs"
    if len(set(kept.features)) != len(kept.features) or any(
        name not in prepared.space for name in kept.features
    ):
        raise damaged(what, "its columns are not those of the data")
    space = prepared.space.select(kept.features)
    X = prepared.columns_of(kept.features)
    found, _ = checked(arrays, _ARRAYS, what, {"runs": len(X), "features": X.shape[1]})
    train, valid = found["train"], found["valid"]
    if not np.isfinite(X[train]).all() or not np.isfinite(X[valid]).all():
        raise damaged(what, "it holds runs that lack a value")
    supporting = prepared.citable(train)
    if not len(supporting):
        raise damaged(what, "none of its runs was measured")
    sortings = {}
    if kept.comparable is not None:
        sorting, _ = checked(arrays, _SORTING, what, {"features": X.shape[1]})
        sortings[kept.comparable] = Sorting(**sorting)
    scale = Scale(*(found[name] for name in ("column", "kind", "centre", "spread", "none")))
    support = Support(
        scale,
        Blocks.build(scale.kind, scale.place(X[supporting])),
        settings.trust.neighbours,
        Ranks(found["values"], found["before"]),
        kept.tau,
    )
    dependencies = FoundDependencies.known(kept.dependencies, kept.configurations, space)
    return FeatureView(
        prepared,
        everything,
        space,
        train,
        valid,
        X,
        support,
        found["scale"],
        settings.seed,
        dependencies,
        sortings,
    )
