"""How the rows of a table came to be, as a column of it says."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.errors import StudyProblem
from compass.domain.origin import RowOrigin
from compass.prepare.cells import coded


def origins(column: pa.ChunkedArray) -> NDArray[np.object_]:
    """The origin of each row, [rows]; where nothing is said the run was measured."""
    codes, labels = coded(column)
    known = {"": RowOrigin.MEASURED} | {origin.value: origin for origin in RowOrigin}
    found = [known.get(str(label).strip().casefold()) for label in labels]
    if None in found:
        raise StudyProblem(
            f"the origin of a row cannot be '{labels[found.index(None)]}'",
            hint=f"it is one of {', '.join(RowOrigin)}; an empty cell is measured",
        )
    return np.array([*found, RowOrigin.MEASURED], dtype=np.object_)[codes]
