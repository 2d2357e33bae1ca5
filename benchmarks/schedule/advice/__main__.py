"""Advice judged: `python -m benchmarks.schedule.advice read`: a million lines of sacct."""

import sys

from benchmarks.schedule.advice import read


def main() -> None:
    match sys.argv[1:]:
        case ["read"]:
            print(read.measured())
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
