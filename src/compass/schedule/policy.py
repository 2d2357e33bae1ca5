"""How a queue is worked off: an order of the jobs that wait, and who may pass the first of them."""

from enum import StrEnum

from pydantic import Field

from compass.domain.base import Input, Real
from compass.domain.errors import BadInput, unknown

_DAY = 86400.0


class Order(StrEnum):
    """Who stands first in the queue."""

    FCFS = "fcfs"  # who came first
    SJF = "sjf"  # who asked for the least time
    MULTIFACTOR = "multifactor"  # who has the highest priority, see `PriorityWeights`


class Backfill(StrEnum):
    """Who may start although somebody stands before them."""

    NONE = "none"
    EASY = "easy"  # who does not delay the first in the queue
    CONSERVATIVE = "conservative"  # who does not delay anybody: every job has a reservation


class PriorityWeights(Input):
    """Weights of a multifactor priority, as Slurm's plug-in `priority/multifactor` has them.

    Every factor is between 0 and 1. Users have equal shares; what they used fades away.
    """

    # Slurm has no weights of its own; these are those of its example for age and fair share.
    age: Real = Field(1000.0, ge=0, description="of the time waited, up to `oldest`")
    oldest: Real = Field(7 * _DAY, gt=0, description="s; PriorityMaxAge: 7 days")
    fair_share: Real = Field(10000.0, ge=0, description="of what a user has used lately")
    half_life: Real = Field(7 * _DAY, gt=0, description="s; PriorityDecayHalfLife: 7 days")
    size: Real = Field(1000.0, description="of the share of the machine; below 0: small jobs first")
    partitions: dict[str, Real] = Field(
        default_factory=dict, description="added to the priority of a partition's jobs"
    )


class Policy(Input):
    """An order and a kind of backfilling; `fcfs+easy` as a text."""

    order: Order = Order.FCFS
    backfill: Backfill = Backfill.EASY
    weights: PriorityWeights = PriorityWeights()

    @property
    def name(self) -> str:
        """As it is written: `sjf`, `fcfs+easy`."""
        more = "" if self.backfill is Backfill.NONE else f"+{self.backfill.value}"
        return self.order.value + more


def policy(text: str, weights: PriorityWeights | None = None) -> Policy:
    """The policy that a text names: `fcfs`, `sjf+easy`, `multifactor+conservative`."""
    order, plus, backfill = text.strip().lower().partition("+")
    orders, kinds = [one.value for one in Order], [one.value for one in Backfill]
    if order not in orders:
        raise unknown("order of a queue", order, orders)
    if plus and backfill not in kinds:
        raise unknown("kind of backfilling", backfill, kinds)
    if weights is not None and order != Order.MULTIFACTOR:
        raise BadInput(f"{order} has no weights", hint="weights are those of multifactor")
    return Policy(
        order=Order(order),
        backfill=Backfill(backfill or "none"),
        weights=weights or PriorityWeights(),
    )
