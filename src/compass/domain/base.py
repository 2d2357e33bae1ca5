"""What every noun shares: frozen, strict about unknown fields, one scalar type."""

from pydantic import BaseModel, ConfigDict

# What a cell can hold once it is read; None is the level `none` (a missing value that means
# something, such as "no power cap").
Value = bool | int | float | str | None
Config = dict[str, Value]


class Noun(BaseModel):
    """A frozen record that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")
