"""`compass simulate`: tables of policies, JSON, changed jobs, and what is refused."""

import csv
import json
from pathlib import Path

import pytest
from cli_case import compass

from compass.schedule.read import read_trace
from compass.schedule.simulate import simulate


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred jobs on eight nodes, of which some wait."""
    lines = ["; MaxProcs: 8"] + [
        f"{i + 1} {40 * i} {i % 7} {50 + 37 * i % 300} {1 + i * i % 6} -1 -1 {1 + i * i % 6} "
        f"{100 + 61 * i % 400} -1 1 {i % 3} 1 {i % 2} -1 -1 -1 -1"
        for i in range(100)
    ]
    path = tmp_path_factory.mktemp("trace") / "jobs.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_policies_stand_beside_each_other(trace: Path) -> None:
    found = compass("simulate", trace, "--policy", "fcfs", "--policy", "fcfs+easy", "--busy", 200)
    assert (found.code, found.err) == (0, "")
    for text in ("100 jobs on 8 nodes", "fcfs+easy", "mean wait (h)", "energy of jobs (MWh)"):
        assert text in found.out
    assert "recorded a mean wait of" in found.out
    assert max(map(len, found.out.splitlines())) <= 80


def test_json_and_starts_are_those_of_the_simulator(trace: Path, tmp_path: Path) -> None:
    starts = tmp_path / "starts.csv"
    found = compass("simulate", trace, "--policy", "sjf+easy", "--output", starts, "--json")
    assert found.code == 0
    answer = json.loads(found.out)
    plain = simulate(read_trace(trace), how="sjf+easy")
    (one,) = answer["schedules"]
    assert one["policy"] == "sjf+easy"
    assert one["wait"]["value"] == pytest.approx(plain.wait.mean())
    assert one["wait"]["low"] <= one["wait"]["value"] <= one["wait"]["high"]
    assert (answer["machine"], answer["kill"], one["energy"]) == ({"nodes": 8}, True, None)
    rows = list(csv.DictReader(starts.read_text().splitlines()))
    assert [float(row["start"]) for row in rows] == plain.start.tolist()
    assert {row["truth"] for row in rows} == {"as recorded"}


def test_changed_jobs_are_told_with_what_decides(trace: Path, tmp_path: Path) -> None:
    found = compass("simulate", trace, "--scale-nodes", 0.5, "--law", "amdahl:serial=0.1", "--json")
    (note, *_) = json.loads(found.out)["notes"]
    assert note.endswith("of 100 jobs ask for something else; they run by law amdahl:serial=0.1")
    advice, runs = tmp_path / "advice.csv", tmp_path / "runs.csv"
    advice.write_text("job,nodes,limit\n2,1,900\n5,4,\n")
    runs.write_text(
        "application,nodes,runtime\n"
        + "".join(f"{app},{n},{100 / n + 5}\n" for app in (0, 1) for n in (1, 2, 4, 8))
    )
    found = compass(
        *("simulate", trace, "--changed", advice, "--scaling", runs, "--no-kill"),
        *("--output", tmp_path / "starts.csv", "--json"),
    )
    answer = json.loads(found.out)
    assert answer["notes"][0].startswith("2 of 100 jobs ask for something else; they run by laws")
    rows = list(csv.DictReader((tmp_path / "starts.csv").read_text().splitlines()))
    assert [rows[1]["nodes"], rows[4]["nodes"]] == ["1", "4"]


@pytest.mark.parametrize(
    ("more", "error", "hint"),
    [
        (["--policy", "fifo"], "no order of a queue named 'fifo'", "fcfs, sjf, multifactor"),
        (["--scale-nodes", "0.5"], "how long the changed jobs run is not known", "--law"),
        (["--law", "amdahl:serial=0.1"], "no job is changed", "--scale-nodes"),
        (["--scale-nodes", "-1", "--law", "amdahl"], "nodes times -1", "above 0"),
        (["--gpus", "4"], "ask for no gpus", "nodes"),
        (["--memory", "much"], "--memory much is no size", "64T"),
        (["--idle", "100"], "--idle alone gives no energy", "--busy"),
        (["--column", "submit"], "--column submit", "submit=queued_at"),
    ],
)
def test_what_cannot_be_is_said(trace: Path, more: list[str], error: str, hint: str) -> None:
    found = compass("simulate", trace, *more)
    assert (found.code, found.out) == (2, "")
    assert error in found.err
    assert hint in found.err.partition("hint:")[2]


def test_jobs_that_are_too_large_are_left_out(trace: Path) -> None:
    found = compass("simulate", trace, "--nodes", 3)
    assert found.code == 0
    assert "left out, larger than the machine" in found.out
