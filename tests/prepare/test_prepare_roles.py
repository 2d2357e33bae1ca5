"""Roles are guessed from all columns of a table together."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from compass.domain.space import Role
from compass.domain.study import ColumnChoice, Study
from compass.prepare import ColumnReport, infer
from compass.prepare.report import ReasonCode
from compass.readers import read

ROWS = 360
RNG = np.random.default_rng(3)
THREADS = RNG.choice([1, 2, 4, 8, 16], ROWS)
NODES = RNG.choice([1, 2, 4], ROWS)
APP = RNG.choice(["amg", "comd", "ft"], ROWS)
WORK = np.select([APP == "amg", APP == "comd"], [90.0, 400.0], 1300.0)
SECONDS = WORK / THREADS**0.8 / NODES * np.exp(0.02 * RNG.normal(size=ROWS))
RUNS = {"app": APP, "nodes": NODES, "threads": THREADS, "runtime_s": SECONDS}


def reports(
    more: Mapping[str, Sequence[object]], study: Study | None = None
) -> dict[str, ColumnReport]:
    table = read({name: np.asarray(cells).tolist() for name, cells in {**RUNS, **more}.items()})
    return {report.name: report for report in infer(table, study)[1]}


def role(cells: Sequence[object], name: str = "vunkel") -> Role:
    return reports({name: cells})[name].role


def noisy(values: np.ndarray, digits: int = 6) -> list[float]:
    noise = np.exp(0.05 * np.random.default_rng(9).normal(size=ROWS))
    return [float(f"{value:.{digits}g}") for value in values * noise]


def test_what_varies_with_settings_is_measured_whatever_its_name() -> None:
    found = reports({"vunkel": noisy(SECONDS * 0.3)})["vunkel"]
    assert found.role is Role.OUTCOME
    assert "varies with" in found.note
    assert role(np.rint(SECONDS * 1e6).astype(int)) is Role.OUTCOME


def test_a_few_repeated_values_are_a_choice() -> None:
    assert role(RNG.choice([0.25, 0.5, 0.75], ROWS)) is Role.OUTCOME  # behind the results
    cells = {"vunkel": RNG.choice([0.25, 0.5, 0.75], ROWS).tolist()}
    table = read({**cells, **{name: values.tolist() for name, values in RUNS.items()}})
    assert infer(table)[0]["vunkel"].role is Role.KNOB


def test_a_time_with_a_few_plain_values_was_set() -> None:
    cells = {"time": RNG.choice([60, 120, 240], ROWS).tolist()}
    table = read({**cells, **{name: values.tolist() for name, values in RUNS.items()}})
    assert infer(table)[0]["time"].role is Role.KNOB


def test_counters_are_ignored_and_the_note_says_how_to_ask_for_them() -> None:
    cells = np.rint(SECONDS * 1e9).astype(int)
    for name in ("cache-misses", "sched:sched_switch", "PAPI_TOT_INS", "uncore_imc_0/cas/"):
        found = reports({name: cells})[name]
        assert found.role is Role.IGNORED
        assert f"--role {name}=outcome to ask for it" in found.note


def test_cycles_are_a_result_unless_they_are_one_counter_of_many() -> None:
    cells = np.rint(SECONDS * 2.4e9).astype(int)
    assert role(cells, "Cycles") is Role.OUTCOME
    many = {f"PAPI_{name}": cells + n for n, name in enumerate("ABCDEFGH")}
    found = reports({"Cycles": cells, **many, "dsb2mite": cells * 3 + 1})
    assert found["Cycles"].role is Role.IGNORED
    assert found["dsb2mite"].role is Role.IGNORED
    assert "stands among 9 counters" in found["dsb2mite"].note


def test_counters_that_describe_the_program_are_context() -> None:
    misses = np.select([APP == "amg", APP == "comd"], [911_233, 52_177], 7_733)
    found = reports({"llc_misses": misses})["llc_misses"]
    assert found.role is Role.CONTEXT
    assert found.note == "follows from app"


def test_what_follows_from_the_context_is_context_too() -> None:
    atoms = np.select([APP == "amg", APP == "comd"], [4000, 32000], 256000)
    assert role(atoms) is Role.CONTEXT


def test_a_total_of_settings_follows_from_them() -> None:
    found = reports({"total_threads": THREADS * NODES})["total_threads"]
    assert found.role is Role.IGNORED
    assert found.note == "follows from nodes and threads; --role total_threads=knob to set it"
    assert role(THREADS * NODES, "ranks") is Role.KNOB  # may be set, and nodes follow


def test_families_share_a_role() -> None:
    cells = noisy(np.full(ROWS, 3.0))
    found = reports({"quorb_p50": cells, "quorb": noisy(SECONDS)})
    assert found["quorb"].role is Role.OUTCOME
    assert found["quorb_p50"].role is Role.OUTCOME


def test_namespaces_of_trackers_of_experiments() -> None:
    cells = RNG.random(ROWS)
    found = reports({"params_a": cells, "params_b": cells * 2 + cells**2, "params_c": cells**3})
    assert {found[f"params_{name}"].role for name in "abc"} == {Role.KNOB}
    assert reports({"config.zeta": cells})["config.zeta"].role is Role.KNOB
    assert reports({"summary.zeta": THREADS})["summary.zeta"].role is Role.OUTCOME


def test_labels_of_success_and_exit_codes_are_results() -> None:
    assert role(RNG.choice(["PASSED", "FAILED", "TIMEOUT"], ROWS)) is Role.OUTCOME
    assert role(RNG.choice([0, 1, 137], ROWS)) is Role.OUTCOME


def test_labels_of_hardware_are_context() -> None:
    cells = {"vunkel": RNG.choice(["NVIDIA A100", "AMD MI250X"], ROWS).tolist()}
    table = read({**{name: values.tolist() for name, values in RUNS.items()}, **cells})
    assert infer(table)[0]["vunkel"].role is Role.CONTEXT


def test_settings_that_were_drawn_at_random_are_knobs() -> None:
    learning, decay = np.exp(RNG.normal(size=(2, ROWS)))
    loss = learning**0.5 + decay + 0.1 * RNG.random(ROWS)
    table = read({"zaffa": learning.tolist(), "zaffb": decay.tolist(), "loss": loss.tolist()})
    space, _ = infer(table)
    assert space.having(Role.KNOB) == ("zaffa", "zaffb")
    assert space.having(Role.OUTCOME) == ("loss",)


def test_an_unsure_role_is_asked_with_reasons_and_alternatives() -> None:
    cells = {"N": RNG.choice([1000, 2000, 4000], ROWS), **RUNS}
    (report, *_) = infer(read({name: np.asarray(c).tolist() for name, c in cells.items()}))[1]
    question = report.question
    assert report.role is Role.CONTEXT
    assert question is not None
    assert question.alternatives == (Role.KNOB,)
    assert ReasonCode.NAME in {reason.code for reason in question.reasons}
    assert 0 < question.chance < 1
    assert question.why == "context (by its name), or a knob (3 repeated values)"


def test_what_a_study_states_is_not_asked_and_tells_of_others() -> None:
    cells = {"zor_a": RNG.choice([1000, 2000], ROWS), "N": RNG.choice([1000, 2000], ROWS)}
    study = Study(columns={"N": ColumnChoice(role=Role.KNOB)})
    found = reports(cells, study)["N"]
    assert (found.role, found.question, found.stated) == (Role.KNOB, None, True)


def test_something_is_always_left_to_learn_from() -> None:
    values = np.exp(RNG.normal(size=(6, 200)))
    values[1:] += values[0]
    columns = {f"g{name}": column.tolist() for name, column in zip("abcdef", values, strict=True)}
    space, _ = infer(read({**columns, "class": ["x", "y"] * 100}))
    assert space.having(Role.KNOB)
    assert space.having(Role.OUTCOME) == ("class",)


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_tables_of_hardly_any_rows(rows: int) -> None:
    table = read({"threads": list(range(rows)), "x": [0.5] * rows, "app": ["a"] * rows})
    assert len(infer(table)[1]) == 3


def test_the_guess_does_not_depend_on_how_the_table_was_read() -> None:
    first = reports({"vunkel": noisy(SECONDS)})
    assert first == reports({"vunkel": noisy(SECONDS)})
