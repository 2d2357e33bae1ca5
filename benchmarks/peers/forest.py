"""The forest that every tool is asked about, grown by scikit-learn in whatever environment."""

from typing import Any

import numpy as np

from benchmarks.peers.case import Case


def grow(case: Case) -> Any:
    """The RandomForestRegressor of a case: same rows, same seed, same trees everywhere."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(
        n_estimators=case.trees, max_depth=case.depth, random_state=case.seed, n_jobs=1
    )
    # Equal weights are not the same as none: scikit-learn then draws its samples another way.
    return forest.fit(case.X, case.y, sample_weight=np.ones(len(case.y)))
