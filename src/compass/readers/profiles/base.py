"""What every profile reader makes of a run: regions, metrics put together over ranks, metadata."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.errors import BadInput, CompassError, DataProblem, unknown
from compass.readers.files import cannot_open

Floats = NDArray[np.float64]
Scalar = bool | int | float | str
Over = Literal["max", "mean", "sum"]  # how the ranks or threads of a run become one number
Folded = tuple[float, Floats, Floats]  # the total, and inclusive and exclusive values by region

OVER: tuple[Over, ...] = get_args(Over)  # in the order of preference where nobody chooses
_SECONDS = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6, "µs": 1e-6, "ns": 1e-9, "nsec": 1e-9,
}  # fmt: skip


@dataclass(frozen=True)
class ProfileOptions:
    """What to keep of a profile: which metrics, which regions, and how ranks are put together.

    No metrics: the profile's time. No regions: the `top` most expensive that all runs have. A
    region is a name (`solve`) or the end of a call path (`solve/MPI_Wait`). No `ranks`: the first
    of max, mean and sum that all runs know.
    """

    metrics: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    ranks: Over | None = None
    top: int = 8

    def __post_init__(self) -> None:
        for what in ("metrics", "regions"):
            given = getattr(self, what)
            if isinstance(given, str) or not all(isinstance(n, str) and n.strip() for n in given):
                raise BadInput(f"{what} must be a list of names", hint='e.g. ("time", "cycles")')
            object.__setattr__(self, what, tuple(dict.fromkeys(given)))
        if self.ranks is not None and self.ranks not in OVER:
            raise unknown("way to put ranks together", str(self.ranks), OVER)
        if self.top < 0:
            raise BadInput(f"cannot keep {self.top} regions", hint="top is 0 or more")


@dataclass(frozen=True)
class RunMetric:
    """One metric of one run, by region; each dictionary holds the ways over ranks that are known.

    `total` is the value of the whole run, None where a total has no meaning.
    """

    unit: str | None
    total: Mapping[Over, float]
    inclusive: Mapping[Over, Floats]
    exclusive: Mapping[Over, Floats]

    @classmethod
    def of(cls, unit: str | None, folded: Mapping[Over, Folded]) -> Self:
        """The metric whose total, inclusive and exclusive values are these for each way."""
        total = {way: found[0] for way, found in folded.items()}
        inclusive = {way: found[1] for way, found in folded.items()}
        exclusive = {way: found[2] for way, found in folded.items()}
        return cls(unit, total, inclusive, exclusive)


@dataclass(frozen=True)
class Profile:
    """One run: what is known about it, its regions, and the metrics that were asked for."""

    run: str
    about: Mapping[str, Scalar]
    regions: tuple[str, ...]
    metrics: Mapping[str, RunMetric]
    available: tuple[str, ...] = field(default=())  # every metric the file has, by name


class ProfileReader:
    """A profile format: one path is one run, and a set of paths becomes one row per run."""

    name: str = ""
    suffixes: tuple[str, ...] = ()

    def __init__(self, options: ProfileOptions | None = None) -> None:
        self.options = options or ProfileOptions()

    def with_options(self, options: ProfileOptions) -> Self:
        """The same reader with another choice of metrics, regions and ranks."""
        return type(self)(options)

    def profile(self, path: Path) -> Profile:
        """The run that a file or folder holds."""
        raise NotImplementedError

    def read(self, path: Path) -> pa.Table:
        """The run as a table of one row."""
        return self.read_together([path])[0]

    def read_together(self, paths: Sequence[Path]) -> list[pa.Table]:
        """One row for each run, all with the same columns."""
        from compass.readers.profiles.flatten import flatten, run_names

        profiles = []
        for path, name in zip(paths, run_names(paths), strict=True):
            with reading(path, self.name):
                profiles.append(replace(self.profile(path), run=name))
        table = flatten(profiles, self.options)
        return [table.slice(row, 1) for row in range(len(paths))]


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turns whatever a damaged file causes into an error that names the file."""
    try:
        yield
    except CompassError:
        raise
    except OSError as problem:
        raise cannot_open(path, problem) from problem
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as problem:
        raise damaged(path, what, f"{problem}") from problem
    except (RecursionError, MemoryError) as problem:
        raise damaged(path, what, "it is nested too deeply, or too large") from problem


def damaged(path: Path, what: str, why: str) -> DataProblem:
    """The error for a file that is not, or not completely, what it should be."""
    return DataProblem(
        f"{path} cannot be read as {what}: {why}", hint="is it complete? copy it again"
    )


def in_seconds(unit: str | None) -> tuple[float, str | None]:
    """The factor that brings a time to seconds and the unit `s`; other units stay as they are."""
    factor = _SECONDS.get((unit or "").strip().lower())
    return (1.0, unit or None) if factor is None else (factor, "s")


def chosen(
    options: ProfileOptions, available: Mapping[str, str] | Sequence[str], path: Path
) -> dict[str, str]:
    """The metrics to keep: column name -> the name that the file knows.

    `available` lists the file's metrics, the default first; a mapping adds other names for them.
    """
    names = dict(available) if isinstance(available, Mapping) else {n: n for n in available}
    if not names:
        raise DataProblem(f"{path} holds no metric", hint="was the run that writes it cut short?")
    if not options.metrics:
        first = next(iter(names))
        return {first: names[first]}
    found = {}
    folded = {name.casefold(): name for name in reversed(names)}
    for name in options.metrics:
        known = name if name in names else folded.get(name.casefold())
        if known is None:
            raise unknown("metric", name, names, where=f"in {path}")
        found[name] = names[known]
    return found


# What a time is called, the one that a person's clock shows first.
_TIMES = ("time", "realtime", "wallclock", "wall_clock", "wall", "cputime", "cpu_clock", "cycles")


def time_first(names: Sequence[str]) -> list[str]:
    """The names with the one that means time in front; that is the metric kept by default."""

    def rank(name: str) -> int:
        return next((n for n, time in enumerate(_TIMES) if name.casefold() == time), len(_TIMES))

    return sorted(names, key=rank)
