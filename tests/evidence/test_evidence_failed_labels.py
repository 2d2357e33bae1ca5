"""Which past runs failed by what a column says."""

import pytest

import compass as cp
from compass.evidence.failed_labels import failures


def failed(
    column: str, values: list[object], asked: tuple[str, ...] = (), **roles: list[str]
) -> list[tuple[list[int], str]]:
    """The rows that are told to have failed, with the words for it."""
    table = {
        column: values,
        "nodes": [1 + i % 3 for i in range(len(values))],
        "runtime": [float(i) for i in range(len(values))],
    }
    given = {"knobs": ["nodes"], "outcomes": ["runtime", column], **roles}
    prepared = cp.read(table).roles(**given).prepared
    return [(one.runs.nonzero()[0].tolist(), one.words) for one in failures(prepared, asked)]


@pytest.mark.parametrize(
    "label", ["FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "Cancelled by 17", "timed out"]
)
def test_words_for_failure_are_known(label: str) -> None:
    ((rows, words),) = failed("state", [label, "COMPLETED", "COMPLETED"] * 4)
    assert rows == [0, 3, 6, 9]
    assert words.startswith("state ")


@pytest.mark.parametrize("label", ["COMPLETED", "errorless", "fast", "none"])
def test_other_words_are_no_failure(label: str) -> None:
    assert failed("state", [label, "RUNNING", "RUNNING"] * 4) == []


def test_a_flag_counts_by_its_name() -> None:
    flags: list[object] = [True, False, True] * 4
    assert failed("valid", flags) == [([1, 4, 7, 10], "valid false")]
    assert failed("turbo", flags) == []


def test_what_is_asked_about_and_what_a_person_sets_is_no_failure() -> None:
    state: list[object] = ["FAILED", "COMPLETED"] * 6
    assert failed("state", state, asked=("state",)) == []
    assert (
        failed("mode", ["abort", "retry"] * 6, knobs=["mode", "nodes"], outcomes=["runtime"]) == []
    )


def test_a_column_of_failures_only_leaves_nothing_out() -> None:
    assert failed("state", ["FAILED", "TIMEOUT"] * 6) == []


def test_many_labels_are_counted() -> None:
    words = [
        "FAILED",
        "TIMEOUT",
        "CANCELLED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "DEADLINE",
        "BOOT_FAIL",
    ]
    ((_, told),) = failed("state", [*words, "COMPLETED"] * 3)
    assert told.endswith(" or 2 others")
