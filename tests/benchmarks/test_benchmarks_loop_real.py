"""A real experiment measured in pieces, on a program that is a law."""

import json
import time
from itertools import product
from pathlib import Path

import pytest

from benchmarks.loop import real


def law(config):
    return {"runtime": 1.0 + abs(float(config["tile"]) - 5) + float(config["threads"] == 1)}


def program(measure=law):
    values = {"threads": (1, 2), "tile": tuple(range(1, 21))}
    configs = tuple(dict(zip(values, one, strict=True)) for one in product(*values.values()))
    columns = {name: {"allowed": list(own)} for name, own in values.items()}
    plan = {"columns": columns, "goals": {"runtime": "minimize"}}
    return real.Program("law", plan, configs, measure)


def test_what_is_measured_in_pieces_is_measured_twice_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real, "BUDGET", 12)
    monkeypatch.setattr(real, "LIVE", 1)
    made: list[tuple[object, ...]] = []

    def counted(config):
        made.append(real.key(config))
        if len(made) == 30:
            raise KeyboardInterrupt
        return law(config)

    kept: dict = {}
    assert not real.measured(program(), kept, time.monotonic() - 1, tmp_path)
    assert kept["sweep"] == []
    with pytest.raises(KeyboardInterrupt):
        real.measured(program(counted), kept, float("inf"), tmp_path)
    assert len(kept["sweep"]) == 29
    kept = json.loads(json.dumps(kept))
    assert real.measured(program(counted), kept, float("inf"), tmp_path)
    assert sorted(place for place, _ in kept["sweep"]) == sorted([*range(40), *range(40)])
    assert len(kept["live"]) == real.LIVE
    again = real.as_kept("law", kept)
    known = real.swept(again, kept["sweep"])
    assert known == {real.key(one): law(one) for one in program().configs}
    told = real.studied(again, kept, 1, tmp_path)
    assert told["near"] == 1  # threads 2, tile 5
    (needed,) = told["needed"]["compass"]
    assert needed <= 12
    assert told["scatter"] == 0
    text = real.show(told)
    assert "law: 40 configurations, 1 within 5 % of the best" in text
    with pytest.raises(SystemExit, match="another machine"):
        real.measured(program(), {**kept, "limit": 3.0}, float("inf"), tmp_path)


def test_how_far_predictions_were_off() -> None:
    pairs = [(2.0, 1.0, 0.5, 2.5, "trusted"), (4.0, 5.0, 4.5, 6.0, "trusted")]
    assert real.error_row("trusted", pairs) == ("trusted", 2, "37.5%", "37.5%", "50%")
