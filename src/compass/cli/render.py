"""Answers as tables that a person can read."""

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from compass.domain.answer import Answer, Curve, Label, Moved, Prediction, Suggestion
from compass.domain.base import Value
from compass.domain.query import Kind

# Word and shape, not only colour.
_MARK = {Label.TRUSTED: "✔", Label.CAUTION: "!", Label.UNSUPPORTED: "✘"}
_STYLE = {Label.TRUSTED: "green", Label.CAUTION: "yellow", Label.UNSUPPORTED: "red"}


def show(value: Value, unit: str | None = None) -> str:
    """A value as a person reads it."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        text = "none" if value is None else str(value)
    elif float(value).is_integer() and abs(value) < 1e9:
        text = str(int(value))
    else:
        text = f"{value:.4g}"
    return f"{text} {unit}" if unit else text


def percent(share: float | None) -> str:
    """A change in percent with its sign."""
    if share is None:
        return ""
    return f"{share:+.1f} %"


def label(kind: Label) -> Text:
    """A trust label: shape, word and colour."""
    return Text(f"{_MARK[kind]} {kind.value}", style=_STYLE[kind])


def predicted(outcome: Prediction) -> str:
    """A prediction with its interval and its change."""
    text = show(outcome.value)
    if outcome.low is not None and outcome.high is not None:
        text += f" [{show(outcome.low)}, {show(outcome.high)}]"
    if outcome.probability is not None:
        text += f" ({outcome.probability:.0%})"
    if outcome.change_percent is not None:
        text += f"\n{percent(outcome.change_percent)}"
    if outcome.meets is False:
        text += "\nmisses the goal"
    return text


def _table(headers: Iterable[str], rows: Iterable[Sequence[RenderableType]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for header in headers:
        table.add_column(escape(header))
    for row in rows:
        table.add_row(*row)
    return table


def answer(console: Console, result: Answer) -> None:
    """Print an answer."""
    console.print(Text(result.text, style="dim"))
    console.print(Text(result.context))
    for note in result.notes:
        console.print(Text(f"note: {note}"))
    console.print()
    if result.no_answer is not None:
        console.print(Text(f"No supported answer: {result.no_answer}", style="bold"))
        console.print()
    if result.suggestions:
        console.print(_suggestions(result))
        console.print()
        console.print(_reasons(result))
    if result.population is not None:
        console.print(_population(result))
    for curve in result.curves:
        console.print()
        console.print(_curve(curve))
    if result.run_next:
        console.print()
        console.print(Text("Run next", style="bold"))
        changed = _varying([p.config for p in result.run_next])
        rows = [[*(show(p.config[n]) for n in changed), p.why] for p in result.run_next]
        console.print(_table([*changed, "why"], [[escape(c) for c in row] for row in rows]))
    console.print()
    console.print(_footer(result))


def _suggestions(result: Answer) -> RenderableType:
    first = result.suggestions[0]
    names = list(dict.fromkeys(n for s in result.suggestions for n in s.settings))
    outcomes = [o for o in first.outcomes if o.name in result.query.goals]
    if not outcomes:
        outcomes = list(first.outcomes)
    headers = ["", *names, *(_head(o) for o in outcomes), "trust"]
    rows: list[list[RenderableType]] = []
    for rank, suggestion in enumerate(result.suggestions, 1):
        edits = {edit.name: edit for edit in suggestion.edits}
        cells: list[RenderableType] = [str(rank)]
        cells += [escape(_setting(suggestion, name, edits.get(name), result)) for name in names]
        cells += [escape(predicted(suggestion.outcome(o.name))) for o in outcomes]
        cells.append(label(suggestion.trust.label))
        rows.append(cells)
    return _table(headers, rows)


def _head(outcome: Prediction) -> str:
    return f"{outcome.name} ({outcome.unit})" if outcome.unit else outcome.name


def _setting(suggestion: Suggestion, name: str, edit: Moved | None, result: Answer) -> str:
    value = show(suggestion.config[name])
    if result.query.kind is Kind.RECOMMEND:
        return value if edit is None else f"{value} (forced)"
    if edit is None:
        return f"{value} (as before)"
    return f"{show(edit.old)} -> {value}" + (" (forced)" if edit.forced_by else "")


def _reasons(result: Answer) -> RenderableType:
    lines: list[RenderableType] = []
    for rank, suggestion in enumerate(result.suggestions, 1):
        trust = suggestion.trust
        line = Text(f"{rank}. ")
        line.append(trust.reason)
        if trust.evidence:
            rows = ", ".join(
                f"{e.file}:{e.row}" if e.file else str(e.row) for e in trust.evidence[:5]
            )
            more = f" and {trust.support - 5} more" if trust.support > 5 else ""
            line.append(f" Closest rows: {rows}{more}.", style="dim")
        lines.append(line)
    return Group(*lines)


def _population(result: Answer) -> RenderableType:
    population = result.population
    assert population is not None
    rows = []
    for o in population.outcomes:
        if o.change is None:
            share = f"{o.probability:.0%} {show(o.value)}" if o.probability is not None else ""
            rows.append([o.name, share, f"{o.change_percent:+.1f} points", ""])
            continue
        interval = f"[{show(o.low)}, {show(o.high)}] at {o.level:.0%}"
        change = f"{show(o.change, o.unit)} ({percent(o.change_percent)})"
        rows.append([o.name, show(o.value, o.unit), change, interval])
    head = Text(f"Mean over {population.runs} past runs", style="bold")
    table = _table(
        ["", "after", "change", "interval of the change"], [[*map(escape, r)] for r in rows]
    )
    return Group(head, table)


def _curve(curve: Curve) -> RenderableType:
    numbers = [p.predicted for p in curve.points if isinstance(p.predicted, float)]
    top = max(map(abs, numbers), default=0.0)
    rows: list[list[RenderableType]] = []
    for point in curve.points:
        bar = ""
        if isinstance(point.predicted, float) and top:
            bar = "█" * max(1, round(24 * abs(point.predicted) / top))
        interval = "" if point.low is None else f"[{show(point.low)}, {show(point.high)}]"
        style = "" if point.label is Label.TRUSTED else "dim"
        rows.append(
            [
                escape(show(point.value)),
                escape(show(point.predicted)),
                escape(interval),
                Text(bar, style=style),
                label(point.label),
                "" if point.feasible else "breaks a rule",
            ]
        )
    head = Text(f"{curve.outcome} against {curve.parameter}", style="bold")
    return Group(head, _table([curve.parameter, "predicted", "interval", "", "trust", ""], rows))


def _varying(configs: Sequence[dict[str, Value]]) -> list[str]:
    """The columns that differ, or all when nothing does."""
    names = list(configs[0])
    changed = [n for n in names if len({str(c[n]) for c in configs}) > 1]
    return changed or names


def _footer(result: Answer) -> Text:
    models = "; ".join(
        f"{card.target}: {card.family} on {card.rows} runs, "
        f"{card.error_name} {card.error:.1%} on unseen ones"
        for card in result.models
    )
    total = sum(result.seconds.values())
    return Text(f"{models} | {total:.2f} s, seed {result.provenance.seed}", style="dim")


def to_json(result: Answer) -> str:
    """The answer as JSON, for programs."""
    return result.model_dump_json(indent=2)
