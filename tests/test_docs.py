"""The documentation site: tutorials run, links hold, references can be made from the code."""

import subprocess
import sys
from pathlib import Path

import pytest
from docs.site import tutorials

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site; a tutorial that fails or a link that leads nowhere ends the build."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    words = [sys.executable, "-m", "docs.site.build", "-o", str(folder)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_built(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix("") for path in ROOT.glob("docs/**/*.md")}
    assert len(pages) > 50
    assert not [page for page in pages if not (site / "docs" / page).with_suffix(".html").exists()]


def test_references_are_made_from_the_code(site: Path) -> None:
    reference = site / "docs" / "reference"
    python = (reference / "python.html").read_text()
    for text in ("reconfigure", "what_if", "reachable"):
        assert text in python
    assert "compass experiments show" in (reference / "cli.html").read_text()
    http = (reference / "http.html").read_text()
    assert "/api/v1/engines/{id}/answers" in http
    assert 'href="#answerview"' in http
    assert "COMPASS V-B" in (reference / "settings.html").read_text()


def test_tutorials_show_what_they_print(site: Path) -> None:
    for name in tutorials.NAMES:
        assert (site / "docs" / "tutorials" / f"{name}.html").exists()
    first = (site / "docs" / "tutorials" / "first_answers.html").read_text()
    assert "3,000 runs" in first


def test_every_script_is_a_tutorial() -> None:
    assert {path.stem for path in tutorials.FOLDER.glob("*.py")} == set(tutorials.NAMES)


def test_a_script_is_text_and_code_in_turn() -> None:
    code = "x = 1\n\nif x:\n    # inside\n    x = 2"
    script = f'"""Title."""\n\nimport os\n\n# Some words,\n# and more.\n\n{code}\n'
    assert list(tutorials.pieces(script)) == [
        ("code", "import os"),
        ("text", "Some words,\nand more."),
        ("code", code),
    ]
