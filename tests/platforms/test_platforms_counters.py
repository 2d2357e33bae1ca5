from pathlib import Path

import numpy as np
import pytest

from compass.domain.errors import CompassError, StudyProblem
from compass.platforms.counters import counter_mapping, physical


def test_vendors_names_become_one_feature() -> None:
    mapping = counter_mapping()
    for names in (["PAPI_TOT_INS", "PAPI_BR_INS"], ["inst_executed", "cf_executed"]):
        assert mapping.found(names) == {"instructions": 0, "branch": 1}
    assert mapping.found(["papi_tot_ins", "Papi-Br-Ins"]) == {"instructions": 0, "branch": 1}
    assert mapping.unknown(["PAPI_TOT_INS", "oddity"]) == ("oddity",)


def test_no_name_means_two_features() -> None:
    mapping = counter_mapping()
    for feature, about in mapping.features.items():
        for name in about.names:
            assert set(mapping.found([name])) == {feature}, name


def test_counts_become_ratios_and_work_becomes_rates() -> None:
    counters = np.array([[100.0, 25.0, 0.3, 800.0, 200.0], [200.0, 50.0, 0.3, 1600.0, 400.0]])
    names = ["PAPI_TOT_INS", "PAPI_BR_INS", "Retiring", "flops", "bytes"]
    found, called = physical(counters, names, np.log([2.0, 4.0]), counter_mapping())
    columns = dict(zip(called, found.T, strict=True))
    assert np.exp(columns["instructions per second"]) == pytest.approx([50, 50])
    assert np.expm1(columns["branch per instruction"]) == pytest.approx([0.25, 0.25])
    assert np.exp(columns["intensity"]) == pytest.approx([4, 4])
    assert np.exp(columns["flops per instruction"]) == pytest.approx([8, 8])
    assert columns["retiring"].tolist() == [0.3, 0.3]
    # Twice the work in twice the time is the same kind of work.
    assert found[0] == pytest.approx(found[1])


def test_without_instructions_iterations_count_and_without_both_shares_remain() -> None:
    mapping = counter_mapping()
    _, called = physical(np.ones((1, 2)), ["iterations", "PAPI_BR_INS"], np.zeros(1), mapping)
    assert called == ("iterations per second", "branch per iteration")
    _, called = physical(np.ones((1, 2)), ["Retiring", "PAPI_BR_INS"], np.zeros(1), mapping)
    assert called == ("retiring",)
    found, called = physical(np.zeros((1, 1)), ["oddity"], np.zeros(1), mapping)
    assert (found.shape, called) == ((1, 0), ())


def test_work_that_was_not_done_has_no_logarithm() -> None:
    found, called = physical(
        np.array([[0.0, 5.0]]), ["flops", "bytes"], np.zeros(1), counter_mapping()
    )
    columns = dict(zip(called, found[0], strict=True))
    assert np.isnan(columns["intensity"])
    assert np.isnan(columns["flops per second"])
    assert columns["bytes per second"] == pytest.approx(np.log(5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "names no feature"),
        ("{", "cannot be read"),
        ("branch: {kind: count}", "names: field required"),
        ("branch: {kind: odd, names: [a]}", "kind: input should be"),
        ("branch: {kind: work, names: [a]}", "calls 'branch' work"),
    ],
)
def test_a_mapping_of_ones_own_is_checked(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "counters.yaml"
    path.write_text(text)
    with pytest.raises(CompassError, match=message):
        counter_mapping(path)


def test_a_mapping_of_ones_own_is_used(tmp_path: Path) -> None:
    path = tmp_path / "counters.yaml"
    path.write_text("branch: {kind: count, names: [MY_BRANCHES]}")
    assert counter_mapping(path).found(["MY_BRANCHES"]) == {"branch": 0}
    with pytest.raises(StudyProblem):
        counter_mapping(tmp_path / "absent.yaml")
