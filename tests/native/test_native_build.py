"""Compiling the library: which compiler, and what is said where there is none."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from compass.native import build

ROOT = Path(__file__).resolve().parents[2]
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


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no GCC")
def test_the_sources_compile_without_a_warning(tmp_path: Path) -> None:
    # With optimisation: warnings about positions and about what is not set need it.
    code = f"""
from pathlib import Path
from compass.native import build
flags = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]
build.compile_library(Path({str(tmp_path / "kernels.so")!r}), flags)
"""
    done = _run(code, CC="gcc")
    assert done.returncode == 0, done.stderr


def test_a_source_archive_has_the_sources_and_no_library(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for path in (*build.sources(), build.FOLDER / "build.py", ROOT / "hatch_build.py"):
        assert path.relative_to(ROOT).as_posix() in names
    assert not {name for name in names if name.endswith(".so")}


def test_the_library_is_of_the_sources_beside_it() -> None:
    assert build.digest().encode() in build.LIBRARY.read_bytes()
