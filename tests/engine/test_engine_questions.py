"""The three questions on a table whose laws are known."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.answer import Finding, Label
from compass.domain.errors import (
    BadInput,
    BaselineProblem,
    ConflictingRules,
    QueryProblem,
    UnknownName,
)
from compass.generate.base import Candidates
from compass.generate.c3g import C3G
from compass.generate.task import SearchTask
from compass.settings import LossWeights
from conftest import QUICK, ROLES, cluster_columns


def truth(config: dict[str, object]) -> tuple[float, float]:
    """Runtime and power by the laws that made the table."""
    serial = 0.2 if config["app"] == "wrf" else 0.05
    cores, gpus = float(config["cores"]), float(config["gpus"])  # type: ignore[arg-type]
    runtime = float(config["size"]) * (serial + (1 - serial) / cores) / (1 + 0.3 * gpus)  # type: ignore[arg-type]
    return runtime, 100 * float(config["nodes"]) + 2 * cores + 50 * gpus  # type: ignore[arg-type]


def row_where(data: cp.Dataset, **wanted: object) -> int:
    for number in range(len(data)):
        row = data.row(number)
        if all(row[name] == value for name, value in wanted.items()):
            return number
    raise LookupError(wanted)


def test_recommend_meets_goals_by_the_law_and_obeys_the_rules(engine: cp.Compass) -> None:
    answer = engine.recommend(
        ask=["nodes", "cores", "gpus"],
        goals={"runtime": cp.minimize, "power": cp.at_most(600)},
        where=["app == 'wrf'", "size == 400"],
    )
    assert answer.answered
    for suggestion in answer:
        config = suggestion.config
        assert config["app"] == "wrf"
        assert config["size"] == 400
        assert 8 * config["nodes"] <= config["cores"] <= 32 * config["nodes"]
        assert truth(config)[1] <= 600 * 1.05
        assert suggestion.outcome("runtime").value == pytest.approx(truth(config)[0], rel=0.1)
    legal = [
        truth({"app": "wrf", "size": 400, "nodes": n, "cores": n * c, "gpus": g})
        for n in (1, 2, 4, 8)
        for c in (8, 16, 32)
        for g in (0, 1, 2, 4)
    ]
    best = min(runtime for runtime, power in legal if power <= 600)
    assert truth(answer[0].config)[0] <= 1.1 * best


def test_one_rule_may_stand_alone_and_a_mapping_is_refused(engine: cp.Compass) -> None:
    goals = {"runtime": cp.minimize}
    alone = engine.recommend(ask="gpus", goals=goals, where="app == 'wrf'")
    assert alone[0].config == (
        engine.recommend(ask=["gpus"], goals=goals, where=["app == 'wrf'"])[0].config
    )
    with pytest.raises(BadInput, match="where is a list of texts") as told:
        engine.recommend(ask=["gpus"], goals=goals, where={"app": "wrf"})
    assert "where=[\"app == 'amg'\"]" in str(told.value.hint)


def test_recommend_says_the_context_and_averages_over_it(engine: cp.Compass) -> None:
    answer = engine.recommend(ask=["gpus"], goals={"runtime": cp.minimize}, where=["app == 'wrf'"])
    assert "past runs match" in answer.context
    assert "Averaged over" in answer.context
    assert "app = 'wrf'" in answer.context
    assert answer[0].config["gpus"] == 4
    narrow = engine.recommend(
        ask=["gpus"],
        goals={"runtime": cp.minimize},
        where=["app == 'wrf'", "size == 100", "nodes == 1", "cores == 8"],
    )
    assert "Assumed" in narrow.context


def test_recommend_names_the_best_measured_run_of_one_context(engine: cp.Compass) -> None:
    ask, goals = ["nodes", "cores", "gpus"], {"power": cp.minimize}
    answer = engine.recommend(ask=ask, goals=goals, where=["app == 'wrf'", "size == 100"])
    rows = [engine.data.row(n) for n in range(len(engine.data))]
    same = [(r["power"], n) for n, r in enumerate(rows) if r["app"] == "wrf" and r["size"] == 100]
    power, number = min(same)
    assert answer.best_measured is not None
    # Repeated runs tell how far runs scatter: the mean of a configuration counts, not a lucky run.
    best = [rows[n] for n in answer.best_measured.rows]
    assert {tuple(row[name] for name in ask) for row in best} == {
        tuple(rows[number][name] for name in ask)
    }
    mean = sum(row["power"] for row in best) / len(best)
    assert answer.best_measured.outcomes["power"] == pytest.approx(mean)
    assert mean <= 1.05 * power


def test_recommend_without_a_matching_run_says_so(engine: cp.Compass) -> None:
    answer = engine.recommend(
        ask=["gpus"], goals={"runtime": cp.minimize}, where=["nodes == 8", "cores == 250"]
    )
    assert any("No past run meets all conditions" in note for note in answer.notes)
    assert answer[0].config["cores"] == 250
    assert answer[0].config["nodes"] == 8


def test_reconfigure_changes_little_and_reaches_the_goal_by_the_law(engine: cp.Compass) -> None:
    number = row_where(engine.data, app="lammps", size=400, nodes=2, gpus=0, cores=16)
    goals = {"runtime": cp.less(0.10)}
    answer = engine.reconfigure(number, ask=["gpus"], goals=goals, chance=0.5)
    best = answer[0]
    assert [edit.name for edit in best.edits] == ["gpus"]
    assert best.edits[0].old == 0
    assert best.edits[0].new == 1  # one GPU is 23 % faster, so more would be more than needed
    before, after = truth(engine.data.row(number)), truth(best.config)
    assert after[0] <= 0.9 * before[0]
    assert best.trust.effects[0].finding is Finding.SUPPORTED
    assert best.trust.label is not Label.UNSUPPORTED
    assert best.trust.support > 0
    row = best.trust.evidence[0].row
    assert engine.data.row(row)["app"] == best.config["app"]


def test_reconfigure_moves_what_a_rule_forces_and_says_which(engine: cp.Compass) -> None:
    number = row_where(engine.data, app="wrf", nodes=1, cores=32, gpus=0)
    answer = engine.ask(
        "Reconfigure X = {cores: 32 -> 64} to achieve Y = {runtime: reduce by 0.1%}", run=number
    )
    moved = {edit.name: edit for edit in answer[0].edits}
    assert moved["cores"].new == 64
    assert moved["nodes"].new in (2, 4, 8)
    assert moved["nodes"].forced_by == "cores <= 32 * nodes"
    assert "gpus" not in moved
    assert any("cores <= 32 * nodes" in note for note in answer.notes)


def test_nothing_to_change_is_said(engine: cp.Compass) -> None:
    answer = engine.reconfigure(0, ask=["gpus"], goals={"runtime": cp.at_most(1e6)})
    assert answer[0].edits == ()
    assert answer[0].distance == 0
    assert any("already meets" in note for note in answer.notes)


def test_a_goal_out_of_reach_gives_the_closest_and_no_answer(engine: cp.Compass) -> None:
    answer = engine.reconfigure(0, ask=["gpus"], goals={"runtime": cp.at_most(0.001)})
    assert not answer.answered
    assert "closest" in str(answer.no_answer)
    assert answer.exhausted  # four values of gpus
    assert not answer.suggestions
    assert not answer.ideas[0].meets_goals
    assert answer.ideas[0].config["gpus"] == 4


def test_a_condition_out_of_reach_is_named(engine: cp.Compass) -> None:
    answer = engine.recommend(
        ask=["gpus"],
        goals={"power": cp.minimize},
        where=["app == 'wrf'", "runtime <= 0.001"],
        prove=60.0,
    )
    assert not answer.answered
    assert "runtime <= 0.001" in str(answer.no_answer)
    assert "app" not in str(answer.no_answer)


def test_what_if_keeps_everything_else(engine: cp.Compass) -> None:
    number = row_where(engine.data, app="wrf", size=200, gpus=1)
    answer = engine.what_if(number, {"gpus": cp.times(2)}, ["runtime", "power"])
    (only,) = answer.suggestions
    assert [(e.name, e.old, e.new) for e in only.edits] == [("gpus", 1, 2)]
    row = engine.data.row(number)
    expected = truth({**row, "gpus": 2})[0] / truth(row)[0] - 1
    got = only.outcome("runtime")
    assert got.change_percent == pytest.approx(100 * expected, abs=4)
    assert got.low is not None
    assert got.low < got.value < got.high
    assert got.observed == row["runtime"]


def test_what_if_moves_others_only_where_a_rule_forces_it(engine: cp.Compass) -> None:
    number = row_where(engine.data, nodes=2, cores=64)
    answer = engine.what_if(number, {"nodes": cp.set_to(1)}, ["power"])
    moved = {edit.name: edit for edit in answer[0].edits}
    assert set(moved) == {"nodes", "cores"}
    assert moved["cores"].new == 32  # the closest that obeys cores <= 32 * nodes
    assert moved["cores"].forced_by == "cores <= 32 * nodes"


def test_no_slower_leaves_faster_ones_and_the_law_agrees(engine: cp.Compass) -> None:
    """Many nodes, no GPUs: fewer nodes with GPUs need less power, and every one is much faster."""
    number = row_where(engine.data, app="wrf", size=400, nodes=8, cores=64, gpus=0)
    goals = {"power": cp.less(0.3), "runtime": cp.no_more()}
    answer = engine.reconfigure(number, ask=["nodes", "cores", "gpus"], goals=goals, count=5)
    runtime, power = truth(engine.data.row(number))
    assert answer.answered
    assert len(answer) == 5
    for suggestion in answer:
        now = truth(suggestion.config)
        assert now[0] <= 1.08 * runtime  # within 5 %, as far as the model knows
        assert now[1] <= 0.72 * power
    # One that is far faster is not refused, as it would be if it had to stay the same.
    assert any(truth(suggestion.config)[0] < 0.8 * runtime for suggestion in answer)
    fixed = engine.reconfigure(
        number, ask=["gpus"], goals={"power": cp.less(0.3), "runtime": cp.no_more()}
    )
    assert not fixed.answered


def test_what_if_keep_the_same_finds_what_else_must_change(engine: cp.Compass) -> None:
    number = row_where(engine.data, app="lammps", size=200, nodes=4, cores=64, gpus=4)
    answer = engine.ask(
        f"What if we change X = {{gpus: 4 -> 2}}, keep Y = {{power}} the same, "
        f"what else has to change from row {number}?"
    )
    best = answer[0]
    assert best.config["gpus"] == 2
    before, after = truth(engine.data.row(number))[1], truth(best.config)[1]
    assert after == pytest.approx(before, rel=0.08)
    assert any(edit.name != "gpus" for edit in best.edits)


def test_what_if_over_all_matching_runs_is_the_mean_change(engine: cp.Compass) -> None:
    answer = engine.ask(
        "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime, power} "
        "where C = {app: wrf}?"
    )
    population = answer.population
    assert population is not None
    columns = cluster_columns()
    count = sum(a == "wrf" and g == 0 for a, g in zip(columns["app"], columns["gpus"], strict=True))
    assert population.runs == count
    by_name = {o.name: o for o in population.outcomes}
    assert by_name["power"].change == pytest.approx(200, rel=0.05)
    assert by_name["power"].change_low < by_name["power"].change < by_name["power"].change_high
    assert by_name["power"].low is None  # what a single run may take is another question
    assert by_name["runtime"].change_percent == pytest.approx(100 * (1 / 2.2 - 1), abs=3)
    assert not answer.suggestions


def test_conditions_on_outcomes_hold_for_the_prediction(engine: cp.Compass) -> None:
    answer = engine.recommend(
        ask=["nodes", "cores", "gpus"],
        goals={"power": cp.minimize},
        where=["app == 'wrf'", "size == 400", "state == 'COMPLETED'", "runtime <= 55"],
    )
    for suggestion in answer:
        assert suggestion.outcome("state").value == "COMPLETED"
        assert suggestion.outcome("runtime").value <= 55
        assert truth(suggestion.config)[0] <= 60 * 1.05


def test_a_class_goal(engine: cp.Compass) -> None:
    number = row_where(engine.data, state="TIMEOUT", gpus=0)
    answer = engine.ask(
        "Reconfigure X = {gpus: ?, cores: ?} to achieve Y = {state: completed}", run=number
    )
    assert answer[0].outcome("state").value == "COMPLETED"
    assert truth(answer[0].config)[0] <= 62


def test_a_column_can_be_a_knob_in_one_question_and_an_outcome_in_another(
    engine: cp.Compass,
) -> None:
    answer = engine.ask(
        "What if we change X = {power: old -> 2*old}, how would that affect Y = {runtime}", run=0
    )
    assert "power" in answer[0].config
    answer = engine.ask("Recommend a configuration X = {gpus: ?} to achieve Y = {nodes: minimize}")
    assert answer.models[0].target == "nodes"


def test_curves_follow_the_law_and_mark_rules(engine: cp.Compass) -> None:
    number = row_where(engine.data, app="wrf", nodes=2, cores=32)
    answer = engine.what_if(number, {"gpus": cp.set_to(1)}, ["power"], curve=["nodes"])
    (curve,) = answer.curves
    points = {point.value: point for point in curve.points}
    assert set(points) == {1, 2, 4, 8}
    assert points[2].predicted < points[4].predicted < points[8].predicted
    assert points[2].feasible
    assert not points[8].feasible  # 32 cores are fewer than 8 per node


def test_the_same_question_gives_the_same_answer(engine: cp.Compass) -> None:
    text = "Recommend a configuration X = {nodes: ?, cores: ?} to achieve Y = {runtime: minimize}"
    one, two = (engine.ask(text, seed=5).model_dump(exclude={"seconds"}) for _ in range(2))
    assert one == two


def test_text_and_python_mean_the_same(engine: cp.Compass) -> None:
    said = engine.ask(
        "Recommend a configuration X = {nodes: ?, gpus: 2} to achieve Y = {power: <= 700} "
        "where C = {app: wrf} top 2 seed 3"
    )
    called = engine.recommend(
        ask=["nodes"],
        fixed={"gpus": 2},
        goals={"power": cp.at_most(700)},
        where=["app == 'wrf'"],
        count=2,
        seed=3,
    )
    assert said.text == called.text
    assert said.suggestions == called.suggestions


def test_weights_decide_what_moves() -> None:
    data = cp.read(cluster_columns(400)).roles(**ROLES)
    engine = cp.Compass(data, settings=QUICK)
    number = row_where(data, gpus=0, nodes=8, cores=256)  # fewer of either save enough
    goal = {"power": cp.less(0.15)}

    def nearest(weight: float) -> cp.Suggestion:
        """What is nearest, whether or not past runs support it."""
        answer = engine.reconfigure(
            number, ask=["nodes", "cores"], goals=goal, weights={"nodes": weight}
        )
        return min([*answer, *answer.ideas], key=lambda one: one.distance)

    assert {e.name for e in nearest(0.01).edits} == {"nodes"}
    assert {e.name for e in nearest(100).edits} == {"cores"}


def test_run_next_proposes_legal_runs_that_obey_the_rules(engine: cp.Compass) -> None:
    proposals = engine.run_next(5)
    assert len(proposals) == 5
    for proposal in proposals:
        config = proposal.config
        assert 8 * config["nodes"] <= config["cores"] <= 32 * config["nodes"]
        assert config["gpus"] in (0, 1, 2, 4)


def test_a_gap_in_the_data_is_not_trusted_and_runs_in_it_are_proposed() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0, 1, 200), rng.uniform(9, 10, 200)])
    data = cp.read({"x": x.tolist(), "y": (2 * x).tolist()}).roles(knobs=["x"], outcomes=["y"])
    engine = cp.Compass(data, settings=QUICK)
    answer = engine.what_if({"x": 0.5}, {"x": 5.0}, ["y"])
    assert answer[0].trust.label is Label.UNSUPPORTED
    assert "no past run is near it" in answer[0].trust.reason
    assert not answer.answered
    assert {"x": 5.0} in [proposal.config for proposal in answer.run_next]


def test_a_goal_out_of_reach_still_says_what_to_measure(engine: cp.Compass) -> None:
    answer = engine.recommend(ask=["gpus"], goals={"runtime": cp.at_most(1e-6)})
    assert not answer.answered
    assert answer.run_next


@pytest.mark.parametrize(
    ("text", "row", "error", "part"),
    [
        ("Recommend X = {node: ?} to achieve Y = {runtime: minimize}", None, UnknownName, "nodes"),
        (
            "Reconfigure X = {gpus: ?} to achieve Y = {runtime: minimize}",
            None,
            BaselineProblem,
            "--from row:N",
        ),
        (
            "Reconfigure X = {gpus: 77 -> ?} to achieve Y = {runtime: minimize}",
            0,
            BaselineProblem,
            "77",
        ),
        (
            "Reconfigure X = {gpus: ?} to achieve Y = {runtime: 99999 -> 5}",
            0,
            BaselineProblem,
            "99999",
        ),
        (
            "Recommend X = {gpus: ?} to achieve Y = {runtime: minimize} "
            "where C = {gpus < 1, gpus > 2}",
            None,
            ConflictingRules,
            "gpus",
        ),
        (
            "Reconfigure X = {gpus: ?} to achieve Y = {runtime: minimize} where C = {nodes > 100}",
            0,
            BaselineProblem,
            "nodes > 100",
        ),
        (
            "What if we change X = {gpus: old -> 0.3*old}, how would that affect Y = {runtime}",
            "one",
            QueryProblem,
            "whole numbers",
        ),
    ],
)
def test_what_cannot_be_asked_is_explained(
    engine: cp.Compass, text: str, row: object, error: type[Exception], part: str
) -> None:
    run = row_where(engine.data, gpus=1) if row == "one" else row
    with pytest.raises(error) as caught:
        engine.ask(text, run=run)
    assert part in str(caught.value)
    assert caught.value.hint  # type: ignore[attr-defined]


def test_a_row_that_does_not_exist(engine: cp.Compass) -> None:
    with pytest.raises(BaselineProblem, match="1499"):
        engine.reconfigure(99_999, ask=["gpus"], goals={"runtime": cp.minimize})


def test_an_incomplete_baseline_names_what_is_missing(engine: cp.Compass) -> None:
    with pytest.raises(BaselineProblem, match="app"):
        engine.reconfigure({"nodes": 1}, ask=["gpus"], goals={"runtime": cp.minimize})


def test_the_time_for_a_question_begins_when_the_models_are_at_hand() -> None:
    quick = QUICK.model_copy(update={"deadline": 1e-9})
    data = cp.read(pa.table(cluster_columns(200))).roles(**ROLES)
    late = cp.Compass(data, settings=quick).recommend(["gpus"], {"runtime": cp.minimize})
    assert late.certificate is not None
    assert "before a proof could begin" in late.certificate.reason
    named = cp.Compass(data, settings=quick).recommend(
        ["gpus"], {"runtime": cp.minimize}, where=["app == 'wrf'", "size == 200"], prove=20
    )
    # Who names the seconds of a proof gets them, whatever the deadline is.
    assert named.certificate is not None
    assert "before a proof could begin" not in named.certificate.reason


ASKED = "Recommend X = {gpus: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}"


def test_options_add_to_what_the_question_says(engine: cp.Compass) -> None:
    text = f"{ASKED} top 2 weights {{gpus: 3}}"
    assert engine.query(text, weights={}).weights == {"gpus": 3}
    assert engine.query(text, weights={"nodes": 2}).weights == {"gpus": 3, "nodes": 2}
    weighed = f"{text} loss {{valid: 2}}"
    assert engine.query(weighed, loss={}).loss == {"valid": 2}
    assert engine.query(weighed, loss={"proximity": 0}).loss == {"valid": 2, "proximity": 0}
    assert engine.query(text, count=5).count == 5
    assert engine.query(text, seed=4).count == 2


@pytest.mark.parametrize(
    ("keywords", "weights"),
    [
        ({"loss": {"valid": 3, "constraint": 0}}, LossWeights(valid=3, constraint=0)),
        ({"loss": {"valid": 2}, "diversity": 4}, LossWeights(valid=2, diversity=4)),
        ({"diversity": 4}, LossWeights(diversity=4)),
        ({}, LossWeights()),
    ],
)
def test_the_weights_of_the_loss_reach_the_search(
    engine: cp.Compass, monkeypatch: pytest.MonkeyPatch, keywords: Any, weights: LossWeights
) -> None:
    seen = []

    def generate(task: SearchTask) -> Candidates:
        seen.append(task.settings.loss)
        return literal(task)

    literal = C3G.generate
    monkeypatch.setattr(C3G, "generate", staticmethod(generate))
    engine.ask(ASKED, generator="c3g", prove=0, **keywords)
    assert set(seen) == {weights}


@pytest.mark.parametrize(
    ("keywords", "hint"),
    [
        ({"diversity": 1, "loss": {"diversity": 1}}, "give it once"),
        ({"loss": {"proximty": 1}}, "did you mean proximity?"),
        ({"loss": {"valid": -1}}, "it was -1"),
        ({"loss": 3}, "for example loss={'valid': 1"),
    ],
)
def test_weights_that_the_loss_has_not_are_refused(
    engine: cp.Compass, keywords: Any, hint: str
) -> None:
    with pytest.raises(BadInput) as problem:
        engine.ask(ASKED, **keywords)
    assert problem.value.hint.startswith(hint)


def test_a_question_may_name_its_generator(engine: cp.Compass) -> None:
    assert engine.query(ASKED).generator is None
    named = engine.query(f"{ASKED} generator c3g")
    assert named.generator == "c3g"
    assert engine.query(ASKED, generator="c3g") == named
    assert cp.parse_query(cp.format_query(named)).generator == "c3g"
    with pytest.raises(UnknownName, match="no generator named 'c4g'") as problem:
        engine.ask(ASKED, generator="c4g")
    assert problem.value.hint == "did you mean c3g?"


GIVEN = "X = {nodes: 8, cores: 128, gpus: 2}"


@pytest.mark.parametrize(
    "question",
    [
        f"Reconfigure {GIVEN} to achieve Y = {{runtime: reduce by 10%}} from row 3",
        f"What if we change {GIVEN}, how would that affect Y = {{runtime}} from row 3",
        f"What if we change {GIVEN}, keep Y = {{runtime}} the same, "
        "what else has to change from row 3?",
    ],
)
def test_a_question_that_gives_every_parameter_is_answered(
    engine: cp.Compass, question: str
) -> None:
    answer = engine.ask(question, prove=0)
    assert cp.parse_query(answer.text) == answer.query
    found = answer.suggestions or answer.ideas
    assert {**found[0].config, "nodes": 8, "cores": 128, "gpus": 2} == found[0].config


def test_what_a_given_change_forces_to_move_is_told(engine: cp.Compass) -> None:
    row = row_where(engine.data, nodes=2, cores=32)
    answer = engine.ask(
        f"What if we change X = {{nodes: old * 4}}, how would that affect Y = {{runtime}} "
        f"from row {row}",
        prove=0,
    )
    moved = {edit.name: edit for edit in answer[0].edits}
    assert moved["nodes"].new == 8
    assert moved["cores"].forced_by is not None


def test_a_star_asks_for_every_knob_that_is_left_open(engine: cp.Compass) -> None:
    where = " where C = {app: wrf, nodes == 2}"
    star = engine.ask("Recommend X = {*: ?} to achieve Y = {runtime: minimize}" + where, prove=0)
    empty = engine.ask("Recommend X = {} to achieve Y = {runtime: minimize}" + where, prove=0)
    assert star.query.ask == ("cores", "gpus")
    assert [one.config for one in star] == [one.config for one in empty]
    keyword = engine.recommend(["*"], {"runtime": cp.minimize}, prove=0)
    assert keyword.query.ask == ("nodes", "cores", "gpus")


def test_the_chance_and_beyond_as_keywords(engine: cp.Compass) -> None:
    goals = {"runtime": cp.less(0.1)}
    answer = engine.reconfigure(3, ["gpus"], goals, chance=0.95, beyond=True, prove=0)
    assert (answer.query.chance, answer.query.beyond) == (0.95, True)
    assert answer.text.endswith("chance 95% beyond")
    assert engine.query(f"{answer.text}").chance == 0.95
    assert engine.query(answer.text, chance=0.5).chance == 0.5
    with pytest.raises(QueryProblem, match="chance") as caught:
        engine.reconfigure(3, ["gpus"], goals, chance=1.0)
    assert caught.value.hint
