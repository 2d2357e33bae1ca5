"""The skill of models on runs that they did not see: noise, a law, and what the last run knew."""

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.answer import Label
from compass.domain.doubt import DoubtCode
from compass.learn.outcomes import OutcomeData
from compass.learn.skill import skill_of
from conftest import QUICK


def mixed(n: int = 400, seed: int = 0) -> dict[str, list[object]]:
    """A law, noise that nothing explains, and what drifts from run to run of a code."""
    rng = np.random.default_rng(seed)
    code = rng.choice(["a", "b", "c"], n)
    cores, tile = rng.choice([1, 2, 4, 8, 16, 32], n), rng.integers(1, 30, n)
    drift = np.zeros(n)
    for name in ("a", "b", "c"):
        those = np.flatnonzero(code == name)
        drift[those] = np.cumsum(rng.normal(0, 1.0, len(those)))
    return {
        "queue": ["batch", "night"] * (n // 2),  # a trace of jobs: rows are in order of time
        "code": code.tolist(),
        "cores": cores.tolist(),
        "tile": tile.tolist(),
        "runtime": (100 / cores * rng.normal(1, 0.02, n)).tolist(),
        "luck": rng.normal(50, 10, n).tolist(),
        "coin": rng.choice(["heads", "tails"], n).tolist(),
        "state": np.where(cores > 4, "fast", "slow").tolist(),
        "load": (200 + drift + 0.3 * np.log(cores)).tolist(),
    }


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    data = cp.read(pa.table(mixed())).roles(
        knobs=["cores", "tile"],
        context=["code"],
        outcomes=["runtime", "luck", "coin", "state", "load"],
        ignored=["queue"],
    )
    return cp.Compass(data, settings=QUICK).fit()


@pytest.mark.parametrize(
    ("outcome", "skilled"),
    [("runtime", True), ("state", True), ("luck", False), ("coin", False), ("load", False)],
)
def test_a_law_takes_skill_and_noise_has_none(
    engine: cp.Compass, outcome: str, skilled: bool
) -> None:
    card = next(card for card in engine.cards if card.target == outcome)
    assert card.skilled is skilled
    assert card.skill is not None
    assert (card.skill > 0.8) if skilled else (card.skill < 0.2)


def test_nothing_that_a_model_of_noise_predicts_is_trusted(engine: cp.Compass) -> None:
    answers = (
        engine.recommend(["cores"], {"luck": cp.minimize}, where=["code == a"]),
        engine.reconfigure(3, ["cores"], {"luck": cp.maximize}),
        engine.what_if(3, {"cores": 8}, ["luck"]),
    )
    told = [one for answer in answers for one in (*answer.suggestions, *answer.ideas)]
    assert told
    for one in told:
        assert one.trust.label is not Label.TRUSTED
        doubts = [doubt for doubt in one.trust.doubts if doubt.code is DoubtCode.NO_SKILL]
        assert [doubt.outcome for doubt in doubts] == ["luck"]


def test_what_a_skilled_model_predicts_has_no_such_doubt(engine: cp.Compass) -> None:
    answer = engine.what_if(3, {"cores": 8}, ["runtime"])
    codes = {doubt.code for doubt in answer[0].trust.doubts}
    assert DoubtCode.NO_SKILL not in codes


def outcome_data(engine: cp.Compass, name: str) -> OutcomeData:
    return OutcomeData.of(engine.store.view_of(("cores", "tile", "code")), name)


def test_the_score_is_counted_against_the_median_and_the_last_run(engine: cp.Compass) -> None:
    data = outcome_data(engine, "load")
    said = np.full((len(data.valid), 1), 200.0)
    code = engine.data.prepared.column("code")
    median = float(np.median(data.y[data.train]))
    own = by_median = by_last = 0.0
    for row in data.valid:
        before = [i for i in sorted(data.train) if i < row and code[i] == code[row]]
        last = data.y[before[-1]] if before else median
        y = data.y[row]
        own += abs(np.log(y / 200.0))
        by_median += abs(np.log(y / median))
        by_last += abs(np.log(y / last))
    assert by_last < by_median  # it drifts: the last run knows more
    assert skill_of(data, said).score == pytest.approx(1 - own / by_last)


def test_to_repeat_the_simplest_prediction_is_no_skill_and_to_know_all_is(
    engine: cp.Compass,
) -> None:
    data = outcome_data(engine, "runtime")
    usual = np.full((len(data.valid), 1), np.median(data.y[data.train]))
    assert not skill_of(data, usual).clear
    assert skill_of(data, data.y[data.valid][:, None]).score == pytest.approx(1.0)


def test_of_classes_the_most_frequent_one_is_to_be_beaten(engine: cp.Compass) -> None:
    data = outcome_data(engine, "coin")
    y = data.y[data.valid].astype(int)
    counts = np.bincount(data.y[data.train].astype(int))
    wrong = np.eye(2)[np.where(np.arange(len(y)) % 2, y, 1 - y)]  # every other run
    simple = np.mean(y != counts.argmax())
    # The last run of the context is the other simple way; on a coin it is no better on average.
    score = skill_of(data, wrong).score
    assert score is not None
    assert score <= 1 - np.mean(np.arange(len(y)) % 2 == 0) / simple + 1e-9


def test_an_outcome_that_never_varies_in_the_runs_to_check_with() -> None:
    table = mixed(200)
    table["errors"] = [0.0] * 199 + [1.0]
    data = cp.read(pa.table(table)).roles(
        knobs=["cores", "tile"], context=["code"], outcomes=["errors"]
    )
    engine = cp.Compass(data, settings=QUICK)
    found = OutcomeData.of(engine.store.view_of(("cores", "tile", "code")), "errors")
    found.y[found.valid] = 0.0
    found.y[found.train] = 0.0
    right = skill_of(found, np.zeros((len(found.valid), 1)))
    assert (right.score, right.clear) == (None, True)
    wrong = skill_of(found, np.ones((len(found.valid), 1)))
    assert (wrong.score, wrong.clear) == (None, False)
