"""Packages announce plug-ins as entry points; a broken one is named and stops nobody else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compass import registry

GOOD = '''
from pathlib import Path

class Notes:
    """Field notes, one run per line."""
    name = "notes"
    suffixes = (".notes",)
    def sniff(self, path: Path, head: bytes) -> bool:
        return head.startswith(b"notes")
    def read(self, path: Path):
        import pyarrow as pa
        rows = [line.split() for line in path.read_text().splitlines()[1:]]
        nodes, times = zip(*((int(r[0]), float(r[1])) for r in rows))
        return pa.table({"nodes": nodes, "runtime": times})

def even(nodes):
    """A number is even."""
    return nodes % 2 == 0
'''


def package(folder: Path, name: str, code: str, entries: dict[str, str]) -> None:
    """A package as pip would leave it, but for the files that nobody reads."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    groups: dict[str, list[str]] = {}
    for key, value in entries.items():
        joint, _, plugin = key.partition("/")
        groups.setdefault(f"compass.{joint}", []).append(f"{plugin} = {value}")
    text = "".join(f"[{group}]\n" + "\n".join(lines) + "\n" for group, lines in groups.items())
    (info / "entry_points.txt").write_text(text)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One package that works, and three that do not."""
    folder = tmp_path_factory.mktemp("site")
    good = {"reader/notes": "field_notes:Notes", "rule/even": "field_notes:even"}
    package(folder, "field_notes", GOOD, good)
    package(folder, "lacking", "import not_installed_anywhere\n", {"reader/lacking": "lacking:R"})
    package(folder, "moved", "", {"surrogate/moved": "moved:Gone"})
    package(folder, "taken", GOOD, {"reader/csv": "taken:Notes"})
    (folder / "runs.notes").write_text("notes\n1 8.5\n2 4.5\n4 2.25\n8 1.5\n")
    (folder / "runs.csv").write_text("nodes,runtime\n1,8.5\n2,4.5\n4,2.25\n8,1.5\n")
    return folder


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    given = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(site), *([given] if given else [])])
    return subprocess.run(
        [sys.executable, "-W", "error::ImportWarning", *arguments],
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "240"},
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )


CLI = ("-m", "compass.cli.main")


def test_plugins_of_packages_are_listed_and_broken_ones_named(site: Path) -> None:
    done = run(site, *CLI, "plugins", "--json")
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    notes = next(p for p in listed if p["name"] == "notes")
    assert notes == {
        "joint": "reader",
        "name": "notes",
        "from": "field_notes",
        "what": "Field notes, one run per line.",
    }
    assert any(p["joint"] == "rule" and p["name"] == "even" for p in listed)
    broken = {p["name"]: p["what"] for p in listed if p["from"] == "broken"}
    assert set(broken) == {"lacking", "moved", "csv"}
    assert "the package lacking cannot be loaded: ModuleNotFoundError" in broken["lacking"]
    assert "not_installed_anywhere" in broken["lacking"]
    assert "the package moved cannot be loaded: AttributeError" in broken["moved"]
    assert (
        "the package taken cannot be loaded: there is already a reader named 'csv'"
        in (broken["csv"])
    )
    built_in = [p for p in listed if p["joint"] == "reader" and p["from"] != "broken"]
    assert "csv" in {p["name"] for p in built_in}


def test_a_file_of_a_packages_format_is_read_and_broken_packages_stop_nobody(site: Path) -> None:
    shown = run(site, *CLI, "columns", "runs.notes", "--rule", "even(nodes) or nodes == 1")
    assert shown.returncode == 0, shown.stderr
    assert "4 rows, 4 used" in shown.stdout
    assert "even(nodes)" in shown.stdout


ASKING = """
import compass as cp
from compass import registry
print(cp.read("runs.csv").table.rows)
for joint, name in (("reader", "lacking"), ("surrogate", "moved"), ("reader", "lacking")):
    try:
        registry.get(joint, name)
    except cp.CompassError as error:
        print(error.message, "/", error.hint)
try:
    cp.Compass(cp.read("runs.csv").roles(knobs=["nodes"], outcomes=["runtime"]),
               surrogate="moved").fit()
except cp.CompassError as error:
    print(type(error).__name__, error.message)
"""


def test_asking_for_a_broken_plugin_names_its_package(site: Path) -> None:
    done = run(site, "-c", ASKING)
    assert done.returncode == 0, done.stderr
    rows, *lines = done.stdout.splitlines()
    assert rows == "4"  # the built-in reader whose name the package wanted still works
    assert len(lines) == 4
    assert lines[0].startswith("the reader 'lacking' of the package lacking cannot be loaded: ")
    assert "pip install --upgrade lacking" in lines[0]
    assert lines[2] == lines[0]  # and not "no reader named 'lacking'" the second time
    assert "the surrogate 'moved' of the package moved cannot be loaded: " in lines[1]
    assert lines[3].startswith("EnvironmentProblem the surrogate 'moved' of the package moved")


def test_a_built_in_that_cannot_be_imported_is_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or the second caller would be told that there is no such name."""
    for known in ("_loaded", "_ready"):
        monkeypatch.setattr(registry, known, set(registry.joints()) - {"rule"})
    monkeypatch.setitem(registry._joints, "rule", registry.Joint("a rule", ("compass.not_there",)))
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="not_there"):
            registry.get("rule", "fits")
