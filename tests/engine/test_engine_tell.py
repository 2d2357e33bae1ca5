"""New runs: they are added, models learn them in a sound way, and what drifted is told."""

from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compass as cp
from compass.domain.errors import DataProblem
from compass.domain.space import Role
from compass.domain.tell import Learnt, TellReport
from compass.engine import tell as telling
from compass.settings import ForestSettings, LightGBMSettings, SelectSettings, TrustSettings
from conftest import ROLES, cluster_columns

QUICK = cp.Settings(
    surrogate="forest",
    forest=ForestSettings(trees=10),
    lightgbm=LightGBMSettings(rounds=20),
    trust=TrustSettings(trees=4),
    select=SelectSettings(folds=3),
)
QUESTIONS = (
    "Recommend X = {nodes: ?, cores: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}",
    "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime, power, state}",
)


def fitted(
    n: int = 300, outcomes: tuple[str, ...] = ("runtime", "power", "state"), **settings: Any
) -> cp.Compass:
    roles = {**ROLES, "outcomes": list(outcomes)}
    roles["ignored"] = [name for name in ROLES["outcomes"] if name not in outcomes]
    data = cp.read(cluster_columns(n)).roles(**roles)
    return cp.Compass(data, settings=QUICK.model_copy(update=settings)).fit()


shared = cache(fitted)


def built(*given: Any, **more: Any) -> cp.Compass:
    """Learnt once for all tests: `tell` puts new data and models in the place of the old ones."""
    return copy(shared(*given, **more))


def new(n: int = 20, seed: int = 9, **columns: Any) -> dict[str, list[Any]]:
    return cluster_columns(n, seed) | columns


def learnt(told: TellReport, target: str) -> Learnt:
    (found,) = [one for one in told.learnt if one.target == target]
    return found


def asked(engine: cp.Compass) -> list[Any]:
    """Answers without the times that anything took."""
    timed: Any = {"seconds": True, "models": {"__all__": {"seconds": True, "scores": True}}}
    return [engine.ask(text).model_dump(mode="json", exclude=timed) for text in QUESTIONS]


def test_runs_are_added_and_answers_know_them() -> None:
    engine = built(outcomes=("runtime",))
    before = engine.data.row(7)
    # Nobody ran 64 GPUs before: the new runs are all there is to know about them.
    added = new(gpus=[64] * 20, runtime=[0.5 + 0.01 * i for i in range(20)])
    told = engine.tell(added)
    assert (told.rows, told.used, told.total) == (20, 20, 320)
    assert len(engine.data) == 320
    assert engine.data.row(7) == before
    assert engine.data.row(300) == {name: values[0] for name, values in added.items()}
    assert engine.cards[0].rows > 240
    answer = engine.ask("Recommend X = {gpus: ?} to achieve Y = {runtime: minimize}")
    best = next(one for one in answer if one.config["gpus"] == 64)
    assert best.outcomes[0].value < 2
    assert any(e.row >= 300 for e in best.trust.evidence)


def test_forests_go_on_from_where_they_were() -> None:
    engine = built()
    old = {card.target: card for card in engine.cards}
    trees = {key[1]: t.model.forest for key, t in engine.store.trained.items()}
    told = engine.tell(new())
    for one in told.learnt:
        assert one.how == "continued: 1 of 10 trees replaced by trees of all runs"
        assert one.drift is not None
        assert one.drift.kind == "none"
        assert one.error_after <= 1.05 * one.error_before
    for key, trained in engine.store.trained.items():
        card, was = trained.card, old[key[1]]
        assert trained.model.forest.trees == 10
        assert trained.model.forest is not trees[key[1]]
        assert card.update.startswith("continued")
        assert card.rows > was.rows
        assert card.anew == was.anew  # counted from the last training from the beginning
        assert card.scores == was.scores
        assert card.error == learnt(told, key[1]).error_after


def test_many_small_steps_are_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = built(outcomes=("power",))
    monkeypatch.setattr(telling, "_WORSE", 2.0)  # so small a forest varies from step to step
    hows = [learnt(engine.tell(new(12, seed)), "power").how for seed in range(20, 26)]
    assert hows[0].startswith("continued")
    assert any("came after it was last trained" in how for how in hows[1:])


def test_other_families_are_trained_anew() -> None:
    engine = built(outcomes=("power",), surrogate="linear")
    recipe = next(iter(engine.store.trained.values())).recipe
    one = learnt(engine.tell(new()), "power")
    assert one.how == "trained anew: linear cannot go on from where it was"
    assert next(iter(engine.store.trained.values())).recipe == recipe
    card = engine.cards[0]
    assert card.anew == card.rows


def test_boosting_goes_on_too() -> None:
    engine = built(outcomes=("power",), surrogate="lightgbm")
    assert "rounds of boosting added to 20" in learnt(engine.tell(new()), "power").how


def test_new_labels_are_learnt_anew() -> None:
    engine = built(outcomes=("power",))
    one = learnt(engine.tell(new(app=["hpl"] * 20)), "power")
    assert one.how == "trained anew: the new runs have labels or ranges that the old ones had not"
    assert one.drift is None
    assert "hpl" in engine.space["app"].values
    answer = engine.what_if({"app": "hpl", **_config()}, {"gpus": 2}, ["power"])
    assert answer[0].config["app"] == "hpl"


def test_new_classes_are_learnt_anew() -> None:
    """Labels get other codes: what the old model says must not be compared with them."""
    engine = built(outcomes=("state",))
    state = ["ABORTED" if i < 12 else "COMPLETED" for i in range(20)]
    one = learnt(engine.tell(new(state=state)), "state")
    assert one.how.startswith("trained anew: the new runs have labels")
    assert one.drift is None
    (trained,) = engine.store.trained.values()
    assert trained.model.task.classes == 3
    assert engine.space["state"].values == ("ABORTED", "COMPLETED", "TIMEOUT")


def _config() -> dict[str, Any]:
    return {"size": 100, "nodes": 2, "cores": 32, "gpus": 1}


def test_another_law_is_found_and_the_model_is_chosen_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("compass.learn.compare.selectable_families", lambda: ["forest", "linear"])
    engine = fitted(outcomes=("runtime", "power"), surrogate="auto")
    added = new(60)
    added["runtime"] = [2 * value for value in added["runtime"]]
    told = engine.tell(added)
    one = learnt(told, "runtime")
    assert one.how == "chosen anew: the outcomes follow another law"
    assert one.drift is not None
    assert one.drift.kind == "law"
    assert one.drift.error_new > 0.3 > one.drift.error_before
    assert "another law" in one.drift.reason
    assert not any(column.drifted for column in one.drift.columns)
    other = learnt(told, "power")
    assert other.drift is not None
    assert other.drift.kind == "none"
    assert not other.how.startswith("chosen")
    card = next(card for card in engine.cards if card.target == "runtime")
    assert card.drift == one.drift
    assert {score.family for score in card.scores} == {"forest", "linear"}
    assert card.anew == card.rows


def test_other_inputs_are_no_other_law() -> None:
    engine = built(outcomes=("power",))
    columns = cluster_columns(600, seed=11)
    large = [i for i, nodes in enumerate(columns["nodes"]) if nodes == 8][:60]
    told = engine.tell({name: [values[i] for i in large] for name, values in columns.items()})
    drift = learnt(told, "power").drift
    assert drift is not None
    assert drift.kind == "inputs"
    assert drift.columns[0].drifted
    assert "nodes" in {column.column for column in drift.columns if column.drifted}


def test_a_column_that_is_missing_is_told_with_the_nearest_name() -> None:
    engine = built(outcomes=("power",))
    added = new()
    added["node"] = added.pop("nodes")
    with pytest.raises(DataProblem, match="no column 'nodes'") as problem:
        engine.tell(added)
    assert "node" in problem.value.hint
    del added["node"]
    with pytest.raises(DataProblem, match="no column 'nodes'") as problem:
        engine.tell(added)
    assert problem.value.hint == "they need all columns in use"
    assert len(engine.data) == 300


def test_columns_that_are_not_in_use_may_be_missing_or_more() -> None:
    engine = built(outcomes=("power",))
    added = new(comment=["x"] * 20)
    del added["runtime"]  # ignored in this study
    told = engine.tell(added)
    assert told.used == 20
    assert told.notes == ("columns that are not known were left out: comment",)
    assert engine.data.row(305)["runtime"] is None
    assert "comment" not in engine.data.table.names


def test_runs_that_cannot_be_used_are_told() -> None:
    engine = built(outcomes=("power",))
    nodes: list[Any] = new()["nodes"]
    told = engine.tell(new(nodes=[None, None, None, *nodes[3:]]))
    assert (told.rows, told.used, told.total) == (20, 17, 317)
    assert told.notes[-1].startswith("3 of the new runs cannot be used")


def test_runs_without_the_outcome_leave_its_model_as_it_was() -> None:
    engine = built(outcomes=("power", "runtime"))
    X = np.concatenate([field.X for field in engine.store.views.values()])
    before = {key[1]: t.model.predict(X) for key, t in engine.store.trained.items()}
    told = engine.tell(new(power=[None] * 20))
    assert learnt(told, "power").how == "kept: none of the new runs tells it"
    assert learnt(told, "runtime").how.startswith(("continued", "trained"))
    after = {key[1]: t.model.predict(X) for key, t in engine.store.trained.items()}
    np.testing.assert_array_equal(after["power"], before["power"])
    assert (after["runtime"] != before["runtime"]).any()


def test_an_engine_that_learnt_nothing_yet_takes_runs_in() -> None:
    engine = cp.Compass(cp.read(cluster_columns(100)).roles(**ROLES), settings=QUICK)
    told = engine.tell(new())
    assert told.learnt == ()
    assert told.total == 120
    assert engine.fit().cards[0].rows > 80


def test_a_saved_engine_answers_as_the_one_that_was_told(tmp_path: Path) -> None:
    engine = built()
    before = asked(engine)
    engine.tell(new())
    again = cp.load(engine.save(tmp_path / "e"))
    assert asked(again) == asked(engine)
    assert asked(again) != before
    assert again.cards == engine.cards
    # And it goes on as the other one would.
    more = new(seed=12)
    told = [one.tell(more).model_dump(exclude={"seconds"}) for one in (engine, again)]
    assert told[0] == told[1]
    assert asked(again) == asked(engine)


def test_the_same_runs_give_the_same_models() -> None:
    answers = []
    for _ in range(2):
        engine = fitted(outcomes=("runtime", "power", "state"), n=150)
        engine.tell(new(10))
        answers.append(asked(engine))
    assert answers[0] == answers[1]


def test_nothing_changes_when_it_fails_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = built()
    data, store = engine.data, engine.store
    trained, before = dict(store.trained), asked(engine)
    real, calls = telling._taken_in, []

    def failing(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise MemoryError
        return real(*given)

    monkeypatch.setattr(telling, "_taken_in", failing)
    with pytest.raises(MemoryError):
        engine.tell(new())
    monkeypatch.undo()
    assert engine.data is data
    assert engine.store is store
    assert store.trained == trained
    assert asked(engine) == before
    assert engine.tell(new()).total == 320


def test_a_function_that_was_given_stays_as_it_is() -> None:
    data = cp.read(cluster_columns(200)).roles(**{**ROLES, "outcomes": ["power"]})

    def power(columns: Any) -> Any:
        return 100 * columns["nodes"] + 2.0 * columns["cores"] + 50 * columns["gpus"]

    engine = cp.Compass(data, models={"power": power}, settings=QUICK)
    engine.store.train(engine.space.having(Role.KNOB, Role.CONTEXT), ["power"])
    for added in (new(), new(seed=10, app=["hpl"] * 20)):
        assert learnt(engine.tell(added), "power").how == "kept: it was brought, not learnt here"
    assert engine.cards[0].family == "given"
    answer = engine.what_if({"app": "hpl", **_config()}, {"gpus": 2}, ["power"])
    assert answer[0].outcomes[0].value == pytest.approx(200 + 64 + 100)


def test_new_runs_are_compared_with_what_was_predicted() -> None:
    engine = built()
    features = engine.space.having(Role.KNOB, Role.CONTEXT)
    old, added = engine.store, new(40)
    added["runtime"] = [100 * v if i < 10 else v for i, v in enumerate(added["runtime"])]
    told = engine.tell(added)
    assert len(told.arrivals) == 20
    assert [run.row for run in told.arrivals] == list(range(300, 320))
    X = engine.store.prepared.columns_of(features)[300:]
    trained = old.trained[features, "runtime"]
    said = trained.model.predict(X)[:, 0]
    low, high = trained.interval.ends(said, trained.model.spread(X), engine.settings.interval)
    y = np.array(added["runtime"])
    (coverage,) = [one for one in told.coverage if one.outcome == "runtime"]
    assert coverage.runs == 40
    assert coverage.inside == int(((low <= y) & (y <= high)).sum()) <= 30
    first = {check.outcome: check for check in told.arrivals[0].outcomes}
    assert first["runtime"].predicted == said[0]
    assert first["runtime"].measured == y[0]
    assert not first["runtime"].inside
    assert first["state"].measured == added["state"][0]
    assert sum(one.runs for one in told.labels) == 40
    assert f"runtime: {coverage.inside} of 40 new runs lay inside" in told.changes[0]
    assert any(line.startswith("Labels of the new runs: ") for line in told.changes)


def test_a_label_that_was_not_known_has_no_prediction_before() -> None:
    engine = built(outcomes=("power",))
    told = engine.tell(new(app=["hpl"] * 10 + ["wrf"] * 10))
    assert [run.before is None for run in told.arrivals] == [True] * 10 + [False] * 10
    assert [len(run.outcomes) for run in told.arrivals] == [0] * 10 + [1] * 10
    assert told.coverage[0].runs == 10


def test_what_changes_in_answers_is_told() -> None:
    engine = built(outcomes=("runtime",))
    question = (
        "Recommend X = {gpus: ?, nodes: 1, cores: 32} to achieve Y = {runtime: minimize} "
        "where C = {app: wrf, size: 100} top 1"
    )
    same = {"app": ["wrf"] * 20, "size": [100] * 20, "nodes": [1] * 20, "cores": [32] * 20}
    added = new(gpus=[64] * 20, runtime=[0.5 + 0.01 * i for i in range(20)], **same)
    before = engine.ask(question)
    told = engine.tell(added, [question])
    (one,) = told.questions
    assert one.changed
    assert one.before is not None
    assert one.after is not None
    assert one.before.settings == before[0].settings
    assert one.after.settings == engine.ask(question)[0].settings
    assert one.after.settings["gpus"] == 64
    assert one.before.label is before[0].trust.label
    line = next(line for line in told.changes if "best suggestion: " in line)
    was, now = line.split(" -> ")
    assert f"gpus = {before[0].config['gpus']}" in was
    assert "gpus = 64" in now


def test_the_last_questions_are_remembered() -> None:
    engine = built(outcomes=("runtime", "power"), n=150)
    texts = [f"Recommend X = {{gpus: ?}} to achieve Y = {{power: <= {400 + i}}}" for i in range(6)]
    for text in (*texts, texts[3]):
        engine.ask(text)
    told = engine.tell(new())
    asked = [one.question for one in told.questions]
    assert len(asked) == 5
    assert "403" in asked[-1]
    assert not any("400" in text for text in asked)
    assert [answer.text for _, answer in engine.asked] == asked
    same = [one for one in told.questions if not one.changed]
    assert all(one.summary[0].startswith(("best suggestion as before", "still")) for one in same)


def test_a_question_that_fails_afterwards_loses_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = built(outcomes=("runtime",))
    engine.ask("Recommend X = {gpus: ?} to achieve Y = {runtime: minimize}")
    real = cp.Compass.ask

    def failing(self: cp.Compass, *given: Any, **more: Any) -> Any:
        if len(self.data) > 300:
            raise DataProblem("no longer", hint="never")
        return real(self, *given, **more)

    monkeypatch.setattr(cp.Compass, "ask", failing)
    told = engine.tell(new())
    assert told.total == 320
    assert told.questions == ()
    assert "cannot be answered any more" in told.notes[-1]
    assert len(engine.data) == 320


def test_a_wrong_question_is_told_before_anything_is_taken_in() -> None:
    engine = built(outcomes=("runtime",))
    with pytest.raises(cp.CompassError):
        engine.tell(new(), ["Recommend X = {gpuz: ?} to achieve Y = {runtime: minimize}"])
    assert len(engine.data) == 300


def test_an_interruption_while_answering_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = built(outcomes=("runtime",))
    engine.ask("Recommend X = {gpus: ?} to achieve Y = {runtime: minimize}")
    data, store = engine.data, engine.store

    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(telling, "reanswered", stopped)
    with pytest.raises(KeyboardInterrupt):
        engine.tell(new())
    assert engine.data is data
    assert engine.store is store
