"""A quality report as Markdown and as one page of HTML without scripts."""

from html import escape

from compass.synth.quality.report import Measure, Point, QualityReport

_WIDTH, _HEIGHT, _MARGIN = 640, 420, 24
_STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;
color:#1b1b1b;background:#fff}table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem
.7rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}td.n{text-align:right;
font-variant-numeric:tabular-nums}.real{fill:#0b6e99}.made{fill:#c2570c}@media
(prefers-color-scheme:dark){body{background:#161616;color:#eee}th,td{border-color:#444}}"""


def markdown(report: QualityReport) -> str:
    """The report as Markdown."""
    lines = ["# Quality of synthetic rows", "", _head(report), ""]
    lines += ["| measure | value | real against real | better | what it says |"]
    lines += ["|---|---:|---:|---|---|"]
    lines += [
        f"| {one.name} | {number(one.value)} | {_floor(one)} | {one.better} | {one.meaning} |"
        for one in report.measures
    ]
    if report.efficiency:
        lines += ["", f"Models of {report.target}, tested on real rows:", ""]
        lines += ["| model | measure | learnt from real | from synthetic | AUC real | synthetic |"]
        lines += ["|---|---|---:|---:|---:|---:|"]
        lines += [
            f"| {one.model} | {one.measure} | {number(one.real)} | {number(one.synthetic)} | "
            f"{number(one.auc_real)} | {number(one.auc_synthetic)} |"
            for one in report.efficiency
        ]
    lines += ["", *(f"* {note}" for note in report.notes)]
    return "\n".join(lines).rstrip() + "\n"


def html(report: QualityReport) -> str:
    """The report as one page."""
    rows = "".join(
        f"<tr><td>{escape(one.name)}</td><td class=n>{number(one.value)}</td>"
        f"<td class=n>{_floor(one)}</td><td>{one.better}</td><td>{escape(one.meaning)}</td></tr>"
        for one in report.measures
    )
    models = "".join(
        f"<tr><td>{escape(one.model)}</td><td>{one.measure}</td><td class=n>{number(one.real)}</td>"
        f"<td class=n>{number(one.synthetic)}</td><td class=n>{number(one.auc_real)}</td>"
        f"<td class=n>{number(one.auc_synthetic)}</td></tr>"
        for one in report.efficiency
    )
    told = (
        f"<h2>Models of {escape(report.target or '')}, tested on real rows</h2><table><tr>"
        "<th>model<th>measure<th>learnt from real<th>from synthetic<th>AUC real<th>synthetic</tr>"
        f"{models}</table>"
        if models
        else ""
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in report.notes)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Quality of synthetic rows</title><style>{_STYLE}</style>"
        f"<h1>Quality of synthetic rows</h1><p>{escape(_head(report))}</p>{notes}"
        "<table><tr><th>measure<th>value<th>real against real<th>better<th>what it says</tr>"
        f"{rows}</table>{told}{picture(report.points, report.axes)}</html>\n"
    )


def picture(points: tuple[Point, ...], axes: str) -> str:
    """Real and synthetic rows in the plane, as SVG."""
    if not points:
        return ""
    xs, ys = [one.x for one in points], [one.y for one in points]
    left, low = min(xs), min(ys)
    wide, high = max(max(xs) - left, 1e-12), max(max(ys) - low, 1e-12)

    def placed(one: Point) -> str:
        x = _MARGIN + (one.x - left) / wide * (_WIDTH - 2 * _MARGIN)
        y = _HEIGHT - _MARGIN - (one.y - low) / high * (_HEIGHT - 2 * _MARGIN)
        kind = "real" if one.real else "made"
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill-opacity="0.55"/>'

    return (
        "<h2>Real and synthetic rows</h2>"
        f'<svg role="img" aria-label="Real and synthetic rows: {escape(axes)}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}">'
        f"{''.join(placed(one) for one in points)}"
        f'<text class="real" x="{_MARGIN}" y="16">real</text>'
        f'<text class="made" x="{_MARGIN + 48}" y="16">synthetic</text></svg>'
        f"<p>The plane is {escape(axes)}.</p>"
    )


def number(value: float | None) -> str:
    """A number in four digits; nothing where there is none."""
    return "" if value is None else f"{value:.4g}"


def _floor(one: Measure) -> str:
    return number(one.floor)


def _head(report: QualityReport) -> str:
    return (
        f"{report.rows_synthetic} synthetic rows beside {report.rows_real} real ones; models are "
        f"tested on {report.rows_test} other real rows."
    )
