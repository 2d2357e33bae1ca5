"""Labels and reasons: Algorithm 1 as a whole."""

from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from trust_reference import algorithm_1, disagreement, mixed_rows, mixed_space

from compass.domain.answer import Comparability, Comparable, Label, Trust
from compass.domain.doubt import Doubt, DoubtCode
from compass.domain.space import Category, Number, Space
from compass.model.base import Task
from compass.settings import Settings, TrustSettings
from compass.trust.assess import Scores, assess, doubts_about
from compass.trust.conclude import concluded, label_of
from compass.trust.spread import Perturbed
from compass.trust.support import Support
from property_examples import examples

space = mixed_space()
default = TrustSettings()
all_runs = Comparable(code=Comparability.ONE_PROGRAM, identifiable=True, why="", reason="")


def judge(
    ood: float,
    uq: float,
    near: int,
    tau: float,
    settings: TrustSettings,
    *,
    risk: float,
    **columns: list[str],
) -> tuple[Label, str]:
    """Label and reason of a configuration with these scores."""
    doubts = doubts_about(Scores(ood, uq, risk, near), settings, **columns)
    trust = Trust(label=label_of(doubts), ood=ood, uq=uq, support=near, tau=tau, reason="")
    trust = concluded(trust, doubts, all_runs)
    assert trust.label is label_of(trust.doubts)
    return trust.label, trust.reason


def trained(
    seed: int, n: int, chosen: Settings
) -> tuple[np.ndarray, np.ndarray, Support, Perturbed]:
    train, valid = mixed_rows(seed, n), mixed_rows(seed + 1, 30)
    y = train[:, 0] * (1 + train[:, 3]) + np.random.default_rng(seed).normal(size=n)
    support = Support.build(train, valid, space, chosen.trust, 7)
    perturbed = Perturbed.fit(
        train, {"runtime": y}, {"runtime": Task()}, space, chosen, 7, X_valid=valid
    )
    return train, valid, support, perturbed


def lowered(published: str, ood: float, near: int, risk: float) -> str:
    """What a large expected error makes of a label of Algorithm 1."""
    if risk <= 0.95 or published == "unsupported":
        return published
    return "unsupported" if near == 0 or ood > 0.95 else "caution"


def has_unseen_label(x: np.ndarray, train: np.ndarray) -> bool:
    """Whether a configuration has a label that no training row has."""
    labels = [j for j, parameter in enumerate(space) if isinstance(parameter, Category)]
    return any(x[j] not in train[:, j] for j in labels)


@examples(6)
@given(st.integers(0, 2**31))
@example(1524162)  # one of the candidates has a label that no training row has
def test_verdicts_are_those_of_algorithm_1(seed: int) -> None:
    chosen = Settings(trust=TrustSettings(trees=2))
    train, valid, support, perturbed = trained(seed, 50, chosen)
    forest, scale = perturbed.forests[0], perturbed.scales[0]
    u_valid = [disagreement(forest, 5, v) / scale for v in valid]
    far = np.array([[64.0, 10.0, 30.0, 2.0], [16.0, 1.0, 13.0, 1.0]])
    candidates = np.vstack([train[:2], mixed_rows(seed + 2, 3), far])
    for x, verdict in zip(
        candidates, assess(candidates, support, perturbed, chosen.trust), strict=True
    ):
        u = disagreement(forest, 5, x) / scale
        slow = algorithm_1(train, valid, u_valid, x, u, space)
        expected = lowered(slow.label, slow.ood, len(slow.support), verdict.scores.risk)
        assert verdict.label == ("unsupported" if has_unseen_label(x, train) else expected)
        assert verdict.scores.ood == pytest.approx(slow.ood)
        assert verdict.scores.uq == pytest.approx(slow.uq)
        assert sorted(verdict.rows) == sorted(slow.support)
        assert verdict.distances.shape == verdict.rows.shape
        assert verdict.scores.near == verdict.rows.size


def test_every_label_is_reached_on_data() -> None:
    chosen = Settings(trust=TrustSettings(trees=3))
    train, _, support, perturbed = trained(1, 200, chosen)
    far = np.array([[64.0, 10.0, 30.0, 0.0]])
    candidates = np.vstack([train, far])
    labels = [v.label for v in assess(candidates, support, perturbed, chosen.trust)]
    assert labels[-1] == Label.UNSUPPORTED
    assert labels.count(Label.TRUSTED) > 100
    assert Label.CAUTION in labels


def test_repeated_runs_are_trusted_when_many_tie() -> None:
    chosen = Settings(trust=TrustSettings(trees=3))
    train = np.repeat(mixed_rows(1, 12), 40, axis=0)
    y = {"runtime": train[:, 0]}
    support = Support.build(train, train[::7], space, chosen.trust, 7)
    perturbed = Perturbed.fit(train, y, {"runtime": Task()}, space, chosen, 7, X_valid=train[::7])
    verdicts = assess(train[::40], support, perturbed, chosen.trust)
    assert {v.scores.ood for v in verdicts} == {0.0}
    assert Label.UNSUPPORTED not in {v.label for v in verdicts}
    assert all(v.rows.size >= 40 for v in verdicts)


def test_one_measure_per_target_counts_like_one_of_all() -> None:
    chosen = Settings(trust=TrustSettings(trees=3))
    train, _, support, perturbed = trained(1, 60, chosen)
    several = assess(train, support, [perturbed, perturbed], chosen.trust)
    one = assess(train, support, perturbed, chosen.trust)
    assert [v.label for v in several] == [v.label for v in one]
    assert [v.scores.uq for v in several] == pytest.approx([v.scores.uq for v in one])


@pytest.mark.parametrize(
    ("ood", "uq", "near", "label"),
    [
        (0.0, 0.0, 1, Label.TRUSTED),
        (0.95, 0.95, 1, Label.TRUSTED),  # the thresholds themselves are still inside
        (0.951, 0.0, 1, Label.CAUTION),
        (0.0, 0.951, 1, Label.CAUTION),
        (0.99, 0.0, 1, Label.CAUTION),
        (0.0, 1.0, 1, Label.CAUTION),  # uncertain, but not unknown
        (0.0, 0.0, 0, Label.CAUTION),
        (0.991, 0.0, 0, Label.UNSUPPORTED),
        (0.991, 0.0, 9, Label.UNSUPPORTED),
        (1.0, 1.0, 0, Label.UNSUPPORTED),
    ],
)
def test_thresholds(ood: float, uq: float, near: int, label: Label) -> None:
    assert judge(ood, uq, near, 0.3, default, risk=0.0)[0] == label


def test_thresholds_are_settings() -> None:
    strict = TrustSettings(caution=0.5, unsupported=0.6)
    assert judge(0.55, 0.0, 3, 0.3, default, risk=0.0)[0] == Label.TRUSTED
    assert judge(0.55, 0.0, 3, 0.3, strict, risk=0.0)[0] == Label.CAUTION
    assert judge(0.65, 0.0, 3, 0.3, strict, risk=0.0)[0] == Label.UNSUPPORTED


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (
            (0.2, 0.3, 278, 0.31),
            "Trusted: 278 past runs are this close, and predictions there are as certain as usual.",
        ),
        (
            (0.2, 0.3, 1, 0.31),
            "Trusted: 1 past run is this close, and predictions there are as certain as usual.",
        ),
        (
            (0.2, 0.97, 5, 0.31),
            "Caution: the prediction is less certain here than for 97 % of past runs.",
        ),
        ((0.2, 0.3, 0, 0.314), "Caution: no past run is within 0.31 of this configuration."),
        ((0.2, 0.3, 0, 0.0), "Caution: no past run has exactly this configuration."),
        (
            (0.9612, 1.0, 0, 0.31),
            "Caution: it is further from the past runs than 96.1 % of past runs held out for "
            "comparison, no past run is within 0.31 of this configuration and the prediction is "
            "less certain here than for all past runs.",
        ),
        (
            (0.99996, 0.0, 0, 0.31),
            "Unsupported: this configuration is further from the past runs than 99.9 % of past "
            "runs held out for comparison, and no past run is near it.",
        ),
        (
            (1.0, 0.0, 2, 0.31),
            "Unsupported: this configuration is further from the past runs than all past runs "
            "held out for comparison, and only 2 past runs are near it.",
        ),
    ],
)
def test_reasons(scores: tuple[float, float, int, float], reason: str) -> None:
    assert judge(*scores, default, risk=0.0)[1] == reason


@pytest.mark.parametrize("ood", [0.0, 0.96, 0.995])
@pytest.mark.parametrize("uq", [0.0, 0.96])
@pytest.mark.parametrize("near", [0, 3])
@pytest.mark.parametrize("risk", [0.0, 0.95, 0.951, 1.0])
def test_a_large_expected_error_only_takes_trust_away(
    ood: float, uq: float, near: int, risk: float
) -> None:
    order = (Label.TRUSTED, Label.CAUTION, Label.UNSUPPORTED)
    published = judge(ood, uq, near, 0.3, default, risk=0.0)[0]
    label, reason = judge(ood, uq, near, 0.3, default, risk=risk)
    assert label == lowered(published, ood, near, risk)
    assert order.index(label) >= order.index(published)
    assert ("larger error is expected" in reason) == (risk > 0.95 and ood <= 0.99)
    assert reason.lower().startswith(label)


def test_the_reason_tells_how_unusual_the_expected_error_is() -> None:
    assert judge(0.2, 0.3, 5, 0.31, default, risk=0.9712)[1] == (
        "Caution: going by errors at similar runs, a larger error is expected than for 97.1 % of "
        "past runs."
    )
    assert judge(0.2, 0.3, 0, 0.31, default, risk=0.9712)[1] == (
        "Unsupported: no past run is within 0.31 of this configuration and going by errors at "
        "similar runs, a larger error is expected than for 97.1 % of past runs."
    )


def test_where_runs_like_it_were_predicted_badly_it_is_not_trusted() -> None:
    rng = np.random.default_rng(3)
    # One run in twenty-five is of the noisy kind, whose outcome no column tells.
    X = np.column_stack([rng.integers(0, 40, 3000), rng.integers(0, 25, 3000)]).astype(float)
    y = (10 + X[:, 0]) * np.exp(np.where(X[:, 1] == 7, 1.0, 0.01) * rng.normal(size=3000))
    plain = Space(
        parameters=(
            Number(name="a", low=0, high=40),
            Category(name="b", values=tuple(ascii_lowercase[:25])),
        )
    )
    made = Perturbed.fit(
        X[:2400], {"y": y[:2400]}, {"y": Task()}, plain, Settings(), 7, X_valid=X[2400:]
    )
    noisy = X[2400:, 1] == 7
    assert made.risk(X[2400:])[noisy].min() > 0.9
    assert made.risk(X[2400:])[~noisy].mean() < 0.5


def test_a_label_that_was_never_learnt_is_unsupported_however_near_the_rest_is():
    label, reason = judge(0.1, 0.1, 50, 0.5, Settings().trust, risk=0.1, unseen=["gpu"])
    assert label is Label.UNSUPPORTED
    assert "gpu has a value that no past run learnt from has" in reason


def test_a_number_beyond_all_runs_is_at_most_caution():
    label, reason = judge(0.1, 0.1, 50, 0.5, Settings().trust, risk=0.1, outside=["a", "b"])
    assert label is Label.CAUTION
    assert "a and b are beyond what was run" in reason


def test_doubts_carry_what_was_found_and_what_it_was_compared_with():
    doubts = doubts_about(Scores(0.96, 0.2, 0.97, 0), default, outside=["nodes"])
    assert doubts == (
        Doubt(code=DoubtCode.FAR_FROM_PAST_RUNS, value=0.96, limit=0.95),
        Doubt(code=DoubtCode.NO_RUN_NEAR, value=0, limit=1),
        Doubt(code=DoubtCode.BEYOND_RANGE, columns=("nodes",)),
        Doubt(code=DoubtCode.LARGE_ERROR, value=0.97, limit=0.95),
    )


@given(st.sets(st.sampled_from(DoubtCode)), st.sampled_from(DoubtCode))
def test_a_further_doubt_never_makes_a_label_better(codes: set[DoubtCode], more: DoubtCode) -> None:
    order = (Label.TRUSTED, Label.CAUTION, Label.UNSUPPORTED)
    before = label_of(Doubt(code=code) for code in codes)
    after = label_of(Doubt(code=code) for code in codes | {more})
    assert order.index(after) >= order.index(before)
    assert after is not Label.TRUSTED
