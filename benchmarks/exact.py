"""The search alone against the proven optimum: `make exact`.

The table, the forest (100 trees of depth 12), the rules and the questions are those of
`benchmarks.peers`. Every question is put twice to the same fitted engine, for one suggestion: once
without a proof, and once with a proof that is run to the end and starts from what the search found.
Where the proof closes, the first suggestion is the optimum, and the search alone is compared with
it. The seconds of a proof are CPU seconds: those of the whole call less those of the call without.
The largest gap is what proofs leave open, the cost of writing real numbers plainly included.

Required: the search alone equals the optimum on 95 % of the questions; the proof closes within 1 s
on the median and 5 s at worst. The exit code is 1 where that is missed.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.peers.ask import one_core
from benchmarks.peers.case import VARIANTS, Question, movable
from benchmarks.peers.jobs import OUTCOME, decode
from benchmarks.peers.prepare import FASTER, prepare
from benchmarks.peers.run_compass import engine
from benchmarks.show import save, table
from compass.domain.answer import CertificateStatus

PATIENCE = 120.0  # seconds for a proof
EQUAL = 1e-5  # relative to max(1, distance): what a proof calls equal
SHARE, MEDIAN, WORST = 0.95, 1.0, 5.0
HEAD = (
    *("variant", "questions", "closed", "equal", "largest gap", "search s", "proof s"),
    *("proof worst s", "no answer"),
)


@dataclass(frozen=True)
class Outcome:
    """One question: what the search found, and what the proof says."""

    found: float  # distance of the search alone; inf: none
    best: float  # distance of the first suggestion with a proof; inf: none
    status: str
    gap: float | None
    search: float  # CPU seconds
    proof: float  # CPU seconds

    @property
    def closed(self) -> bool:
        """Whether the proof says the last word."""
        return self.status in (CertificateStatus.OPTIMAL, CertificateStatus.INFEASIBLE)

    @property
    def equal(self) -> bool:
        """Whether the search alone found an optimum that is proven."""
        if not self.closed:
            return False
        if not np.isfinite(self.best):
            return not np.isfinite(self.found)
        return self.found - self.best <= EQUAL * max(1.0, self.best)


def put(
    fitted: cp.Compass, question: Question, variant: str, prove: float
) -> tuple[cp.Answer, float]:
    """A question and the CPU seconds of its answer."""
    began = time.process_time()
    answer = fitted.reconfigure(
        decode(question.row),
        ask=movable(variant),
        goals={OUTCOME: cp.at_most(question.ceiling)},
        count=1,
        prove=prove,
    )
    return answer, time.process_time() - began


def compare(fitted: cp.Compass, question: Question, variant: str, patience: float) -> Outcome:
    """The same question without and with a proof."""
    plain, search = put(fitted, question, variant, 0.0)
    proven, both = put(fitted, question, variant, patience)
    certificate = proven.certificate
    if certificate is None:
        raise RuntimeError("the engine gave no certificate although a proof was asked for")
    return Outcome(
        found=_distance(plain),
        best=_distance(proven),
        status=certificate.status,
        gap=certificate.gap,
        search=search,
        proof=max(both - search, 0.0),
    )


def _distance(answer: cp.Answer) -> float:
    return answer[0].distance if len(answer) and answer[0].meets_goals else np.inf


def summary(variant: str, outcomes: Sequence[Outcome]) -> tuple[Any, ...]:
    """One line of the table."""
    proofs = [one.proof for one in outcomes]
    gaps = [one.gap for one in outcomes if one.gap is not None]
    return (
        variant,
        len(outcomes),
        f"{np.mean([one.closed for one in outcomes]):.0%}",
        f"{np.mean([one.equal for one in outcomes]):.0%}",
        f"{max(gaps, default=0.0):.4f}",
        f"{np.median([one.search for one in outcomes]):.3f}",
        f"{np.median(proofs):.2f}",
        f"{max(proofs):.2f}",
        sum(not np.isfinite(one.best) for one in outcomes),
    )


def missed(variant: str, outcomes: Sequence[Outcome]) -> list[str]:
    """The requirements that do not hold."""
    found = []
    share = float(np.mean([one.equal for one in outcomes]))
    proofs = [one.proof if one.closed else np.inf for one in outcomes]
    if share < SHARE:
        found.append(f"{variant}: the search equals the optimum on {share:.0%}, not {SHARE:.0%}")
    if np.median(proofs) > MEDIAN:
        found.append(f"{variant}: the median proof takes {np.median(proofs):.2f} s, not {MEDIAN:g}")
    if max(proofs) > WORST:
        found.append(f"{variant}: the longest proof takes {max(proofs):.2f} s, not {WORST:g}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=PATIENCE, help="for each proof")
    parser.add_argument("--draw", type=int, default=1, help="2, 3, ...: other questions")
    parser.add_argument("--faster", type=float, default=FASTER, help="the share that is asked for")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    said = parser.parse_args(arguments)
    one_core()
    case, _ = prepare(said.questions, said.seed, said.faster, said.draw)
    fitted = engine(said.seed, deadline=2 * said.seconds).fit()
    results: dict[str, list[Outcome]] = {}
    for variant in VARIANTS:
        compare(fitted, case.warm, variant, said.seconds)  # compilers and caches
        results[variant] = []
        for number, question in enumerate(case.questions):
            one = compare(fitted, question, variant, said.seconds)
            results[variant].append(one)
            _say(f"{variant} {number + 1}: {one.status}, {one.found:.6f} / {one.best:.6f}, "
                 f"search {one.search:.3f} s, proof {one.proof:.2f} s")  # fmt: skip
    print(table(HEAD, [summary(variant, found) for variant, found in results.items()]))
    if said.json:
        figures = {variant: [asdict(one) for one in found] for variant, found in results.items()}
        save(said.json, {"seed": said.seed, "seconds": said.seconds, "questions": figures})
    failed = [line for variant, found in results.items() for line in missed(variant, found)]
    for line in failed:
        print(f"MISSED {line}")
    return 1 if failed else 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
