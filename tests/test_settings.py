"""Settings, and what a study states about labels."""

import pytest

import compass as cp
from compass.domain.errors import StudyProblem
from compass.domain.study import TrustChoice
from compass.settings import TrustSettings, with_study_trust


def test_a_study_states_how_labels_are_made() -> None:
    stated = TrustChoice(neighbours=10, tau=0.3, caution=0.9)
    settings = cp.Settings(seed=3)
    found = with_study_trust(settings, stated)
    assert found.trust == TrustSettings(neighbours=10, tau=0.3, caution=0.9)
    assert found.seed == 3
    assert with_study_trust(settings, TrustChoice()) is settings


def test_what_a_program_sets_explicitly_has_the_last_word() -> None:
    settings = cp.Settings(trust=TrustSettings(neighbours=5, close_percentile=8))
    found = with_study_trust(settings, TrustChoice(neighbours=10, tau=0.3, unsupported=0.98))
    assert found.trust == TrustSettings(neighbours=5, close_percentile=8, unsupported=0.98)


def test_thresholds_that_a_study_leaves_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(StudyProblem, match=r"caution 0\.995 is above unsupported 0\.99") as problem:
        with_study_trust(cp.Settings(), TrustChoice(caution=0.995))
    assert problem.value.hint
