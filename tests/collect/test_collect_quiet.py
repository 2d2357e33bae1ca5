"""Other work on the machine is noticed."""

from compass.collect.quiet import watched


def test_watched_returns_the_result_and_a_load() -> None:
    result, others = watched(lambda: "done")
    assert result == "done"
    assert others >= 0
