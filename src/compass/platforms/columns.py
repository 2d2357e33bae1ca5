"""Which columns of a table name the machine, the application and the runtime, where nobody says."""

from collections.abc import Sequence

from compass.domain.errors import QueryProblem
from compass.platforms.counters import CounterMapping
from compass.platforms.pairs import PairColumns
from compass.readers.table import Table

_NAMES = {
    "machine": ("machine", "cluster", "system", "platform", "gpu", "gpu_name", "host"),
    "application": ("application", "app", "kernel", "benchmark", "model", "program", "name"),
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


def _usual(table: Table, what: str, taken: Sequence[str]) -> str:
    """The column with a usual name for the machine, application or runtime."""
    folded = {name.casefold(): name for name in table.names if name not in taken}
    found = [folded[name] for name in _NAMES[what] if name in folded]
    if not found:
        raise QueryProblem(
            f"no column is called like the {what} of a run", hint=f"name it with --{what}-column"
        )
    return found[0]
