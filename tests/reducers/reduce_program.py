"""A reduction in a process of its own, slow enough to be stopped in the middle.

python reduce_program.py SOURCE OUTPUT EXECUTOR SECONDS [--cli FLAGS...]
"""

import sys
import time
from pathlib import Path
from typing import Any

from compass.readers import fragments
from compass.reducers import large

# Outside of the guard below, so that worker processes have it too.
fragments.ROWS = 500
_scan = large.scan
_SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 0.0


def slow(*arguments: Any, **options: Any) -> Any:
    time.sleep(_SECONDS)
    return _scan(*arguments, **options)


large.scan = slow

if __name__ == "__main__":
    source, output, executor = sys.argv[1:4]
    if "--cli" in sys.argv:
        from compass.cli.main import run

        flags = sys.argv[6:]
        sys.argv = ["compass", "reduce", source, "-o", output, "--executor", executor, *flags]
        run()
    else:
        from reduce_case import reduced

        reduced(source, Path(output), executor=executor)
