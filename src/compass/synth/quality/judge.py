"""Judges synthetic rows by every measure, each beside what real rows reach against real ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compass.domain.errors import BadInput, unknown
from compass.domain.space import Role, Space
from compass.synth.base import Floats, Tell, silent
from compass.synth.quality.dense import dense, thinned
from compass.synth.quality.dissimilarity import dissimilarity
from compass.synth.quality.divergence import mean_kl
from compass.synth.quality.efficiency import Efficiency, efficiencies
from compass.synth.quality.plane import in_the_plane
from compass.synth.quality.predictive import global_utility, two_sample_auc
from compass.synth.quality.privacy import closeness
from compass.synth.quality.report import EfficiencyLine, Measure, Point, QualityReport
from compass.synth.quality.sdquality import sd_quality
from compass.synth.quality.tabsyndex import tabsyndex

_MOST = 5000  # rows that single measures look at
_SHOWN = 400  # points of each kind in the picture
_LEAST = 20  # rows of each kind
_STAGES = 6
Score = Callable[[Space, Floats, Floats], float]


@dataclass(frozen=True, eq=False)
class Judged:
    """The rows that are compared: test rows were not learnt from."""

    space: Space
    train: Floats
    synthetic: Floats
    test: Floats


def judge(
    space: Space,
    train: Floats,
    synthetic: Floats,
    test: Floats,
    target: str | None = None,
    *,
    seed: int = 7,
    picture: str = "pca",
    tell: Tell = silent,
) -> QualityReport:
    """Every measure of synthetic rows [m, d]; `test` are real rows that were not learnt from.

    `picture` says how rows become points: principal components (pca) or UMAP (umap). The floor of
    a measure is that of one half of the real rows against the other.
    """
    for what, rows in (("real", train), ("synthetic", synthetic), ("test", test)):
        if len(rows) < _LEAST:
            raise BadInput(f"there are {len(rows)} {what} rows", hint=f"at least {_LEAST}")
    if target is None:
        target = next(iter(space.having(Role.OUTCOME)), None)
    elif target not in space:
        raise unknown("column", target, space.names)
    few = [thinned(one, _MOST, seed) for one in (train, synthetic, test)]
    compared = Judged(space, few[0], few[1], few[2])
    halves = np.random.default_rng(seed).permutation(len(compared.train))
    one, other = (compared.train[halves[start::2]] for start in (0, 1))
    real = Judged(space, one, other, compared.test)
    tell("models", 0, _STAGES)
    found = _efficiencies(compared, target, seed)
    floor = _efficiencies(real, target, seed)
    tell("measures", 1, _STAGES)
    measures = [
        *_likeness(compared, real, found, floor, seed),
        *_seen_by_models(compared, real, seed, tell),
        *_privacy(compared),
    ]
    tell("picture", 5, _STAGES)
    points, axes = _points(compared, picture, seed)
    return QualityReport(
        rows_real=len(train),
        rows_synthetic=len(synthetic),
        rows_test=len(test),
        target=target,
        measures=tuple(measures),
        efficiency=tuple(_line(one) for one in found),
        points=points,
        axes=axes,
        notes=_notes(compared, train, synthetic),
    )


def _efficiencies(rows: Judged, target: str | None, seed: int) -> tuple[Efficiency, ...]:
    if target is None:
        return ()
    return efficiencies(rows.space, target, rows.train, rows.synthetic, rows.test, seed)


def _likeness(
    rows: Judged,
    real: Judged,
    found: tuple[Efficiency, ...],
    floor: tuple[Efficiency, ...],
    seed: int,
) -> list[Measure]:
    """The measures of PERFGEN."""
    space = rows.space

    def both(of: Score, name: str, better: str, meaning: str) -> Measure:
        value = of(space, rows.train, rows.synthetic)
        least = of(space, real.train, real.synthetic)
        return Measure(name=name, value=value, floor=least, better=better, meaning=meaning)

    parts, least = (
        tabsyndex(space, one.train, one.synthetic, models, seed)
        for one, models in ((rows, found), (real, floor))
    )
    return [
        both(
            dissimilarity,
            "dissimilarity",
            "less",
            "PERFGEN equation 5, angle times symmetric divergence along each salient component; "
            "at least 1",
        ),
        both(
            lambda s, a, b: dissimilarity(s, a, b, "eigenvalue"),
            "dissimilarity (eigenvalue)",
            "less",
            "the other reading of equation 5: angle times the component's share of the variance",
        ),
        both(
            sd_quality,
            "SDQuality (shared-bin)",
            "more",
            "columns and pairs alike; both tables by the bins of the real column",
        ),
        both(
            lambda s, a, b: sd_quality(s, a, b, "own-bin"),
            "SDQuality (own-bin)",
            "more",
            "the same with each table by the bins of its own columns",
        ),
        both(mean_kl, "mean KL", "less", "divergence of the columns, mean of both directions"),
        *(
            Measure(
                name=name if name == "tabsyndex" else f"tabsyndex: {name}",
                value=parts[name],
                floor=least[name],
                better="more",
                meaning="the mean of five scores" if name == "tabsyndex" else "one of the five",
            )
            for name in parts
        ),
    ]


def _seen_by_models(rows: Judged, real: Judged, seed: int, tell: Tell) -> list[Measure]:
    tell("two-sample test", 3, _STAGES)
    told = two_sample_auc(rows.train, rows.synthetic, seed)
    by_chance = two_sample_auc(real.train, real.synthetic, seed)
    tell("every column from the others", 4, _STAGES)
    kept = global_utility(rows.space, rows.train, rows.synthetic, rows.test, seed)
    floor = global_utility(rows.space, rows.train, real.synthetic, rows.test, seed)
    return [
        Measure(
            name="two-sample AUC",
            value=told,
            floor=by_chance,
            better="less",
            meaning="how well boosted trees tell real from synthetic rows; 0.5: not at all",
        ),
        Measure(
            name="global utility",
            value=kept,
            floor=floor,
            better="more",
            meaning="skill kept when each column is predicted from all others; the floor is that "
            "of half the real rows",
        ),
    ]


def _privacy(rows: Judged) -> list[Measure]:
    made = closeness(rows.space, rows.train, rows.synthetic)
    real = closeness(rows.space, rows.train, rows.test)
    meaning = "distance to the closest learnt row; the floor is that of real rows never learnt"
    return [
        Measure(name=name, value=value, floor=floor, better="near", meaning=text)
        for name, value, floor, text in (
            ("closest record, median", made.median, real.median, meaning),
            ("closest record, 5 %", made.fifth, real.fifth, meaning),
            ("exact copies", made.copies, real.copies, "share of rows that are a real row"),
        )
    ]


def _line(one: Efficiency) -> EfficiencyLine:
    return EfficiencyLine(
        model=one.model,
        measure=one.measure,
        real=one.real,
        synthetic=one.synthetic,
        gap=one.gap,
        auc_real=one.auc_real,
        auc_synthetic=one.auc_synthetic,
    )


def _points(rows: Judged, picture: str, seed: int) -> tuple[tuple[Point, ...], str]:
    """Real and synthetic rows in the plane, and what its axes are."""
    shown = [thinned(one, _SHOWN, seed) for one in (rows.train, rows.synthetic)]
    whole, real, made = dense(rows.space, rows.train, rows.train, *shown)
    placed, axes = in_the_plane(whole, (real, made), picture, seed)
    points = tuple(
        Point(x=round(float(x), 4), y=round(float(y), 4), real=there)
        for table, there in zip(placed, (True, False), strict=True)
        for x, y in table
    )
    return points, axes


def _notes(rows: Judged, train: Floats, synthetic: Floats) -> tuple[str, ...]:
    notes = []
    if len(rows.train) < len(train) or len(rows.synthetic) < len(synthetic):
        notes.append(f"measured on {len(rows.train)} real and {len(rows.synthetic)} synthetic rows")
    return tuple(notes)
