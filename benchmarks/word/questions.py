"""Questions about a law whose truth is known. Only numpy is needed here."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.word.laws import TIMEOUT, Floats, JobLaw

REDUCE, AT_MOST, STATE = "reduce", "at most", "state"
SHARES = (0.10, 0.25, 0.40)
QUANTILES = (0.15, 0.30, 0.50)  # of what runs of the same context take
SEED = 41  # questions; other parts of the benchmark add a number to it
_OTHERS = 400  # runs of a context that a quantile is taken of
# One round of questions; a law without a limit asks for a ceiling in place of a state.
_ROUND = (REDUCE, REDUCE, AT_MOST, REDUCE, REDUCE, STATE)


@dataclass(frozen=True)
class Question:
    """What is asked of one run, or of one context."""

    number: int
    kind: str
    text: str
    start: tuple[float, ...]  # the baseline [d]; of a recommendation only its context counts
    past: int | None  # the row of the learnt table that the baseline is; None: it is not learnt
    measured: float | None  # seconds of the baseline; None: there is no baseline
    ceiling: float  # seconds that meet the goal; of a state: infinite, the run's limit counts
    free: tuple[str, ...]  # what may be changed

    @property
    def row(self) -> Floats:
        """The start as an array [d]."""
        return np.array(self.start)

    def limit(self, law: JobLaw, row: Floats) -> float:
        """The most seconds with which a run [d] meets the goal."""
        if self.kind != STATE:
            return self.ceiling
        assert law.limit is not None
        return float(60 * row[law.names.index(law.limit)])


def questions(law: JobLaw, X: Floats, y: Floats, count: int, seed: int = SEED) -> list[Question]:
    """Questions from learnt runs X [n, d], y [n] and from runs that nobody learnt, in turn."""
    rng = np.random.default_rng([seed, law.seed])
    fresh, measured = law.table(4 * count + 50, law.seed + 1000 + seed)
    held = iter(range(len(fresh)))
    past = iter(rng.permutation(len(X)).tolist())
    return [
        _question(law, number, (X, y, past), (fresh, measured, held), rng)
        for number in range(count)
    ]


_Rows = tuple[Floats, Floats, Iterator[int]]


def _question(
    law: JobLaw, number: int, learnt: _Rows, fresh: _Rows, rng: np.random.Generator
) -> Question:
    kind = _ROUND[number % len(_ROUND)]
    if kind == STATE and law.limit is None:
        kind = AT_MOST
    turn = number // len(_ROUND)
    known = (number + turn) % 2 == 0  # from a learnt run
    free = tuple(n for n in law.knobs if turn % 2 == 0 or n not in law.fixed)
    X, y, order = learnt if known or kind == AT_MOST else fresh
    i = next(order)
    while y[i] <= 0:  # a share of it would be no reduction
        i = next(order)
    if kind == STATE:
        # A job that ran out of time is to complete, with the limit that it has or another.
        while law.state(X[i], float(y[i])) != TIMEOUT:
            i = next(order)
    start, past, measured = X[i], i if known else None, float(y[i])
    if kind == REDUCE:
        share = SHARES[(number + turn) % len(SHARES)]
        return Question(
            number, kind, f"reduce by {share:.0%}", tuple(start), past, measured,
            (1 - share) * measured, free,
        )  # fmt: skip
    if kind == STATE:
        chosen = free if turn % 3 == 0 else tuple(n for n in free if n != law.limit)
        return Question(
            number, kind, "complete", tuple(start), past, measured, float("inf"), chosen
        )
    quantile = QUANTILES[turn % len(QUANTILES)]
    ceiling = float(np.quantile(law.formula(alike(law, start, rng)), quantile))
    return Question(
        number, kind, f"at most the {quantile:.0%} quantile", tuple(start), None, None, ceiling,
        law.knobs,
    )  # fmt: skip


def alike(law: JobLaw, start: Floats, rng: np.random.Generator) -> Floats:
    """Other runs [n, d] of the context of a start [d]."""
    X = law.draw(_OTHERS, rng)
    for name in law.context:
        X[:, law.names.index(name)] = start[law.names.index(name)]
    return X


def fresh_runs(law: JobLaw, question: Question, rows: Floats) -> Floats:
    """One new run of each suggestion [n, d]: seconds [n]; the noise belongs to the question."""
    rng = np.random.default_rng([SEED, law.seed, question.number])
    noise = rng.normal(0, law.noise, max(len(rows), 32))[: len(rows)]
    return np.asarray(law.formula(rows) * np.exp(noise)) if len(rows) else np.empty(0)
