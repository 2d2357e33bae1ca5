"""How the rows of a table came to be."""

from enum import StrEnum


class RowOrigin(StrEnum):
    """How a row of a table came to be.

    measured: a run that was made, with what was measured. synthetic: generated from other rows;
    models may learn from it, but it is no run, and no evidence, support, pair or best run cites
    it. failed: a run that was made and gave no usable outcome; it is neither learnt from nor
    cited, and kept with what was tried and why it failed. A configuration that no run could be
    made of is not a row: rules say what is legal.
    """

    MEASURED = "measured"
    SYNTHETIC = "synthetic"
    FAILED = "failed"
