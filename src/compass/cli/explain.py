"""`compass explain`: its flags, what they ask for, and how explanations are printed."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from compass.cli import flags, parse, sources
from compass.cli.groups import ServerFlags, grouped
from compass.cli.output import print_utf8
from compass.cli.study import StudyFlags
from compass.domain.errors import BadInput, QueryProblem

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from compass.client.engine import RemoteEngine
    from compass.domain.answer import Answer, Evidence, Suggestion
    from compass.domain.base import Value
    from compass.domain.explanation import Explanation, Importance
    from compass.engine.compass import Compass

RowNumber = Annotated[int | None, flags.option("--row", "N", "A past run, counted from 0.", min=0)]
ConfigFile = Annotated[
    flags.MaybeText, flags.option("--config", "FILE", "A configuration: a JSON or YAML file.")
]
QueryText = Annotated[
    flags.MaybeText, flags.option("--query", "QUERY", "Explain a suggestion of the answer to this.")
]
Rank = Annotated[
    int | None, flags.option("--suggestion", "K", "Which one, the first unless given.", min=1)
]
Outcomes = Annotated[
    flags.Texts, flags.option("--outcome", "COLUMN", "Only this outcome; repeatable.")
]
Against = Annotated[
    flags.MaybeText,
    flags.option("--against", "RUN", "Compare with row:N or a file, not with all past runs."),
]
WithImportance = Annotated[
    bool, typer.Option("--importance", help="Which columns the models rely on.")
]

_HALF = 12  # characters of a bar on each side
_CAVEAT = "This is how the model arrives at its prediction, not what causes the outcome."


@dataclass(frozen=True)
class ExplainFlags:
    """What to explain."""

    row: RowNumber = None
    config: ConfigFile = None
    query: QueryText = None
    suggestion: Rank = None
    start: flags.Start = None
    outcome: Outcomes = None
    against: Against = None
    importance: WithImportance = False

    def check(self) -> None:
        """Refuse before the work flags that contradict each other, or that name nothing."""
        named = {"--row": self.row, "--config": self.config, "--query": self.query}
        given = [flag for flag, value in named.items() if value is not None]
        if len(given) > 1:
            raise BadInput(f"{' and '.join(given)} name different runs", hint="give one of them")
        if not given and not self.importance:
            raise BadInput(
                "there is nothing to explain",
                hint="name a past run with --row N, a file with --config FILE, or ask with --query",
            )
        for flag, value in (("--suggestion", self.suggestion), ("--from", self.start)):
            if value is not None and self.query is None:
                raise BadInput(f"{flag} belongs to a question", hint="add --query 'Recommend ...'")


@grouped
def explain(
    data: flags.Source,
    *,
    wanted: ExplainFlags,
    surrogate: flags.Surrogate = None,
    study: StudyFlags,
    remote: ServerFlags,
    no_cache: flags.NoCache = False,
    as_json: flags.AsJson = False,
) -> None:
    """Say why the model predicts this for a past run, a configuration or a suggestion."""
    from compass.cli.progress import progress

    wanted.check()
    given = study.parsed()
    with progress(quiet=as_json) as tell:
        engine = sources.engine(
            data, given, tell, remote.connect(), cached=not no_cache, surrogate=surrogate
        )
        found = explanations(engine, wanted)
        relied = importances(engine, wanted.outcome) if wanted.importance else ()
    show(found, relied, as_json=as_json)


def explanations(
    engine: "Compass | RemoteEngine", wanted: ExplainFlags
) -> "tuple[Explanation, ...]":
    """What the flags ask to be explained; nothing when they name no run."""
    against = parse.run(wanted.against, "--against")
    outcomes = tuple(wanted.outcome or ())
    if wanted.query is not None:
        answer = engine.ask(wanted.query, run=parse.run(wanted.start), prove=0.0)
        suggestion = _suggestion(answer, wanted.suggestion or 1)
        if against is None and answer.baseline is not None:
            against = getattr(answer.query.baseline, "row", None)
            against = answer.baseline if against is None else against
        return engine.explain(suggestion, outcomes, against=against)
    run = wanted.row
    if run is None:
        run = parse.run(wanted.config, "--config", past="for a past run: --row N")
    return () if run is None else engine.explain(run, outcomes, against=against)


def _suggestion(answer: "Answer", rank: int) -> "Suggestion":
    if not len(answer):
        raise QueryProblem(
            "the answer has no suggestion to explain",
            hint=answer.no_answer or "ask about one configuration: add --from row:N",
        )
    if rank > len(answer):
        raise BadInput(
            f"there is no suggestion {rank}: the answer has {len(answer)}",
            hint=f"give --suggestion 1 to {len(answer)}" if len(answer) > 1 else "leave it out",
        )
    return answer[rank - 1]


def importances(
    engine: "Compass | RemoteEngine", outcomes: list[str] | None
) -> "tuple[Importance, ...]":
    """What the models of these outcomes rely on; of all outcomes unless some are named."""
    from compass.domain.space import Role

    return tuple(engine.importance(name) for name in outcomes or engine.space.having(Role.OUTCOME))


def show(
    found: "tuple[Explanation, ...]", relied: "tuple[Importance, ...]", *, as_json: bool
) -> None:
    """Print explanations and importances."""
    if as_json:
        parts = {
            "explanations": [one.model_dump(mode="json") for one in found],
            "importance": [one.model_dump(mode="json") for one in relied],
        }
        print_utf8(json.dumps(parts, indent=2))
        return
    from rich.console import Console

    from compass.cli.render import printable

    console = Console()
    for place, one in enumerate(found):
        if place:
            console.print()
        for part in _explanation(one):
            console.print(part)
    if found:
        for part in _similar(found):
            console.print(part)
        console.print()
        console.print(printable(_CAVEAT, "dim"))
    for place, columns in enumerate(relied):
        if place or found:
            console.print()
        for part in _importance(columns):
            console.print(part)


def _explanation(one: "Explanation") -> "list[RenderableType]":
    from compass.cli.render import printable, table
    from compass.domain.quantity import setting as value
    from compass.explain.sentence import share_text

    parts: list[RenderableType] = [printable(one.sentence, "bold")]
    parts += [printable(f"note: {note}") for note in one.notes]
    top = max((abs(c.amount) for c in one.contributions), default=0.0)
    single = one.baseline is not None
    rows: list[list[RenderableType]] = []
    for c in one.contributions:
        share = c.share
        if c.low is not None and c.high is not None:
            ends = (share_text(one.scale, end, one.unit) for end in (c.low, c.high))
            share += f" [{', '.join(ends)}]"
        old = [value(c.before, c.unit)] if single else []
        rows.append([c.name, *old, value(c.value, c.unit), share, _bar(c.amount, top)])
    if rows:
        effect = {"factor": "multiplies by", "log-odds": "odds"}.get(one.scale, "adds")
        old_head = [one.against] if single else []
        headers = ["parameter", *old_head, "value", effect, f"against {one.against}"]
        parts += ["", table(headers, rows)]
    return parts


def _similar(found: "tuple[Explanation, ...]") -> "list[RenderableType]":
    """The most similar runs of all outcomes in one table: as a rule they are the same."""
    from compass.cli.render import place, printable, table
    from compass.domain.quantity import quantity
    from compass.domain.quantity import setting as value

    runs: dict[int, Evidence] = {}
    measured: dict[tuple[int, str], Value] = {}
    for one in found:
        for run in one.similar:
            runs[run.row] = run
            measured |= {(run.row, name): seen for name, seen in run.outcomes.items()}
    if not runs:
        return []
    config = found[0].config
    rows = []
    for run in sorted(runs.values(), key=lambda run: (run.distance, run.row)):
        other = [
            f"{name} = {value(used)}" for name, used in run.config.items() if used != config[name]
        ]
        cells = [
            quantity(measured[run.row, one.target], one.unit)
            if (run.row, one.target) in measured
            else ""
            for one in found
        ]
        same = "nothing: the same configuration"
        rows.append([place(run), f"{run.distance:.2f}", *cells, ", ".join(other) or same])
    headers = ["row", "distance", *(one.target for one in found), "what differs"]
    return ["", printable("Most similar past runs", "bold"), table(headers, rows)]


def _bar(amount: float, top: float) -> "Text":
    """A bar to the left of the middle for less, to the right for more."""
    from rich.text import Text

    length = round(_HALF * abs(amount) / top) if top else 0
    left, right = (length, 0) if amount < 0 else (0, length)
    bar = Text(" " * (_HALF - left))
    bar.append("█" * left, "cyan")
    bar.append("│", "dim")
    bar.append("█" * right, "magenta")
    return bar


def _importance(one: "Importance") -> "list[RenderableType]":
    from rich.text import Text

    from compass.cli.render import printable, rows_checked, table

    top = max((column.rise for column in one.columns), default=0.0)
    rows: list[list[RenderableType]] = []
    for column in one.columns:
        length = round(2 * _HALF * max(column.rise, 0.0) / top) if top > 0 else 0
        change = f"{100 * column.rise:+.1f} ± {100 * column.error:.1f} points"
        rows.append([column.name, change, Text("█" * length, "cyan")])
    head = (
        f"What the model of {one.outcome} relies on: its {one.error_name} of {one.error:.1%} on "
        f"{one.rows} {rows_checked(one.unseen)} rises by this much when the values of a column "
        "are shuffled"
    )
    return [printable(head, "bold"), table(["column", "rise", ""], rows)]
