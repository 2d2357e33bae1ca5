"""Opens the executor that a text such as `processes:4` names."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from compass import registry
from compass.domain.arguments import Mismatch
from compass.domain.base import shown
from compass.execute.base import Executor

DEFAULT = "threads"
_EXAMPLE = "for example executor='processes:4'"
_SCHEMES = ("tcp://", "tls://")  # addresses of Dask


@contextmanager
def opened(executor: str | Executor | None = None) -> Iterator[Executor]:
    """The place to run work that a text names; closed at the end.

    `threads` (the default), `threads:4`, `processes:2`, `dask`, `dask://HOST:PORT`,
    `tls://HOST:PORT`, `mpi`, `slurm:jobs=4,cores=2,memory=4GB,time=00:10:00,partition=lab`.
    An executor that is given as an object is used as it is, and stays open.
    """
    if executor is not None and not isinstance(executor, str):
        yield executor
        return
    made = _made((executor or DEFAULT).strip())
    try:
        yield made
    finally:
        made.close()


def executor_name(given: Any) -> Any:
    """An argument that says where work is done: a text as above, or an executor."""
    if not isinstance(given, str) and not (hasattr(given, "map") and hasattr(given, "workers")):
        raise Mismatch(f"is the name of a place to run work, not {shown(given)}", _EXAMPLE)
    return given


def _made(text: str) -> Executor:
    name, _, rest = ("dask", ":", text) if text.startswith(_SCHEMES) else text.partition(":")
    made: Executor = registry.get("executor", name.strip())(rest.strip())
    return made
