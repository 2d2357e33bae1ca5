import statistics
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine_law import COLUMNS, MACHINES, roofline_runs, roofline_table

from compass.domain.errors import DataProblem, QueryProblem, UnknownName
from compass.platforms.pairs import MatchedRuns, PairColumns, joined, match
from compass.readers.table import Table

ROW = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["ft", "lu"]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([0.5, 1.0, 3.0, 7.0]),
    st.one_of(st.none(), st.sampled_from([10.0, 20.0, 30.0])),
)


def table(rows: list[tuple[object, ...]]) -> Table:
    names = ("machine", "app", "nodes", "seconds", "misses")
    types = (pa.string(), pa.string(), pa.int64(), pa.float64(), pa.float64())
    columns = {
        name: pa.array([row[place] for row in rows], type_)
        for place, (name, type_) in enumerate(zip(names, types, strict=True))
    }
    return Table.of(pa.table(columns))


PLAIN = PairColumns("machine", "app", "seconds", ("nodes",), ("misses",))


def line_of(runs: MatchedRuns, app: str, nodes: float) -> int:
    return int(np.flatnonzero((runs.applications == app) & (runs.configuration[:, 0] == nodes))[0])


@given(st.lists(ROW, min_size=1, max_size=30))
def test_every_cell_is_the_median_of_its_rows(rows: list[tuple[object, ...]]) -> None:
    runs = match(table(rows), PLAIN)
    cells = defaultdict(list)
    for number, row in enumerate(rows):
        cells[row[0], row[1], row[2]].append(number)
    assert len(runs) == len({key[1:] for key in cells})
    assert np.isfinite(runs.log_runtime).sum() == len(cells)
    for (machine, app, nodes), own in cells.items():
        line, place = line_of(runs, app, nodes), runs.place(machine)
        # The logarithm is taken first: the median of two runs is their geometric mean.
        expected = statistics.median(float(np.log(rows[at][3])) for at in own)
        assert runs.log_runtime[line, place] == pytest.approx(expected)
        misses = [rows[at][4] for at in own if rows[at][4] is not None]
        found = runs.counters[line, place, 0]
        assert np.isnan(found) if not misses else found == statistics.median(misses)
        assert runs.rows[line][place] == tuple(own)


def test_a_ratio_is_target_over_source() -> None:
    runs = match(table([("a", "ft", 1, 4.0, None), ("b", "ft", 1, 1.0, None)]), PLAIN)
    assert np.exp(runs.log_ratio("a"))[0].tolist() == pytest.approx([1.0, 0.25])
    with pytest.raises(UnknownName, match="no machine named 'c'"):
        runs.log_ratio("c")


def test_throughput_is_turned_round() -> None:
    columns = PairColumns("machine", "app", "seconds", ("nodes",), throughput=True)
    runs = match(table([("a", "ft", 1, 4.0, None), ("b", "ft", 1, 1.0, None)]), columns)
    assert np.exp(runs.log_ratio("a"))[0].tolist() == pytest.approx([1.0, 4.0])


def test_runs_without_a_positive_runtime_do_not_count() -> None:
    rows = [("a", "ft", 1, 0.0, None), ("a", "ft", 2, -1.0, None), ("a", "ft", 4, None, None)]
    with pytest.raises(DataProblem, match="no run has"):
        match(table(rows), PLAIN)
    assert len(match(table([*rows, ("a", "lu", 1, 1.0, None)]), PLAIN)) == 1


def test_labels_of_a_configuration_become_columns() -> None:
    columns = PairColumns("machine", "nodes", "seconds", ("app",))
    runs = match(table([("a", "ft", 1, 4.0, None), ("a", "lu", 1, 1.0, None)]), columns)
    assert runs.configuration_names == ("app = ft", "app = lu")
    assert runs.configuration.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_columns_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(UnknownName, match="no column named 'node'"):
        match(roofline_table(1), PairColumns("machine", "app", "runtime", ("node",)))
    with pytest.raises(QueryProblem, match="'app' is named twice"):
        match(roofline_table(1), PairColumns("machine", "app", "runtime", ("app",)))
    with pytest.raises(DataProblem, match="'machine' holds text where numbers are needed"):
        match(roofline_table(1), PairColumns("size", "app", "machine"))


def test_lines_are_taken_apart_and_hidden() -> None:
    runs = roofline_runs(3)
    own = runs.of("app01")
    assert set(own.applications) == {"app01"}
    assert len(own) == 4
    assert len(runs.others("app01")) == 8
    with pytest.raises(UnknownName, match="did you mean app01"):
        runs.of("app1")
    cells = np.zeros((4, len(MACHINES)), dtype=bool)
    cells[:, own.place("lassen")] = True
    hidden = own.hidden(cells)
    assert len(hidden.ran_on("lassen")) == 0
    assert len(hidden.ran_on("quartz")) == 4


def test_tables_are_joined_by_the_names_of_their_columns() -> None:
    runs = roofline_runs(3)
    lassen = runs.place("lassen")
    cells = np.zeros(runs.log_runtime.shape, dtype=bool)
    cells[:, lassen] = True
    both = joined([runs.hidden(cells).some(runs.applications != "app02"), runs.of("app02")])
    assert both.machines == runs.machines
    assert both.counter_names == COLUMNS.counters
    assert np.isnan(both.log_runtime[both.applications != "app02", lassen]).all()
    assert np.isfinite(both.log_runtime[both.applications == "app02", lassen]).all()
    assert both.of("app02").counters.tolist() == runs.of("app02").counters.tolist()
