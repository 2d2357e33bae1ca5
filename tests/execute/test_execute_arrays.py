"""Arrays from files: only what was described is let through."""

from typing import Any

import numpy as np
import pytest

from compass.domain.errors import EngineProblem
from compass.execute.arrays import checked, flags, floats, texts, under, whole

EXPECTED = {
    "points": floats("rows", "width"),
    "weight": floats("rows", above=0),
    "place": whole("rows", least=0, below="width"),
    "more": floats("rows+1", ascending=True, infinite=True, least=0),
    "gaps": floats(2, missing=True),
    "yes": flags(1),
    "link": texts(1, among=("identity", "exp")),
}


def good() -> dict[str, np.ndarray]:
    return {
        "points": np.arange(6.0).reshape(3, 2),
        "weight": np.ones(3),
        "place": np.array([0, 1, 1]),
        "more": np.array([0.0, 1.0, 1.0, np.inf]),
        "gaps": np.array([np.nan, 1.0]),
        "yes": np.array([True]),
        "link": np.array(["exp"]),
        "another": np.zeros(7),
    }


def test_what_fits_is_given_back_with_its_sizes() -> None:
    found, sizes = checked(good(), EXPECTED, "the model", {"width": 2})
    assert sizes == {"width": 2, "rows": 3}
    assert set(found) == set(EXPECTED)
    turned = good() | {"points": np.asfortranarray(good()["points"])}
    again = checked(turned, EXPECTED, "the model")[0]["points"]
    assert again.flags.c_contiguous
    assert np.array_equal(again, good()["points"])


@pytest.mark.parametrize(
    ("name", "wrong", "why"),
    [
        ("points", np.zeros((3, 3)), r"shape \(3, 3\)"),
        ("points", np.zeros(6), "shape"),
        ("points", np.zeros((3, 2), np.float32), "another type: float32"),
        ("points", np.zeros((3, 2), ">f8"), "another type"),
        ("points", np.full((3, 2), np.nan), "no number"),
        ("points", np.full((3, 2), np.inf), "infinite"),
        ("weight", np.ones(2), "shape"),
        ("weight", np.array([1.0, 0.0, 1.0]), "outside of its range"),
        ("place", np.array([0, 1, 2]), "outside of its range"),
        ("place", np.array([0, 1, -1]), "outside of its range"),
        ("place", np.array([0, 1, 2**63 - 1]), "outside of its range"),
        ("place", np.array([0, 1, 1], np.int32), "another type"),
        ("more", np.zeros(3), "shape"),
        ("more", np.array([0.0, 2.0, 1.0, 3.0]), "not in order"),
        ("more", np.array([0.0, np.nan, 1.0, 3.0]), "no number"),
        ("gaps", np.array([np.nan, -np.inf]), "infinite"),
        ("yes", np.array([1]), "another type"),
        ("yes", np.array(True), "shape"),
        ("link", np.array(["probit"]), "unknown text"),
        ("link", np.array([2**31 - 1], np.uint32).view("U1"), "unknown text"),  # no letter at all
        ("link", np.array([1]), "another type"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, wrong: Any, why: str) -> None:
    with pytest.raises(EngineProblem, match=f"the model is damaged: its array {name} .*{why}") as e:
        checked(good() | {name: wrong}, EXPECTED, "the model", {"width": 2})
    assert e.value.hint


def test_what_is_missing_is_named() -> None:
    arrays = good()
    del arrays["place"], arrays["link"]
    with pytest.raises(EngineProblem, match="it lacks place, link"):
        checked(arrays, EXPECTED, "the model")


def test_an_empty_array_is_refused_where_something_must_be() -> None:
    expected = {"points": floats("rows", 2, some=True)}
    with pytest.raises(EngineProblem, match="points is empty"):
        checked({"points": np.zeros((0, 2))}, expected, "the model")


def test_arrays_under_a_prefix() -> None:
    arrays = {"a/b": np.zeros(1), "a/c/d": np.ones(1), "ab": np.ones(2)}
    assert set(under(arrays, "a/")) == {"b", "c/d"}
