"""Random tables, rules and questions until time is over: `make fuzz`.

Every case is a small table over random columns (whole numbers, decimals, lists, real numbers,
labels, numbers that may be none; negative ones, and names that need quotes), a family of models,
and several questions with random rules (strict and negated comparisons, products, remainders,
functions, implications). The rules are judged by exact arithmetic written here, and claims are held
against configurations tried one by one. Looked for are: a suggestion or proposed run that breaks a
rule or has an illegal value; two that are alike; an optimum, a conflict or an infeasibility that a
configuration refutes; and any error that is not one of Compass' own.

The exit code is 1 where something was found; `--seed N --cases 1` repeats a case.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence

from benchmarks.fuzz.case import case


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--cases", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    until, happened, failed, number = time.monotonic() + 60 * chosen.minutes, Counter(), 0, 0
    while number < chosen.cases and time.monotonic() < until:
        seed = chosen.seed + number
        number += 1
        try:
            happened += case(seed)
        except Exception as error:  # every other kind of end is a finding
            failed += 1
            print(f"case {seed}: {type(error).__name__}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
    print(f"{number} cases, {failed} findings")
    for what, times in sorted(happened.items()):
        print(f"  {times:6d}  {what}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
