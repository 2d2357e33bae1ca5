"""The options of a question and of a fit: one noun each for Python, HTTP and batches."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from pydantic import AfterValidator, Field

from compass.domain import option
from compass.domain.base import Input, Real, Whole
from compass.domain.errors import BadInput, QueryProblem, unknown
from compass.domain.option import Option

Dependencies = Literal["keep", "ignore"]


def field(about: Option, default: Any = None, **narrower: Any) -> Any:
    """The field of an option, with its description and limits, or narrower ones."""
    return Field(default, description=about.description, **(about.limits | narrower))


def _known_terms(weights: dict[str, float]) -> dict[str, float]:
    for name in weights:
        if name not in option.LOSS_TERMS:
            raise unknown("term of the loss", name, option.LOSS_TERMS)
    return weights


# Weights of terms of the loss, by name.
LossTerms = Annotated[
    dict[str, Annotated[Real, Field(**option.LOSS.limits)]], AfterValidator(_known_terms)
]


class _Options(Input):
    def given(self) -> dict[str, Any]:
        """The options that were given, by name."""
        return {name: value for name, value in self if value is not None and value != ()}


class QueryOptions(_Options):
    """What may be given besides a question; it adds to what the question says."""

    problem: ClassVar[type[BadInput]] = QueryProblem

    run: int | dict[str, Any] | None = field(option.RUN)
    where: tuple[str, ...] = field(option.WHERE, ())
    count: Whole | None = field(option.COUNT)
    seed: Whole | None = field(option.SEED)
    weights: dict[str, Real] | None = field(option.WEIGHTS)
    reference: dict[str, Real] | None = field(option.REFERENCE)
    diversity: Real | None = field(option.DIVERSITY)
    loss: LossTerms | None = Field(None, description=option.LOSS.description)
    prove: Real | None = field(option.PROVE)
    level: Real | None = field(option.LEVEL)
    chance: Real | None = field(option.CHANCE)
    beyond: bool | None = field(option.BEYOND)
    dependencies: Dependencies | None = field(option.DEPENDENCIES)
    generator: str | None = field(option.GENERATOR)

    def given(self) -> dict[str, Any]:
        """The options that were given, by name; no weights are as if not given."""
        weights = ("weights", "reference", "loss")
        return {n: v for n, v in super().given().items() if n not in weights or v}


class AskOptions(QueryOptions):
    """The options of a question that is answered: with curves."""

    curve: tuple[str, ...] = field(option.CURVE, ())


class FitOptions(_Options):
    """How models are learnt; what is not given is as in the settings."""

    rules: tuple[str, ...] = field(option.RULES, ())
    surrogate: str | None = field(option.SURROGATE)
    generator: str | None = field(option.GENERATOR)
    seed: Whole | None = field(option.SEED)
    keep: Real | None = field(option.KEEP)
    reducer: str | None = field(option.REDUCER)
    tune: Real | None = field(option.TUNE)
    represent: str | None = field(option.REPRESENT)


class QueryKeywords(TypedDict, total=False):
    """Options of a question as keywords of a call, for type checkers and editors.

    `run` and `where` are not among them: calls name them themselves.
    """

    count: int | None
    seed: int | None
    weights: Mapping[str, float] | None
    reference: Mapping[str, float] | None
    diversity: float | None
    loss: Mapping[str, float] | None
    prove: float | None
    level: float | None
    chance: float | None
    beyond: bool | None
    dependencies: Dependencies | None
    generator: str | None


class AskKeywords(QueryKeywords, total=False):
    """The options of a question that is answered, as keywords of a call."""

    curve: Iterable[str]


class FitKeywords(TypedDict, total=False):
    """The options of a fit, as keywords of a call."""

    rules: Iterable[str]
    surrogate: str | None
    generator: str | None
    seed: int | None
    keep: float | None
    reducer: str | None
    tune: float | None
    represent: str | None
