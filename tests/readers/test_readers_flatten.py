"""Sets of runs as one table, and the values of regions in a call tree."""

from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.arrow import UNIT
from compass.domain.errors import BadInput, DataProblem, UnknownName
from compass.readers import read
from compass.readers.profiles import ProfileOptions, read_runs
from compass.readers.profiles.base import Over, Profile, RunMetric, in_seconds
from compass.readers.profiles.flatten import columns_of, flatten, notes_of, run_names
from compass.readers.profiles.tree import Groups, OverRanks, Tree
from property_examples import examples

REGIONS = ("main", "solve", "io", "wait")


def run(
    name: str,
    own: list[float],
    *,
    regions: tuple[str, ...] = REGIONS,
    ways: tuple[Over, ...] = ("max", "sum"),
    unit: str | None = "s",
    **about: object,
) -> Profile:
    """A run whose first region calls all others."""
    exclusive = np.array(own)
    inclusive = exclusive.copy()
    inclusive[0] = exclusive.sum()
    measured = RunMetric(
        unit,
        dict.fromkeys(ways, float(inclusive[0])),
        dict.fromkeys(ways, inclusive),
        dict.fromkeys(ways, exclusive),
    )
    return Profile(name, about, regions, {"time": measured}, ("time",))  # type: ignore[arg-type]


def test_one_row_per_run_with_metadata_and_the_dearest_regions() -> None:
    runs = [run("a", [1, 5, 2, 0], nodes=4, app="amg"), run("b", [1, 3, 4, 0], nodes=8)]
    table = flatten(runs, ProfileOptions(top=2))
    assert table.column_names == ["run", "nodes", "app", "time", "time.solve", "time.io"]
    assert table.to_pylist() == [
        {"run": "a", "nodes": 4, "app": "amg", "time": 8, "time.solve": 5, "time.io": 2},
        {"run": "b", "nodes": 8, "app": None, "time": 8, "time.solve": 3, "time.io": 4},
    ]
    assert table.schema.field("time.io").metadata == {UNIT: b"s"}
    assert table.schema.field("nodes").metadata is None
    assert notes_of(table) == (
        "columns for 2 of 4 regions: solve, io",
        "ranks and threads are put together by max",
    )


def test_regions_that_are_not_in_every_run_are_told_and_left_out() -> None:
    runs = [run("a", [1, 5, 2, 9]), run("b", [1, 3, 4], regions=REGIONS[:3])]
    table = flatten(runs)
    assert "time.wait" not in table.column_names
    assert "1 regions are not in every run" in notes_of(table)
    chosen = flatten(runs, ProfileOptions(regions=("wait", "io")))
    assert chosen.column_names == ["run", "time", "time.wait", "time.io"]
    assert chosen["time.wait"].to_pylist() == [9, None]
    with pytest.raises(UnknownName, match="no region named 'solv'") as caught:
        flatten(runs, ProfileOptions(regions=("solv",)))
    assert "solve" in caught.value.hint


def test_ranks_are_put_together_in_a_way_that_all_runs_know() -> None:
    runs = [run("a", [1, 2, 3, 4], ways=("max", "mean")), run("b", [1, 2, 3, 4], ways=("mean",))]
    assert "put together by mean" in " ".join(notes_of(flatten(runs)))
    with pytest.raises(DataProblem, match="b does not hold the max of 'time'") as caught:
        flatten(runs, ProfileOptions(ranks="max"))
    assert caught.value.hint == "it holds: mean"
    with pytest.raises(DataProblem, match="do not share one way"):
        flatten([run("a", [1, 2, 3, 4], ways=("max",)), run("b", [1, 2, 3, 4], ways=("sum",))])


def test_units_that_differ_are_refused() -> None:
    with pytest.raises(DataProblem, match="'time' is in s in a but in an unknown unit in b"):
        flatten([run("a", [1, 2, 3, 4]), run("b", [1, 2, 3, 4], unit=None)])


def test_metadata_gives_way_to_metrics_and_long_texts_are_left_out() -> None:
    table = flatten([run("a", [1, 5, 2, 0], run=7, time="noon", libraries="x" * 500)])
    assert table["run (metadata)"].to_pylist() == [7]
    assert table["time (metadata)"].to_pylist() == ["noon"]
    assert "metadata longer than 200 characters left out: libraries" in notes_of(table)


@pytest.mark.parametrize(
    "wrong",
    [{"metrics": "time"}, {"regions": ("",)}, {"top": -1}, {"ranks": "median"}],
)
def test_options_are_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        ProfileOptions(**wrong)  # type: ignore[arg-type]


def test_times_become_seconds_and_other_units_stay() -> None:
    assert in_seconds("usec") == (1e-6, "s")
    assert in_seconds("ns") == (1e-9, "s")
    assert in_seconds("MB") == (1.0, "MB")
    assert in_seconds(None) == (1.0, None)


def test_columns_take_the_narrowest_type_that_holds_all_cells() -> None:
    table = columns_of(
        {
            "b": [True, None],
            "i": [1, 2],
            "f": [1, 0.5],
            "n": [float("nan"), 1.0],
            "t": [True, 2],
            "big": [2**70, 1],
            "huge": [10**400, 1],
            "none": [None, None],
            "odd": ["\ud800", "x"],
        },
        {},
    )
    kinds = [pa.bool_(), pa.int64(), pa.float64(), pa.float64(), pa.large_string()]
    assert [field.type for field in table.schema][:5] == kinds
    assert table.to_pylist()[0]["t"] == "true"
    assert table["big"].to_pylist() == [float(2**70), 1.0]
    assert table["huge"].to_pylist() == [None, 1.0]
    assert table["n"].to_pylist() == [None, 1.0]
    assert table["odd"].to_pylist() == ["?", "x"]


def test_names_of_runs_are_what_differs_in_their_paths(tmp_path: Path) -> None:
    names = ["a/1/x.cali", "a/2/x.cali.gz", "b/y.tree.json"]
    assert run_names([tmp_path / n for n in names]) == ["a/1/x", "a/2/x", "b/y"]
    assert run_names([tmp_path / "x.json", tmp_path / "x.yaml"]) == ["x.json", "x.yaml"]
    assert run_names([tmp_path / "only.cali"]) == ["only"]


# --- the call tree ---------------------------------------------------------------------------


@st.composite
def trees(draw: st.DrawFn) -> tuple[Tree, list[float]]:
    tree = Tree()
    for _ in range(draw(st.integers(1, 25))):
        parent = draw(st.integers(-1, len(tree) - 1))
        tree.child(parent, draw(st.sampled_from("abc")))
    own = draw(st.lists(st.integers(0, 9), min_size=len(tree), max_size=len(tree)))
    return tree, [float(value) for value in own]


def below(tree: Tree, node: int) -> list[int]:
    return [node, *(n for c, p in enumerate(tree.parents) if p == node for n in below(tree, c))]


def path_of(tree: Tree, node: int) -> list[str]:
    names = []
    while node >= 0:
        names.append(tree.names[node])
        node = tree.parents[node]
    return names[::-1]


@examples(60)
@given(trees())
def test_regions_are_summed_as_one_would_by_hand(made: tuple[Tree, list[float]]) -> None:
    tree, own = made
    groups = Groups.of(tree, ("a/b",))
    exclusive = np.array(own)
    inclusive = groups.inclusive(exclusive)
    by_hand = [sum(own[n] for n in below(tree, node)) for node in range(len(tree))]
    assert inclusive.tolist() == by_hand
    assert groups.exclusive(inclusive).tolist() == own
    total, inside, own_only = groups.fold(inclusive, exclusive)
    assert total == sum(own)
    for n, label in enumerate(groups.labels):
        ends = label.split("/")
        members = [k for k in range(len(tree)) if path_of(tree, k)[-len(ends) :] == ends]
        assert own_only[n] == sum(own[k] for k in members)
        covered = {k for member in members for k in below(tree, member)}
        # A set: what lies below two members of one region counts once.
        assert inside[n] == sum(own[k] for k in covered)


def test_ranks_that_measured_nothing_do_not_count_in_the_mean() -> None:
    tree = Tree()
    tree.child(tree.child(-1, "main"), "solve")
    added = OverRanks(Groups.of(tree))
    for own in ([1.0, 3.0], [2.0, 6.0], [0.0, 0.0]):
        added.add(None, np.array(own))
    measured = added.measured("ms")
    assert measured.total == pytest.approx({"max": 0.008, "mean": 0.006, "sum": 0.012})
    assert measured.inclusive["mean"].tolist() == pytest.approx([0.006, 0.0045])
    assert measured.exclusive["max"].tolist() == pytest.approx([0.002, 0.006])
    assert measured.unit == "s"


def test_calls_nested_without_end_are_refused() -> None:
    tree = Tree()
    with pytest.raises(DataProblem, match="nested more than"):
        reduce(tree.child, ["f"] * 30_000, -1)


# --- sources ---------------------------------------------------------------------------------


def tau_run(folder: Path, seconds: float) -> None:
    folder.mkdir(parents=True)
    (folder / "profile.0.0.0").write_text(
        "2 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls #\n"
        f'"main" 1 1 0 {seconds * 1e6} 0 GROUP="A"\n'
        f'"solve" 1 0 {seconds * 1e6} {seconds * 1e6} 0 GROUP="A"\n0 aggregates\n0 userevents\n'
    )


def test_a_folder_of_run_folders_is_a_set_of_runs(tmp_path: Path) -> None:
    for n in (2, 1):
        tau_run(tmp_path / f"nodes{n}", n / 2)
    for source in (tmp_path, str(tmp_path / "nodes*"), [tmp_path / "nodes1", tmp_path / "nodes2"]):
        table = read(source)
        assert table.arrow.select(["run", "time"]).to_pylist() == [
            {"run": "nodes1", "time": 0.5},
            {"run": "nodes2", "time": 1.0},
        ]
        assert table.part_of(1) == (str(tmp_path / "nodes2"), 0)


def test_folder_names_with_values_are_columns(tmp_path: Path) -> None:
    for n in (1, 2):
        tau_run(tmp_path / f"nodes={n}" / "profiles", n / 2)
    table = read(tmp_path)
    assert [table.row(n)["nodes"] for n in range(2)] == [1, 2]


def test_what_was_left_out_is_told(tmp_path: Path) -> None:
    tau_run(tmp_path / "a", 1.0)
    notes: list[str] = []
    table = read_runs(tmp_path, regions=["solve"], ranks="sum", tell=notes.append)
    assert table.row(0)["time.solve"] == 1.0
    assert notes == ["ranks and threads are put together by sum"]


def test_options_for_something_that_is_no_profile(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataProblem, match="is not a profile"):
        read_runs(tmp_path / "t.csv", metrics=["time"])


def test_runs_with_different_clocks_need_a_choice(tmp_path: Path) -> None:
    tau_run(tmp_path / "a", 1.0)
    tau_run(tmp_path / "b", 1.0)
    file = tmp_path / "b" / "profile.0.0.0"
    file.write_text(file.read_text().replace("MULTI_TIME", "MULTI_PAPI_TOT_CYC"))
    with pytest.raises(DataProblem, match="the time of a is time, but that of b is PAPI_TOT_CYC"):
        read(tmp_path)
