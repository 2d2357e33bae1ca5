"""What every noun shares: frozen, strict about unknown fields, one scalar type."""

import reprlib
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

# As SQLModel does: pydantic has no public name for the class of its classes.
from pydantic._internal._model_construction import ModelMetaclass

from compass.domain.errors import BadInput, shortened

# What a cell can hold once it is read; None is the level `none` (a missing value that means
# something, such as "no power cap").
Value = bool | int | float | str | None
Config = dict[str, Value]
Kept = TypeVar("Kept", bound="Noun")


def scalar(value: Any) -> Any:
    """A number, text or truth value of numpy as one of Python; anything else as it is."""
    # By the name of the module: numpy itself is not imported where nobody uses it.
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return value.item()
    return value


def _not_a_flag(value: Any) -> Any:
    plain = scalar(value)
    if isinstance(plain, bool):
        raise ValueError("a number is needed, not true or false")
    return plain


# True counts as 1 in Python, but nobody who writes `count=True` means one suggestion.
Whole = Annotated[int, BeforeValidator(_not_a_flag)]
Real = Annotated[float, BeforeValidator(_not_a_flag), Field(allow_inf_nan=False)]


class Noun(BaseModel):
    """A frozen record that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class _InputMeta(ModelMetaclass):
    """Turns pydantic's error into the error that the class names when it is called by a person.

    Only calls: data that is validated as a whole (a file, a request) has errors of its own, which
    say where the mistake is.
    """

    def __call__(self, *values: Any, **fields: Any) -> Any:
        if values:
            names = ", ".join(self.model_fields)  # type: ignore[attr-defined]
            raise BadInput(
                f"the fields of {self.__name__} are given by name", hint=f"its fields are: {names}"
            )
        try:
            return super().__call__(**{name: scalar(value) for name, value in fields.items()})
        except ValidationError as error:
            raise input_problem(error, self.problem) from None  # type: ignore[attr-defined]


class Input(Noun, metaclass=_InputMeta):
    """A noun that people make themselves; what is wrong with it is a `BadInput`."""

    problem: ClassVar[type[BadInput]] = BadInput


def valid(noun: type[Kept], given: Mapping[str, Any]) -> Kept:
    """A noun made from a mapping; a wrong field is a `BadInput` that says which and why."""
    try:
        return noun.model_validate(given)
    except ValidationError as error:
        raise input_problem(error, noun.problem if issubclass(noun, Input) else BadInput) from None


def input_problem(error: ValidationError, problem: type[BadInput] = BadInput) -> BadInput:
    """The first mistake of a validation as an error: where it is, what is wrong, what it was."""
    first = error.errors(include_url=False)[0]
    steps = [str(step) for step in first["loc"]]
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if steps[-1:] == ["bool"] and first["type"].startswith("bool"):  # the first kind of a `Value`
        steps.pop()
        message = "should be a number, a text, true, false or none"
    if first["type"] in _NOT_OF_A_KIND:
        message = "is not of a kind that can stand here"
    place = ".".join(shortened(step) for step in steps)
    return problem(
        f"{place}: {message}" if place else message, hint=f"it was {shown(first['input'])}"
    )


_NOT_OF_A_KIND = {"union_tag_not_found", "union_tag_invalid", "model_attributes_type"}


def shown(value: Any) -> str:
    """What a person gave, as it is repeated in an error."""
    # Not all of a large or deep thing is written out only to be cut again.
    return shortened(value if isinstance(value, str) and value else reprlib.repr(value))
