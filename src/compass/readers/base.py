"""What a file format has to offer to be read."""

from pathlib import Path
from typing import Protocol

import pyarrow as pa


class Reader(Protocol):
    """A file format. Register the class: `@registry.add("reader", "name")`; it takes no arguments.

    `suffixes` decide which reader gets a file; where none or several match, `sniff` does. Raise
    `compass.domain.errors.DataProblem` for a file that cannot be read.

    A reader may have more. `claims_folder(folder) -> bool`: a folder as a whole is one thing of
    this format, and is given to `read` as its path. `read_together(paths) -> list of tables`: all
    paths of a source at once, one table per path with the same columns. `with_options(options)`:
    the same reader with choices of the person. `shy = True`: files of this format beside those
    of another are not data.

    A reader of something else than files has `schemes: tuple[str, ...]` and `fetch(text)`, which
    returns the table that `scheme:text` stands for.
    """

    name: str
    suffixes: tuple[str, ...]

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether a file that starts with these (uncompressed) bytes looks like this format."""
        ...

    def read(self, path: Path) -> pa.Table:
        """The rows of the file; use `compass.readers.files.opened` to read through compression."""
        ...
