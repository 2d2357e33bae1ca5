"""Many suggestions at once: as many as are asked for, where there are so many."""

import numpy as np

import compass as cp
from conftest import QUICK


def test_as_many_suggestions_as_are_asked_for() -> None:
    rng = np.random.default_rng(5)
    nodes, threads, tile = (rng.integers(1, 65, 1500) for _ in range(3))
    seconds = 900 / (nodes * threads) ** 0.5 + 0.1 * np.abs(tile - 32)
    columns = {"nodes": nodes, "threads": threads, "tile": tile}
    data = cp.read(
        {**{n: v.tolist() for n, v in columns.items()}, "seconds": seconds.tolist()},
        study={"columns": {"seconds": {"role": "outcome"}}},
    ).roles(knobs=[*columns], outcomes=["seconds"])
    engine = cp.Compass(data, settings=QUICK)
    usual = float(np.median(seconds))
    answer = engine.recommend([*columns], {"seconds": cp.at_most(2 * usual)}, count=300, prove=0)
    assert len(answer) == 300
    assert len({tuple(one.config.values()) for one in answer}) == 300
