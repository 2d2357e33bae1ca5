"""The three labels: `python -m benchmarks.trust.picture` draws docs/images/trust-labels.svg.

An engine learns the embedded runs except a quarter of the configurations and one problem size.
Then it predicts runs that were put aside, from both: each is a point by its distance to past runs
(OOD) and the uncertainty of models of their own (UQ), in the colour of its label. Beside it is how
far predictions were from what was measured, by label.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

import compass as cp
from benchmarks.measure import configurations
from benchmarks.roles import ROOT
from benchmarks.show import table

COLOURS = {"trusted": "#2e7d32", "caution": "#d9822b", "unsupported": "#b3261e"}
OUTCOME = "runtime_ms"
_SIDE, _LEFT, _TOP = 300, 56, 34  # of a chart, in pixels
_TEXT = "font-family:sans-serif;font-size:12px;fill:#333"


@dataclass(frozen=True)
class Point:
    """One run that was put aside."""

    ood: float
    uq: float
    label: str
    error: float  # of the prediction, a share of what was measured


def points(seed: int = 3, each: int = 250) -> list[Point]:
    """Predictions of runs that no engine has seen."""
    data = cp.read("embedded")
    arrow = data.table.arrow
    groups = configurations(data.prepared.columns_of(data.prepared.space.names[:9]))
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(groups.max() + 1)[: (groups.max() + 1) // 4]
    new = np.isin(groups, chosen)
    size = arrow.column("size_kib").to_numpy()
    strange = size == np.unique(size)[-1]  # the largest problems, which do not fit into caches
    engine = cp.Compass(cp.read(arrow.filter(pa.array(~new & ~strange)), study=data.study))
    engine.fit([OUTCOME])
    asked = [*rng.permutation(np.flatnonzero(new & ~strange))[:each].tolist()]
    asked += rng.permutation(np.flatnonzero(strange))[: each // 2].tolist()
    return [_point(engine, data.row(row)) for row in asked]


def _point(engine: cp.Compass, run: dict[str, object]) -> Point:
    config = {name: run[name] for name in engine.features}
    answer = engine.what_if(config, {"flags": config["flags"]}, [OUTCOME], prove=0)
    first = [*answer, *answer.ideas][0]
    measured, told = float(run[OUTCOME]), float(first.outcome(OUTCOME).value)  # type: ignore[arg-type]
    trust = first.trust
    return Point(trust.ood, trust.uq, str(trust.label), abs(told - measured) / measured)


def svg(found: Sequence[Point]) -> str:
    """Both charts as the text of an SVG file."""
    width, height = 2 * _SIDE + 3 * _LEFT, _SIDE + 2 * _TOP + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *_scatter(found),
        f'<g transform="translate({_SIDE + 2 * _LEFT},0)">',
        *_errors(found),
        "</g></svg>",
    ]
    return "\n".join(parts) + "\n"


def _scatter(found: Sequence[Point]) -> list[str]:
    def x(value: float) -> float:
        return _LEFT + value * _SIDE

    def y(value: float) -> float:
        return _TOP + (1 - value) * _SIDE

    parts = [_write(_LEFT, 18, "How far from past runs, and how certain", bold=True)]
    for at in (0, 0.5, 1):
        parts.append(_write(x(at), _TOP + _SIDE + 16, f"{at:g}", "middle"))
        parts.append(_write(_LEFT - 6, y(at) + 4, f"{at:g}", "end"))
    parts.append(
        _write(x(0.5), _TOP + _SIDE + 34, "OOD: share of held-out runs that are nearer", "middle")
    )
    parts.append(
        f'<text transform="translate(14,{y(0.5)}) rotate(-90)" text-anchor="middle" '
        f'style="{_TEXT}">UQ: share that is more certain</text>'
    )
    for at, label in ((0.95, "caution"), (0.99, "unsupported")):
        parts.append(_rule((x(at), y(1)), (x(at), y(0)), COLOURS[label]))
    parts.append(_rule((x(0), y(0.95)), (x(1), y(0.95)), COLOURS["caution"]))
    parts.append(
        f'<rect x="{x(0)}" y="{y(1)}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#999"/>'
    )
    parts += [
        f'<circle cx="{x(one.ood):.1f}" cy="{y(one.uq):.1f}" r="3" fill="{COLOURS[one.label]}" '
        'fill-opacity="0.6"/>'
        for one in found
    ]
    return parts


def _errors(found: Sequence[Point]) -> list[str]:
    """For each label the median error, and the range of the middle half and of nine tenths."""
    most = 1.0

    def y(value: float) -> float:
        return _TOP + (1 - min(value, most) / most) * _SIDE

    parts = [_write(0, 18, "How far predictions were from what was measured", bold=True)]
    for at in (0, 0.25, 0.5, 0.75, 1):
        parts.append(_write(-6, y(at) + 4, f"{at:.0%}", "end"))
        parts.append(_rule((0, y(at)), (_SIDE, y(at)), "#ddd", dashed=False))
    for place, (label, colour) in enumerate(COLOURS.items()):
        errors = [one.error for one in found if one.label == label]
        centre = _SIDE * (place + 0.5) / len(COLOURS)
        parts.append(_write(centre, _TOP + _SIDE + 16, label, "middle"))
        parts.append(_write(centre, _TOP + _SIDE + 32, f"{len(errors)} runs", "middle"))
        if not errors:
            continue
        low, first, median, third, high = np.quantile(errors, [0.05, 0.25, 0.5, 0.75, 0.95])
        parts.append(_rule((centre, y(low)), (centre, y(high)), colour, dashed=False))
        parts.append(
            f'<rect x="{centre - 28:.1f}" y="{y(third):.1f}" width="56" '
            f'height="{y(first) - y(third):.1f}" fill="{colour}" fill-opacity="0.35"/>'
        )
        parts.append(
            _rule((centre - 28, y(median)), (centre + 28, y(median)), colour, dashed=False)
        )
        parts.append(_write(centre + 32, y(median) + 4, f"{median:.0%}"))
    return parts


def _write(x: float, y: float, text: str, anchor: str = "start", *, bold: bool = False) -> str:
    weight = ";font-weight:600" if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="{_TEXT}{weight}">'
        f"{text}</text>"
    )


def _rule(
    start: tuple[float, float], end: tuple[float, float], colour: str, *, dashed: bool = True
) -> str:
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="{colour}"{dash}/>'
    )


def main() -> None:
    """Draw the picture and print its numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/images/trust-labels.svg")
    output = parser.parse_args().output
    found = points()
    output.write_text(svg(found), encoding="utf-8")
    rows = []
    for label in COLOURS:
        errors = [one.error for one in found if one.label == label]
        if errors:
            rows.append(
                (label, len(errors), *(f"{np.quantile(errors, q):.1%}" for q in (0.5, 0.95)))
            )
    print(table(("label", "runs", "median error", "95th percentile"), rows))
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
