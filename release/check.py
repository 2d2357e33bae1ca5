"""What is released, installed as people install it, in environments of its own.

    python -m release.check [wheel] [sdist] [oldest]

`wheel`: the wheel, with what it needs in the newest versions; `sdist`: the same from the source
archive, whose C sources are compiled meanwhile; `oldest`: the wheel with the oldest versions that
pyproject.toml allows. In each the demo answers its three questions, an engine is saved and asked
again, and the server answers. Without names all of them; ends with exit code 1 if one fails.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "release"
_QUESTION = (
    "Recommend X = {threads: ?, flags: ?} to achieve Y = {runtime_ms: minimize} "
    "where C = {kernel: spmv, precision: double, size_kib: 24 MiB}"
)


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


def _environment() -> dict[str, str]:
    """The environment without what would put the checkout in the place of what is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _run(*words: str | Path, where: Path = ROOT) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=where,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """The wheel and the source archive."""
    shutil.rmtree(OUT, ignore_errors=True)
    _run(sys.executable, "-m", "hatchling", "build", "-d", OUT)
    (wheel,) = OUT.glob("*.whl")
    (archive,) = OUT.glob("*.tar.gz")
    return wheel, archive


def environment(name: str) -> Path:
    """A new environment with pip alone; its folder of programs."""
    _run(sys.executable, "-m", "venv", OUT / name)
    return OUT / name / "bin"


def install_newest(programs: Path, what: Path) -> None:
    """Install as `pip install` does."""
    _run(programs / "python", "-m", "pip", "install", "--quiet", what)


def install_oldest(programs: Path, what: Path) -> None:
    """Install the oldest allowed version of everything that Compass names."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    python = programs / "python"
    _run(python, "-m", "pip", "install", "--quiet", "uv")
    # Named directly: uv takes the newest of what others need.
    _run(
        *(programs / "uv", "pip", "install", "--quiet", "--python", python),
        *("--resolution", "lowest-direct", *needed),
    )
    _run(python, "-m", "pip", "install", "--quiet", "--no-deps", what)


def check(programs: Path) -> None:
    """Use Compass from a folder that has nothing to do with the checkout."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        command = programs / "compass"
        _say("  " + _run(command, "--version", where=where).strip())
        _run(command, "demo", where=where)
        _run(command, "fit", "embedded", "-o", "a.compass", "--outcome", "runtime_ms", where=where)
        answer = json.loads(_run(command, "ask", "a.compass", _QUESTION, "--json", where=where))
        assert answer["suggestions"], answer
        _serve(command, where)


def _serve(command: Path, where: Path) -> None:
    """The server answers, and has the page."""
    words = [str(command), "serve", "--port", "0", "--state", "state"]
    with subprocess.Popen(
        words,
        cwd=where,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            address = next(
                word for line in server.stdout for word in line.split() if "http://" in word
            )
            with urllib.request.urlopen(address.rstrip("/.,") + "/healthz", timeout=60) as reply:
                assert reply.status == 200
            with urllib.request.urlopen(address.rstrip("/.,") + "/", timeout=60) as reply:
                assert b"<title>Compass" in reply.read()
        finally:
            server.terminate()


def main() -> int:
    """Build, install, use."""
    wheel, archive = build()
    kinds: dict[str, tuple[Callable[[Path, Path], None], Path]] = {
        "wheel": (install_newest, wheel),
        "sdist": (install_newest, archive),
        "oldest": (install_oldest, wheel),
    }
    for name in sys.argv[1:] or kinds:
        install, what = kinds[name]
        _say(f"{name}: {what.name}")
        programs = environment(name)
        install(programs, what)
        check(programs)
    _say("all of it works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
