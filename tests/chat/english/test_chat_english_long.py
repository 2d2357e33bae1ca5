"""Long messages of words that come again and again are read in time.

Steps are calls of functions, not seconds: twice the words may take four times the steps (a list is
looked at from each of its places), not more. The messages are read in a process of their own, as a
pattern that tries all ways cannot be interrupted.
"""

import json
import subprocess
import sys

from compass.chat import english
from compass.domain.space import Category, Number, Role, Space

SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=64, step=1),
        Category(name="thread_affinity", values=("close", "spread")),
        Category(name="queue", role=Role.CONTEXT, values=("debug", "long")),
        Number(name="runtime", role=Role.OUTCOME, low=1, high=3600, unit="s"),
        Number(name="power", role=Role.OUTCOME, low=1, high=900, unit="W"),
    )
)
UNITS = (
    "close or ",
    "close, ",
    "not close or ",
    "nodes and ",
    "nodes, ",
    "nodes 4 and ",
    "4 or ",
    "4, ",
    "runtime and power or ",
    "without increasing runtime and ",
    "what if ",
    "is ",
    "where queue is foo and ",
    "from 4 to ",
    "ok, ",
    "please ",
    "more ",
    "how much would ",
    "1,000,",
    "close instead of ",
    "foobar ",
    "(",
    "'",
)
CHARACTERS = 300
MINUTE = 60  # of the process: it takes a few seconds


def test_the_steps_grow_at_most_with_the_square_of_the_message() -> None:
    done = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, check=True, timeout=MINUTE
    )
    counts = json.loads(done.stdout)
    assert list(counts) == list(UNITS)
    for unit, (once, twice) in counts.items():
        assert once > 100
        assert twice < 4.2 * once, unit


def _steps(message: str) -> int:
    count = 0

    def counting(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        english.read(message, SPACE)
    finally:
        sys.setprofile(None)
    return count


def _main() -> None:
    english.read("close or spread", SPACE)  # what is looked up once is not counted
    found = {}
    for unit in UNITS:
        whole = (unit * CHARACTERS)[:CHARACTERS]
        found[unit] = (_steps(whole[: CHARACTERS // 2]), _steps(whole))
    print(json.dumps(found))


if __name__ == "__main__":
    _main()
