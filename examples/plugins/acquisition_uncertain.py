"""An acquisition: run what the models know least about, whatever the goal."""

import numpy as np

from compass import registry
from compass.acquire.base import AcquisitionRequest, proposal
from compass.acquire.draws import draw_candidates
from compass.domain.answer import Proposal
from compass.prepare.encode import Encoder


@registry.add("acquisition", "most-uncertain")
class MostUncertain:
    """Runs whose outcome the models are least sure of."""

    name = "most-uncertain"

    @staticmethod
    def propose(request: AcquisitionRequest) -> tuple[Proposal, ...]:
        """The candidates whose draws scatter most; nothing that is being run already."""
        drawn = draw_candidates(request)
        if drawn is None:
            return ()
        busy = {x.tobytes() for x in request.pending}
        ranked = np.argsort(-drawn.losses.std(axis=0), kind="stable")
        fresh = [place for place in ranked if drawn.X[place].tobytes() not in busy]
        encoder = Encoder(request.task.space)
        return tuple(
            proposal(encoder.decode(drawn.X[place]), "the models are least sure of this one")
            for place in fresh[: request.count]
        )
