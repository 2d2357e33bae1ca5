"""Time stamps that are written as text in other forms than ISO 8601."""

import pyarrow as pa
import pyarrow.compute as pc

from compass.readers.written import NotNumbers

_STAMP = pa.timestamp("us")
_DATE = r"^\s*(?:[A-Za-z]{3,9},? +)?(?:[0-9]{1,4}[-/. ]|[A-Za-z]{3,9} +[0-9]{1,2}[ ,])"
_YEAR = r"(?:^|[^0-9])(?:19|20)[0-9]{2}(?:[^0-9]|$)"
# The first form that reads every cell is the one; none of these can be meant in another way.
_FORMS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%b %d %Y",
    "%b %d, %Y",
)
_CLOCKS = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S")
_CTIME = "%a %b %d %H:%M:%S %Y"
_EITHER = ("%d/%m/%Y", "%m/%d/%Y")  # told apart by days after the twelfth


def moments_of(texts: pa.Array) -> pa.Array | NotNumbers | None:
    """The time stamps of these texts (nulls stay), or why it is not clear which; None: no dates."""
    some = pc.drop_null(texts)
    first = some.slice(0, 100)
    if not len(first) or not all(
        pc.all(pc.match_substring_regex(first, pattern)).as_py() for pattern in (_DATE, _YEAR)
    ):
        return None
    trimmed = pc.utf8_trim_whitespace(texts)
    for zone in (None, "UTC"):
        try:
            return trimmed.cast(pa.timestamp("us", zone)).cast(_STAMP)
        except pa.ArrowInvalid:
            continue
    for form in (*(day + clock for day in _FORMS for clock in _CLOCKS), _CTIME):
        if (found := _read(trimmed, form)) is not None:
            return found
    for clock in _CLOCKS:
        read = [found for day in _EITHER if (found := _read(trimmed, day + clock)) is not None]
        if len(read) > 1 and not read[0].equals(read[1]):
            shown = some[0].as_py().strip()
            return NotNumbers(f"'{shown}' can be day/month or month/day: write the year first")
        if read:
            return read[0]
    return None


def _read(texts: pa.Array, form: str) -> pa.Array | None:
    """The time stamps if all texts are written in this form."""
    found = pc.strptime(texts, format=form, unit="s", error_is_null=True)
    if found.null_count > texts.null_count:
        return None
    return found.cast(_STAMP)
