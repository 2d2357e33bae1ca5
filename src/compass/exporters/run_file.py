"""Runs to make, as a file to fill in."""

import csv
import io
from collections.abc import Sequence

from compass.domain.answer import Proposal
from compass.domain.space import Space
from compass.domain.study import Study
from compass.exporters.spreadsheet import guarded


def to_fill_in(space: Space, study: Study, proposals: Sequence[Proposal]) -> str:
    """Proposals as CSV that `compass tell` takes once the empty columns are filled in."""
    besides = (study.group, study.time, study.weight, study.origin)
    names = list(space.names)
    names += [name for name in besides if isinstance(name, str) and name not in names]
    # `tell` takes the marks away, so that they come back as the same labels; none is empty.
    rows = [[guarded(name) for name in names]]
    rows += [[guarded(proposal.config.get(name)) for name in names] for proposal in proposals]
    cells = [["" if value is None else value for value in row] for row in rows]
    # Python writes a lone carriage return without quotes, and the line would end there.
    torn = any(isinstance(value, str) and "\r" in value for row in cells for value in row)
    out = io.StringIO()
    csv.writer(
        out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if torn else csv.QUOTE_MINIMAL
    ).writerows(cells)
    return out.getvalue()
