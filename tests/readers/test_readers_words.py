"""Words that stand in cells instead of a value."""

import pytest

from compass.readers.words import says_failed, says_missing

_FAILURES = (
    "timeout Time-Out TIMED_OUT OOM oom-killed Out_Of_Memory error Error:12 ERR killed segfault "
    "SIGSEGV fail FAILED failure crash crashed aborted invalid DNF TLE NODE_FAIL CANCELLED"
)
_GAPS = "- -- N/A n/a NaN null None ? #DIV/0! NA"


@pytest.mark.parametrize("word", [*_FAILURES.split(" "), "CANCELLED by 1234", " out of memory "])
def test_words_that_say_that_a_run_failed(word: str) -> None:
    assert says_failed(word)
    assert not says_missing(word)


@pytest.mark.parametrize("word", [*_GAPS.split(" "), "", " "])
def test_words_that_say_that_nothing_is_known(word: str) -> None:
    assert says_missing(word)
    assert not says_failed(word)


@pytest.mark.parametrize("word", ["total", "COMPLETED", "ok", "auto", "toast", "3.5", "on", "none"])
def test_words_that_do_not_say_that_a_run_failed(word: str) -> None:
    assert not says_failed(word)
