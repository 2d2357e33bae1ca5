"""Which runs to make next: legal, obeying the rules, each once, and not made before."""

import math
import re
from collections.abc import Iterable

import numpy as np
import pytest

import compass as cp
from compass.acquire import propose
from compass.domain.answer import Proposal
from compass.domain.constraint import Constraint
from compass.domain.errors import QueryProblem
from compass.domain.space import Role
from compass.engine.rules import compiled
from compass.evidence.assessor import Assessor
from compass.prepare.encode import Encoder
from compass.prepare.geometry import column_distances
from compass.prepare.legal import legal
from compass.settings import TrustSettings
from conftest import ROLES, cluster_columns

SETTINGS = cp.Settings(surrogate="forest").model_copy(
    update={"forest": cp.Settings().forest.model_copy(update={"trees": 20})}
)


@pytest.fixture(scope="module")
def sparse() -> cp.Compass:
    """Few runs in a large space, one of whose settings may be none."""
    rng = np.random.default_rng(2)
    n = 160
    nodes, cores = rng.integers(1, 33, n), rng.integers(1, 65, n)
    cores = np.minimum(cores, 4 * nodes)
    cap = [None if drawn < 0.3 else int(100 + 10 * (drawn * 10 // 1)) for drawn in rng.random(n)]
    app = rng.choice(["a", "b"], n)
    runtime = 100 / cores + nodes + np.where(app == "a", 0, 20)
    columns = {
        "app": app.tolist(),
        "nodes": nodes.tolist(),
        "cores": cores.tolist(),
        "cap": cap,
        "runtime": runtime.tolist(),
    }
    study = {"columns": {"cap": {"missing": "none"}}}
    data = cp.read(columns, study=study).roles(
        knobs=["nodes", "cores", "cap"], context=["app"], outcomes=["runtime"]
    )
    return cp.Compass(data, rules=["cores <= 4 * nodes"], settings=SETTINGS).fit()


def check(engine: cp.Compass, proposals: Iterable[Proposal]) -> None:
    """Legal, obeying the rules, complete, each once, and none that was run before."""
    features = engine.space.having(Role.KNOB, Role.CONTEXT)
    past = {tuple(engine.data.row(n)[name] for name in features) for n in range(len(engine.data))}
    seen = set()
    for proposal in proposals:
        config = proposal.config
        assert tuple(config) == features
        assert all(legal(engine.space[name], value) for name, value in config.items())
        if "cap" in config:
            assert config["cores"] <= 4 * config["nodes"]
        values = tuple(config.values())
        assert values not in seen
        assert values not in past
        seen.add(values)
        assert proposal.why


def assessor_of(engine: cp.Compass) -> Assessor:
    features = engine.space.having(Role.KNOB, Role.CONTEXT)
    trained = engine.store.train(features, engine.space.having(Role.OUTCOME))
    return Assessor(engine.store, engine.store.view_of(features), trained)


@pytest.mark.parametrize("n", [1, 5, 12])
def test_anywhere_proposes_as_many_as_wanted(n: int, sparse: cp.Compass) -> None:
    proposals = sparse.run_next(n)
    assert len(proposals) == n
    check(sparse, proposals)
    assert all("%" in proposal.why for proposal in proposals)


def test_the_same_engine_proposes_the_same_runs(sparse: cp.Compass) -> None:
    assert sparse.run_next(6) == sparse.run_next(6)
    assert sparse.run_next(3) == sparse.run_next(6)[:3]


def test_proposals_are_apart_from_each_other(sparse: cp.Compass) -> None:
    assessor = assessor_of(sparse)
    encoder = Encoder(assessor.view.features)
    X = np.array([encoder.encode(proposal.config) for proposal in sparse.run_next(5)])
    geometry = sparse.store.view_of(assessor.view.features.names).geometry({})
    for i in range(5):
        for j in range(i):
            gap = column_distances(X[[i]], X[j], geometry).sum()
            assert gap > 0.1


def test_doubtful_regions_come_first(sparse: cp.Compass) -> None:
    """The first proposal is less certain than a usual past run."""
    assessor = assessor_of(sparse)
    encoder = Encoder(assessor.view.features)
    first = encoder.encode(sparse.run_next(1)[0].config)[None, :]
    certainty = sparse.store.certainty(assessor.view.features.names, tuple(assessor.trained))
    assert certainty.uq(first)[0] + assessor.view.support.ood(first)[0] > 1.0


def test_no_rule_leaves_room_means_no_proposal(sparse: cp.Compass) -> None:
    assessor = assessor_of(sparse)
    names = assessor.view.features.names
    impossible = compiled([Constraint(text="nodes > 1000")], sparse.space, names)
    geometry = sparse.store.view_of(names).geometry({})
    assert propose.anywhere(assessor, impossible, geometry, n=5, seed=1) == ()
    x = assessor.view.X[0]
    assert propose.towards(assessor, impossible, geometry, x, n=5) == ()


def test_within_a_context_nothing_else_is_proposed(sparse: cp.Compass) -> None:
    assessor = assessor_of(sparse)
    names = assessor.view.features.names
    geometry = sparse.store.view_of(names).geometry({})
    rules = compiled(sparse.rules, sparse.space, names)
    only_b = assessor.view.X[assessor.view.X[:, names.index("app")] == 1.0][:1]
    proposals = propose.anywhere(assessor, rules, geometry, n=6, seed=3, within=only_b)
    check(sparse, proposals)
    assert len(proposals) == 6
    assert {proposal.config["app"] for proposal in proposals} == {"b"}


def test_towards_starts_with_the_suggestion_and_stays_in_its_context(sparse: cp.Compass) -> None:
    assessor = assessor_of(sparse)
    space = assessor.view.features
    geometry = sparse.store.view_of(space.names).geometry({})
    rules = compiled(sparse.rules, sparse.space, space.names)
    wanted = {"app": "a", "nodes": 31, "cores": 3, "cap": 130}
    x = Encoder(space).encode(wanted)
    proposals = propose.towards(assessor, rules, geometry, x, n=5)
    check(sparse, proposals)
    assert dict(proposals[0].config) == {name: wanted[name] for name in space.names}
    assert "the suggestion itself" in proposals[0].why
    for proposal in proposals[1:]:
        assert proposal.config["app"] == "a"
        for name in ("nodes", "cores", "cap"):
            if proposal.config[name] != wanted[name]:
                assert name in proposal.why


def test_towards_never_invents_a_value_between_none_and_a_number(sparse: cp.Compass) -> None:
    assessor = assessor_of(sparse)
    space = assessor.view.features
    geometry = sparse.store.view_of(space.names).geometry({})
    rules = compiled(sparse.rules, sparse.space, space.names)
    seen = {sparse.data.row(n)["cap"] for n in range(len(sparse.data))}
    for cap in (None, 130):
        x = Encoder(space).encode({"app": "b", "nodes": 32, "cores": 64, "cap": cap})
        proposals = propose.towards(assessor, rules, geometry, x, n=8)
        check(sparse, proposals)
        assert {proposal.config["cap"] for proposal in proposals} <= seen


def test_a_suggestion_that_was_run_before_needs_no_run(sparse: cp.Compass) -> None:
    assessor = assessor_of(sparse)
    geometry = sparse.store.view_of(assessor.view.features.names).geometry({})
    known = assessor.view.X[assessor.view.train[0]]
    assert propose.towards(assessor, (), geometry, known, n=5) == ()


def grid(noise: float) -> cp.Compass:
    """Every configuration was run three times."""
    rng = np.random.default_rng(5)
    a, b = (part.ravel().tolist() for part in np.meshgrid(range(6), range(5)))
    time = [10.0 + x + y * y for x, y in zip(a * 3, b * 3, strict=True)]
    time = [value * float(rng.normal(1, noise)) for value in time]
    data = cp.read({"a": a * 3, "b": b * 3, "time": time}).roles(
        knobs=["a", "b"], outcomes=["time"]
    )
    return cp.Compass(data, settings=SETTINGS).fit()


def test_where_everything_was_run_the_doubtful_are_run_again() -> None:
    own = grid(0.3)
    proposals = own.run_next(4)
    assert proposals
    assert len({tuple(proposal.config.values()) for proposal in proposals}) == len(proposals)
    for proposal in proposals:
        row = int(proposal.why.split()[1])
        assert proposal.why.startswith(f"row {row} again, to tell how far runs scatter: ")
        assert {name: own.data.row(row)[name] for name in "ab"} == proposal.config


def test_where_nothing_is_in_doubt_nothing_is_proposed() -> None:
    own = cp.Compass(
        cp.read({"a": [1, 2, 3, 4] * 20, "time": [5.0] * 80}).roles(knobs=["a"], outcomes=["time"]),
        settings=SETTINGS,
    )
    assert own.run_next(4) == ()


def test_a_reason_to_run_is_more_than_for_half_of_the_past_runs(engine: cp.Compass) -> None:
    for proposal in engine.run_next(8):
        share = re.search(r"than (?:for )?(\d+)%", proposal.why)
        assert share is not None
        assert int(share[1]) >= 50


def test_an_answer_that_misses_its_goal_proposes_runs_of_the_same_context(
    sparse: cp.Compass,
) -> None:
    answer = sparse.reconfigure(0, ask=["cores"], goals={"runtime": cp.at_most(1e-9)})
    assert not answer.answered
    assert answer.run_next
    check(sparse, answer.run_next)
    app = sparse.data.row(0)["app"]
    assert {proposal.config["app"] for proposal in answer.run_next} == {app}


def test_without_outcomes_there_is_nothing_to_learn() -> None:
    data = cp.read(cluster_columns(60)).roles(
        knobs=ROLES["knobs"], context=ROLES["context"], ignored=ROLES["outcomes"]
    )
    with pytest.raises(QueryProblem, match="outcome"):
        cp.Compass(data, surrogate="forest").run_next()


def test_numbers_in_proposals_are_plain(sparse: cp.Compass) -> None:
    for proposal in sparse.run_next(8):
        for name, value in proposal.config.items():
            if name != "app" and value is not None:
                assert isinstance(value, int)
                assert math.isfinite(value)


RECOMMEND = (
    "Recommend X = {nodes: ?, cores: ?, cap: ?} to achieve Y = {runtime: minimize}"
    " where C = {app: a}"
)
RECONFIGURE = "Reconfigure X = {nodes: ?, cores: ?} to achieve Y = {runtime: reduce by 30%}"


def apart(engine: cp.Compass, proposals: Iterable[Proposal]) -> None:
    """No two are within the distance that makes suggestions distinct."""
    names = engine.space.having(Role.KNOB, Role.CONTEXT)
    encoder = Encoder(engine.space.select(names))
    X = np.array([encoder.encode(proposal.config) for proposal in proposals])
    geometry = engine.store.view_of(names).geometry({})
    for i in range(len(X)):
        gaps = column_distances(X[:i], X[i], geometry).sum(axis=1)
        assert (gaps > engine.settings.search.distinct).all()


def legal_in(engine: cp.Compass, proposals: Iterable[Proposal], app: str) -> None:
    for proposal in proposals:
        config = proposal.config
        assert all(legal(engine.space[name], value) for name, value in config.items())
        assert config["cores"] <= 4 * config["nodes"]
        assert config["app"] == app


def test_for_a_question_runs_are_proposed_by_what_they_gain(sparse: cp.Compass) -> None:
    proposals = sparse.run_next(6, RECOMMEND)
    assert 1 <= len(proposals) <= 6
    legal_in(sparse, proposals, "a")
    gains = [p.gain for p in proposals if p.gain is not None]
    assert gains
    assert all(gain > 0 for gain in gains)
    assert gains == sorted(gains, reverse=True)
    told = [p.why for p in proposals if p.gain is not None]
    assert all("tells whether it beats " in why and "% likely" in why for why in told)
    assert sparse.run_next(6, RECOMMEND) == proposals


def test_a_batch_holds_no_near_duplicates(sparse: cp.Compass) -> None:
    proposals = [p for p in sparse.run_next(12, RECOMMEND) if p.gain is not None]
    assert len(proposals) > 3
    apart(sparse, proposals)


def test_conditions_of_the_question_hold_for_its_runs(sparse: cp.Compass) -> None:
    proposals = sparse.run_next(5, RECOMMEND, where=["nodes <= 10", "cores >= 4"])
    assert proposals
    for proposal in proposals:
        assert proposal.config["nodes"] <= 10
        assert proposal.config["cores"] >= 4


def test_a_reconfiguration_is_told_by_its_goals(sparse: cp.Compass) -> None:
    proposals = sparse.run_next(5, RECONFIGURE, run=3)
    assert proposals
    run = sparse.data.row(3)
    legal_in(sparse, proposals, run["app"])
    # What is not asked for stays, but for partners of past runs that have another value there.
    pairs = [p for p in proposals if "comparable pair" in p.why]
    assert {p.config["cap"] for p in proposals if p not in pairs} == {run["cap"]}
    assert all(p.gain is None for p in proposals)
    assert any("the goals" in p.why or "comparable pair" in p.why for p in proposals)


def test_a_what_if_needs_the_change_and_a_baseline_that_nobody_ran(sparse: cp.Compass) -> None:
    start = {"app": "a", "nodes": 30, "cores": 17, "cap": 130}
    question = "What if we change X = {cores: old -> 3*old}, how would that affect Y = {runtime}"
    proposals = sparse.run_next(5, question, run=start)
    configs = [dict(p.config) for p in proposals]
    assert start in configs
    assert {**start, "cores": 51} in configs


def test_a_change_of_many_runs_is_checked_at_some_of_them(sparse: cp.Compass) -> None:
    question = "What if we change X = {nodes: old -> 2*old}, how would that affect Y = {runtime}"
    proposals = sparse.run_next(4, question)
    assert len(proposals) == 4
    check(sparse, proposals)
    for proposal in proposals:
        row = int(proposal.why.split()[1])
        before = sparse.data.row(row)
        assert proposal.config["nodes"] == 2 * before["nodes"]
        assert proposal.config["cores"] == before["cores"]


def test_without_a_question_conditions_hold_and_a_baseline_is_refused(sparse: cp.Compass) -> None:
    for proposal in sparse.run_next(4, where=["nodes <= 5"]):
        assert proposal.config["nodes"] <= 5
    with pytest.raises(QueryProblem, match="needs a question"):
        sparse.run_next(4, run=3)
    with pytest.raises(QueryProblem, match="neither knob nor context"):
        sparse.run_next(4, where=["runtime < 5"])


SMALL = SETTINGS.model_copy(update={"trust": TrustSettings(trees=4), "threads": 1})


def noisy(engine_seed: int) -> tuple[cp.Compass, np.random.Generator]:
    rng = np.random.default_rng(engine_seed)
    rows = [law(*draw(rng), rng) for _ in range(30)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    study = {"columns": {name: {"role": "knob", "low": 1, "high": 40, "step": 1} for name in "ab"}}
    data = cp.read(columns, study=study).roles(knobs=["a", "b"], outcomes=["time"])
    return cp.Compass(data, settings=SMALL, seed=engine_seed).fit(), rng


def draw(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(1, 41)), int(rng.integers(1, 41))


def true(a: float, b: float) -> float:
    return 5 + 200 / (a * b) + 0.02 * (a - 12) ** 2 + 0.03 * (b - 25) ** 2


def law(a: int, b: int, rng: np.random.Generator) -> dict[str, float]:
    return {"a": a, "b": b, "time": true(a, b) * float(rng.normal(1, 0.03))}


@pytest.mark.soak
def test_rounds_of_measuring_find_more_than_chance_and_than_distance() -> None:
    question = "Recommend X = {a: ?, b: ?} to achieve Y = {time: minimize}"
    best: dict[str, list[float]] = {"next": [], "knowing": [], "random": []}
    for seed in range(3):
        for way, found in best.items():
            engine, rng = noisy(seed)
            reached = min(true(row["a"], row["b"]) for row in map(engine.data.row, range(30)))
            for _ in range(2):
                if way == "random":
                    wanted = [draw(rng) for _ in range(3)]
                else:
                    proposals = engine.run_next(3, question if way == "next" else None)
                    wanted = [(p.config["a"], p.config["b"]) for p in proposals]
                runs = [law(a, b, rng) for a, b in wanted]
                reached = min([reached, *(true(a, b) for a, b in wanted)])
                engine.tell({name: [run[name] for run in runs] for name in runs[0]})
            found.append(reached)
    mean = {way: float(np.mean(found)) for way, found in best.items()}
    assert mean["next"] < mean["random"]
    assert mean["next"] < mean["knowing"]


def test_a_change_of_many_runs_breaks_no_rule_and_repeats_nothing() -> None:
    rng = np.random.default_rng(8)
    n = 200
    a, b = rng.integers(1, 60, n), rng.integers(1, 30, n)
    columns = {"a": a.tolist(), "b": b.tolist(), "time": (500 / a + b).tolist()}
    data = cp.read(columns).roles(knobs=["a", "b"], outcomes=["time"])
    own = cp.Compass(data, rules=["a + b <= 40"], settings=SETTINGS).fit()
    assert (a + b > 40).any()  # rows that broke the rule before
    question = "What if we change X = {b: old -> old + 1}, how would that affect Y = {time}"
    proposals = own.run_next(12, question)
    assert len(proposals) > 3
    past = {(int(x), int(y)) for x, y in zip(a, b, strict=True)}
    for proposal in proposals:
        assert proposal.config["a"] + proposal.config["b"] <= 40
        assert (proposal.config["a"], proposal.config["b"]) not in past
    apart(own, proposals)


def test_runs_to_check_with_are_past_runs_too(sparse: cp.Compass) -> None:
    assessor = assessor_of(sparse)
    names = assessor.view.features.names
    rules, geometry = (
        compiled(sparse.rules, sparse.space, names),
        sparse.store.view_of(names).geometry({}),
    )
    for x in assessor.view.X[assessor.view.valid[:20]]:
        check(sparse, propose.towards(assessor, rules, geometry, x, n=6))


def test_pending_runs_are_not_proposed_again(sparse: cp.Compass) -> None:
    knobs = sparse.space.having(Role.KNOB)
    outcome = sparse.space.having(Role.OUTCOME)[0]
    ask = f"X = {{{knobs[0]}: ?, {knobs[1]}: ?}}"
    asked = f"Recommend a configuration {ask} to achieve Y = {{{outcome}: minimize}}"
    first = sparse.run_next(3, asked)
    assert len({one.id for one in first}) == len(first) > 0
    later = sparse.run_next(3, asked, pending=first)
    assert not {one.id for one in first} & {one.id for one in later}
    assert sparse.run_next(3, asked, pending=[one.config for one in first]) == later
    anywhere = sparse.run_next(3)
    others = sparse.run_next(3, pending=anywhere)
    assert not {one.id for one in anywhere} & {one.id for one in others}


def test_a_pending_run_without_a_value_is_refused(sparse: cp.Compass) -> None:
    with pytest.raises(cp.CompassError, match="a pending run has no value for"):
        sparse.run_next(2, pending=[{"nodes": 4}])
    with pytest.raises(cp.CompassError, match="pending"):
        sparse.run_next(2, pending=7)  # type: ignore[arg-type]


def test_pending_runs_count_where_a_change_is_made_to_many_runs(sparse: cp.Compass) -> None:
    knob = next(n for n in sparse.space.having(Role.KNOB) if sparse.space[n].role is Role.KNOB)
    outcome = sparse.space.having(Role.OUTCOME)[0]
    value = sparse.data.row(0)[knob]
    asked = f"What if we change X = {{{knob}: {value}}}, how would that affect Y = {{{outcome}}}"
    first = sparse.run_next(2, asked)
    assert first
    later = sparse.run_next(2, asked, pending=first)
    assert not {one.id for one in first} & {one.id for one in later}
    with pytest.raises(cp.CompassError, match="a pending run has no value for"):
        sparse.run_next(2, asked, pending=[{"nonsense": 1}])
