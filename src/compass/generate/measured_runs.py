"""A measured configuration, and how it is named in a note."""

from collections.abc import Sequence
from dataclasses import dataclass

from compass.domain.base import Config
from compass.language import format_value
from compass.prepare import Prepared


@dataclass(frozen=True)
class MeasuredRuns:
    """The past runs of one configuration, with what was measured on average."""

    rows: int  # how many
    first: str  # the first of them: `row 12`
    values: tuple[str, ...]  # of the outcomes: `time 4.1 ms`

    @classmethod
    def of(cls, prepared: Prepared, rows: Sequence[int], measured: Config) -> "MeasuredRuns":
        """The runs at these rows of the person's data, in order."""
        values = []
        for name, value in measured.items():
            unit = getattr(prepared.space[name], "unit", None)
            amount = f"{value:.4g}" if isinstance(value, float) else format_value(value)
            values.append(f"{name} {amount}" + (f" {unit}" if unit else ""))
        return cls(len(rows), prepared.table.row_label(int(rows[0])), tuple(values))

    @property
    def named(self) -> str:
        """The first run with what was measured: `row 12 (time 4.1 ms)`."""
        return f"{self.first} ({', '.join(self.values)})" if self.values else self.first

    @property
    def as_best(self) -> str:
        """`the best measured run, row 12 (time 4.1 ms)`, or of several runs their mean."""
        if self.rows == 1:
            return f"the best measured run, {self.named}"
        mean = ", ".join(self.values)
        return f"the best measured configuration, {self.rows} runs like {self.first} (mean {mean})"
