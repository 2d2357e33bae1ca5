"""First runs: far from each other and from what was run, among legal configurations."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def spread(Z: Floats, count: int, made: Floats, rng: np.random.Generator) -> Places:
    """Positions of up to `count` rows of Z [m, p], each as far as can be from all before it.

    `made` [k, p] is what was run or is being run; without any, the first is drawn.
    """
    count = min(count, len(Z))
    if not count:
        return np.empty(0, dtype=np.int64)
    chosen: list[int] = []
    if len(made):
        away = np.min([((Z - one) ** 2).sum(axis=1) for one in made], axis=0)
    else:
        chosen.append(int(rng.integers(len(Z))))
        away = ((Z - Z[chosen[0]]) ** 2).sum(axis=1)
    # Of equally far ones a drawn one: corners would all be on one side otherwise.
    turn = 1e-9 * rng.random(len(Z))
    away[chosen] = -1.0
    while len(chosen) < count:
        place = int(np.argmax(away + turn))
        chosen.append(place)
        away = np.minimum(away, ((Z - Z[place]) ** 2).sum(axis=1))
        away[chosen] = -1.0
    return np.array(chosen, dtype=np.int64)
