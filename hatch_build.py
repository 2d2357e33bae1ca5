"""Steps of the build: C sources are compiled, and the commit is noted in what is built."""

import importlib.util
import os
import platform
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _module(root: str, path: str) -> ModuleType:
    """A module of Compass, found by its place: Compass itself is not installed yet."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, Path(root, path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _native(root: str) -> ModuleType:
    return _module(root, "src/compass/native/build.py")


class Build(BuildHookInterface[Any]):
    """Compiles the library into the source tree, from where wheels and checkouts take it."""

    noted: str | None = None  # the file that holds the commit meanwhile

    def dependencies(self) -> list[str]:
        """A compiler, where the machine has none."""
        return [] if _native(self.root).compiler() else ["ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; the wheel is for this platform, and for every Python."""
        if version != "editable":  # a checkout knows its commit
            self._note_commit(build_data)
        if self.target_name != "wheel":
            return
        _native(self.root).compile_library()
        # A Python of macOS may be for both processors; the library is for the one of this machine.
        here = sysconfig.get_platform().replace("universal2", platform.machine())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{here.replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Leave nothing behind."""
        if self.noted:
            os.unlink(self.noted)
            self.noted = None

    def _note_commit(self, build_data: dict[str, Any]) -> None:
        found = _module(self.root, "src/compass/release.py").commit_of(Path(self.root))
        if not found:  # a source archive, which has it noted
            return
        handle, self.noted = tempfile.mkstemp()
        os.write(handle, found.encode())
        os.close(handle)
        os.chmod(self.noted, 0o644)
        inside = "compass/COMMIT" if self.target_name == "wheel" else "src/compass/COMMIT"
        build_data["force_include"][self.noted] = inside
