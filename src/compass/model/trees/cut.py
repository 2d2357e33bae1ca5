"""Ensembles cut down to fixed values, kept so that a repeated question does not cut again."""

from collections import OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from compass.model.trees.flat import FlatForest, specialise

Floats = NDArray[np.float64]

NODES = 3_000_000  # nodes kept of one model: some 130 MB, sixteen contexts of a large forest


class Cuts:
    """The cut-down forms of one ensemble; those not asked for longest go first."""

    def __init__(self, forest: FlatForest, nodes: int = NODES) -> None:
        self._forest = forest
        self._room = nodes
        self._kept: OrderedDict[bytes, FlatForest] = OrderedDict()
        self._used = 0
        self._lock = Lock()

    def at(self, fixed: Floats) -> FlatForest:
        """The ensemble for rows with these values; `fixed` float64[width], NaN where free."""
        fixed = np.asarray(fixed, dtype=np.float64)
        # One way to write each value: NaN has many forms, and 0 has two.
        key = np.where(np.isnan(fixed), np.nan, fixed + 0.0).tobytes()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        # Two threads may cut the same at once: that is slower, never wrong.
        cut = specialise(self._forest, fixed)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = cut
                self._used += cut.nodes
            while self._used > self._room and len(self._kept) > 1:
                _, old = self._kept.popitem(last=False)
                self._used -= old.nodes
            # The one just cut stays even if it is larger than the room: it is in use anyway.
            return self._kept.get(key, cut)
