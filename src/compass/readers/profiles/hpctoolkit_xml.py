"""HPCToolkit databases of version 2: experiment.xml, and one .metric-db file per thread."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from compass.domain.errors import DataProblem
from compass.readers.profiles.base import (
    Floats,
    Folded,
    Over,
    Profile,
    ProfileOptions,
    RunMetric,
    Scalar,
    chosen,
    damaged,
    in_seconds,
    reading,
    time_first,
)
from compass.readers.profiles.tree import Groups, OverRanks, Tree, sums

_MAGIC = b"HPCPROF-metricdb__"
_NAME = re.compile(
    r"^(?P<name>.*?)(?: \((?P<unit>[^()]*)\))?(?::(?P<over>\w+))?(?: \((?P<kind>[IE])\))?$"
)
_RANK_THREAD = re.compile(r"-(\d+)-(\d+)-[0-9a-f]+-\d+-\d+\.metric-db$")
_WAYS: dict[str, Over] = {"Sum": "sum", "Mean": "mean", "Max": "max"}
_CODE = ("PF", "Pr", "P", "A")  # elements that are functions; an A is one that was inlined


class _Experiment:
    """What stands in experiment.xml, gathered while it is parsed."""

    def __init__(self) -> None:
        self.title = ""
        self.summaries: dict[str, tuple[str, str | None, Over]] = {}  # id: metric, unit, way
        self.by_thread: dict[str, tuple[str | None, int, int]] = {}  # metric: unit, place, of
        self.procedures: dict[str, str] = {}
        self.tree = Tree()
        self.numbers: list[int] = []  # of each tree node, in the .metric-db files
        self.places: list[int] = []
        self.values: dict[str, dict[int, float]] = {}
        self._open: list[int] = []
        self._function: list[int] = [-1]

    def start(self, tag: str, given: Mapping[str, str]) -> None:
        """An element opens."""
        if tag == "Header":
            self.title = given.get("n", "")
        elif tag == "Metric":
            self._summary(given)
        elif tag == "MetricDB" and given.get("t") == "inclusive":
            name, unit, _ = split_title(given["n"])
            self.by_thread[name] = (unit, int(given["db-id"]), int(given["db-num-metrics"]))
        elif tag == "Procedure":
            self.procedures[given["i"]] = given["n"]
        elif tag in _CODE:
            self._enter(given)
        elif tag == "M" and self._function[-1] >= 0 and self._open[-1] == self._function[-1]:
            at = self.values.setdefault(given["n"], {})
            # Two frames of one name and caller are one node here.
            at[self._function[-1]] = at.get(self._function[-1], 0.0) + float(given["v"])
        if tag in _CODE:
            self._open.append(self._function[-1])
        elif tag != "M":
            self._open.append(-2)

    def end(self, tag: str) -> None:
        """An element closes."""
        if tag != "M":
            self._open.pop()
        if tag in _CODE:
            self._function.pop()

    def _summary(self, given: Mapping[str, str]) -> None:
        name, unit, way = split_title(given["n"])
        if given.get("t") == "inclusive" and (way in _WAYS or way == ""):
            self.summaries[given["i"]] = (name, unit, _WAYS.get(way, "sum"))

    def _enter(self, given: Mapping[str, str]) -> None:
        name = given.get("n", "")
        node = self.tree.child(self._function[-1], self.procedures.get(name, name))
        self._function.append(node)
        if "i" in given:
            self.numbers.append(int(given["i"]))
            self.places.append(node)


def split_title(title: str) -> tuple[str, str | None, str]:
    """`CPUTIME (usec):Sum (I)` as name, unit and the way over ranks."""
    found = _NAME.match(title)
    if found is None:
        return title, None, ""
    return found["name"], found["unit"], found["over"] or ""


def read_experiment(folder: Path, options: ProfileOptions) -> Profile:
    """The run that an experiment.xml and the .metric-db files beside it describe."""
    path = folder / "experiment.xml"
    with reading(path, "hpctoolkit"):
        found = _parse(path)
        if not len(found.tree):
            raise damaged(path, "hpctoolkit", "it holds no call path")
        groups = Groups.of(found.tree, options.regions)
        threads = sorted(folder.glob("*.metric-db"))
        about: dict[str, Scalar] = {"program": found.title} if found.title else {}
        if threads and found.by_thread:
            ids = [m.groups() for file in threads if (m := _RANK_THREAD.search(file.name))]
            about["ranks"] = len({rank for rank, _ in ids}) or len(threads)
            about["threads"] = len(threads)
            names = time_first(list(found.by_thread))
            metrics = _from_threads(found, groups, threads, chosen(options, names, path))
        else:
            names = time_first(list(dict.fromkeys(name for name, *_ in found.summaries.values())))
            wanted = chosen(options, names, path)
            metrics = {c: _from_summary(found, groups, name) for c, name in wanted.items()}
    return Profile("", about, groups.labels, metrics, tuple(names))


def _parse(path: Path) -> _Experiment:
    found = _Experiment()
    parser = expat.ParserCreate()
    parser.StartElementHandler = found.start
    parser.EndElementHandler = found.end
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def refuse(*declared: Any) -> None:
        raise DataProblem(
            f"{path} declares the entity '{declared[0]}'",
            hint="HPCToolkit writes no entities; the file may be meant to do harm",
        )

    parser.EntityDeclHandler = refuse
    try:
        with path.open("rb") as stream:
            parser.ParseFile(stream)
    except expat.ExpatError as problem:
        raise damaged(path, "hpctoolkit", str(problem)) from problem
    return found


def _from_threads(
    found: _Experiment, groups: Groups, threads: list[Path], wanted: Mapping[str, str]
) -> dict[str, RunMetric]:
    added = {column: OverRanks(groups) for column in wanted}
    numbers, places = np.array(found.numbers, np.int64), np.array(found.places, np.int64)
    for file in threads:
        with reading(file, "hpctoolkit"):
            table = _metric_db(file)
            if numbers.max(initial=0) > len(table) or numbers.min(initial=1) < 1:
                raise damaged(file, "hpctoolkit", "it does not fit experiment.xml")
            for column, name in wanted.items():
                _, place, count = found.by_thread[name]
                if table.shape[1] != count or not 0 <= place < count:
                    raise damaged(file, "hpctoolkit", "it does not fit experiment.xml")
                values = sums(places, table[numbers - 1, place], len(found.tree))
                added[column].add(values, None)
    return {c: added[c].measured(found.by_thread[name][0]) for c, name in wanted.items()}


def _metric_db(file: Path) -> Floats:
    """The values of one thread: a row per node of the tree, a column per metric."""
    content = file.read_bytes()
    start = len(_MAGIC) + 6  # the version, and a letter for the order of bytes
    if not content.startswith(_MAGIC) or len(content) < start + 8:
        raise damaged(file, "hpctoolkit", "it does not start as a .metric-db file")
    order = ">" if content[start - 1 : start] == b"b" else "<"
    nodes, metrics = (int(n) for n in np.frombuffer(content, f"{order}u4", 2, start))
    body = content[start + 8 :]
    if not metrics or len(body) != nodes * metrics * 8:
        raise damaged(
            file, "hpctoolkit", f"{nodes} x {metrics} values do not fit its {len(body)} bytes"
        )
    values = np.frombuffer(body, f"{order}f8").reshape(nodes, metrics).astype(np.float64)
    if not np.isfinite(values).all():
        raise damaged(file, "hpctoolkit", "it holds values that are not numbers")
    return values


def _from_summary(found: _Experiment, groups: Groups, wanted: str) -> RunMetric:
    folded: dict[Over, Folded] = {}
    unit = None
    for number, (name, text, way) in found.summaries.items():
        if name != wanted:
            continue
        factor, unit = in_seconds(text)
        nodes = np.zeros(len(found.tree))
        for node, value in found.values.get(number, {}).items():
            nodes[node] = value * factor
        # The own share of the busiest rank does not follow from the maxima; it only ranks regions.
        folded[way] = groups.fold(nodes, groups.exclusive(nodes))
    return RunMetric.of(unit, folded)
