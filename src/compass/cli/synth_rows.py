"""What the commands of `compass synth` share: their flags, models, and rows that are written."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compass.cli import flags, sources
from compass.cli.output import print_line
from compass.cli.parse import column_and_value
from compass.cli.study import StudyFlags
from compass.domain.errors import BadInput, unknown

if TYPE_CHECKING:
    from compass.settings import SynthesisSettings
    from compass.synth.model import SynthesisModel, SyntheticRows
    from compass.synth.report import SynthesisReport

_USUAL = "cart"
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
Chosen = Annotated[
    flags.Texts,
    flags.option(
        "--set", "NAME=VALUE", "A setting of the synthesizer: epochs=50, batch=200; repeatable."
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        "--tune", min=0, max=86_400, metavar="S",
        help="Seconds for better settings; the same command goes on from there.",
    ),
]  # fmt: skip
Given = Annotated[
    flags.Texts, flags.option("--given", "COLUMN=VALUE", "What is given; repeatable.")
]


def learnt_model(
    source: str,
    study: StudyFlags,
    synthesizer: str,
    seed: int | None,
    *,
    quiet: bool,
    settings: Sequence[str] | None = None,
    tune: float = 0.0,
    journal: Path | None = None,
) -> "SynthesisModel":
    """A saved model, or one that is learnt from data now."""
    from compass.cli.progress import progress
    from compass.engine.synthesis import load_synthesizer
    from compass.engine.synthesis import synthesizer as learn

    if not source:
        raise BadInput("DATA is empty", hint="name a file, a glob or a folder")
    if source.endswith(".synth"):
        if not study.parsed().empty:
            raise BadInput(
                f"{source} already has its roles, units and rules",
                hint="use --where for these rows, or learn again: compass synth fit DATA",
            )
        saved = load_synthesizer(source)
        if synthesizer not in (_USUAL, saved.meta.name):
            raise BadInput(
                f"{source} was learnt by {saved.meta.name}, not by {synthesizer}",
                hint=f"learn again: compass synth fit DATA --synthesizer {synthesizer}",
            )
        return saved
    data = sources.dataset(source, study.parsed())
    with progress(quiet=quiet) as tell:
        return learn(
            data, synthesizer, seed=seed, settings=settings_of(synthesizer, settings), tune=tune,
            journal=journal, tell=tell,
        )  # fmt: skip


def settings_of(synthesizer: str, texts: Sequence[str] | None) -> "SynthesisSettings":
    """The settings of a synthesizer, from NAME=VALUE."""
    from compass.settings import SynthesisSettings
    from compass.synth.tune import changed

    chosen = SynthesisSettings()
    if not texts:
        return chosen
    known = getattr(chosen, synthesizer, None)
    values: dict[str, Any] = {}
    for text in texts:
        name, value = column_and_value("set", text)
        if known is not None and name not in type(known).model_fields:
            raise unknown(f"setting of {synthesizer}", name, list(type(known).model_fields))
        values[name] = value if name == "model" else _number(name, value)
    return changed(chosen, synthesizer, values)


def _number(name: str, text: str) -> float | int:
    try:
        number = float(text)
    except ValueError:
        raise BadInput(f"{name} cannot be '{text}'", hint="give a number") from None
    return int(number) if number.is_integer() else number


def given_values(model: "SynthesisModel", texts: Sequence[str] | None) -> dict[str, Any]:
    """Values by column, from COLUMN=VALUE; labels are meant as they are written."""
    from compass.domain.space import Category
    from compass.language.bind import column

    found: dict[str, Any] = {}
    for text in texts or ():
        name, value = column_and_value("given", text)
        name = column(name, model.space)
        parameter = model.space[name]
        if isinstance(parameter, Category):
            labels = {str(label).lower() if label in (True, False, None) else str(label): label
                      for label in parameter.values}  # fmt: skip
            if value not in labels:
                raise unknown(f"value of {name}", value, list(labels))
            found[name] = labels[value]
        else:
            found[name] = None if value == "none" else _number(name, value)
    return found


def write_rows(drawn: "SyntheticRows", output: Path, *, as_json: bool) -> None:
    """Write drawn rows to a file, and say what came of them."""
    from compass.cli.tables import print_json
    from compass.readers.write import write

    write(drawn.table, output)
    if as_json:
        print_json(drawn.report.model_dump(mode="json") | {"wrote": str(output)})
        return
    for line in words_of(drawn.report):
        print_line(line)
    print_line(f"wrote {output}")


def words_of(report: "SynthesisReport") -> Sequence[str]:
    """A report in lines."""
    lines = [
        f"{report.rows} of {report.asked} rows; {report.acceptance:.1%} of "
        f"{report.tried} drawn ones obeyed every condition"
    ]
    lines += [f"note: {count} refused rows break {rule}" for rule, count in report.broken.items()]
    return [*lines, *(f"note: {note}" for note in report.notes)]
