"""What a working process keeps in memory."""

import gc
import shutil
import weakref
from pathlib import Path
from typing import Any

from server_case import RECONFIGURE

from compass.server.tasks import _WARM, TaskHandlers

pytest_plugins = ("server_fixtures",)

# A search that does not try everything, so that there is something to prove.
QUESTION: dict[str, Any] = {
    "question": RECONFIGURE,
    "run": 3,
    "prove": 1.0,
    "generator": "c3g",
    "seed": 1,
}


def nobody(_: str, __: int, ___: int) -> None:
    """Report progress to nobody."""


def test_what_can_be_gone_on_with_keeps_no_more_engines_in_memory(
    saved: Path, tmp_path: Path
) -> None:
    handlers = TaskHandlers()
    engines, given = [], []
    for number in range(_WARM + 1):
        path = tmp_path / str(number)
        shutil.copytree(saved, path)
        task = {"answer": f"answer {number}", "engine": str(path), "question": QUESTION}
        handlers.ask(task, nobody)
        engines.append(weakref.ref(handlers._engines[str(path)]))
        given.append(task | {"pending": ("proof",)})
    gc.collect()
    assert [engine() is None for engine in engines] == [True] + _WARM * [False]
    handlers.continue_answer(given[-1], nobody)
    assert engines[-1]() is handlers._engines[given[-1]["engine"]]
    assert handlers.continue_answer(given[0], nobody)  # worked out again
