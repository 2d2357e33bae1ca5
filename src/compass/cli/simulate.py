"""`compass simulate`: the queue of a machine, simulated on a job trace."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compass.cli import flags
from compass.cli.groups import grouped
from compass.cli.output import check_output, print_line
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.schedule.measures import Estimate, Measures
    from compass.schedule.power import PowerModel
    from compass.schedule.simulate import Schedule
    from compass.schedule.trace import JobTrace

Tell = Callable[[str, int, int], None]

_POLICIES = "fcfs, sjf or multifactor, and +easy or +conservative (default: fcfs+easy); repeatable."
_BESIDE = 2  # policies beside each other


@dataclass(frozen=True)
class MachineFlags:
    """What the machine has."""

    nodes: Annotated[
        int | None, typer.Option("--nodes", min=1, metavar="N", help="Nodes of the machine.")
    ] = None
    cores: Annotated[
        int | None, typer.Option("--cores", min=1, metavar="N", help="Cores of the machine.")
    ] = None
    gpus: Annotated[
        int | None, typer.Option("--gpus", min=1, metavar="N", help="GPUs of the machine.")
    ] = None
    memory: Annotated[
        flags.MaybeText, flags.option("--memory", "SIZE", "Memory of the machine: 64T, 512G.")
    ] = None
    busy: Annotated[
        float | None,
        typer.Option("--busy", min=0.0, metavar="W", help="Power of a node with a job."),
    ] = None
    idle: Annotated[
        float | None,
        typer.Option("--idle", min=0.0, metavar="W", help="Power of a node without one."),
    ] = None

    def machine(self) -> dict[str, int]:
        """What was said of the machine."""
        from compass.slurm.units import size

        said = {"nodes": self.nodes, "cores": self.cores, "gpus": self.gpus}
        known = {name: amount for name, amount in said.items() if amount is not None}
        if self.memory is not None:
            try:
                amount = size(self.memory) or 0.0
            except ValueError:
                amount = 0.0
            if not 1 <= amount < 2**63:
                raise BadInput(f"--memory {self.memory[:40]} is no size", hint="write e.g. 64T")
            known["memory"] = int(amount)
        return known

    def power(self) -> "PowerModel | None":
        """The power model; None: energy is not asked for."""
        from compass.schedule.power import PowerModel

        if self.busy is None:
            if self.idle is not None:
                raise BadInput("--idle alone gives no energy", hint="add --busy W")
            return None
        return PowerModel(busy=self.busy, idle=self.idle or 0.0)


@dataclass(frozen=True)
class TraceFlags:
    """How the trace is read and changed before it is simulated."""

    column: Annotated[
        flags.Texts,
        flags.option("--column", "WHAT=COLUMN", "submit=queued_at, nodes=n, ...; repeatable."),
    ] = None
    arrivals: Annotated[
        float,
        typer.Option(
            "--arrivals", min=0.001, max=1000.0, metavar="F", help="Times between submissions x F."
        ),
    ] = 1.0
    exact_limits: Annotated[
        bool, typer.Option("--exact-limits", help="As if users asked for just what they use.")
    ] = False
    scale_nodes: Annotated[
        float | None,
        typer.Option("--scale-nodes", metavar="F", help="Every job on F times its nodes."),
    ] = None
    changed: Annotated[
        flags.MaybePath, flags.option("--changed", "FILE", "A table of job, nodes and limit in s.")
    ] = None
    law: Annotated[
        flags.MaybeText,
        flags.option("--law", "LAW", "How changed jobs scale: amdahl:serial=0.05."),
    ] = None
    scaling: Annotated[
        flags.MaybePath,
        flags.option(
            "--scaling", "FILE", "Scaling runs: each application's law is fitted to them."
        ),
    ] = None


@grouped
def simulate(
    trace: Annotated[
        str, flags.argument("TRACE", "A job trace: SWF, a dump of sacct, or a table of jobs.")
    ],
    policy: Annotated[flags.Texts, flags.option("--policy", "NAME", _POLICIES)] = None,
    *,
    machine: MachineFlags,
    jobs: TraceFlags,
    no_kill: Annotated[
        bool, typer.Option("--no-kill", help="Let jobs run past their limit.")
    ] = False,
    output: Annotated[
        flags.MaybePath,
        flags.option("--output", "FILE", "Also write when each job starts and ends."),
    ] = None,
    seed: flags.Seed = None,
    as_json: flags.AsJson = False,
) -> None:
    """Simulate a queue: waits, slowdown, utilisation and energy of a trace under policies."""
    from compass.cli.progress import progress
    from compass.schedule.measures import measures
    from compass.schedule.policy import policy as named
    from compass.schedule.simulate import simulate as run

    check_output(output)
    power = machine.power()
    chosen = [named(text) for text in policy or ["fcfs+easy"]]
    with progress(quiet=as_json) as tell:
        seen = _changed(_read(trace, jobs), jobs, tell)
        found = [
            run(seen, machine.machine() or None, how, kill=not no_kill, tell=tell) for how in chosen
        ]
        worth = [measures(one, power, seed=7 if seed is None else seed) for one in found]
    if output is not None:
        _write(found, output)
    if as_json:
        _print_json(found, worth)
    else:
        _print(trace, found, worth)
        if output is not None:
            print_line(f"wrote {output}")


def _read(source: str, given: TraceFlags) -> "JobTrace":
    from compass.schedule.read import read_trace

    columns = {}
    for text in given.column or []:
        meaning, equals, name = text.partition("=")
        if not (meaning and equals and name):
            raise BadInput(f"--column {text[:60]}", hint="write --column submit=queued_at")
        columns[meaning] = name
    found = read_trace(source, columns=columns)
    if given.exact_limits:
        found = found.known_limits()
    return found if given.arrivals == 1 else found.compressed(given.arrivals)


def _changed(
    trace: "JobTrace", given: TraceFlags, tell: Callable[[str, int, int], None]
) -> "JobTrace":
    from compass.schedule.changes import advised, read_laws, scaled
    from compass.schedule.job import reconfigured
    from compass.schedule.law import law, laws_of
    from compass.schedule.truth import LawTruth

    if given.scale_nodes is not None and given.changed is not None:
        raise BadInput("--scale-nodes and --changed both change jobs", hint="give one of them")
    asked = given.scale_nodes is not None or given.changed is not None
    known = given.law is not None or given.scaling is not None
    if asked and not known:
        raise BadInput(
            "how long the changed jobs run is not known",
            hint="name a law (--law amdahl:serial=0.05) or measured runs (--scaling runs.csv)",
        )
    if known and not asked:
        raise BadInput("no job is changed", hint="--scale-nodes 0.5, or --changed advice.csv")
    if not asked:
        return trace
    laws = {} if given.scaling is None else laws_of(read_laws(given.scaling))
    truth = LawTruth(laws, None if given.law is None else law(given.law))
    change = scaled(given.scale_nodes) if given.scale_nodes is not None else advised(given.changed)
    return reconfigured(trace, change, truth, tell=tell)


_HOUR = 3600.0
_MWH = 3.6e9
_ROWS = (  # what, its measure, what it is divided by
    ("mean wait (h)", "wait", _HOUR),
    ("mean turnaround (h)", "turnaround", _HOUR),
    ("mean bounded slowdown", "slowdown", 1.0),
    ("utilisation (%)", "utilisation", 0.01),
    ("nodes per job", "size", 1.0),
    ("node-hours (1000)", "node_hours", 1000.0),
    ("energy of jobs (MWh)", "energy", _MWH),
)


def _print(source: str, found: "list[Schedule]", worth: "list[Measures]") -> None:
    from compass.cli.tables import print_notes, print_table
    from compass.schedule.report import notes

    one = found[0]
    has = ", ".join(f"{amount} {name}" for name, amount in one.machine.items())
    title = f"{Path(source).name}: {len(one.trace)} jobs on {has}; 95 % intervals"
    counted = one.trace.resources[0].removesuffix("s")
    for start in range(0, len(found), _BESIDE):
        some = worth[start : start + _BESIDE]
        rows = [
            (name.replace("node", counted), *(_cell(getattr(m, what), by) for m in some))
            for name, what, by in _ROWS
            if getattr(some[0], what) is not None
        ]
        names = [schedule.policy.name for schedule in found[start : start + _BESIDE]]
        print_table(title, ("", *names), rows + _plain_rows(some))
        title = ""
    print_notes(notes(one))


def _cell(one: "Estimate", by: float) -> str:
    from compass.domain.quantity import estimate

    text, ends = estimate(one.value / by, one.low / by, one.high / by)
    return text if ends is None else f"{text} ({ends[0]} .. {ends[1]})"


def _plain_rows(worth: "list[Measures]") -> list[tuple[str, ...]]:
    from compass.domain.quantity import number

    rows = [
        ("median wait (h)", *(number(one.median_wait / _HOUR) for one in worth)),
        ("longest wait (h)", *(number(one.longest_wait / _HOUR) for one in worth)),
        ("jobs per day", *(number(one.jobs_per_day) for one in worth)),
    ]
    for name, what in (("killed at their limit", "killed"), ("past their limit", "overran")):
        if getattr(worth[0], what):
            rows.append((name, *(str(getattr(one, what)) for one in worth)))
    if worth[0].idle_energy is not None:
        idle = (number((one.idle_energy or 0.0) / _MWH) for one in worth)
        rows.append(("idle energy (MWh)", *idle))
    return rows


def _print_json(found: "list[Schedule]", worth: "list[Measures]") -> None:
    from compass.cli.output import print_utf8
    from compass.schedule.report import as_json

    print_utf8(as_json(found, worth))


def _write(found: "list[Schedule]", output: Path) -> None:
    from compass.readers.write import write
    from compass.schedule.report import starts

    write(starts(found), output)
