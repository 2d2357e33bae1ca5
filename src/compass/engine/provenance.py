"""What is needed to repeat an answer."""

import platform
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from compass.domain.answer import Provenance
from compass.domain.query import Query

if TYPE_CHECKING:
    from compass.engine.compass import Compass


def provenance_of(engine: "Compass", query: Query) -> Provenance:
    """The data, the seed and the versions that an answer is made with."""
    return Provenance(
        data=engine.data.table.fingerprint,
        sample=engine.data.prepared.sample,
        seed=query.seed if query.seed is not None else engine.settings.seed,
        versions=dict(_versions()),
    )


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """What answers are made with; read once, because that takes a millisecond."""
    return (
        ("compass", version("compass-hpc")),
        ("python", platform.python_version()),
        ("numpy", version("numpy")),
        ("scikit-learn", version("scikit-learn")),
    )
