"""Fronts from the outside: several extremes, conditions, a baseline, weights, references."""

from xml.etree import ElementTree

import numpy as np
import pytest

import compass as cp
from compass.domain.answer import Label, Pending
from compass.domain.errors import BadInput, QueryProblem
from compass.domain.front import ReferenceFrom
from compass.exporters.front_chart import FrontChart
from compass.pareto.front import nondominated
from compass.pareto.hypervolume import hypervolume
from compass.trust.front_words import point_in_words, point_name

KNOBS = ["nodes", "cores", "gpus"]
HERE = ["app == 'wrf'", "size == 200"]
RULES = ("cores <= 32 * nodes", "cores >= 8 * nodes")


def values(answer: cp.Answer) -> np.ndarray:
    assert answer.front is not None
    told = [p for p in answer.front.points if not p.idea]
    return np.array([[p.values["runtime"], p.values["power"]] for p in told])


@pytest.fixture(scope="module")
def front(engine: cp.Compass) -> cp.Answer:
    return engine.pareto(["runtime", "power"], ask=KNOBS, where=HERE)


def test_every_point_is_legal_and_nothing_dominates_it(front: cp.Answer) -> None:
    assert front.answered
    assert front.front is not None
    for one in front:
        assert 8 * one.config["nodes"] <= one.config["cores"] <= 32 * one.config["nodes"]
        assert one.config["app"] == "wrf"
        assert one.trust.label is not Label.UNSUPPORTED
    kept = np.array([not p.dominated for p in front.front.points if not p.idea])
    assert nondominated(values(front)[kept]).all()


def test_points_are_the_suggestions_by_the_first_outcome(front: cp.Answer) -> None:
    assert front.front is not None
    told = [p for p in front.front.points if not p.idea]
    assert sorted(p.place for p in told) == list(range(len(front.suggestions)))
    assert [p.settings for p in told] == [front[p.place].settings for p in told]
    runtimes = [p.values["runtime"] for p in told]
    assert runtimes == sorted(runtimes)


def test_the_law_of_the_data_is_found(front: cp.Answer) -> None:
    # Without gpus and with few cores power is least; with all of them runtime is.
    assert front.front is not None
    ends = [p.settings for p in front.front.points if not p.idea]
    assert ends[0]["gpus"] == 4
    assert ends[-1] == {"nodes": 1, "cores": 8, "gpus": 0}


def test_the_first_suggestion_is_the_balanced_one(engine: cp.Compass, front: cp.Answer) -> None:
    goals = {"runtime": cp.minimize, "power": cp.minimize}
    weights = {"runtime": 1, "power": 1}
    assert front[0].config == engine.recommend(KNOBS, goals, where=HERE, weights=weights)[0].config


def test_the_volume_is_that_of_the_points_up_to_the_reference(front: cp.Answer) -> None:
    told = front.front
    assert told is not None
    reference = np.array([told.reference["runtime"], told.reference["power"]])
    assert told.hypervolume == pytest.approx(hypervolume(values(front), reference).value)
    assert told.hypervolume <= told.hypervolume_found * (1 + 1e-12)
    assert told.hypervolume_measured is not None
    assert set(told.reference_from.values()) == {ReferenceFrom.MEASURED}
    assert told.spread >= 0
    assert all(0 < share <= 1 for share in told.extent.values())


def test_measured_trade_offs_are_never_left_out(engine: cp.Compass) -> None:
    whole = engine.pareto(["runtime", "power"], ask=KNOBS, where=HERE, count=500, prove=0)
    assert whole.front is not None
    table = engine.data.table.arrow.to_pandas()
    here = table[(table.app == "wrf") & (table["size"] == 200)]
    mean = here.groupby(KNOBS)[["runtime", "power"]].mean()
    best = {tuple(index) for index in mean.index[nondominated(mean.to_numpy())]}
    told = {tuple(p.settings[k] for k in KNOBS) for p in whole.front.points}
    assert best <= told
    marked = {tuple(p.settings[k] for k in KNOBS) for p in whole.front.points if p.best_measured}
    assert marked == best


def test_trade_offs_are_told_beside_the_ends(front: cp.Answer) -> None:
    assert front.front is not None
    first, *_, last = (p for p in front.front.points if not p.idea)
    by_best = {t.best: t.changes for t in last.against}
    assert by_best["power"] == {"runtime": 0.0, "power": 0.0}
    expected = last.values["power"] / first.values["power"] - 1
    assert by_best["runtime"]["power"] == pytest.approx(expected)


def test_points_that_are_alike_say_so_of_each_other(front: cp.Answer) -> None:
    assert front.front is not None
    points = front.front.points
    for place, point in enumerate(points):
        for other in point.alike:
            assert place in points[other].alike


def test_recommend_with_several_extremes_is_the_same(engine: cp.Compass, front: cp.Answer) -> None:
    goals = {"runtime": cp.minimize, "power": cp.minimize}
    same = engine.recommend(KNOBS, goals, where=HERE)
    assert same.front == front.front
    assert same.suggestions == front.suggestions


def test_a_question_in_words_is_answered_with_a_front(engine: cp.Compass) -> None:
    answer = engine.ask(
        "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {runtime: min, power: min} "
        "where C = {app: wrf, size: 200} top 4 reference {runtime: 40, power: 1000}"
    )
    assert answer.front is not None
    assert answer.front.reference == {"runtime": 40.0, "power": 1000.0}
    assert set(answer.front.reference_from.values()) == {ReferenceFrom.GIVEN}
    assert len(answer) == 4
    assert "reference {runtime: 40, power: 1000}" in answer.text


def test_weights_of_outcomes_ask_for_a_single_point(engine: cp.Compass) -> None:
    goals = {"runtime": cp.minimize, "power": cp.minimize}
    fast = engine.recommend(KNOBS, goals, where=HERE, weights={"runtime": 100})
    thrifty = engine.recommend(KNOBS, goals, where=HERE, weights={"power": 100})
    assert fast.front is None
    assert fast[0].config["gpus"] == 4
    assert thrifty[0].config["gpus"] == 0
    # Costs of changing a parameter are no weights of outcomes.
    assert engine.recommend(KNOBS, goals, where=HERE, weights={"nodes": 3}).front is not None


def test_who_wants_one_point_gets_the_balanced_one(engine: cp.Compass, front: cp.Answer) -> None:
    single = engine.pareto(["runtime", "power"], ask=KNOBS, where=HERE, count=1, prove=0)
    assert [one.config for one in single] == [front[0].config]


def test_conditions_hold_at_every_point(engine: cp.Compass) -> None:
    answer = engine.pareto(["runtime", "power"], ask=KNOBS, where=[*HERE, "power <= 300"])
    assert answer.answered
    for one in answer:
        predicted = one.outcome("power").value
        assert isinstance(predicted, float)
        assert predicted <= 300


def test_limits_are_met_with_the_chance(engine: cp.Compass) -> None:
    goals = {"state": cp.is_class("COMPLETED"), "runtime": cp.minimize}
    answer = engine.pareto(["power"], ask=KNOBS, goals=goals, where=HERE, chance=0.9)
    assert answer.front is not None
    assert answer.chance == 0.9
    for one in answer:
        assert one.meets_goals
        assert (one.outcome("state").chance or 0) >= 0.9


def test_what_cannot_be_met_is_no_answer(engine: cp.Compass) -> None:
    goals = {"runtime": cp.minimize, "power": cp.minimize, "state": cp.is_class("TIMEOUT")}
    answer = engine.recommend(["gpus"], goals, where=[*HERE, "nodes == 8", "cores == 256"])
    assert not answer.answered
    assert answer.no_answer is not None
    assert not answer.suggestions


def test_from_a_run_small_changes_are_on_the_front(engine: cp.Compass) -> None:
    answer = engine.pareto(["runtime", "power"], ask=KNOBS, run=5)
    assert answer.front is not None
    assert answer.baseline is not None
    distances = [one.distance for one in answer]
    assert min(distances) < 1.5 < max(distances)
    for one in answer:
        assert one.config["app"] == answer.baseline["app"]
        assert len(one.edits) == sum(one.config[k] != answer.baseline[k] for k in KNOBS)


def test_a_maximised_outcome_is_told_as_it_is(engine: cp.Compass) -> None:
    answer = engine.pareto(["runtime"], ["power"], ask=KNOBS, where=HERE)
    assert answer.front is not None
    assert answer.front.directions == {"runtime": "minimize", "power": "maximize"}
    turned = values(answer) * [1, -1]
    assert nondominated(turned).all()
    assert (values(answer)[:, 1] > 0).all()
    assert answer.front.reference["power"] < values(answer)[:, 1].max()


def test_three_outcomes_have_a_front(cluster: cp.Dataset) -> None:
    data = cluster.roles(outcomes=["runtime", "power", "size"], knobs=KNOBS, context=["app"])
    engine = cp.Compass(data, settings=cp.Settings(surrogate="forest"))
    answer = engine.pareto(
        ["runtime", "power"], ["size"], ask=KNOBS, where=["app == 'wrf'"], prove=0
    )
    assert answer.front is not None
    assert len(answer.front.directions) == 3
    assert answer.front.hypervolume_error == 0


def test_every_configuration_was_tried_or_a_proof_comes_later(engine: cp.Compass) -> None:
    small = engine.pareto(["runtime", "power"], ask=KNOBS, where=HERE)
    assert small.front is not None
    assert small.front.proof is not None
    assert small.front.proof.complete
    assert small.exhausted
    searched = cp.Compass(
        engine.data,
        rules=RULES,
        settings=cp.Settings(
            surrogate="forest",
            forest={"trees": 8, "depth": 6},
            search={"enumerate": 1},
        ),
    )
    asked = "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {runtime: min, power: min}"
    steps = list(searched.stream(asked, where=HERE, prove=20, count=3))
    assert Pending.PROOF in steps[0].pending
    assert steps[0].front is not None
    assert steps[0].front.proof is None
    last = steps[-1].front
    assert last is not None
    assert last.proof is not None
    assert last.proof.tried > 0
    assert [p.proved for p in last.points if not p.idea].count(True) == last.proof.proved


def test_the_same_seed_gives_the_same_front(engine: cp.Compass) -> None:
    again = [engine.pareto(["runtime", "power"], ask=KNOBS, where=HERE, prove=0) for _ in range(2)]
    assert again[0].front == again[1].front


def test_runs_to_make_next_are_proposed_for_a_front(engine: cp.Compass) -> None:
    asked = "Recommend X = {nodes: ?, cores: ?, gpus: ?} to achieve Y = {runtime: min, power: min}"
    found = engine.run_next(3, asked, where=HERE)
    assert 0 < len(found) <= 3


def test_a_front_travels_as_json(front: cp.Answer) -> None:
    again = cp.Answer.model_validate_json(front.model_dump_json())
    assert again.front == front.front


def test_what_makes_no_front_is_refused(engine: cp.Compass) -> None:
    with pytest.raises(QueryProblem, match="two outcomes"):
        engine.pareto(["runtime"], ask=KNOBS)
    with pytest.raises(QueryProblem, match="given twice"):
        engine.pareto(["runtime"], ["runtime"], ask=KNOBS)
    with pytest.raises(BadInput, match="neither minimised nor maximised"):
        engine.pareto(["runtime", "power"], ask=KNOBS, reference={"state": 3})


def test_from_a_run_it_is_told_what_is_traded(engine: cp.Compass) -> None:
    """Changes are those beside the baseline, which the volume counts; words say them."""
    answer = engine.pareto(["runtime", "power"], ask=KNOBS, run=5)
    assert answer.front is not None
    told = [point for point in answer.front.points if not point.idea]
    (here,) = [point for point in told if not answer[point.place].edits]
    assert here.change == pytest.approx({"runtime": 0, "power": 0})
    assert point_in_words(here) == "as it is now"
    for point in told:
        for name in ("runtime", "power"):
            assert point.change[name] == pytest.approx(point.values[name] / here.values[name] - 1)
            assert here.values[name] < answer.front.reference[name]
    assert all(share <= 1 for share in answer.front.extent.values())
    best = nondominated(values(answer))
    assert [point.smaller_change for point in told] == [not one for one in best]
    assert "nothing has to change" not in " ".join(answer.notes)


def test_a_picture_has_the_numbers_of_the_suggestions(front: cp.Answer) -> None:
    assert front.front is not None
    root = ElementTree.fromstring(FrontChart.render(front))
    told = [one.text or "" for one in root.iter() if one.tag.endswith("title")]
    names = {line.partition(". ")[0] for line in told}
    assert {point_name(point) for point in front.front.points} <= names
    ranks = [point.place for point in front.front.points if not point.idea]
    assert ranks != sorted(ranks)  # the first suggestion is the balanced one
