"""Options of a question and of a fit: the same names and limits wherever they are given."""

import inspect
from typing import Any

import pytest

import compass as cp
from compass.domain.base import valid
from compass.domain.errors import BadInput, QueryProblem, UnknownName
from compass.domain.option import LOSS_TERMS
from compass.domain.options import (
    AskKeywords,
    AskOptions,
    FitKeywords,
    FitOptions,
    QueryKeywords,
    QueryOptions,
)
from compass.domain.query import Query
from compass.settings import LossWeights


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
        ("loss", ({"valid": 0.0}, {"diversity": 1000.0}), ({"valid": -1}, {"valid": 1001}, 3)),
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


@pytest.mark.parametrize("make", [valid, lambda noun, given: noun(**given)])
def test_a_term_that_the_loss_has_not_is_refused(make: Any) -> None:
    for noun, given in ((QueryOptions, {}), (Query, {"kind": "recommend"})):
        with pytest.raises(UnknownName, match="no term of the loss named 'valdi'") as problem:
            make(noun, {**given, "loss": {"valdi": 1}})
        assert problem.value.hint == "did you mean valid?"


def test_the_weight_of_diversity_is_given_once() -> None:
    with pytest.raises(QueryProblem, match="diversity is given twice") as problem:
        Query(kind="recommend", diversity=1, loss={"diversity": 1})
    assert problem.value.hint.startswith("give it once")
    assert Query(kind="recommend", diversity=1, loss={"valid": 2}).loss == {"valid": 2}


def test_the_terms_of_the_loss_are_those_of_the_settings() -> None:
    assert tuple(LossWeights.model_fields) == LOSS_TERMS


def test_only_what_was_given_is_given() -> None:
    assert AskOptions().given() == {}
    assert AskOptions(weights={}, loss={}).given() == {}
    options = AskOptions(run={}, count=2, prove=0, curve=("gpus",))
    assert options.given() == {"run": {}, "count": 2, "prove": 0, "curve": ("gpus",)}
    assert FitOptions(seed=0, rules=()).given() == {"seed": 0}
