"""What the order of columns tells of their roles."""

import numpy as np

from compass.domain.space import Role
from compass.prepare import infer
from compass.readers import read

ROWS = 240
RNG = np.random.default_rng(5)
APP = RNG.choice(["amg", "comd", "ft"], ROWS)
TILE = RNG.choice([8, 16, 32, 64], ROWS)
UNROLL = RNG.choice([1, 2, 4], ROWS)
SECONDS = 90 / TILE**0.3 / UNROLL**0.2 * np.exp(0.02 * RNG.normal(size=ROWS))


def roles(**columns: np.ndarray) -> dict[str, Role]:
    space, _ = infer(read({name: cells.tolist() for name, cells in columns.items()}))
    return {one.name: one.role for one in space.parameters}


def test_labels_behind_results_are_no_settings() -> None:
    last = RNG.choice(["red", "green", "blue"], ROWS)
    joules = SECONDS * RNG.uniform(90, 110, ROWS)
    found = roles(
        app=APP, tile=TILE, unroll=UNROLL, runtime_s=SECONDS, energy_j=joules, vunkel=last
    )
    assert found["vunkel"] is Role.IGNORED
    assert roles(app=APP, vunkel=last, tile=TILE, runtime_s=SECONDS)["vunkel"] is Role.KNOB


def test_the_first_labels_say_what_was_run_where_nothing_else_does() -> None:
    assert roles(vunkel=APP, tile=TILE, runtime_s=SECONDS)["vunkel"] is Role.CONTEXT
    assert roles(vunkel=APP, app=APP[::-1], runtime_s=SECONDS)["vunkel"] is Role.KNOB


def test_settings_behind_results_keep_their_role() -> None:
    found = roles(runtime_s=SECONDS, threads=UNROLL, tile=TILE)
    assert (found["threads"], found["tile"]) == (Role.KNOB, Role.KNOB)


def test_causes_are_told_from_effects_by_what_they_go_along_with() -> None:
    first, second, third = RNG.random((3, ROWS))
    effect = first + second + 0.1 * RNG.random(ROWS)
    other = second + third + 0.1 * RNG.random(ROWS)
    found = roles(qa=first, qb=second, qc=third, qd=effect, qe=other)
    assert [found[name] for name in ("qa", "qb")] == [Role.KNOB] * 2
    assert [found[name] for name in ("qd", "qe")] == [Role.OUTCOME] * 2


def test_what_is_mostly_zero_was_counted() -> None:
    retries = np.where(RNG.random(ROWS) < 0.8, 0, RNG.integers(1, 9, ROWS))
    found = roles(tile=TILE, unroll=UNROLL, runtime_s=SECONDS, vunkel=retries)
    assert found["vunkel"] is Role.OUTCOME
