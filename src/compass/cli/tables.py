"""Tables about data, engines and plug-ins."""

import json
import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.domain.answer import Comparable, ModelCard
    from compass.domain.mined import Mined
    from compass.domain.tell import TellReport
    from compass.engine.columns import ColumnsView
    from compass.prepare.report import CleaningReport, ColumnReport


def print_json(value: Any) -> None:
    """A value as JSON on standard output."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


# Columns of prose, which may be broken over lines; names and numbers are to be copied.
_PROSE = ("legal values", "about", "rule", "why", "what", "model", "drift")
_COUNTS = ("rows that break it", "runs", "features", "skill", "seconds", "folds", "CPU s")
_GAPS = 4  # columns with gaps that are named in a flag
_LINE = 10  # letters that a line of prose needs to be readable


def print_table(title: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A titled table, or a list where the terminal is too narrow to read it as a table.

    Columns without a single entry are left out, and so is an empty table.
    """
    from rich.console import Console

    from compass.cli.render import printable, table

    console = Console()
    if title:
        console.print(printable(title, "bold"))
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    used = [place for place in range(len(headers)) if any(row[place] for row in texts)]
    if not used:
        return
    names = [headers[place] for place in used]
    cells = [[row[place] for place in used] for row in texts]
    if _needed(names, cells) > console.width:
        _print_list(names, cells, console.width)
        return
    whole = [name for name in names if name not in _PROSE]
    console.print(table(names, cells, right=_COUNTS, whole=whole))


def _needed(names: Sequence[str], cells: Sequence[Sequence[str]]) -> int:
    """The width of a table whose names and numbers are whole and whose prose is readable."""
    from rich.cells import cell_len

    widths = []
    for name, column in zip(names, zip(*cells, strict=True), strict=True):
        width = max(cell_len(text) for text in (name, *column))
        widths.append(min(width, _LINE) if name in _PROSE else width)
    return sum(widths) + 2 * (len(widths) - 1)


def _print_list(names: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> None:
    """The rows of a table one below the other: the first cell, and what the others say."""
    from rich.console import Console

    from compass.cli.render import printable

    console = Console(soft_wrap=True)
    for first, *others in cells:
        console.print(printable(first, "bold"))
        parts = [f"{name}: {cell}" for name, cell in zip(names[1:], others, strict=True) if cell]
        lines = textwrap.fill(
            "; ".join(parts),
            width,
            initial_indent="    ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        if lines:
            console.print(printable(lines))


def print_notes(notes: Sequence[str]) -> None:
    """Remarks, one line each."""
    from rich.console import Console

    from compass.cli.render import printable

    console = Console()
    for note in notes:
        # A path is to be copied: a long word goes over the edge rather than over two lines.
        lines = textwrap.fill(
            f"note: {note}", console.width, break_long_words=False, break_on_hyphens=False
        )
        console.print(printable(lines), soft_wrap=True)


def _print_sample(words: str | None) -> None:
    if words is not None:
        print_notes([f"the data is {words}"])


_MINED = ("", "rule", "kind", "rows", "accident", "why")


def print_columns(view: "ColumnsView", *, as_json: bool) -> None:
    """What each column is taken for, what cleaning did, which runs compare, and the rules."""
    report, mined = view.cleaning, view.dependencies
    if as_json:
        whole = view.model_dump(mode="json")
        shown = ("columns", "sample", "cleaning", "comparable", "rules", "dependencies")
        rules = [{"text": rule.text, "broken_by": rule.broken_by} for rule in view.rules]
        print_json({name: whole[name] for name in shown} | {"rules": rules})
        return
    _print_questions(view.columns)
    among = "" if view.sample is None else " of the sample"
    _print_groups(f"{report.rows_in:,} rows{among}, {report.rows_out:,} used", view.columns)
    _print_sample(view.sample)
    print_notes([*cleaning_notes(report), comparable_note(view.comparable)])
    if view.rules:
        sys.stdout.write("\n")
        broken = [(rule.text, rule.broken_by) for rule in view.rules]
        print_table("Rules", ("rule", "rows that break it"), broken)
    if mined is not None:
        sys.stdout.write("\n")
        from compass.rules.mine.wording import accident_in_words

        numbered = [
            (i, m.text, m.kind, f"{m.rows:,}", accident_in_words(m.accident), m.why)
            for i, m in enumerate(mined, 1)
        ]
        what = "Dependencies that hold" if mined else "No dependency holds"
        print_table(f"{what} on all rows{among}", _MINED, numbered)
        if mined and among:
            print_notes(["rows that were not sampled may break them: check before you confirm"])
        if mined:
            print_notes(["to obey some of them: --confirm 1,3 --write-study FILE"])


def cleaning_notes(report: "CleaningReport") -> tuple[str, ...]:
    """What cleaning did, and the flags that keep rows which it left out."""
    gaps = [entry.column for entry in report.reasons if entry.keepable and entry.column]
    if not gaps:
        return report.notes
    given = " ".join(f"--missing {shlex.quote(f'{name}=none')}" for name in gaps[:_GAPS])
    more = f" (and {len(gaps) - _GAPS} more)" if len(gaps) > _GAPS else ""
    return (*report.notes, f"to keep rows with gaps: {given}{more}")


def comparable_note(comparable: "Comparable") -> str:
    """Which runs are comparable, and the flag that says so where that is not known."""
    if comparable.identifiable:
        return comparable.reason
    return f"{comparable.reason.rstrip('.')} (--comparable COLUMNS, or all)."


def _print_groups(title: str, columns: "Sequence[ColumnReport]") -> None:
    from rich.console import Console

    from compass.cli.column_groups import column_groups
    from compass.cli.render import printable

    console = Console()
    console.print(printable(title, "bold"))
    for head, lines in column_groups(columns, console.width):
        console.print()
        console.print(printable(head, "bold"))
        for line in lines:
            console.print(printable(line), soft_wrap=True)
    console.print()


_ASKED = 8  # roles to check that are shown


def _print_questions(columns: "Sequence[ColumnReport]") -> None:
    """The roles that are not sure, each with the flag that sets it right."""
    from rich.console import Console

    from compass.cli.render import printable
    from compass.prepare.role_words import flag

    asked = [(one, one.question) for one in columns if one.question is not None]
    if not asked:
        return
    console = Console()
    console.print(printable("Please check: these roles are guesses", "bold"))
    for column, question in asked[:_ASKED]:
        said = textwrap.fill(
            f"{column.name}: {question.why}",
            console.width,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        console.print(printable(said), soft_wrap=True)
        for role in question.alternatives:
            console.print(printable(f"    {flag(column.name, role)}"), soft_wrap=True)
    if len(asked) > _ASKED:
        console.print(printable(f"  ... and {len(asked) - _ASKED} more (--json shows all)"))
    sys.stdout.write("\n")


def confirmed(text: str | None, mined: "Sequence[Mined]") -> tuple[str, ...]:
    """The dependencies that a person takes over: `all`, or numbers as shown."""
    if text is None:
        return ()
    if text == "all":
        return tuple(m.text for m in mined)
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(
            f"--confirm {text} is not a list of numbers", hint="write --confirm 1,3 or all"
        ) from None
    wrong = [n for n in numbers if not 1 <= n <= len(mined)]
    if wrong:
        there = f"they go from 1 to {len(mined)}" if mined else "none holds on all rows"
        raise BadInput(f"there is no dependency number {wrong[0]}", hint=there)
    return tuple(mined[n - 1].text for n in numbers)


def print_fit(
    cards: "Sequence[ModelCard]",
    path: Path,
    sample: str | None,
    notes: Sequence[str],
    later: Sequence[str] = (),
    *,
    as_json: bool,
) -> None:
    """What was learnt, and how well; `later` are outcomes that are learnt when they are needed."""
    if as_json:
        models = [card.model_dump(mode="json") for card in cards]
        print_json({"path": str(path), "models": models, "not_learnt": list(later)})
        return
    from compass.cli.render import model_text
    from compass.trust.outcome_words import skill_in_words

    error, where = _error_column([card.unseen for card in cards])
    rows = [
        (
            c.target,
            model_text(c),
            c.rows,
            len(c.features),
            f"{c.error_name} {c.error:.1%}{_between(c.low, c.high)}{where(c.unseen)}",
            "" if c.skill is None else f"{c.skill:.2f}",
            f"{c.seconds:.1f}",
        )
        for c in cards
    ]
    headers = ("outcome", "model", "runs", "features", error, "skill", "seconds")
    print_table(f"Saved {path}", headers, rows)
    print_notes([f"{c.target}: {skill_in_words(c)}" for c in cards if not c.skilled])
    for card in cards:
        if card.scores:
            sys.stdout.write("\n")
            print_scores(card)
        print_notes([f"{card.target}: {note}" for note in card.notes])
    if later:
        print_notes([f"learnt when a question first needs it: {', '.join(later)}"])
    _print_sample(sample)
    print_notes(notes)


def print_scores(card: "ModelCard") -> None:
    """How the families did when the model of an outcome was chosen."""
    rows = [
        (
            s.family + (f" on {s.embedding}" if s.embedding else ""),
            "log" if s.log else "",
            "" if s.error is None else f"{s.error:.2%}{_between(s.low, s.high)}",
            s.folds or "",
            f"{s.seconds:.1f}" if s.folds else "",
            "yes" if s.provable else "",
            s.status,
            s.reason,
        )
        for s in card.scores
    ]
    error = f"cross-validated {card.error_name}"
    headers = ("family", "scale", error, "folds", "CPU s", "proofs", "status", "why")
    print_table(f"{card.target}: families compared", headers, rows)


def _error_column(unseen: Sequence[bool]) -> tuple[str, Callable[[bool], str]]:
    """The head of a column of errors, and what each cell says of the runs it was measured on."""
    from compass.cli.render import rows_checked

    if all(unseen):
        return f"on {rows_checked(True)}", lambda _: ""
    return "error", lambda own: f" on {rows_checked(own)}"


def _share(error: float | None) -> str:
    return "unknown" if error is None else f"{error:.1%}"


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" ({low:.1%}..{high:.1%})"


def print_tell(report: "TellReport", path: Path, *, as_json: bool) -> None:
    """What new runs changed."""
    if as_json:
        print_json({"path": str(path), **report.model_dump(mode="json")})
        return
    error, where = _error_column([one.unseen for one in report.learnt])
    rows = [
        (
            one.target,
            one.how,
            f"{one.error_name} {_share(one.error_before)} -> {one.error_after:.1%}"
            + where(one.unseen),
            "" if one.drift is None else f"{one.drift.kind}: {one.drift.reason}",
        )
        for one in report.learnt
    ]
    head = f"{report.used} of {report.rows} new runs taken in, {report.total} known now"
    print_table(f"{head}; saved {path}", ("outcome", "model", error, "drift"), rows)
    if report.arrivals:
        sys.stdout.write("\n")
        _print_arrivals(report)
    if report.changes:
        from rich.console import Console

        from compass.cli.render import printable

        sys.stdout.write("\n")
        console = Console()
        console.print(printable("What changed", "bold"))
        for line in report.changes:
            console.print(printable(f"- {line}"))
    print_notes(report.notes)


def _print_arrivals(report: "TellReport") -> None:
    """The first new runs beside what was predicted of them."""
    from compass.cli.render import with_interval
    from compass.domain.quantity import quantity

    names = list(dict.fromkeys(c.outcome for run in report.arrivals for c in run.outcomes))
    rows = []
    for run in report.arrivals:
        cells = {}
        for c in run.outcomes:
            was, ends = with_interval(c.predicted, c.low, c.high, c.unit)
            tail = "" if c.inside else " (outside)" if c.low is not None else " (another)"
            cells[c.outcome] = (
                f"{was}{f' {ends}' * bool(ends)} -> {quantity(c.measured, c.unit)}{tail}"
            )
        before = "not known" if run.before is None else run.before.value
        label = run.after.value if before == run.after.value else f"{before} -> {run.after.value}"
        rows.append((run.row, *(cells.get(name, "") for name in names), label))
    more = f", the first {len(rows)} of {report.used}" if report.used > len(rows) else ""
    print_table(f"New runs, predicted -> measured{more}", ("row", *names, "trust"), rows)


def print_plugins(*, as_json: bool) -> None:
    """Every plug-in of every joint."""
    from compass import registry

    found = registry.listing()
    if as_json:
        print_json(
            [{"joint": p.joint, "name": p.name, "from": p.origin, "what": p.summary} for p in found]
        )
        return
    rows = [(p.joint, p.name, p.origin, p.summary) for p in found]
    empty = [
        (name, "-", "", joint.description)
        for name, joint in registry.joints().items()
        if not any(p.joint == name for p in found)
    ]
    print_table("", ("joint", "name", "from", "what"), [*rows, *empty])


def print_collected(report: Any, *, as_json: bool) -> None:
    """What a sweep measured."""
    if as_json:
        print_json(
            {
                "path": str(report.path),
                "rows": report.rows,
                "failed": report.failed,
                "seconds": report.seconds,
                "machine": report.machine,
            }
        )
        return
    sys.stdout.write(
        f"Measured {report.rows} configurations in {report.seconds:.0f} s "
        f"({report.failed} failed) -> {report.path}\n"
        f"Next: compass columns {report.path}\n"
    )
