"""Public datasets by name: where they are, what their columns mean, and how to get them.

`dataset:NAME` is read like a file. The catalogue holds addresses, checksums and studies; no rows.
"""

from compass.readers.catalogue.getting import Obtained, obtain
from compass.readers.catalogue.known import (
    Piece,
    PreparedFile,
    PublicDataset,
    catalogue,
    entry,
    study_for,
)
from compass.readers.catalogue.reader import DatasetReader, load

__all__ = [
    "DatasetReader",
    "Obtained",
    "Piece",
    "PreparedFile",
    "PublicDataset",
    "catalogue",
    "entry",
    "load",
    "obtain",
    "study_for",
]
