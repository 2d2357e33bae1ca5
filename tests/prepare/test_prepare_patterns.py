"""A pattern in a study stands for every column whose name matches it."""

import pytest

from compass.domain.errors import StudyProblem, UnknownName
from compass.domain.space import Role
from compass.domain.study import ColumnChoice, Study
from compass.engine.dataset import read
from compass.prepare import merge
from compass.prepare.patterns import matching, spelled_out

NAMES = ("sched:switch", "sched:wait", "Time[s]", "Times", "threads", "a?b")


def choices(**said: object) -> dict[str, Role | None]:
    study = Study(columns={k: ColumnChoice(role=Role(str(v))) for k, v in said.items()})
    return {name: one.role for name, one in spelled_out(study, NAMES).columns.items()}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("sched:*", ["sched:switch", "sched:wait"]),
        ("threads", ["threads"]),
        ("*[s]", ["Time[s]"]),  # a bracket is a bracket: units are written so
        ("Time?", ["Times"]),
        ("a?b", ["a?b"]),
        ("*", [*NAMES]),
        ("SCHED:*", []),
        ("thread", []),
    ],
)
def test_what_a_pattern_stands_for(pattern: str, names: list[str]) -> None:
    assert matching(pattern, NAMES) == names


def test_a_name_wins_over_patterns_and_a_later_pattern_over_an_earlier_one() -> None:
    given = {"sched:wait": "outcome", "sched:*": "ignored"}
    assert choices(**given) == {"sched:switch": Role.IGNORED, "sched:wait": Role.OUTCOME}
    assert choices(**{"s*": "knob", "sched:*": "ignored"})["sched:wait"] is Role.IGNORED
    assert choices(**{"sched:*": "ignored", "s*": "knob"})["sched:wait"] is Role.KNOB


def test_what_patterns_and_names_say_is_put_together() -> None:
    study = Study(columns={"*[s]": ColumnChoice(unit="s"), "Time*": ColumnChoice(role="outcome")})
    assert spelled_out(study, NAMES).columns["Time[s]"] == ColumnChoice(role="outcome", unit="s")


def test_a_pattern_that_is_given_again_counts_as_the_later_one() -> None:
    file = Study(columns={"s*": ColumnChoice(role="knob"), "sched:*": ColumnChoice(role="context")})
    both = merge(file, Study(columns={"s*": ColumnChoice(role="ignored")}))
    assert spelled_out(both, NAMES).columns["sched:wait"].role is Role.IGNORED


def test_a_pattern_that_matches_nothing_is_an_error_with_a_hint() -> None:
    with pytest.raises(UnknownName, match=r"no column matches the pattern 'shed:\*'") as caught:
        choices(**{"shed:*": "ignored"})
    assert "did you mean sched:" in caught.value.hint
    assert "* stands for any signs" in caught.value.hint
    with pytest.raises(UnknownName, match="no column named 'thread'"):
        choices(thread="knob")


def test_patterns_in_every_way_to_give_roles() -> None:
    runs = {
        "threads": [1, 2, 4] * 10,
        "sched:switch": [float(i % 7) for i in range(30)],
        "sched:wait": [float(i % 5) for i in range(30)],
        "time_s": [1 / (1 + i) for i in range(30)],
    }
    for data in (
        read(runs, study={"columns": {"sched:*": {"role": "context"}}}),
        read(runs).roles(context=["sched:*"]),
    ):
        assert data.prepared.space.having(Role.CONTEXT) == ("sched:switch", "sched:wait")
        assert "sched:*" not in data.columns().in_full.columns
    dropped = read(runs, study={"drop": ["sched:*"]}).prepared
    assert "sched:wait" not in dropped.space
    with pytest.raises(StudyProblem, match="two roles"):
        read(runs).roles(knobs=["sched:*"], ignored=["sched:*"])
