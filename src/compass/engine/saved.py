"""Whether a folder is a saved engine that can be read; apart, as this needs nothing that learns."""

import json
import re
from pathlib import Path

from compass.domain.errors import EngineProblem

POINTER = "CURRENT"  # the file that names the generation that is in use
GENERATION = "generation-"
FORMAT = 5


def is_engine(path: Path) -> bool:
    """Whether a path is a saved engine."""
    return (path / POINTER).is_file()


def generation_of(path: Path) -> Path:
    """The folder of the generation that is in use."""
    name = (path / POINTER).read_text(encoding="utf-8").strip()
    if not re.fullmatch(rf"{GENERATION}\w+", name):
        raise EngineProblem(
            f"{path} is damaged: it points to {name[:80]!r}", hint="fit it again from the data"
        )
    return path / name


def check_format(path: Path, manifest: bytes) -> None:
    """Refuse an engine of another version before anything else in it is looked at."""
    found = json.loads(manifest)["format"]
    if found != FORMAT:
        raise EngineProblem(
            f"{path} was saved in format {str(found)[:20]}; this version reads {FORMAT}",
            hint="fit it again from the data",
        )
