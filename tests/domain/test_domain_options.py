"""Options of a question and of a fit: the same names and limits wherever they are given."""

import inspect

import pytest

import compass as cp
from compass.domain.base import valid
from compass.domain.errors import BadInput, QueryProblem
from compass.domain.options import (
    AskKeywords,
    AskOptions,
    FitKeywords,
    FitOptions,
    QueryKeywords,
    QueryOptions,
)
from compass.domain.query import Query


def keywords(function: object) -> list[str]:
    """The names that can only be given by name."""
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]


def test_a_call_takes_every_option_of_a_question() -> None:
    assert keywords(cp.Compass.ask) == list(AskOptions.model_fields)
    apart = ["run", "where"]
    assert apart + list(AskKeywords.__annotations__) == list(AskOptions.model_fields)
    assert apart + list(QueryKeywords.__annotations__) == list(QueryOptions.model_fields)


def test_an_engine_takes_every_option_of_a_fit() -> None:
    assert list(FitKeywords.__annotations__) == list(FitOptions.model_fields)
    assert set(FitOptions.model_fields) <= set(keywords(cp.Compass.__init__))
    assert set(FitOptions.model_fields) - {"rules"} <= set(cp.Settings.model_fields)


@pytest.mark.parametrize("name", QueryKeywords.__annotations__)
def test_a_query_has_every_option_with_the_same_meaning(name: str) -> None:
    assert Query.model_fields[name].description == QueryOptions.model_fields[name].description


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("count", (1, 1000), (0, 1001, True, "many")),
        ("seed", (0, 2**32 - 1), (-1, 2**32)),
        ("diversity", (0, 1000), (-0.1, 1000.1, float("nan"))),
        ("prove", (0, 3600), (-1, 3601, float("inf"))),
        ("level", (0.01, 0.99), (0, 1)),
    ],
)
def test_options_and_queries_have_the_same_limits(
    name: str, good: tuple[float, ...], bad: tuple[object, ...]
) -> None:
    for value in good:
        assert getattr(valid(QueryOptions, {name: value}), name) == value
        assert getattr(valid(Query, {"kind": "recommend", name: value}), name) == value
    for value in bad:
        with pytest.raises(QueryProblem) as one:
            valid(QueryOptions, {name: value})
        with pytest.raises(QueryProblem) as other:
            valid(Query, {"kind": "recommend", name: value})
        assert str(one.value) == str(other.value)


@pytest.mark.parametrize(("name", "bad"), [("seed", -1), ("keep", 0), ("keep", 1.1), ("tune", -1)])
def test_fit_options_and_settings_have_the_same_limits(name: str, bad: float) -> None:
    with pytest.raises(BadInput) as one:
        valid(FitOptions, {name: bad})
    with pytest.raises(BadInput) as other:
        valid(cp.Settings, {name: bad})
    assert str(one.value) == str(other.value)


def test_only_what_was_given_is_given() -> None:
    assert AskOptions().given() == {}
    assert AskOptions(weights={}).given() == {}
    options = AskOptions(run={}, count=2, prove=0, curve=("gpus",))
    assert options.given() == {"run": {}, "count": 2, "prove": 0, "curve": ("gpus",)}
    assert FitOptions(seed=0, rules=()).given() == {"seed": 0}
