"""`compass synth`: learn synthetic rows, draw them, fill in cells, and judge what was drawn."""

from typing import TYPE_CHECKING, Annotated

import typer

from compass.cli import flags, sources
from compass.cli import synth_uses as uses
from compass.cli.groups import grouped
from compass.cli.output import check_output, print_line, print_utf8
from compass.cli.study import StudyFlags
from compass.cli.synth_rows import (
    Chosen,
    Count,
    Draws,
    Held,
    Learnt,
    Model,
    Name,
    Seconds,
    Target,
    Where,
    learnt_model,
    write_rows,
)
from compass.domain.errors import BadInput
from compass.files import write_text

if TYPE_CHECKING:
    from compass.synth.quality.report import QualityReport

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Synthetic rows: learn, draw on conditions, fill in, decide, predict, augment, judge.",
)

Page = Annotated[
    flags.MaybePath,
    flags.option("--output", "FILE", "Also write the report: .html (with a picture) or .md."),
]


app.command()(uses.augment)
app.command()(uses.decide)
app.command()(uses.predict)


@app.command()
@grouped
def fit(
    data: flags.Source,
    output: Model,
    synthesizer: Name = "cart",
    settings: Chosen = None,
    tune: Seconds = 0.0,
    *,
    study: StudyFlags,
    seed: flags.Seed = None,
    as_json: flags.AsJson = False,
) -> None:
    """Learn the rows of a table, and save what was learnt."""
    check_output(output)
    model = learnt_model(
        data, study, synthesizer, seed, quiet=as_json, settings=settings, tune=tune,
        journal=output.with_name(f"{output.name}.tuning"),
    )  # fmt: skip
    model.save(output)
    if as_json:
        from compass.cli.tables import print_json

        kept = model.meta.model_dump(
            mode="json", include={"name", "rows", "rules", "seed", "notes"}
        )
        own = getattr(model.meta.settings, model.meta.name, None)
        kept["settings"] = {} if own is None else own.model_dump(mode="json")
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
    learnt = learnt_model(model, study, synthesizer, seed, quiet=as_json)
    with progress(quiet=as_json) as tell:
        drawn = learnt.sample(count, where=where or (), seed=seed, tell=tell)
    write_rows(drawn, output, as_json=as_json)


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
    learnt = learnt_model(model, study, synthesizer, seed, quiet=as_json)
    with progress(quiet=as_json) as tell:
        filled = learnt.fill(read_table(file), where=where or (), draws=draws, seed=seed, tell=tell)
    write_rows(filled, output, as_json=as_json)


Plane = Annotated[
    str, flags.option("--picture", "NAME", "Of the report: pca, or umap (extra `umap`).")
]


@app.command()
@grouped
def check(
    real: Annotated[str, flags.argument("REAL", "The real rows.")],
    synthetic: Annotated[str, flags.argument("SYNTHETIC", "The synthetic rows.")],
    test: Held = None,
    target: Target = None,
    picture: Plane = "pca",
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
        report = judge_synthetic(
            data, synthetic, test=test, target=target, seed=seed, picture=picture, tell=tell
        )
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
