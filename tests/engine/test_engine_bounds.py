"""A search stays where past runs of its context were: 20 cores here, 64 there."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from bound_task import bound
from compass.domain.answer import Label, Suggestion
from compass.domain.doubt import Doubt, DoubtCode
from conftest import QUICK

SMALL, LARGE = 20, 64
QUICKER = {"runtime": cp.at_most(5.0)}  # it takes 28 cores
_CORES = {"small": range(2, SMALL + 1, 2), "large": range(2, LARGE + 1, 2), "new": (32, 64)}
_COMPILERS = {"small": ("gcc", "llvm"), "large": ("gcc", "icc", "llvm"), "new": ("icc",)}


def table(seed: int = 0) -> dict[str, list[object]]:
    """Three machines, one of them hardly used; more cores are always faster."""
    rng = np.random.default_rng(seed)
    rows = [
        (machine, cores, compiler, tile)
        for machine, some in _CORES.items()
        for cores, compiler in product(some, _COMPILERS[machine])
        for tile in rng.choice([8, 16, 32], 3)
    ]
    machine, cores, compiler, tile = map(list, zip(*rows, strict=True))
    faster = np.where(np.array(compiler) == "icc", 0.8, 1.0)
    runtime = 100 * faster / np.array(cores) ** 0.9 * rng.normal(1, 0.01, len(rows))
    return {
        "machine": machine,
        "cores": cores,
        "compiler": compiler,
        "tile": [int(one) for one in tile],
        "runtime": runtime.tolist(),
    }


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    data = cp.read(pa.table(table())).roles(
        knobs=["cores", "compiler", "tile"], context=["machine"], outcomes=["runtime"]
    )
    smooth = QUICK.model_copy(update={"surrogate": "linear"})  # it learns the law from few runs
    return cp.Compass(data, settings=smooth).fit()


def row(machine: str, cores: int) -> int:
    """The first run with so many cores on a machine."""
    made = table()
    both = zip(made["machine"], made["cores"], strict=True)
    return [*both].index((machine, cores))


def told(answer: cp.Answer) -> list[Suggestion]:
    return [*answer.suggestions, *answer.ideas]


def cores_of(answer: cp.Answer) -> list[float]:
    """The cores of everything that an answer suggests, thinks of or proposes to run."""
    configs = [*(one.config for one in told(answer)), *(run.config for run in answer.run_next)]
    return [float(config["cores"]) for config in configs]  # type: ignore[arg-type]


def beyond(one: Suggestion) -> list[Doubt]:
    return [doubt for doubt in one.trust.doubts if doubt.code is DoubtCode.BEYOND_CONTEXT]


def fastest(engine: cp.Compass, *where: str, **more: object) -> cp.Answer:
    return engine.recommend(["cores"], {"runtime": cp.minimize}, where=[*where], **more)  # type: ignore[arg-type]


def test_the_fastest_on_a_small_machine_has_no_more_cores_than_it_has(engine: cp.Compass) -> None:
    answer = fastest(engine, "machine == small", count=5)
    assert answer.suggestions
    assert max(cores_of(answer)) == SMALL
    assert not any(beyond(one) for one in told(answer))
    assert any("`beyond`" in note and f"cores <= {SMALL}" in note for note in answer.notes)


def test_the_fastest_on_a_large_machine_uses_it(engine: cp.Compass) -> None:
    assert fastest(engine, "machine == large")[0].config["cores"] > SMALL  # type: ignore[operator]


def test_a_goal_out_of_reach_is_not_looked_for_elsewhere(engine: cp.Compass) -> None:
    start = row("small", 8)
    answer = engine.reconfigure(start, ["cores"], QUICKER)
    assert not answer.suggestions
    assert cores_of(answer)
    assert max(cores_of(answer)) <= SMALL
    runs = engine.run_next(
        5, "Reconfigure X = {cores: ?} to achieve Y = {runtime: minimize}", run=start
    )
    assert runs
    assert max(float(run.config["cores"]) for run in runs) <= SMALL  # type: ignore[arg-type]


def test_beyond_lifts_the_limit_and_marks_what_lies_outside(engine: cp.Compass) -> None:
    start, options = row("small", 8), {"beyond": True, "count": 5}
    answers = (
        engine.recommend(["cores"], QUICKER, where=["machine == small"], **options),  # type: ignore[arg-type]
        engine.reconfigure(start, ["cores"], QUICKER, **options),  # type: ignore[arg-type]
        engine.reconfigure(start, ["cores"], {"runtime": cp.minimize}, **options),  # type: ignore[arg-type]
    )
    for answer in answers:
        assert max(cores_of(answer)) > SMALL
        for one in told(answer):
            outside = one.config["cores"] > SMALL  # type: ignore[operator]
            assert bool(beyond(one)) == outside
            if outside:
                assert beyond(one)[0].columns == ("cores",)
                assert one.trust.label is not Label.TRUSTED
    assert answers[0][0].config["cores"] > SMALL  # type: ignore[operator]


def test_a_what_if_beyond_is_answered_and_marked(engine: cp.Compass) -> None:
    start = row("small", 8)
    outside = engine.what_if(start, {"cores": 42}, ["runtime"])[0]
    assert outside.config["cores"] == 42
    assert beyond(outside)[0].columns == ("cores",)
    inside = engine.what_if(start, {"cores": 16}, ["runtime"])[0]
    assert not beyond(inside)
    assert not beyond(engine.what_if(row("large", 8), {"cores": 42}, ["runtime"])[0])


def test_a_condition_on_the_column_is_the_word(engine: cp.Compass) -> None:
    where = ["machine == small", "cores <= 40"]
    answer = engine.recommend(["cores"], QUICKER, where=where, count=3)
    assert SMALL < max(cores_of(answer)) <= 40
    assert not any(beyond(one) for one in told(answer))
    # One about another column says nothing of this one.
    other = engine.recommend(["cores"], QUICKER, where=["machine == small", "tile <= 16"])
    assert max(cores_of(other)) <= SMALL


def test_where_a_baseline_is_it_may_stay(engine: cp.Compass) -> None:
    start = {"machine": "small", "cores": 48, "compiler": "gcc", "tile": 16}
    answer = engine.reconfigure(start, ["cores"], QUICKER, count=5)
    assert SMALL < max(cores_of(answer)) <= 48
    assert not any(beyond(one) for one in told(answer))
    farther = engine.what_if(start, {"cores": 50}, ["runtime"])[0]
    assert beyond(farther)


def test_few_runs_of_a_machine_are_no_limit(engine: cp.Compass) -> None:
    # On the new machine cores were 32 or 64, with one compiler: no sign of what it can do.
    start, slower = row("new", 64), {"runtime": cp.within(8.0, 14.0)}
    answer = engine.reconfigure(start, ["cores", "compiler"], slower)
    assert min(cores_of(answer)) < 32
    assert not any(beyond(one) for one in told(answer))
    assert not any("`beyond`" in note for note in answer.notes)
    assert not beyond(engine.what_if(start, {"cores": 4, "compiler": "gcc"}, ["runtime"])[0])


def test_labels_that_were_never_used_there_are_not_suggested(engine: cp.Compass) -> None:
    ask = (["compiler"], {"runtime": cp.minimize})
    small = engine.recommend(*ask, where=["machine == small"], count=3)
    assert {one.config["compiler"] for one in told(small)} <= {"gcc", "llvm"}
    free = engine.recommend(*ask, where=["machine == small"], count=3, beyond=True)
    chosen = {str(one.config["compiler"]): bool(beyond(one)) for one in told(free)}
    assert chosen["icc"]
    assert not any(chosen[name] for name in {*chosen} - {"icc"})
    large = engine.recommend(*ask, where=["machine == large"], count=3)
    assert large[0].config["compiler"] == "icc"


def test_over_several_machines_a_suggestion_is_possible_on_each(engine: cp.Compass) -> None:
    answer = fastest(engine, "machine in {small, large}", count=3)
    assert max(cores_of(answer)) <= SMALL
    assert not any(beyond(one) for one in told(answer))
    # Wherever the search starts: many cores are slow enough for this on neither machine.
    slow = "Recommend X = {cores: ?} to achieve Y = {runtime: between 20 and 30} where "
    both, one = (
        {rule.text for rule in bound(engine, slow + some)[0].assumed.bounds}
        for some in ("machine in {small, large}", "machine == small")
    )
    assert f"cores <= {SMALL}" in one & both
