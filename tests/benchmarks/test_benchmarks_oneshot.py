from dataclasses import replace

import pytest

from benchmarks.oneshot import Shot, lost, show, spaces, tables
from benchmarks.roles import data_folder

SHOT = Shot(
    space="x",
    seed=0,
    rows=100,
    learnt=5,
    best_row=0.2,
    plain=0.5,
    plain_five=0.3,
    first=0.2,
    five=0.1,
    misses=1,
    suggestions=5,
    not_expected=True,
    seconds=0.1,
)


def test_the_best_of_five_must_be_below_both_references_on_the_mean() -> None:
    assert lost([SHOT, replace(SHOT, seed=1, five=0.2)]) == []
    assert lost([SHOT, replace(SHOT, seed=1, five=0.3)]) == ["x"]  # the same as the best row
    assert lost([replace(SHOT, plain=0.05)]) == ["x"]
    assert lost([SHOT, replace(SHOT, space="y", five=0.3)]) == ["y"]


def test_misses_are_told_as_a_share_of_the_suggestions() -> None:
    text = show([SHOT, replace(SHOT, seed=1, misses=0)])
    assert "10.0%" in text
    assert "20.0 ± 0.0" in text


def test_the_spaces_are_exhaustive_and_without_their_traps() -> None:
    found = {}
    for one in tables():
        if one.source.absent(data_folder()):
            pytest.skip("the public tables are not here")
        for space in spaces(one, data_folder()):
            found[space.name] = space
            assert len({row.tobytes() for row in space.X}) == len(space.X)
    sizes = {name: len(space.y) for name, space in found.items()}
    assert {sizes[f"convolution {gpu}"] for gpu in ("A100", "MI250X", "W6600")} == {4362}
    assert sizes["gemm RTX_3090"] == 17956 - 484
    assert "gemm RTX_3060_laptop" not in sizes
    assert sizes["syr2k XL"] == 10648 - 5
    assert found["syr2k XL"].y.min() > 1.5
