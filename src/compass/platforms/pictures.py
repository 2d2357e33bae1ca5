"""Pictures as SVG: machines by their runs, ratios predicted and measured, chances of an order."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import DataProblem, EnvironmentProblem
from compass.platforms.amm import Aggregate, Reading, machine_model
from compass.platforms.counters import CounterMapping
from compass.platforms.order import ordered
from compass.platforms.pairs import Floats, MatchedRuns
from compass.platforms.predictor import PlatformModel
from compass.platforms.sample_embedding import SampleEmbedding
from compass.platforms.xamm import XammModel, samples

Layout = Literal["pca", "umap"]
# Distinct for most eyes and on paper (Okabe and Ito), then shades for more machines.
_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"),
    *("#999933", "#882255", "#44aa99", "#777777", "#332288"),
)
_INK, _GRID = "#333", "#e4e4e4"
_STYLE = "font-family:sans-serif;font-size:12px;fill:"
_SIDE, _LEFT, _TOP, _BOTTOM = 380, 70, 46, 52  # of a panel
_KEY = 150  # width of the legend
_SHOWN = 400  # dots of a machine, at most


def ratios_svg(model: PlatformModel) -> str:
    """Runtime ratios predicted without the application against measured, on logarithmic axes."""
    truth = model.lines.log_ratio(model.source)
    found = truth - model.held_out
    known = np.isfinite(found)
    if not known.any():
        raise DataProblem("no ratio was predicted without its application")
    ends = np.array(
        [truth[known].min(), truth[known].max(), found[known].min(), found[known].max()]
    )
    low, high = float(ends.min()) - 0.1, float(ends.max()) + 0.1
    to_x, to_y = _scale(low, high, _LEFT, _LEFT + _SIDE), _scale(low, high, _TOP + _SIDE, _TOP)
    parts = []
    for tick in _ratio_ticks(low, high):
        at = float(np.log(tick))
        parts.append(_line(to_x(at), _TOP, to_x(at), _TOP + _SIDE))
        parts.append(_line(_LEFT, to_y(at), _LEFT + _SIDE, to_y(at)))
        parts.append(_text(to_x(at), _TOP + _SIDE + 18, f"{tick:g}", "middle"))
        parts.append(_text(_LEFT - 6, to_y(at) + 4, f"{tick:g}", "end"))
    parts.append(_line(to_x(low), to_y(low), to_x(high), to_y(high), _INK))
    machines = [m for m in range(len(model.machines)) if known[:, m].any()]
    for colour, machine in enumerate(machines):
        rows = _some(np.flatnonzero(known[:, machine]))
        for row in rows:
            name = f"{model.lines.applications[row]} on {model.machines[machine]}"
            parts.append(_dot(to_x(truth[row, machine]), to_y(found[row, machine]), colour, name))
    parts.append(_text(_LEFT + _SIDE / 2, _TOP + _SIDE + 40, "measured runtime ratio", "middle"))
    parts.append(_text(_LEFT, _TOP - 8, "predicted, the application left out", "start"))
    parts += _legend([model.machines[m] for m in machines], _LEFT + _SIDE + 20)
    title = f"Runtime there / runtime on {model.source}"
    return _svg(title, parts, _LEFT + _SIDE + 20 + _KEY, _TOP + _SIDE + _BOTTOM)


def order_svg(model: PlatformModel, own: MatchedRuns) -> str:
    """How likely each machine (row) is faster than each other one (column), for one application.

    The mean over its configurations; machines of which nothing is known are left out.
    """
    forecast = model.predict(own)
    each = [
        ordered(forecast.order_by[line], forecast.covariance[line], 0) for line in range(len(own))
    ]
    # A machine that some configuration tells nothing of is averaged over the others.
    chance = _mean_known(np.array([order.before for order in each]))
    known = np.flatnonzero(np.isfinite(chance).any(axis=1))
    places = known[np.argsort(_mean_known(forecast.order_by)[known], kind="stable")]
    names = [model.machines[place] for place in places]
    cell = min(56, _SIDE // max(len(names), 1))
    left = 24 + 8 * max(map(len, names))
    top = _TOP + 8 * max(map(len, names))
    parts = []
    for i, row in enumerate(places):
        parts.append(_text(left - 8, top + (i + 0.5) * cell + 4, names[i], "end"))
        x, y = left + (i + 0.5) * cell, top - 8
        parts.append(
            f'<text transform="translate({x + 4:.1f} {y:.1f}) rotate(-60)" '
            f'style="{_STYLE}{_INK}">{escape(names[i])}</text>'
        )
        for j, column in enumerate(places):
            x, y = left + j * cell, top + i * cell
            value = float(chance[row, column])
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{cell - 1}" height="{cell - 1}" '
                f'fill="{_shade(value) if i != j else "#fff"}"/>'
            )
            if i != j:
                ink = "#fff" if abs(value - 0.5) > 0.35 else _INK
                at = x + cell / 2, y + cell / 2 + 4
                parts.append(_text(*at, f"{100 * value:.0f}", "middle", ink))
    application = str(own.applications[0])
    title = f"Chance (%) that the machine on the left is faster than the one above: {application}"
    width = max(left + cell * len(names) + 24, 8 * len(title))
    return _svg(title, parts, width, top + cell * len(names) + 20)


def machines_svg(
    runs: MatchedRuns,
    mapping: CounterMapping,
    model: XammModel | None = None,
    aggregate: Aggregate = "l2",
    reading: Reading = "weights",
    layout: Layout = "pca",
) -> str:
    """Embeddings of runs by machine, and the abstract machine models made of them.

    Without a trained model the samples themselves are drawn, as standardised ratios of counters.
    """
    embedding, features = _embedding(runs, mapping, model)
    each, amms = [], []
    for machine in runs.machines:
        ran = runs.ran_on(machine)
        X, names = samples(ran, machine, mapping)
        Z = embedding.transform(X[:, [names.index(name) for name in features]])
        each.append(Z)
        amms.append(machine_model(machine, Z, embedding.fingerprint, aggregate, reading).vector())
    dots = _laid_out(np.vstack(each), layout)
    where = np.repeat(np.arange(len(each)), [len(Z) for Z in each])
    vectors = _laid_out(np.array(amms), "pca")
    parts = _panel(dots, where, runs.machines, 0, f"runs, {layout.upper()} of embeddings")
    shift = _SIDE + 40
    what = f"machine models by {aggregate}, PCA"
    parts += _panel(vectors, np.arange(len(amms)), runs.machines, shift, what, named=True)
    parts += _legend(list(runs.machines), _LEFT + shift + _SIDE + 20)
    width = _LEFT + shift + _SIDE + 20 + _KEY
    kind = "standardised samples" if model is None else f"embeddings ({embedding.kind})"
    return _svg(f"Machines by their runs: {kind}", parts, width, _TOP + _SIDE + 24)


def _embedding(
    runs: MatchedRuns, mapping: CounterMapping, model: XammModel | None
) -> tuple[SampleEmbedding, tuple[str, ...]]:
    if model is not None:
        return model.embedding, model.features
    found = [samples(runs.ran_on(machine), machine, mapping) for machine in runs.machines]
    X = np.vstack([X for X, _ in found])
    return SampleEmbedding.of(X, np.zeros(len(X)), "raw", 0, 0, 0), found[0][1]


def _laid_out(X: Floats, layout: Layout) -> Floats:
    """Two coordinates [n, 2] of vectors [n, e]."""
    if layout == "umap":
        return _umap(X)
    Z = X - X.mean(axis=0)
    _, _, axes = np.linalg.svd(Z, full_matrices=False)
    # The sign of an axis is arbitrary: its largest part points upwards, whatever the library.
    signs = [np.sign(axis[np.abs(axis).argmax()]) or 1.0 for axis in axes[:2]]
    found = Z @ (axes[:2] * np.array(signs)[:, None]).T
    return np.column_stack([found, np.zeros((len(X), 2 - found.shape[1]))])


def _umap(X: Floats) -> Floats:
    try:
        from umap import UMAP
    except ImportError as missing:
        raise EnvironmentProblem(
            "a UMAP needs umap-learn, which is not installed",
            hint="pip install 'compass-hpc[umap]', or leave it to PCA (--layout pca)",
        ) from missing
    neighbours = max(2, min(15, len(X) - 1))
    maps = UMAP(n_components=2, n_neighbors=neighbours, random_state=7, n_jobs=1)
    found = maps.fit_transform(X)
    return np.asarray(found, dtype=np.float64)


def _panel(
    points: Floats,
    where: NDArray[np.int64],
    names: Sequence[str],
    shift: float,
    title: str,
    *,
    named: bool = False,
) -> list[str]:
    """Points by machine in a square, with its frame and title."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.maximum((high - low) * 0.08, 1e-9)
    left = _LEFT + shift
    to_x = _scale(low[0] - room[0], high[0] + room[0], left, left + _SIDE)
    to_y = _scale(low[1] - room[1], high[1] + room[1], _TOP + _SIDE, _TOP)
    parts = [
        f'<rect x="{left}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}" fill="none" '
        f'stroke="{_GRID}"/>',
        _text(left, _TOP - 8, title, "start"),
    ]
    for machine, name in enumerate(names):
        for row in _some(np.flatnonzero(where == machine)):
            x, y = to_x(points[row, 0]), to_y(points[row, 1])
            parts.append(_dot(x, y, machine, name, 6.0 if named else 3.0))
    if named:
        parts += _names(
            [to_x(x) for x in points[:, 0]], [to_y(y) for y in points[:, 1]], names, left
        )
    return parts


def _names(
    xs: Sequence[float], ys: Sequence[float], names: Sequence[str], left: float
) -> list[str]:
    """Names beside dots, moved down where they would cover each other."""
    parts: list[str] = []
    last = {"start": -1e9, "end": -1e9}
    for place in sorted(range(len(names)), key=lambda place: ys[place]):
        anchor = "start" if xs[place] < left + _SIDE * 0.75 else "end"
        y = max(ys[place] + 4, last[anchor] + 13)
        last[anchor] = y
        x = xs[place] + (9 if anchor == "start" else -9)
        parts.append(_text(x, y, names[place], anchor))
    return parts


def _mean_known(values: Floats) -> Floats:
    """The mean over the first axis of what is known; nan where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _ratio_ticks(low: float, high: float) -> list[float]:
    """Round ratios between these logarithms, few enough to be read."""
    decades = range(int(np.floor(low / np.log(10))), int(np.ceil(high / np.log(10))) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        inside = [tick for tick in ticks if low <= np.log(tick) <= high]
        if len(inside) <= 8:
            break
    return inside


def _some(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """At most so many rows, evenly."""
    if len(rows) <= _SHOWN:
        return rows
    return rows[np.linspace(0, len(rows) - 1, _SHOWN).astype(np.int64)]


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Values as places on an axis."""
    return lambda value: start + (float(value) - low) / (high - low) * (end - start)


def _shade(chance: float) -> str:
    """Blue where faster, orange where slower, white where open."""
    far = min(abs(chance - 0.5) * 2, 1.0)
    full = (0, 90, 150) if chance > 0.5 else (200, 90, 20)
    mixed = (round(255 + (part - 255) * far) for part in full)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _dot(x: float, y: float, colour: int, name: str, size: float = 3.0) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" fill="{_colour(colour)}" '
        f'fill-opacity="0.7"><title>{escape(name)}</title></circle>'
    )


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _legend(names: Iterable[str], left: float) -> list[str]:
    parts = []
    for place, name in enumerate(names):
        y = _TOP + 12 + 20 * place
        parts += [_dot(left, y - 4, place, name, 5.0), _text(left + 12, y, name, "start")]
    return parts


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = _GRID) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str, ink: str = _INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'style="{_STYLE}{ink}">{escape(text)}</text>'
    )


def _svg(title: str, parts: Sequence[str], width: float, height: float) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
    )
    back = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>'
    named = _text(12, 18, title, "start")
    return (
        "\n".join([head, f"<title>{escape(title)}</title>", back, named, *parts, "</svg>"]) + "\n"
    )
