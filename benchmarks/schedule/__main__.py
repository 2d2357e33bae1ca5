"""What advice about nodes does to a queue: `make schedule`.

    python -m benchmarks.schedule                   print the report of the kept values
    python -m benchmarks.schedule run [CASE ...]    do the study again (KTH, Theta, measured)
    python -m benchmarks.schedule.speed             jobs per second, a million jobs, AccaSim

A trace is cut into five stretches of time. Of each, the queue is simulated (EASY, jobs not killed)
as users asked for nodes and as advisers do, who have learnt from 4,000 jobs of the other four. A
truth decides how long a changed job runs: measured runs, laws fitted to measured runs, perfect
scaling, or the adviser's own model (circular).
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.roles import data_folder
from benchmarks.schedule.report import show
from benchmarks.schedule.study import study
from benchmarks.schedule.traces import cases

KEPT = Path(__file__).with_name("results.json")


def main(arguments: list[str] | None = None) -> int:
    """Print what was kept, or do the study again and keep it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("command", nargs="?", choices=["show", "run"], default="show")
    parser.add_argument("case", nargs="*")
    given = parser.parse_args(arguments)
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    if given.command == "run":
        for case in cases(data_folder()):
            if given.case and case.name not in given.case:
                continue
            rows = [asdict(one) for one in study(case, lambda text: print(text, file=sys.stderr))]
            this = (case.name, case.seed)
            kept = [row for row in kept if (row["case"], row["seed"]) != this] + [
                {k: round(v, 5) if isinstance(v, float) else v for k, v in row.items()}
                for row in rows
            ]
            lines = ",\n".join(json.dumps(row) for row in kept)
            KEPT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(show(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main())
