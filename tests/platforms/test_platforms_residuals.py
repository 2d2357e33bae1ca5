import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.platforms.residuals import ErrorModel, alikeness, covariance
from property_examples import examples

BETWEEN = np.array([[0.0, 0, 0], [0, 0.5, 0.3], [0, 0.3, 0.4]])
WITHIN = np.array([[0.0, 0, 0], [0, 0.05, 0.02], [0, 0.02, 0.06]])
NOISE = 0.02**2


def drawn(applications: int, lines: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    far = rng.multivariate_normal(np.zeros(3), BETWEEN, applications)
    near = rng.multivariate_normal(np.zeros(3), WITHIN, applications * lines)
    names = np.repeat([f"app{i}" for i in range(applications)], lines)
    return np.repeat(far, lines, axis=0) + near, names


def test_covariances_of_many_applications_are_found() -> None:
    errors, names = drawn(400, 6, 1)
    model = ErrorModel.of(errors, names)
    # Correlations lean half-way to their mean; with one pair of machines that is the pair itself.
    assert model.between == pytest.approx(BETWEEN + WITHIN / 6, abs=0.08)
    assert model.within == pytest.approx(WITHIN, abs=0.01)
    assert model.spread[0] == pytest.approx(np.sqrt(NOISE))


def test_conditioning_is_that_of_the_joint_normal_distribution() -> None:
    rng = np.random.default_rng(2)
    model = ErrorModel(BETWEEN, WITHIN)
    sizes = np.array([[1.0], [2.0], [8.0]])
    alike = alikeness(sizes, sizes)
    errors = rng.normal(size=(3, 3))
    errors[:, 0] = np.nan
    errors[1, 1] = errors[2] = np.nan
    whole = np.kron(np.ones((3, 3)), BETWEEN) + np.kron(alike, WITHIN)
    flat = errors.ravel()
    seen, rest = np.flatnonzero(np.isfinite(flat)), np.arange(9)
    known = whole[np.ix_(seen, seen)] + NOISE * np.eye(len(seen))
    gain = whole[np.ix_(rest, seen)] @ np.linalg.inv(known)
    expected = (gain @ flat[seen]).reshape(3, 3)
    left = np.diag(whole - gain @ whole[np.ix_(seen, rest)]).reshape(3, 3) + NOISE
    mean, spread = model.conditioned(errors, sizes)
    assert mean == pytest.approx(expected)
    assert spread**2 == pytest.approx(np.maximum(left, NOISE))
    for line in range(3):
        block = slice(3 * line, 3 * line + 3)
        joint = whole[block, block] - gain[block] @ whole[np.ix_(seen, rest)][:, block]
        assert model.covariance_of(errors, sizes, np.array([line])) == pytest.approx(joint)


def test_a_run_on_the_target_corrects_it_most_and_a_third_machine_somewhat() -> None:
    model = ErrorModel(BETWEEN, WITHIN)
    sizes = np.array([[1.0], [2.0]])
    errors = np.full((2, 3), np.nan)
    nothing, prior = model.conditioned(errors, sizes)
    assert (nothing == 0).all()
    errors[0, 1] = 1.0
    mean, spread = model.conditioned(errors, sizes)
    assert 0.8 < mean[1, 1] < 1.0
    assert 0.3 < mean[1, 2] < mean[1, 1]
    assert spread[1, 1] < spread[1, 2] < prior[1, 2]
    assert (mean[:, 0] == 0).all()


def test_one_run_brings_generated_errors_down() -> None:
    errors, names = drawn(60, 4, 3)
    model = ErrorModel.of(errors[:120], names[:120])
    sizes = np.arange(4.0)[:, None] * 3
    before, after = [], []
    for start in range(120, 240, 4):
        own = errors[start : start + 4]
        told = np.full((4, 3), np.nan)
        told[0, 1] = own[0, 1]
        left = own - model.conditioned(told, sizes)[0]
        before.append(np.abs(own[1:, 1]).mean())
        after.append(np.abs(left[1:, 1]).mean())
    assert np.mean(after) < 0.6 * np.mean(before)


@given(st.integers(0, 10_000))
@examples(20)
def test_a_covariance_is_one_whatever_is_missing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rng.integers(1, 8), 4)) * np.array([1, 3, 0.1, 0])
    values[rng.random(values.shape) < 0.4] = np.nan
    found = covariance(values, np.ones(len(values)))
    assert np.isfinite(found).all()
    assert np.linalg.eigvalsh(found).min() >= -1e-9
    assert found == pytest.approx(found.T)


def test_configurations_are_alike_by_doublings() -> None:
    lines = np.array([[1.0, 7], [3.0, 7], [3.0, 7]])
    found = alikeness(lines, lines)
    assert found[1, 2] == 1
    assert found[0, 1] == pytest.approx(np.exp(-0.5))
    assert alikeness(np.zeros((2, 0)), np.zeros((2, 0))).tolist() == [[1, 1], [1, 1]]
