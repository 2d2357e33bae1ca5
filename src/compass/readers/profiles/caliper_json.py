"""The JSON of `cali-query -q "... format json-split"`: a table of records and a tree of names."""

from pathlib import Path
from typing import Any

from compass.readers.profiles.base import damaged
from compass.readers.profiles.caliper_metrics import Records, guessed
from compass.readers.profiles.json_text import load_json
from compass.readers.profiles.tree import Tree

_PARTS = ("data", "columns", "column_metadata", "nodes")


def read_json_split(path: Path) -> Records:
    """The records of a json-split file."""
    whole = load_json(path)
    if not isinstance(whole, dict) or not all(isinstance(whole.get(p), list) for p in _PARTS):
        raise damaged(path, "caliper", "it lacks data, columns, column_metadata or nodes")
    about = {
        str(name): guessed(value) if isinstance(value, str) else value  # numbers stand as text
        for name, value in whole.items()
        if name not in _PARTS and isinstance(value, str | int | float | bool)
    }
    columns = [str(name) for name in whole["columns"]]
    records = Records(Tree(), about, {})
    is_value = []
    for column, given in zip(columns, whole["column_metadata"], strict=True):
        is_value.append(bool(given.get("is_value")))
        records.declare(column, given.get("attribute.unit"), given.get("attribute.alias"))
    where = _path_column(columns, is_value, whole["nodes"])
    regions = _grow(records.tree, whole["nodes"])
    ranks = columns.index("mpi.rank") if "mpi.rank" in columns else None
    for row in whole["data"]:
        at = row[where]
        values = {
            name: float(cell)
            for n, (name, cell, value) in enumerate(zip(columns, row, is_value, strict=True))
            if value and n != ranks and isinstance(cell, int | float)
        }
        rank = "" if ranks is None or row[ranks] is None else str(row[ranks])
        records.add(-1 if at is None else regions[_index(at)], rank, values)
    return records


def _path_column(columns: list[str], is_value: list[bool], nodes: list[Any]) -> int:
    """The column that says where in the call tree a record was taken."""
    if "path" in columns:
        return columns.index("path")
    nested = {str(node.get("column")) for node in nodes if node.get("parent") is not None}
    places = [n for n, value in enumerate(is_value) if not value]
    for n in places:
        if columns[n] in nested:
            return n
    if not places:
        raise ValueError("no column holds regions")
    return places[0]


def _grow(tree: Tree, nodes: list[Any]) -> list[int]:
    made: list[int] = []
    for number, node in enumerate(nodes):
        parent = node.get("parent")
        if parent is not None and not 0 <= _index(parent) < number:
            raise ValueError(f"node {number} stands below node {parent}, which is not there")
        made.append(tree.child(-1 if parent is None else made[parent], str(node["label"])))
    return made


def _index(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not the number of a node")
    return value
