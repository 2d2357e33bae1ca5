"""The separate process in which a model that somebody brought is loaded and run.

It has bounded memory and time, an empty environment, no network where the kernel allows that, and
cannot write to files. It is started when first needed, and again after it died.
"""

import os
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, EnvironmentProblem
from compass.execute.child import Child, Ended, Garbled
from compass.model.files import wire
from compass.model.files.limits import Limits
from compass.model.files.sniff import Content

Floats = NDArray[np.float64]

ROWS = 65_536  # rows of one call; more are sent in several
_KEPT = ("LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")  # what an interpreter may need to start at all
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "USER": "nobody",
    "LOGNAME": "nobody",
    "KERAS_BACKEND": "torch",
    "KERAS_HOME": "/nonexistent",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Sandbox:
    """A model in a process of its own; several threads may ask it."""

    def __init__(self, content: Content, limits: Limits) -> None:
        self.content = content
        self.limits = limits
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._facts: dict[str, Any] = {}
        self._arrays: list[NDArray[Any]] = []

    def facts(self) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """What the model says about itself; loads it."""
        with self._lock:
            self._ready()
            return self._facts, self._arrays

    def predict(self, X: Floats, texts: Mapping[int, tuple[str, ...]] | None = None) -> Floats:
        """What the model predicts, float64[n, columns], for its inputs float64[n, inputs]."""
        header = {"op": "predict", "texts": {str(k): v for k, v in (texts or {}).items()}}
        pieces = []
        with self._lock:
            for start in range(0, len(X), ROWS):
                rows = X[start : start + ROWS]
                self._ready()
                _, arrays = self._ask({**header, "seconds": self.limits.seconds}, [rows], False)
                if len(arrays) != 1 or arrays[0].dtype != np.float64 or arrays[0].ndim != 2:
                    raise self._fault("it answered with something that is no prediction")
                if len(arrays[0]) != len(rows):
                    raise self._fault("it predicted another number of rows than it was given")
                pieces.append(arrays[0])
        return np.concatenate(pieces)

    def close(self) -> None:
        """End the process; the next prediction would start another."""
        with self._lock:
            self._end()

    def _ready(self) -> None:
        if self._child is not None and self._child.usable:
            return
        self._end()
        self._start()
        header = {
            "op": "load",
            "kind": self.content.kind,
            "name": self.content.name,
            "memory": self.limits.memory,
            "seconds": self.limits.loading,
        }
        data = np.frombuffer(self.content.checked, dtype=np.uint8)
        self._facts, self._arrays = self._ask(header, [data], True)

    def _start(self) -> None:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        try:
            self._child = Child("compass.model.files.worker", kept | _ENVIRONMENT)
        except OSError as error:
            raise EnvironmentProblem(
                f"no process can be started to run {self.content.name}: {error.strerror}",
                hint="check the limits of this machine (ulimit -u)",
            ) from None

    def _ask(
        self, header: dict[str, Any], arrays: list[NDArray[Any]], loading: bool
    ) -> wire.Message:
        """One question and its answer, within its time; the process is ended if there is none."""
        assert self._child is not None
        deadline = time.monotonic() + float(header["seconds"])
        try:
            self._child.send(wire.KIND, wire.encode(header, arrays), deadline)
            answer, found = wire.decode(self._child.receive(wire.ANSWER, deadline).content)
        except TimeoutError:
            self._end()
            doing = "be loaded" if loading else "predict"
            raise BadInput(
                f"{self.content.name} took longer than {header['seconds']:g} s to {doing}",
                hint="bring a smaller model, or give it more time: Limits(seconds=60)",
            ) from None
        except Ended:
            raise self._died() from None
        except Garbled as error:
            raise self._fault(f"it answered with something else: {error}") from None
        if "error" in answer:
            problem = _problem(answer)
            if loading or answer.get("fatal"):
                self._end()
            raise problem
        return answer, found

    def _died(self) -> BadInput:
        assert self._child is not None
        code, name = self._child.exit_code(), self.content.name
        self._end()
        if code is not None and -code in (9, 24):  # killed, or out of processor time
            return BadInput(
                f"the process that runs {name} was ended by the system:"
                " it used too much memory or time",
                hint="bring a smaller model, or allow more: Limits(memory=..., seconds=...)",
            )
        why = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return BadInput(
            f"the process that runs {name} crashed ({why})",
            hint="the file may be damaged, or made by another version of its library",
        )

    def _fault(self, why: str) -> BadInput:
        self._end()
        return BadInput(
            f"the process that runs {self.content.name} cannot be trusted: {why}",
            hint="do not use this file",
        )

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
        self._child = None


def _problem(answer: Mapping[str, Any]) -> BadInput | EnvironmentProblem:
    kind = EnvironmentProblem if answer.get("missing") else BadInput
    return kind(_shown(answer["error"]), hint=_shown(answer.get("hint", "")))


def _shown(text: Any) -> str:
    # A file must not send commands to somebody's terminal.
    return "".join(mark if mark.isprintable() else " " for mark in str(text)[:2000])
