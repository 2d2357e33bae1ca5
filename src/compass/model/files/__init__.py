"""Models that people bring as files: checked before use, mapped to columns, run apart.

`bring` opens a file, `bring_bytes` what somebody sent. Nothing heavy is imported until it is used.

Decision 0017 (docs/decisions).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compass.model.files.columns import Feed as Feed
    from compass.model.files.limits import Limits as Limits
    from compass.model.files.model import ModelFile as ModelFile
    from compass.model.files.model import bring as bring
    from compass.model.files.model import bring_bytes as bring_bytes

_HOME = {
    "ModelFile": "model",
    "Feed": "columns",
    "Limits": "limits",
    "bring": "model",
    "bring_bytes": "model",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
