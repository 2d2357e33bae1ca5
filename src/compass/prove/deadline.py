"""The time that a proof may take."""

import time
from dataclasses import dataclass


class OutOfTime(Exception):
    """The time for the proof is over."""


@dataclass(frozen=True)
class Deadline:
    """When the proof has to end."""

    end: float

    @staticmethod
    def after(seconds: float) -> "Deadline":
        """The deadline that comes after some seconds."""
        return Deadline(time.perf_counter() + seconds)

    @property
    def left(self) -> float:
        """Seconds that are left, at least 0."""
        return max(self.end - time.perf_counter(), 0.0)

    def check(self) -> None:
        """Raise OutOfTime when nothing is left."""
        if self.left <= 0:
            raise OutOfTime
