"""The sentence of an explanation says what the numbers say, in words that fit them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.explanation import Contribution, Scale
from compass.explain import sentence as say


def parts(scale: Scale, unit: str | None = None, **amounts: float) -> tuple[Contribution, ...]:
    found = []
    for name, amount in sorted(amounts.items(), key=lambda pair: -abs(pair[1])):
        share = say.share_text(scale, amount, unit)
        text = say.contribution_text(name, 4, None, False, None, share)
        found.append(Contribution(name=name, value=4, amount=amount, share=share, text=text))
    return tuple(found)


def test_factors() -> None:
    contributions = parts("factor", nodes=math.log(1.9), size=math.log(1.4), gpus=math.log(0.8))
    told = say.sentence(
        start=say.start("runtime", "41.2 s", "measured 39.8 s"),
        beside=say.number_beside("factor", 41.2, 17.9, "s", ""),
        contributions=contributions,
        even=False,
    )
    assert told == (
        "runtime is predicted 41.2 s (measured 39.8 s), 2.3 times the usual 17.9 s, "
        "mostly because nodes = 4 (x 1.9) and size = 4 (x 1.4); gpus = 4 (x 0.8) works against it."
    )


def test_amounts_and_one_run() -> None:
    contributions = parts("amount", "W", nodes=-90.0, cores=-12.0, gpus=30.0, app=25.0)
    told = say.sentence(
        start=say.start("power", "645 W"),
        beside=say.number_beside("amount", 645.0, 692.0, "W", "row 7"),
        contributions=contributions,
        even=False,
    )
    assert told == (
        "power is predicted 645 W, 47 W below the 692 W predicted for row 7, mostly because "
        "nodes = 4 (-90 W); gpus = 4 (+30 W) and app = 4 (+25 W) work against it."
    )


def test_many_small_reasons_are_called_so() -> None:
    many = parts("amount", **{f"c{i}": 1.0 for i in range(12)})
    told = say.sentence(start="y is predicted 12", beside="b", contributions=many, even=False)
    assert "among many small reasons because" in told
    assert told.count("(+1)") == 3


def test_parameters_that_cancel_do_not_explain_a_difference() -> None:
    told = say.sentence(
        start="y is predicted 5",
        beside="0.97 times the usual 5.1",
        contributions=parts("factor", up=1.0, down=-1.03),
        even=False,
    )
    assert told.endswith(": up = 4 (x 2.7) and down = 4 (x 0.36) work against each other.")
    assert "mostly" not in told


def test_nothing_differs_or_matters() -> None:
    ends = {(): "no parameter differs.", parts("amount", a=0.0): "no parameter makes a difference"}
    for contributions, end in ends.items():
        told = say.sentence(
            start="y is predicted 5", beside="b", contributions=contributions, even=True
        )
        assert end in told


@pytest.mark.parametrize(
    ("scale", "total", "usual", "where", "expected"),
    [
        ("probability", 0.4, 0.35, "", "against 35% on average"),
        ("probability", 0.01, 0.9, "row 3", "about 90% for row 3"),
        ("log-odds", math.log(4), 0.2, "", "with 4 times the usual odds"),
        ("log-odds", math.log(0.5), 0.2, "row 3", "with 0.5 times the odds of row 3"),
        ("log-odds", 0.001, 0.2, "", "with about the usual odds"),
    ],
)
def test_classes(scale: Scale, total: float, usual: float, where: str, expected: str) -> None:
    assert say.class_beside(scale, total, usual, where) == expected


@given(st.floats(-600, 600))
def test_a_factor_is_told_to_two_digits(logarithm: float) -> None:
    assert float(say.times(logarithm)) == pytest.approx(math.exp(logarithm), rel=0.051)


def test_values_are_told_as_a_person_reads_them() -> None:
    text = say.contribution_text("cap", 200, None, True, "W", "x 0.5")
    assert text == "cap none -> 200 W (x 0.5)"
