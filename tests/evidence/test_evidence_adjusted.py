"""Adjusted comparisons on tables with a known law, where no two runs agree in everything else."""

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.answer import Effect, Finding, Label, Trust
from conftest import QUICK

KNOBS = ("threads", *(f"k{i}" for i in range(8)))
WORK = {"cfd": 400.0, "md": 150.0}


def law(columns: dict[str, np.ndarray]) -> np.ndarray:
    """Runtime: threads matter most, k0 and k1 somewhat, the other knobs not at all."""
    work = np.where(columns["app"] == "cfd", WORK["cfd"], WORK["md"])
    return np.asarray(work / columns["threads"] ** 0.7 * (1 + 0.08 * columns["k0"]) + columns["k1"])


def experiments(n: int = 500, seed: int = 1) -> dict[str, np.ndarray]:
    """Chosen experiments: every knob is drawn anew in each of them."""
    rng = np.random.default_rng(seed)
    columns = {"app": rng.choice([*WORK], n), "threads": rng.integers(1, 65, n)}
    columns |= {name: rng.uniform(0, 10, n).round(2) for name in KNOBS[1:]}
    columns["runtime"] = law(columns) * rng.normal(1, 0.03, n)
    return columns


def engine_on(columns: dict[str, np.ndarray], context: str, **more: object) -> cp.Compass:
    named = {name: values.tolist() for name, values in columns.items()}
    data = cp.read(pa.table(named)).roles(knobs=[*KNOBS], context=[context], outcomes=["runtime"])
    chosen = {"surrogate": "gaussian", **more}  # it learns a smooth law from few runs
    return cp.Compass(data, settings=QUICK, **chosen).fit()  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    return engine_on(experiments(), "app")


def changed(engine: cp.Compass, row: int, **change: float) -> Trust:
    answer = engine.what_if(row, change, ["runtime"])
    return answer[0].trust


def rows_with(low: int, high: int, many: int = 6) -> list[int]:
    threads = experiments()["threads"]
    return [int(i) for i in np.flatnonzero((threads >= low) & (threads <= high))[:many]]


def truth(row: int, **change: float) -> float:
    """By how many percent a change moves the runtime, by the law."""
    before = {name: values[[row]] for name, values in experiments().items()}
    after = before | {name: np.array([value]) for name, value in change.items()}
    return float(100 * (law(after) / law(before) - 1)[0])


def only(trust: Trust) -> Effect:
    (effect,) = trust.effects
    return effect


def test_no_two_experiments_agree_in_everything_else(engine: cp.Compass) -> None:
    columns = experiments()
    X = np.column_stack([columns[name] for name in KNOBS[1:]])
    X = X / X.std(axis=0)
    apart = np.sqrt(((X[:, None] - X[None, :]) ** 2).sum(axis=-1))
    np.fill_diagonal(apart, np.inf)
    assert np.median(apart.min(axis=1)) > engine.settings.trust.tolerance


@pytest.mark.parametrize("row", rows_with(6, 16))
def test_what_threads_do_is_supported_by_runs_that_differ_in_everything(
    engine: cp.Compass, row: int
) -> None:
    effect = only(changed(engine, row, threads=48))
    assert effect.finding is Finding.SUPPORTED
    assert effect.adjusted
    assert effect.pairs >= effect.needed
    assert 0 < effect.agreeing <= effect.pairs
    assert effect.expected == pytest.approx(truth(row, threads=48), abs=12)
    assert effect.observed is not None
    assert effect.observed < -20


def test_with_that_evidence_such_a_change_can_be_trusted(engine: cp.Compass) -> None:
    labels = [changed(engine, row, threads=32).label for row in rows_with(8, 24, 12)]
    assert Label.TRUSTED in labels


def test_a_knob_without_effect_is_supported_as_having_none(engine: cp.Compass) -> None:
    found = []
    for row in rows_with(20, 60, 8):
        old = float(experiments()["k5"][row])
        found.append(only(changed(engine, row, k5=round(10 - old, 2))))
    supported = [one for one in found if one.finding is Finding.SUPPORTED]
    assert len(supported) > len(found) / 2
    for one in supported:
        assert one.expected == pytest.approx(0.0, abs=5)


def test_the_pairs_agree_where_matched_pairs_decide(engine: cp.Compass) -> None:
    # Nothing is said twice: an effect rests on one kind of evidence.
    for row in rows_with(6, 16):
        effect = only(changed(engine, row, threads=48))
        assert effect.adjusted == (not effect.examples)


def confounded() -> dict[str, np.ndarray]:
    """Jobs of people whose programs nobody wrote down: big problems ask for many threads."""
    columns = experiments()
    rng = np.random.default_rng(4)
    big = columns["threads"] / 64
    columns["runtime"] = columns["runtime"] * np.exp(3 * big + rng.normal(0, 0.3, len(big)))
    columns["user"] = np.where(columns.pop("app") == "cfd", "ann", "ben")
    return columns


def test_where_the_program_is_not_named_nothing_is_identifiable() -> None:
    engine = engine_on(confounded(), "user")
    for row in rows_with(6, 16):
        trust = changed(engine, row, threads=48)
        effect = only(trust)
        assert effect.finding is Finding.NOT_IDENTIFIABLE
        assert not effect.adjusted
        assert trust.label is not Label.TRUSTED


def test_a_model_that_may_have_seen_the_runs_gets_no_such_support() -> None:
    def exact(columns: dict[str, np.ndarray]) -> np.ndarray:
        return law(columns)

    engine = engine_on(experiments(), "app", models={"runtime": exact})
    assert not engine.cards[0].unseen
    for row in rows_with(6, 16):
        effect = only(changed(engine, row, threads=48))
        assert not effect.adjusted
        assert effect.finding is not Finding.SUPPORTED


def test_effects_that_a_model_reads_out_of_noise_are_hardly_ever_supported() -> None:
    columns = experiments()
    rng = np.random.default_rng(9)
    columns["runtime"] = rng.lognormal(3, 1, len(columns["runtime"]))  # nothing has an effect
    engine = engine_on(columns, "app", surrogate="forest")
    effects = [only(changed(engine, row, threads=48)) for row in rows_with(6, 16, 30)]
    claims = [one for one in effects if abs(one.expected or 0.0) > 10]
    assert len(claims) > 10
    assert sum(one.finding is Finding.SUPPORTED for one in claims) <= 2


def test_runs_of_another_application_do_not_count() -> None:
    columns = experiments()
    seldom = np.arange(len(columns["app"])) % 40 == 8  # too few of them are held out
    columns["app"] = np.where(seldom, "fft", columns["app"])
    engine = engine_on(columns, "app")
    often = [row for row in rows_with(6, 16, 12) if not seldom[row]]
    assert any(only(changed(engine, row, threads=48)).adjusted for row in often)
    for row in np.flatnonzero(seldom & (columns["threads"] < 40))[:5]:
        assert not only(changed(engine, int(row), threads=48)).adjusted
