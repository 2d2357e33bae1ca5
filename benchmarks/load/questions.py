"""Questions as different people ask them: all three kinds, no two alike."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.jobs import COLUMNS, ROWS

_KNOBS = ("nodes", "tasks", "threads", "gpus", "memory", "frequency", "partition")
_SOLVERS = COLUMNS[0].labels


@dataclass(frozen=True)
class Question:
    """A question and the past run that it starts from."""

    text: str
    run: int | None


def questions(seed: int) -> Iterator[Question]:
    """Random questions: half reconfigure, a quarter recommend, a quarter what-if."""
    rng = np.random.default_rng([77, seed])
    while True:
        yield _one(rng)


def _one(rng: np.random.Generator) -> Question:
    kind = rng.integers(4)
    names = rng.choice(_KNOBS, size=int(rng.integers(2, 5)), replace=False)
    asked = ", ".join(f"{name}: ?" for name in names)
    if kind == 0:
        solver, mesh, most = rng.choice(_SOLVERS), rng.integers(20, 380), rng.integers(4, 64)
        return Question(
            f"Recommend X = {{{asked}}} to achieve Y = {{runtime: minimize}} "
            f"where C = {{solver: {solver}, mesh: {mesh}, nodes <= {most}}}",
            None,
        )
    row = int(rng.integers(ROWS))
    if kind == 1:
        return Question(
            f"What if we change X = {{threads: old -> {rng.integers(1, 17)}, "
            f"frequency: {1.2 + 0.1 * rng.integers(0, 24):.1f}}}, "
            f"how would that affect Y = {{runtime}}?",
            row,
        )
    share = rng.integers(5, 40)
    return Question(
        f"Reconfigure X = {{{asked}}} to achieve Y = {{runtime: reduce by {share}%}}", row
    )
