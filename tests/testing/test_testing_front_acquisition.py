"""The suite of acquisitions of fronts: ours keep the promises, broken ones are caught."""

from dataclasses import replace

import pytest

from compass import registry
from compass.pareto.acquisition import FrontChoice, FrontRequest
from compass.pareto.expected_volume import ExpectedVolume
from compass.testing import ConformanceError, check, check_front_acquisition


@pytest.mark.parametrize("name", registry.everything("front_acquisition"))
def test_every_front_acquisition_keeps_its_promises(name: str) -> None:
    check("front_acquisition", name)


class Base:
    """As ours, but for one part."""

    name = "broken"
    models = "as ours"

    @staticmethod
    def prepare() -> None:
        """Nothing."""

    @staticmethod
    def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
        return ExpectedVolume.choose(request)


class Twice(Base):
    """The same run again."""

    @staticmethod
    def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
        return (ExpectedVolume.choose(request)[0],) * 2


class Greedy(Base):
    """One more than asked for."""

    @staticmethod
    def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
        return ExpectedVolume.choose(replace(request, count=request.count + 1))


class Elsewhere(Base):
    """Behind the last candidate."""

    @staticmethod
    def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
        first = ExpectedVolume.choose(request)[0]
        return (replace(first, place=len(request.candidates)),)


class Boastful(Base):
    """Its intervals begin at their ends."""

    @staticmethod
    def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
        return tuple(replace(one, low=one.high) for one in ExpectedVolume.choose(request))


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (Twice, "chosen twice"),
        (Greedy, "no more runs"),
        (Elsewhere, "among the candidates"),
        (Boastful, "inside their intervals"),
    ],
)
def test_a_broken_front_acquisition_is_caught(broken: type, promise: str) -> None:
    with pytest.raises(ConformanceError, match=promise):
        check_front_acquisition(broken)
