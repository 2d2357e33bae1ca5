"""The front door of the suites."""

import pytest

from compass import registry, testing
from compass.domain.errors import UnknownName
from compass.testing import ConformanceError, check


def test_every_joint_has_a_suite_of_its_own() -> None:
    for joint in registry.JOINTS:
        assert f"check_{joint}" in testing.__all__
        assert callable(getattr(testing, f"check_{joint}"))
    assert set(testing._SUITES) == set(registry.JOINTS)


def test_everything_promised_is_there() -> None:
    assert all(hasattr(testing, name) for name in testing.__all__)


def test_an_unknown_plugin_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no surrogate named 'forrest'") as error:
        check("surrogate", "forrest")
    assert "forest" in error.value.hint
    with pytest.raises(UnknownName, match="no joint named 'surogate'"):
        check("surogate", "forest")


def test_a_broken_promise_is_a_failed_assertion() -> None:
    error = ConformanceError("rule", "fits", "it holds", "it does not", "fits(1)")
    assert isinstance(error, AssertionError)
    assert str(error) == (
        "the rule 'fits' breaks a promise: it holds\nseen: it does not\nto see it: fits(1)"
    )
