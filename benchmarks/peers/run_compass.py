"""Compass itself: whole `reconfigure` calls through its public face, trust included, no proof."""

import numpy as np

import compass as cp
from benchmarks.peers.ask import Answer, main, sheet
from benchmarks.peers.case import VARIANTS, Case, Question, Sheet, movable
from benchmarks.peers.jobs import OUTCOME, ROWS, SEED, columns_of, decode, encode, study, table
from benchmarks.roles import PLAIN

SETTINGS = "Compass reconfigure, prove=0"


def engine(
    seed: int, deadline: float = 30.0, *, family: str = PLAIN.surrogate, rows: int = ROWS
) -> cp.Compass:
    """An engine over the table of jobs, not yet fitted; questions have to ask for a proof."""
    X, y = table(rows, SEED)
    data = cp.read(columns_of(X, y), study=study())
    chosen = {"prove": 0.0, "deadline": deadline, "surrogate": family}
    return cp.Compass(data, seed=seed, settings=PLAIN.model_copy(update=chosen))


def run(case: Case) -> list[Sheet]:
    """Four suggestions and one, for both variants."""
    fitted = engine(case.seed).fit()
    probe = _probe(fitted, case)
    return [
        sheet(case, f"Compass, {n}", v, n, SETTINGS, _Compass(fitted, v, n), probe)
        for v in VARIANTS
        for n in (4, 1)
    ]


class _Compass:
    """One variant with one number of suggestions."""

    def __init__(self, fitted: cp.Compass, variant: str, count: int) -> None:
        self.fitted, self.variant, self.count = fitted, variant, count

    def __call__(self, question: Question) -> Answer:
        answer = self.fitted.reconfigure(
            decode(question.row),
            ask=movable(self.variant),
            goals={OUTCOME: cp.at_most(question.ceiling)},
            count=self.count,
        )
        rows = [encode(one.config).tolist() for one in answer]
        reported = [float(one.outcome(OUTCOME).value) for one in answer]  # type: ignore[arg-type]
        return rows, reported, (answer.no_answer or "")[:200]


def _probe(fitted: cp.Compass, case: Case) -> list[float]:
    trained = next(iter(fitted.store.trained.values()))
    starts = np.array([question.start for question in case.questions])
    return [float(value) for value in trained.model.predict(starts)[:, 0]]


if __name__ == "__main__":
    main("run_compass", run)
