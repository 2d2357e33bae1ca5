"""Runs to make, as a file to fill in."""

import csv
import io
from collections.abc import Sequence

from compass.domain.answer import Proposal
from compass.domain.space import Space
from compass.prepare.study import Study


def to_fill_in(space: Space, study: Study, proposals: Sequence[Proposal]) -> str:
    """Proposals as CSV that `compass tell` takes once the empty columns are filled in."""
    besides = (study.group, study.time, study.weight)
    names = list(space.names)
    names += [name for name in besides if isinstance(name, str) and name not in names]
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(names)
    for proposal in proposals:
        # As they are, so that they come back as the same labels; none is an empty cell.
        values = [proposal.config.get(name) for name in names]
        lines.writerow(["" if value is None else value for value in values])
    return out.getvalue()
