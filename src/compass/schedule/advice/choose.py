"""Which amount to ask for: enough but for a stated chance, and worth the change."""

import math
from dataclasses import dataclass

import numpy as np

from compass.domain.quantity import quantity
from compass.schedule.advice.jobs import Floats
from compass.schedule.advice.need import LEVELS, Amounts
from compass.slurm import units

_WORTH = 0.9  # of what was asked: an amount above it is no news
OFTEN_CUT_OFF = 0.2  # of the latest jobs of an application: less is not advised then
_MINUTE, _HOUR = 60.0, 3600.0
_MIB, _GIB = 2.0**20, 2.0**30
_SHARES = np.linspace(0.025, 0.975, 20)  # of the jobs, for what is expected
_RETRIES = 40


@dataclass(frozen=True)
class Choice:
    """An amount with the chance that it is too little; None: stay with what was asked, and why."""

    amount: float | None
    risk: float | None
    risk_before: float | None
    why: str
    saved: float  # of the amount asked, on average over jobs, retries paid for


def rounded(of: str, amount: float) -> float:
    """An amount as people write it, never below."""
    if of == "time":
        step = _MINUTE if amount <= _HOUR else 5 * _MINUTE if amount <= 24 * _HOUR else _HOUR
    else:
        step = 100 * _MIB if amount <= 8 * _GIB else _GIB
    return math.ceil(amount / step) * step


def written(of: str, amount: float) -> str:
    """An amount as options of sbatch have it."""
    return units.written_time(amount) or "UNLIMITED" if of == "time" else units.written_size(amount)


def told(of: str, amount: float) -> str:
    """An amount for people."""
    return quantity(amount, "s" if of == "time" else "B")


def spent(amount: float | Floats, need: Floats) -> Floats:
    """What is reserved and not used by jobs of these needs [n]; lost tries count."""
    lost, tried = np.zeros(len(need)), np.zeros(len(need)) + amount
    for _ in range(_RETRIES):
        short = tried < need
        if not short.any():
            break
        lost = lost + np.where(short, tried, 0.0)
        tried = np.where(short, 2.0 * tried, tried)
    left: Floats = lost + tried - need
    return left


def choose(of: str, one: Amounts, asked: float, risk: float) -> Choice:
    """What to ask for instead of `asked` (NaN: nothing was), for one job."""
    values = one.values[0]
    if np.isnan(values).any():
        return Choice(None, None, None, "no similar job tells what it needed", 0.0)
    before = None if np.isnan(asked) else float(one.risk(np.array([asked]))[0])
    before = None if before is None else max(before, 1.0 - float(one.highest[0]))
    # Amounts are of jobs that come to their end; those that run out may do so with any of them.
    cut_off = float(one.cut_off[0])

    def of_all(chance: float) -> float:
        return cut_off + (1.0 - cut_off) * chance

    unchanged = None if before is None else of_all(before)
    stated = max(risk, 1.0 - float(one.highest[0]))
    if stated > 2 * risk and stated > 0.25:
        why = f"too few similar jobs: a chance below {stated:.0%} cannot be stated"
        return Choice(None, None, unchanged, why, 0.0)
    new = rounded(of, float(one.amount(stated)[0]))
    least = 1.0 - min(float(one.highest[0]), LEVELS[-1])
    chance = of_all(min(stated, max(float(one.risk(np.array([new]))[0]), least)))
    if before is None:
        return Choice(new, chance, None, "nothing was asked for", 0.0)
    shares = np.exp(np.interp(_SHARES, LEVELS, np.log(values)))
    saved = float((spent(asked, shares) - spent(new, shares)).mean())
    if new > asked:
        if before <= 1.5 * stated:
            return Choice(None, None, unchanged, "what is asked suffices", 0.0)
        why = f"similar jobs need {told(of, float(one.amount(0.5)[0]))} and more"
        return Choice(new, chance, unchanged, why, saved)
    if new > _WORTH * asked:
        return Choice(None, None, unchanged, "what is asked fits", 0.0)
    if cut_off > OFTEN_CUT_OFF:
        why = f"{cut_off:.0%} of the latest jobs of this application ran out of what they had"
        return Choice(None, None, unchanged, why, 0.0)
    if saved <= 0:
        why = "failed tries would cost more than what is left unused"
        return Choice(None, None, unchanged, why, 0.0)
    why = f"half of similar jobs need less than {told(of, float(one.amount(0.5)[0]))}"
    return Choice(new, chance, unchanged, why, saved)


def next_attempt(of: str, one: Amounts | None, had: float, risk: float) -> Choice:
    """What the next attempt of a job asks for that ran out of `had`: its need is more."""
    double = rounded(of, 2.0 * had)
    if one is None or np.isnan(one.values).any():
        return Choice(double, None, 1.0, "it ran out, and no similar job tells more: twice", 0.0)
    above = float(one.risk(np.array([had]))[0])
    # Of the jobs that need more than this one had, all but this share are satisfied.
    wanted = risk * above
    if above <= 2 * (1.0 - LEVELS[-1]) or wanted < 1.0 - LEVELS[-1]:
        why = f"it ran out of {told(of, had)}, more than similar jobs need: twice"
        return Choice(double, None, 1.0, why, 0.0)
    new = max(rounded(of, float(one.amount(wanted)[0])), rounded(of, 1.2 * had))
    return Choice(new, risk, 1.0, f"it ran out of {told(of, had)}; similar jobs need more", 0.0)
