"""Configurations as vectors and back: numbers as they are, labels by their position."""

import math
import numbers as kinds
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compass.domain.base import Config, Value
from compass.domain.errors import BaselineProblem, unknown
from compass.domain.space import Category, Number, Space
from compass.prepare.base import Rows
from compass.prepare.cells import label_key, numbers, positions
from compass.readers import Table


class Encoder:
    """Turns configurations of one space into float64 vectors and back, without loss."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._labels = {p.name: _Labels(p) for p in space if isinstance(p, Category)}

    def encode_table(self, table: Table, rows: Rows | None = None) -> NDArray[np.float64]:
        """The rows of a table as float64[n, d]; NaN where a cell is missing or not a legal label.

        A missing cell of an optional parameter is its level `none`.
        """
        count = table.rows if rows is None else len(rows)
        encoded = np.empty((count, len(self.space)))
        for place, parameter in enumerate(self.space):
            column = table.column(parameter.name)
            if isinstance(parameter, Category):
                values = positions(column, parameter.values)
            else:
                values = numbers(column)
                values = np.where(np.isinf(values), np.nan, values)
                if parameter.optional:
                    values = np.where(np.isnan(values), parameter.none_code, values)
            encoded[:, place] = values if rows is None else values[rows]
        return encoded

    def encode(self, config: Mapping[str, Value], *, partial: bool = False) -> NDArray[np.float64]:
        """One configuration as float64[d]; with `partial`, NaN for parameters that are not named.

        A name that is not a parameter of this space is an error, so that no typing error is lost.
        """
        for name in config:
            if name not in self.space:
                raise unknown("column", name, self.space.names)
        lacking = [name for name in self.space.names if name not in config]
        if lacking and not partial:
            raise BaselineProblem(
                f"the configuration has no {', '.join(lacking)}",
                hint="give every parameter a value, or start from a past run",
            )
        encoded = np.full(len(self.space), np.nan)
        for place, parameter in enumerate(self.space):
            if parameter.name not in config:
                continue
            value = config[parameter.name]
            if isinstance(parameter, Category):
                encoded[place] = self._labels[parameter.name].position(value)
            else:
                encoded[place] = _encode_number(parameter, value)
        return encoded

    def decode(self, vector: ArrayLike) -> Config:
        """The configuration of a vector float64[d]; parameters that are NaN are left out."""
        values = np.asarray(vector, dtype=np.float64)
        return {
            parameter.name: decode_value(parameter, float(value))
            for parameter, value in zip(self.space, values, strict=True)
            if not math.isnan(value)
        }


def decode_value(parameter: Number | Category, value: float) -> Value:
    """What an encoded value means: a whole number, a number, a label, or None for `none`."""
    if isinstance(parameter, Category):
        return parameter.values[round(value)]
    if value == parameter.none_code:
        return None
    return int(value) if parameter.whole and value.is_integer() else value


def _encode_number(parameter: Number, value: Value) -> float:
    if value is None:
        if parameter.optional:
            return parameter.none_code
        raise BaselineProblem(
            f"{parameter.name} has no value",
            hint=f"give it a number, or keep its gaps (--missing {parameter.name}=none)",
        )
    if isinstance(value, bool | np.bool_) or not isinstance(value, kinds.Real):
        raise BaselineProblem(
            f"{parameter.name} must be a number, not {value!r}",
            hint=f"its values go from {parameter.low:g} to {parameter.high:g}",
        )
    number = float(value)
    if not math.isfinite(number):
        raise BaselineProblem(
            f"{parameter.name} must be a finite number, not {value}", hint="give it a plain number"
        )
    if number == parameter.none_code:
        raise BaselineProblem(
            f"{parameter.name} cannot be {number:g}: that number stands for `none`",
            hint=f"its values go from {parameter.low:g} to {parameter.high:g}",
        )
    return number


class _Labels:
    """Finds a label's position, as written or in another case."""

    def __init__(self, parameter: Category) -> None:
        self.name = parameter.name
        self.values = parameter.values
        self.exact = {label_key(value): i for i, value in enumerate(parameter.values)}
        self.folded: dict[str, list[int]] = {}
        for i, value in enumerate(parameter.values):
            if value is not None:
                self.folded.setdefault(str(value).casefold(), []).append(i)

    def position(self, value: Value) -> float:
        """The position of the label; an unknown one offers the nearest."""
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, float) and not math.isfinite(plain):
            raise BaselineProblem(
                f"{self.name} must be one of its labels, not {plain}", hint=self._some()
            )
        if plain is not None and not isinstance(plain, bool | int | float | str):
            raise BaselineProblem(
                f"{self.name} must be a label, not {type(plain).__name__}", hint=self._some()
            )
        found = self.exact.get(label_key(plain))
        if found is not None:
            return float(found)
        if plain is None:
            raise BaselineProblem(
                f"{self.name} has no value",
                hint=f"{self._some()}, or keep its gaps (--missing {self.name}=none)",
            )
        close = self.folded.get(str(plain).casefold(), [])
        if len(close) == 1:
            return float(close[0])
        known = [str(v) for v in self.values if v is not None]
        raise unknown(f"value of {self.name}", str(plain), known)

    def _some(self) -> str:
        shown = ", ".join(str(v) for v in self.values[:8] if v is not None)
        return f"its labels are {shown}" + (", ..." if len(self.values) > 8 else "")
