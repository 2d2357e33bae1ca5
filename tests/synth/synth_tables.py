"""Small tables that tests learn from."""

import numpy as np

from compass.domain.space import Category, Number, Role, Space
from compass.rules import Domain
from compass.rules.domains import domain_of
from compass.synth.base import Floats


def plain(columns: dict[str, int], n: int = 0) -> Space:
    """A space of numbers (0) and categories with so many labels; the last is the outcome."""
    last = list(columns)[-1]
    made = []
    for name, levels in columns.items():
        role = Role.OUTCOME if name == last else Role.KNOB
        if levels:
            made.append(Category(name=name, role=role, values=tuple("abcdefgh"[:levels])))
        else:
            made.append(Number(name=name, role=role, low=-100.0, high=100.0))
    return Space(parameters=tuple(made))


def legal(space: Space) -> tuple[Domain, ...]:
    """The legal values of every column."""
    return tuple(domain_of(parameter) for parameter in space)


def nothing(rows: int, space: Space) -> Floats:
    """Rows of which no cell is given."""
    return np.full((rows, len(space)), np.nan)
