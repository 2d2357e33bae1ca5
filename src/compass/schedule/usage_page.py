"""The report of requested against used as one HTML page that needs nothing else."""

from collections.abc import Callable, Sequence
from html import escape

from compass.domain.usage import UsageReport, UsageShare, UsageWeek

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em;
  color: #222 }
table { border-collapse: collapse; margin: 1em 0; display: block; overflow-x: auto }
th, td { padding: .2em .8em; text-align: left; border-bottom: 1px solid #ddd; white-space: nowrap }
.n { text-align: right; font-variant-numeric: tabular-nums }
th { white-space: normal; vertical-align: bottom }
.w { white-space: normal; min-width: 14em } .p { white-space: pre }
code { font-size: 90% } svg { max-width: 100%; height: auto }
@media print { body { margin: 0; font-size: 11px } h2 { break-after: avoid }
  table { display: table; overflow: visible } th, td { white-space: normal; padding: .1em .4em }
  tr, svg { break-inside: avoid } }
"""
_SERIES: tuple[tuple[str, str, Callable[[UsageShare | UsageWeek], float | None]], ...] = (
    ("cores busy", "#0b6e99", lambda one: one.cores_busy),
    ("memory used", "#c2541b", lambda one: one.memory_used),
    ("limit used", "#6b7f2a", lambda one: one.time_used),
)
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 720, 240, 60, 40, 24
_FONT = "font-family:sans-serif;font-size:11px;fill:#333"


def usage_page(report: UsageReport) -> str:
    """The report as a page."""
    whole = report.whole
    period = f"{report.first} to {report.last}" if report.first else "no dates"
    body = [
        "<h1>Requested against used</h1>",
        f"<p>{whole.jobs:,} jobs, {whole.core_hours:,.0f} core-hours, {escape(period)}.</p>",
        *(f"<p>{escape(remark)}.</p>" for remark in report.remarks),
        _groups("All jobs", (whole,)),
        "<h2>What would free most</h2>",
        _changes(report),
    ]
    if len(report.weeks) > 1:
        body += ["<h2>By week</h2>", _trend(report.weeks)]
    for title, groups in (
        ("By user", report.users),
        ("By application", report.applications),
        ("By partition", report.partitions),
    ):
        if groups:
            body += [f"<h2>{title}</h2>", _bars(groups[:10]), _groups(title, groups)]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Requested against used</title>'
        f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style>"
        + "\n".join(body)
        + "</html>\n"
    )


def percent(share: float | None) -> str:
    """A share for people."""
    return "unknown" if share is None else f"{share:.0%}" if share >= 0.095 else f"{share:.1%}"


def _row(cells: Sequence[str], kinds: str, tag: str = "td") -> str:
    """A row; `kinds` tells of each cell: a text, a number, a text to be wrapped, plain lines."""
    told = (
        f"<{tag}>{escape(cell)}</{tag}>"
        if kind == "t"
        else f'<{tag} class="{kind}">{escape(cell)}</{tag}>'
        for cell, kind in zip(cells, kinds, strict=True)
    )
    return f"<tr>{''.join(told)}</tr>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], kinds: str) -> str:
    return f"<table>{_row(heads, kinds, 'th')}{''.join(_row(row, kinds) for row in rows)}</table>"


def _groups(title: str, groups: Sequence[UsageShare]) -> str:
    heads = (
        title,
        "jobs",
        "core-hours",
        "cores busy",
        "memory used",
        "GB-hours unused",
        "limit used",
        "timeouts",
        "out of memory",
    )
    rows = [
        (
            one.name,
            f"{one.jobs:,}",
            f"{one.core_hours:,.0f}",
            percent(one.cores_busy),
            percent(one.memory_used),
            "unknown" if one.memory_used is None else f"{one.memory_gb_hours:,.0f}",
            percent(one.time_used),
            f"{one.timeouts:,}",
            f"{one.out_of_memory:,}",
        )
        for one in groups
    ]
    return _table(heads, rows, "tnnnnnnnn")


def _changes(report: UsageReport) -> str:
    if not report.changes:
        return "<p>No change of requests would free anything that can be stated.</p>"
    heads = (
        *("user", "application", "ask for", "jobs", "GB-hours freed", "core-hours of limits freed"),
        *("label", "why"),
    )
    rows = [
        (
            one.user,
            one.application or "",
            "\n".join(line.removeprefix("#SBATCH ") for line in one.directives),
            f"{one.jobs:,}",
            f"{one.gb_hours:,.0f}",
            f"{one.core_hours:,.0f}",
            one.label,
            one.why,
        )
        for one in report.changes
    ]
    return _table(heads, rows, "ttpnnntw")


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" style="{_FONT}" text-anchor="{anchor}"'
    return f"<text {where}>{escape(text)}</text>"


def _svg(height: float, label: str, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" '
        f'width="{_WIDTH}" height="{height:.0f}" role="img" aria-label="{escape(label)}">'
    )
    return "\n".join([head, *parts, _legend(), "</svg>"])


def _legend() -> str:
    return "".join(
        f'<rect x="{_LEFT + 130 * n}" y="4" width="10" height="10" fill="{colour}"/>'
        + _text(_LEFT + 130 * n + 15, 13, name)
        for n, (name, colour, _) in enumerate(_SERIES)
    )


def _bars(groups: Sequence[UsageShare]) -> str:
    """Shares of each group as bars; the name is above its bars."""
    parts, y = [], _TOP + 6.0
    wide = _WIDTH - _LEFT - 60
    for one in groups:
        parts.append(_text(_LEFT, y + 10, one.name[:60]))
        y += 14
        for name, colour, share in _SERIES:
            value = share(one)
            if value is not None:
                length = wide * min(value, 1.0)
                parts.append(
                    f'<rect x="{_LEFT}" y="{y:.1f}" width="{length:.1f}" height="7" '
                    f'fill="{colour}"><title>{escape(name)} {percent(value)}</title></rect>'
                )
                parts.append(_text(_LEFT + length + 4, y + 7, percent(value)))
                y += 9
        y += 6
    return _svg(y + 4, "shares used by group", parts)


def _trend(weeks: Sequence[UsageWeek]) -> str:
    floor, wide = _HEIGHT - _BOTTOM, _WIDTH - _LEFT - 20
    tops = [v for _, _, share in _SERIES for one in weeks if (v := share(one)) is not None]
    high = max([*tops, 0.01])
    high = min(1.0, high * 1.1) if high <= 1 else high * 1.1

    def place(number: int, value: float) -> tuple[float, float]:
        x = _LEFT + wide * number / (len(weeks) - 1)
        return x, floor - value / high * (floor - _TOP)

    parts = []
    for step in range(5):
        y = floor - step / 4 * (floor - _TOP)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_LEFT + wide}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 6, y + 4, percent(high * step / 4), "end"))
    for number in sorted({0, len(weeks) // 2, len(weeks) - 1}):
        anchor = "start" if number == 0 else "end" if number == len(weeks) - 1 else "middle"
        parts.append(_text(place(number, 0)[0], floor + 18, weeks[number].begins, anchor))
    for _, colour, share in _SERIES:
        points = [place(n, v) for n, one in enumerate(weeks) if (v := share(one)) is not None]
        # A week beside weeks that tell nothing is a dot.
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        if points:
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(
                f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
            )
    return _svg(_HEIGHT, "shares used by week", parts)
