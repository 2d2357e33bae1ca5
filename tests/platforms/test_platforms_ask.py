import numpy as np
import pytest
from machine_law import COLUMNS, MACHINES, roofline_runs, roofline_table

from compass.domain.answer import Label
from compass.domain.errors import DataProblem, QueryProblem, UnknownName
from compass.platforms import AskOptions, Peaks, ask, joined, match
from compass.platforms.columns import found_columns
from compass.platforms.counters import counter_mapping
from compass.platforms.pairs import MatchedRuns
from compass.readers.table import Table

PEAKS = {name: Peaks(bandwidth=b, flops=f) for name, (b, f) in MACHINES.items()}


def on_quartz_only(applications: int, name: str) -> MatchedRuns:
    runs = roofline_runs(applications)
    hide = np.zeros(runs.log_runtime.shape, dtype=bool)
    hide[runs.applications == name] = np.arange(len(runs.machines)) != runs.place("quartz")
    return runs.hidden(hide)


def test_an_application_of_one_machine_is_ordered_on_all() -> None:
    answer = ask(on_quartz_only(14, "app03"), "app03", "quartz", AskOptions(prices={"lassen": 2.0}))
    truth = np.exp(roofline_runs(14, noise=0.0).of("app03").log_ratio("quartz"))
    assert len(answer.lines) == 4
    for line in answer.lines:
        assert {one.machine for one in line.machines} == set(MACHINES)
        for one in line.machines:
            expected = truth[0, sorted(MACHINES).index(one.machine)]
            assert one.label == Label.TRUSTED
            assert one.ratio == pytest.approx(expected, rel=0.35)
            assert one.runtime == pytest.approx(one.ratio * line.source_runtime)
            assert one.low <= one.ratio <= one.high
        lassen = next(one for one in line.machines if one.machine == "lassen")
        assert lassen.cost == pytest.approx(2 * lassen.runtime)
        assert sum(one.fastest for one in line.machines) == pytest.approx(1)
        assert line.machines[0].fastest == max(one.fastest for one in line.machines)
        assert 0 <= line.doubt <= 0.5
        assert all(run.machine != "quartz" for run in line.run_next)
        assert len(line.alike) == 3
        assert all(one.application != "app03" for one in line.alike)


def test_rows_of_past_runs_are_those_of_the_table() -> None:
    table = roofline_table(6)
    answer = ask(match(table, COLUMNS), "app02", "quartz")
    for one in answer.lines[0].alike:
        assert one.rows
        for row in one.rows:
            assert table.row(row)["app"] == one.application
            assert table.row(row)["machine"] == "quartz"
            assert table.row(row)["size"] == one.configuration["size"]


def test_what_was_measured_is_said_to_be() -> None:
    answer = ask(roofline_runs(8), "app02", "quartz")
    assert all(one.measured for one in answer.lines[0].machines)
    assert answer.lines[0].order_chance == 1.0
    assert answer.lines[0].run_next == ()
    assert any("correct what is predicted" in note for note in answer.notes)


def test_a_strange_profile_is_not_trusted() -> None:
    runs = on_quartz_only(14, "app05")
    strange = runs.counters.copy()
    strange[runs.applications == "app05"] *= np.array([1e-6, 1e3, 1e6, 1e-6])
    odd = MatchedRuns(
        runs.machines,
        runs.applications,
        runs.configuration,
        runs.configuration_names,
        runs.log_runtime,
        strange,
        runs.counter_names,
    )
    answer = ask(odd, "app05", "quartz")
    for one in answer.lines[0].machines:
        assert one.measured or one.label != Label.TRUSTED


def test_a_machine_enters_through_its_benchmark_alone() -> None:
    runs = roofline_runs(16)
    kernels = np.isin(runs.applications, [f"app{i:02d}" for i in range(8)])
    hide = np.zeros(runs.log_runtime.shape, dtype=bool)
    hide[:, runs.place("lassen")] = True
    applications = runs.hidden(hide).some(~kernels)
    own = applications.of("app12")
    elsewhere = np.arange(len(own.machines)) != own.place("quartz")
    own = own.hidden(np.tile(elsewhere, (len(own), 1)))
    both = joined([runs.some(kernels), applications.others("app12"), own])
    answer = ask(both, "app12", "quartz")
    lassen = next(one for one in answer.lines[0].machines if one.machine == "lassen")
    truth = np.exp(runs.of("app12").log_ratio("quartz")[0, runs.place("lassen")])
    assert lassen.applications == 8
    assert lassen.ratio == pytest.approx(truth, rel=0.4)


def test_a_machine_with_peaks_only_is_told_by_its_peaks_and_says_so() -> None:
    runs = on_quartz_only(14, "app05")
    peaks = PEAKS | {"frontier": Peaks(bandwidth=2e11, flops=8e11)}
    answer = ask(runs, "app05", "quartz", AskOptions(peaks=peaks))
    frontier = next(one for one in answer.lines[0].machines if one.machine == "frontier")
    assert frontier.ratio == pytest.approx(1 / 40)
    assert frontier.label == Label.UNSUPPORTED
    assert "peaks" in frontier.reason
    assert frontier.low < frontier.ratio < frontier.high


def test_unknown_names_are_refused() -> None:
    runs = roofline_runs(5)
    with pytest.raises(UnknownName, match="did you mean quartz"):
        ask(runs, "app01", "quarz")
    with pytest.raises(UnknownName, match="no application named"):
        ask(runs, "ft", "quartz")
    with pytest.raises(UnknownName, match="no machine named 'lasen'"):
        ask(runs, "app01", "quartz", AskOptions(machines=("lasen",)))
    hide = np.zeros(runs.log_runtime.shape, dtype=bool)
    hide[runs.applications == "app01", runs.place("quartz")] = True
    with pytest.raises(DataProblem, match="app01 was not run on quartz"):
        ask(runs.hidden(hide), "app01", "quartz")


def test_only_some_machines() -> None:
    answer = ask(on_quartz_only(8, "app05"), "app05", "quartz", AskOptions(machines=("ruby",)))
    assert {one.machine for one in answer.lines[0].machines} == {"quartz", "ruby"}


def test_columns_with_usual_names_are_found() -> None:
    table, mapping = roofline_table(1), counter_mapping()
    assert found_columns(table, mapping, configuration=["size"]) == COLUMNS
    chosen = found_columns(table, mapping, configuration=["size"], counters=["flops"])
    assert chosen.counters == ("flops",)
    renamed = Table.of(table.arrow.rename_columns([f"x{name}" for name in table.names]))
    with pytest.raises(QueryProblem, match="no column is called like the machine"):
        found_columns(renamed, mapping)
