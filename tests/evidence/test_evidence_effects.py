"""Effect evidence: what comparable runs say about a change, with the truth at hand."""

import numpy as np
import pytest

import compass as cp
from benchmarks.trust.trace import law, trace
from compass.domain.answer import Finding, Label
from compass.settings import ForestSettings, TrustSettings

# Small forests: the findings come from pairs of past runs.
QUICK = cp.Settings(
    surrogate="forest", forest=ForestSettings(trees=20), trust=TrustSettings(trees=4)
)
NAMED = ("app", "input", "nodes", "runtime")


def engine_on(columns: tuple[str, ...], *, scaling: int = 0, **more: object) -> cp.Compass:
    jobs = trace(1200, 3, scaling=scaling).only(*columns)
    context = [name for name in columns if name not in ("nodes", "runtime")]
    data = cp.read(jobs).roles(knobs=["nodes"], context=context, outcomes=["runtime"])
    study = data.study.model_copy(update=more)
    return cp.Compass(data.with_study(study), settings=QUICK).fit()


@pytest.fixture(scope="module")
def users_only() -> cp.Compass:
    return engine_on(("user", "nodes", "runtime"))


@pytest.fixture(scope="module")
def named() -> cp.Compass:
    return engine_on(NAMED)


@pytest.fixture(scope="module")
def scaled() -> cp.Compass:
    return engine_on(NAMED, scaling=5)


def double(engine: cp.Compass, row: int) -> cp.Answer:
    return engine.what_if(row, {"nodes": cp.times(2)}, ["runtime"])


def rows_with(engine: cp.Compass, nodes: float, many: int = 8) -> list[int]:
    prepared = engine.data.prepared
    return [int(r) for r in prepared.row_id[prepared.column("nodes") == nodes][:many]]


def test_a_trace_of_users_cannot_tell_what_nodes_do(users_only):
    for row in rows_with(users_only, 8):
        answer = double(users_only, row)
        effect = answer[0].trust.effects[0]
        assert effect.finding is Finding.NOT_IDENTIFIABLE
        assert answer[0].trust.label is not Label.TRUSTED
        assert "only user" in answer[0].trust.reason
        assert answer.comparable is not None
        assert not answer.comparable.identifiable


def test_not_even_the_best_job_of_such_a_trace_is_a_trusted_recommendation(users_only):
    answer = users_only.recommend(["nodes"], {"runtime": cp.minimize}, count=3)
    for suggestion in answer:
        assert suggestion.trust.label is not Label.TRUSTED
        assert {effect.knob for effect in suggestion.trust.effects} == {"nodes"}
        assert suggestion.trust.effects[0].finding is Finding.NOT_IDENTIFIABLE


def test_named_runs_whose_nodes_never_varied_say_so(named):
    for row in rows_with(named, 8):
        trust = double(named, row)[0].trust
        assert trust.effects[0].finding is Finding.NEVER_OBSERVED
        assert "nodes never varied among runs of the same app and input" in trust.reason
        assert trust.label is not Label.TRUSTED


def test_recommending_what_everybody_does_is_no_evidence_that_it_is_best(named, scaled):
    where = ["app == 'ocean'", "input == 'case3'"]
    for engine, known in ((named, False), (scaled, True)):
        answer = engine.recommend(["nodes"], {"runtime": cp.minimize}, where=where, count=1)
        assert (answer[0].trust.label is Label.TRUSTED) == known
        if not known:
            assert answer[0].trust.effects[0].finding is Finding.NEVER_OBSERVED
            assert "nodes never varied" in answer[0].trust.reason


def test_scaling_runs_support_the_change_and_it_is_right(scaled):
    trusted = 0
    jobs = trace(1200, 3, scaling=5)
    for row in rows_with(scaled, 8, many=20):
        suggestion = double(scaled, row)[0]
        effect = suggestion.trust.effects[0]
        truth = float(law(jobs.work[row], 16.0) / law(jobs.work[row], 8.0) - 1)
        if suggestion.trust.label is Label.TRUSTED:
            trusted += 1
            assert effect.finding is Finding.SUPPORTED
            assert effect.pairs >= 3
            assert effect.observed == pytest.approx(100 * truth, abs=6)
            assert suggestion.outcome("runtime").change < 0
    assert trusted >= 10


def test_the_reference_of_a_recommendation_is_the_best_comparable_run(scaled):
    where = ["app == 'ocean'", "input == 'case3'"]
    answer = scaled.recommend(["nodes"], {"runtime": cp.minimize}, where=where, count=3)
    prepared = scaled.data.prepared
    like = [
        i
        for i in range(prepared.rows)
        if prepared.table.row(int(prepared.row_id[i]))["app"] == "ocean"
        and prepared.table.row(int(prepared.row_id[i]))["input"] == "case3"
    ]
    best = min(like, key=lambda i: prepared.column("runtime")[i])
    reference = prepared.column("nodes")[best]
    for suggestion in answer:
        for effect in suggestion.trust.effects:
            assert effect.old == reference
        if suggestion.config["nodes"] == reference:
            assert suggestion.trust.effects == ()


def test_pairs_that_move_the_other_way_contradict_the_model():
    # The model is made to believe that more threads help; every comparable pair says the opposite.
    rng = np.random.default_rng(0)
    threads, tile = rng.choice([1, 2, 4, 8], 600), rng.integers(0, 5, 600)
    time = 1.0 * threads * (1 + 0.1 * tile) * np.exp(0.01 * rng.standard_normal(600))
    data = cp.read({"threads": threads, "tile": tile, "time_s": time})

    def believes(columns):
        return 10.0 / columns["threads"]

    engine = cp.Compass(data, models={"time_s": believes})
    answer = engine.what_if(0, {"threads": 8 if threads[0] < 8 else 1}, ["time_s"])
    effect = next(e for e in answer[0].trust.effects if e.knob == "threads")
    assert effect.finding is Finding.CONTRADICTED
    assert effect.agree < 0.34
    assert (effect.observed > 0) != (effect.expected > 0)
    assert answer[0].trust.label is not Label.TRUSTED
    assert "moved as predicted in only 0 of" in answer[0].trust.reason


def test_a_person_may_say_what_makes_runs_comparable():
    said = engine_on(("user", "nodes", "runtime"), comparable=("user",))
    answer = double(said, rows_with(said, 8)[0])
    assert answer.comparable.given
    assert answer[0].trust.effects[0].finding is not Finding.NOT_IDENTIFIABLE


def test_a_column_that_is_not_in_use_cannot_tell_runs_apart():
    jobs = trace(300, 3).only("user", "nodes", "runtime")
    roles = {"user": {"role": "ignored"}}
    data = cp.read(jobs, study={"columns": roles, "comparable": ["user"]})
    with pytest.raises(cp.CompassError, match="no knob or context") as caught:
        cp.Compass(data, settings=QUICK).what_if(0, {"nodes": cp.times(2)}, ["runtime"])
    assert "--role user=context" in caught.value.hint


def test_what_is_moved_need_not_be_the_same_in_a_pair(scaled):
    # The input is part of the context, but a question may be about changing it.
    answer = scaled.what_if(rows_with(scaled, 8)[0], {"input": "case4"}, ["runtime"])
    effect = next(e for e in answer[0].trust.effects if e.knob == "input")
    assert effect.finding is Finding.SUPPORTED


def test_the_examples_are_rows_of_the_data(scaled):
    table = scaled.data.table
    effect = double(scaled, rows_with(scaled, 8)[0])[0].trust.effects[0]
    assert effect.examples
    for pair in effect.examples:
        old, new = table.row(pair.old), table.row(pair.new)
        assert (old["nodes"], new["nodes"]) == (8, 16)
        assert (old["app"], old["input"]) == (new["app"], new["input"])
        assert old["runtime"] == pytest.approx(pair.before)
        assert new["runtime"] == pytest.approx(pair.after)


def hidden_input(jobs: int, seed: int) -> dict[str, object]:
    """Jobs of one named program: big inputs, which no column names, ask for many nodes."""
    rng = np.random.default_rng(seed)
    size = rng.integers(0, 6, jobs)
    nodes = 2.0 ** np.clip(size + rng.integers(-1, 2, jobs), 0, 7)
    runtime = law(60.0 * 3.0**size, nodes) * np.exp(0.03 * rng.standard_normal(jobs))
    return {"user": rng.integers(0, 5, jobs), "app": ["ocean"] * jobs, "nodes": nodes} | {
        "memory_gb": rng.choice([16, 32, 64], jobs),
        "runtime": runtime,
    }


@pytest.mark.parametrize("columns", [("app", "user"), ("app",), ()])
def test_an_input_that_no_column_names_is_not_mistaken_for_an_effect(columns):
    jobs = hidden_input(2000, 5)
    jobs["app"] = [("ocean", "plasma")[i % 2] for i in range(2000)]
    kept = {name: jobs[name] for name in (*columns, "nodes", "memory_gb", "runtime")}
    data = cp.read(kept).roles(
        knobs=["nodes", "memory_gb"], context=list(columns), outcomes=["runtime"]
    )
    engine = cp.Compass(data, settings=QUICK).fit()
    for row in rows_with(engine, 16, many=10):
        answer = engine.what_if(row, {"nodes": 4}, ["runtime"])
        assert answer[0].trust.label is not Label.TRUSTED
        assert answer[0].trust.effects[0].finding is Finding.NOT_IDENTIFIABLE


def test_continuous_columns_do_not_switch_the_check_off():
    jobs = hidden_input(3000, 6)
    rng = np.random.default_rng(0)
    jobs["load"] = rng.uniform(0, 1, 3000)
    data = cp.read({n: jobs[n] for n in ("user", "nodes", "load", "runtime")}).roles(
        knobs=["nodes"], context=["load"], outcomes=["runtime"], ignored=["user"]
    )
    study = data.study.model_copy(update={"drop": ("user",)})
    engine = cp.Compass(data.with_study(study), settings=QUICK).fit()
    answer = double(engine, rows_with(engine, 8)[0])
    assert answer[0].trust.effects[0].finding is Finding.NOT_IDENTIFIABLE


def test_copies_of_a_table_are_no_more_evidence(named):
    once = trace(300, 4, scaling=1).only(*NAMED)
    thrice = {name: [*column, *column, *column] for name, column in once.items()}
    findings = []
    for jobs in (once, thrice):
        data = cp.read(jobs).roles(knobs=["nodes"], context=["app", "input"], outcomes=["runtime"])
        engine = cp.Compass(data, settings=QUICK).fit()
        effect = double(engine, rows_with(engine, 2, many=1)[0])[0].trust.effects[0]
        findings.append((effect.finding, effect.pairs))
    assert findings[0] == findings[1]


def test_a_population_counts_only_runs_that_change_and_only_known_effects(users_only, scaled):
    answer = users_only.what_if(None, {"nodes": 8}, ["runtime"])
    assert answer.population.label is not Label.TRUSTED
    assert "only user" in answer.population.reason
    unchanged = scaled.what_if(None, {"nodes": 8}, ["runtime"], where=["nodes == 8"])
    assert unchanged.population.label is Label.CAUTION
    assert "as they are" in unchanged.population.reason


def test_curves_of_unsupported_parameters_are_not_trusted(users_only, scaled):
    start = {"nodes": 8, "user": 3}
    curve = users_only.what_if(start, {"nodes": 16}, ["runtime"], curve=["nodes"]).curves[0]
    moved = [point.label for point in curve.points if point.value != 8]
    assert Label.TRUSTED not in moved
    start = {"nodes": 8, "app": "ocean", "input": "case2"}
    curve = scaled.what_if(start, {"nodes": 16}, ["runtime"], curve=["nodes"]).curves[0]
    assert Label.TRUSTED in [point.label for point in curve.points]


def test_conditions_on_outcomes_need_evidence_too():
    jobs = trace(1200, 3, scaling=3).only(*NAMED)
    jobs["power"] = np.array(jobs["nodes"]) * 100.0
    data = cp.read(jobs).roles(
        knobs=["nodes"], context=["app", "input"], outcomes=["runtime", "power"]
    )
    engine = cp.Compass(data, settings=QUICK).fit()
    row = rows_with(engine, 8)[0]
    answer = engine.reconfigure(
        row, ask=["nodes"], goals={"runtime": cp.less(0.2)}, where=["power <= 20000"]
    )
    assert {effect.outcome for effect in answer[0].trust.effects} == {"runtime", "power"}
