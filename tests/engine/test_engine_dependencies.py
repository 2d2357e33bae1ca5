"""Rules that nobody stated: kept where they are no accident, else told where they are broken."""

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.answer import Answer, Suggestion
from compass.domain.errors import QueryProblem
from compass.engine.dependencies import SURE
from conftest import QUICK

GPUS, CAP = "gpus <= 4 * nodes", "gpu == 'p100' -> cap <= 250"
KEPT = "though nobody stated it"
GOALS = {"runtime": cp.minimize}


def jobs(rows: int) -> pa.Table:
    """At most 4 GPUs per node and 250 W on a p100; both would make runs faster."""
    rng = np.random.default_rng(5)
    nodes = rng.integers(1, 9, rows)
    gpus = rng.integers(0, 4 * nodes + 1)
    gpu = rng.choice(["p100", "v100"], rows)
    cap = np.where(
        gpu == "p100", rng.choice([150, 200, 250], rows), rng.choice([200, 250, 300], rows)
    )
    size = rng.integers(1, 50, rows)
    runtime = 1000 * size / (1 + gpus) + 50 * nodes - cap
    return pa.table(
        {"nodes": nodes, "gpus": gpus, "gpu": gpu, "cap": cap, "size": size, "runtime": runtime}
    )


def engine_of(rows: int, **more: object) -> cp.Compass:
    data = cp.read(jobs(rows)).roles(
        knobs=["nodes", "gpus", "cap"], context=["gpu", "size"], outcomes=["runtime"]
    )
    return cp.Compass(data, settings=QUICK, **more).fit()


@pytest.fixture(scope="module")
def many() -> cp.Compass:
    return engine_of(2_500)


@pytest.fixture(scope="module")
def few() -> cp.Compass:
    return engine_of(60)


def found(answer: Answer) -> list[Suggestion]:
    """Everything that was found; what no past run did is an idea."""
    return [*answer, *answer.ideas]


def legal(answer: Answer) -> list[bool]:
    return [one.config["gpus"] <= 4 * one.config["nodes"] for one in found(answer)]


def wide(engine: cp.Compass, **more: object) -> Answer:
    return engine.recommend(ask=["nodes", "gpus"], goals=GOALS, prove=0.0, count=5, **more)


def test_what_was_found(many: cp.Compass, few: cp.Compass) -> None:
    for engine in (many, few):
        known = engine.store.view_of(("nodes", "gpus", "gpu", "cap", "size")).dependencies
        sure = {one.rule.text: one.mined.accident <= SURE for one in known.found}
        assert sure[GPUS] == (engine is many)
        assert (CAP in sure) == (engine is many)


def test_a_recommendation_from_many_rows_keeps_them_and_says_so(many: cp.Compass) -> None:
    answer = wide(many)
    assert answer.suggestions
    assert all(legal(answer))
    assert [one.breaks for one in answer] == [()] * len(answer.suggestions)
    (note,) = [note for note in answer.notes if KEPT in note]
    assert f"{GPUS} (2,500 runs, chance of an accident below 1e-9)" in note
    assert "`ignore dependencies`" in note
    for proposal in many.run_next(4, answer.text):
        assert proposal.config["gpus"] <= 4 * proposal.config["nodes"]


def test_few_rows_keep_nothing_unless_asked(few: cp.Compass) -> None:
    answer = few.recommend(ask=["gpus"], goals=GOALS, where=["nodes == 1", "gpus >= 16"], prove=0.0)
    assert not any(KEPT in note for note in answer.notes)
    assert found(answer)
    assert all(GPUS in one.breaks for one in found(answer))
    (note,) = [note for note in answer.notes if "`keep dependencies`" in note]
    assert note.startswith("Every suggestion breaks")
    assert GPUS in note
    kept = wide(few, dependencies="keep")
    assert any(KEPT in note and GPUS in note for note in kept.notes)
    assert all(legal(kept))


def test_ignored_they_are_told_but_not_offered(many: cp.Compass) -> None:
    answer = wide(many, where=["gpus >= 16", "nodes <= 2"], dependencies="ignore")
    assert found(answer)
    assert not any(legal(answer))
    assert all(GPUS in one.breaks for one in found(answer))
    assert not any("`keep dependencies`" in note or KEPT in note for note in answer.notes)


def test_a_context_that_is_not_given_is_still_averaged_over(many: cp.Compass) -> None:
    ask = {"ask": ["cap"], "goals": GOALS, "prove": 0.0}
    answer = many.recommend(**ask)
    assert not any(CAP in note for note in answer.notes if KEPT in note)
    assert answer.contexts > 1
    given = many.recommend(**ask, where=["gpu == 'p100'"])
    assert any(CAP in note for note in given.notes if KEPT in note)
    assert all(one.config["cap"] <= 250 for one in given)
    other = many.recommend(**ask, where=["gpu == 'p100'"], dependencies="ignore", beyond=True)
    broken = [one for one in found(other) if one.config["cap"] == 300]
    assert broken[0].breaks == (CAP,)


def test_a_change_of_a_baseline_is_told_and_kept_only_when_asked(many: cp.Compass) -> None:
    run = {"nodes": 1, "gpus": 4, "gpu": "v100", "cap": 300, "size": 20}
    question = "What if we change X = {gpus: 16}, how would that affect Y = {runtime}"
    answer = many.ask(question, run=run)
    assert answer[0].config["nodes"] == 1
    assert answer[0].breaks == (GPUS,)
    assert any("`keep dependencies`" in note for note in answer.notes)
    kept = many.ask(f"{question} keep dependencies", run=run)
    assert kept[0].config["nodes"] >= 4
    assert kept[0].breaks == ()
    (moved,) = [edit for edit in kept[0].edits if edit.name == "nodes"]
    assert moved.forced_by == GPUS


def test_a_baseline_that_breaks_one_drops_it(many: cp.Compass) -> None:
    run = {"nodes": 1, "gpus": 16, "gpu": "v100", "cap": 300, "size": 20}
    answer = many.reconfigure(
        run=run, ask=["cap", "gpus"], goals={"runtime": cp.less(0.01)}, dependencies="keep"
    )
    assert any(GPUS in note and "not what is given" in note for note in answer.notes)
    assert not any(GPUS in note for note in answer.notes if KEPT in note)


def test_given_values_that_break_one_drop_it(many: cp.Compass) -> None:
    answer = many.ask(
        "Recommend X = {cap: ?, nodes: 1, gpus: 16} to achieve Y = {runtime: minimize}",
        dependencies="keep",
        prove=0.0,
    )
    assert found(answer)
    assert all(GPUS in one.breaks for one in found(answer))


def test_what_was_found_never_leaves_a_question_without_an_answer(many: cp.Compass) -> None:
    answer = wide(many, where=["gpus >= 16", "nodes <= 2"])
    assert found(answer)
    (note,) = [note for note in answer.notes if note.startswith("No configuration obeys the rules")]
    assert GPUS in note
    assert all(GPUS in one.breaks for one in found(answer))
    assert answer.query.dependencies == "ignore"


def test_what_is_stated_is_not_told_as_found() -> None:
    engine = engine_of(1_500, rules=[GPUS])
    answer = wide(engine)
    assert all(legal(answer))
    assert not any(GPUS in note for note in answer.notes if KEPT in note)


def test_a_saved_engine_finds_the_same(many: cp.Compass, tmp_path) -> None:
    loaded = cp.load(many.save(tmp_path / "jobs.compass"))
    before, after = wide(many), wide(loaded)
    assert after.suggestions == before.suggestions
    assert [n for n in after.notes if KEPT in n] == [n for n in before.notes if KEPT in n]


def test_another_word_is_refused(many: cp.Compass) -> None:
    with pytest.raises(QueryProblem, match="dependencies"):
        many.ask("Recommend X = {cap: ?} to achieve Y = {runtime: minimize}", dependencies="some")  # type: ignore[arg-type]
