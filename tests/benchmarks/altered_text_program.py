"""Reads altered texts with the kernels that the environment names; says how many were plain."""

import random
from typing import Any

from compass.readers import quick
from compass.readers.columnar import MISSING

NAMES = ("app", "nodes", "free", "time")
CELLS = ("gromacs", "a-rather-long-label", "", "NA", "8", "-12.5", "3.141592653589793", "1e-7")
BYTES = b',\n\r.0-e"x\xff'

_scan = quick._scan_text


def _exactly(data: Any, *more: Any) -> None:
    """Bytes of Python have one more behind them, which would hide a step too far."""
    _scan(data.copy(), *more)


def altered(rng: random.Random) -> bytes:
    """Lines of four cells, some bytes of them replaced, left out or put in."""
    end = rng.choice(["\n", "\r\n"])
    lines = [",".join(rng.choices(CELLS[3 * (i % 2) :], k=4)) for i in range(rng.randrange(60))]
    text = bytearray(end.join(lines).encode())
    for _ in range(rng.randrange(4)):
        place = rng.randint(0, len(text))
        text[place : place + rng.randrange(3)] = bytes(rng.choices(BYTES, k=rng.randrange(3)))
    return bytes(text)


def is_plain(text: bytes, numbers: tuple[str, ...], labels: tuple[str, ...]) -> bool:
    """Read all of a text."""
    try:
        for lines in quick.lines_of(text, NAMES, ",", numbers, labels, MISSING):
            quick.chosen(text, lines, lines.codes["app"].nonzero()[0])
    except quick.NotPlain:
        return False
    return True


if __name__ == "__main__":
    quick._scan_text = _exactly
    rng = random.Random(4)
    print(sum(is_plain(altered(rng), rng.choice([(), ("time",)]), ("app",)) for _ in range(2000)))
