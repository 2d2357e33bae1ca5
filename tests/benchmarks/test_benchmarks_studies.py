"""Studies: what is said of each of them is complete, and its commands can be found."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.studies import __main__ as studies
from benchmarks.studies import additions, papers


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


def test_the_table_of_studies_links_the_pages_that_were_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "RESULTS", tmp_path)
    (tmp_path / "laws.md").write_text(
        "`make study NAME=laws`, 2026-11-19, commit a, 265 s of CPU time."
    )
    studies.write_index()
    lines = (tmp_path / "README.md").read_text().splitlines()
    (made,) = [line for line in lines if "laws.md" in line]
    assert "| 2026-11-19 | 265 |" in made
    (lacking,) = [line for line in lines if "`make study NAME=rules`" in line]
    assert "not made yet" in lacking


def test_values_that_were_kept_are_there() -> None:
    for name, about in studies.studies().items():
        for file in about.get("kept", ()):
            assert Path(__file__).parents[2].joinpath(file).is_file(), f"{name}: {file}"


def test_the_kept_models_of_the_papers_are_printed() -> None:
    assert "XGBoost, attention + AMM by L2" in papers.show()


def test_parts_that_are_left_out_keep_what_is_predicted() -> None:
    engine, asked = additions.learnt(additions.LAW, 200)
    task, assessor = additions.bound(engine, additions.LAW, asked[0])
    rows = task.observed[:20].copy()
    still = np.setdiff1d(np.arange(len(task.space)), task.movable)
    rows[:, still] = task.start[still]
    usual = task.predict(rows)
    for variant, altered in additions.VARIANTS.items():
        found = altered(task, assessor).predict(rows)
        for name in usual:
            np.testing.assert_allclose(found[name], usual[name], rtol=1e-9, err_msg=variant)
    assert additions.without_edges(task, assessor).predict.edges(int(task.movable[0])) is None


def test_tables_of_parts_count_by_truth() -> None:
    told = additions.show_evidence(
        [
            additions.Doubled("trace", "trusted", "caution", False),
            additions.Doubled("trace", "trusted", "trusted", True),
        ]
    )
    assert told.splitlines()[-1].split() == ["trace", "2", "1", "2", "1", "1", "0"]
