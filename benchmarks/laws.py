"""Ask for configurations whose outcome a formula knows: `python -m benchmarks.laws`.

For every law an engine learns from runs drawn from the law's range. Then 100 goals are asked as
`recommend`, every input free: a range of 1 % on either side of the law's value at a point that is
not among the runs. The error of an answer is |law(x') - centre| / |centre| for its first
suggestion x'; the model's own opinion plays no part. Where nothing meets the goal with a chance of
80 %, an answer suggests nothing and keeps what comes closest as an idea: that is judged then, and
counted as `only ideas`. Nothing at all is an error of 100 %.

Required: the smallest error of every law below 1 %, and the median below 1 % for laws with one
input. The exit code is 1 where that is missed, or where a suggestion leaves the law's range.
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
from benchmarks.formulas import LAWS, Floats, Law
from benchmarks.roles import PLAIN
from benchmarks.show import save, table

TOLERANCE = 0.01  # the asked range, on either side of its centre
REQUIRED = 0.01
HEAD = (
    *("law", "inputs", "rows", "min", "median", "95th", "in range"),
    *("only ideas", "no answer", "violations", "fit s", "query s"),
)
NO_ANSWER = 1.0  # the error of a question without a suggestion


@dataclass(frozen=True)
class Result:
    """How an engine answered the goals of one law."""

    law: str
    inputs: int
    rows: int
    queries: int
    minimum: float
    median: float
    p95: float
    inside: float  # share of goals that the law says are met
    ideas: int  # answers that suggest nothing, because no configuration is likely enough
    unanswered: int
    violations: int
    fit_seconds: float
    query_seconds: float  # median

    def missed(self) -> list[str]:
        """The requirements that do not hold."""
        found = []
        if self.minimum >= REQUIRED:
            found.append(f"{self.law}: smallest error {self.minimum:.2%} is not below 1 %")
        if self.inputs == 1 and self.median >= REQUIRED:
            found.append(f"{self.law}: median error {self.median:.2%} is not below 1 %")
        if self.violations:
            found.append(f"{self.law}: {self.violations} suggestions leave the law's range")
        return found


def error_of(law: Law, config: dict[str, Any] | None, centre: float) -> float:
    """The relative error of a suggestion by the law; None (no suggestion) is 100 %."""
    if config is None:
        return NO_ANSWER
    return abs(law.at(config) - centre) / abs(centre)


def learn(law: Law, X: Floats, seed: int) -> cp.Compass:
    """An engine that has seen these runs [n, d] of the law and nothing else."""
    names = [one.name for one in law.inputs]
    columns = {name: X[:, j].tolist() for j, name in enumerate(names)}
    columns["y"] = law.formula(X).tolist()
    study: dict[str, Any] = {"columns": {"y": {"role": "outcome", "kind": "number"}}}
    for one in law.inputs:
        choice = {"role": "knob", "kind": "number", "low": one.low, "high": one.high}
        study["columns"][one.name] = choice | ({"step": 1} if one.whole else {})
    return cp.Compass(cp.read(columns, study=study), seed=seed, settings=PLAIN).fit()


def run(law: Law, queries: int, seed: int) -> Result:
    """Learn one law and ask for its goals."""
    rng = np.random.default_rng([seed, LAWS.index(law)])
    X = law.draw(law.rows + queries, rng)
    began = time.perf_counter()
    engine = learn(law, X[queries:], seed)
    fit_seconds = time.perf_counter() - began
    asked = [one.name for one in law.inputs]
    errors, seconds = [], []
    ideas = unanswered = violations = 0
    for centre in law.formula(X[:queries]):
        low, high = sorted((centre * (1 - TOLERANCE), centre * (1 + TOLERANCE)))
        began = time.perf_counter()
        answer = engine.recommend(ask=asked, goals={"y": cp.within(low, high)})
        seconds.append(time.perf_counter() - began)
        found = [*answer, *answer.ideas]
        config: Any = found[0].config if found else None
        ideas += bool(found) and not len(answer)
        unanswered += not found
        violations += sum(not law.allows(one.config) for one in found)  # type: ignore[arg-type]
        errors.append(error_of(law, config, float(centre)))
    judged = np.array(errors)
    return Result(
        law=law.name,
        inputs=len(law.inputs),
        rows=law.rows,
        queries=queries,
        minimum=float(judged.min()),
        median=float(np.median(judged)),
        p95=float(np.percentile(judged, 95)),
        # A goal's own rounding must not count against it.
        inside=float((judged <= TOLERANCE * (1 + 1e-9)).mean()),
        ideas=ideas,
        unanswered=unanswered,
        violations=violations,
        fit_seconds=fit_seconds,
        query_seconds=float(np.median(seconds)),
    )


def show(results: Sequence[Result]) -> str:
    """The results as a table."""
    return table(
        HEAD,
        [
            (
                r.law,
                r.inputs,
                r.rows,
                f"{r.minimum:.4%}",
                f"{r.median:.3%}",
                f"{r.p95:.3%}",
                f"{r.inside:.0%}",
                r.ideas,
                r.unanswered,
                r.violations,
                f"{r.fit_seconds:.1f}",
                f"{r.query_seconds:.3f}",
            )
            for r in results
        ],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.laws", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="TEXT", help="laws whose name contains this")
    parser.add_argument("--queries", type=int, default=100, help="goals per law")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    said = parser.parse_args(arguments)
    results = []
    for law in LAWS:
        if said.only and said.only.lower() not in law.name.lower():
            continue
        print(f"{law.name} ...", file=sys.stderr, flush=True)
        results.append(run(law, said.queries, said.seed))
    if not results:
        parser.error(f"no law's name contains '{said.only}'")
    print(show(results))
    if said.json:
        figures = {"seed": said.seed, "tolerance": TOLERANCE, "laws": [asdict(r) for r in results]}
        save(said.json, figures)
    missed = [line for result in results for line in result.missed()]
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
