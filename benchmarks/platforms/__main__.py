"""Score runtime ratios across machines: `python -m benchmarks.platforms [TABLE ...]`.

Every application (kernel) is left out in turn; all that is learnt, chosen or calibrated comes from
the others. Errors are means over applications. See `cases.py` for the tables.
"""

import argparse
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.platforms.cases import CASES, HELD_OUT, Case, folder
from benchmarks.platforms.peers import raw_xgboost, tuned
from benchmarks.platforms.scores import scores
from benchmarks.show import save, table
from compass.platforms.intervals import ABSTAIN_ABOVE
from compass.platforms.members import MEMBERS
from compass.platforms.pairs import Floats, MatchedRuns
from compass.platforms.predictor import PlatformModel, fit

HEAD = ("source, method", "MAPE %", "±", "mean |log|", "tau", "exact %")
MEAN, RAW, TUNED, OURS, ORDER = (
    *("per-machine mean (majority order)", "raw XGBoost", "raw XGBoost, tuned"),
    *("default", "its order of machines"),
)


@dataclass
class Seen:
    """What was predicted of every line when its application was left out."""

    truth: Floats  # [n, m]
    found: dict[str, Floats] = field(default_factory=dict)
    one_run: list[tuple[float, float, float, float]] = field(default_factory=list)
    covered: list[tuple[float, float, float]] = field(default_factory=list)
    covered_told: list[float] = field(default_factory=list)
    members: list[tuple[str, ...]] = field(default_factory=list)
    seconds: float = 0.0

    def put(self, name: str, lines: NDArray[np.bool_], log_ratio: Floats) -> None:
        """Keep what a method says of some lines."""
        self.found.setdefault(name, np.full(self.truth.shape, np.nan))[lines] = log_ratio


def leave_out(runs: MatchedRuns, source: str, *, tune: bool) -> Seen:
    """Leave every application out in turn."""
    runs = runs.ran_on(source)
    seen = Seen(runs.log_ratio(source))
    place = runs.place(source)
    settings = tuned(runs, source) if tune else None
    began = time.monotonic()
    for application in np.unique(runs.applications):
        lines = runs.applications == application
        test, train = runs.some(lines), runs.some(~lines)
        elsewhere = np.arange(len(runs.machines)) != place
        model = fit(train, source)
        blind = test.hidden(np.tile(elsewhere, (len(test), 1)))
        each = model.learner.each(model.views(blind))
        for name, log_ratio in each.items():
            seen.put(name, lines, log_ratio)
        forecast = model.predict(blind)
        seen.put(OURS, lines, forecast.log_ratio)
        seen.put(ORDER, lines, forecast.order_by)
        seen.members.append((*model.chosen.members, f"share {model.chosen.share}"))
        truth = test.log_ratio(source)
        off = np.abs(forecast.log_ratio - truth)[:, elsewhere]
        if np.isfinite(off).any():
            inside = (off <= np.log(forecast.factor)[:, elsewhere])[np.isfinite(off)]
            factor = forecast.factor[:, elsewhere][np.isfinite(off)]
            width = float(np.exp(np.log(factor).mean()))
            seen.covered.append((inside.mean(), width, (factor > ABSTAIN_ABOVE).mean()))
            one_run(model, test, forecast.log_ratio, seen)
        seen.put(RAW, lines, raw_xgboost(train, test, source))
        if settings is not None:
            seen.put(TUNED, lines, raw_xgboost(train, test, source, settings))
    seen.seconds = time.monotonic() - began
    return seen


def one_run(model: PlatformModel, test: MatchedRuns, before: Floats, seen: Seen) -> None:
    """One run on each target in turn, three times another one: errors of the other lines."""
    truth = test.log_ratio(model.source)
    errors = []
    for machine in range(truth.shape[1]):
        known = np.flatnonzero(np.isfinite(truth[:, machine]))
        if machine == model.place or len(known) < 2:
            continue
        for line in np.random.default_rng(7).choice(known, min(3, len(known)), replace=False):
            hide = np.isfinite(truth)
            hide[:, model.place] = False
            hide[line, machine] = False
            told = model.predict(test.hidden(hide))
            rest = known[known != line]
            off = told.log_ratio[rest, machine] - truth[rest, machine]
            was = before[rest, machine] - truth[rest, machine]
            inside = np.abs(off) <= np.log(told.factor[rest, machine])
            errors.append(
                (
                    *(100 * np.abs(np.expm1(np.minimum(e, 50))).mean() for e in (was, off)),
                    *(np.abs(e).mean() for e in (was, off)),
                    inside.mean(),
                )
            )
    if errors:
        mean = np.mean(errors, axis=0)
        seen.one_run.append(tuple(mean[:4]))
        seen.covered_told.append(mean[4])


def shown(case: Case, runs: MatchedRuns, source: str, seen: Seen) -> dict[str, object]:
    """Print one source's figures."""
    own = runs.ran_on(source)
    place = own.place(source)
    names = [MEAN, RAW, TUNED, *(m.name for m in MEMBERS[1:]), OURS, ORDER]
    seen.found[MEAN] = seen.found.pop("mean")
    each = {
        name: scores(seen.found[name], seen.truth, own.applications, place)
        for name in names
        if name in seen.found
    }
    rows = [
        (
            f"{source}: {name}",
            *(f"{s.mape:.1f}", f"{s.half:.1f}", f"{s.log_error:.3f}", f"{s.tau:.3f}"),
            f"{s.exact:.1f}",
        )
        for name, s in each.items()
    ]
    count = len(set(own.applications.tolist()))
    print(
        f"\n{case.name} from {source}: {len(own)} lines, {count} applications, "
        f"{len(own.machines)} machines, {seen.seconds:.0f} s"
    )
    print(table(HEAD, rows))
    covered = np.array(seen.covered)
    width = np.exp(np.log(covered[:, 1]).mean())
    print(
        f"90 % intervals: {100 * covered[:, 0].mean():.0f} % covered on the mean over "
        f"applications, {100 * covered[:, 0].min():.0f} % of the worst; factor {width:.2f}; "
        f"abstained {100 * covered[:, 2].mean():.0f} %"
    )
    one = np.array(seen.one_run)
    if len(one):
        a = one.mean(axis=0)
        worse = 100 * (one[:, 3] > one[:, 2]).mean()
        print(
            f"one run on the target: MAPE {a[0]:.1f} -> {a[1]:.1f} %, mean |log| {a[2]:.3f} -> "
            f"{a[3]:.3f}; worse for {worse:.0f} % of the applications; intervals then cover "
            f"{100 * np.mean(seen.covered_told):.0f} %"
        )
    used = [name for members in seen.members for name in members]
    print(
        "members chosen:",
        {name: used.count(name) for name in dict.fromkeys(used)},
        f"of {len(seen.members)}",
    )
    sys.stdout.flush()
    return {
        "scores": {name: vars(s) for name, s in each.items()},
        "intervals": covered.mean(axis=0).tolist(),
        "worst": float(covered[:, 0].min()),
        "one_run": one.mean(axis=0).tolist() if len(one) else None,
        "covered_told": float(np.mean(seen.covered_told)) if seen.covered_told else None,
    }


def main() -> None:
    """Score the named tables, or all but the one that is scored once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(c.name for c in CASES)}")
    parser.add_argument("--first", action="store_true", help="only the first source of each")
    parser.add_argument("--tuned", action="store_true", help="tune raw XGBoost too (slow)")
    parser.add_argument("-o", "--output", type=Path, help="figures as JSON")
    given = parser.parse_args()
    wanted = given.tables or [case.name for case in CASES if case.name != HELD_OUT]
    figures: dict[str, object] = {}
    for case in CASES:
        if case.name not in wanted:
            continue
        runs = case.runs(folder())
        for source in case.sources[:1] if given.first else case.sources:
            seen = leave_out(runs, source, tune=given.tuned)
            figures[f"{case.name} from {source}"] = shown(case, runs, source, seen)
    if given.output:
        save(given.output, figures)


if __name__ == "__main__":
    main()
