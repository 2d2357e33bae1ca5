"""Laws obey their rules, answers are judged by hand-made truth, and missed targets are named."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compass as cp
from benchmarks.oneshot import Space
from benchmarks.roles import sources
from benchmarks.word import __main__ as word
from benchmarks.word import exhaustive, first, goals, labels, peers
from benchmarks.word.analytic import analytic
from benchmarks.word.case import Case, Reply, load, load_replies, ranges, save_replies
from benchmarks.word.judge import Outcome, Share, share, summary
from benchmarks.word.laws import BINDINGS, CLUSTER, COMPLETED, JOBS, LAWS, TIMEOUT, JobLaw
from benchmarks.word.lookup import FILE
from benchmarks.word.questions import AT_MOST, REDUCE, STATE, Question, fresh_runs, questions
from compass.domain.answer import Label, Moved, Prediction, Provenance, Suggestion, Trust
from compass.domain.query import Kind, Query
from compass.language import parse_rule
from compass.prepare.geometry import Geometry
from compass.prepare.study_file import study_of

LABELS = ("trusted", "caution")
RUN: dict[str, Any] = {
    "app": "md", "class": "B", "nodes": 4, "tasks": 64, "threads": 2, "memory": 256,
    "frequency": 2.4, "binding": "none", "limit": 100,
}  # fmt: skip


def suggestion(config: dict[str, Any], distance: float = 1.0, forced: str = "") -> Suggestion:
    said = Prediction(name="seconds", value=1.0, low=0.5, high=2.0, chance=0.9)
    edits = (Moved(name=forced, old=1, new=2, forced_by="a rule"),) if forced else ()
    trust = Trust(label=Label.TRUSTED, ood=0, uq=0, support=1, tau=1, reason="")
    return Suggestion(
        config=config, settings={}, edits=edits, outcomes=(said,), distance=distance,
        meets_goals=True, trust=trust,
    )  # fmt: skip


def answer(*suggestions: Suggestion, no_answer: str | None = None) -> cp.Answer:
    return cp.Answer(
        query=Query(kind=Kind.RECOMMEND, ask=("nodes",), goals={"seconds": cp.minimize}),
        text="",
        suggestions=suggestions,
        no_answer=no_answer,
        provenance=Provenance(data="", seed=0, versions={}),
    )


def question(ceiling: float, kind: str = REDUCE, free: tuple[str, ...] = CLUSTER.knobs) -> Question:
    start = tuple(CLUSTER.encode(RUN).tolist())
    return Question(3, kind, "", start, None, 1000.0, ceiling, free)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_every_drawn_run_is_legal(law: JobLaw) -> None:
    X, y = law.table(1500, 1)
    assert (y > 0).all()
    for row in X:
        assert law.faults(row, row, ()) == ()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_the_study_states_the_rules_that_the_judge_checks(law: JobLaw) -> None:
    study = study_of(law.study(), where="a law")
    assert len(study.rules) == len(law.rules)
    for rule in law.rules:
        parse_rule(rule.text)
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.uniform(c.low, c.top, 300).round() for c in law.columns])
    for rule in law.rules:
        left, sign, right = rule.text.replace(">=", "|>=|").replace("<=", "|<=|").split("|")
        for row in X:
            at = dict(zip(law.names, row.tolist(), strict=True))
            difference = eval(left, {}, at) - eval(right, {}, at)  # the text, as arithmetic
            holds = difference >= 0 if sign == ">=" else difference <= 0
            assert holds == (rule.excess(row[None, :], law.names)[0] <= 0)


def test_the_noise_is_that_of_the_law() -> None:
    for law in LAWS:
        X, y = law.table(6000, 2)
        spread = float(np.log(y / law.formula(X)).std())
        assert spread == pytest.approx(law.noise, rel=0.05)


def test_settings_of_the_second_law_work_on_each_other() -> None:
    """Which binding is best depends on the application and its threads."""

    def best(app: str, tasks: int, threads: int) -> str:
        run = RUN | {"app": app, "tasks": tasks, "threads": threads}
        times = {b: CLUSTER.value(CLUSTER.encode(run | {"binding": b})) for b in BINDINGS}
        return min(times, key=times.__getitem__)

    assert best("md", 16, 16) == "compact"
    assert best("cfd", 128, 1) == "scatter"


def test_the_second_law_varies_one_setting_at_a_time() -> None:
    X, _ = CLUSTER.table(400, 3)
    threads = CLUSTER.names.index("threads")
    others = np.delete(X, threads, axis=1)
    _, kind = np.unique(others, axis=0, return_inverse=True)
    values = [len(set(X[kind.ravel() == k, threads])) for k in set(kind.ravel().tolist())]
    assert sum(count >= 3 for count in values) >= 3


def test_a_run_over_its_limit_times_out() -> None:
    row = CLUSTER.encode(RUN)
    assert CLUSTER.state(row, 6000.0) == COMPLETED
    assert CLUSTER.state(row, 6000.1) == TIMEOUT
    with pytest.raises(ValueError, match="no limit"):
        JOBS.state(JOBS.draw(1, np.random.default_rng(1))[0], 1.0)


def test_encode_and_decode_are_inverse() -> None:
    for law in (*LAWS, *analytic()):
        for row in law.draw(20, np.random.default_rng(4)):
            assert np.array_equal(law.encode(law.decode(row)), row)


def test_faults_name_what_is_wrong() -> None:
    start = CLUSTER.encode(RUN)
    free = ("nodes", "tasks")
    assert CLUSTER.faults(CLUSTER.encode(RUN | {"tasks": 3}), start, free) == ("rule",)
    assert CLUSTER.faults(CLUSTER.encode(RUN | {"nodes": 33}), start, free)[0] == "illegal value"
    moved = CLUSTER.faults(CLUSTER.encode(RUN | {"threads": 4}), start, free)
    assert moved == ("moved what was fixed",)
    assert CLUSTER.faults(CLUSTER.encode(RUN | {"app": "xx"}), start, free) == ("not a value",)


def test_questions_repeat_and_can_be_judged() -> None:
    for law in LAWS:
        X, y = law.table(600, law.seed)
        asked = questions(law, X, y, 24)
        assert asked == questions(law, X, y, 24)
        assert {q.kind for q in asked} == {REDUCE, AT_MOST, *([STATE] if law.limit else [])}
        for one in asked:
            assert not set(one.free) & set(law.context)
            if one.past is not None:
                assert one.start == tuple(X[one.past])
                assert one.measured == y[one.past]
            if one.kind == REDUCE:
                assert one.measured is not None
                assert one.ceiling < one.measured
            if one.kind == STATE:
                assert one.measured is not None
                assert law.state(one.row, one.measured) == TIMEOUT
        assert any(q.past is None and q.measured is not None for q in asked)  # held-out runs


def test_the_same_question_has_the_same_luck() -> None:
    rows = np.array([CLUSTER.encode(RUN), CLUSTER.encode(RUN | {"nodes": 8})])
    both, one = (fresh_runs(CLUSTER, question(1.0), part) for part in (rows, rows[:1]))
    assert both[0] == one[0]
    assert both[0] / CLUSTER.value(rows[0]) != both[1] / CLUSTER.value(rows[1])


# The interval by its definition: the shares p with |x/n - p| <= z sqrt(p (1 - p) / n).
@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_ends_solve_its_equation(case: tuple[int, int]) -> None:
    hits, of = case
    low, high = Share(hits, of).ends
    assert 0 <= low <= hits / of <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert abs(hits / of - end) == pytest.approx(
                1.959964 * math.sqrt(end * (1 - end) / of), rel=1e-5, abs=1e-9
            )


def test_wilson_interval_of_a_known_case() -> None:
    assert Share(8, 10).ends == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert Share(0, 0).ends == (0.0, 1.0)
    assert str(Share(0, 0)) == "-"
    assert str(share([True, True, False, True])) == "75.0% [30%, 95%]"


def test_an_answer_is_judged_by_a_new_run_and_by_the_law() -> None:
    value = CLUSTER.value(CLUSTER.encode(RUN))
    drawn = float(fresh_runs(CLUSTER, question(1.0), CLUSTER.encode(RUN)[None, :])[0])
    between = (value + drawn) / 2  # only one of them is below
    judged = goals.judged(CLUSTER, question(between), 0.8, answer(suggestion(RUN, 0.3)), 0.1)
    assert judged.answered
    assert judged.violations == 0
    assert judged.met == (drawn <= between) != judged.met_by_law
    assert (judged.truth, judged.value, judged.distance) == (value, drawn, 0.3)
    assert judged.stated == pytest.approx(0.9)


def test_any_of_the_suggestions_may_meet_the_goal() -> None:
    slow, fast = RUN | {"frequency": 1.2}, RUN | {"nodes": 16, "tasks": 512, "frequency": 3.0}
    ceiling = CLUSTER.value(CLUSTER.encode(fast)) * 1.6
    found = goals.judged(
        CLUSTER, question(ceiling), 0.5, answer(suggestion(slow), suggestion(fast)), 0.0
    )
    assert found.met is False
    assert found.any_met is True


def test_what_was_not_answered_is_neither_met_nor_missed() -> None:
    for said in (answer(), answer(suggestion(RUN), no_answer="not likely enough")):
        found = goals.judged(CLUSTER, question(1e9), 0.95, said, 0.0)
        assert not found.answered
        assert found.met is None
    told = summary("x", 0.95, [found])
    assert (told.asked, told.answered, told.met) == (1, 0, Share(0, 0))


def test_a_move_that_was_not_asked_for_needs_a_rule() -> None:
    free = tuple(n for n in CLUSTER.knobs if n != "limit")
    config = RUN | {"limit": 90}
    judged = goals.judged(CLUSTER, question(1e9, free=free), 0.8, answer(suggestion(config)), 0)
    assert (judged.violations, judged.forced) == (1, False)
    named = answer(suggestion(config, forced="limit"))
    judged = goals.judged(CLUSTER, question(1e9, free=free), 0.8, named, 0)
    assert (judged.violations, judged.forced) == (0, True)


def test_a_state_is_judged_by_the_limit_of_the_suggestion() -> None:
    seconds = CLUSTER.value(CLUSTER.encode(RUN))
    short, long = (RUN | {"limit": max(round(k * seconds / 60), 10)} for k in (0.5, 2))
    for config, met in ((short, False), (long, True)):
        asked = question(float("inf"), STATE)
        assert goals.judged(CLUSTER, asked, 0.8, answer(suggestion(config)), 0).met is met


def outcomes(met: int, of: int, chance: float, kind: str = REDUCE) -> list[Outcome]:
    return [
        Outcome("jobs", kind, "", i, chance, True, met=i < met, met_by_law=i < met, any_met=True)
        for i in range(of)
    ]


@pytest.mark.parametrize(
    ("met", "chance", "kind", "passed"),
    [
        (75, 0.80, REDUCE, False),
        (76, 0.80, REDUCE, True),
        (86, 0.80, REDUCE, True),
        (87, 0.80, REDUCE, False),
        (87, 0.80, AT_MOST, True),
        (91, 0.95, REDUCE, False),
        (92, 0.95, REDUCE, True),
    ],
)
def test_targets_of_goals(met: int, chance: float, kind: str, passed: bool) -> None:
    told = goals.summaries(outcomes(met, 100, chance, kind), [chance])
    checks = goals.checks(goals.parts(told))
    assert [check.passed for check in checks] == [passed]


def test_a_violation_misses_the_target() -> None:
    broken = [Outcome("jobs", REDUCE, "", 1, 0.5, True, met=True, violations=1)]
    checks = goals.checks(goals.parts(goals.summaries(broken, [0.5])))
    assert [check.passed for check in checks] == [False]


@pytest.fixture
def space() -> Space:
    data = cp.read({"a": [1, 2, 3], "t": [5.0, 3.0, None]}).roles(knobs=["a"], outcomes=["t"])
    X = np.array([[1.0], [2.0], [3.0]])
    return Space("s", data, data.study, ("a",), "t", X, np.array([5.0, 3.0, np.nan]))


@pytest.mark.parametrize(
    ("config", "met", "unknown"),
    [({"a": 2}, True, False), ({"a": 1}, False, False), ({"a": 3}, False, False)],
)
def test_exhaustive_tables_are_looked_up(
    space: Space, config: dict[str, Any], met: bool, unknown: bool
) -> None:
    asked = exhaustive.Asked(0, REDUCE, "", {}, 4.0, 0)
    found = exhaustive.judged(space, asked, 0.8, answer(suggestion(config)), 0.0)
    assert (found.met, found.unknown) == (met, unknown)


def test_what_a_table_does_not_hold_is_unknown(space: Space) -> None:
    only = Space("s", space.data, space.study, ("a",), "t", space.X[:2], space.y[:2])
    asked = exhaustive.Asked(0, REDUCE, "", {}, 4.0, 0)
    found = exhaustive.judged(only, asked, 0.8, answer(suggestion({"a": 3})), 0.0)
    assert found.met is None
    assert found.unknown
    told = summary("s", 0.8, [found])
    assert (told.answered, told.unknown, told.met.of) == (1, 1, 0)


def geometry(law: JobLaw) -> Geometry:
    category = np.array([column.is_label for column in law.columns])
    d = len(law.columns)
    return Geometry(np.ones(d), np.ones(d), category, np.full(d, np.nan))


def test_another_tool_is_judged_by_its_closest_legal_suggestion() -> None:
    start = question(1e9)
    near, far = (CLUSTER.encode(RUN | {"threads": t}) for t in (3, 5))
    broken = CLUSTER.encode(RUN | {"tasks": 3, "nodes": 4})
    reply = Reply(3, tuple(tuple(row.tolist()) for row in (broken, far, near)), 0.0)
    found = peers.one_judged(CLUSTER, "DiCE", start, reply, geometry(CLUSTER))
    assert (found.distance, found.violation, found.met) == (1.0, False, True)
    alone = Reply(3, (tuple(broken.tolist()),), 0.0)
    found = peers.one_judged(CLUSTER, "DiCE", start, alone, geometry(CLUSTER))
    assert found.violation
    assert not found.met
    nothing = peers.one_judged(CLUSTER, "DiCE", start, Reply(3, (), 0.0), geometry(CLUSTER))
    assert not nothing.answered


def test_the_nearest_measured_run_keeps_context_and_goal() -> None:
    configs = [
        RUN | {"threads": 4}, RUN | {"threads": 8}, RUN | {"threads": 3}, RUN | {"app": "cfd"},
    ]  # fmt: skip
    X = np.array([CLUSTER.encode(config) for config in configs])
    y = np.array([90.0, 80.0, 500.0, 1.0])
    found = peers.nearest(CLUSTER, X, y, question(100.0), geometry(CLUSTER))
    assert found.rows == (tuple(X[0].tolist()),)
    assert peers.nearest(CLUSTER, X, y, question(0.5), geometry(CLUSTER)).rows == ()


def test_targets_of_peers() -> None:
    def lot(tool: str, met: int, distance: float) -> list[peers.Judged]:
        return [
            peers.Judged("jobs", tool, i, True, met=i < met, distance=distance) for i in range(50)
        ]

    def passed(*lots: list[peers.Judged]) -> list[bool]:
        return [check.passed for check in peers.checks([one for lot in lots for one in lot])]

    theirs = lot("DiCE", 30, 2.0)
    assert passed(lot("Compass 80%", 40, 1.0), theirs) == [True, True]
    assert passed(lot("Compass 80%", 40, 3.0), theirs) == [True, False]
    assert passed(lot("Compass 80%", 5, 1.0), theirs) == [False, False]
    # A level that is as often true counts, even where another of ours is true more often.
    both = [*lot("Compass 95%", 48, 3.0), *lot("Compass 50%", 31, 1.5)]
    assert passed(both, theirs) == [True, True]


def test_a_case_survives_its_files(tmp_path: Path) -> None:
    X, y = CLUSTER.table(50, 1)
    asked = tuple(questions(CLUSTER, X, y, 6))
    Case(CLUSTER, X, y, np.ones(9), 7, 3, asked).save(tmp_path)
    read = load(tmp_path)
    assert (read.law, read.questions, read.seed, read.patience) == (CLUSTER, asked, 7, 3)
    assert np.array_equal(read.X, X)
    replies = {"DiCE": [Reply(1, ((1.0, math.nan),), 0.5, "note")]}
    save_replies(tmp_path / "replies.json", replies)
    again = load_replies(tmp_path / "replies.json")["DiCE"][0]
    assert (again.number, again.note) == (1, "note")
    assert math.isnan(again.rows[0][1])


def test_ranges_hold_every_legal_change() -> None:
    """By brute force: whatever obeys the rules is inside the ranges that other tools are told."""
    asked = question(1.0, free=("nodes", "tasks"))
    told = ranges(CLUSTER, asked)
    for nodes in range(1, 33):
        for tasks in range(1, 1025, 7):
            row = CLUSTER.encode(RUN | {"nodes": nodes, "tasks": tasks})
            if not CLUSTER.faults(row, asked.row, asked.free):
                assert told["nodes"][0] <= nodes <= told["nodes"][1]
                assert told["tasks"][0] <= tasks <= told["tasks"][1]
    assert told["nodes"] == (2, 32)  # 256 GB do not fit on one node


def test_a_promise_is_an_interval_with_both_ends() -> None:
    said = Prediction(name="t", value=1.0, low=0.5, high=2.0)
    assert labels.inside(said, 0.5) is True
    assert labels.inside(said, 2.1) is False
    assert labels.inside(Prediction(name="t", value=1.0), 1.0) is None


def test_targets_of_labels() -> None:
    def lot(subject: str, trusted: int, kept: int) -> list[labels.Promise]:
        return [
            labels.Promise(subject, REDUCE, i, True, LABELS[i >= trusted], i < kept)
            for i in range(100)
        ]

    def passed(found: list[labels.Promise]) -> list[bool]:
        return [one.passed for one in labels.checks(labels.lines(found), ["jobs"])]

    assert passed(lot("jobs", 50, 48)) == [True, True]
    assert passed(lot("jobs", 49, 40)) == [False, False]
    assert passed(lot("jobs", 0, 0)) == [False, False]
    assert passed(lot("clip", 0, 0)) == []  # told, not judged
    assert passed(lot("KTH SP2", 0, 0)) == [True]
    assert passed(lot("KTH SP2", 1, 1)) == [False]


@pytest.mark.parametrize(
    ("own", "beaten"),
    [([1.0, 9.0], False), ([2.0, 5.0], False), ([2.5, 5.0], True), ([3.0, 6.0], True)],
)
def test_dominated_means_no_better_anywhere_and_worse_somewhere(
    own: list[float], beaten: bool
) -> None:
    others = np.array([[2.0, 5.0], [4.0, 4.0]])
    assert first.dominated(np.array(own), others) is beaten


def test_targets_of_first_suggestions() -> None:
    fine = first.First("zeus", "t", "a", True, "trusted", True, False, 0.0)
    bad = first.First("zeus", "t", "b", True, "unsupported", True, True, 0.2)
    silent = first.First("zeus", "t", "c", False)
    assert [c.passed for c in first.checks([fine, silent])] == [True, True, True]
    assert [c.passed for c in first.checks([fine, bad])] == [False, False, False]


def test_first_suggestions_of_a_small_table(tmp_path: Path) -> None:
    """Every value of the knob was run in both contexts: the best one is known."""
    lines = ["app,nodes,t"]
    for app, best in (("x", 3), ("y", 6)):
        for nodes in range(1, 9):
            lines += [
                f"{app},{nodes},{10 + (nodes - best) ** 2 + repeat / 10}" for repeat in (0, 1, 2)
            ]
    (tmp_path / "runs.csv").write_text("\n".join(lines), encoding="utf-8")
    columns = {"app": {"role": "context"}, "nodes": {"role": "knob"}, "t": {"role": "outcome"}}
    study = study_of({"columns": columns}, where="test")
    source = first.Source("small", "", "runs.csv", study, ("nodes",), ("t",))
    found = first.examine(source, tmp_path, 0)
    assert len(found) == 2
    assert all(not one.dominated for one in found)
    assert all(one.regret == pytest.approx(0.0) for one in found if one.measured)


def test_the_plan_names_every_table_once() -> None:
    assert set(sources(FILE)) == {"multicore", "gavel"}
    assert set(first.known()) == set(first.TABLES)
    assert [law.name for law in analytic()] != []
    assert word.QUICK.jobs < word.Plan().jobs


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        word.main(["--only", "nothing"])
    assert "goals" in capsys.readouterr().err
