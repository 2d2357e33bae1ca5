"""Which columns of a table name the machine, the application and the runtime, where nobody says."""

import re
from collections.abc import Iterable, Sequence

from compass.domain.errors import QueryProblem
from compass.domain.space import Category, Number, Role, Space
from compass.domain.study import MachineChoice
from compass.platforms.counters import CounterMapping
from compass.platforms.pairs import PairColumns
from compass.readers.table import Table

_NAMES = {
    "machine": ("machine", "cluster", "system", "platform", "gpu", "gpu_name", "host"),
    "application": (
        "application",
        "app",
        "kernel",
        "benchmark",
        "model",
        "program",
        "name",
        "region",
    ),
    "runtime": (
        "runtime",
        "run_time",
        "time",
        "time_s",
        "seconds",
        "duration",
        "elapsed",
        "time_ms",
    ),
}


def found_columns(
    table: Table,
    mapping: CounterMapping,
    *,
    machine: str | None = None,
    application: str | None = None,
    runtime: str | None = None,
    configuration: Sequence[str] = (),
    counters: Sequence[str] = (),
    throughput: bool = False,
) -> PairColumns:
    """The columns that were named; the others by their usual names.

    Counters that nobody names are all columns that the mapping knows.
    """
    named = (*configuration, *counters)
    chosen = {
        "machine": machine or _usual(table, "machine", named),
        "application": application or _usual(table, "application", named),
        "runtime": runtime or _usual(table, "runtime", named),
    }
    if not counters:
        taken = {*chosen.values(), *configuration}
        known = mapping.found(table.names).values()
        counters = [
            table.names[place] for place in sorted(known) if table.names[place] not in taken
        ]
    columns = PairColumns(
        **chosen,
        configuration=tuple(configuration),
        counters=tuple(counters),
        throughput=throughput,
    )
    columns.check(table)
    return columns


def machine_column(space: Space, choice: MachineChoice) -> str | None:
    """The column that names the machine: the stated one, else a feature with a usual name."""
    features = space.having(Role.KNOB, Role.CONTEXT)
    labels = (name for name in features if isinstance(space[name], Category))
    return choice.machine or _called("machine", labels)


def study_columns(
    table: Table, space: Space, choice: MachineChoice, mapping: CounterMapping
) -> PairColumns | None:
    """The columns that a study names, the others by their usual names and roles; None: not all
    are there.

    What has no value on two machines, or one on each, belongs to the machine and is no part of
    the configuration.
    """
    features = space.having(Role.KNOB, Role.CONTEXT)
    labels = [name for name in features if isinstance(space[name], Category)]
    outcomes = [n for n in space.having(Role.OUTCOME) if isinstance(space[n], Number)]
    machine = machine_column(space, choice)
    others = [name for name in labels if name != machine]
    application = choice.application or _called("application", others)
    runtime = choice.runtime or _called("runtime", outcomes)
    if machine is None or application is None or runtime is None:
        return None
    named = (machine, application, runtime)
    counters, configuration = choice.counters, choice.configuration
    if counters is None:
        places = sorted(mapping.found(table.names).values())
        taken = {*named, *(configuration or ())}
        counters = tuple(table.names[at] for at in places if table.names[at] not in taken)
    if configuration is None:
        left = [name for name in features if name not in named and name not in counters]
        told = {name: table.column(name).to_pylist() for name in (machine, *left)}
        configuration = tuple(n for n in left if not _of_machine(told[machine], told[n]))
    columns = PairColumns(*named, configuration, counters, choice.throughput)
    columns.check(table)
    return columns


def _of_machine(machines: Sequence[object], values: Sequence[object]) -> bool:
    """Whether a column says something of the machine and not of what runs there."""
    pairs = {pair for pair in zip(machines, values, strict=True) if pair[1] is not None}
    seen = {machine for machine, _ in pairs}
    distinct = {value for _, value in pairs}
    if len(seen) < 2 or len(distinct) < 2:
        return False
    return len(pairs) == len(seen) or len(pairs) == len(distinct)


def _called(what: str, names: Iterable[str]) -> str | None:
    """The one of these columns that has a usual name for the machine, application or runtime."""
    plain = {_plain(name): name for name in reversed(list(names))}
    return next((plain[name] for name in _NAMES[what] if name in plain), None)


def _plain(name: str) -> str:
    """A name without its unit in brackets, in small letters."""
    bare = re.sub(r"[\[(].*$", "", name).casefold()
    return re.sub(r"[^a-z0-9]+", "_", bare).strip("_")


def _usual(table: Table, what: str, taken: Sequence[str]) -> str:
    """The column with a usual name for the machine, application or runtime."""
    found = _called(what, (name for name in table.names if name not in taken))
    if found is None:
        raise QueryProblem(
            f"no column is called like the {what} of a run",
            hint=f"say which one tells the {what} ({what}-column)",
        )
    return found
