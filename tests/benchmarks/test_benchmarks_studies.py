"""Studies: what is said of each of them is complete, and its commands can be found."""

import importlib.util
import json
from pathlib import Path

import pytest

from benchmarks.studies import __main__ as studies


@pytest.mark.parametrize("name", studies.studies())
def test_a_study_says_where_it_is_from_and_what_differs(name: str) -> None:
    about = studies.studies()[name]
    assert {"title", "source", "commands", "seeds", "differs"} <= set(about)
    for command in about["commands"]:
        assert importlib.util.find_spec(command.split()[0]) is not None


def test_a_page_has_what_was_printed_and_the_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(studies, "ROOT", tmp_path)
    (tmp_path / "printing.py").write_text(
        "import sys; print('a table'); open(sys.argv[1], 'w').write('[1, 2]')"
    )
    about = {
        "title": "A title",
        "source": "A paper, Table I",
        "commands": ["printing {json}"],
        "seeds": "Seed 1.",
        "published": "| 3 |",
        "differs": "Everything.",
    }
    studies.make("one", about)
    page = (tmp_path / "results" / "one.md").read_text()
    for text in ("# A title", "A paper, Table I", "a table", "| 3 |", "Everything.", "Seed 1."):
        assert text in page
    kept = json.loads((tmp_path / "results" / "one.json").read_text())
    assert kept["printing {json}"] == [1, 2]
