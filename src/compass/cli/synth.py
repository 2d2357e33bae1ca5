"""`compass synth`: learn synthetic rows, draw them, fill in cells, and judge what was drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compass.cli import flags, sources
from compass.cli.groups import grouped
from compass.cli.output import check_output, print_line, print_utf8
from compass.cli.study import StudyFlags
from compass.domain.errors import BadInput
from compass.files import write_text

if TYPE_CHECKING:
    from compass.synth.model import SynthesisModel, SynthesisReport, SyntheticRows
    from compass.synth.quality.report import QualityReport

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Learn synthetic rows, draw them on conditions, fill in cells, judge what was drawn.",
)

Name = Annotated[
    str,
    flags.option(
        "--synthesizer", "NAME", "cart (default), copula, ctgan, tvae, great; see compass plugins."
    ),
]
Model = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="FILE", help="The file to write.", show_default=False),
]
Learnt = Annotated[
    str, flags.argument("MODEL", "What compass synth fit wrote, or data to learn from now.")
]
Count = Annotated[int, typer.Option("-n", "--count", min=1, metavar="N", help="How many rows.")]
Where = Annotated[
    flags.Texts,
    flags.option(
        "--where", "RULE", "Only such rows: 'runtime < 10 s', 'threads in {4, 8}'; repeatable."
    ),
]
Draws = Annotated[
    int,
    typer.Option("--draws", min=1, metavar="N", help="Draws for each row: a distribution."),
]
Target = Annotated[
    flags.MaybeText, flags.option("--target", "COLUMN", "The outcome that models should predict.")
]
Held = Annotated[
    flags.MaybeText, flags.option("--test", "FILE", "Real rows that nothing was learnt from.")
]

Page = Annotated[
    flags.MaybePath,
    flags.option("--output", "FILE", "Also write the report: .html (with a picture) or .md."),
]


@app.command()
@grouped
def fit(
    data: flags.Source,
    output: Model,
    synthesizer: Name = "cart",
    *,
    study: StudyFlags,
    seed: flags.Seed = None,
    as_json: flags.AsJson = False,
) -> None:
    """Learn the rows of a table, and save what was learnt."""
    check_output(output)
    model = _learnt(data, study, synthesizer, seed, quiet=as_json)
    model.save(output)
    if as_json:
        from compass.cli.tables import print_json

        kept = model.meta.model_dump(
            mode="json", include={"name", "rows", "rules", "seed", "notes"}
        )
        print_json(kept | {"columns": list(model.space.names), "wrote": str(output)})
        return
    print_line(f"learnt {model.meta.rows} rows of {len(model.space)} columns with {synthesizer}")
    for note in model.meta.notes:
        print_line(f"note: {note}")
    print_line(f"wrote {output}; draw rows: compass synth sample {output} -n 1000 -o rows.csv")


@app.command()
@grouped
def sample(
    model: Learnt,
    output: Model,
    count: Count = 1000,
    where: Where = None,
    synthesizer: Name = "cart",
    *,
    study: StudyFlags,
    seed: flags.Seed = None,
    as_json: flags.AsJson = False,
) -> None:
    """Draw new rows; every one obeys the study's rules and the conditions."""
    from compass.cli.progress import progress
    from compass.readers.write import check_name

    check_output(output)
    check_name(output)
    learnt = _learnt(model, study, synthesizer, seed, quiet=as_json)
    with progress(quiet=as_json) as tell:
        drawn = learnt.sample(count, where=where or (), seed=seed, tell=tell)
    _write(drawn, output, as_json=as_json)


@app.command()
@grouped
def fill(
    model: Learnt,
    file: Annotated[str, flags.argument("FILE", "Rows with empty cells.")],
    output: Model,
    where: Where = None,
    draws: Draws = 1,
    synthesizer: Name = "cart",
    *,
    study: StudyFlags,
    seed: flags.Seed = None,
    as_json: flags.AsJson = False,
) -> None:
    """Fill in the empty cells of a file; the column `filled` names them.

    With all but the outcome given this is a prediction; with a limit on the outcome (--where) and
    some columns given, a decision.
    """
    from compass.cli.progress import progress
    from compass.readers import read as read_table
    from compass.readers.write import check_name

    check_output(output)
    check_name(output)
    learnt = _learnt(model, study, synthesizer, seed, quiet=as_json)
    with progress(quiet=as_json) as tell:
        filled = learnt.fill(read_table(file), where=where or (), draws=draws, seed=seed, tell=tell)
    _write(filled, output, as_json=as_json)


@app.command()
@grouped
def check(
    real: Annotated[str, flags.argument("REAL", "The real rows.")],
    synthetic: Annotated[str, flags.argument("SYNTHETIC", "The synthetic rows.")],
    test: Held = None,
    target: Target = None,
    output: Page = None,
    *,
    study: StudyFlags,
    seed: flags.Seed = None,
    as_json: flags.AsJson = False,
) -> None:
    """Say how like the real rows synthetic ones are; each measure beside real against real."""
    from compass.cli.progress import progress
    from compass.engine.synthesis import judge_synthetic
    from compass.synth.quality.render import html, markdown

    check_output(output)
    if output is not None and output.suffix not in (".html", ".md"):
        raise BadInput(f"cannot tell how to write {output}", hint="name it *.html or *.md")
    data = sources.dataset(real, study.parsed())
    with progress(quiet=as_json) as tell:
        report = judge_synthetic(data, synthetic, test=test, target=target, seed=seed, tell=tell)
    if output is not None:
        write_text(output, html(report) if output.suffix == ".html" else markdown(report))
        print_line(f"wrote {output}")
    if as_json:
        print_utf8(report.model_dump_json(indent=2))
        return
    _show(report)


def _show(report: "QualityReport") -> None:
    from compass.cli.tables import print_notes, print_table
    from compass.synth.quality.render import number

    print_table(
        f"{report.rows_synthetic} synthetic rows beside {report.rows_real} real ones",
        ("measure", "value", "real against real", "better"),
        [(one.name, number(one.value), number(one.floor), one.better) for one in report.measures],
    )
    if report.efficiency:
        print_table(
            f"Models of {report.target}, tested on {report.rows_test} real rows",
            ("model", "measure", "learnt from real", "from synthetic", "AUC real", "synthetic"),
            [
                (
                    one.model,
                    one.measure,
                    *map(number, (one.real, one.synthetic, one.auc_real, one.auc_synthetic)),
                )
                for one in report.efficiency
            ],
        )
    print_notes(list(report.notes))


def _learnt(
    source: str, study: StudyFlags, synthesizer: str, seed: int | None, *, quiet: bool
) -> "SynthesisModel":
    """A saved model, or one that is learnt from data now."""
    from compass.cli.progress import progress
    from compass.engine.synthesis import load_synthesizer
    from compass.engine.synthesis import synthesizer as learn

    if not source:
        raise BadInput("DATA is empty", hint="name a file, a glob or a folder")
    if source.endswith(".synth"):
        return load_synthesizer(source)
    data = sources.dataset(source, study.parsed())
    with progress(quiet=quiet) as tell:
        return learn(data, synthesizer, seed=seed, tell=tell)


def _write(drawn: "SyntheticRows", output: Path, *, as_json: bool) -> None:
    from compass.cli.tables import print_json
    from compass.readers.write import write

    write(drawn.table, output)
    if as_json:
        print_json(drawn.report.model_dump(mode="json") | {"wrote": str(output)})
        return
    for line in _words(drawn.report):
        print_line(line)
    print_line(f"wrote {output}")


def _words(report: "SynthesisReport") -> Sequence[str]:
    """A report in lines."""
    lines = [
        f"{report.rows} of {report.asked} rows; {report.acceptance:.1%} of "
        f"{report.tried} drawn ones obeyed every condition"
    ]
    lines += [f"note: {count} refused rows break {rule}" for rule, count in report.broken.items()]
    return [*lines, *(f"note: {note}" for note in report.notes)]
