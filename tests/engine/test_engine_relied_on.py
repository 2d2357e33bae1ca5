"""What is suggested, in which order, and what stays an idea."""

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from bound_task import bound
from compass.domain.answer import Certificate, CertificateStatus, Label, Suggestion
from compass.domain.doubt import Doubt, DoubtCode
from compass.engine.relied_on import about_first, relied_on, set_aside, with_measured
from compass.evidence.assessor import Assessor
from compass.evidence.best_measured import best_measured
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder
from conftest import QUICK

TRUSTED, CAUTION, UNSUPPORTED = Label.TRUSTED, Label.CAUTION, Label.UNSUPPORTED
FASTEST = "Recommend X = {cores: ?, tile: ?} to achieve Y = {runtime: minimize} where app == %s"
QUICKER = "Reconfigure X = {cores: ?, tile: ?} to achieve Y = {runtime: <= %g}"


def table(n: int = 240, seed: int = 2) -> dict[str, list[object]]:
    """Runs that scatter by a third: models of them are far from right."""
    rng = np.random.default_rng(seed)
    app = rng.choice(["cfd", "md", "fft"], n)
    cores, tile = rng.choice([4, 8, 16, 32], n), rng.choice([8, 16, 32, 64], n)
    work = np.select([app == "cfd", app == "md"], [500, 200], 50)
    runtime = work / cores**0.6 * (1 + np.abs(np.log2(tile / 16)) / 4) * rng.lognormal(0, 0.3, n)
    made = {"app": app, "cores": cores, "tile": tile, "runtime": runtime}
    return {name: values.tolist() for name, values in made.items()}


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    data = cp.read(pa.table(table())).roles(
        knobs=["cores", "tile"], context=["app"], outcomes=["runtime"]
    )
    return cp.Compass(data, settings=QUICK).fit()


@pytest.fixture(scope="module")
def asked(engine: cp.Compass) -> tuple[SearchTask, Assessor]:
    return bound(engine, FASTEST % "cfd")


@pytest.fixture(scope="module")
def one(engine: cp.Compass) -> Suggestion:
    return engine.ask(FASTEST % "cfd", count=1, prove=0.0)[0]


def like(
    one: Suggestion, label: Label, cores: int, *, meets: bool = True, runtime: float = 1.0
) -> Suggestion:
    """A suggestion with another label, number of cores and prediction."""
    outcome = one.outcomes[0].model_copy(update={"value": runtime, "observed": None})
    return one.model_copy(
        update={
            "trust": one.trust.model_copy(update={"label": label}),
            "config": one.config | {"cores": cores},
            "meets_goals": meets,
            "outcomes": (outcome,),
        }
    )


def cores(suggestions: tuple[Suggestion, ...]) -> list[object]:
    return [one.config["cores"] for one in suggestions]


def test_the_better_label_comes_first_and_else_the_order_of_the_search(
    asked: tuple[SearchTask, Assessor], one: Suggestion
) -> None:
    labels = (CAUTION, TRUSTED, CAUTION, TRUSTED)
    judged = tuple(like(one, label, place) for place, label in enumerate(labels))
    suggestions, ideas = relied_on(*asked, judged)
    assert cores(suggestions) == [1, 3, 0, 2][: asked[0].count]
    assert ideas == ()


def test_what_is_unsupported_or_not_likely_enough_is_an_idea(
    asked: tuple[SearchTask, Assessor], one: Suggestion
) -> None:
    judged = (
        like(one, UNSUPPORTED, 0),
        like(one, TRUSTED, 1, meets=False),
        like(one, CAUTION, 2),
        like(one, UNSUPPORTED, 3, meets=False),
    )
    suggestions, ideas = relied_on(*asked, judged)
    assert cores(suggestions) == [2]
    assert cores(ideas) == [0, 1, 3]


def test_what_is_worse_than_past_runs_comes_last(
    asked: tuple[SearchTask, Assessor], one: Suggestion
) -> None:
    best = best_measured(*asked)
    assert best is not None
    fast = float(best.outcomes["runtime"])  # type: ignore[arg-type]
    # Nobody ran 5 or 6 cores: these are worth what is predicted.
    judged = (like(one, TRUSTED, 5, runtime=3 * fast), like(one, CAUTION, 6, runtime=fast / 3))
    assert cores(relied_on(*asked, judged)[0]) == [5, 6]
    assert cores(relied_on(*asked, judged, best)[0]) == [6, 5]


def test_no_more_are_suggested_than_asked_for(engine: cp.Compass, one: Suggestion) -> None:
    asked = bound(engine, FASTEST % "cfd", count=2)
    judged = tuple(like(one, TRUSTED, place) for place in range(5))
    assert cores(relied_on(*asked, judged)[0]) == [0, 1]


def test_the_configuration_of_a_what_if_is_told_whatever_its_label(
    engine: cp.Compass, one: Suggestion
) -> None:
    question = "What if we change X = {cores: 32}, how would that affect Y = {runtime}"
    asked = bound(engine, question, run=0)
    judged = (like(one, UNSUPPORTED, 32, meets=False),)
    assert relied_on(*asked, judged) == (judged, ())


@pytest.mark.parametrize("app", ["cfd", "md", "fft"])
def test_the_first_suggestion_is_never_worse_than_the_best_measured_run(
    engine: cp.Compass, app: str
) -> None:
    made = table()
    means: dict[tuple[object, object], list[float]] = {}
    for name, *config, runtime in zip(*made.values(), strict=True):
        if name == app:
            means.setdefault((config[0], config[1]), []).append(float(runtime))  # type: ignore[arg-type]
    best = min(float(np.mean(runs)) for runs in means.values())
    for seed in range(3):
        first = engine.ask(FASTEST % app, seed=seed, prove=0.0)[0].outcome("runtime")
        value = first.value if first.observed is None else first.observed
        assert float(value) <= best * (1 + 1e-9)  # type: ignore[arg-type]


def test_the_best_measured_run_is_a_candidate_after_what_was_found(engine: cp.Compass) -> None:
    task, assessor = bound(engine, FASTEST % "md", count=4)
    best = best_measured(task, assessor)
    assert best is not None
    x = Encoder(task.space).encode(best.config)
    found = LegalSearch.generate(task)
    others = found.take(np.flatnonzero((x != found.X).any(axis=1)))
    joined = with_measured(task, others, best)
    assert len(joined) == len(others) + 1 > 2
    np.testing.assert_array_equal(joined.X[-1], x)
    np.testing.assert_array_equal(joined.X[:-1], others.X)
    # Once is enough, and without such a run there is nothing to add.
    assert with_measured(task, joined, best) is joined
    assert with_measured(task, others, None) is others


def test_goals_that_need_a_chance_need_it_of_the_measured_run_too(engine: cp.Compass) -> None:
    where = " where app == md"
    question = "Recommend X = {cores: ?, tile: ?} to achieve Y = {runtime: minimize}" + where
    fastest = best_measured(*bound(engine, question))
    assert fastest is not None
    limit = float(fastest.outcomes["runtime"])  # type: ignore[arg-type]
    for share, sure in ((3.0, True), (1.001, False)):  # runs scatter by a third
        answer = engine.recommend(
            ["cores", "tile"],
            {"runtime": cp.at_most(share * limit)},
            where=["app == md"],
            prove=0.0,
        )
        assert bool(answer.suggestions) is sure
        for suggestion in answer:
            chance = suggestion.outcome("runtime").chance
            assert chance is not None
            assert chance >= 0.8


def test_suggestions_of_real_questions_keep_to_what_they_promise(engine: cp.Compass) -> None:
    ideas = 0
    for row in range(0, 60, 6):
        took = float(table()["runtime"][row])  # type: ignore[arg-type]
        for share in (0.9, 0.6, 0.3):
            answer = engine.ask(QUICKER % (share * took), run=row, prove=0.0)
            labels = [suggestion.trust.label for suggestion in answer]
            assert labels == sorted(labels, key=[TRUSTED, CAUTION].index)
            for suggestion in answer:
                assert suggestion.meets_goals
                assert suggestion.outcome("runtime").chance >= 0.8 - 1e-9  # type: ignore[operator]
            for idea in answer.ideas:
                assert idea.trust.label is UNSUPPORTED or not idea.meets_goals
            ideas += bool(answer.ideas) and not answer.suggestions
    assert ideas  # some goals are out of reach: then the answer has ideas only


def test_to_change_nothing_is_no_answer_to_a_question_for_something_better(
    engine: cp.Compass, one: Suggestion
) -> None:
    question = "Reconfigure X = {cores: ?, tile: ?} to achieve Y = {runtime: minimize}"
    asked = bound(engine, question, run=0)
    changed = engine.ask(question, run=0, prove=0.0)
    moves = next(s for s in (*changed.suggestions, *changed.ideas) if s.edits)
    still = like(one, TRUSTED, 4).model_copy(update={"edits": ()})
    moved = like(one, CAUTION, 8).model_copy(update={"edits": moves.edits})
    # Something better was found: it comes first by the goals.
    assert cores(relied_on(*asked, (moved, still))[0]) == [8]
    # Nothing is better than to change nothing: that is the answer, though others were found.
    assert cores(relied_on(*asked, (still, moved))[0])[0] == 4
    assert cores(relied_on(*asked, (still,))[0]) == [4]


def test_a_certificate_is_about_what_was_found_first(one: Suggestion) -> None:
    optimal = Certificate(
        status=CertificateStatus.OPTIMAL, reason="No legal one is better.", tolerance=0.01
    )
    first, second = like(one, UNSUPPORTED, 0), like(one, TRUSTED, 1)
    judged = (first, second)
    assert about_first(optimal, judged, (first,)) is optimal
    other = about_first(optimal, judged, (second,))
    assert other is not None
    assert other.status is CertificateStatus.BEST_FOUND
    assert "unsupported" in other.reason
    unlikely = about_first(optimal, (like(one, TRUSTED, 0, meets=False), second), (second,))
    assert unlikely is not None
    assert "not likely enough" in unlikely.reason
    assert about_first(None, judged, (second,)) is None
    # No smaller change is proved for every suggestion that is as near.
    nearest = optimal.model_copy(update={"tolerance": None})
    assert about_first(nearest, judged, (second,)) is nearest


def test_what_the_model_likes_best_and_may_not_run_is_named(engine: cp.Compass) -> None:
    one, other = engine.ask(FASTEST % "cfd", count=2)
    doubt = Doubt(code=DoubtCode.NEVER_TOGETHER, columns=("cores", "tile"), value=0.6, limit=0.5)
    first = one.model_copy(update={"trust": one.trust.model_copy(update={"doubts": (doubt,)})})
    (note,) = set_aside((first, other), (other,))
    assert note.startswith("Set aside, though the model likes it best: cores = ")
    assert "no past run had these values of cores and tile together" in note
    assert set_aside((first, other), (first, other)) == ()
    assert set_aside((one, other), (other,)) == ()
    assert set_aside((), ()) == ()
