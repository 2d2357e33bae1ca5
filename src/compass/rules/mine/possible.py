"""What dependencies that are listed leave possible, value by value: the test of what they imply."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from compass.rules.functions import BoolArray, FloatArray

_VALUES = 256  # values of a column that are looked at; of more, some over the whole range
_CELLS = 1 << 18  # combinations of values of one dependency that are looked at


class Possible:
    """The values of columns, and which combinations of them the dependencies so far allow."""

    def __init__(self, values: Mapping[str, FloatArray]) -> None:
        self.values = {name: _some(found) for name, found in values.items()}
        self._allowed: list[tuple[tuple[str, ...], BoolArray]] = []
        self._of: dict[str, list[int]] = {}

    def add(
        self, names: Sequence[str], holds: Callable[[dict[str, FloatArray]], BoolArray]
    ) -> None:
        """Take a dependency into account, unless it has too many combinations of values."""
        if not all(name in self.values for name in names):
            return
        names = tuple(sorted(names))
        shape = tuple(len(self.values[name]) for name in names)
        if np.prod(shape, dtype=np.float64) > _CELLS:
            return
        grid = np.meshgrid(*(self.values[name] for name in names), indexing="ij", sparse=True)
        allowed = np.broadcast_to(holds(dict(zip(names, grid, strict=True))), shape)
        for number in self._of.get(names[0], ()):
            # As one they leave less than one after the other would.
            if self._allowed[number][0] == names:
                self._allowed[number] = names, self._allowed[number][1] & allowed
                return
        for name in names:
            self._of.setdefault(name, []).append(len(self._allowed))
        self._allowed.append((names, np.array(allowed)))

    def beside(self, name: str, value: float) -> dict[str, BoolArray]:
        """Which values of every other column remain where one column has this value.

        Each dependency is applied to the values that the others leave, until nothing changes.
        """
        left = {name: self.values[name] == value}
        waiting = list(self._of.get(name, ()))
        while waiting:
            names, allowed = self._allowed[waiting.pop()]
            for axis, column in enumerate(names):
                if column in left:
                    shape = [-1 if i == axis else 1 for i in range(len(names))]
                    allowed = allowed & left[column].reshape(shape)
            for axis, column in enumerate(names):
                others = tuple(i for i in range(len(names)) if i != axis)
                remains = allowed.any(axis=others)
                before = left.get(column)
                if before is None or (remains != before).any():
                    left[column] = remains
                    waiting += [i for i in self._of[column] if i not in waiting]
        return left

    def together(self, a: str, b: str) -> BoolArray:
        """Which pairs of values [a, b] single dependencies leave."""
        found = np.ones((len(self.values[a]), len(self.values[b])), dtype=np.bool_)
        for number in self._of.get(a, ()):
            names, allowed = self._allowed[number]
            if b in names:
                rest = tuple(i for i, name in enumerate(names) if name not in (a, b))
                pair = allowed.any(axis=rest)
                found &= pair if names.index(a) < names.index(b) else pair.T
        return found


def _some(values: FloatArray) -> FloatArray:
    if len(values) <= _VALUES:
        return values
    return values[np.linspace(0, len(values) - 1, _VALUES).astype(np.intp)]
