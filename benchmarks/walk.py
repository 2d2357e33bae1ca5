"""The modules that one question walks through: `python -m benchmarks.walk`.

A warm Reconfigure on the embedded data, asked a second time; every module of the package in which
a function runs is listed with those functions.
"""

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import compass as cp
from compass import embedded

PACKAGE = Path(cp.__file__).parent
KNOBS = ["threads", "tile", "unroll", "flags"]


def walked(call: Callable[[], Any]) -> dict[str, set[str]]:
    """The functions that run during a call, by module (`engine/plan.py`)."""
    found: dict[str, set[str]] = defaultdict(set)

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PACKAGE):
            found[file.relative_to(PACKAGE).as_posix()].add(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return dict(found)


def reconfigure(engine: cp.Compass) -> cp.Answer:
    """The question whose walk `docs/map.md` describes."""
    return engine.reconfigure(53, KNOBS, {"runtime_ms": cp.less(0.3)})


def main() -> None:
    data = cp.read(embedded.path(), study=embedded.study())
    engine = cp.Compass(data, surrogate="forest").fit()
    reconfigure(engine)
    found = walked(lambda: reconfigure(engine))
    for module, names in sorted(found.items()):
        print(f"{module:32} {', '.join(sorted(names))}")
    print(f"{len(found)} modules")


if __name__ == "__main__":
    main()
