"""How much energy a schedule takes: what nodes draw while they work and while they are idle."""

import numpy as np
from pydantic import Field

from compass.domain.base import Input, Real
from compass.schedule.simulate import Schedule
from compass.schedule.trace import Floats


class PowerModel(Input):
    """Watts of one node (or core, where a trace counts cores).

    A job whose power was measured keeps it; every other one draws `busy` on each of its nodes.
    """

    busy: Real = Field(gt=0, description="W of a node that runs a job")
    idle: Real = Field(0.0, ge=0, description="W of a node that runs none")

    def watts(self, schedule: Schedule) -> Floats:
        """What each job draws while it runs."""
        trace = schedule.trace
        return np.where(np.isfinite(trace.power), trace.power, self.busy * trace.need[:, 0])

    def job_energy(self, schedule: Schedule) -> Floats:
        """Joules of each job."""
        return self.watts(schedule) * schedule.ran

    def idle_energy(self, schedule: Schedule) -> float:
        """Joules of nodes without a job, from the first submission to the last end."""
        has = schedule.machine[schedule.trace.resources[0]]
        span = schedule.end.max() - schedule.trace.submit[0]
        busy = (schedule.trace.need[:, 0] * schedule.ran).sum()
        return float(self.idle * max(0.0, has * span - busy))
