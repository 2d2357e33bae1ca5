"""Published tables and figures, made again: `python -m benchmarks.studies NAME...`.

    python -m benchmarks.studies list       what there is
    python -m benchmarks.studies laws       make one, write docs/results/laws.md and laws.json
    python -m benchmarks.studies all        make all of them; this takes hours
    python -m benchmarks.studies index      write docs/results/README.md, the table of all studies

`studies.yaml` says for every study which commands make it, what was published, and what is not
alike. The page in docs/results has what the commands printed, and with what they were run; the
JSON file beside it has the values of every seed. Where a study prints values that were kept, its
page links the file that has them.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from benchmarks.show import table
from compass import release

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
_MADE = re.compile(r"`, (\d{4}-\d\d-\d\d), .* ([\d,]+) s of CPU time")
_INDEX = """# Published tables and figures, made again

Each page has what its commands printed, what was published, and what is not alike; with the
command, the seeds, the date, the commit, the machine and the CPU time. `make study NAME=laws` makes
one again, `make studies` all of them. Studies that take a few seconds print values that were kept
when they were measured; their pages name the command that measures again.

| study | of | name | made | CPU s |
|---|---|---|---|---:|"""


def studies() -> dict[str, dict[str, Any]]:
    """All studies by name."""
    text = Path(__file__).with_name("studies.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return found


def make(name: str, about: dict[str, Any]) -> None:
    """Run the commands of a study and write its page."""
    printed: list[str] = []
    values: dict[str, Any] = {}
    began = os.times()
    commands = about["commands"]
    with ThreadPoolExecutor(len(commands) if about.get("beside") else 1) as pool:
        made = list(pool.map(lambda one: _run(one, about.get("fails", False)), commands))
    for command, (text, found) in zip(commands, made, strict=True):
        printed.append(f"```\n$ python -m {command}\n{text.rstrip()}\n```")
        if found is not None:
            values[command] = found
    ended = os.times()
    seconds = ended.children_user - began.children_user
    seconds += ended.children_system - began.children_system
    RESULTS.mkdir(parents=True, exist_ok=True)
    page = RESULTS / f"{name}.md"
    page.write_text(_page(name, about, printed, seconds, bool(values)), encoding="utf-8")
    if values:
        text = json.dumps({"commit": release.commit(), **values}, indent=1)
        page.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    print(f"wrote {page.relative_to(ROOT)}")
    write_index()


def write_index() -> None:
    """The table of all studies, beside their pages."""
    lines = [f"| {' | '.join(_row(name, about))} |" for name, about in studies().items()]
    text = "\n".join([_INDEX, *lines])
    (RESULTS / "README.md").write_text(text + "\n", encoding="utf-8")


def _row(name: str, about: dict[str, Any]) -> tuple[str, ...]:
    """A study, what it is of, and when and for how long its page was made."""
    page = RESULTS / f"{name}.md"
    if not page.exists():
        return about["title"], about["source"], f"`make study NAME={name}`", "not made yet", ""
    found = _MADE.search(page.read_text(encoding="utf-8"))
    day, seconds = found.groups() if found else ("", "")
    return f"[{about['title']}]({name}.md)", about["source"], f"`{name}`", day, seconds


def _run(command: str, may_fail: bool) -> tuple[str, Any]:
    """What a command prints, and the values that it writes with `--json`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "values.json"
        words = [str(file) if word == "{json}" else word for word in shlex.split(command)]
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode and not (may_fail and done.stdout):
            sys.exit(f"error: {command} ended with exit code {done.returncode}")
        return done.stdout, json.loads(file.read_text()) if file.exists() else None


def _page(name: str, about: dict[str, Any], printed: list[str], seconds: float, kept: bool) -> str:
    made = (
        f"`make study NAME={name}`, {datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}, commit "
        f"{release.commit()}, {_processor()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, {seconds:.0f} s of CPU time. {about['seeds']}"
    )
    if kept:
        made += f" The values: [{name}.json]({name}.json)."
    files = about.get("kept", ())
    if files:
        links = ", ".join(f"[{Path(file).name}](../../{file})" for file in files)
        made += f" The values of every seed, as they were kept: {links}."
    parts = [f"# {about['title']}", f"{about['source']}.", made, "## Ours", *printed]
    if about.get("published"):
        parts += ["## Published", about["published"].strip()]
    parts += ["## What is not alike", about["differs"].strip()]
    return "\n\n".join(parts) + "\n"


def _processor() -> str:
    """The name of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def main() -> int:
    """Make the named studies."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies",
        description=textwrap.dedent(__doc__),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", default=["list"])
    names = parser.parse_args().names
    found = studies()
    if names == ["index"]:
        write_index()
        return 0
    if names == ["list"]:
        print(table(("study", "source", "page"), (_line(name, found[name]) for name in found)))
        return 0
    unknown = [name for name in names if name not in found and name != "all"]
    if unknown:
        print(f"error: there is no study named {unknown[0]}", file=sys.stderr)
        print(f"hint: there are {', '.join(found)}", file=sys.stderr)
        return 2
    for name in found if "all" in names else names:
        print(f"{time.strftime('%H:%M:%S')}  {name}: {found[name]['title']}", flush=True)
        make(name, found[name])
    return 0


def _line(name: str, about: dict[str, Any]) -> tuple[str, str, str]:
    page = RESULTS / f"{name}.md"
    return name, about["source"], str(page.relative_to(ROOT)) if page.exists() else "not made yet"


if __name__ == "__main__":
    sys.exit(main())
