"""TAU: a folder of profile.N.C.T files, or of MULTI__METRIC folders that hold them."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import numpy as np

from compass import registry
from compass.readers.profiles.base import (
    Floats,
    Folded,
    Over,
    Profile,
    ProfileReader,
    RunMetric,
    Scalar,
    chosen,
    damaged,
    in_seconds,
    reading,
    time_first,
)
from compass.readers.profiles.caliper_metrics import guessed

_FILE = re.compile(r"^profile\.(\d+)\.(\d+)\.(\d+)$")
_FIRST = re.compile(r"(\d+) templated_functions(?:_MULTI_(.+))?")
_VALUES = re.compile(r"([-+.\w]+)" + r" ([-+.\w]+)" * 4)
_CLOCKS = ("TIME", "GET_TIME_OF_DAY", "LINUX_TIMERS", "P_WALL_CLOCK_TIME", "CPU_TIME", "TAU_TIME")


@registry.add("reader", "tau")
class Tau(ProfileReader):
    """TAU profiles: the folder with profile.0.0.0, or with MULTI__* folders."""

    name = "tau"

    def sniff(self, path: Path, head: bytes) -> bool:
        """A file that TAU wrote for one thread."""
        del path
        return re.match(rb"\d+ templated_functions", head) is not None

    def claims_folder(self, folder: Path) -> bool:
        """A folder that a run with TAU left behind."""
        return bool(_metrics_in(folder))

    def profile(self, path: Path) -> Profile:
        """The run that the files of a folder describe; one file is a run of one thread."""
        found = _metrics_in(path) if path.is_dir() else {"": [path]}
        if not found:
            raise damaged(path, "tau", "it holds no profile.0.0.0")
        if list(found) == [""]:
            found = {_metric_of(found[""][0]): found[""]}
        files = {"time" if name in _CLOCKS else name: paths for name, paths in found.items()}
        names = time_first(["time" if name in _CLOCKS else name for name in found])
        about: dict[str, Scalar] = {}
        added: dict[str, _ByName] = {}
        for column, name in chosen(self.options, names, path).items():
            added[column] = _ByName(self.options.regions)
            for n, file in enumerate(files[name]):
                with reading(file, "tau"):
                    metadata = _take_in(file, added[column])
                # What differs from rank to rank does not describe the run.
                about = dict(metadata.items() & about.items()) if n else metadata
        regions = tuple(sorted({label for one in added.values() for label in one.values}))
        metrics = {}
        for column, one in added.items():
            unit = "us" if column in ("time", *_CLOCKS) or column.casefold() == "time" else None
            metrics[column] = one.measured(regions, unit)
        identities = [_identity(file) for file in next(iter(files.values()))]
        ordered: dict[str, Scalar] = {name: about[name] for name in sorted(about)}
        ordered["ranks"] = len({node for node, _, _ in identities})
        ordered["threads"] = len(identities)
        return Profile("", ordered, regions, metrics, tuple(names))


def _metrics_in(folder: Path) -> dict[str, list[Path]]:
    """The files of each metric in the order of ranks; "" where the files do not stand apart."""
    direct = _files(folder)
    if direct:
        return {"": direct}
    found = {}
    for inner in sorted(folder.glob("MULTI__*")):
        if inner.is_dir() and (files := _files(inner)):
            found[inner.name.removeprefix("MULTI__")] = files
    return found


def _files(folder: Path) -> list[Path]:
    return sorted((p for p in folder.glob("profile.*") if _FILE.match(p.name)), key=_identity)


def _identity(file: Path) -> tuple[int, int, int]:
    found = _FILE.match(file.name)
    if found is None:
        return 0, 0, 0
    node, context, thread = (int(n) for n in found.groups())
    return node, context, thread


def _metric_of(file: Path) -> str:
    with reading(file, "tau"), file.open("rb") as stream:
        found = _FIRST.fullmatch(stream.readline(4096).decode("utf-8", "replace").rstrip())
    if found is None:
        raise damaged(file, "tau", "its first line does not say how many functions follow")
    return found[2] or "TIME"


class _ByName:
    """Adds up the regions of one metric rank by rank."""

    def __init__(self, wanted: tuple[str, ...]) -> None:
        self.values: dict[str, Floats] = {}  # sum and max, inclusive and exclusive
        self._paths = tuple(label for label in wanted if "/" in label)
        self._total: list[float] = []

    def add(self, entries: Iterator[tuple[str, float, float]]) -> None:
        """The functions of one rank: name or call path, inclusive and exclusive value."""
        mine: dict[str, Floats] = {}
        total = 0.0
        for name, inclusive, exclusive in entries:
            path = [part.strip() for part in name.split(" => ")]
            labels = [path[0]] if len(path) == 1 else self._ends(path)
            for label in labels:
                mine[label] = mine.get(label, np.zeros(2)) + np.array([inclusive, exclusive])
            # Every function also has a line of its own; together those are the whole run.
            total += exclusive if len(path) == 1 else 0.0
        if total or any(pair.any() for pair in mine.values()):
            self._total.append(total)
        for label, pair in mine.items():
            known = self.values.setdefault(label, np.zeros((2, 2)))
            known[0] += pair
            known[1] = np.maximum(known[1], pair)

    def _ends(self, path: list[str]) -> list[str]:
        return [
            label for label in self._paths if path[-len(label.split("/")) :] == label.split("/")
        ]

    def measured(self, regions: tuple[str, ...], clock: str | None) -> RunMetric:
        """All ranks together."""
        factor, unit = in_seconds(clock)
        nothing = np.zeros((2, 2))
        values = np.array([self.values.get(r, nothing) for r in regions]).reshape(-1, 2, 2) * factor
        ranks = max(1, len(self._total))
        most, whole = max(self._total, default=0.0) * factor, sum(self._total) * factor
        folded: dict[Over, Folded] = {
            "max": (most, *values[:, 1].T),
            "mean": (whole / ranks, *(values[:, 0] / ranks).T),
            "sum": (whole, *values[:, 0].T),
        }
        return RunMetric.of(unit, folded)


def _take_in(file: Path, added: _ByName) -> dict[str, Scalar]:
    """Adds the functions of one file; the answer is its metadata."""
    lines = file.read_bytes().decode("utf-8", "replace").split("\n")
    first = _FIRST.fullmatch(lines[0].rstrip())
    if first is None:
        raise damaged(file, "tau", "its first line does not say how many functions follow")
    count = int(first[1])
    if len(lines) < count + 3:
        raise damaged(file, "tau", f"{count} functions should follow, but the file ends before")
    added.add(_functions(lines[2 : count + 2], file))
    start, end = lines[1].find("<metadata>"), lines[1].rfind("</metadata>")
    if start < 0:
        return {}
    if end < 0:
        raise damaged(file, "tau", "its metadata breaks off")
    return _metadata(lines[1][start : end + len("</metadata>")], file)


def _functions(lines: list[str], file: Path) -> Iterator[tuple[str, float, float]]:
    for number, line in enumerate(lines, 3):
        name, values = _function(line)
        if values is None:
            raise damaged(file, "tau", f"line {number} is not a function with its values")
        exclusive, inclusive = float(values[3]), float(values[4])
        if not np.isfinite([exclusive, inclusive]).all():
            raise damaged(file, "tau", f"line {number} holds a value that is not a number")
        yield name, inclusive, exclusive


def _function(line: str) -> tuple[str, re.Match[str] | None]:
    """The name and the values of `"name" calls calls-below exclusive inclusive 0 GROUP="group"`.

    Names may hold quotes: the last one before the values ends it.
    """
    bare = line.rstrip()
    if bare.endswith('"'):
        bare = bare.rpartition(' GROUP="')[0]
    name, _, values = bare.rpartition('" ')
    return name[1:], _VALUES.fullmatch(values) if name.startswith('"') else None


def _metadata(text: str, file: Path) -> dict[str, Scalar]:
    """The names and values of TAU's `<attribute><name>..</name><value>..</value></attribute>`.

    TAU's own settings (TAU_*) say nothing about the run.
    """
    pairs: dict[str, list[str]] = {"name": [], "value": []}
    inside: list[str] = []

    def start(tag: str, _: dict[str, str]) -> None:
        inside.append(tag)
        if tag in pairs:
            pairs[tag].append("")

    def data(found: str) -> None:
        if inside and inside[-1] in pairs:
            pairs[inside[-1]][-1] += found

    def refuse(*_: object) -> None:
        raise damaged(file, "tau", "its metadata declares an entity")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: inside.pop()
    parser.CharacterDataHandler = data
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as problem:
        raise damaged(file, "tau", f"its metadata is broken: {problem}") from problem
    return {
        name: guessed(value)
        for name, value in zip(pairs["name"], pairs["value"], strict=True)
        if name and name != "Metric Name" and not name.startswith("TAU_")
    }
