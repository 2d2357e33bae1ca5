"""Compiled loops: kernels in C that run on arrays of numpy without the interpreter's lock.

The library is compiled when the package is built (`build`), so nothing is compiled on a person's
machine when a question is asked. Decision 0034 (docs/decisions).
"""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from compass.domain.errors import EnvironmentProblem
from compass.native import build

Run = Callable[..., None]


def kernel(name: str) -> Run:
    """The kernel of this name; its types are in the table of its C file."""
    library = _library()
    found = library.kernel_named(name.encode())
    if not found:
        raise LookupError(f"there is no kernel {name!r}")
    run = library.run_kernel

    def called(*given: object) -> None:
        run(found, given)

    return called


@cache
def _library() -> ctypes.PyDLL:
    # Another build of it, such as one that checks every position, may be asked for.
    path = Path(os.environ.get("COMPASS_KERNELS", build.LIBRARY))
    if not path.is_file():
        raise EnvironmentProblem(
            f"the compiled part of Compass is not there ({path})",
            hint="`make native` compiles it in a source checkout; `pip install .` does so, too",
        )
    try:
        library = ctypes.PyDLL(str(path))
    except OSError as problem:
        raise EnvironmentProblem(
            f"the compiled part of Compass does not load: {problem}",
            hint="it was built for another system: `make native` builds it for this one in a "
            "source checkout, `pip install --no-binary compass-hpc compass-hpc` elsewhere",
        ) from None
    library.sources.restype = ctypes.c_char_p
    if build.sources() and library.sources().decode() != build.digest():
        raise EnvironmentProblem(
            "the compiled part of Compass is older than its sources",
            hint="`make native` compiles it again",
        )
    library.kernel_named.restype = ctypes.c_void_p
    library.run_kernel.argtypes = (ctypes.c_void_p, ctypes.py_object)
    library.run_kernel.restype = None
    return library
