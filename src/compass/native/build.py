"""Compile the C sources of this folder into the library that `compass.native` loads.

Needs Python and a C compiler, nothing else: no headers of Python or numpy, and nothing of Compass.
The build of the package runs it (`hatch_build.py`), and so does `make native` after a change.
"""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent
LIBRARY = FOLDER / "kernels.so"  # the name is the same on macOS, where it loads as well

# Products are not fused with sums: a row gives the same bits on every machine and in every batch.
# What is left out is errno and traps of arithmetic, which nobody looks at.
_FLAGS = ("-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
_SHARED = ("-shared", "-fPIC", "-fvisibility=hidden")
# Functions of Python are found when the library is loaded: the interpreter has them.
_MACOS = ("-undefined", "dynamic_lookup")
# Left alone, it compiles for this machine only.
_ZIG = ("-m", "ziglang", "cc", "-mcpu=baseline")


def sources() -> list[Path]:
    """The files that the library is made of."""
    return sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.h")])


def digest() -> str:
    """A name for the present sources; the library keeps that of the ones it was made from."""
    found = hashlib.blake2b(digest_size=8)
    for path in sources():
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def compiler() -> list[str] | None:
    """How the C compiler is called: `CC`, one on the path, or that of the package ziglang."""
    import shlex
    import shutil

    if given := os.environ.get("CC"):
        return shlex.split(given)
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, *_ZIG]
    return None


def compile_library(into: Path = LIBRARY, flags: Sequence[str] = ()) -> None:
    """Compile the sources into a library, which is replaced at once when it is complete."""
    import subprocess

    command = compiler()
    if command is None:
        raise SystemExit(
            "error: there is no C compiler\n"
            "hint: install one (gcc, clang), or `pip install ziglang`, which brings one"
        )
    new = into.with_name(f".{into.name}.{os.getpid()}")
    platform = _MACOS if sys.platform == "darwin" else ()
    files = [str(path) for path in sources() if path.suffix == ".c"]
    name = f'-DSOURCES="{digest()}"'
    try:
        subprocess.run(  # noqa: S603 - the compiler that the person has chosen
            [*command, *_FLAGS, *_SHARED, *platform, *flags, name, *files, "-lm", "-o", str(new)],
            check=True,
        )
        new.replace(into)
    except (OSError, subprocess.CalledProcessError) as problem:
        raise SystemExit(f"error: the C sources were not compiled: {problem}") from None
    finally:
        new.unlink(missing_ok=True)


if __name__ == "__main__":
    compile_library()
