"""The study as plain-text tables."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.measure import Interval
from benchmarks.show import table
from benchmarks.trust.coverage import ENOUGH, LEVELS, MAKERS, STATED, Covered
from benchmarks.trust.labels import (
    KINDS,
    LABELS,
    PARTS,
    Judged,
    Pooled,
    by_label,
    by_region,
    disorders,
    pooled,
    ratios,
)
from benchmarks.trust.meets import MINIMISE, Looked, Sample
from benchmarks.trust.resample import Mean, Share, geometric, means

_NAMES = tuple(label.value for label in LABELS)
_KINDS = (*KINDS, "both")
_ROWS = ("table", "learnt", "calibration", "draws", "tested")


def labels(every: Sequence[Judged]) -> tuple[str, dict[str, Any], list[str]]:
    """Error by label: text, figures and the targets that were missed."""
    told = {one.name: {kind: by_label(one, kind) for kind in KINDS} for one in every}
    lines = [
        (name, kind, *(_cell(mean) for mean in means_))
        for name, kinds in told.items()
        for kind, means_ in kinds.items()
        if any(mean.rows for mean in means_)
    ]
    regions = {one.name: by_region(one) for one in every}
    together = [pooled(every, kind) for kind in _KINDS if any(len(j.of(kind).y) for j in every)]
    wrong = [one for judged in every for one in disorders(judged)]
    text = [
        "Error of held-out runs by label: mean [95 % over configurations] (rows)",
        table(("table", "split", *_NAMES), lines),
        "The same in each region that was left out",
        table(
            ("table", "region", *_NAMES),
            [(n, r, *map(_cell, m)) for n, found in regions.items() for r, m in found.items()],
        ),
        *_pooled(together),
        "The same, each table counting once: ratio of the errors of two labels, geometric mean",
        table(("split", "caution / trusted", "unsupported / caution"), _ratios(every)),
        _order(every, wrong),
    ]
    missed = [
        f"labels: pooled over tables {what} are not in the order of the labels"
        for one in together
        for what, fine in (
            ("mean errors", one.ordered),
            ("shares of large errors", one.large_ordered),
        )
        if one.kind == "both" and not fine
    ]
    figures = {
        "tables": {
            name: {kind: _named(found) for kind, found in kinds.items()}
            for name, kinds in told.items()
        },
        "pooled": [asdict(one) for one in together],
        "disorders": [asdict(one) for one in wrong],
        "regions": {
            name: {region: _named(m) for region, m in found.items()}
            for name, found in regions.items()
        },
    }
    return "\n\n".join(text), figures, missed


def _pooled(together: Sequence[Pooled]) -> Iterable[str]:
    """All tables as one: errors, large errors, and what made the label."""
    head = ("split", *_NAMES, "caution - trusted", "unsupported - caution")
    yield "All tables: error / mean error of the same table in random splits"
    yield table(
        head, [(one.kind, *map(_cell, one.labels), *map(_ends, one.steps)) for one in together]
    )
    yield "All tables: share of errors larger than nine in ten of the same table's random splits"
    yield table(
        head, [(one.kind, *map(_cell, one.large), *map(_ends, one.large_steps)) for one in together]
    )
    yield "What made the label: error as above; a run may have several reasons"
    yield table(
        ("split", "reason", "with this reason", "with this reason only"),
        [
            (one.kind, part, _cell(any_), _cell(only))
            for one in together
            for part, any_, only in zip(PARTS, one.parts, one.alone, strict=True)
        ],
    )


def _ratios(every: Sequence[Judged]) -> Iterable[tuple[str, ...]]:
    for kind in _KINDS:
        found = ratios(every, kind)
        yield kind, *(_times(values) for values in found)


def _times(values: Any) -> str:
    if not len(values):
        return "-"
    one, above = geometric(values), int(np.sum(values > 1))
    return f"{one.mean:.2f} [{one.low:.2f}, {one.high:.2f}], above 1 in {above} of {len(values)}"


def _order(every: Sequence[Judged], wrong: Sequence[Any]) -> str:
    lines = []
    for kind in KINDS:
        having = [one.name for one in every if len(one.of(kind).y)]
        broken = {one.name for one in wrong if one.kind == kind}
        lines.append(f"{kind}: the order holds on {len(having) - len(broken)} of {len(having)}")
    for one in wrong:
        errors = f"{one.worse} {one.errors[0]:.3f} <= {one.better} {one.errors[1]:.3f}"
        reasons = "; ".join(one.reasons) or "nothing in the data explains it"
        lines.append(f"  {one.name}, {one.kind}: {errors}: {reasons}")
    return "\n".join(["Where the order does not hold, and what the data shows", *lines])


def coverage(every: Sequence[Covered]) -> tuple[str, dict[str, Any], list[str]]:
    """Coverage and widths: text, figures and the targets that were missed."""
    lines, beside, changes = [], [], []
    for one in every:
        low, high = one.allowed
        first = one.splits[0]
        lines.append(
            (
                one.name,
                first.rows,
                f"{one.calibration:.0f}",
                f"{one.draws:.0f}",
                f"{np.mean([held.tested for held in one.splits]):.0f}",
                f"{first.family}{' log' if first.log else ''}",
                *(_percent(one.at(level)) for level in LEVELS),
                f"{100 * low:.0f} to {100 * high:.1f}",
                "yes" if one.holds else "NO",
            )
        )
        beside.append((one.name, *(cell for maker in MAKERS for cell in _maker(one, maker))))
        changes += [change for held in one.splits for change in held.changes]
    holding = sum(one.holds for one in every)
    named = [f"stated {level:.0%}" for level in LEVELS]
    columns = [f"{maker} {what}" for maker in MAKERS for what in ("inside %", "width", "median")]
    text = [
        f"Coverage of new configurations: mean ± 95 % over {len(every[0].splits)} splits",
        table(
            (*_ROWS, "model", *named, "allowed %", "holds"),
            lines,
        ),
        f"{holding} of {len(every)} outcomes hold what is stated ({ENOUGH} or more calibration "
        "rows: within 88 to 92 %; fewer: within 90 to 90 + 100 / (n + 1) %, sampling error added, "
        "n: the independent draws among them, as repeats of a configuration share an error).",
        "90 % intervals beside a plain ensemble (mean ± 1.645 sd over 100 trees) and a Gaussian "
        "process: coverage, mean and median width / measured value",
        table(("table", *columns), beside),
        _changes(changes),
    ]
    figures = {
        one.name: {**asdict(one), "allowed": one.allowed, "holds": one.holds} for one in every
    }
    missed = [
        f"coverage: {one.name} covers {_percent(one.at(STATED))} % with a stated 90 %"
        for one in every
        if not one.holds
    ]
    return "\n\n".join(text), figures, missed


def _maker(one: Covered, maker: str) -> tuple[str, str, str]:
    inside, mean, median, unbounded = one.band(maker)
    said = f" ({unbounded:.0%} unbounded)" if unbounded else ""
    return _percent(inside), f"{mean:.3g}{said}", f"{median:.3g}"


def _changes(changes: Sequence[tuple[bool, float, float]]) -> str:
    if not changes:
        return "Changes: answers have no interval of the change."
    inside = Share(sum(held for held, _, _ in changes), len(changes))
    narrow = [own / naive for _, own, naive in changes if 0 < naive < math.inf and own < math.inf]
    width = f"{np.median(narrow):.2f}" if narrow else "-"
    return (
        f"Changes between two new runs (what-if): inside the 90 % interval {inside}; "
        f"median width / sum of both single intervals: {width}"
    )


def meets(samples: Sequence[Sample]) -> tuple[str, dict[str, Any], list[str]]:
    """Promises looked up: text and figures."""
    every = [one for sample in samples for one in sample.looked]
    asked = [name for name in dict.fromkeys(o.question for o in every) if name != MINIMISE]
    goals = [one for one in every if one.question != MINIMISE and one.there]
    lines = [_kept(name, [o for o in goals if o.question == name]) for name in asked]
    lines += [
        _kept(f"all, learnt {share:.0%}", [o for o in goals if o.share == share])
        for share in dict.fromkeys(o.share for o in every)
    ]
    lines.append(_kept("all, never run before", [o for o in goals if not o.learnt]))
    lines.append(_kept("all", goals))
    spaces = dict.fromkeys(o.space for o in every)
    by_space = [_kept(name, [o for o in goals if o.space == name]) for name in spaces]
    findings = dict.fromkeys(o.finding for o in goals)
    by_finding = [_kept(name, [o for o in goals if o.finding == name]) for name in findings]
    head = ("question", *_NAMES, "any label", "by chance %", "not promised")
    absent = sum(not one.there for one in every)
    text = [
        f"Suggestions that promise to meet a goal and, measured, do: {len(samples)} engines, "
        f"{len(every)} suggestions ({absent} not in the table); share [95 %, Wilson]",
        table(head, lines),
        table(("space", *head[1:]), by_space),
        table(("past runs about what it moves", *head[1:]), by_finding),
        "Minimise: regret % (measured / best of all - 1), mean [95 % over engines] (suggestions)",
        table(("learnt", *_NAMES), _regrets(every)),
        _at_suggestions(samples, every),
    ]
    return "\n\n".join(text), {"samples": [asdict(one) for one in samples]}, []


def _kept(name: str, every: Sequence[Looked]) -> tuple[object, ...]:
    promised = [one for one in every if one.promised]
    shares = [_met([o for o in promised if o.label == label]) for label in _NAMES]
    chance = 100 * np.mean([o.chance for o in promised]) if promised else math.nan
    return name, *shares, _met(promised), f"{chance:.1f}", len(every) - len(promised)


def _met(every: Sequence[Looked]) -> Share:
    return Share(sum(one.met for one in every), len(every))


def _regrets(every: Sequence[Looked]) -> Iterable[tuple[str, ...]]:
    asked = [one for one in every if one.question == MINIMISE and one.there]
    for share in (*dict.fromkeys(one.share for one in asked), None):
        own = [one for one in asked if share in (None, one.share)]
        regret = np.array([100 * one.regret for one in own])
        engine = np.array([f"{one.space} {one.share} {one.seed}" for one in own])
        masks = np.array([[one.label == label for one in own] for label in _NAMES])
        found = means(regret, engine, masks)[0] if own else []
        yield "all" if share is None else f"{share:.0%}", *(_cell(mean) for mean in found)


def _at_suggestions(samples: Sequence[Sample], every: Sequence[Looked]) -> str:
    """Coverage where the model chose to look: only the lucky predictions are suggested."""
    lines = []
    asked = dict.fromkeys(one.question for one in every)
    for name in (*asked, "all"):
        own = [o for o in every if o.above is not None and name in ("all", o.question)]
        new = [o for o in own if not o.learnt]
        shares = [_covered([o for o in new if o.label == label]) for label in _NAMES]
        worse = Share(sum(bool(o.above) for o in new), len(new))
        changes = [o for o in own if o.change_inside is not None]
        inside = Share(sum(bool(o.change_inside) for o in changes), len(changes))
        lines.append((name, *shares, _covered(new), worse, _covered(own), inside))
    known = [sample for sample in samples if sample.tested]
    usual = Share(round(sum(s.inside * s.tested for s in known)), sum(s.tested for s in known))
    head = (
        "question",
        *_NAMES,
        "any label",
        "worse than its interval",
        "with learnt ones",
        "change",
    )
    return (
        "90 % intervals AT SUGGESTED configurations that were not learnt: share inside [95 %, "
        f"Wilson]\n(the same engines at configurations drawn at random: {usual})\n"
        + table(head, lines)
    )


def _covered(every: Sequence[Looked]) -> Share:
    return Share(sum(not (o.above or o.below) for o in every), len(every))


def _cell(mean: Mean) -> str:
    return f"{mean} ({mean.rows})" if mean.rows else "-"


def _ends(step: tuple[float, float]) -> str:
    return f"[{step[0]:.3f}, {step[1]:.3f}]"


def _percent(found: Interval) -> str:
    return f"{100 * found.mean:.1f} ± {100 * found.half:.1f}"


def _named(found: Sequence[Mean]) -> dict[str, Any]:
    return {name: asdict(mean) for name, mean in zip(_NAMES, found, strict=True)}
