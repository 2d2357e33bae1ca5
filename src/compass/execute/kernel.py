"""Compiled loops: how numeric kernels are compiled, and how their rows are shared among threads.

A kernel is compiled once per machine and version, when it is first called (about a second each),
and loaded from numba's cache afterwards (next to the source, or in the person's cache directory
where the package is read-only). Not when its module is imported: loading all of them would be half
of the time that a process needs to start, and most use few.

Rows are shared among Python threads (kernels run without the interpreter's lock) rather than by
numba's own parallel loops: those abort when two threads call them at once, break in forked
processes, and take several times longer to compile and load.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import RLock
from typing import Any, TypeVar, cast

import numba
from numba import types

from compass.execute.processors import cores as cores  # noqa: PLC0414 - offered here as well

Function = TypeVar("Function", bound=Callable[..., object])

# Kernels take read-only arrays, which lets writable and memory-mapped ones in alike without
# a second compilation.
i4 = types.Array(types.int32, 1, "C", readonly=True)
i4_2d = types.Array(types.int32, 2, "C", readonly=True)
i8 = types.Array(types.int64, 1, "C", readonly=True)
i8_2d = types.Array(types.int64, 2, "C", readonly=True)
f8 = types.Array(types.float64, 1, "C", readonly=True)
f8_2d = types.Array(types.float64, 2, "C", readonly=True)
to_i4 = types.int32[::1]
to_i8 = types.int64[::1]
to_f8 = types.float64[::1]
to_f8_2d = types.float64[:, ::1]
integer = types.int64
number = types.float64


_KERNELS: list["Kernel"] = []
_COMPILING = RLock()  # kernels that call others compile these, too


class Kernel:
    """A compiled loop that is compiled, or loaded, when it is first called."""

    def __init__(self, function: Callable[..., object], signatures: list[Any]) -> None:
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self._signatures = signatures
        self._ready = False
        try:
            self._made = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
        except RuntimeError as problem:
            # No directory can be written to, as on compute nodes with a read-only home: the
            # kernel is then compiled in every process.
            if "cache" not in str(problem):
                raise
            self._made = numba.njit(nogil=True, error_model="numpy")(function)
        _KERNELS.append(self)

    def __call__(self, *given: object) -> object:
        """Run it."""
        if not self._ready:
            self.compile()
        return self._made(*given)

    def compile(self) -> None:
        """Compile it for its types, and for no others: that would take a second in mid-flight."""
        with _COMPILING:
            if self._ready:
                return
            for types_ in self._signatures:
                self._made.compile(types_)
            self._made.disable_compile()
            self._ready = True

    @property
    def signatures(self) -> list[Any]:
        """The types that it has been compiled for."""
        return list(self._made.signatures)

    @property
    def _numba_type_(self) -> types.Dispatcher:
        """What other kernels see that call it."""
        self.compile()
        return self._made._numba_type_


def kernel(*signature: object) -> Callable[[Function], Function]:
    """Compile the decorated function for these argument types; without types: inline helper.

    Lists of types compile it once for each list.
    """

    def compiled(function: Function) -> Function:
        if not signature:
            return cast(Function, numba.njit(inline="always")(function))
        several = isinstance(signature[0], list)
        signatures = [tuple(one) for one in cast(Any, signature)] if several else [signature]
        return cast(Function, Kernel(function, signatures))

    return compiled


def compile_all() -> None:
    """Compile, or load, every kernel of the modules that have been imported."""
    for one in _KERNELS:
        one.compile()


def over_rows(
    run: Callable[[int, int], object], rows: int, *, enough: int, threads: int | None = None
) -> None:
    """Call `run(start, stop)` on ranges that cover all rows, on several threads if it pays.

    `enough` is how many rows a thread needs to be worth starting. `run` must treat every row by
    itself; then results do not depend on the number of threads.
    """
    wanted = min(threads or cores(), rows // max(enough, 1))
    if wanted <= 1:
        run(0, rows)
        return
    # More pieces than threads: a thread that is held up does not hold up the rest.
    pieces = min(2 * wanted, rows)
    edges = [rows * piece // pieces for piece in range(pieces + 1)]
    with ThreadPoolExecutor(wanted) as pool:
        for done in [pool.submit(run, a, b) for a, b in pairwise(edges)]:
            done.result()
