"""Advice judged on jobs that come after those it learnt from.

python -m benchmarks.schedule.advice                 the kept values
python -m benchmarks.schedule.advice run [NAME ...]  judge on traces, and keep the values
python -m benchmarks.schedule.advice read            a million lines of sacct
"""

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.schedule.advice import read

KEPT = Path(__file__).with_name("results.json")


def report(found: dict[str, Any]) -> None:
    """The figures as tables."""
    for name, one in found.items():
        unit = "GB-h" if one["of"] == "memory" else "core-h"
        print(f"{name}: {one['of']}, {one['jobs']} jobs, used {one['used']:,.0f} {unit}")
        print(f"  {'':14}{'failures':>10}{'waste':>16}{'waste at the failures of compass':>36}")
        print(f"  {'compass':14}{one['compass'][0]:>10.1%}{one['compass'][1]:>16,.0f}")
        for peer in ("request", "1.2 x last", "max of 5", "ponder", "sizey"):
            if peer in one:
                rate, own, same = one[peer]
                print(f"  {peer:14}{rate:>10.1%}{own:>16,.0f}{same:>36,.0f}")
        print(f"  ratio to the best at the same failures: {one['ratio']}")
        seen = one.get("seen at 5 %")
        print(f"  5 % said for {one['stated']} jobs, seen {'-' if seen is None else f'{seen:.1%}'}")


def run(names: list[str]) -> None:
    """Judge, and keep the values."""
    from benchmarks.roles import data_folder
    from benchmarks.schedule.advice.judge import judged
    from benchmarks.schedule.advice.traces import TRACES

    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name in names or list(TRACES):
        of, load = TRACES[name]
        kept[name] = {"of": of, **judged(load(data_folder()), of)}
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
        report({name: kept[name]})


def main() -> None:
    match sys.argv[1:]:
        case ["read"]:
            print(read.measured())
        case ["run", *names]:
            run(names)
        case []:
            report(json.loads(KEPT.read_text()))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
