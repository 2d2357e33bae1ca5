"""Compiling the library: which compiler, and what is said where there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compass.native import build

CODE = "from compass.native import build; print(build.compiler())"


def _run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_compiler_that_is_named_is_taken() -> None:
    assert _run(CODE, CC="my-cc -m64").stdout.strip() == "['my-cc', '-m64']"


def test_without_a_compiler_it_says_what_to_install(tmp_path: Path) -> None:
    if _has_zig():
        pytest.skip("the package ziglang brings a compiler here")
    assert _run(CODE, CC="", PATH=str(tmp_path)).stdout.strip() == "None"
    code = "from compass.native import build; build.compile_library()"
    done = _run(code, CC="", PATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("error: there is no C compiler\nhint: ")


def _has_zig() -> bool:
    return _run("import ziglang").returncode == 0


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_compiler_that_fails_leaves_the_library_as_it_was(tmp_path: Path) -> None:
    kept = tmp_path / "kernels.so"
    kept.write_bytes(b"as it was")
    code = f"""
from pathlib import Path
from compass.native import build
build.compile_library(Path({str(kept)!r}), ["-no-such-flag"])
"""
    done = _run(code)
    assert done.returncode == 1
    assert "error: the C sources were not compiled" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kernels.so"]
    assert kept.read_bytes() == b"as it was"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_sources_compile_without_a_warning(tmp_path: Path) -> None:
    flags = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsyntax-only"]
    files = [str(path) for path in build.sources() if path.suffix == ".c"]
    subprocess.run(["cc", "-std=c11", '-DSOURCES=""', *flags, *files], check=True)


def test_the_library_is_of_the_sources_beside_it() -> None:
    assert build.digest().encode() in build.LIBRARY.read_bytes()
