"""Better settings for a synthesizer, within a time limit, going on where an earlier search ended.

A fifth of the rows is held out. An attempt learns the others and is judged by how well boosted
trees tell its rows from those held out (0.5: not at all). The defaults are tried first and stay
unless something is better. An attempt that would take more than its share of the time is ended: of
a network that is after some epoch.
"""

import hashlib
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compass.domain.errors import BadInput
from compass.domain.space import Space
from compass.learn.journal import open_study
from compass.rules.domains import domain_of
from compass.settings import SynthesisSettings
from compass.synth.base import Floats, Tell, silent, synthesizer
from compass.synth.quality.dense import thinned
from compass.synth.quality.predictive import two_sample_auc

_HELD = 0.2  # of the rows
_MOST = 5000  # rows that are judged
_SHARE = 0.4  # of the time that is left which one attempt may take
_ROUNDS = 1000  # attempts at most

# What is tried, by synthesizer: the least and the most of each, whole numbers and others.
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "cart": {"least": (2, 50)},
    "ctgan": {"epochs": (10, 600), "batch": (50, 1000), "steps": (1, 5), "rate": (5e-5, 2e-3)},
    "tvae": {"epochs": (10, 600), "batch": (50, 1000), "rate": (1e-4, 5e-3)},
    "great": {"epochs": (5, 300), "batch": (8, 128), "rate": (1e-4, 5e-3)},
}


@dataclass(frozen=True)
class TunedSynthesis:
    """What tuning found."""

    settings: SynthesisSettings
    before: float | None  # two-sample AUC of the defaults; None: they took too long
    after: float | None  # of what was found; None: no attempt came to its end
    trials: int  # attempts that came to their end, earlier ones included

    @property
    def words(self) -> str:
        """The same as a sentence."""
        if self.after is None:
            return "no attempt came to its end in the time given: the defaults stay"
        against = "took too long" if self.before is None else f"{self.before:.3f}"
        return (
            f"tuned over {self.trials} attempts: two-sample AUC {self.after:.3f} "
            f"(defaults: {against}; 0.5 is best)"
        )


class _TooLong(Exception):
    """An attempt has had its time."""


def tune(
    X: Floats,
    space: Space,
    name: str,
    seconds: float,
    *,
    settings: SynthesisSettings,
    seed: int,
    journal: Path | None = None,
    tell: Tell = silent,
) -> TunedSynthesis:
    """Look for better settings of a synthesizer for rows X [n, d], for so many seconds."""
    if name not in RANGES:
        raise BadInput(f"{name} has nothing to tune", hint=f"one of {', '.join(RANGES)} has")
    if not (math.isfinite(seconds) and seconds > 0):
        raise BadInput(f"{seconds:g} seconds are no time", hint="give more than 0")
    began = time.monotonic()
    study = open_study(_identity(X, space, name, settings, seed), journal, seed)
    rows = thinned(X, _MOST, seed)
    held = round(_HELD * len(rows))
    order = np.random.default_rng(seed).permutation(len(rows))
    train, valid = rows[order[held:]], rows[order[:held]]
    defaults = {key: getattr(getattr(settings, name), key) for key in RANGES[name]}
    if not study.trials:
        study.enqueue_trial({k: _inside(RANGES[name][k], v) for k, v in defaults.items()})
    end = began + seconds
    while time.monotonic() < end and len(study.trials) < _ROUNDS:
        share = min((time.monotonic() - began) / seconds, 1.0)
        tell(f"tuning ({len(study.trials)} tried)", int(100 * share), 100)
        trial = study.ask()
        chosen = changed(settings, name, _suggested(trial, name))
        stop = time.monotonic() + _SHARE * (end - time.monotonic())
        try:
            score = _score(train, valid, space, name, chosen, seed, stop)
        except _TooLong:
            study.tell(trial.number, state=_failed())
        else:
            study.tell(trial.number, score)
    return _best(study, settings, name)


def changed(settings: SynthesisSettings, name: str, values: dict[str, Any]) -> SynthesisSettings:
    """Settings with some of those of a synthesizer changed."""
    own = getattr(settings, name, None)
    if own is None:
        raise BadInput(f"{name} has no settings", hint="leave them out")
    known = settings.model_dump()
    return SynthesisSettings.model_validate(known | {name: own.model_dump() | values})


def _score(
    train: Floats, valid: Floats, space: Space, name: str, settings: SynthesisSettings, seed: int,
    stop: float,
) -> float:  # fmt: skip
    """How well drawn rows are told from held-out ones; at least 0.5."""

    def watch(what: str, done: int, total: int) -> None:
        del what, done, total
        if time.monotonic() > stop:
            raise _TooLong

    model = synthesizer(name).fit(train, space, seed=seed, settings=settings, tell=watch)
    legal = [domain_of(parameter) for parameter in space]
    given = np.full((len(valid), len(space)), np.nan)
    made = model.sample(given, legal, np.random.default_rng(seed))
    return max(two_sample_auc(valid, made, seed), 0.5)


def _suggested(trial: Any, name: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, (low, high) in RANGES[name].items():
        if isinstance(low, int):
            found[key] = trial.suggest_int(key, low, high, log=True)
        else:
            found[key] = trial.suggest_float(key, low, high, log=True)
    return found


def _inside(ends: tuple[float, float], value: float) -> float:
    return min(max(value, ends[0]), ends[1])


def _failed() -> Any:
    import optuna

    return optuna.trial.TrialState.FAIL


def _best(study: Any, settings: SynthesisSettings, name: str) -> TunedSynthesis:
    done = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
    if not done:
        return TunedSynthesis(settings, None, None, 0)
    first = study.trials[0]
    before = first.value if first.state.name == "COMPLETE" else None
    best = min(done, key=lambda trial: (trial.value, trial.number))
    return TunedSynthesis(changed(settings, name, best.params), before, best.value, len(done))


def _identity(X: Floats, space: Space, name: str, settings: SynthesisSettings, seed: int) -> str:
    """The same for the same rows, synthesizer and settings."""
    digest = hashlib.blake2b(np.ascontiguousarray(X).tobytes(), digest_size=16)
    said = f"{space.model_dump_json()} {name} {settings.model_dump_json()} {RANGES[name]} {seed}"
    digest.update(said.encode())
    return digest.hexdigest()
