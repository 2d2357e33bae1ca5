"""The table obeys its rules, tools are judged by arithmetic, and missed targets are named."""

import itertools
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import exact, growth
from benchmarks.chart import Panel, svg
from benchmarks.peers import __main__ as peers
from benchmarks.peers import jobs
from benchmarks.peers.case import (
    VARIANTS,
    Case,
    Question,
    Reply,
    Sheet,
    limits,
    load,
    load_sheets,
    movable,
    save_sheets,
)
from benchmarks.peers.forest import grow
from benchmarks.peers.judge import beaten, distance, faults, judge, nearer
from benchmarks.peers.prepare import FASTER, choose
from compass.domain.space import Category, Number, Role, Space
from compass.language import parse_rule
from compass.prepare.study_file import study_of
from compass.rules import compile_rule

PLACE = {name: j for j, name in enumerate(jobs.NAMES)}


def job(**changed: float) -> np.ndarray:
    base = {
        "solver": 0, "mesh": 100, "nodes": 4, "tasks": 64, "threads": 2, "gpus": 4, "memory": 500,
        "walltime": 10, "frequency": 2.4, "partition": 3, "filesystem": 2, "qos": 2,
    }  # fmt: skip
    return np.array([float((base | changed)[name]) for name in jobs.NAMES])


def small_case(questions: tuple[Question, ...]) -> Case:
    X, y = jobs.table(400, 5)
    labels = np.array([column.is_label for column in jobs.COLUMNS])
    scale = tuple(np.where(labels, 1.0, X.std(axis=0)))
    return Case(X, y, scale, 5, 4, 3, questions, questions[0])


def test_every_job_obeys_every_rule_and_range() -> None:
    X, y = jobs.table(5000, 1)
    assert len(jobs.RULES) == 5
    for rule in jobs.RULES:
        assert rule.excess(X, jobs.NAMES).max() <= 0
    for column, values in zip(jobs.COLUMNS, X.T, strict=True):
        assert all(column.allows(value) for value in values)
    assert (y > 0).all()


def test_the_table_repeats_and_has_noise() -> None:
    X, y = jobs.table(300, 9)
    again, also = jobs.table(300, 9)
    assert (again == X).all()
    assert (y == also).all()
    ratio = np.log(y / jobs.runtime(X))
    assert ratio.std() == pytest.approx(jobs.NOISE, rel=0.2)


def test_rules_can_be_broken_by_jobs_that_are_legal_otherwise() -> None:
    broken = {
        "gpus <= 4 * nodes": job(gpus=17),
        "tasks >= nodes": job(tasks=3),
        "tasks <= 64 * nodes": job(tasks=257),
        "memory <= 256 * nodes": job(memory=1025),
        "nodes + walltime <= 96": job(nodes=40, walltime=57),
    }
    for rule in jobs.RULES:
        row = broken[rule.text]
        assert [r.text for r in jobs.RULES if r.excess(row[None, :], jobs.NAMES)[0] > 0] == [
            rule.text
        ]


def test_the_rules_as_text_say_the_same_as_their_terms() -> None:
    parameters = tuple(
        Category(name=c.name, role=Role.KNOB, values=c.labels)
        if c.labels
        else Number(
            name=c.name, role=Role.KNOB, low=c.low, high=c.high, step=1 if c.whole else None
        )
        for c in jobs.COLUMNS
    )
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.integers(c.low, c.top + 1, 400) for c in jobs.COLUMNS]).astype(float)
    for rule in jobs.RULES:
        space = Space(parameters=parameters)
        said = compile_rule(parse_rule(rule.text), space, jobs.NAMES, rule.text)
        assert (said.holds(X) == (rule.excess(X, jobs.NAMES) <= 0)).all()
    assert study_of(jobs.study()).rules == tuple(rule.text for rule in jobs.RULES)


def test_jobs_survive_decoding() -> None:
    for row in jobs.draw(50, np.random.default_rng(2)):
        assert (jobs.encode(jobs.decode(row)) == row).all()
    config = jobs.decode(job()) | {"partition": "nowhere"}
    assert np.isnan(jobs.encode(config)[PLACE["partition"]])


def test_limits_are_what_the_rules_leave() -> None:
    start = job()
    left = limits(start, "fixed")
    assert set(left) == set(movable("fixed")) == set(jobs.NAMES) - set(jobs.FIXED)
    assert left["tasks"] == (4, 256)
    assert left["walltime"] == (1, 72)
    assert left["frequency"] == (1.2, 3.6)
    assert limits(job(nodes=60, tasks=60), "fixed")["walltime"] == (1, 36)
    # With everything free no rule narrows a range on its own.
    assert limits(start, "free")["tasks"] == (1, 4096)


def test_limits_hold_every_job_that_obeys_the_rules() -> None:
    start = job(nodes=50, tasks=900)
    left = limits(start, "fixed")
    for tasks, hours in itertools.product(range(1, 4097, 7), range(1, 73)):
        row = job(nodes=50, tasks=tasks, walltime=hours)[None, :]
        if all(rule.excess(row, jobs.NAMES)[0] <= 0 for rule in jobs.RULES):
            assert left["tasks"][0] <= tasks <= left["tasks"][1]
            assert left["walltime"][0] <= hours <= left["walltime"][1]


def test_distance_by_hand() -> None:
    scale = np.full(len(jobs.NAMES), 2.0)
    X = np.array([job(), job(mesh=103, partition=0), job(frequency=2.9, solver=4)])
    assert distance(X, job(), scale) == pytest.approx([0.0, 2.5, 1.25])


@pytest.mark.parametrize(
    ("row", "variant", "predicted", "expected"),
    [
        (job(mesh=90), "free", 100.0, ()),
        (job(mesh=90), "free", 100.1, ("goal",)),
        (job(mesh=90.5), "free", 90.0, ("illegal value",)),
        (job(frequency=2.7183), "free", 90.0, ()),
        (job(frequency=3.7), "free", 90.0, ("illegal value",)),
        (job(partition=4), "free", 90.0, ("illegal value",)),
        (job(gpus=17), "free", 90.0, ("rule",)),
        (job(gpus=5), "free", 90.0, ()),
        (job(gpus=5), "fixed", 90.0, ("moved what was fixed",)),
        (job(tasks=257, mesh=9), "free", 200.0, ("illegal value", "rule", "goal")),
        (job(partition=np.nan), "free", 90.0, ("not a value",)),
    ],
)
def test_faults(row: np.ndarray, variant: str, predicted: float, expected: tuple[str, ...]) -> None:
    assert faults(row, Question(tuple(job()), 100.0), variant, predicted) == expected


def sheet(tool: str, *rows: np.ndarray, seconds: float = 1.0, variant: str = "free") -> Sheet:
    said = tuple(float(law(row[None, :])[0]) for row in rows)
    reply = Reply(seconds, 0.01, tuple(map(tuple, rows)), said)
    return Sheet(tool, variant, max(len(rows), 1), "", (reply,), (float(law(job()[None, :])[0]),))


def law(X: np.ndarray) -> np.ndarray:
    return X[:, PLACE["mesh"]]


def test_a_sheet_is_judged_by_its_closest_usable_suggestion() -> None:
    case = small_case((Question(tuple(job()), 95.0),))
    near, far, wrong = job(mesh=94), job(mesh=60), job(mesh=94, gpus=17)
    step = case.scale[PLACE["mesh"]]
    verdict = judge(sheet("a", far, near, wrong, job(mesh=96)), case, law)
    assert (verdict.returned, verdict.usable, verdict.answered) == (4, 2, 1)
    assert verdict.closest == (pytest.approx(6 / step),)
    assert verdict.faults == {"rule": 1, "goal": 1}
    assert verdict.misreported == 0
    assert verdict.disagreement == 0
    nothing = judge(sheet("b"), case, law)
    assert nothing.closest == (np.inf,)
    assert (nothing.returned, nothing.answered) == (0, 0)


def test_reported_predictions_and_forests_that_differ_are_told() -> None:
    case = small_case((Question(tuple(job()), 95.0),))
    honest = sheet("a", job(mesh=90))
    lying = replace(honest, replies=(replace(honest.replies[0], reported=(80.0,)),), probe=(97.0,))
    verdict = judge(lying, case, law)
    assert verdict.misreported == 10
    assert verdict.disagreement == 3


def test_who_is_closer() -> None:
    case = small_case((Question(tuple(job()), 95.0),))
    near, far = (
        judge(sheet("a", job(mesh=94)), case, law),
        judge(sheet("b", job(mesh=88)), case, law),
    )
    none = judge(sheet("c"), case, law)
    assert beaten(near, far) == 0
    assert beaten(far, near) == 1
    assert beaten(near, near) == 0
    assert beaten(none, near) == 1
    assert beaten(near, none) == 0
    assert nearer(near, far) == pytest.approx(2.0)
    assert np.isnan(nearer(near, none))


def test_targets_that_are_missed_are_named() -> None:
    case = small_case((Question(tuple(job()), 95.0),))
    ours = judge(sheet("Compass, 1", job(mesh=88), seconds=0.1), case, law)
    theirs = judge(sheet("treecf", job(mesh=94), seconds=0.7), case, law)
    lines = {text: passed for passed, text in peers.checks([ours, theirs])}
    assert lines == {
        "Compass, 1, free: every suggestion usable (100%)": True,
        "treecf, free: 15x faster (7.00x)": False,
        "treecf, free: never farther (1 of 1)": False,
    }
    broken = judge(sheet("Compass, 1", job(mesh=88), job(gpus=17)), case, law)
    assert not all(passed for passed, _ in peers.checks([broken]))
    assert "7.0x faster" in peers.show([ours, theirs])


def test_ratios_do_not_count_how_busy_the_machine_was() -> None:
    case = small_case((Question(tuple(job()), 95.0),))
    quiet = sheet("treecf", job(mesh=94), seconds=0.8)
    busy = replace(quiet, replies=(replace(quiet.replies[0], seconds=1.6, pace=0.02),))
    ours = judge(sheet("Compass, 1", job(mesh=94), seconds=0.1), case, law)
    found = [peers.checks([ours, judge(one, case, law)]) for one in (quiet, busy)]
    assert found[0] == found[1]
    assert judge(busy, case, law).median == 1.6


def test_a_case_and_its_replies_survive_the_files(tmp_path: Path) -> None:
    case = small_case((Question(tuple(job()), 95.0), Question(tuple(job(mesh=50)), 40.0)))
    case.save(tmp_path)
    again = load(tmp_path)
    assert (again.X == case.X).all()
    assert (again.y == case.y).all()
    assert (again.questions, again.warm, again.scale) == (case.questions, case.warm, case.scale)
    sent = replace(
        sheet("a", job(mesh=90)), replies=(Reply(0.5, 0.01, ((1.0, np.nan),), (np.nan,), "x"),)
    )
    save_sheets(tmp_path / "a.json", [sent])
    (back,) = load_sheets(tmp_path / "a.json")
    assert back.replies[0].note == "x"
    assert np.array_equal(back.replies[0].rows, sent.replies[0].rows, equal_nan=True)
    assert np.isnan(back.replies[0].reported[0])


def test_questions_can_be_answered_without_moving_what_is_fixed() -> None:
    case = small_case((Question(tuple(job()), 95.0),))
    predict = grow(case).predict
    found = choose(predict, 3, np.random.default_rng(8))
    assert len(found) == 3
    for question in found:
        start = question.row
        assert question.ceiling == pytest.approx((1 - FASTER) * predict(start[None, :])[0])
        assert all(rule.excess(start[None, :], jobs.NAMES)[0] <= 0 for rule in jobs.RULES)
    with pytest.raises(RuntimeError, match="only 0"):
        choose(lambda X: np.ones(len(X)), 1, np.random.default_rng(8))


def test_every_variant_fixes_what_it_says() -> None:
    assert set(VARIANTS) == {"free", "fixed"}
    assert movable("free") == jobs.NAMES
    assert not set(movable("fixed")) & set(jobs.FIXED)


def outcome(**changed: object) -> exact.Outcome:
    base = exact.Outcome(found=1.0, best=1.0, status="optimal", gap=0.0, search=0.1, proof=0.4)
    return replace(base, **changed)  # type: ignore[arg-type]


def test_the_search_equals_only_a_proven_optimum() -> None:
    assert outcome().equal
    assert not outcome(best=0.9).equal
    assert not outcome(status="best found").equal
    assert outcome(found=np.inf, best=np.inf, status="infeasible").equal
    assert not outcome(found=np.inf, best=1.0).equal


def test_missed_proofs_are_named() -> None:
    assert exact.missed("free", [outcome()] * 20) == []
    assert len(exact.missed("free", [outcome()] * 18 + [outcome(best=0.5)] * 2)) == 1
    slow = [outcome()] * 19 + [outcome(proof=6.0)]
    assert "longest" in exact.missed("free", slow)[0]
    assert len(exact.missed("free", [outcome(status="best found")] * 20)) == 3


@pytest.mark.parametrize("varied", list(growth.VARIED))
def test_growing_tables_obey_their_rules(varied: str) -> None:
    for value in growth.VARIED[varied]:
        shape = replace(growth.Shape(), **{varied: value})
        shape = replace(shape, rows=300)
        made = growth.make(shape, np.random.default_rng(1))
        assert made.X.shape == (300, shape.parameters)
        assert len(made.rules) == shape.rules
        pairs = growth.pairs_of(made.kinds, shape.rules)
        assert len(set(pairs)) == shape.rules
        for i, j in pairs:
            assert (made.X[:, i] + made.X[:, j]).max() <= growth.ROOM * growth.LEVELS
        for j, kind in enumerate(made.kinds):
            top = len(growth.LABELS) - 1 if kind == "label" else growth.LEVELS
            assert made.X[:, j].max() <= top
        assert made.Y.shape == (300, shape.outcomes)
        assert (made.Y > 0).all()


def test_the_picture_is_an_svg_with_a_point_per_measurement() -> None:
    points = [
        growth.Point("rows", n, 1.0, 0.01 * n, 0.02 * n, 3, 3, 9.0, 5.0, 1.0) for n in (1, 10, 100)
    ]
    points += [growth.Point("rules", n, 1.0, 0.5, 0.6, 3, 3, 9.0, 5.0, 1.0) for n in (0, 5)]
    root = ET.fromstring(growth.picture(points))
    circles = root.findall(".//{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 2 * len(points)
    lines = growth.show(points).splitlines()
    assert len(lines) == 2 + len(points)


def test_charts_are_logarithmic_upwards() -> None:
    text = svg([Panel("a & b", {"one": [(0, 1.0), (1, 10.0), (2, 100.0)]})], "ms")
    root = ET.fromstring(text)
    heights = [float(c.get("cy", "nan")) for c in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)
    assert "a &amp; b" in text
