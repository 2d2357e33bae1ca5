"""`compass platforms`: what an application does on other machines."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from compass.cli import flags
from compass.cli.groups import grouped
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.domain.machines import LineForecast, MachineForecast, PlatformAnswer
    from compass.platforms.ask import AskOptions
    from compass.platforms.pairs import MatchedRuns

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="What an application does on other machines, from its runs on one of them.",
)

Runs = Annotated[
    str, flags.argument("RUNS", "A file, glob or folder of runs, a row per run on one machine.")
]
Application = Annotated[
    str, flags.option("--application", "NAME", "The application that is asked about.")
]
SourceMachine = Annotated[
    str, flags.option("--source", "MACHINE", "The machine that it was measured on.")
]
Machines = Annotated[
    flags.Texts, flags.option("--on", "MACHINE", "Only this machine; repeatable (default: all).")
]
Configuration = Annotated[
    flags.Texts,
    flags.option(
        "--config", "COLUMN", "Input and configuration: what has to be equal; repeatable."
    ),
]
Counters = Annotated[
    flags.Texts,
    flags.option(
        "--counter", "COLUMN", "A counter; repeatable (default: all whose name is known)."
    ),
]
Throughput = Annotated[
    bool, typer.Option("--throughput", help="The runtime column holds work per second.")
]
Benchmark = Annotated[
    flags.Texts,
    flags.option(
        "--benchmark", "FILE", "A table of benchmark kernels, of machines without runs; repeatable."
    ),
]
Prices = Annotated[
    flags.Texts,
    flags.option(
        "--price", "MACHINE=NUMBER", "Price of a machine per unit of runtime; repeatable."
    ),
]
Power = Annotated[
    flags.Texts,
    flags.option("--power", "MACHINE=NUMBER", "Power of a machine, e.g. in W; repeatable."),
]
PeakFile = Annotated[
    flags.MaybePath,
    flags.option("--peaks", "FILE", "Peaks by machine (YAML): 'lassen: {flops: 7e12}'."),
]
MappingFile = Annotated[
    flags.MaybePath,
    flags.option("--mapping", "FILE", "Names of counters (YAML), instead of the built-in ones."),
]

_DISTURBED = "other work ran meanwhile: times on several threads may be far too long; measure again"


@dataclass(frozen=True)
class ColumnFlags:
    """What the columns of the table are."""

    machine_column: Annotated[
        flags.MaybeText, flags.option("--machine-column", "COLUMN", "Names the machine.")
    ] = None
    application_column: Annotated[
        flags.MaybeText, flags.option("--application-column", "COLUMN", "Names the application.")
    ] = None
    runtime_column: Annotated[
        flags.MaybeText, flags.option("--runtime-column", "COLUMN", "How long a run took.")
    ] = None
    config: Configuration = None
    counter: Counters = None
    throughput: Throughput = False


@dataclass(frozen=True)
class KnownFlags:
    """What else is known of the machines."""

    on: Machines = None
    benchmark: Benchmark = None
    price: Prices = None
    power: Power = None
    peaks: PeakFile = None
    mapping: MappingFile = None
    seed: flags.Seed = None

    def options(self) -> "AskOptions":
        """As the question takes them."""
        from compass.platforms.ask import AskOptions

        return AskOptions(
            machines=tuple(self.on or ()),
            prices=_by_machine("price", self.price or []),
            power=_by_machine("power", self.power or []),
            peaks=_peaks(self.peaks),
            mapping=self.mapping,
            seed=7 if self.seed is None else self.seed,
        )


class Picture(StrEnum):
    """What can be drawn."""

    RATIOS = "ratios"
    ORDER = "order"
    MACHINES = "machines"


@dataclass(frozen=True)
class PlotFlags:
    """What a picture is about."""

    source: Annotated[
        flags.MaybeText, flags.option("--source", "MACHINE", "The machine that runs are seen from.")
    ] = None
    application: Annotated[
        flags.MaybeText, flags.option("--application", "NAME", "The application, of an order.")
    ] = None
    model: Annotated[
        flags.MaybePath, flags.option("--model", "FILE", "A trained xAMM (model.npz).")
    ] = None
    aggregate: Annotated[
        Literal["mean", "l2", "variance"],
        typer.Option("--aggregate", help="How a machine model is made."),
    ] = "l2"
    reading: Annotated[
        Literal["weights", "values"],
        typer.Option("--reading", help="What a norm or variance is used as."),
    ] = "weights"
    layout: Annotated[
        Literal["pca", "umap"],
        typer.Option("--layout", help="Of embeddings: PCA, or UMAP (an extra)."),
    ] = "pca"
    mapping: MappingFile = None


@app.command()
@grouped
def predict(
    runs: Runs,
    application: Application,
    source: SourceMachine,
    *,
    columns: ColumnFlags,
    known: KnownFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Say how long an application takes on every machine, with intervals and trust."""
    answer = _answer(runs, application, source, columns, known)
    if as_json:
        _print_json(answer)
        return
    for line in answer.lines:
        _print_line(answer, line)
    _print_notes(answer)


@app.command()
@grouped
def rank(
    runs: Runs,
    application: Application,
    source: SourceMachine,
    *,
    columns: ColumnFlags,
    known: KnownFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Order the machines for an application, with chances, and say which run would settle it."""
    answer = _answer(runs, application, source, columns, known)
    if as_json:
        _print_json(answer)
        return
    for line in answer.lines:
        _print_order(line)
    _print_notes(answer)


def _answer(
    runs: str, application: str, source: str, columns: ColumnFlags, known: KnownFlags
) -> "PlatformAnswer":
    from compass.platforms.ask import ask
    from compass.platforms.pairs import joined

    options = known.options()
    matched = [_matched(path, columns, known.mapping) for path in (runs, *(known.benchmark or ()))]
    return ask(matched[0] if len(matched) == 1 else joined(matched), application, source, options)


def _matched(path: str, given: ColumnFlags, mapping: Path | None) -> "MatchedRuns":
    from compass.platforms.columns import found_columns
    from compass.platforms.counters import counter_mapping
    from compass.platforms.pairs import match
    from compass.platforms.source import read_source

    table = read_source(path)
    columns = found_columns(
        table,
        counter_mapping(mapping),
        machine=given.machine_column,
        application=given.application_column,
        runtime=given.runtime_column,
        configuration=given.config or (),
        counters=given.counter or (),
        throughput=given.throughput,
    )
    return match(table, columns)


def _by_machine(what: str, texts: list[str]) -> dict[str, float]:
    """Prices or power, as `lassen=2.5`."""
    found = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            given = float(number)
        except ValueError:
            given = -1.0
        if not name or not 0 <= given < float("inf"):
            raise BadInput(f"--{what} {text[:60]} is no {what}", hint=f"write --{what} lassen=2.5")
        found[name] = given
    return found


def _peaks(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    from compass.platforms.peaks import read_peaks

    return read_peaks(path)


def _print_json(answer: "PlatformAnswer") -> None:
    from compass.cli.output import print_utf8

    print_utf8(answer.model_dump_json(indent=2))


def _print_line(answer: "PlatformAnswer", line: "LineForecast") -> None:
    from compass.cli.tables import print_notes, print_table
    from compass.domain.answer import Label
    from compass.domain.quantity import number

    rows = [
        (
            one.machine,
            "not told" if one.ratio is None else f"x {number(one.ratio)}",
            ""
            if one.low is None or one.measured
            else f"{number(one.low)} .. {number(one.high or 0)}",
            "" if one.runtime is None else number(one.runtime),
            *("" if of(one) is None else number(of(one) or 0) for of in _priced(line).values()),
            _known(one),
        )
        for one in line.machines
    ]
    interval = f"{100 * answer.level:g} % interval"
    headers = ("machine", "runtime ratio", interval, "runtime", *_priced(line), "trust")
    print_table(_title(line) + f", seen from {answer.source}", headers, rows)
    doubtful = [one for one in line.machines if one.label != Label.TRUSTED]
    alike = dict.fromkeys(one.application for one in line.alike)
    print_notes(
        [
            *(f"{one.machine}: {one.reason}" for one in doubtful),
            *([f"most alike: {', '.join(alike)}"] if alike else []),
        ]
    )


def _print_order(line: "LineForecast") -> None:
    from compass.cli.tables import print_notes, print_table
    from compass.domain.quantity import number

    ordered = [one for one in line.machines if one.fastest is not None]
    priced = _priced(line)
    rows = [
        (
            place + 1,
            one.machine,
            _chance(one),
            *("" if of(one) is None else number(of(one) or 0) for of in priced.values()),
            _known(one),
        )
        for place, one in enumerate(ordered)
    ]
    print_table(
        f"{_title(line)}: this order with a chance of {line.order_chance:.0%}",
        ("place", "machine", "chance to be the fastest", *priced, "trust"),
        rows,
    )
    if line.run_next and line.doubt > 0:
        best = line.run_next[0]
        print_notes(
            [
                f"of the pairs of machines {line.doubt:.0%} are expected to be in the wrong order; "
                f"a run on {best.machine} would leave {best.doubt:.0%}"
            ]
        )


def _known(one: "MachineForecast") -> str:
    return "measured" if one.measured else one.label.value


def _chance(one: "MachineForecast") -> str:
    return "" if one.fastest is None else f"{one.fastest:.0%}"


def _priced(line: "LineForecast") -> "dict[str, Callable[[MachineForecast], float | None]]":
    """What is known of any machine beside the runtime: cost, energy."""
    both = {"cost": attrgetter("cost"), "energy": attrgetter("energy")}
    return {name: of for name, of in both.items() if any(of(o) is not None for o in line.machines)}


def _title(line: "LineForecast") -> str:
    from compass.domain.quantity import number

    told = ", ".join(f"{name} = {number(value)}" for name, value in line.configuration.items())
    return f"{line.application} ({told})" if told else line.application


def _print_notes(answer: "PlatformAnswer") -> None:
    from compass.cli.tables import print_notes

    served = ", ".join(answer.members)
    print_notes(
        [
            f"served: the median of {served}; held-out applications were missed by a factor of "
            f"{answer.error:.2f} on the mean",
            *answer.notes,
        ]
    )


@app.command()
@grouped
def plot(
    kind: Annotated[Picture, flags.argument("KIND", "What to draw: ratios, order or machines.")],
    runs: Runs,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The SVG file to write.")
    ],
    columns: ColumnFlags,
    drawn: PlotFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Draw what is known of machines, as SVG.

    \b
    ratios    runtime ratios against measured, every application left out (--source)
    order     how likely each machine is faster than each other (--source, --application)
    machines  embeddings of runs and machine models, by machine (--model: of a trained xAMM)
    """
    from compass import files
    from compass.cli.output import check_output
    from compass.cli.tables import print_json, print_notes

    check_output(output)
    picture = _picture(kind, _matched(runs, columns, drawn.mapping), drawn)
    files.write_text(output, picture, files.READABLE)
    if as_json:
        print_json({"kind": kind.value, "written": str(output)})
        return
    print_notes([f"wrote {output}"])


def _picture(kind: Picture, runs: "MatchedRuns", drawn: PlotFlags) -> str:
    from compass.platforms.counters import counter_mapping
    from compass.platforms.pictures import machines_svg, order_svg, ratios_svg
    from compass.platforms.predictor import fit
    from compass.platforms.xamm import load

    mapping = counter_mapping(drawn.mapping)
    if kind is Picture.MACHINES:
        model = None if drawn.model is None else load(drawn.model)
        return machines_svg(runs, mapping, model, drawn.aggregate, drawn.reading, drawn.layout)
    source = drawn.source
    if source is None:
        raise BadInput(f"{kind.value} needs the machine that runs are seen from", hint="--source")
    if kind is Picture.RATIOS:
        return ratios_svg(fit(runs, source, mapping=mapping))
    if drawn.application is None:
        raise BadInput("order needs the application that it is about", hint="--application")
    own = runs.of(drawn.application).ran_on(source)
    if not len(own):
        raise BadInput(f"{drawn.application} was not run on {source}", hint="name another machine")
    return order_svg(fit(runs.others(drawn.application), source, mapping=mapping), own)


@app.command("run")
def run_xamm(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="As the xAMM paper lists it.")],
    as_json: flags.AsJson = False,
) -> None:
    """Do what an xAMM configuration asks for: make machine models, train, or predict."""
    from compass.cli.tables import print_json, print_notes
    from compass.platforms.config import run_config

    report = run_config(config)
    if as_json:
        rows = None if report.predictions is None else report.predictions.to_pylist()
        print_json(
            {
                "written": [str(path) for path in report.written],
                "trained": report.trained,
                "with_amms": report.with_amms,
                "mape": report.mape,
                "predictions": rows,
            }
        )
        return
    notes = [f"wrote {path}" for path in report.written]
    if report.with_amms is not None:
        notes.append(
            "predicted with machine models"
            if report.with_amms
            else "predicted without machine models: name both to use them"
        )
    if report.mape is not None:
        notes.append(f"the target was measured too: MAPE {report.mape:.1f} %")
    print_notes(notes)


@app.command()
def probe(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The benchmark table to write.")
    ] = Path("probe.csv"),
    machine: Annotated[
        flags.MaybeText, flags.option("--machine", "NAME", "What this machine is called.")
    ] = None,
    with_numpy: Annotated[
        bool, typer.Option("--numpy", help="Without a compiler, on one thread.")
    ] = False,
    as_json: flags.AsJson = False,
) -> None:
    """Measure small kernels on this machine: its benchmark table, in under two minutes."""
    from compass.cli.output import check_output
    from compass.cli.tables import print_json, print_notes
    from compass.collect.probe import probe as measured

    check_output(output)
    report = measured(output, machine, compiled=False if with_numpy else None)
    if as_json:
        told = {name: str(v) if isinstance(v, Path) else v for name, v in vars(report).items()}
        print_json(told)
        return
    print_notes(
        [
            f"measured {report.rows} kernels of {report.machine} in {report.seconds:.0f} s "
            f"({report.how}) -> {report.path}",
            f"at best {report.bandwidth / 1e9:.1f} GB/s and {report.flops / 1e9:.1f} GFlop/s "
            f"-> {report.peaks_path}",
            *(f"not measured: {why}" for why in report.failed),
            *([_DISTURBED] if report.disturbed else []),
        ]
    )
