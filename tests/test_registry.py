"""Plug-ins come in by name, one per name, and unknown names are answered kindly."""

from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from compass import registry
from compass.domain.errors import BadInput, EnvironmentProblem, UnknownName


@pytest.fixture(autouse=True)
def _own_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test sees an empty registry and leaves the real one as it was."""
    known = {*registry.joints(), "compass.joint"}
    monkeypatch.setattr(registry, "_joints", dict(registry._joints))
    monkeypatch.setattr(registry, "_found", defaultdict(dict))
    monkeypatch.setattr(registry, "_broken", defaultdict(dict))
    monkeypatch.setattr(registry, "_origin", {})
    # The built-ins of the other joints need not be importable here.
    for loaded in ("_loaded", "_ready"):
        monkeypatch.setattr(registry, loaded, known - {"rule"})


def half(value: float) -> float:
    """Half of a value.

    More about halves.
    """
    return value / 2


def twice(value: float) -> float:
    return value * 2


def test_a_plugin_is_found_by_its_name() -> None:
    assert registry.add("rule", "half")(half) is half
    assert registry.get("rule", "half") is half
    assert registry.everything("rule") == {"half": half}


def test_add_is_a_decorator() -> None:
    @registry.add("reader", "mine")
    class Mine:
        """Reads mine."""

    assert registry.get("reader", "mine") is Mine


def test_joints_do_not_share_names() -> None:
    registry.add("rule", "half")(half)
    registry.add("step", "half")(twice)
    assert registry.get("step", "half") is twice


def test_a_taken_name_is_refused() -> None:
    registry.add("rule", "half")(half)
    with pytest.raises(BadInput, match="there is already a rule named 'half'") as caught:
        registry.add("rule", "half")(twice)
    assert __name__ in caught.value.message
    assert "remove()" in caught.value.hint
    assert registry.get("rule", "half") is half


def test_the_same_plugin_may_come_again() -> None:
    def reloaded() -> Callable[[float], float]:
        def again(value: float) -> float:
            return value

        return again

    first, second = reloaded(), reloaded()
    registry.add("rule", "again")(first)
    registry.add("rule", "again")(second)
    assert registry.get("rule", "again") is second


def test_a_removed_name_is_free_again() -> None:
    registry.add("rule", "half")(half)
    registry.remove("rule", "half")
    with pytest.raises(UnknownName):
        registry.get("rule", "half")
    registry.add("rule", "half")(twice)
    assert registry.get("rule", "half") is twice
    registry.remove("rule", "never there")


def test_an_unknown_plugin_offers_the_nearest() -> None:
    registry.add("rule", "half")(half)
    with pytest.raises(UnknownName, match="no rule named 'hallf'") as caught:
        registry.get("rule", "hallf")
    assert caught.value.hint == "did you mean half?"


@pytest.mark.parametrize(
    "use",
    [
        lambda: registry.add("surogate", "x"),
        lambda: registry.get("surogate", "x"),
        lambda: registry.everything("surogate"),
    ],
)
def test_an_unknown_joint_offers_the_nearest(use: Callable[[], Any]) -> None:
    with pytest.raises(UnknownName, match="no joint named 'surogate'") as caught:
        use()
    assert caught.value.hint == "did you mean surrogate?"


def test_entry_points_of_other_packages_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def entry_points(group: str) -> list[EntryPoint]:
        asked.append(group)
        return [EntryPoint("root", "math:sqrt", group)]

    monkeypatch.setattr(registry, "entry_points", entry_points)
    assert registry.get("rule", "root")(9) == 3
    registry.get("rule", "root")
    assert asked == ["compass.rule"]


def test_a_package_that_is_broken_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = [
        EntryPoint("lost", "no_such_module:thing", "compass.rule"),
        EntryPoint("root", "math:sqrt", "compass.rule"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    assert registry.get("rule", "root")(9) == 3
    with pytest.raises(EnvironmentProblem, match=r"the rule 'lost' .* cannot be loaded") as caught:
        registry.get("rule", "lost")
    assert caught.value.hint
    assert [(listed.name, listed.origin) for listed in registry.listing()] == [
        ("root", "math"),
        ("lost", "broken"),
    ]


def test_a_joint_that_could_not_be_loaded_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._joints, "rule", registry.Joint("a rule", ("no_such_module",)))
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError):
            registry.everything("rule")


def test_the_listing_tells_name_origin_and_summary() -> None:
    registry.add("rule", "twice")(twice)
    registry.add("rule", "half")(half)
    registry.add("step", "half")(half)
    assert registry.listing() == [
        registry.ListedPlugin("step", "half", __name__, "Half of a value."),
        registry.ListedPlugin("rule", "half", __name__, "Half of a value."),
        registry.ListedPlugin("rule", "twice", __name__, ""),
    ]


def test_every_joint_is_described_and_has_its_built_ins() -> None:
    joints = registry.joints()
    assert all(joint.description for joint in joints.values())
    assert {name for name, joint in joints.items() if not joint.modules} == {"rule"}


def test_a_joint_can_be_added() -> None:
    policy = registry.Joint("an order of jobs: queue -> next job", (f"{__name__}",))
    registry.declare("policy", policy)
    registry.add("policy", "half")(half)
    registry.declare("policy", policy)  # the same again, as when a module is imported again
    assert registry.joints()["policy"] is policy
    assert registry.get("policy", "half") is half
    assert (
        registry.ListedPlugin("policy", "half", __name__, "Half of a value.") in registry.listing()
    )
    with pytest.raises(UnknownName, match="no policy named 'hallf'"):
        registry.get("policy", "hallf")
    with pytest.raises(BadInput, match="there is already a joint named 'policy'"):
        registry.declare("policy", registry.Joint("something else"))
    for taken in ("rule", "joint"):
        with pytest.raises(BadInput, match=f"there is already a joint named '{taken}'"):
            registry.declare(taken, policy)


POLICY = registry.Joint("an order of jobs", ("no_such_module", "math"))


def test_a_package_announces_a_joint_and_its_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {
        "compass.joint": [
            EntryPoint("policy", f"{__name__}:POLICY", "compass.joint"),
            EntryPoint("wrong", "math:sqrt", "compass.joint"),
            EntryPoint("rule", f"{__name__}:POLICY", "compass.joint"),
        ],
        "compass.policy": [EntryPoint("root", "math:sqrt", "compass.policy")],
    }
    monkeypatch.setattr(registry, "entry_points", lambda group: entries.get(group, []))
    for loaded in (registry._loaded, registry._ready):
        loaded.discard("compass.joint")
    assert registry.get("policy", "root")(9) == 3
    with pytest.raises(
        EnvironmentProblem, match=r"the joint 'wrong' .* is not described by a Joint"
    ):
        registry.get("wrong", "root")
    assert [(listed.joint, listed.name, listed.origin) for listed in registry.listing()] == [
        ("policy", "root", "math"),
        ("policy", "no_such_module", "broken"),
        ("joint", "rule", "broken"),
        ("joint", "wrong", "broken"),
    ]
    assert registry.joints()["rule"] is not POLICY
