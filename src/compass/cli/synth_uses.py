"""`compass synth augment`, `decide` and `predict`: the three uses of generated rows in PERFGEN."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compass.cli import flags, sources
from compass.cli.groups import grouped
from compass.cli.output import check_output, print_line
from compass.cli.study import StudyFlags
from compass.cli.synth_rows import (
    Given,
    Learnt,
    Model,
    Name,
    Where,
    given_values,
    learnt_model,
    words_of,
)
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.synth.decide import Decision
    from compass.synth.predict import OutcomePredictions, Predictions
    from compass.synth.summary import ColumnSummary

_CHOICES = 5  # that are shown; --json has more
_COUNT = Annotated[int, typer.Option("-n", "--count", min=1, metavar="N", help="How many draws.")]
_MANY = Annotated[
    int, typer.Option("--draws", min=1, metavar="N", help="Draws for each row.")
]  # fmt: skip
_ROWS = Annotated[
    flags.MaybePath,
    typer.Option("-o", "--output", metavar="FILE", help="Also write the rows.", show_default=False),
]
_BESIDE = Annotated[
    flags.MaybeText,
    flags.option("--beside", "ENGINE", "A saved engine, or data to learn one from, to compare."),
]


@grouped
def augment(
    data: flags.Source,
    output: Model,
    synthesizer: Name = "cart",
    *,
    study: StudyFlags,
    surrogate: flags.Surrogate = None,
    seed: flags.Seed = None,
    as_json: flags.AsJson = False,
) -> None:
    """Add synthetic rows where models then predict measured rows better, and say what they do.

    Cross-validated on measured rows; an outcome that does not clearly gain gets none. The rows are
    written behind the measured ones; the column row_origin tells them apart.
    """
    from compass.cli.progress import progress
    from compass.cli.tables import print_json, print_notes, print_table
    from compass.engine.compass import Compass
    from compass.readers.write import check_name, write

    check_output(output)
    check_name(output)
    runs = sources.dataset(data, study.parsed())
    with progress(quiet=as_json) as tell:
        engine = Compass(runs, surrogate=surrogate, seed=seed, progress=tell)
        engine.fit(augment=synthesizer)
    report = engine.augmentation
    if report is None:
        raise BadInput("there is no outcome to learn", hint="name one: --role NAME=outcome")
    write(engine.data.table, output)
    if as_json:
        print_json(report.model_dump(mode="json") | {"wrote": str(output)})
        return
    print_table(
        "Errors on measured rows, by cross-validation",
        ("outcome", "without", "with synthetic rows", "uncertainty", "used"),
        [
            (
                one.outcome,
                f"{one.error:.4g}",
                f"{one.augmented:.4g}",
                f"{one.doubt:.2g}",
                "yes" if one.used else "no",
            )
            for one in report.outcomes
        ],
    )
    added = f"{report.rows} synthetic rows were added"
    print_notes([added if report.rows else "no outcome gains: nothing was added"])
    print_line(f"wrote {output}")


@grouped
def decide(
    model: Learnt,
    where: Where = None,
    given: Given = None,
    count: _COUNT = 500,
    output: _ROWS = None,
    synthesizer: Name = "cart",
    *,
    study: StudyFlags,
    seed: flags.Seed = None,
    as_json: flags.AsJson = False,
) -> None:
    """Say what runs within limits look like: how often which values, and which together.

    Limits on outcomes are conditions (--where 'runtime < 10 s'); some columns may be given.
    """
    from compass.cli.progress import progress
    from compass.cli.tables import print_json
    from compass.readers.write import check_name, write

    if output is not None:
        check_output(output)
        check_name(output)
    learnt = learnt_model(model, study, synthesizer, seed, quiet=as_json)
    fixed = given_values(learnt, given)
    with progress(quiet=as_json) as tell:
        found = learnt.decide(where=where or (), given=fixed, count=count, seed=seed, tell=tell)
    if output is not None:
        write(found.rows.table, output)
    if as_json:
        print_json(found.decision.model_dump(mode="json"))
        return
    _show_decision(found.decision, " ".join(where or ()))
    if output is not None:
        print_line(f"wrote {output}")


@grouped
def predict(
    model: Learnt,
    file: Annotated[str, flags.argument("FILE", "Rows whose features are given.")],
    output: _ROWS = None,
    draws: _MANY = 50,
    beside: _BESIDE = None,
    synthesizer: Name = "cart",
    *,
    study: StudyFlags,
    seed: flags.Seed = None,
    as_json: flags.AsJson = False,
) -> None:
    """Predict the outcomes of given rows by drawing them, beside an engine's own surrogate.

    What FILE itself says of an outcome is not looked at; the error against it is told.
    """
    from compass.cli.progress import progress
    from compass.cli.tables import print_json
    from compass.engine.synthesis import predict_beside
    from compass.readers import read as read_table
    from compass.readers.write import check_name, write

    if output is not None:
        check_output(output)
        check_name(output)
    learnt = learnt_model(model, study, synthesizer, seed, quiet=as_json)
    table = read_table(file)
    with progress(quiet=as_json) as tell:
        engine = None if beside is None else _engine(beside, study, tell)
        found = predict_beside(learnt, table, engine, draws=draws, seed=seed, tell=tell)
    if output is not None:
        write(_with_predictions(table.arrow, found), output)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    _show_predictions(found)
    if output is not None:
        print_line(f"wrote {output}")


def _engine(source: str, study: StudyFlags, tell: Any) -> Any:
    """A saved engine, or one that learns from data now."""
    if sources.is_saved(source):
        from compass.engine.store import load

        return load(source)
    from compass.engine.compass import Compass

    return Compass(sources.dataset(source, study.parsed()), progress=tell).fit([])


def _show_decision(decision: "Decision", asked: str) -> None:
    from compass.cli.tables import print_table

    print_table(
        "What runs within these limits look like",
        ("column", "median", "90 % of the rows", "commonest"),
        [
            (one.name, _short(one.median, one.unit), _range(one), _commonest(one))
            for one in decision.columns
        ],
    )
    print_table(
        "Commonest choices",
        ("share", "choice", "outcomes"),
        [
            (
                f"{one.share:.0%}",
                ", ".join(f"{name} {_plain(value)}" for name, value in one.config.items()),
                ", ".join(
                    f"{o.name} {_short(o.median, o.unit) or _commonest(o)}"
                    for o in _about(one.outcomes, asked)
                ),
            )
            for one in decision.choices[:_CHOICES]
        ],
    )
    for line in words_of(decision.report):
        print_line(line)


def _about(outcomes: Sequence["ColumnSummary"], asked: str) -> Sequence["ColumnSummary"]:
    """The outcomes that conditions speak of, else the first ones."""
    return [one for one in outcomes if one.name in asked] or outcomes[:2]


def _show_predictions(found: "Predictions") -> None:
    from compass.cli.tables import print_notes, print_table

    print_table(
        f"Predictions of {found.rows} rows",
        ("outcome", "by", "first rows", "error", "squared", "measured inside"),
        [
            (
                one.outcome,
                one.source,
                ", ".join(_plain(value) for value in one.values[:3]),
                _wrong(one),
                _short(one.squared),
                "" if one.inside is None else f"{one.inside:.0%}",
            )
            for one in found.predictions
        ],
    )
    print_notes(list(found.notes))


def _with_predictions(table: "pa.Table", found: "Predictions") -> "pa.Table":
    """The table with a column for what each way predicts, and both ends of its interval."""
    import pyarrow as pa

    for one in found.predictions:
        name = f"{one.outcome} by {one.source}"
        columns: dict[str, list[Any]] = {name: list(one.values)}
        for what, values in (("low", one.low), ("high", one.high), ("share", one.shares)):
            if values:
                columns[f"{name}, {what}"] = list(values)
        for label, cells in columns.items():
            table = table.append_column(label, pa.array(cells))
    return table


def _wrong(one: "OutcomePredictions") -> str:
    if one.error is None:
        return ""
    return f"{one.error:.0%} wrong" if one.shares else f"{one.error:.4g}"


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _short(value: float | None, unit: str | None = None) -> str:
    return "" if value is None else f"{value:.4g}" + (f" {unit}" if unit else "")


def _range(one: "ColumnSummary") -> str:
    return "" if one.low is None else f"{_short(one.low)} to {_short(one.high)}"


def _commonest(one: "ColumnSummary") -> str:
    shares: dict[str, float] = {}  # values that look alike are one
    for value in one.values:
        text = _plain(value.value)
        shares[text] = shares.get(text, 0.0) + value.share
    return ", ".join(f"{text} ({share:.0%})" for text, share in [*shares.items()][:4])
