"""Questions about machines, against a roofline: the truth is at hand, and was never seen."""

import numpy as np
import pyarrow as pa
import pytest
from tests.platforms.machine_law import MACHINES, roofline_table

import compass as cp
from compass.domain.answer import Label
from compass.domain.errors import BaselineProblem, StudyProblem, UnknownName
from compass.platforms import AskOptions, ask, match

ASKED = "app03"
IGNORED = ("PAPI_TOT_INS", "PAPI_LD_INS", "flops", "bytes")
CHOICE = {"prices": {"lassen": 9.0, "quartz": 1.0}, "power": {"lassen": 300.0}}
STUDY = {"columns": {n: {"role": "ignored"} for n in IGNORED}, "machines": CHOICE}


def table(*, elsewhere: bool = False) -> pa.Table:
    """Fourteen applications on four machines; `ASKED` on quartz only, or elsewhere only."""
    arrow = roofline_table(14).arrow
    ran = zip(arrow["app"].to_pylist(), arrow["machine"].to_pylist(), strict=True)
    return arrow.filter(
        pa.array([app != ASKED or (machine != "quartz") == elsewhere for app, machine in ran])
    )


def truth(machine: str, size: int, runs: pa.Table | None = None) -> float:
    """The runtime of `ASKED`, with the noise of a measurement."""
    hidden = table(elsewhere=machine != "quartz") if runs is None else runs
    found = [
        row["runtime"]
        for row in hidden.to_pylist()
        if (row["app"], row["machine"], row["size"]) == (ASKED, machine, size)
    ]
    return float(np.median(found))


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    return cp.Compass(cp.read(table(), study=STUDY))


def row_of(size: int) -> int:
    rows = table().to_pylist()
    return next(i for i, r in enumerate(rows) if (r["app"], r["size"]) == (ASKED, size))


def test_a_what_if_on_another_machine_is_told_by_other_applications(engine: cp.Compass) -> None:
    answer = engine.what_if(row_of(4), {"machine": "lassen"})
    (told,) = answer
    runtime = told.outcome("runtime")
    measured = truth("lassen", 4)
    assert runtime.value == pytest.approx(measured, rel=0.2)
    assert runtime.low <= measured <= runtime.high
    assert runtime.level == 0.9
    assert runtime.before == pytest.approx(truth("quartz", 4), rel=1e-3)
    assert runtime.change == pytest.approx(runtime.value - runtime.before)
    assert told.trust.label is Label.TRUSTED
    assert "13 applications known on lassen" in told.trust.reason
    assert told.config["machine"] == "lassen"
    assert [(move.name, move.old, move.new) for move in told.edits] == [
        ("machine", "quartz", "lassen")
    ]
    assert engine.learnt == ()  # no model of all columns was needed
    assert answer.models[0].error < 0.2


def test_the_past_runs_behind_it_are_rows_of_other_applications(engine: cp.Compass) -> None:
    (told,) = engine.what_if(row_of(4), {"machine": "corona"})
    assert len(told.trust.evidence) == 6
    machines = set()
    for one in told.trust.evidence:
        row = engine.data.row(one.row)
        assert row["app"] == one.config["app"] != ASKED
        assert row["runtime"] == one.outcomes["runtime"]
        machines.add(row["machine"])
    assert machines == {"quartz", "corona"}


def test_all_machines_come_in_order_with_chances_cost_and_energy(engine: cp.Compass) -> None:
    answer = engine.recommend(
        ["machine"], {"runtime": cp.minimize}, where=[f"app == '{ASKED}'", "size == 8"], count=4
    )
    true_order = sorted(MACHINES, key=lambda machine: truth(machine, 8))
    assert [one.config["machine"] for one in answer] == true_order
    assert answer.machines is not None
    (line,) = answer.machines.lines
    by_name = {one.machine: one for one in line.machines}
    assert sum(one.fastest for one in line.machines) == pytest.approx(1)
    assert by_name["lassen"].cost == pytest.approx(9 * by_name["lassen"].runtime)
    assert by_name["lassen"].energy == pytest.approx(300 * by_name["lassen"].runtime)
    assert by_name["quartz"].cost == pytest.approx(truth("quartz", 8), rel=1e-3)
    assert by_name["corona"].cost is None
    assert by_name["quartz"].measured
    # The same as the part of Compass that knows nothing of engines.
    matched = match(engine.data.table, engine.data.machines.columns)
    alone = ask(matched, ASKED, "quartz", AskOptions(seed=engine.settings.seed))
    same = next(one for one in alone.lines if one.configuration == line.configuration)
    for one in same.machines:
        assert one.ratio == pytest.approx(by_name[one.machine].ratio)


def test_conditions_say_which_machines_are_meant(engine: cp.Compass) -> None:
    where = [f"app == '{ASKED}'", "size == 8", "machine in {'ruby', 'quartz'}"]
    answer = engine.recommend(["machine"], {"runtime": cp.minimize}, where=where)
    assert [one.config["machine"] for one in answer] == ["ruby", "quartz"]


def test_machine_and_configuration_are_asked_for_together(engine: cp.Compass) -> None:
    limit = 1.05 * truth("quartz", 2)
    answer = engine.recommend(
        ["machine", "size"],
        {"runtime": cp.at_most(limit)},
        where=[f"app == '{ASKED}'", "size >= 2"],
        count=50,
    )
    found = {(one.config["machine"], one.config["size"]) for one in answer}
    assert ("quartz", 2.0) in found
    for machine, size in found:
        assert truth(str(machine), int(size)) <= 1.2 * limit
    for one in answer:
        assert one.outcomes[0].chance >= 0.8
        assert one.meets_goals
    assert ("quartz", 4.0) in {(i.config["machine"], i.config["size"]) for i in answer.ideas}


def test_a_run_is_proposed_where_the_order_is_open(engine: cp.Compass) -> None:
    where = [f"app == '{ASKED}'", "size == 2"]
    question = {"ask": ["machine"], "goals": {"runtime": cp.minimize}, "where": where}
    answer = engine.recommend(**question)
    line = answer.machines.lines[0]
    best = line.run_next[0]
    assert [one.config["machine"] for one in answer.run_next] == [best.machine]
    assert "in the wrong order" in answer.run_next[0].why
    text = answer.text
    (first, second) = engine.run_next(2, text)
    assert first.id == answer.run_next[0].id
    again = engine.run_next(1, text, pending=[first])
    assert [one.id for one in again] == [second.id]


def test_a_run_on_the_target_is_taken_in(engine: cp.Compass) -> None:
    fresh = cp.Compass(cp.read(table(), study=STUDY), surrogate="forest")
    hidden = table(elsewhere=True)
    ran = [(r["machine"], r["app"], r["size"]) for r in hidden.to_pylist()]
    one = hidden.filter(pa.array([key == ("lassen", ASKED, 1) for key in ran]))
    before = fresh.what_if(row_of(1), {"machine": "lassen"})[0].outcomes[0]
    fresh.tell(one)
    after = fresh.what_if(row_of(1), {"machine": "lassen"})
    assert after[0].outcomes[0].value == pytest.approx(truth("lassen", 1), rel=1e-3)
    assert "measured" in after[0].trust.reason
    assert after.run_next == ()
    other = fresh.what_if(row_of(8), {"machine": "lassen"})[0].outcomes[0]
    assert abs(np.log(other.value / truth("lassen", 8))) <= 0.1
    assert other.value == pytest.approx(truth("lassen", 8), rel=0.1)
    assert before.low < truth("lassen", 1) < before.high


def test_a_profile_of_its_own_is_a_baseline(engine: cp.Compass) -> None:
    row = dict(engine.data.row(row_of(4)))
    known = engine.what_if(row_of(4), {"machine": "lassen"})[0].outcomes[0]
    strange = row | {"size": 3, "app": "app03"}
    alike = engine.what_if(strange, {"machine": "lassen"}, prove=0)
    assert alike[0].outcomes[0].value == pytest.approx(known.value, rel=0.3)
    assert alike.query.baseline.counters.keys() == set(IGNORED)
    # Its text says everything: the same question again, from the text.
    assert engine.ask(alike.text)[0].outcomes == alike[0].outcomes


def test_other_outcomes_are_told_beside_the_runtime() -> None:
    arrow = table()
    power = [MACHINES[m][1] / 1e9 for m in arrow["machine"].to_pylist()]
    both = arrow.append_column("power", pa.array(power))
    study = STUDY | {"columns": STUDY["columns"] | {"power": {"role": "outcome"}}}
    engine = cp.Compass(cp.read(both, study=study), surrogate="forest")
    assert engine.to_learn("What if we change X = {machine: old -> 'ruby'} from row 0") == (
        "power",
    )
    answer = engine.what_if(0, {"machine": "ruby"})
    assert [one.name for one in answer[0].outcomes] == ["runtime", "power"]
    assert [card.target for card in answer.models] == ["runtime", "power"]
    assert any("across machines" in note for note in answer.notes)


def test_what_cannot_be_told_across_machines_says_why(engine: cp.Compass) -> None:
    quick = cp.Compass(engine.data, surrogate="forest")
    answer = quick.recommend(["machine"], {"runtime": cp.minimize}, prove=0)
    assert any("14 applications match: name one" in note for note in answer.notes)
    assert answer.machines is None
    answer = quick.what_if(None, {"machine": "lassen"}, ["runtime"])
    assert answer.population is not None


def test_a_row_that_is_not_there_is_told(engine: cp.Compass) -> None:
    with pytest.raises(BaselineProblem, match="there is no row 99999"):
        engine.ask("What if we change X = {machine: old -> 'lassen'} from row 99999")


def test_few_applications_are_no_ground() -> None:
    arrow = roofline_table(2).arrow
    quick = cp.Compass(cp.read(arrow, study=STUDY | {"machines": {}}), surrogate="forest")
    answer = quick.what_if(0, {"machine": "lassen"}, prove=0)
    assert answer.machines is None
    assert any("are needed to learn from" in note for note in answer.notes)


def test_the_study_names_the_columns() -> None:
    renamed = table().rename_columns(["where", "what", "size", "took", *IGNORED])
    named = {"machine": "where", "application": "what", "runtime": "took"}
    roles = {"took": {"role": "outcome"}, "where": {"role": "context"}}
    engine = cp.Compass(
        cp.read(renamed, study={"columns": STUDY["columns"] | roles, "machines": named})
    )
    answer = engine.what_if(row_of(4), {"where": "lassen"})
    assert answer[0].outcome("took").value == pytest.approx(truth("lassen", 4), rel=0.2)
    wrong = cp.read(renamed, study={"machines": named | {"machine": "wher"}})
    with pytest.raises(UnknownName, match="did you mean where"):
        _ = wrong.machines
    half = cp.read(renamed, study=STUDY | {"machines": {"machine": "where"}})
    with pytest.raises(StudyProblem, match="the application or the runtime is not known"):
        _ = half.machines
    with pytest.raises(StudyProblem, match="price"):
        cp.read(renamed, study={"machines": {"price": {"lassen": 1}}})


def test_an_application_never_run_is_told_by_its_profile(engine: cp.Compass) -> None:
    row = dict(engine.data.row(row_of(4))) | {"app": "mine"}
    answer = engine.what_if(row, {"machine": "lassen"})
    assert answer[0].config == {"machine": "lassen", "app": "mine", "size": 4}
    assert answer[0].outcomes[0].value == pytest.approx(truth("lassen", 4), rel=0.2)
    assert engine.ask(answer.text)[0].outcomes == answer[0].outcomes
    with pytest.raises(UnknownName, match="no value of app named 'mine'"):
        engine.what_if(row, {"size": 8})
