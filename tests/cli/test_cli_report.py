"""`compass report`: the terminal, JSON, a page, and jobs that are kept."""

import json
from pathlib import Path

from cli_case import compass, refused

from benchmarks.schedule.advice.dump import lines


def test_a_report_is_printed_written_and_kept(tmp_path: Path) -> None:
    dump, page, folder = tmp_path / "jobs.psv", tmp_path / "r.html", tmp_path / "kept"
    dump.write_text("\n".join(lines(150, 8)) + "\n")
    shown = compass("report", dump, "-o", page, "--keep", folder)
    assert shown.code == 0, shown.err
    assert "150 jobs" in shown.out
    assert "what would free most" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    assert page.read_text().startswith("<!doctype html>")
    again = json.loads(compass("report", "--keep", folder, "--json").out)
    assert again["whole"]["jobs"] == 150
    assert again["users"]
    refused(compass("report"), "no jobs to report on")
