"""Laws of scaling, and laws fitted to runs that are known to follow one."""

import numpy as np
import pytest

from compass.domain.errors import BadInput, DataProblem, UnknownName
from compass.schedule.law import Law, LawKind, fitted_laws, law, laws_of

NODES = [1, 2, 4, 8, 16, 32]
KNOWN = {
    "am": law("amdahl:serial=0.08"),
    "gu": law("gustafson:serial=0.3"),
    "us": law("usl:contention=0.02,coherency=0.004"),
    "co": law("communication:serial=0.01,log=0.02,linear=0.003"),
}


@pytest.mark.parametrize(
    ("text", "nodes", "time"),
    [
        ("amdahl:serial=0.1", 10, 0.1 + 0.9 / 10),
        ("amdahl:serial=0", 8, 1 / 8),
        ("amdahl:serial=1", 8, 1),
        ("gustafson:serial=0.5", 3, 1 / 2),
        ("usl:contention=0.1,coherency=0.01", 4, (1 + 0.3 + 0.12) / 4),
        ("communication:log=0.1,linear=0.01", 4, 1 / 4 + 0.2 + 0.03),
    ],
)
def test_laws_by_hand(text: str, nodes: int, time: float) -> None:
    assert law(text).time(nodes) == pytest.approx(time)
    assert law(text).time(1) == pytest.approx(1)
    assert law(law(text).name) == law(text)


def test_the_law_behind_runs_is_found() -> None:
    rng = np.random.default_rng(2)
    rows = [
        (name, case, n, scale * one.time(n) * float(np.exp(0.01 * rng.standard_normal())))
        for name, one in KNOWN.items()
        for case, scale in (("small", 30.0), ("large", 900.0))
        for n in NODES * 3
    ]
    application, case, nodes, runtime = map(list, zip(*rows, strict=True))
    found = fitted_laws(application, nodes, runtime, case)
    for name, one in found.items():
        # Kinds may stand in for each other where they are alike; the times are what counts.
        times = [one.law.time(n) / KNOWN[name].time(n) for n in NODES]
        assert times == pytest.approx([1] * len(NODES), rel=0.05), name
        assert one.error < 0.1
        assert (one.runs, one.nodes) == (36, (1, 32))
    assert found["us"].law.kind in (LawKind.USL, LawKind.COMMUNICATION)
    assert found["am"].law.values["serial"] == pytest.approx(0.08, abs=0.01)
    assert set(laws_of(found)) == set(KNOWN)


def test_inputs_of_other_sizes_are_not_compared() -> None:
    """Big inputs run on many nodes: compared with each other they would say that nodes hurt."""
    nodes, case = [1, 2, 8, 16], ["small", "small", "big", "big"]
    runtime = [10, 5.2, 100, 54]
    apart = fitted_laws(["a"] * 4, nodes, runtime, case)["a"].law
    assert apart.time(16) < apart.time(1) / 8


def test_what_no_law_can_be_fitted_to() -> None:
    with pytest.raises(DataProblem, match="wrf was measured on one number of nodes"):
        fitted_laws(["wrf", "wrf"], [4, 4], [1.0, 1.1])
    with pytest.raises(DataProblem, match="a runtime above 0"):
        fitted_laws(["wrf", "wrf"], [4, 8], [1.0, 0])


def test_texts_that_are_no_laws() -> None:
    with pytest.raises(UnknownName, match="no law of scaling named 'amdal'") as problem:
        law("amdal:serial=0.1")
    assert problem.value.hint == "did you mean amdahl?"
    with pytest.raises(UnknownName, match="no number of usl named 'serial'"):
        law("usl:serial=1")
    with pytest.raises(BadInput, match="is no number"):
        law("amdahl:serial=few")
    with pytest.raises(BadInput, match="at least 0 and at most 1"):
        law("amdahl:serial=1.5")
    with pytest.raises(BadInput, match="has the numbers contention, coherency"):
        Law(kind=LawKind.USL, values={"contention": 0.1})
