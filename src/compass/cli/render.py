"""Answers as tables that a person can read."""

import math
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from compass.domain.answer import (
    Answer,
    Certificate,
    CertificateStatus,
    Curve,
    Evidence,
    Label,
    ModelCard,
    Moved,
    Prediction,
    Suggestion,
)
from compass.domain.base import Value
from compass.domain.query import Kind
from compass.trust.outcome_words import classes_in_words, condition_in_words, worth_telling
from compass.trust.words import population_in_words

# Word and shape, not only colour.
_MARK = {Label.TRUSTED: "✔", Label.CAUTION: "!", Label.UNSUPPORTED: "✘"}
_PROVED = {
    CertificateStatus.OPTIMAL: "✔",
    CertificateStatus.INFEASIBLE: "✘",
    CertificateStatus.BEST_FOUND: "~",
    CertificateStatus.NO_PROOF: "?",
}
_STYLE = {Label.TRUSTED: "green", Label.CAUTION: "yellow", Label.UNSUPPORTED: "red"}


def show(value: Value, unit: str | None = None) -> str:
    """A value as a person reads it."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        text = "none" if value is None else str(value)
    elif float(value).is_integer() and abs(value) < 1e9:
        text = str(int(value))
    elif 1e4 <= abs(value) < 1e9:
        text = f"{float(f'{value:.4g}'):.0f}"
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


def interval(low: float | None, high: float | None) -> str:
    """An interval, as a person reads it; empty when there is none."""
    if low is None or high is None:
        return ""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "[unbounded]"
    return f"[{show(low)}, {show(high)}]"


def _change(outcome: Prediction) -> str:
    """The change in percent with its interval."""
    text, before = percent(outcome.change_percent), outcome.before
    low, high = outcome.change_low, outcome.change_high
    if low is None or high is None or not isinstance(before, float | int) or not before:
        return text
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{text} [unbounded]"
    shares = (100 * end / abs(before) for end in (low, high))
    ends = (f"{one:+.0f} %" if abs(one) >= 10 else f"{one:+.2g} %" for one in shares)
    return f"{text} [{', '.join(ends)}]"


def predicted(outcome: Prediction, gap: str = " ") -> str:
    """A prediction with its interval and its change."""
    text = classes_in_words(outcome.scores) if outcome.scores else show(outcome.value)
    if outcome.low is not None:
        text += f"{gap}{interval(outcome.low, outcome.high)}"
    if outcome.scores_before:
        text += f"\nbefore {classes_in_words(outcome.scores_before)}"
    if outcome.change_percent is not None:
        text += f"\n{_change(outcome)}"
    if outcome.before is None and outcome.observed is not None:
        text += f"\nmeasured {show(outcome.observed)}"
    if outcome.chance is not None:
        sure = "> 99%" if outcome.chance > 0.99 else f"{outcome.chance:.0%}"
        text += f"\n{sure} sure"
    if outcome.meets is False:
        text += "\nmisses the goal" if outcome.chance is None else ": too little"
    return text


def printable(words: str, style: str = "") -> Text:
    """Words as they are, but for control characters, which could move the cursor."""
    return Text("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in words), style)


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[RenderableType]],
    *,
    right: Iterable[str] = (),
    whole: Iterable[str] = (),
) -> Table:
    """A plain table; columns named in `whole` are broken last when there is little room."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for header in headers:
        made.add_column(
            printable(header),
            overflow="fold",
            justify="right" if header in right else "left",
            no_wrap=header in whole,
        )
    for row in rows:
        made.add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in row))
    return made


def fits(console: Console, made: Table) -> bool:
    """Whether a table needs no line breaks on this terminal."""
    room = console.options.update_width(100_000)
    return console.measure(made, options=room).maximum <= console.width


def answer(console: Console, result: Answer) -> None:
    """Print an answer."""
    console.print(printable(result.text, "dim"))
    console.print(printable(result.context))
    if result.comparable is not None:
        console.print(printable(result.comparable.reason))
    if result.provenance.sample is not None:
        console.print(printable(f"The data is {result.provenance.sample}."))
    for note in result.notes:
        console.print(printable(f"note: {note}"))
    console.print()
    if result.no_answer is not None:
        console.print(printable(f"No supported answer: {result.no_answer}", "bold"))
        console.print()
    if result.suggestions:
        console.print(_suggestions(console, result, result.suggestions))
        console.print()
        console.print(_reasons(result.suggestions))
    if result.ideas:
        console.print(printable("Ideas to measure, not suggested", "bold"))
        console.print(_suggestions(console, result, result.ideas, "i"))
        console.print()
        console.print(_reasons(result.ideas, "i"))
    if result.certificate is not None:
        console.print(_certificate(result.certificate))
    if result.population is not None:
        console.print(_population(result))
    for curve in result.curves:
        console.print()
        console.print(_curve(curve))
    if result.run_next:
        console.print()
        console.print(_run_next(result))
    console.print()
    console.print(_footer(result))


def _suggestions(
    console: Console, result: Answer, some: Sequence[Suggestion], mark: str = ""
) -> RenderableType:
    """One line per suggestion; where that is too wide, one column for each of as many as fit."""
    first = some[0]
    names = list(dict.fromkeys(n for s in some for n in s.settings))
    outcomes = [o for o in first.outcomes if o.name in result.query.goals]
    if not outcomes:
        outcomes = list(first.outcomes)
    headers = ["", *names, *(_head(o) for o in outcomes), "trust"]

    def row(rank: int, suggestion: Suggestion, gap: str) -> list[RenderableType]:
        edits = {edit.name: edit for edit in suggestion.edits}
        settings = [_setting(suggestion, name, edits.get(name), result) for name in names]
        values = [predicted(suggestion.outcome(o.name), gap) for o in outcomes]
        return [f"{mark}{rank}", *settings, *values, _trust(suggestion)]

    ranked = list(enumerate(some, 1))
    lines = [row(rank, suggestion, " ") for rank, suggestion in ranked]
    columns = [row(rank, suggestion, "\n") for rank, suggestion in ranked]
    flat = table(headers, lines)
    if fits(console, flat):
        return flat
    for size in range(len(columns), 0, -1):
        parts = [_upright(headers, columns[i : i + size]) for i in range(0, len(columns), size)]
        if size == 1 or all(fits(console, part) for part in parts):
            break
    return Group(parts[0], *(piece for part in parts[1:] for piece in ("", part)))


def _trust(suggestion: Suggestion) -> Text:
    """The label, and that of Algorithm 1 as published with its two shares; none for a miss."""
    trust = suggestion.trust
    text = label(trust.label) if suggestion.meets_goals else Text("misses its goal", style="red")
    if trust.published is not None:
        about = f"Algorithm 1: {trust.published.value}"
        text.append_text(printable(f"\n{about}\nOOD {trust.ood:.2f}, UQ {trust.uq:.2f}", "dim"))
    return text


def _upright(headers: list[str], columns: list[list[RenderableType]]) -> Table:
    first, *others = zip(headers, *columns, strict=True)
    return table([str(cell) for cell in first], others)


def _head(outcome: Prediction) -> str:
    return f"{outcome.name} ({outcome.unit})" if outcome.unit else outcome.name


def _setting(suggestion: Suggestion, name: str, edit: Moved | None, result: Answer) -> str:
    value = show(suggestion.config[name])
    if result.query.kind is Kind.RECOMMEND:
        return value if edit is None else f"{value} (forced)"
    if edit is None:
        return value
    return f"{show(edit.old)} -> {value}" + (" (forced)" if edit.forced_by else "")


def _reasons(some: Sequence[Suggestion], mark: str = "") -> RenderableType:
    lines: list[RenderableType] = []
    for rank, suggestion in enumerate(some, 1):
        trust = suggestion.trust
        line = printable(f"{mark}{rank}. {trust.reason}")
        if trust.evidence:
            rows = ", ".join(place(e) for e in trust.evidence[:5])
            more = f" and {trust.support - 5} more" if trust.support > 5 else ""
            line.append_text(printable(f" Closest rows: {rows}{more}.", "dim"))
        if suggestion.breaks:
            breaks = f" Breaks what holds on all rows: {'; '.join(suggestion.breaks)}."
            line.append_text(printable(breaks, "yellow"))
        for condition in filter(worth_telling, suggestion.conditions):
            line.append_text(printable(f" {condition_in_words(condition)}"))
        lines.append(line)
    return Group(*lines)


def place(run: Evidence) -> str:
    """Where a past run is: its row, of several files also which, of a sample also whence."""
    row = f"{run.file}:{run.row}" if run.file else str(run.row)
    return f"{row} ({run.source})" if run.source else row


def _population(result: Answer) -> RenderableType:
    population = result.population
    assert population is not None
    rows = []
    for o in population.outcomes:
        if o.change is None:
            points = f"{show(o.value)} {o.change_percent:+.1f} points"
            before = f"before: {classes_in_words(o.scores_before)}"
            rows.append([o.name, classes_in_words(o.scores), points, before])
            continue
        ends = f"{interval(o.change_low, o.change_high)} at {100 * (o.level or 0):g} %"
        sign = "+" if o.change > 0 else ""
        change = f"{sign}{show(o.change, o.unit)} ({percent(o.change_percent)})"
        rows.append([o.name, show(o.value, o.unit), change, ends])
    stands = ""
    if population.stands_for is not None:
        stands = f" of the sample, which stand for {population.stands_for:,.0f}"
    head = printable(f"Mean over {population.runs} past runs{stands}", "bold")
    why = population_in_words(population, result.comparable)
    line = label(population.label).append_text(printable(f": {why}", "default"))
    told = map(condition_in_words, filter(worth_telling, population.conditions))
    made = table(["", "after", "change", "interval of the change"], rows)
    return Group(head, made, line, *map(printable, told))


def _curve(curve: Curve) -> RenderableType:
    numbers = [p.predicted for p in curve.points if isinstance(p.predicted, float)]
    top = max(map(abs, numbers), default=0.0)
    rows: list[list[RenderableType]] = []
    for point in curve.points:
        bar = ""
        if isinstance(point.predicted, float) and top:
            bar = "█" * max(1, round(24 * abs(point.predicted) / top))
        style = "" if point.label is Label.TRUSTED else "dim"
        rows.append(
            [
                show(point.value),
                show(point.predicted),
                interval(point.low, point.high),
                Text(bar, style=style),
                label(point.label),
                "" if point.feasible else "breaks a rule",
            ]
        )
    head = printable(f"{curve.outcome} against {curve.parameter}", "bold")
    return Group(head, table([curve.parameter, "predicted", "interval", "", "trust", ""], rows))


def _certificate(proof: Certificate) -> Text:
    """What is proved, in one line: the word first, then the sentence."""
    style = {CertificateStatus.OPTIMAL: "green", CertificateStatus.INFEASIBLE: "red"}.get(
        proof.status, "yellow"
    )
    line = Text(f"{_PROVED[proof.status]} {proof.status.value}", style=style)
    return line.append_text(printable(f": {proof.reason}", "default"))


def _run_next(result: Answer) -> RenderableType:
    lines = [
        printable(f"{rank}. {', '.join(f'{n} = {show(v)}' for n, v in p.config.items())}: {p.why}")
        for rank, p in enumerate(result.run_next, 1)
    ]
    return Group(printable("Run next", "bold"), *lines)


def rows_checked(unseen: bool, runs: str = "runs") -> str:
    """What the error of a model was measured on, as far as anybody knows."""
    return f"unseen {runs}" if unseen else f"{runs} that it may have been trained on"


def model_text(card: ModelCard) -> str:
    """The family of a model with what was decided about it."""
    more = [
        "log" if card.log else "",
        f"on {card.embedding}" if card.embedding else "",
        "tuned" if card.tuned else "",
    ]
    decided = ", ".join(part for part in more if part)
    return f"{card.family} ({decided})" if decided else card.family


def _footer(result: Answer) -> Text:
    models = "; ".join(
        f"{card.target}: {model_text(card)} on {card.rows} runs, "
        f"{card.error_name} {card.error:.1%} on {rows_checked(card.unseen, 'ones')}"
        for card in result.models
    )
    total = sum(result.seconds.values())
    return printable(f"{models} | {total:.2f} s, seed {result.provenance.seed}", "dim")


def to_json(result: Answer) -> str:
    """The answer as JSON, for programs."""
    return result.model_dump_json(indent=2)
