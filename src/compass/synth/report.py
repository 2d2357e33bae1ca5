"""What came of a call that draws rows."""

from pydantic import Field

from compass.domain.base import Noun


class SynthesisReport(Noun):
    """What came of a call that draws rows."""

    asked: int = Field(description="rows that were asked for")
    rows: int = Field(description="rows that obey every condition and rule")
    tried: int = Field(description="rows that were drawn to get these")
    acceptance: float = Field(description="share of the drawn rows that obey")
    broken: dict[str, int] = Field({}, description="refused rows that break each rule")
    notes: tuple[str, ...] = ()
