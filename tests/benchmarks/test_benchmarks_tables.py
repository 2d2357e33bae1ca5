"""The commands on a small generated table: they run, skip and count as they should."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import compass as cp
from benchmarks import masked, regret, tables
from benchmarks.roles import PLAIN, Source
from compass.settings import ForestSettings, TrustSettings
from conftest import ROLES, cluster_columns


@pytest.fixture(autouse=True)
def _small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are about what is counted, not about how well is learnt."""
    few = {"forest": ForestSettings(trees=20), "trust": TrustSettings(trees=4)}
    for module in (tables, regret):
        monkeypatch.setattr(module, "PLAIN", PLAIN.model_copy(update=few))


def _source(folder: Path, *, test: bool = False, rules: tuple[str, ...] = ()) -> Source:
    table = pa.table(cluster_columns(500))
    pa.csv.write_csv(table.slice(0, 400) if test else table, folder / "runs.csv")
    pa.csv.write_csv(table.slice(400), folder / "test.csv")
    roles = {"knob": ROLES["knobs"], "context": ROLES["context"], "outcome": ["runtime", "power"]}
    columns = {name: {"role": role} for role, names in roles.items() for name in names}
    return Source(
        name="cluster",
        about="generated",
        path="runs.csv",
        test="test.csv" if test else None,
        study=cp.Study(columns=columns, drop=("state",), rules=rules),
        ask=("gpus",),
        goals=("runtime", "power"),
    )


@pytest.mark.parametrize("test", [False, True])
def test_a_table_from_file_to_figures(tmp_path: Path, test: bool) -> None:
    result = tables.examine(_source(tmp_path, test=test), tmp_path, tables.Plan(2, 3, seed=1))
    assert result.rows == (400 if test else 500)
    assert result.learnt == 400 if test else 350 < result.learnt < 450
    assert set(result.cards) == {"runtime", "power"}
    assert [kind.kind for kind in result.kinds] == list(masked.KINDS)
    for kind in result.kinds:
        assert kind.queries == 6
        assert kind.violations == kind.unanswered == kind.failures == 0
        assert kind.error < 0.5
    assert "cluster recommend" in tables.show([result])


def test_held_out_configurations_are_never_learnt(tmp_path: Path) -> None:
    source = _source(tmp_path)
    data = source.read(tmp_path)
    features = (*ROLES["knobs"], *ROLES["context"])
    for engine, held_out, *_ in tables.partitions(source, data, tmp_path, tables.Plan(2, 999, 1)):
        learnt = {tuple(row) for row in engine.data.prepared.columns_of(features)}
        places = [held_out.space.names.index(name) for name in features]
        asked = {tuple(row) for row in held_out.values[:, places]}
        assert asked
        assert not asked & learnt


def test_a_rule_that_nobody_wrote_by_hand_stops_the_benchmark(tmp_path: Path) -> None:
    source = _source(tmp_path, rules=("cores >= nodes",))
    with pytest.raises(KeyError, match="cores >= nodes"):
        tables.examine(source, tmp_path, tables.Plan(1, 1, 1))


def test_absent_tables_are_skipped_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    assert tables.main(["--only", "zeus"]) == 0
    said = capsys.readouterr().err
    assert "skipped" in said
    assert "COMPASS_DATA" in said


def test_an_unknown_table_names_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tables.main(["--only", "nothing"])
    assert "convolution" in capsys.readouterr().err


def test_violations_fail_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = _source(tmp_path)
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    monkeypatch.setattr(tables, "sources", lambda: {"cluster": source})
    assert tables.main(["--quick", "--json", str(tmp_path / "figures.json")]) == 0
    monkeypatch.setattr(tables.Checker, "problems", lambda self, one, given: ["a broken rule"])
    assert tables.main(["--quick"]) == 1
    assert "a broken rule" in capsys.readouterr().out


def test_regret_is_looked_up_in_the_whole_table(tmp_path: Path) -> None:
    rows = [
        {"gpu": gpu, "block": block, "tile": tile, "valid": int(block * tile < 64)}
        for gpu in ("a", "b")
        for block in (1, 2, 4, 8, 16)
        for tile in (1, 2, 4, 8)
        for _ in range(6)
    ]
    for row in rows:
        works, size = row["valid"], row["block"] * row["tile"]
        row["time_ms"] = (100 / size + (5 if row["gpu"] == "b" else 0)) if works else None
    pa.csv.write_csv(pa.Table.from_pylist(rows), tmp_path / "runs.csv")
    columns = {
        "gpu": {"role": "context"},
        "block": {"role": "knob"},
        "tile": {"role": "knob"},
        "time_ms": {"role": "outcome", "kind": "number"},
        "valid": {"role": "outcome", "kind": "category"},
    }
    source = Source("all", "", "runs.csv", cp.Study(columns=columns), ("block",), ("time_ms",))
    found = regret.examine(source, tmp_path, repeats=1, seed=3)
    assert [one.gpu for one in found] == ["a", "b"]
    for one in found:
        assert one.first >= 1
        assert one.best_of_all <= one.first
        assert one.best_seen >= 1
    assert "optimum" in regret.show(found)
