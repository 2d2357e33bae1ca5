"""How many examples a property is tried on: few by default, ten times as many in `make soak`."""

import os
from typing import Any

from hypothesis import settings

_TIMES = int(os.environ.get("COMPASS_EXAMPLES", "1"))


def examples(count: int, **others: Any) -> settings:
    """Try a property on so many examples, times `COMPASS_EXAMPLES`, however slow the machine is."""
    return settings(max_examples=count * _TIMES, deadline=None, **others)
