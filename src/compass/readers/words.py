"""Words that stand in cells instead of a value: nothing is known, or the run failed.

All word lists of cells are here, so that they can be read, judged and extended in one place.
"""

import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Nothing is known. Only among numbers: as a label of a column of text `none` can be a setting.
_MISSING = _set(
    "- -- --- . .. ? n/a na n.a. #n/a nan -nan null nil none (null) unknown missing undef "
    "undefined tbd empty #div/0! #value! #num! #ref! #name?"
)
# The same as a pattern for whole columns.
GAP = rf"(?i)^\s*(?:{'|'.join(map(re.escape, sorted(_MISSING)))})?\s*$"
# The run was made and gave nothing usable: words that begin so, whatever follows. Blanks and
# signs between the parts of a word do not count: time out, time-out, TIME_OUT.
_FAILED_WORDS = (
    "timeout timedout outofmemory outoftime memout error crash kill fail segfault segv sigsegv "
    "sigkill sigabrt sigbus sigfpe coredump abort invalid exception cancel deadline preempt "
    "nodefail bootfail notconverged diverge didnotfinish noresult incorrect wrong unsupported"
)
_FAILED_STARTS = tuple(_FAILED_WORDS.split())
# Too short to be the beginning of a word: these are all of it.
_FAILED = _set("oom oot to tle mle err dnf dnc hang hung hangs")


def says_missing(text: str) -> bool:
    """Whether a cell among numbers says that nothing is known."""
    word = text.strip().lower()
    return not word or word in _MISSING


def says_failed(text: str) -> bool:
    """Whether a cell says that the run failed: `timeout`, `OOM`, `error: ...`."""
    words = re.findall(r"[a-z]+", text.lower())
    return "".join(words).startswith(_FAILED_STARTS) or (bool(words) and words[0] in _FAILED)
