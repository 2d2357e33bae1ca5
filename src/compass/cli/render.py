"""Answers as tables that a person can read."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from compass.cli.front_plot import plotted
from compass.cli.output import visible
from compass.cli.tables import comparable_note
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
from compass.domain.front import Front, FrontPoint
from compass.domain.machines import PlatformAnswer
from compass.domain.quantity import estimate, number, quantity, setting
from compass.domain.query import Kind
from compass.trust.front_words import front_in_words, point_in_words, point_name
from compass.trust.outcome_words import (
    classes_in_words,
    condition_in_words,
    goals_in_words,
    measured_in_words,
    price_in_words,
    settings_in_words,
    share,
    skill_in_words,
    worth_telling,
)
from compass.trust.words import population_in_words

# Word and shape, not only colour.
_MARK = {Label.TRUSTED: "✔", Label.CAUTION: "!", Label.UNSUPPORTED: "✘"}
_PROVED = {
    CertificateStatus.OPTIMAL: "✔",
    CertificateStatus.INFEASIBLE: "✘",
    CertificateStatus.BEST_FOUND: "~",
    CertificateStatus.NO_PROOF: "?",
}
_LIKE = 3  # points that one is like, which are named
_IDEA = "i"  # before the number of what is no suggestion
_STYLE = {Label.TRUSTED: "green", Label.CAUTION: "yellow", Label.UNSUPPORTED: "red"}


def percent(change: float | None) -> str:
    """A change in percent with its sign."""
    if change is None:
        return ""
    return f"{change:+.1f} %"


def label(kind: Label) -> Text:
    """A trust label: shape, word and colour."""
    return Text(f"{_MARK[kind]} {kind.value}", style=_STYLE[kind])


def with_interval(
    value: Value, low: float | None, high: float | None, unit: str | None = None
) -> tuple[str, str]:
    """A value and its interval in one unit, as a person reads them; empty when there is none."""
    if low is None or high is None or isinstance(value, bool) or not isinstance(value, int | float):
        return quantity(value, unit), ""
    text, ends = estimate(value, low, high, unit)
    return text, "[unbounded]" if ends is None else f"[{', '.join(ends)}]"


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
    text, ends = with_interval(outcome.value, outcome.low, outcome.high, outcome.unit)
    if outcome.scores:
        text = classes_in_words(outcome.scores)
    if ends:
        text += f"{gap}{ends}"
    if outcome.scores_before:
        text += f"\nbefore {classes_in_words(outcome.scores_before)}"
    if outcome.change_percent is not None:
        text += f"\n{_change(outcome)}"
    if outcome.before is None and outcome.observed is not None:
        text += f"\nmeasured {quantity(outcome.observed, outcome.unit)}"
    if outcome.chance is not None:
        text += f"\nchance {share(outcome.chance)}"
    if outcome.meets is False:
        text += "\nmisses the goal" if outcome.chance is None else ": too low"
    return text


def printable(words: str, style: str = "") -> Text:
    """Words as they are, but for control characters, which could move the cursor."""
    return Text(visible(words), style)


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
    """Print an answer: what was asked, what is suggested, and what else there is to know."""
    _print_question(console, result)
    if result.front is not None and result.front.points:
        print_front(console, result.front, result.units)
    if result.no_answer is not None:
        console.print(printable(f"No supported answer: {result.no_answer}", "bold"))
    if result.suggestions:
        if result.no_answer is not None:
            console.print()
        console.print(_suggestions(console, result, result.suggestions))
        console.print()
        console.print(_reasons(result.suggestions))
    if result.machines is not None:
        for one in machines(result.machines):
            console.print()
            console.print(one)
    if result.certificate is not None:
        console.print(_certificate(result, result.certificate))
    if result.best_measured is not None:
        units = {o.name: o.unit for o in _goal_outcomes(result)} | result.units
        words = measured_in_words(result.best_measured, tuple(result.query.goals), units)
        console.print(printable(words))
    if result.population is not None:
        console.print(_population(result))
    ideas = _ideas(console, result)
    curves = (_curve(curve, result.units) for curve in result.curves)
    parts = (ideas, _prices(result), *curves, _run_next(result), _footer(result))
    for part in filter(None, parts):
        console.print()
        console.print(part)


def machines(found: PlatformAnswer) -> Iterator[Group]:
    """A run on all machines, fastest first, one table for each configuration."""
    for line in found.lines:
        extra = [n for n in ("cost", "energy") if any(getattr(o, n) for o in line.machines)]
        rows = [
            [
                one.machine,
                "" if one.ratio is None else number(one.ratio),
                ""
                if one.low is None or one.high is None or one.measured
                else f"[{number(one.low)}, {number(one.high)}]",
                "" if one.runtime is None else number(one.runtime),
                *("" if getattr(one, n) is None else number(getattr(one, n)) for n in extra),
                "" if one.fastest is None else share(one.fastest),
                "measured" if one.measured else label(one.label),
            ]
            for one in line.machines
        ]
        told = ", ".join(f"{name} = {number(value)}" for name, value in line.configuration.items())
        title = f"{line.application} ({told})" if told else line.application
        head = printable(f"{title}: runtime there / runtime on {found.source}", "bold")
        headers = ["machine", "ratio", "", "runtime", *extra, "fastest", "trust"]
        yield Group(head, table(headers, rows, right=("ratio", "runtime", *extra, "fastest")))


def print_front(
    console: Console,
    front: Front,
    units: Mapping[str, str],
    points: Sequence[FrontPoint] | None = None,
) -> None:
    """The trade-offs as a plot, what is known of them as a set, and each beside the ends."""
    for line in plotted(front, units):
        console.print(printable(line), soft_wrap=True)
    console.print()
    for sentence in front_in_words(front, units):
        console.print(printable(sentence))
    rows = [
        [point_name(point), _kinds(front, point), point_in_words(point)]
        for point in (front.points if points is None else points)
        if not point.idea
    ]
    traded = any(point.change for point in front.points)
    head = "what is traded from here" if traded else "beside the ends of the front"
    console.print(table(["", "", head], rows))
    console.print()


def _kinds(front: Front, point: FrontPoint) -> str:
    """What kind of point it is, and which others it is not told apart from."""
    others = [point_name(front.points[other]) for other in point.alike]
    more = f" and {len(others) - _LIKE} more" if len(others) > _LIKE else ""
    measured = f"measured {point.measured}×" if point.measured else "untried"
    said = [
        "knee" if point.knee else "",
        # Of several contexts it is not known what was tried in each.
        "" if front.hypervolume_measured is None else measured,
        "kept: measured" if point.dominated and point.measured else "",
        "promising" if point.promising else "",
        "a smaller change" if point.smaller_change else "",
        f"like {', '.join(others[:_LIKE])}{more}" if others else "",
        "proved" if point.proved else "",
    ]
    return ", ".join(part for part in said if part)


def _print_question(console: Console, result: Answer) -> None:
    """What was asked, what is assumed, and the goals in numbers."""
    console.print(printable(result.text, "dim"))
    console.print(printable(result.context))
    if result.comparable is not None:
        console.print(printable(comparable_note(result.comparable)))
    if result.provenance.sample is not None:
        console.print(printable(f"The data is {result.provenance.sample}."))
    for note in result.notes:
        console.print(printable(f"note: {note}"))
    goals = goals_in_words(_goal_outcomes(result), result.chance)
    if goals:
        console.print(printable(goals))
    console.print()


def _ideas(console: Console, result: Answer) -> RenderableType | None:
    """What was found and is not suggested, apart from what is."""
    if not result.ideas:
        return None
    head = printable("Ideas to measure, not suggested", "bold")
    made = _suggestions(console, result, result.ideas, _IDEA)
    return Group(head, made, "", _reasons(result.ideas, _IDEA))


def _goal_outcomes(result: Answer) -> tuple[Prediction, ...]:
    """The predicted outcomes of what was found first: all that was found has the same goals."""
    found = (*result.suggestions, *result.ideas)
    return found[0].outcomes if found else ()


def _suggestions(
    console: Console, result: Answer, some: Sequence[Suggestion], mark: str = ""
) -> RenderableType:
    """One line per suggestion; where that is too wide, one column for each of as many as fit."""
    first = some[0]
    names = list(dict.fromkeys(n for s in some for n in s.settings))
    outcomes = [o for o in first.outcomes if o.name in result.query.goals]
    if not outcomes:
        outcomes = list(first.outcomes)
    headers = ["", *names, *(o.name for o in outcomes), "trust"]

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


def _setting(suggestion: Suggestion, name: str, edit: Moved | None, result: Answer) -> str:
    unit = result.units.get(name)
    value = setting(suggestion.config[name], unit)
    if result.query.kind is Kind.RECOMMEND:
        return value if edit is None else f"{value} (forced)"
    if edit is None:
        return value
    return f"{setting(edit.old, unit)} -> {value}" + (" (forced)" if edit.forced_by else "")


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
            points = f"{quantity(o.value)} {o.change_percent:+.1f} points"
            before = f"before: {classes_in_words(o.scores_before)}"
            rows.append([o.name, classes_in_words(o.scores), points, before])
            continue
        moved, ends = with_interval(o.change, o.change_low, o.change_high, o.unit)
        sign = "+" if o.change > 0 else ""
        change = f"{sign}{moved} ({percent(o.change_percent)})"
        level = f"{ends} at {100 * (o.level or 0):g} %"
        rows.append([o.name, quantity(o.value, o.unit), change, level])
    stands = ""
    if population.stands_for is not None:
        stands = f" of the sample, which stand for {population.stands_for:,.0f}"
    head = printable(f"Mean over {number(population.runs)} past runs{stands}", "bold")
    why = population_in_words(population, result.comparable)
    line = label(population.label).append_text(printable(f": {why}", "default"))
    told = map(condition_in_words, filter(worth_telling, population.conditions))
    made = table(["", "after", "change", "interval of the change"], rows)
    return Group(head, made, line, *map(printable, told))


def _curve(curve: Curve, units: Mapping[str, str]) -> RenderableType:
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
                setting(point.value, units.get(curve.parameter)),
                *with_interval(point.predicted, point.low, point.high, units.get(curve.outcome)),
                Text(bar, style=style),
                label(point.label),
                "" if point.feasible else "breaks a rule",
            ]
        )
    head = printable(f"{curve.outcome} against {curve.parameter}", "bold")
    return Group(head, table([curve.parameter, "predicted", "interval", "", "trust", ""], rows))


def _certificate(result: Answer, proof: Certificate) -> Text:
    """What is proved, in one line: the word first, the sentence, and what the proof is about.

    Nothing is called optimal that does not meet its goals with the chance that was asked for.
    """
    status, about = proof.status, ""
    if status is CertificateStatus.OPTIMAL and not _met(result):
        status, about = CertificateStatus.BEST_FOUND, ", which does not meet the goals"
    style = {CertificateStatus.OPTIMAL: "green", CertificateStatus.INFEASIBLE: "red"}.get(
        status, "yellow"
    )
    line = Text(f"{_PROVED[status]} {status.value}{about}", style=style)
    line.append_text(printable(f": {proof.reason}", "default"))
    terms = _terms(proof)
    return line.append_text(printable(f" ({terms})", "dim")) if terms else line


def _met(result: Answer) -> bool:
    """Whether the first suggestion meets every goal with the chance that was asked for."""
    if not result.suggestions:
        return False
    first = result.suggestions[0]
    return first.meets_goals and all(o.meets is not False for o in first.outcomes)


def _terms(proof: Certificate) -> str:
    """What a proof is about: the goals as they were shifted, the tolerance, what counts."""
    if proof.status is CertificateStatus.NO_PROOF:
        return ""
    likely = "" if proof.chance is None else f" for a chance of {share(proof.chance)}"
    # Goals that cannot be reached are named by the sentence itself.
    named = proof.status is CertificateStatus.INFEASIBLE or not proof.goals
    parts = [] if named else [f"goal {', '.join(proof.goals)}{likely}"]
    if proof.tolerance is not None:
        parts.append(f"tolerance {100 * proof.tolerance:g} %")
    if proof.goals or parts or proof.measured:
        parts.append("measured runs count" if proof.measured else "the model alone counts")
    return "; ".join(parts)


def _prices(result: Answer) -> RenderableType | None:
    """What more or less certainty costs, one line for each chance."""
    if not result.prices:
        return None
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for price in result.prices:
        asked = " (asked)" if price.chance == result.chance else ""
        words = price_in_words(price, result.baseline, result.units)
        made.add_row(printable(f"{share(price.chance)}{asked}"), printable(words))
    return Group(printable("What certainty costs", "bold"), made)


def _run_next(result: Answer) -> RenderableType | None:
    if not result.run_next:
        return None
    lines = [
        printable(f"{rank}. {settings_in_words(p.config, None, result.units)}: {p.why}")
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


def _model_line(card: ModelCard) -> str:
    error = f"{card.error_name} {card.error:.1%} on {rows_checked(card.unseen, 'ones')}"
    parts = [
        f"{card.target}: {model_text(card)} on {number(card.rows)} runs",
        error,
        skill_in_words(card),
    ]
    return ", ".join(part for part in parts if part)


def _footer(result: Answer) -> Text:
    models = "; ".join(map(_model_line, result.models))
    time = f"{sum(result.seconds.values()):.2f} s, seed {result.provenance.seed}"
    return printable(" | ".join(filter(None, (models, time))), "dim")


def to_json(result: Answer) -> str:
    """The answer as JSON, for programs."""
    return result.model_dump_json(indent=2)
