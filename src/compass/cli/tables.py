"""Tables about data, engines and plug-ins."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.engine.compass import Compass
    from compass.prepare import Prepared
    from compass.rules.mine import Mined


def _json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def _print(title: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for header in headers:
        table.add_column(header)
    for row in rows:
        table.add_row(*(escape("" if cell is None else str(cell)) for cell in row))
    console = Console()
    if title:
        console.print(title, markup=False)
    console.print(table)


def print_columns(
    prepared: "Prepared",
    mined: "Sequence[Mined] | None",
    broken: dict[str, int],
    *,
    as_json: bool,
) -> None:
    """What each column is taken for, what cleaning did, and the rules."""
    report = prepared.report
    if as_json:
        _json(
            {
                "columns": [column.model_dump(mode="json") for column in prepared.columns],
                "cleaning": report.model_dump(mode="json"),
                "rules": [{"text": text, "broken_by": n} for text, n in broken.items()],
                "dependencies": None
                if mined is None
                else [m.model_dump(mode="json") for m in mined],
            }
        )
        return
    rows = [
        (c.name, c.role.value, c.kind, c.unit, c.legal, c.distinct, c.missing or "", c.note)
        for c in prepared.columns
    ]
    headers = ("column", "role", "kind", "unit", "legal values", "distinct", "missing", "note")
    _print(f"{report.rows_in} rows, {report.rows_out} used", headers, rows)
    for note in report.notes:
        sys.stdout.write(f"note: {note}\n")
    if broken:
        sys.stdout.write("\n")
        _print("Rules", ("rule", "rows that break it"), list(broken.items()))
    if mined is not None:
        sys.stdout.write("\n")
        rows_ = [(i, m.text, m.kind, m.why) for i, m in enumerate(mined, 1)]
        title = (
            "Dependencies that hold on all rows; --confirm 1,3 --write-study FILE takes them over"
        )
        _print(
            title if mined else "No dependency holds on all rows",
            ("", "rule", "kind", "why"),
            rows_,
        )


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
        raise BadInput(
            f"there is no dependency number {wrong[0]}", hint=f"they go from 1 to {len(mined)}"
        )
    return tuple(mined[n - 1].text for n in numbers)


def print_fit(engine: "Compass", path: Path, *, as_json: bool) -> None:
    """What was learnt, and how well."""
    if as_json:
        _json({"path": str(path), "models": [c.model_dump(mode="json") for c in engine.cards]})
        return
    rows = [
        (
            c.target,
            c.family,
            c.rows,
            len(c.features),
            f"{c.error_name} {c.error:.1%}",
            f"{c.seconds:.1f}",
        )
        for c in engine.cards
    ]
    headers = ("outcome", "model", "runs", "features", "on unseen runs", "seconds")
    _print(f"Saved {path}", headers, rows)
    for note in engine.data.prepared.report.notes:
        sys.stdout.write(f"note: {note}\n")


def print_plugins(*, as_json: bool) -> None:
    """Every plug-in of every joint."""
    from compass import registry

    found = registry.listing()
    if as_json:
        _json(
            [{"joint": p.joint, "name": p.name, "from": p.origin, "what": p.summary} for p in found]
        )
        return
    rows = [(p.joint, p.name, p.origin, p.summary) for p in found]
    empty = [
        (joint, "-", "", what)
        for joint, what in registry.JOINTS.items()
        if not any(p.joint == joint for p in found)
    ]
    _print("", ("joint", "name", "from", "what"), [*rows, *empty])


def print_collected(report: Any, *, as_json: bool) -> None:
    """What a sweep measured."""
    if as_json:
        _json(
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
