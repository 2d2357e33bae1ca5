"""The front door of the suites."""

from typing import Any

import pytest

from compass import registry, testing
from compass.domain.errors import BadInput, UnknownName
from compass.testing import ConformanceError, check


def test_every_joint_has_a_suite_of_its_own() -> None:
    for name, joint in registry.joints().items():
        assert joint.suite == f"compass.testing.{name}:check_{name}"
        assert f"check_{name}" in testing.__all__
        assert callable(getattr(testing, f"check_{name}"))


def test_a_new_joint_brings_its_own_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_joints", dict(registry._joints))
    suite = f"{__name__}:check_policy"
    registry.declare("policy", registry.Joint("an order of jobs", suite=suite))
    registry.declare("ruler", registry.Joint("a measure of length"))
    registry.add("policy", "shortest")(sorted)
    registry.add("ruler", "metre")(len)
    check("policy", "shortest", jobs=[3, 1])
    with pytest.raises(ConformanceError, match="keeps all jobs"):
        check("policy", "shortest", jobs=[])
    with pytest.raises(BadInput, match="'ruler' has no suite to check 'metre' with"):
        check("ruler", "metre")


def check_policy(plugin: Any, *, name: str, jobs: list[int]) -> None:
    if not plugin(jobs):
        raise ConformanceError("policy", name, "keeps all jobs", "no jobs", "plugin(jobs)")


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
