"""Judgements of configurations that are asked for more than once in one question."""

from collections.abc import Callable

import numpy as np

from compass.generate.base import Bools, Floats
from compass.prepare.split import configurations


def remembered(judge: Callable[[Floats], Bools]) -> Callable[[Floats], Bools]:
    """The same judge of configurations X [n, d], who looks at each of them once."""
    known: dict[int, bool] = {}

    def judged(X: Floats) -> Bools:
        keys = configurations(X).tolist()
        new = [place for place, key in enumerate(keys) if key not in known]
        if new:
            found = judge(X[new]).tolist()
            known.update(zip((keys[place] for place in new), found, strict=True))
        return np.array([known[key] for key in keys], dtype=np.bool_)

    return judged
