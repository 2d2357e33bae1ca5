"""Loads a worked example of a plug-in for the length of a test."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from compass import registry

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "plugins"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))


def registered() -> set[tuple[str, str]]:
    return {(joint, name) for joint in registry.joints() for name in registry.everything(joint)}


@contextmanager
def example(name: str) -> Iterator[Any]:
    """The module of an example; what it registers is gone afterwards."""
    before = registered()
    spec = spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]
        for joint, plugin in registered() - before:
            registry.remove(joint, plugin)
