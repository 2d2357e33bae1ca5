"""How far a prediction can be relied on: novelty, support, uncertainty and a label.

`support` finds past runs near a configuration, `spread` measures how much models trained on
perturbed data disagree, `expected` how large an error is likely; `assess.assess` turns them into a
label with a reason. Nothing heavy is imported until it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compass.trust.assess import Assessment as Assessment
    from compass.trust.spread import Perturbed as Perturbed
    from compass.trust.support import Support as Support

_HOME = {"Perturbed": "spread", "Support": "support", "Assessment": "assess"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
