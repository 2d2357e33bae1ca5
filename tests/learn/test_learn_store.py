"""What is learnt, from which rows, and how the rows are divided."""

import time

import numpy as np
import pytest

import compass as cp
from compass.domain.errors import DataProblem
from compass.domain.space import Role
from compass.domain.study import Study
from compass.prepare.split import configurations
from conftest import QUICK, ROLES, cluster_columns

FEATURES = ("app", "size", "nodes", "cores", "gpus")


def test_identical_configurations_stay_on_one_side(engine: cp.Compass) -> None:
    field = engine.store.view_of(FEATURES)
    kinds = configurations(field.X)
    assert not set(kinds[field.train]) & set(kinds[field.valid])
    assert 0.1 < len(field.valid) / len(field.X) < 0.3


def test_groups_stay_together() -> None:
    columns = cluster_columns(400)
    columns["user"] = [f"u{i % 20}" for i in range(400)]
    data = cp.read(columns, study=Study(group="user")).roles(**ROLES, ignored=["user"])
    field = cp.Compass(data, surrogate="forest").store.view_of(FEATURES)
    users = np.array(columns["user"])
    assert not set(users[field.train]) & set(users[field.valid])


def test_with_a_time_the_newest_runs_validate() -> None:
    columns = cluster_columns(400)
    columns["moment"] = list(range(400))
    columns["size"] = [100 + i for i in range(400)]  # no two configurations are the same
    data = cp.read(columns, study=Study(time="moment")).roles(**ROLES, ignored=["moment"])
    field = cp.Compass(data, surrogate="forest").store.view_of(FEATURES)
    assert field.train.max() < field.valid.min()


def test_a_share_of_the_runs_can_be_learnt_from(cluster: cp.Dataset) -> None:
    engine = cp.Compass(cluster, keep=0.3, seed=1, settings=QUICK).fit()
    assert engine.store.prepared.rows == pytest.approx(0.3 * len(cluster), abs=2)
    assert engine.store.prepared.weight.sum() == pytest.approx(len(cluster))
    left_out = set(range(len(cluster))) - set(engine.store.prepared.row_id.tolist())
    answer = engine.what_if(min(left_out), {"gpus": 4}, ["power"])  # any run can be a baseline
    assert answer[0].outcome("power").value > 0


def test_models_are_trained_once(engine: cp.Compass) -> None:
    first = engine.store.train(FEATURES, ["runtime"])["runtime"]
    engine.reconfigure(0, ask=["gpus"], goals={"runtime": cp.less(0.1)})
    assert engine.store.train(FEATURES, ["runtime"])["runtime"] is first


def test_an_outcome_that_was_hardly_measured_is_explained() -> None:
    columns = cluster_columns(100)
    columns["runtime"] = [1.0, *[None] * 99]
    engine = cp.Compass(cp.read(columns).roles(**ROLES), surrogate="forest")
    with pytest.raises(DataProblem, match="only 1 past runs have a value of runtime"):
        engine.recommend(ask=["gpus"], goals={"runtime": cp.minimize})


def test_the_error_on_the_card_is_of_rows_that_were_not_learnt_from(engine: cp.Compass) -> None:
    field = engine.store.view_of(FEATURES)
    trained = engine.store.train(FEATURES, ["power"])["power"]
    y = engine.store.prepared.column("power")[field.valid]
    p = trained.model.predict(field.X[field.valid])[:, 0]
    assert trained.card.error == pytest.approx(np.mean(np.abs(p - y) / y), rel=1e-6)
    assert trained.card.rows == len(field.train)


def test_a_standing_rule_that_makes_no_sense_is_refused_at_once(cluster: cp.Dataset) -> None:
    with pytest.raises(cp.CompassError, match="no_such_function"):
        cp.Compass(cluster, rules=["no_such_function(nodes) <= 3"], surrogate="forest")


def test_seconds_are_those_of_the_outcome_itself() -> None:
    data = cp.read(cluster_columns(300)).roles(**ROLES)
    began = time.perf_counter()
    engine = cp.Compass(data, surrogate="forest").fit()
    spent = time.perf_counter() - began
    assert len(engine.cards) > 1
    assert sum(card.seconds for card in engine.cards) <= spent


def test_what_was_learnt_before_an_error_is_kept() -> None:
    columns = cluster_columns(60)
    columns["never"] = [None] * 58 + [1.0, 2.0]
    roles = {**ROLES, "outcomes": [*ROLES["outcomes"], "never"]}
    engine = cp.Compass(cp.read(columns).roles(**roles), surrogate="forest")
    names = engine.space.having(Role.KNOB, Role.CONTEXT)
    with pytest.raises(cp.CompassError, match="never"):
        engine.store.train(names, [*ROLES["outcomes"], "never"])
    assert [target for _, target in engine.store.trained] == list(ROLES["outcomes"])
