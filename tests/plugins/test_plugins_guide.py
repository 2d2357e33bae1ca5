"""The guide is true: what it quotes is in the examples, and what it tells people to run runs."""

import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest
from plugins_examples import EXAMPLES, FOLDER, ROOT, registered

from compass import registry
from conftest import cluster_columns

GUIDE = (ROOT / "docs" / "guides" / "plugins.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
QUOTED = [block for block in BLOCKS if block.startswith("# examples/")]
RUN = [block for block in BLOCKS if not block.startswith("# examples/")]


def test_every_example_is_quoted() -> None:
    files = [Path(block.partition("\n")[0].removeprefix("# ")).stem for block in QUOTED]
    assert sorted(set(files)) == EXAMPLES


@pytest.mark.parametrize("block", QUOTED, ids=lambda block: block.partition("\n")[0])
def test_what_is_quoted_is_in_the_file(block: str) -> None:
    first, _, code = block.partition("\n")
    assert code in (ROOT / first.removeprefix("# ")).read_text(encoding="utf-8")


def test_what_people_are_told_to_run_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {**cluster_columns(300), "iteration": [i % 5 for i in range(300)]}
    rows = zip(*columns.values(), strict=True)
    lines = [" ".join(f"{k}={v}" for k, v in zip(columns, row, strict=True)) for row in rows]
    (tmp_path / "jobs.runlog").write_text("\n".join(lines))
    (tmp_path / "script.py").write_text("\n".join(RUN))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(FOLDER))
    before = registered()
    try:
        left = runpy.run_path("script.py")
        left["test_reducers"]("per-kind")
    finally:
        for joint, name in registered() - before:
            registry.remove(joint, name)
        for name in EXAMPLES:
            sys.modules.pop(name, None)
    assert left["runs"].prepared.rows == 240
    assert left["answer"][0].config["size"] == 100
    assert "export RUN_NODES=" in (tmp_path / "plan.sh").read_text()


def test_the_entry_points_are_those_of_a_plugin_and_of_a_joint() -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    groups = [tomllib.loads(block)["project"]["entry-points"] for block in blocks]
    plugin, joint = (name.removeprefix("compass.") for (name,) in groups)
    assert plugin in registry.joints()
    assert joint == "joint"


def test_every_joint_and_every_link_is_there() -> None:
    for name, joint in registry.joints().items():
        assert f"| `{name}` | {joint.description.split(':')[0]}" in GUIDE
    for link in re.findall(r"\]\((\.\./[^)]+)\)", GUIDE):
        assert (ROOT / "docs" / "guides" / link).exists(), link
