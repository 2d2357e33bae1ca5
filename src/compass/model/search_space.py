"""The search space of a family: which of its settings may be tuned, and how far."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TunedNumber:
    """A setting that is a number; `log`: equal factors are equal steps."""

    name: str
    low: float
    high: float
    log: bool = True

    def suggest(self, trial: Any, key: str, default: Any) -> Any:
        """A value that an Optuna trial wants to try, of the type that the setting has."""
        if isinstance(default, int):
            return trial.suggest_int(key, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(key, self.low, self.high, log=self.log)

    def within(self, value: Any) -> Any:
        """The value in the range that is nearest."""
        return type(value)(min(max(value, self.low), self.high))


@dataclass(frozen=True)
class TunedFlag:
    """A setting that is yes or no."""

    name: str

    def suggest(self, trial: Any, key: str, default: Any) -> Any:
        """The value that an Optuna trial wants to try."""
        del default
        return trial.suggest_categorical(key, [False, True])

    def within(self, value: Any) -> Any:
        """The value as it is."""
        return value


@dataclass(frozen=True)
class SearchSpace:
    """The settings of one family that may be tuned, and the section of `Settings` they are in."""

    section: str
    parameters: tuple[TunedNumber | TunedFlag, ...]
