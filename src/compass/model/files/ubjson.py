"""Universal Binary JSON, as XGBoost writes it to `.ubj`: the subset without optimised objects."""

from typing import Any

import numpy as np

_NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
_WORDS = {"Z": None, "T": True, "F": False}
_DEPTH = 200


def loads(content: bytes) -> Any:
    """The document as json.loads would give it; ValueError for anything else."""
    reader = _Reader(content)
    found = reader.value(reader.mark(), 0)
    if reader.place != len(content):
        raise ValueError("there is more after the document")
    return found


class _Reader:
    """A place in the bytes of a document."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def mark(self) -> str:
        """The next type mark."""
        while self._peek() == "N":  # no-operation
            self.place += 1
        found = self._peek()
        self.place += 1
        return found

    def value(self, mark: str, depth: int) -> Any:
        """The value that a mark announces."""
        if depth > _DEPTH:
            raise ValueError("too deep")
        if mark in _WORDS:
            return _WORDS[mark]
        if mark in _NUMBERS:
            return self._number(mark)
        if mark == "S":
            return self._take(self._length()).decode("utf-8")
        if mark == "C":
            return self._take(1).decode("ascii")
        if mark == "[":
            return self._array(depth)
        if mark == "{":
            return self._object(depth)
        raise ValueError(f"unknown mark {mark!r}")

    def _array(self, depth: int) -> list[Any]:
        kind = count = None
        if self._peek() == "$":
            self.place += 1
            kind = self.mark()
        if self._peek() == "#":
            self.place += 1
            count = self._length()
        if kind is not None:
            if kind not in _NUMBERS or count is None:
                raise ValueError("an array without a size")
            dtype = np.dtype(_NUMBERS[kind])
            found: list[Any] = np.frombuffer(self._take(count * dtype.itemsize), dtype).tolist()
            return found
        items: list[Any] = []
        while (count is None and self._peek() != "]") or (count is not None and len(items) < count):
            items.append(self.value(self.mark(), depth + 1))
        if count is None:
            self.place += 1
        return items

    def _object(self, depth: int) -> dict[str, Any]:
        count = None
        if self._peek() == "#":
            self.place += 1
            count = self._length()
        found: dict[str, Any] = {}
        while (count is None and self._peek() != "}") or (count is not None and len(found) < count):
            key = self._take(self._length()).decode("utf-8")
            if key in found:
                raise ValueError("a key stands twice")
            found[key] = self.value(self.mark(), depth + 1)
        if count is None:
            self.place += 1
        return found

    def _length(self) -> int:
        mark = self.mark()
        if mark not in "iUIlL":
            raise ValueError("a length that is no whole number")
        size = int(self._number(mark))
        if size < 0:
            raise ValueError("a negative length")
        return size

    def _number(self, mark: str) -> Any:
        dtype = np.dtype(_NUMBERS[mark])
        return np.frombuffer(self._take(dtype.itemsize), dtype)[0].item()

    def _take(self, size: int) -> bytes:
        if self.place + size > len(self.content):
            raise ValueError("the file is cut off")
        found = self.content[self.place : self.place + size]
        self.place += size
        return found

    def _peek(self) -> str:
        if self.place >= len(self.content):
            raise ValueError("the file is cut off")
        return chr(self.content[self.place])
