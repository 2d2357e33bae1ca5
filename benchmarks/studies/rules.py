"""The rules of Table VIII under the default engine: `python -m benchmarks.studies.rules`.

Random questions of the three kinds about jobs with the columns of PM-100, all rules in force. Every
suggestion is held against the rules by code that shares nothing with the product; runtime, which
the rules name and nobody can set, is the predicted one. Where a what-if leads to a predicted
runtime beyond the limit, the answer has to say that this rule will not hold: it counts as told.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.show import save, table

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import acceptance_tables as made  # noqa: E402  (beside the tests that use it)

_COMPARE = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    ">": lambda a, b: a > b,
}


def broken(config: Mapping[str, Any]) -> list[str]:
    """The rules that a configuration breaks."""
    found = []
    for rule in made.PM100_RULES:
        match = re.fullmatch(r"(\w+) (>=|<=|==|>) (?:(\d+) \* )?(\w+)", rule)
        assert match is not None
        left, sign, factor, right = match.groups()
        bound = float(right) if right.isdigit() else config[right]
        if not _COMPARE[sign](config[left], bound * int(factor or 1)):
            found.append(rule)
    return found


def ask(engine: cp.Compass, kind: str, rng: np.random.Generator) -> cp.Answer:
    """A random question of a kind."""
    knobs = made.PM100_ROLES["knobs"]
    asked = sorted(rng.choice(knobs, rng.integers(1, len(knobs)), replace=False).tolist())
    power = str(rng.choice(made.PM100_POWERS))
    number = int(rng.integers(len(engine.data)))
    if kind == "recommend":
        nodes = int(rng.choice([1, 2, 4, 8]))
        return engine.recommend(asked, {power: cp.minimize}, where=[f"num_nodes_req <= {nodes}"])
    if kind == "reconfigure":
        return engine.reconfigure(number, asked, {power: cp.less(float(rng.uniform(0.05, 0.3)))})
    name = str(rng.choice(["num_nodes_req", "num_gpus_req", "num_cores_req"]))
    return engine.what_if(number, {name: cp.times(2)}, [power])


def main() -> int:
    """Ask, count; 1 if a suggestion breaks a rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts here too")
    arguments = parser.parse_args()
    data = cp.read(made.pm100(seed=arguments.seed)).roles(**made.PM100_ROLES)
    engine = cp.Compass(data, rules=made.PM100_RULES).fit()
    rng = np.random.default_rng(arguments.seed)
    rows, bad = [], 0
    for kind in ("recommend", "reconfigure", "what-if"):
        suggestions = unanswered = refused = told = 0
        found: list[str] = []
        for _ in range(arguments.questions):
            try:
                answer = ask(engine, kind, rng)
            except cp.CompassError:  # for example twice the nodes of the largest job
                refused += 1
                continue
            unanswered += not answer.answered
            for suggestion in answer:
                suggestions += 1
                config = {**suggestion.config, "run_time": suggestion.outcome("run_time").value}
                said = {one.text for one in suggestion.conditions if not one.holds}
                told += sum(rule in said for rule in broken(config))
                found += [rule for rule in broken(config) if rule not in said]
        bad += len(found)
        rows.append((kind, arguments.questions, suggestions, unanswered, refused, told, len(found)))
    head = (
        *("question", "asked", "suggestions", "no answer", "cannot be"),
        *("limit missed, told", "rules broken"),
    )
    print(table(head, rows))
    if arguments.json:
        save(arguments.json, {"seed": arguments.seed, "head": head, "rows": rows})
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
