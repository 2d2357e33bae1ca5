"""Outcomes are learnt when a question needs them: the same answers as when all are learnt."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import compass as cp
from compass.domain.errors import QueryProblem, UnknownName
from conftest import QUICK, ROLES, cluster_columns

OUTCOMES = ("runtime", "power", "state")
ABOUT_ONE = {
    "runtime": "Recommend X = {nodes: ?} to achieve Y = {runtime: minimize} where C = {app: wrf}",
    "power": "Reconfigure X = {gpus: ?} to achieve Y = {power: reduce by 10%} from row 3",
    "state": "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {state}",
}
ABOUT_SEVERAL = (
    "Reconfigure X = {gpus: ?, nodes: ?} to achieve Y = {runtime: reduce by 10%} "
    "where C = {power <= 900} from row 3",
    "What if we change X = {gpus: 0 -> 4}",
)


def unfitted(settings: cp.Settings = QUICK, rows: int = 120) -> cp.Compass:
    return cp.Compass(cp.read(cluster_columns(rows)).roles(**ROLES), settings=settings)


def untimed(told: dict[str, Any]) -> dict[str, Any]:
    """The same without how long anything took."""
    return {name: value for name, value in told.items() if name != "seconds"}


def asked(engine: cp.Compass, questions: Sequence[str]) -> dict[str, Any]:
    """Answers by question, in whatever order they were asked."""
    told = {text: engine.ask(text, prove=0).model_dump_json() for text in questions}
    return {text: json.loads(answer, object_hook=untimed) for text, answer in told.items()}


def cards(engine: cp.Compass) -> dict[str, Any]:
    found = {card.target: card.model_dump_json() for card in engine.cards}
    return {name: json.loads(card, object_hook=untimed) for name, card in found.items()}


@pytest.fixture(scope="module")
def expected() -> tuple[dict[str, Any], dict[str, Any]]:
    """Answers and models of an engine that learnt everything first."""
    engine = unfitted().fit()
    return asked(engine, (*ABOUT_ONE.values(), *ABOUT_SEVERAL)), cards(engine)


@pytest.mark.parametrize("order", [*itertools.permutations(OUTCOMES)])
def test_answers_do_not_depend_on_what_was_learnt_before(
    order: tuple[str, ...], expected: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    engine = unfitted().fit([])
    assert engine.learnt == ()
    for number, outcome in enumerate(order):
        text = ABOUT_ONE[outcome]
        assert engine.to_learn(text) == (outcome,)
        assert asked(engine, [text])[text] == expected[0][text]
        assert set(engine.learnt) == set(order[: number + 1])
    assert asked(engine, ABOUT_SEVERAL).items() <= expected[0].items()
    assert cards(engine) == expected[1]


def test_nor_do_they_where_families_are_compared() -> None:
    chosen = QUICK.model_copy(update={"surrogate": "auto"})
    whole, single = unfitted(chosen, 60).fit(), unfitted(chosen, 60).fit(["power"])
    text = ABOUT_ONE["power"]
    assert asked(single, [text]) == asked(whole, [text])
    assert cards(single)["power"] == cards(whole)["power"]
    assert len(cards(single)["power"]["scores"]) > 3


def test_a_question_learns_what_it_names_and_nothing_else() -> None:
    engine = unfitted()
    for text, needed in (
        (ABOUT_ONE["runtime"], {"runtime"}),
        (ABOUT_SEVERAL[0], {"runtime", "power"}),  # the power is in a condition
        (ABOUT_SEVERAL[1], {*OUTCOMES}),  # it names none: all
    ):
        fresh = unfitted()
        assert set(fresh.to_learn(text)) == needed
        asked(fresh, [text])
        assert set(fresh.learnt) == needed
        assert fresh.to_learn(text) == ()
    assert engine.to_learn("What if we change X = {gpus: 4}", where=["app = 'wrf'"]) == OUTCOMES
    ruled = cp.Compass(engine.data, rules=["power <= 900"], settings=QUICK)
    assert set(ruled.to_learn(ABOUT_ONE["runtime"])) == {"runtime", "power"}
    assert engine.learnt == ()  # to ask what is needed learns nothing


def test_outcomes_can_be_named() -> None:
    engine = unfitted()
    told: list[str] = []
    engine.store.progress = lambda what, *_: told.append(what)
    assert engine.fit(["Power"]).learnt == ("power",)
    assert {stage for stage in told if stage.startswith("learning")} == {"learning power"}
    assert engine.fit(["power", "state"]).learnt == ("power", "state")
    with pytest.raises(UnknownName, match="powr"):
        engine.fit(["powr"])
    with pytest.raises(QueryProblem, match="nodes is not an outcome") as problem:
        engine.fit(["nodes"])
    assert "runtime" in problem.value.hint
    assert engine.learnt == ("power", "state")


def test_a_given_model_is_put_to_use_while_it_is_here(tmp_path: Path) -> None:
    def law(columns: Any) -> Any:
        return 100 * columns["nodes"] + 2.0 * columns["cores"] + 50 * columns["gpus"]

    data = cp.read(cluster_columns(120)).roles(**ROLES)
    engine = cp.Compass(data, settings=QUICK, models={"power": law}).fit([])
    assert engine.learnt == ("power",)


def test_a_saved_engine_learns_what_it_lacks_when_it_is_asked(
    tmp_path: Path, expected: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    place = unfitted().fit(["power"]).save(tmp_path / "e")
    engine = cp.load(place)
    assert engine.learnt == ("power",)
    assert asked(engine, [*ABOUT_SEVERAL]).items() <= expected[0].items()
    assert set(engine.learnt) == {*OUTCOMES}
    again = cp.load(engine.save(place))
    assert set(again.learnt) == {*OUTCOMES}
    assert asked(again, [*ABOUT_ONE.values()]).items() <= expected[0].items()


def test_a_prepared_engine_is_saved_with_its_view_of_the_runs(
    tmp_path: Path, expected: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    engine = cp.load(unfitted().fit([]).save(tmp_path / "e"))
    assert engine.cards == ()
    assert tuple(engine.store.views) == (engine.features,)
    assert asked(engine, [ABOUT_ONE["runtime"]]).items() <= expected[0].items()


def test_new_runs_are_learnt_with_what_is_learnt_later() -> None:
    more = cluster_columns(20, seed=9)
    engine = unfitted().fit(["power"])
    report = engine.tell(more)
    assert [one.target for one in report.learnt] == ["power"]
    assert "learnt with these runs when a question needs it: runtime, state" in report.notes
    both = {name: [*old, *more[name]] for name, old in cluster_columns(120).items()}
    whole = cp.Compass(cp.read(both).roles(**ROLES), settings=QUICK)
    text = ABOUT_ONE["runtime"]
    found, expected = (asked(one, [text])[text] for one in (engine, whole))
    assert found["suggestions"] == expected["suggestions"]
    assert unfitted().fit([]).tell(more).learnt == ()
