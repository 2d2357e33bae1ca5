"""The CP-SAT solver, loaded without pandas.

The Python side of the solver names two classes of pandas in its annotations, and uses pandas only
when somebody gives it a series, which Compass never does. Importing pandas took four fifths of
the time to load the solver: more than most proofs take.
"""

import builtins
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import SimpleNamespace
from typing import Any

_SOLVER = "ortools.sat.python.cp_model"


class _Later(type):
    """A class of pandas by name: it is looked up when somebody has or wants an object of it."""

    def __instancecheck__(cls, value: object) -> bool:
        pandas = sys.modules.get("pandas")
        return pandas is not None and isinstance(value, getattr(pandas, cls.__name__))

    def __call__(cls, *values: Any, **named: Any) -> Any:
        return getattr(import_module("pandas"), cls.__name__)(*values, **named)


def load_solver() -> None:
    """Import the solver, so that `from ortools.sat.python import cp_model` costs nothing."""
    if _SOLVER in sys.modules or "pandas" in sys.modules:
        import_module(_SOLVER)
        return
    try:
        _load_without_pandas()
    except Exception:
        sys.modules.pop(_SOLVER, None)
        import_module(_SOLVER)


def _load_without_pandas() -> None:
    pandas = SimpleNamespace(Index=_Later("Index", (), {}), Series=_Later("Series", (), {}))

    def find(name: str, *given: Any, **named: Any) -> Any:
        return pandas if name == "pandas" else builtins.__import__(name, *given, **named)

    package = import_module(_SOLVER.rpartition(".")[0])
    spec = find_spec(_SOLVER)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # The import statements of this one module go through `find`; nobody else's do.
    vars(module)["__builtins__"] = vars(builtins) | {"__import__": find}
    sys.modules[_SOLVER] = module
    spec.loader.exec_module(module)
    package.cp_model = module  # type: ignore[attr-defined]
