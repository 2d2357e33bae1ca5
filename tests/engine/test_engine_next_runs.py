"""Which runs to make next: legal, obeying the rules, each once, and not made before."""

import math
from collections.abc import Iterable

import numpy as np
import pytest

import compass as cp
from compass.domain.answer import Proposal
from compass.domain.constraint import Constraint
from compass.domain.errors import QueryProblem
from compass.domain.space import Role
from compass.engine import next_runs
from compass.engine.judge import Judge
from compass.engine.standing import compiled
from compass.prepare.encode import Encoder
from compass.prepare.legal import legal
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


def judge_of(engine: cp.Compass) -> Judge:
    features = engine.space.having(Role.KNOB, Role.CONTEXT)
    trained = engine.bench.train(features, engine.space.having(Role.OUTCOME))
    return Judge(engine.bench, engine.bench.field_of(features), trained)


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
    judge = judge_of(sparse)
    encoder = Encoder(judge.here.features)
    X = np.array([encoder.encode(proposal.config) for proposal in sparse.run_next(5)])
    geometry = sparse.bench.geometry(judge.here.features.names, {})
    for i in range(5):
        for j in range(i):
            gap = next_runs.loss.column_distance(X[[i]], X[j], geometry).sum()
            assert gap > 0.1


def test_doubtful_regions_come_first(sparse: cp.Compass) -> None:
    """The first proposal is less certain than a usual past run."""
    judge = judge_of(sparse)
    encoder = Encoder(judge.here.features)
    first = encoder.encode(sparse.run_next(1)[0].config)[None, :]
    certainty = sparse.bench.certainty(judge.here.features.names, tuple(judge.trained))
    assert certainty.uq(first)[0] + judge.here.support.ood(first)[0] > 1.0


def test_no_rule_leaves_room_means_no_proposal(sparse: cp.Compass) -> None:
    judge = judge_of(sparse)
    names = judge.here.features.names
    impossible = compiled([Constraint(text="nodes > 1000")], sparse.space, names)
    geometry = sparse.bench.geometry(names, {})
    assert next_runs.anywhere(judge, impossible, geometry, n=5, seed=1) == ()
    x = judge.here.X[0]
    assert next_runs.towards(judge, impossible, geometry, x, n=5) == ()


def test_within_a_context_nothing_else_is_proposed(sparse: cp.Compass) -> None:
    judge = judge_of(sparse)
    names = judge.here.features.names
    geometry = sparse.bench.geometry(names, {})
    rules = compiled(sparse.rules, sparse.space, names)
    only_b = judge.here.X[judge.here.X[:, names.index("app")] == 1.0][:1]
    proposals = next_runs.anywhere(judge, rules, geometry, n=6, seed=3, within=only_b)
    check(sparse, proposals)
    assert len(proposals) == 6
    assert {proposal.config["app"] for proposal in proposals} == {"b"}


def test_towards_starts_with_the_suggestion_and_stays_in_its_context(sparse: cp.Compass) -> None:
    judge = judge_of(sparse)
    space = judge.here.features
    geometry = sparse.bench.geometry(space.names, {})
    rules = compiled(sparse.rules, sparse.space, space.names)
    wanted = {"app": "a", "nodes": 31, "cores": 3, "cap": 130}
    x = Encoder(space).encode(wanted)
    proposals = next_runs.towards(judge, rules, geometry, x, n=5)
    check(sparse, proposals)
    assert dict(proposals[0].config) == {name: wanted[name] for name in space.names}
    assert "the suggestion itself" in proposals[0].why
    for proposal in proposals[1:]:
        assert proposal.config["app"] == "a"
        for name in ("nodes", "cores", "cap"):
            if proposal.config[name] != wanted[name]:
                assert name in proposal.why


def test_towards_never_invents_a_value_between_none_and_a_number(sparse: cp.Compass) -> None:
    judge = judge_of(sparse)
    space = judge.here.features
    geometry = sparse.bench.geometry(space.names, {})
    rules = compiled(sparse.rules, sparse.space, space.names)
    seen = {sparse.data.row(n)["cap"] for n in range(len(sparse.data))}
    for cap in (None, 130):
        x = Encoder(space).encode({"app": "b", "nodes": 32, "cores": 64, "cap": cap})
        proposals = next_runs.towards(judge, rules, geometry, x, n=8)
        check(sparse, proposals)
        assert {proposal.config["cap"] for proposal in proposals} <= seen


def test_a_suggestion_that_was_run_before_needs_no_run(sparse: cp.Compass) -> None:
    judge = judge_of(sparse)
    geometry = sparse.bench.geometry(judge.here.features.names, {})
    known = judge.here.X[judge.here.train[0]]
    assert next_runs.towards(judge, (), geometry, known, n=5) == ()


def test_where_everything_was_run_the_doubtful_are_run_again(engine: cp.Compass) -> None:
    proposals = engine.run_next(4)
    assert len(proposals) == 4
    assert len({tuple(proposal.config.values()) for proposal in proposals}) == 4


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
