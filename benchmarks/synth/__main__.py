"""Synthetic rows beside published numbers.

python -m benchmarks.synth [NAME ...]       all studies, or those of these names
python -m benchmarks.synth --again NAME     measure it again, not from what is kept
"""

import argparse
from collections.abc import Callable, Iterable

from . import augment, correlation, generator, oracles, perfgen, performance, prediction, speed
from .kept import Kept
from .tables import absent

STUDIES: dict[str, Callable[[Kept], Iterable[str]]] = {
    "perfgen": perfgen.run,
    "magic": perfgen.magic_auc,
    "prediction": prediction.run,
    "performance": performance.run,
    "speed": speed.run,
    "correlation": correlation.run,
    "augment": augment.run,
    "generator": generator.run,
    "oracles": oracles.run,
}


def main() -> None:
    """Run the studies of the names that are given, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.synth", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", choices=[*STUDIES, []], metavar="NAME")
    parser.add_argument("--again", action="store_true", help="measure again what is kept")
    said = parser.parse_args()
    missing = absent()
    if missing is not None:
        print(f"skipped: {missing}")
        return
    kept = Kept()
    for name in said.names or STUDIES:
        if said.again:
            kept.forget(name)
        print(f"\n## {name}\n", flush=True)
        for line in STUDIES[name](kept):
            print(line, flush=True)


if __name__ == "__main__":
    main()
