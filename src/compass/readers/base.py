"""What a file format has to offer to be read."""

from pathlib import Path
from typing import Protocol

import pyarrow as pa


class Reader(Protocol):
    """A file format. Register the class: `@registry.add("reader", "name")`; it takes no arguments.

    `suffixes` decide which reader gets a file; where none or several match, `sniff` does. Raise
    `compass.domain.errors.DataProblem` for a file that cannot be read.
    """

    name: str
    suffixes: tuple[str, ...]

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether a file that starts with these (uncompressed) bytes looks like this format."""
        ...

    def read(self, path: Path) -> pa.Table:
        """The rows of the file; use `compass.readers.files.opened` to read through compression."""
        ...
