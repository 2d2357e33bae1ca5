"""The kept values as tables: means over seeds with intervals, spaces, aims."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.measure import interval
from benchmarks.show import table

AT = ("50", "100", "220")
HEAD = (
    *("contestant", "seeds", "regret 50 %", "100 %", "220 %", "worst space 220 %", "score"),
    *("failed", "ms / ask"),
)
OURS, OPTUNA = "compass", "tpe"
WHOLE = "whole"  # ours on the seeds of the ablation
PARTS = ("only-", "without-")
BESIDE = ("transfer", "no-history")  # from no run at all: not beside the others
Kept = Mapping[str, Mapping[str, Mapping[str, Sequence[Any]]]]


def show(kept: Kept) -> str:
    """Everything that is printed."""
    parts = [
        *(_contestants(kept), _spaces(kept), _failures(kept), _ablation(kept)),
        *(_transfer(kept), _aims(kept)),
    ]
    return "\n\n".join(part for part in parts if part)


def _by_seed(own: Mapping[str, Mapping[str, Sequence[float]]], column: str) -> list[list[float]]:
    """Per seed the values of all spaces."""
    seeds = sorted({int(seed) for space in own.values() for seed in space["seed"]})
    return [
        [v for s in own.values() for k, v in zip(s["seed"], s[column], strict=True) if k == seed]
        for seed in seeds
    ]


def _percent(own: Mapping[str, Mapping[str, Sequence[float]]], column: str) -> str:
    found = interval([[100 * v for v in values] for values in _by_seed(own, column)])
    return f"{found.mean:.1f}" + (f" ± {found.half:.1f}" if np.isfinite(found.half) else "")


def _contestants(kept: Kept) -> str:
    lines = []
    for name in _beside_each_other(kept):
        own = kept[name]
        seeds = [len(space["seed"]) for space in own.values()]
        told = (
            f"{min(seeds)}"
            if len(own) == _count(kept)
            else f"{min(seeds)} ({len(own)} of {_count(kept)} spaces)"
        )
        worst = max(own, key=lambda space: float(np.mean(own[space]["220"])))
        every = [value for space in own.values() for value in space["score"]]
        failed = np.mean([np.mean(space["failed"]) for space in own.values()])
        cost = np.mean([np.mean(space["ms"]) for space in own.values()])
        lines.append(
            (
                name,
                told,
                *(_percent(own, column) for column in AT),
                f"{100 * np.mean(own[worst]['220']):.1f} ({worst})",
                f"{np.mean(every):.3f}",
                f"{failed:.1f}",
                f"{cost:.1f}",
            )
        )
    head = "mean regret over all spaces, ± 95 % over the seeds; 20 random starts are counted"
    return head + "\n" + table(HEAD, lines)


def _count(kept: Kept) -> int:
    return max(len(own) for own in kept.values())


def _beside_each_other(kept: Kept) -> list[str]:
    """The contestants that had the same starts."""
    return [n for n in kept if n not in (WHOLE, *BESIDE) and not n.startswith(PARTS)]


def _spaces(kept: Kept) -> str:
    """Regret after 100 and 220 evaluations per space, all contestants side by side."""
    names = _beside_each_other(kept)
    spaces = list(dict.fromkeys(space for name in names for space in kept[name]))
    lines = []
    for space in spaces:
        cells = []
        for name in names:
            own = kept[name].get(space)
            cells.append("-" if own is None else " / ".join(_mean(own[t]) for t in ("100", "220")))
        lines.append((space, *cells))
    return "mean regret % after 100 / 220 evaluations\n" + table(("space", *names), lines)


def _failures(kept: Kept) -> str:
    """Failed launches until the same regret: the worse one of what both have at the end."""
    lines, every = [], list[tuple[int, int]]()
    for space, own in kept.get(OURS, {}).items():
        other = kept.get(OPTUNA, {}).get(space, {})
        if not any(own["failed"]):
            continue
        theirs = dict(zip(other.get("seed", ()), other.get("found", ()), strict=False))
        both = [
            (found, theirs[seed])
            for seed, found in zip(own["seed"], own.get("found", ()), strict=False)
            if found and theirs.get(seed)
        ]
        if both:
            level = [max(one[-1][1], two[-1][1]) for one, two in both]
            pairs = [
                (failed_until(one, same), failed_until(two, same))
                for (one, two), same in zip(both, level, strict=True)
            ]
            every += pairs
            lines.append((space, len(pairs), _mean(level), *_pair(pairs)))
    if not lines:
        return ""
    lines.append(("all", len(every), "", *_pair(every)))
    head = ("space", "seeds", "regret %", OURS, OPTUNA, "ratio")
    told = "failed launches after the starts, until the worse one of both last regrets was reached"
    low, high = _ratios(every)
    resampled = f"ratio of all, 95 % of resampled replays: {low:.2f} to {high:.2f}"
    return "\n".join((told, table(head, lines), resampled))


def failed_until(found: Sequence[Sequence[float]], regret: float) -> int:
    """The failed launches before a regret was reached."""
    return int(next(failed for _, reached, failed in found if reached <= regret))


def _ratios(pairs: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Between which ratios most resampled replays are."""
    counts = np.array(pairs, dtype=float)
    rows = np.random.default_rng(0).integers(len(counts), size=(4000, len(counts)))
    ours, theirs = counts[rows].sum(axis=1).T
    low, high = np.quantile(ours / np.maximum(theirs, 1.0), [0.025, 0.975])
    return float(low), float(high)


def _pair(pairs: Sequence[tuple[int, int]]) -> tuple[str, str, str]:
    ours, theirs = (float(np.mean(one)) for one in zip(*pairs, strict=True))
    return f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}" if theirs else "-"


def _ablation(kept: Kept) -> str:
    """Members alone and parts off, beside the whole on the same spaces and seeds."""
    if WHOLE not in kept:
        return ""
    whole = kept[WHOLE]
    lines = [(WHOLE, len(whole), *_ablated(whole), "", "")]
    for name, own in kept.items():
        if name.startswith(PARTS) and own.keys() <= whole.keys():
            same = {space: whole[space] for space in own}
            more = [_more(own, same, at) for at in AT[1:]]
            lines.append((name, len(own), *_ablated(own), *more))
    head = ("", "spaces", "seeds", "regret 50 %", "100 %", "220 %", "worst space 220 %", "failed")
    told = (
        "in parts, on seeds of their own; more at 100 and 220: what it has more of regret than the "
        "whole on the same spaces"
    )
    return told + "\n" + table((*head, "more at 100", "at 220"), lines)


def _more(
    own: Mapping[str, Mapping[str, Sequence[Any]]],
    whole: Mapping[str, Mapping[str, Sequence[Any]]],
    at: str,
) -> str:
    both = zip(_by_seed(own, at), _by_seed(whole, at), strict=True)
    found = interval([[100 * (a - b) for a, b in zip(*one, strict=True)] for one in both])
    return f"{found.mean:+.1f} ± {found.half:.1f}"


def _ablated(own: Mapping[str, Mapping[str, Sequence[Any]]]) -> tuple[object, ...]:
    worst = max(own, key=lambda space: float(np.mean(own[space]["220"])))
    return (
        min(len(space["seed"]) for space in own.values()),
        *(_mean([v for space in own.values() for v in space[column]]) for column in AT),
        f"{_mean(own[worst]['220'])} ({worst})",
        f"{np.mean([np.mean(space['failed']) for space in own.values()]):.1f}",
    )


def _mean(values: Sequence[float]) -> str:
    return f"{100 * float(np.mean(values)):.1f}"


def _transfer(kept: Kept) -> str:
    both = [name for name in BESIDE if name in kept]
    if not both:
        return ""
    at = ("5", "10", "20", "50", "100")
    spaces = [s for s in kept[both[0]] if all(s in kept[name] for name in both)]
    lines = [
        (space, name, len(kept[name][space]["seed"]), *(_mean(kept[name][space][t]) for t in at))
        for space in spaces
        for name in both
    ]
    head = "from no run at all: regret % after so many evaluations"
    return head + "\n" + table(("space", "", "seeds", *at), lines)


def _aims(kept: Kept) -> str:
    """The aims, and what was reached."""
    peers = {
        name: own
        for name, own in kept.items()
        if name in _beside_each_other(kept)
        and name not in (OURS, "random")
        and len(own) == _count(kept)
    }
    if OURS not in kept or not peers:
        return ""
    ours = kept[OURS]

    def mean(own: Mapping[str, Mapping[str, Sequence[float]]], t: str) -> float:
        return float(np.mean([np.mean(space[t]) for space in own.values()]))

    best = min(peers, key=lambda name: mean(peers[name], "100"))
    share = mean(ours, "100") / mean(peers[best], "100")
    worst = max(float(np.mean(space["220"])) for space in ours.values())
    behind = [
        f"{space} ({_mean(own['220'])} % against {least:.1f} %)"
        for space, own in ours.items()
        if 100 * float(np.mean(own["220"]))
        > 1.2 * (least := min(100 * float(np.mean(p[space]["220"])) for p in peers.values())) + 0.05
    ]
    return "\n".join(
        (
            "aims",
            f"  half the regret of the best peer at 100: {share:.2f} of {best}",
            f"  at most 2 % at 220 on the mean: {100 * mean(ours, '220'):.1f} %",
            f"  at most 8 % at 220 on the worst space: {100 * worst:.1f} %",
            f"  no space above 1.2 times the best peer at 220: {', '.join(behind) or 'none'}",
        )
    )
