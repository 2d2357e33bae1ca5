"""What is said about columns that are there and not used."""

import numpy as np
import pytest

import compass as cp
from compass.domain.errors import UnknownName


def test_a_column_that_follows_another_names_it() -> None:
    rng = np.random.default_rng(1)
    nodes = rng.choice([1, 2, 4, 8], 60)
    limit = rng.choice([30, 60, 120], 60)
    time = 100 / nodes + rng.random(60)
    data = cp.read(
        {
            "nodes": nodes,
            "Timelimit": [f"{m // 60:02d}:{m % 60:02d}:00" for m in limit],
            "TimelimitRaw": limit,
            "runtime_s": time,
            "runtime_ms": 1000 * time,
        }
    )
    engine = cp.Compass(data)
    with pytest.raises(UnknownName) as caught:
        engine.recommend(goals={"runtime_ms": cp.minimize})
    assert "says the same as runtime_s (1000 * runtime_s)" in caught.value.message
    assert "ask for runtime_s instead" in caught.value.hint
    with pytest.raises(UnknownName) as caught:
        engine.reconfigure(0, change={"TimelimitRaw": 60})
    assert "ask for Timelimit instead" in caught.value.hint
    assert caught.value.message.count("Timelimit / 60") == 1
