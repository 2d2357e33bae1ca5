"""Questions about odd but legitimate tables, each with a law that tells the right answer."""

import numpy as np
import pytest

import compass as cp
from compass.domain.answer import Answer
from compass.settings import ForestSettings, Settings, TrustSettings

SMALL = Settings(surrogate="forest", forest=ForestSettings(trees=20), trust=TrustSettings(trees=5))


def fitted(
    columns: dict[str, np.ndarray], outcomes: list[str], rules: tuple[str, ...] = ()
) -> cp.Compass:
    knobs = [name for name in columns if name not in outcomes]
    data = cp.read({name: values.tolist() for name, values in columns.items()})
    return cp.Compass(data.roles(knobs=knobs, outcomes=outcomes), rules=rules, settings=SMALL)


def moves(answer: Answer) -> dict[str, str | None]:
    return {edit.name: edit.forced_by for edit in answer[0].edits}


@pytest.fixture(scope="module")
def capped() -> cp.Compass:
    """Without a cap a run takes 10 s, with one 1000 / cap times as long."""
    rng = np.random.default_rng(1)
    cap, uncapped = rng.uniform(100, 300, 300), rng.random(300) < 0.4
    threads = rng.choice([1, 2, 4, 8], 300)
    time = np.where(uncapped, 10.0, 10_000 / cap) + 50 / threads
    columns = {
        "cap": [None if none else float(c) for c, none in zip(cap, uncapped, strict=True)],
        "threads": threads.tolist(),
        "time": time.tolist(),
    }
    study = {
        "columns": {
            "cap": {"missing": "none", "role": "knob"},
            "threads": {"role": "knob"},
            "time": {"role": "outcome"},
        }
    }
    return cp.Compass(cp.read(columns, study=study), settings=SMALL)


def test_none_is_recommended_where_it_is_best(capped: cp.Compass) -> None:
    answer = capped.recommend(ask=["cap"], goals={"time": cp.minimize})
    assert answer[0].config["cap"] is None


def test_none_is_reached_from_a_number(capped: cp.Compass) -> None:
    run = {"cap": 150.0, "threads": 2}
    answer = capped.reconfigure(run, ask=["cap"], goals={"time": cp.at_most(40)}, chance=0.5)
    assert answer.answered
    assert answer[0].config["cap"] is None


def test_none_does_not_count_as_an_amount_when_it_is_predicted(capped: cp.Compass) -> None:
    answer = capped.what_if({"cap": None, "threads": 2}, {"threads": 4}, ["cap"])
    assert answer[0].outcome("cap").value == pytest.approx(200, abs=25)


def test_a_curve_of_an_optional_number_includes_none(capped: cp.Compass) -> None:
    run = {"cap": 150.0, "threads": 4}
    (curve,) = capped.what_if(run, {"threads": 8}, ["time"], curve=["cap"]).curves
    assert any(point.value is None for point in curve.points)


def test_a_curve_of_many_labels_has_a_point_for_each() -> None:
    rng = np.random.default_rng(0)
    label = np.array([f"l{i % 60}" for i in range(300)])
    engine = fitted({"label": label, "x": rng.integers(1, 5, 300), "y": rng.random(300)}, ["y"])
    (curve,) = engine.what_if(0, {"x": 2}, ["y"], curve=["label"]).curves
    assert {point.value for point in curve.points} == set(label)


def test_a_curve_stays_on_the_grid() -> None:
    rng = np.random.default_rng(0)
    x = 4 * rng.integers(1, 200, 300)
    data = cp.read({"x": x.tolist(), "z": rng.random(300).tolist(), "y": (1.0 * x).tolist()})
    study = {"columns": {"x": {"role": "knob", "low": 4, "high": 800, "step": 4}}}
    data = cp.read(data.table, study=study).roles(knobs=["x", "z"], outcomes=["y"])
    answer = cp.Compass(data, settings=SMALL).what_if(0, {"z": 0.5}, ["y"], curve=["x"])
    assert all(point.value % 4 == 0 for point in answer.curves[0].points)


@pytest.fixture(scope="module")
def continuous() -> cp.Compass:
    rng = np.random.default_rng(2)
    a, c, d = (rng.uniform(0, 10, 400) for _ in range(3))
    columns = {"a": a, "b": a / 2, "c": c, "d": d, "y": (a - 4) ** 2 + c + d}
    return fitted(columns, ["y"], ("a == 2 * b",))


@pytest.mark.parametrize(
    "rule", ["c + d == 10.37", "c * d == 12.3", "c + d + a == 15.55", "c * d <= 12.3"]
)
def test_continuous_columns_that_a_rule_ties(continuous: cp.Compass, rule: str) -> None:
    answer = continuous.recommend(
        ask=["a", "b", "c", "d"], goals={"y": cp.minimize}, where=[rule, "c >= 1.3"]
    )
    assert answer.suggestions
    for suggestion in answer:
        c = {name: float(value) for name, value in suggestion.config.items()}  # type: ignore[arg-type]
        assert c["a"] == pytest.approx(2 * c["b"])
        left = {"c + d": c["c"] + c["d"], "c * d": c["c"] * c["d"]}
        left["c + d + a"] = c["c"] + c["d"] + c["a"]
        name, sign, bound = rule.rsplit(" ", 2)
        if sign == "==":
            assert left[name] == pytest.approx(float(bound))
        else:
            assert left[name] <= float(bound) * (1 + 1e-9)


def test_a_what_if_moves_a_continuous_column_to_where_an_equality_wants_it(
    continuous: cp.Compass,
) -> None:
    answer = continuous.what_if(0, {"a": 5.123}, ["y"])
    assert answer[0].config["b"] == pytest.approx(5.123 / 2)
    assert moves(answer) == {"a": None, "b": "a == 2 * b"}


def test_what_an_equality_ties_to_the_asked_follows_it(continuous: cp.Compass) -> None:
    for seed in range(3):
        answer = continuous.recommend(ask=["a"], goals={"y": cp.minimize}, seed=seed)
        assert answer[0].config["a"] == pytest.approx(4, abs=1.2)
        assert answer[0].config["b"] == pytest.approx(answer[0].config["a"] / 2)  # type: ignore[operator]
        assert " b " not in answer.context  # it was not averaged over


def test_equalities_on_wide_grids() -> None:
    rng = np.random.default_rng(2)
    w, v = rng.integers(1, 10**6, 500), rng.integers(1, 10**6, 500)
    engine = fitted({"w": w, "v": v, "y": np.abs(w - 500_000) / 1e5 + v / 1e6}, ["y"])
    answer = engine.recommend(
        ask=["w", "v"], goals={"y": cp.minimize}, where=["w + 3 * v == 1234567"]
    )
    config = answer[0].config
    assert config["w"] + 3 * config["v"] == 1_234_567  # type: ignore[operator]
    assert abs(config["w"] - 500_000) < 60_000  # type: ignore[operator]


def test_no_proof_is_claimed_where_only_some_values_were_tried() -> None:
    rng = np.random.default_rng(3)
    limit, u = rng.uniform(10, 100, 200), rng.uniform(0, 10, 200)
    engine = fitted({"limit": limit, "u": u, "t": 5 * u + 5}, ["t"])
    answer = engine.recommend(
        ask=["limit"],
        fixed={"u": 5.0},
        goals={"t": cp.minimize},
        where=["t <= limit", "limit <= t + 0.0001"],
    )
    if not answer.suggestions:
        assert "Every combination" not in str(answer.no_answer)
    assert not answer.exhausted


@pytest.fixture(scope="module")
def chained() -> cp.Compass:
    rng = np.random.default_rng(3)
    d = rng.integers(1, 5, 200)
    a = np.minimum(rng.integers(1, 9, 200), 4 * d)
    columns = {"b": a, "a": a, "c": a, "d": d, "y": 100 / a + 2 * d}
    return fitted(columns, ["y"], ("b == c", "a == b", "c <= 4 * d"))


def test_each_link_of_a_chain_names_the_rule_that_moves_it(chained: cp.Compass) -> None:
    answer = chained.what_if({"a": 2, "b": 2, "c": 2, "d": 1}, {"a": 8}, ["y"])
    assert moves(answer) == {"a": None, "b": "a == b", "c": "b == c", "d": "c <= 4 * d"}
    assert len(answer) == 1
    assert answer[0].config["d"] == 2


def test_the_closest_miss_counts_what_rules_may_move(chained: cp.Compass) -> None:
    run = {"a": 2, "b": 2, "c": 2, "d": 1}
    answer = chained.reconfigure(run, ask=["a"], goals={"y": cp.at_most(5)})
    assert not answer.answered
    assert answer.ideas[0].config["a"] == 8
    assert not any("already meets" in note for note in answer.notes)


def test_a_goal_alone_moves_no_pair_that_an_equality_ties() -> None:
    rng = np.random.default_rng(3)
    p, f = rng.integers(1, 6, 200), rng.integers(1, 11, 200)
    engine = fitted({"f": f, "p": p, "q": p, "y": f + 20.0 / p}, ["y"], ("p == q", "f <= 10 * p"))
    run = {"f": 5, "p": 1, "q": 1}
    answer = engine.reconfigure(run, ask=["f"], goals={"y": cp.at_most(12)})
    assert {edit.name for edit in answer.ideas[0].edits} <= {"f"}
    assert not answer.answered


def test_runs_that_do_not_match_are_not_said_to_match(capped: cp.Compass) -> None:
    answer = capped.recommend(ask=["cap"], goals={"time": cp.minimize}, where=["threads == 3"])
    assert answer.context.startswith("No past run matches")
    assert sum(note.count("threads") for note in answer.notes) == 1


def test_intervals_stay_sane_where_the_trees_agree(chained: cp.Compass) -> None:
    # Seven configurations are checked with, whose repeats are no further draws: 7 / 8 at most.
    goals = {"y": cp.minimize}
    answer = chained.recommend(ask=["a", "b", "c", "d"], goals=goals, count=20, level=0.8)
    for suggestion in answer:
        outcome = suggestion.outcome("y")
        assert outcome.high is not None
        assert outcome.high - float(outcome.value) < 200  # type: ignore[arg-type]


def test_small_numbers_are_multiplied_without_loss() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(1e-9, 1e-8, 100)
    engine = fitted({"x": x, "y": x * 1e9}, ["y"])
    answer = engine.what_if({"x": 1.23456789e-9}, {"x": cp.times(2)}, ["y"])
    assert answer[0].config["x"] == pytest.approx(2.46913578e-9, rel=1e-9, abs=0)


def test_a_parameter_that_is_asked_for_gets_a_legal_value() -> None:
    rng = np.random.default_rng(8)
    columns = {"t": rng.choice([4, 8, 16], 400)}
    columns |= {name: rng.random(400) for name in ("u", "v", "w")}
    columns["y"] = columns["t"] + 10 * columns["u"] + 10 * columns["v"] + columns["w"]
    engine = fitted(columns, ["y"])
    run = {"t": 27, "u": 0.5, "v": 0.5, "w": 0.5}  # nobody has ever used 27
    for ask in (["t"], ["t", "u"], ["t", "u", "v", "w"]):
        for suggestion in engine.reconfigure(run, ask=ask, goals={"y": cp.less(0.1)}):
            assert suggestion.config["t"] in (4, 8, 16)


def test_context_does_not_give_way_to_reach_a_goal() -> None:
    rng = np.random.default_rng(0)
    machine = rng.choice(["a", "b"], 300)
    limit = np.where(machine == "a", rng.choice([100, 200], 300), rng.choice([100, 200, 300], 300))
    data = cp.read(
        {
            "machine": machine.tolist(),
            "limit": limit.tolist(),
            "speed": (limit * 1.0 + rng.normal(0, 1, 300)).tolist(),
        }
    ).roles(knobs=["limit"], context=["machine"], outcomes=["speed"])
    engine = cp.Compass(data, rules=["machine == 'a' -> limit <= 200"], surrogate="forest")
    number = int(np.flatnonzero(machine == "a")[0])
    answer = engine.reconfigure(number, ask=["limit"], goals={"speed": cp.at_least(280)})
    assert not answer.answered
    assert answer.ideas[0].config["machine"] == "a"
    forced = engine.what_if(number, {"limit": 300}, ["speed"])  # the rule leaves no other way
    assert {e.name: e.new for e in forced[0].edits}["machine"] == "b"
