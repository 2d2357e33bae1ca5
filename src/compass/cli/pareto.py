"""`compass pareto`: the trade-offs between several outcomes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from compass.cli import flags, sources
from compass.cli.ask import NOT_ANSWERED, AnswerFiles, AskFlags, print_answer
from compass.cli.groups import ModelFlags, ServerFlags, grouped
from compass.cli.output import check_output, print_line
from compass.cli.study import StudyFlags
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.domain.query import Query


@dataclass(frozen=True)
class FrontFlags:
    """What is traded off, and what may be set."""

    minimize: flags.Minimize = None
    maximize: flags.Maximize = None
    ask: flags.Asked = None
    svg: flags.SvgFile = None
    png: flags.PngFile = None

    def query(self, asked: AskFlags) -> "Query":
        """The question that these flags are."""
        from compass.domain.query import EVERY_KNOB, Kind
        from compass.engine.arguments import query_of, several

        kind = Kind.RECOMMEND if asked.start is None else Kind.RECONFIGURE
        wanted = several(_names(self.minimize), _names(self.maximize), {})
        return query_of(kind, _names(self.ask) or [EVERY_KNOB], {}, wanted, ())


def _names(texts: list[str] | None) -> list[str]:
    """Names that were given one by one, or several in one text with commas between."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


@grouped
def pareto(
    data: flags.Source,
    *,
    front: FrontFlags,
    asked: AskFlags,
    files: AnswerFiles,
    models: ModelFlags,
    study: StudyFlags,
    remote: ServerFlags,
    no_cache: flags.NoCache = False,
    as_json: flags.AsJson = False,
) -> None:
    """Show the trade-offs between several outcomes: where one gets better, another gets worse.

    \b
    compass pareto runs.csv --minimize runtime --minimize power --ask nodes,threads
    compass pareto runs.csv --minimize runtime,power --from row:7 --where "nodes <= 8"
    """
    from compass.cli.progress import progress

    files.check()
    check_output(front.svg, front.png)
    query = front.query(asked)
    if asked.generator is not None:
        raise BadInput("--generator has no front to show", hint="leave it out")
    options: dict[str, Any] = asked.options()
    given = study.parsed()
    with progress(quiet=as_json) as tell:
        server = remote.connect(None)
        brought = models.files.models(server)
        engine = sources.engine(
            data,
            given,
            tell,
            server,
            cached=not no_cache,
            surrogate=models.surrogate,
            models=brought,
        )
        answer = engine.ask(query, **options)
    files.write(answer)
    for form, path in (("svg", front.svg), ("png", front.png)):
        if path is not None:
            from compass.exporters.forms import export

            export(answer, form, path)
            print_line(f"wrote {path}")
    print_answer(answer, as_json)
    files.refuse(answer)
    if not answer.answered:
        raise typer.Exit(NOT_ANSWERED)
