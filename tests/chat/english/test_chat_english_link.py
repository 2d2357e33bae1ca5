"""Words into columns and labels."""

import pytest

from compass.chat.draft import How
from compass.chat.english.link import nearest_word
from compass.chat.english.vocabulary import index_of
from compass.chat.english.words import tokens
from compass.domain.space import Category, Number, Role, Space

SPACE = Space(
    parameters=(
        Number(name="AllocCPUS", low=1, high=64, step=1),
        Number(name="ppn", low=1, high=64, step=1),
        Number(name="num_gpus", low=0, high=8, step=1),
        Category(name="gpu_type", values=("A100", "T4")),
        Category(name="flags", values=("O2", "O3-native", "Ofast-native")),
        Number(name="time_limit_min", low=1, high=99, unit="min"),
        Number(name="pkg_cap_w", low=1, high=99, unit="W"),
        Number(name="P", low=1, high=9, step=1),
        Number(name="job_id", low=1, high=9, role=Role.IGNORED),
        Number(name="run_time", low=1, high=99, unit="s", role=Role.OUTCOME),
        Number(name="wait_time", low=1, high=99, unit="s", role=Role.OUTCOME),
        Number(name="pkg_power", low=1, high=99, unit="W", role=Role.OUTCOME),
        Number(name="dram_power", low=1, high=99, unit="W", role=Role.OUTCOME),
    )
)


@pytest.mark.parametrize(
    ("text", "columns", "how"),
    [
        ("AllocCPUS", ("AllocCPUS",), How.EXACT),
        ("allocated cpus", ("AllocCPUS",), How.SYNONYM),
        ("number of processors", ("AllocCPUS",), How.SYNONYM),
        ("processes per node", ("ppn",), How.SYNONYM),
        ("ranks per node", ("ppn",), How.SYNONYM),
        ("num gpus", ("num_gpus",), How.EXACT),
        ("gpus", ("num_gpus",), How.SYNONYM),
        ("type of gpu", ("gpu_type",), How.SYNONYM),
        ("acelerators", ("num_gpus",), How.FUZZY),
        ("time limit", ("time_limit_min",), How.SYNONYM),
        ("power cap", ("pkg_cap_w",), How.SYNONYM),
        ("power", ("pkg_power", "dram_power"), How.SYNONYM),
        ("memory power", ("dram_power",), How.SYNONYM),
        ("queue time", ("wait_time",), How.SYNONYM),
        ("wall clock time", ("run_time",), How.SYNONYM),
        ("P", ("P",), How.EXACT),
        ("run times", ("run_time",), How.EXACT),
    ],
)
def test_columns(text: str, columns: tuple[str, ...], how: How) -> None:
    index = index_of(SPACE)
    found = tokens(text)
    mention = index.column_at(found, 0)
    assert mention is not None
    assert (index.ranked(mention), mention.how, mention.end) == (columns, how, len(found))


@pytest.mark.parametrize("text", ["p", "cap", "job", "note", "xylophone", "number", "a"])
def test_words_that_are_no_column(text: str) -> None:
    assert index_of(SPACE).column_at(tokens(text), 0) is None


@pytest.mark.parametrize(
    ("text", "value", "how"),
    [
        ("a100", "A100", How.EXACT),
        ("o3 native", "O3-native", How.EXACT),
        ("ofast", "Ofast-native", How.FUZZY),
    ],
)
def test_labels(text: str, value: str, how: How) -> None:
    mention = index_of(SPACE).label_at(tokens(text), 0)
    assert mention is not None
    assert ([label for _, label in mention.labels], mention.how) == ([value], how)


def test_typing_errors() -> None:
    known = ["threads", "affinity", "node"]
    assert nearest_word("thraeds", known) == "threads"
    assert nearest_word("afinity", known) == "affinity"
    assert nearest_word("nod", known) is None
    assert nearest_word("bread", known) is None


def test_what_a_unit_and_an_adjective_speak_of() -> None:
    index = index_of(SPACE)
    assert index.measured_in("time")[0] == "run_time"
    assert index.measured_in("power") == ("pkg_power", "dram_power", "pkg_cap_w")
    assert index.measured_in("memory") == ()


def test_a_unit_in_brackets_is_not_part_of_a_word() -> None:
    space = Space(parameters=(Number(name="Time[s]", low=1, high=9, unit="s"),))
    index = index_of(space)
    for text in ("time", "Time s", "elapsed time"):
        mention = index.column_at(tokens(text), 0)
        assert mention is not None
        assert mention.scores.keys() == {"Time[s]"}
    assert index.exact_at(tokens("times"), 0) is None
