"""The ten analytical laws as laws that questions are asked about."""

from benchmarks.formulas import LAWS, Law
from benchmarks.peers.jobs import Column
from benchmarks.word.laws import JobLaw

GROUP = "analytic"  # they are judged together
SEED = 3000


def analytic() -> list[JobLaw]:
    """All ten, without noise: what is left is the error of the model."""
    return [_law(number, law) for number, law in enumerate(LAWS)]


def _law(number: int, law: Law) -> JobLaw:
    return JobLaw(
        name=law.name,
        columns=tuple(Column(i.name, i.low, i.high, whole=i.whole) for i in law.inputs),
        context=(),
        rules=(),
        outcome="y",
        noise=0.0,
        formula=law.formula,
        draw=law.draw,
        rows=law.rows,
        seed=SEED + number,
    )
