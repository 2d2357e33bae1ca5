"""Tutorials: the scripts of examples/tutorials as pages, with what they print."""

import ast
import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "tutorials"
# In the order in which they are read.
NAMES = ("first_answers", "your_own_table", "an_experiment", "two_goals", "synthetic_rows")


def pages() -> dict[str, str]:
    """All tutorials, run, as pages by name."""
    return {f"docs/tutorials/{name}": page(FOLDER / f"{name}.py") for name in NAMES}


def page(path: Path) -> str:
    """One tutorial as Markdown: comments are text, each piece of code is followed by its output."""
    source = path.read_text(encoding="utf-8")
    title, _, rest = (ast.get_docstring(ast.parse(source)) or "").partition("\n")
    parts = [f"# {title.rstrip('.')}", rest.strip()]
    parts.append(f"The whole script: [{path.name}](../../examples/tutorials/{path.name}).")
    parts += _run(source)
    return "\n\n".join(parts)


def pieces(source: str) -> Iterator[tuple[str, str]]:
    """Text and code in turn, as ("text", ...) and ("code", ...); the docstring is neither."""
    tree = ast.parse(source)
    lines = source.splitlines()
    kind, found = "code", list[str]()
    for line in lines[tree.body[0].end_lineno or 0 :]:
        now = "text" if line.startswith("#") else kind if not line.strip() else "code"
        if now != kind:
            if any(one.strip() for one in found):
                yield kind, "\n".join(found).strip("\n")
            kind, found = now, []
        found.append(line[2:] if now == "text" else line)
    if any(one.strip() for one in found):
        yield kind, "\n".join(found).strip("\n")


def _run(source: str) -> list[str]:
    """Run a tutorial in a folder of its own, piece by piece, and lay it out."""
    parts: list[str] = []
    names: dict[str, object] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for kind, text in pieces(source):
                if kind == "text":
                    parts.append(text)
                    continue
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(text, "tutorial", "exec"), names)  # noqa: S102  (our own script)
                parts.append(f"```python\n{text}\n```")
                if printed.getvalue():
                    parts.append(f"```text\n{printed.getvalue().rstrip()}\n```")
        finally:
            os.chdir(before)
    return parts
