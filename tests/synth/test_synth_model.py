"""What people do with a synthesizer: learn, draw on conditions, fill in, save."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

import compass as cp
from compass.domain.errors import BadInput, ConflictingRules, EngineProblem, UnknownName
from compass.engine.dataset import Dataset
from compass.readers.table import Table
from compass.synth.model import SynthesisModel

RULES = ["gpus == 4 * nodes", "pinned == yes -> threads <= 8"]


def runs(n: int = 600) -> Dataset:
    """Runs that obey the rules; one column is always the same, some costs are missing."""
    rng = np.random.default_rng(1)
    nodes, threads = rng.choice([1, 2, 4, 8], n), rng.choice([4, 8, 16], n)
    pinned = np.where((threads <= 8) & (rng.random(n) < 0.5), "yes", "no")
    runtime = 100 / (nodes * np.sqrt(threads)) * rng.lognormal(0, 0.1, n)
    cost = np.where(rng.random(n) < 0.02, np.nan, runtime * nodes)
    columns = {
        "nodes": nodes,
        "gpus": 4 * nodes,
        "threads": threads,
        "pinned": pinned,
        "site": ["north"] * n,
        "runtime": runtime,
        "cost": cost,
    }
    table = {name: pa.array(cells) for name, cells in columns.items()}
    table["cost"] = pa.array(cost, mask=np.isnan(cost))
    data = cp.read(pa.table(table))
    return data.roles(knobs=["nodes", "gpus", "threads", "pinned"], outcomes=["runtime", "cost"])


@pytest.fixture(scope="module")
def model() -> SynthesisModel:
    return cp.synthesizer(runs(), rules=RULES)


def test_rows_look_like_the_table_and_say_what_they_are(model: SynthesisModel) -> None:
    drawn = model.sample(200)
    assert drawn.table.column_names[:7] == list(runs().table.names)
    assert set(drawn.table["origin"].to_pylist()) == {"synthetic"}
    assert set(drawn.table["site"].to_pylist()) == {"north"}
    assert pa.types.is_integer(drawn.table.schema.field("nodes").type)
    assert len(drawn) == drawn.report.rows == 200


def test_every_rule_holds_in_every_row(model: SynthesisModel) -> None:
    rows = model.sample(400).table.to_pylist()
    assert all(row["gpus"] == 4 * row["nodes"] for row in rows)
    assert all(row["threads"] <= 8 for row in rows if row["pinned"] == "yes")


@settings(deadline=None, max_examples=25)
@examples(
    st.floats(2, 40),
    st.floats(0.5, 20),
    st.sets(st.sampled_from([4, 8, 16]), min_size=1),
    st.integers(0, 2**32 - 1),
)
def test_whatever_is_asked_for_holds_in_every_row(
    low: float, width: float, threads: set[int], seed: int
) -> None:
    wanted = cp.within(low, low + width)
    learnt = cp.synthesizer(runs(150), rules=RULES)
    given = {"runtime": wanted, "threads": sorted(threads)}
    drawn = learnt.sample(20, given=given, seed=seed)
    for row in drawn.table.to_pylist():
        assert low <= row["runtime"] <= low + width
        assert row["threads"] in threads
        assert row["gpus"] == 4 * row["nodes"]
    assert drawn.report.tried >= drawn.report.rows


def test_a_range_needs_no_rejection(model: SynthesisModel) -> None:
    report = model.sample(300, where=["runtime <= 4", "nodes >= 2"]).report
    assert report.acceptance > 0.8


def test_what_cannot_be_met_is_told(model: SynthesisModel) -> None:
    with pytest.raises(ConflictingRules):
        model.sample(10, where=["gpus == 12", "nodes == 8"])
    with pytest.raises(UnknownName):
        model.sample(10, where=["cores == 12"])
    with pytest.raises(BadInput, match="none of"):
        model.sample(10, where=["runtime * nodes * sqrt(threads) > 1000"])
    with pytest.raises(BadInput, match="0 rows"):
        model.sample(0)


def test_few_rows_are_fewer_and_said_so(model: SynthesisModel) -> None:
    drawn = model.sample(500, where=["runtime * nodes * sqrt(threads) > 132"])
    assert len(drawn) < 500
    assert any("only" in note for note in drawn.report.notes)
    assert drawn.report.broken


def test_cells_are_filled_and_named(model: SynthesisModel) -> None:
    file = pa.table(
        {
            "nodes": pa.array([2, None, 8], type=pa.int64()),
            "threads": pa.array([8, 16, None], type=pa.int64()),
            "pinned": ["yes", None, None],
            "runtime": pa.array([None, 5.0, 3.25]),
        }
    )
    filled = model.fill(Table.of(file))
    rows = filled.table.to_pylist()
    assert rows[0]["filled"] == "gpus, runtime, cost"
    assert [row["gpus"] for row in rows] == [4 * row["nodes"] for row in rows]
    assert rows[1]["runtime"] == 5.0
    assert rows[1]["pinned"] == "no"
    assert filled.report.rows == 3


def test_a_row_that_breaks_a_rule_is_not_filled(model: SynthesisModel) -> None:
    file = pa.table({"threads": [16, 4], "pinned": ["yes", "yes"]})
    filled = model.fill(Table.of(file))
    assert filled.report.rows == 1
    assert "1 rows were not filled" in filled.report.notes[0]
    assert filled.table["nodes"].to_pylist()[0] is None


def test_several_draws_are_a_distribution(model: SynthesisModel) -> None:
    file = pa.table({"nodes": [1, 8], "threads": [4, 4]})
    filled = model.fill(Table.of(file), draws=40)
    runtime = np.array(filled.table["runtime"].to_pylist()).reshape(2, 40)
    assert runtime[0].mean() > 3 * runtime[1].mean()
    assert len(np.unique(runtime[0])) > 10


def test_cells_that_mean_nothing_are_refused(model: SynthesisModel) -> None:
    with pytest.raises(BadInput, match="pinned cannot be 'maybe'"):
        model.fill(Table.of(pa.table({"pinned": ["maybe"]})))
    with pytest.raises(BadInput, match="none of the columns"):
        model.fill(Table.of(pa.table({"weather": ["fine"]})))


@pytest.mark.parametrize("name", ["cart", "copula"])
def test_a_saved_model_draws_the_same(name: str, tmp_path: Path) -> None:
    learnt = cp.synthesizer(runs(), name, rules=RULES, seed=3)
    again = cp.load_synthesizer(learnt.save(tmp_path / "jobs.synth"))
    assert again.meta == learnt.meta
    assert np.array_equal(again.sample(50).values, learnt.sample(50).values)
    assert not np.array_equal(again.sample(50, seed=4).values, again.sample(50, seed=5).values)


def test_other_files_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no file"):
        cp.load_synthesizer(tmp_path / "nothing.synth")
    for content in (b"", b"nodes,runtime\n1,2\n", b"PK\x03\x04 cut"):
        path = tmp_path / "strange.synth"
        path.write_bytes(content)
        with pytest.raises(EngineProblem, match="not a saved synthesizer"):
            cp.load_synthesizer(path)


def test_incomplete_rows_are_left_out_where_they_are_few(model: SynthesisModel) -> None:
    assert "were left out" in model.meta.notes[0]
    assert model.meta.rows < 600


def test_many_gaps_are_filled_by_what_comes_nearer() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=800)
    y = 2 * x + 0.1 * rng.normal(size=800)
    noise = rng.normal(size=800)
    gaps = rng.random((2, 800)) < 0.3
    table = pa.table(
        {"x": x, "y": pa.array(y, mask=gaps[0]), "noise": pa.array(noise, mask=gaps[1])}
    )
    data = cp.read(table).roles(knobs=["x"], outcomes=["y", "noise"])
    notes = cp.synthesizer(data).meta.notes
    assert any(note.startswith("y:") and "by trees" in note for note in notes)
    assert any(note.startswith("noise:") and "with the mean" in note for note in notes)


def test_synthetic_rows_are_not_learnt_from_again() -> None:
    real = runs(100)
    origin = ["measured"] * 50 + ["synthetic"] * 50
    marked = real.table.arrow.append_column("origin", pa.array(origin))
    data = cp.read(marked, study={"origin": "origin"})
    assert cp.synthesizer(data).meta.rows <= 50


def test_features_that_rows_lack_are_filled_in_too() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    gaps = rng.random(300) < 0.3
    table = pa.table({"x": pa.array(x, mask=gaps), "y": 2 * x})
    data = cp.read(table).roles(knobs=["x"], outcomes=["y"])
    assert len(data.prepared.incomplete) == gaps.sum()
    model = cp.synthesizer(data)
    assert model.meta.rows == 300
    assert model.meta.notes == (f"x: {gaps.sum()} missing cells were filled by trees",)
    rows = model.sample(300).table
    apart = np.array(rows.column("y").to_pylist()) - 2 * np.array(rows.column("x").to_pylist())
    assert np.abs(apart).mean() < 0.3


def test_rows_that_cleaning_leaves_out_are_told() -> None:
    x = [float(n) for n in range(100)]
    y = [None if n % 5 == 0 else float(n) for n in range(100)]
    model = cp.synthesizer(cp.read({"x": x, "y": y}).roles(knobs=["x"], outcomes=["y"]))
    assert model.meta.rows == 80
    assert any("y is missing" in note for note in model.meta.notes)
