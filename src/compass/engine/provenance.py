"""How an answer was made: the data, the seed, the versions, and the time of each stage."""

import platform
import time
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version

from compass.domain.answer import Provenance
from compass.engine.dataset import Dataset


@dataclass
class Clock:
    """The time of each stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def mark(self, stage: str) -> None:
        """Everything since the last mark belongs to this stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now

    def go_on(self) -> None:
        """What passed since the last mark belongs to no stage: nobody worked on the answer."""
        self._last = time.perf_counter()


def provenance_of(data: Dataset, seed: int) -> Provenance:
    """The data, the seed and the versions that an answer is made with."""
    return Provenance(
        data=data.table.fingerprint,
        sample=data.prepared.sample,
        seed=seed,
        versions=dict(_versions()),
    )


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """What answers are made with; read once, because that takes a millisecond."""
    return (
        ("compass", version("compass-hpc")),
        ("python", platform.python_version()),
        ("numpy", version("numpy")),
        ("scikit-learn", version("scikit-learn")),
    )
