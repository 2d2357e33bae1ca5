"""What an ONNX file holds, read without any library: no other files, no unknown operators.

Only the skeleton of the format is followed (its field numbers never change): models, graphs,
nodes, attributes and tensors.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from compass.domain.errors import BadInput

STANDARD = ("", "ai.onnx", "ai.onnx.ml")
_DEPTH = 64
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_EXTERNAL = 1  # TensorProto.data_location
_PARTS = 20_000_000  # fields that are looked at: seconds of work

# Messages inside of messages, by the number of the field.
_INSIDE = {
    "model": {7: "graph", 25: "function"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
_NAMES = {"function": (10, 1), "node": (7, 4)}  # fields of the domain and of the name

Fields = Iterator[tuple[int, int | memoryview]]


class Unreadable(Exception):
    """Bytes that are no message."""


@dataclass
class Seen:
    """What was met on the way through a model."""

    parts: int = 0  # fields looked at so far
    outside: list[str] = field(default_factory=list)  # files that tensors are to be read from
    used: set[tuple[str, ...]] = field(default_factory=set)  # domain and operator of every node
    own: set[tuple[str, ...]] = field(default_factory=set)  # functions that the model defines

    def of(self, data: memoryview) -> Fields:
        """The fields of one message, all messages together up to a limit."""
        for number, value in fields(data):
            self.parts += 1
            if self.parts > _PARTS:
                raise Unreadable("it has too many parts")
            yield number, value


def fields(data: memoryview) -> Fields:
    """The fields of one message: number, and a whole number or bytes."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise Unreadable("a field without a number")
        if kind == _VARINT:
            value, place = _varint(data, place)
            yield number, value
            continue
        if kind == _BYTES:
            size, place = _varint(data, place)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise Unreadable("a field of an unknown kind")
        if place + size > len(data):
            raise Unreadable("a field is cut off")
        yield number, data[place : place + size]
        place += size


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if place >= len(data) or shift > 63:
            raise Unreadable("a number is cut off")
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7


def looks_like(content: bytes) -> bool:
    """Whether these bytes are an ONNX model: a version and a graph."""
    try:
        found = {number: type(value) for number, value in Seen().of(memoryview(content))}
    except Unreadable:
        return False
    return found.get(1) is int and found.get(7) is memoryview


def check(content: bytes, name: str) -> None:
    """Refuse a model that reads other files or needs operators that are not standard."""
    seen = Seen()
    try:
        _walk("model", memoryview(content), seen, -1)
    except Unreadable as error:
        raise BadInput(
            f"{name} is a damaged ONNX model: {error}", hint="save the model again"
        ) from None
    if seen.outside:
        raise BadInput(
            f"{name} wants to read its weights from another file: {seen.outside[0]!r}",
            hint="save the model with its weights inside: onnx.save(model, path,"
            " save_as_external_data=False)",
        )
    strange = sorted(
        ascii(f"{domain}.{operator}")
        for domain, operator in seen.used
        if domain not in STANDARD and (domain, operator) not in seen.own
    )
    if strange:
        raise BadInput(
            f"{name} needs operators that are not part of ONNX: {', '.join(strange[:5])}",
            hint="export it with the operators of ai.onnx and ai.onnx.ml only",
        )


def _walk(kind: str, data: memoryview, seen: Seen, depth: int) -> None:
    """Follow one message and all that are inside of it; `depth` counts graphs within graphs."""
    if kind == "tensor":
        _tensor(data, seen)
        return
    if depth > _DEPTH:
        raise Unreadable("graphs within graphs without end")
    inside, names = _INSIDE[kind], _NAMES.get(kind, ())
    found: dict[int, str] = {}
    for number, value in seen.of(data):
        if number in names:
            found[number] = _text(value)
        elif number in inside:
            into = inside[number]
            deeper = depth + (into in ("graph", "function"))
            _walk(into, _message(value), seen, deeper)
    if names:
        called = tuple(found.get(number, "") for number in names)
        (seen.used if kind == "node" else seen.own).add(called)


def _tensor(data: memoryview, seen: Seen) -> None:
    for number, value in seen.of(data):
        if number == 13:
            entry = {key: _text(text) for key, text in seen.of(_message(value))}
            if entry.get(1, "location") == "location":
                seen.outside.append(entry.get(2, ""))
        elif number == 14 and value == _EXTERNAL:
            seen.outside.append("")


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise Unreadable("a number where a message should be")
    return value


def _text(value: int | memoryview) -> str:
    return bytes(_message(value)).decode("utf-8", errors="replace")
