"""Waste and failures of advice and of its peers on later jobs, under one model of retries.

The first 40 % of each trace are only learnt from. Then, eight times, all that had ended is learnt
and the next jobs are advised, each from what had ended when it was submitted. Judged are jobs that
completed: their need is known. An attempt with less than the need is lost whole; the next one has
twice as much. Waste is what is reserved and not used: core-hours of time, GB-hours of memory. Peers
never ask for more than the request. They learn jobs that were cut off either not at all, as Compass
does, or as ones that need twice what they had: what serves them better counts. To compare at the
same rate of failures, what a peer asks for is multiplied with one factor for all jobs, found on the
judged jobs themselves, in its favour, and is then cut off at the request or not, as serves it
better: where jobs outlive their request, what is cut off fails whatever the factor.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.schedule.advice.peers import replayed
from compass.schedule.advice.choose import choose, spent
from compass.schedule.advice.history import Similarity
from compass.schedule.advice.jobs import Floats, Jobs
from compass.schedule.advice.need import ENDED_FOR, Needs, needs

_WARM, _BLOCKS = 0.4, 8
_FACTORS = np.geomspace(0.02, 200.0, 160)
RISK = 0.05


@dataclass(frozen=True)
class Judged:
    """The jobs that are judged: what they needed, and how much a unit of it costs."""

    rows: np.ndarray
    need: Floats
    cost: Floats


def waste(amount: Floats, judged: Judged) -> tuple[float, float]:
    """The rate of failures and the waste of these amounts."""
    lost = float((spent(amount, judged.need) * judged.cost).sum())
    return float((amount < judged.need).mean()), lost


def advised(jobs: Jobs, of: str, risk: float) -> tuple[Floats, Floats, int]:
    """What Compass asks for, what suffices but for the risk (NaN: not stated); the first row."""
    count = len(jobs)
    edges = np.linspace(_WARM * count, count, _BLOCKS + 1).astype(int)
    asked = jobs.memory_asked if of == "memory" else jobs.limit
    amount, stated = asked.copy(), np.full(count, np.nan)
    for first, stop in itertools.pairwise(edges):
        past = jobs.take(np.flatnonzero(jobs.end <= jobs.submit[first]))
        similarity = Similarity()
        model = Needs(past, similarity.groups(past), of, similarity)
        # Its trees stay; what it looks up is what had ended when a job was submitted.
        model.look_up_in(jobs, similarity.groups(jobs))
        rows = np.arange(first, stop)
        amounts = model.amounts(jobs.take(rows), jobs.submit[rows])
        for place, row in enumerate(rows):
            one = amounts.row(place)
            if not np.isnan(one.values).any() and one.highest[0] >= 1.0 - risk:
                stated[row] = one.amount(risk)[0]
            chosen = choose(of, one, float(asked[row]), risk)
            if chosen.amount is not None:
                amount[row] = chosen.amount
    return amount, stated, int(edges[0])


def judged_jobs(jobs: Jobs, of: str, first: int) -> Judged:
    """Completed jobs from a row on."""
    need = needs(jobs, of)
    rows = np.flatnonzero(
        (np.arange(len(jobs)) >= first) & (jobs.state == "COMPLETED") & (need > 0)
    )
    hours = (jobs.cores if of == "time" else jobs.elapsed * jobs.nodes / 2**30)[rows] / 3600.0
    return Judged(rows, need[rows], hours)


def judged(jobs: Jobs, of: str) -> dict[str, Any]:
    """The figures of one trace."""
    amount, stated, first = advised(jobs, of, RISK)
    later = judged_jobs(jobs, of, first)
    asked = jobs.memory_asked if of == "memory" else jobs.limit
    known = np.isnan(asked[later.rows])
    if known.all():  # nobody asked: what is judged are predictors alone, where one has an opinion
        amount = stated
    own = amount[later.rows]
    need, cut_off = needs(jobs, of), np.isin(jobs.state, ENDED_FOR[of])
    twice = np.where(cut_off, 2.0 * np.fmax(asked, _used(jobs, of)), need)
    peers, others = replayed(jobs, asked, need), replayed(jobs, asked, twice)
    told = {"request": (asked,), **{name: (peers[name], others[name]) for name in peers}}
    usable = ~np.isnan(own)
    if known.all():
        for values in peers.values():
            usable &= ~np.isnan(values[later.rows])
    later = Judged(later.rows[usable], later.need[usable], later.cost[usable])
    failures, lost = waste(own[usable], later)
    result: dict[str, Any] = {
        "jobs": len(later.rows),
        "used": round(float((later.need * later.cost).sum()), 1),
        "compass": [round(failures, 4), round(lost, 1)],
    }
    request = asked[later.rows]
    for name, versions in told.items():
        if np.isnan(versions[0][later.rows]).all():
            continue
        compared = [_compared(values[later.rows], request, later, failures) for values in versions]
        result[name] = min(compared, key=lambda one: one[2])
    best = min(result[name][2] for name in told if name in result)
    result["ratio"] = round(lost / best, 3)
    shown = ~np.isnan(stated[later.rows])
    result["stated"] = int(shown.sum())
    if shown.any():
        short = (stated[later.rows] < later.need)[shown]
        result["seen at 5 %"] = round(float(short.mean()), 4)
    return result


def _used(jobs: Jobs, of: str) -> Floats:
    return jobs.memory_used if of == "memory" else jobs.elapsed


def _compared(values: Floats, request: Floats, later: Judged, failures: float) -> list[float]:
    """Failures and waste of what a peer asks for, and its waste at another rate of failures."""
    base = np.where(np.isnan(values), request, values)
    native = waste(np.fmin(base, request), later)
    tried = [base * factor for factor in _FACTORS]
    tried += [np.fmin(amount, request) for amount in tried]
    curve = np.array([waste(amount, later) for amount in tried])
    return [round(native[0], 4), round(native[1], 1), round(_at(curve, failures), 1)]


def _at(curve: Floats, failures: float) -> float:
    """The least waste of a factor that fails no more often."""
    enough = curve[curve[:, 0] <= failures + 1e-12]
    return float(enough[:, 1].min()) if len(enough) else float("inf")
