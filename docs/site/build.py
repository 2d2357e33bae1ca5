"""The documentation site: pages as they are in the repository, and references made from the code.

    python -m docs.site.build [-o FOLDER]

Pages are laid out in a copy, at their places in the repository, so that their links hold there as
they do here; every link to a page, a heading or a file is checked while Sphinx reads them, and a
warning ends the build.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

import yaml
from docs.site import reference, tutorials
from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
_LINK = re.compile(r"\]\(([^)#:\s]+)(?=[)#])")
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Lay out the pages, build the site; 0 if there was nothing to warn of."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "site")
    output = parser.parse_args().output
    pages = output.with_name(output.name + "-pages")
    shutil.rmtree(pages, ignore_errors=True)
    lay_out(pages)
    code: int = build_main(
        ["-W", "--keep-going", "-n", "-q", "-c", str(HERE), str(pages), str(output)]
    )
    if not code:
        print(f"wrote {output / 'index.html'}")
    return code


def lay_out(pages: Path) -> None:
    """Write every page of the site, and what they link to, into a folder."""
    stated: dict[str, list[str] | str] = yaml.safe_load((HERE / "contents.yaml").read_text())
    made = {
        "docs/decisions/index": decisions(),
        **reference.pages(),
        **tutorials.pages(),
    }
    # A word stands for all pages of a folder of docs/.
    listed = {
        name: one if isinstance(one, list) else _all_of(one, made) for name, one in stated.items()
    }
    contents = {name: pages_of for name, pages_of in listed.items() if pages_of}
    named = [name for found in contents.values() for name in found]
    _check_complete(named)
    names = [*named, *(str(path) for path in _decisions())]
    for name in names:
        text = made[name] if name in made else (ROOT / f"{name}.md").read_text(encoding="utf-8")
        _write(pages, name, text)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _write(
        pages, "index", readme + "\n" + "\n".join(_tree(*one) for one in contents.items() if one[1])
    )


def _all_of(folder: str, made: dict[str, str]) -> list[str]:
    """The pages of a folder of docs/, made ones included."""
    paths = ROOT.glob(f"docs/{folder}/*.md")
    found = [str(path.relative_to(ROOT).with_suffix("")) for path in paths]
    return [*(name for name in made if name.startswith(f"docs/{folder}/")), *sorted(found)]


def _decisions() -> list[Path]:
    found = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    return [path.relative_to(ROOT).with_suffix("") for path in found]


def decisions() -> str:
    """The page that lists the decisions."""
    tree = "\n".join(path.name for path in _decisions())
    return f"# Decisions\n\nWhy Compass is as it is, in the order of time.\n\n{_toctree('', tree)}"


def _tree(caption: str, names: list[str]) -> str:
    return _toctree(f":caption: {caption}\n:hidden:\n", "\n".join(names))


def _toctree(options: str, names: str) -> str:
    return f"```{{toctree}}\n:maxdepth: 1\n{options}\n{names}\n```\n"


def _check_complete(named: list[str]) -> None:
    """Every page of docs/ is in the contents."""
    found = {str(path.relative_to(ROOT).with_suffix("")) for path in (ROOT / "docs").rglob("*.md")}
    missing = found - set(named) - {str(path) for path in _decisions()}
    if missing:
        sys.exit(f"error: docs/site/contents.yaml does not name {', '.join(sorted(missing))}")


def _write(pages: Path, name: str, text: str) -> None:
    """Write a page, and copy the files that it links to."""
    path = pages / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = _LINK.sub(lambda found: _target(path, pages, found[1]), text)
    path.write_text(text, encoding="utf-8")
    for target in _LINK.findall(_CODE.sub("", text)):
        source = ROOT / (path.parent / target).resolve().relative_to(pages.resolve())
        copy = path.parent / target
        if source.is_file() and source.suffix != ".md" and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)


def _target(path: Path, pages: Path, target: str) -> str:
    """A link as it is on the site: the start page is the README, folders have a page."""
    meant = (path.parent / target).resolve().relative_to(pages.resolve())
    up = "../" * (len(path.relative_to(pages).parts) - 1)
    if meant == Path("README.md"):
        return f"]({up}index.md"
    if (ROOT / meant).is_dir():
        page = "index.md" if meant == Path("docs/decisions") else "README.md"
        return f"]({up}{meant}/{page}"
    return f"]({target}"


if __name__ == "__main__":
    sys.exit(main())
