"""The suite of acquisitions: ours keeps the promises, broken ones are caught."""

from dataclasses import replace

import pytest

from compass import registry
from compass.acquire.base import AcquisitionRequest
from compass.acquire.propose import ExpectedImprovement
from compass.domain.answer import Proposal
from compass.testing import ConformanceError, check, check_acquisition


@pytest.mark.parametrize("name", registry.everything("acquisition"))
def test_every_acquisition_keeps_its_promises(name: str) -> None:
    check("acquisition", name)


class Greedy:
    """Proposes more than it was asked for."""

    name = "greedy"

    @staticmethod
    def propose(request: AcquisitionRequest) -> tuple[Proposal, ...]:
        """Twice as many."""
        return ExpectedImprovement.propose(replace(request, count=2 * request.count))


class Forgetful:
    """Proposes again what is pending."""

    name = "forgetful"

    @staticmethod
    def propose(request: AcquisitionRequest) -> tuple[Proposal, ...]:
        """As if nothing was being run."""
        return ExpectedImprovement.propose(replace(request, pending=request.pending[:0]))


class Lawless:
    """Breaks the rule of the task."""

    name = "lawless"

    @staticmethod
    def propose(request: AcquisitionRequest) -> tuple[Proposal, ...]:
        """The largest values of everything."""
        config = {"nodes": 8, "threads": 16}
        return (Proposal(id="1", config=config, why="large"),)


@pytest.mark.parametrize(
    ("broken", "promise"),
    [(Greedy, "no more runs"), (Forgetful, "pending"), (Lawless, "obey the rules")],
)
def test_a_broken_acquisition_is_caught(broken: type, promise: str) -> None:
    with pytest.raises(ConformanceError, match=promise):
        check_acquisition(broken)
