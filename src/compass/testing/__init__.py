"""Tells the author of a plug-in whether it keeps the promises of its joint.

    from compass import registry
    from compass.testing import check, check_surrogate

    def test_mine() -> None:
        check_surrogate(Mine)                        # a class or function, registered or not

    @pytest.mark.parametrize("name", registry.everything("surrogate"))
    def test_all(name: str) -> None:
        check("surrogate", name)                     # a registered one, by its name

Every check returns None or raises ConformanceError, an AssertionError that says which promise is
broken, what was seen, and the code that shows it.
"""

from importlib import import_module
from typing import Any

from compass import registry
from compass.domain.errors import BadInput
from compass.testing.acquisition import check_acquisition
from compass.testing.base import ConformanceError
from compass.testing.embedding import check_embedding
from compass.testing.executor import check_executor
from compass.testing.exporter import check_exporter
from compass.testing.front_acquisition import check_front_acquisition
from compass.testing.generator import check_generator
from compass.testing.reader import check_reader
from compass.testing.reducer import check_reducer
from compass.testing.rule import check_rule
from compass.testing.runner import check_runner
from compass.testing.step import check_step
from compass.testing.surrogate import check_surrogate
from compass.testing.synthesizer import check_synthesizer

__all__ = [
    "ConformanceError",
    "check",
    "check_acquisition",
    "check_embedding",
    "check_executor",
    "check_exporter",
    "check_front_acquisition",
    "check_generator",
    "check_reader",
    "check_reducer",
    "check_rule",
    "check_runner",
    "check_step",
    "check_surrogate",
    "check_synthesizer",
]


def check(joint: str, name: str, **given: Any) -> None:
    """Raise ConformanceError unless the registered plug-in keeps the promises of its joint.

    Keywords go to the suite of the joint: a reader needs `sample` and `expected`.
    """
    plugin = registry.get(joint, name)
    if joint == "reader" and not {"sample", "expected"} <= given.keys():
        raise BadInput(
            f"the reader '{name}' can only be checked on a file of its format",
            hint="check('reader', name, sample=bytes_or_path, expected={'column': [values]})",
        )
    suite = registry.find_joint(joint).suite
    if suite is None:
        raise BadInput(
            f"the joint '{joint}' has no suite to check '{name}' with",
            hint="who declares a joint can name its suite: registry.Joint(..., suite=...)",
        )
    module, _, function = suite.partition(":")
    getattr(import_module(module), function)(plugin, name=name, **given)
