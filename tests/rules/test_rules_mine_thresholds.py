"""Rules of number columns: planted ones are found, accidents are as rare as is stated."""

import numpy as np
import pytest

from compass.domain.space import Number, Role, Space
from compass.rules import mine
from compass.rules.mine import thresholds


def table(columns):
    parameters = tuple(
        Number(name=name, role=Role.KNOB, low=v.min(), high=v.max(), step=1)
        for name, v in columns.items()
    )
    return np.column_stack(list(columns.values())).astype(float), Space(parameters=parameters)


def blocks(rng, n):
    powers = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
    return rng.choice(powers, n), rng.choice(powers[:6], n), rng.choice([1, 2, 3, 4, 5, 6, 7], n)


def texts(columns):
    return [one.text for one in mine(*table(columns))]


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def test_both_ends_of_a_product_from_sixty_rows(rng):
    x, y, z = blocks(rng, 160)
    fine = (x * y <= 1024) & (x * y >= 32)
    columns = {"x": x[fine][:60], "y": y[fine][:60], "z": z[fine][:60]}
    assert sorted(texts(columns)) == ["x * y <= 1024", "x * y >= 32"]


def test_a_product_of_three(rng):
    x, y, z = (rng.choice([1, 2, 4, 8, 16], 900) for _ in range(3))
    fine = x * y * z <= 64
    found = texts({"x": x[fine], "y": y[fine], "z": z[fine]})
    assert "x * y * z <= 64" in found


def test_a_divisor_of_a_product(rng):
    x, y = rng.choice([1, 2, 3, 4, 6, 8, 16, 24, 32], 500), rng.choice([1, 2, 3, 4, 5, 8, 16], 500)
    fine = (x * y) % 16 == 0
    found = texts({"x": x[fine], "y": y[fine], "z": rng.integers(1, 9, fine.sum())})
    assert "x * y % 16 == 0" in found


def test_a_threshold_on_which_another_column_depends(rng):
    a, b, c = rng.integers(1, 31, 900), rng.integers(1, 9, 900), rng.integers(0, 5, 900)
    fine = (a <= 16) | (b <= 4)
    assert texts({"a": a[fine], "b": b[fine], "c": c[fine]})[-1:] == ["a > 16 -> b <= 4"]


def test_one_value_that_settles_another(rng):
    size, stride, other = rng.integers(1, 9, 400), rng.integers(0, 2, 400), rng.integers(0, 50, 400)
    stride[size == 1] = 0
    columns = {"tile_size_x": size, "tile_stride_x": stride, "other": other}
    found = texts(columns)
    assert len(found) == 1
    assert found[0] in (
        "tile_size_x == 1 -> tile_stride_x == 0",
        "tile_stride_x == 1 -> tile_size_x >= 2",
    )


def test_two_values_that_are_never_together(rng):
    a, b = rng.integers(1, 7, (2, 2000))
    c = rng.integers(1, 50, 2000)
    fine = (a != 3) | (b != 4)
    (one,) = mine(*table({"a": a[fine], "b": b[fine], "c": c[fine]}))
    assert one.text == "a == 3 -> b != 4"
    assert one.kind == "exclusion"
    assert one.rows == fine.sum()
    assert one.accident < 1e-3


def test_the_chance_of_an_accident_counts_all_that_was_tried(rng):
    x, y, z = blocks(rng, 160)
    fine = x * y <= 1024
    (one,) = mine(*table({"x": x[fine], "y": y[fine], "z": z[fine]}))
    d = 3
    tried = 3 * (
        3 * d * (d - 1) // 2 + 2
    )  # families; pairs of columns three ways, one triple twice
    assert one.accident == pytest.approx(tried * one.coincidence)


def test_on_unrelated_columns_rules_are_as_rare_as_their_chance_says(monkeypatch):
    """With 0.2 allowed for each of the two families, at most 40 % of the tables show a rule."""
    monkeypatch.setattr(thresholds, "ACCIDENT", 0.2)
    monkeypatch.setattr(thresholds, "_USUAL_FORM", 0.2)
    rng = np.random.default_rng(8)
    told = {"product": 0, "implication": 0, "exclusion": 0}
    tables = 120
    for _ in range(tables):
        columns = {name: rng.choice([1, 2, 4, 8, 16], 50) for name in "abcd"}
        for kind in {one.kind for one in mine(*table(columns)) if one.kind in told}:
            told[kind] += 1
    assert told["product"] / tables <= 0.2
    assert (told["implication"] + told["exclusion"]) / tables <= 0.2


def test_correlated_columns_are_no_thresholds(rng):
    a = rng.integers(1, 33, 800)
    b = np.clip(40 - a + rng.normal(0, 4, 800).round(), 1, 60).astype(int)
    found = mine(*table({"a": a, "b": b, "c": rng.integers(1, 9, 800)}))
    assert [one.text for one in found if one.kind in ("implication", "exclusion")] == []
