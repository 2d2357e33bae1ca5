"""`python -m benchmarks.synth [NAME ...]`: synthetic rows beside published numbers."""

import sys
from collections.abc import Callable, Iterable

from . import augment, correlation, perfgen, performance, prediction, speed
from .tables import absent

STUDIES: dict[str, Callable[[], Iterable[str]]] = {
    "perfgen": perfgen.run,
    "magic": perfgen.magic_auc,
    "prediction": prediction.run,
    "performance": performance.run,
    "speed": speed.run,
    "correlation": correlation.run,
    "augment": augment.run,
}


def main(names: list[str]) -> None:
    """Run the studies of these names, or all."""
    missing = absent()
    if missing is not None:
        print(f"skipped: {missing}")
        return
    for name in names or STUDIES:
        print(f"\n## {name}\n", flush=True)
        for line in STUDIES[name]():
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
