"""Caliper: .cali files, and the JSON that cali-query writes (json-split)."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compass import registry
from compass.readers import files
from compass.readers.profiles.base import Profile, ProfileReader, damaged
from compass.readers.profiles.caliper_metrics import Records, profile_of, scalar
from compass.readers.profiles.tree import Tree

_HIDDEN, _NESTED = 128, 256  # properties of an attribute
_NAME, _TYPE, _PROPERTIES = 8, 9, 10  # attributes that every file has
_TYPES = {0: "usr", 1: "int", 2: "uint", 3: "string", 4: "addr", 5: "double", 6: "bool", 7: "type"}
_NUMBERS = ("int", "uint", "double")
_FURTHEST = 64  # steps from an attribute to its type; real files have five
_MOST_VALUES = 2000  # values in one chain of nodes; a run's metadata has some fifty
_LONGEST_LINE = 16 << 20  # characters
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PARTS = re.compile(r"((?:[^\\,=]|\\.)*\\?)([,=]|$)", re.DOTALL)


@registry.add("reader", "caliper")
class Caliper(ProfileReader):
    """Caliper profiles: .cali files, and the JSON of cali-query -q '... format json-split'."""

    name = "caliper"
    suffixes = (".cali", ".json")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Records of Caliper, or JSON with Caliper's parts."""
        del path
        start = head.lstrip()
        if start.startswith(b"__rec="):
            return True
        return start.startswith(b"{") and (
            re.match(rb'\{\s*"data"\s*:\s*\[\s*\[', start) is not None
            or (b'"column_metadata"' in start and b'"columns"' in start)
        )

    def profile(self, path: Path) -> Profile:
        """The run that a file holds."""
        if not files.head(path).lstrip().startswith(b"{"):
            return profile_of(read_cali(path), path, self.options)
        from compass.readers.profiles.caliper_json import read_json_split

        return profile_of(read_json_split(path), path, self.options)


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: str
    properties: int
    unit: str | None
    alias: str | None


@dataclass(frozen=True)
class _Node:
    attribute: int
    data: str
    parent: int | None
    region: int  # of the tree of regions; -1 outside of all
    values: tuple[tuple[str, str, str], ...] = ()  # name, value, type of all but regions, to here


class _Cali:
    """A .cali file as it is read: its nodes, attributes, and records of regions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records = Records(Tree(), {}, {})
        self._nodes = {n: _Node(_TYPE, kind, None, -1) for n, kind in _TYPES.items()}
        self._nodes[11] = _Node(_TYPE, "ptr", None, -1)
        self._attributes: dict[int, _Attribute] = {}
        for number, name, kind in (
            (_NAME, "cali.attribute.name", 3),
            (_TYPE, "cali.attribute.type", 7),
            (_PROPERTIES, "cali.attribute.prop", 1),
        ):
            self._nodes[number] = _Node(_NAME, name, kind, -1)
            self._attributes[number] = _Attribute(name, _TYPES[kind], 0, None, None)

    def line(self, text: str) -> None:
        """Takes in one line of the file."""
        entries = _entries(text)
        match entries.get("__rec", [""])[0]:
            case "node":
                self._node(entries)
            case "ctx":
                self._context(entries)
            case "globals":
                for name, value, kind in self._expanded(entries):
                    self.records.about[name] = scalar(value, kind)
            case other:
                raise ValueError(f"'{other[:40]}' is not a kind of record")

    def _node(self, entries: dict[str, list[str]]) -> None:
        number, attribute = int(entries["id"][0]), int(entries["attr"][0])
        data = entries.get("data", [""])[0]
        parent = int(entries["parent"][0]) if "parent" in entries else None
        # Parents stand before their children, so that a path cannot run in a circle.
        if parent is not None and parent not in self._nodes:
            raise ValueError(f"node {number} stands below node {parent}, which is not there")
        if number in self._nodes:
            same = self._nodes[number]
            if (same.attribute, same.data, same.parent) != (attribute, data, parent):
                raise ValueError(f"node {number} stands in it twice")
            return
        above = self._nodes[parent] if parent is not None else None
        region, values = (above.region, above.values) if above is not None else (-1, ())
        if attribute == _NAME:
            made = self._attributes[number] = self._attribute(data, parent)
            self.records.declare(data, made.unit, made.alias)
        elif (known := self._attributes[attribute]).properties & _NESTED:
            region = self.records.tree.child(region, data)
        elif not known.properties & _HIDDEN:
            values = (*values, (known.name, data, known.kind))
            if len(values) > _MOST_VALUES:
                raise ValueError(f"more than {_MOST_VALUES} values belong together")
        self._nodes[number] = _Node(attribute, data, parent, region, values)

    def _attribute(self, name: str, parent: int | None) -> _Attribute:
        found: dict[str, str] = {}
        for _ in range(_FURTHEST):
            if parent is None:
                break
            node = self._nodes[parent]
            found.setdefault(self._attributes[node.attribute].name, node.data)
            parent = node.parent
        return _Attribute(
            name,
            found.get("cali.attribute.type", "string"),
            int(found.get("cali.attribute.prop", "0")),
            found.get("attribute.unit"),
            found.get("attribute.alias"),
        )

    def _context(self, entries: dict[str, list[str]]) -> None:
        region, rank = -1, ""
        for number in entries.get("ref", []):
            node = self._nodes[int(number)]
            region = node.region if node.region >= 0 else region
        values = {}
        for name, value, kind in self._expanded(entries):
            if name == "spot.channel" and value != "regionprofile":
                return  # the same time again, by iteration
            if name == "mpi.rank":
                rank = value
            elif kind in _NUMBERS:
                values[name] = float(value)
        self.records.add(region, rank, values)

    def _expanded(self, entries: dict[str, list[str]]) -> Iterator[tuple[str, str, str]]:
        """Name, value and type of what a record says besides its region."""
        for number in entries.get("ref", []):
            yield from self._nodes[int(number)].values
        for number, value in zip(entries.get("attr", []), entries.get("data", []), strict=True):
            attribute = self._attributes[int(number)]
            if not attribute.properties & _HIDDEN:
                yield attribute.name, value, attribute.kind


def _entries(line: str) -> dict[str, list[str]]:
    """`__rec=ctx,ref=4=2,attr=1,data=a\\,b` as {"__rec": ["ctx"], "ref": ["4", "2"], ...}."""
    if "\\" not in line:
        return {key: rest for key, *rest in (entry.split("=") for entry in line.split(","))}
    entries: dict[str, list[str]] = {}
    parts: list[str] = []
    for found in _PARTS.finditer(line):
        text = _ESCAPE.sub(lambda m: "\n" if m[1] == "n" else m[1], found[1])
        parts.append(text)
        if found[2] != "=":
            entries[parts[0]] = parts[1:]
            parts = []
            if not found[2]:
                break
    return entries


def read_cali(path: Path) -> Records:
    """The records of a .cali file."""
    read = _Cali(path)
    number = 0
    with files.opened(path) as stream, io.TextIOWrapper(stream, "utf-8") as text:
        # A longer line comes in pieces, which are then not a record.
        for number, line in enumerate(iter(lambda: text.readline(_LONGEST_LINE), ""), 1):
            try:
                if line.strip():
                    read.line(line.strip())
            except (ValueError, LookupError, TypeError) as problem:
                raise damaged(path, "caliper", f"line {number}: {problem!s}") from problem
    if not number:
        raise files.empty(path)
    return read.records
