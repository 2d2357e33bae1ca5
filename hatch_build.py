"""The step of the build that compiles the C sources; see src/compass/native/build.py."""

import importlib.util
import platform
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _native(root: str) -> ModuleType:
    """The module that compiles, found by its place: Compass itself is not installed yet."""
    path = Path(root, "src/compass/native/build.py")
    spec = importlib.util.spec_from_file_location("native_build", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class NativeBuild(BuildHookInterface[Any]):
    """Compiles the library into the source tree, from where wheels and checkouts take it."""

    def dependencies(self) -> list[str]:
        """A compiler, where the machine has none."""
        return [] if _native(self.root).compiler() else ["ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Compile; the wheel is for this platform, and for every Python."""
        if self.target_name != "wheel":
            return
        _native(self.root).compile_library()
        # A Python of macOS may be for both processors; the library is for the one of this machine.
        here = sysconfig.get_platform().replace("universal2", platform.machine())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{here.replace('-', '_').replace('.', '_')}"
