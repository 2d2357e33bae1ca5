"""timemory: JSON with a tree (*.tree.json) or a list of regions, one file per metric."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from compass import registry
from compass.readers import files
from compass.readers.profiles.base import (
    Profile,
    ProfileReader,
    RunMetric,
    Scalar,
    chosen,
    damaged,
    reading,
    time_first,
)
from compass.readers.profiles.json_text import load_json
from compass.readers.profiles.tree import Groups, OverRanks, Tree

_START = re.compile(rb'^\s*\{\s*"timemory"\s*:\s*\{\s*"([^"]+)"')
_MARKS = re.compile(r"^(?:\|?\d*>>>\s*+)?(?:\[[^\]]*\]\s*+)?(?:\|_|\s)*")  # `>>> |_solve` is solve
_SOURCE = re.compile(r"@[^/@]*:\d+")  # the file and line in `solve@main.cpp:12/loop`
_LISTS = ("mpi", "upcxx", "process", "concurrency", "graph", "ranks")


@registry.add("reader", "timemory")
class Timemory(ProfileReader):
    """timemory's JSON: *.tree.json or the flat form; a folder of them is one run."""

    name = "timemory"
    suffixes = (".json",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """JSON that starts with timemory's name."""
        del path
        return _START.match(head) is not None

    def claims_folder(self, folder: Path) -> bool:
        """A folder in which each *.tree.json holds another metric: those belong to one run."""
        kinds = [_START.match(files.head(path)) for path in sorted(folder.glob("*.tree.json"))]
        names = [found[1] for found in kinds if found]
        return bool(names) and len(names) == len(set(names)) == len(kinds)

    def profile(self, path: Path) -> Profile:
        """The run that a file, or the files of a folder, describe."""
        paths = sorted(path.glob("*.tree.json")) if path.is_dir() else [path]
        tree = Tree()
        found: dict[str, tuple[Path, dict[str, Any]]] = {}
        for file in paths:
            with reading(file, "timemory"):
                whole = load_json(file)
                if not isinstance(whole, dict) or not isinstance(whole.get("timemory"), dict):
                    raise damaged(file, "timemory", "it does not start with timemory's name")
                for name, given in whole["timemory"].items():
                    if not isinstance(given, dict):
                        raise damaged(file, "timemory", f"'{name}' holds nothing")
                    found[str(name).lower()] = (file, given)
        names = time_first(list(found))
        wanted = chosen(self.options, names, path)
        ranks = {}
        for column, name in wanted.items():
            file, given = found[name]
            with reading(file, "timemory"):
                ranks[column] = [_nodes(rank, tree) for rank in _ranks(given, file)]
        if not len(tree):
            raise damaged(path, "timemory", "it holds no region")
        groups = Groups.of(tree, self.options.regions)
        metrics = {c: _measured(ranks[c], groups, found[n][1]) for c, n in wanted.items()}
        given = found[next(iter(wanted.values()))][1]
        about: dict[str, Scalar] = {"ranks": max(len(r) for r in ranks.values())}
        if isinstance(given.get("thread_count"), int):
            about["threads"] = given["thread_count"]
        return Profile("", about, groups.labels, metrics, tuple(names))


def _ranks(given: dict[str, Any], file: Path) -> Iterator[list[Any]]:
    """The regions of each process, as a tree or as a list with depths."""
    held = next((given[key] for key in _LISTS if isinstance(given.get(key), list)), None)
    if held is None:
        raise damaged(file, "timemory", "it holds no list of regions")
    for rank in held:
        if isinstance(rank, dict) and "graph" in rank:
            yield rank["graph"]
        elif isinstance(rank, list):
            yield rank
        else:
            yield held
            return


def _nodes(rank: list[Any], tree: Tree) -> dict[int, tuple[float, float]]:
    """Nodes of the tree with their inclusive and exclusive value (nan: not known)."""
    sums: dict[int, list[float]] = {}
    waiting = [(item, -1) for item in reversed(rank)]
    above: list[int] = []
    while waiting:
        item, parent = waiting.pop()
        nested = "node" in item
        node = item["node"] if nested else item
        if not nested:  # the list form: the depth tells what stands above
            depth = node["depth"]
            if not isinstance(depth, int) or not 0 <= depth <= len(above):
                raise ValueError(f"a region has the depth {depth}")
            del above[depth:]
            parent = above[-1] if above else -1
        name = str(node["prefix"])
        place = parent
        if not name.startswith("unknown-hash"):  # timemory's own root, without a name
            place = tree.child(parent, _SOURCE.sub("", _MARKS.sub("", name)) or name)
            pair = sums.setdefault(place, [0.0, 0.0])
            pair[0] += _value(node.get("inclusive", node))
            pair[1] += _value(node["exclusive"]) if "exclusive" in node else np.nan
        if not nested:
            above.append(place)
        waiting.extend((child, place) for child in reversed(item.get("children", [])))
    return {place: (inclusive, exclusive) for place, (inclusive, exclusive) in sums.items()}


def _value(node: dict[str, Any]) -> float:
    stats, entry = node.get("stats") or {}, node.get("entry") or {}
    value = stats.get("sum", entry.get("repr_data"))
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError("the metric is not one number per region")
    return float(value)


def _measured(
    ranks: list[dict[int, tuple[float, float]]], groups: Groups, given: dict[str, Any]
) -> RunMetric:
    added = OverRanks(groups)
    for rank in ranks:
        inclusive, exclusive = np.zeros(len(groups.parents)), np.zeros(len(groups.parents))
        for node, (inside, own) in rank.items():
            inclusive[node], exclusive[node] = inside, own
        added.add(inclusive, None if np.isnan(exclusive).any() else exclusive)
    unit = given.get("unit_repr")
    return added.measured(unit if isinstance(unit, str) else None)
