"""Values that are put up for choice, counts of suggestions, and rules between columns."""

import pytest

from compass.chat import english
from compass.chat.draft import Draft
from compass.domain.query import Kind
from compass.domain.space import Category, Number, Role, Space
from compass.language import bind_rule, parse_rule

TABLE = Space(
    parameters=(
        Number(name="nodes", low=1, high=64, step=1),
        Number(name="ranks", low=1, high=4096, step=1),
        Number(name="threads", low=1, high=64, step=1),
        Number(name="cores", role=Role.CONTEXT, low=1, high=128, step=1),
        Number(name="cpu_freq", low=1.0, high=4.0, unit="GHz"),
        Category(name="flags", values=("O1", "O2", "O3")),
        Category(name="gpu", values=("A100", "T4")),
        Category(name="turbo", values=("no", "yes")),
        Number(name="pkg_cap", low=50, high=250, unit="W", optional=True),
        Number(name="runtime", role=Role.OUTCOME, low=1, high=90000, unit="s"),
        Number(name="cpu_power", role=Role.OUTCOME, low=10, high=900, unit="W"),
        Number(name="mem_power", role=Role.OUTCOME, low=10, high=900, unit="W"),
    )
)


def parts_of(text: str) -> Draft:
    return english.read(text, TABLE).parts


def rule(text: str) -> str:
    return str(bind_rule(parse_rule(text), TABLE))


def rules(draft: Draft) -> set[str]:
    return {rule(text) for text in draft.where}


@pytest.mark.parametrize(
    ("text", "ask", "where"),
    [
        ("O2 or O3?", "flags", "flags in {'O2', 'O3'}"),
        ("O2 vs O3: which one is faster?", "flags", "flags in {'O2', 'O3'}"),
        ("between O1 and O3, which one is faster?", "flags", "flags in {'O1', 'O3'}"),
        ("compare O2 with O3 at 4 nodes", "flags", "flags in {'O2', 'O3'}"),
        ("is O3 faster than O2?", "flags", "flags in {'O3', 'O2'}"),
        ("nodes: 4 or 8? lowest runtime", "nodes", "nodes in {4, 8}"),
        ("threads 8, 16 or 32?", "threads", "threads in {8, 16, 32}"),
        ("2.4 GHz or 3 GHz?", "cpu_freq", "cpu_freq in {2.4, 3}"),
        ("4 or 8 nodes, whichever is faster", "nodes", "nodes in {4, 8}"),
    ],
)
def test_values_joined_by_or_are_asked_among(text: str, ask: str, where: str) -> None:
    draft = parts_of(text)
    assert draft.ask == (ask,)
    assert rule(where) in rules(draft)
    assert draft.kind is Kind.RECOMMEND


def test_a_switch_is_asked_for_without_a_rule() -> None:
    draft = parts_of("turbo off or on? lowest runtime")
    assert (draft.ask, draft.where) == (("turbo",), ())


def test_values_beside_the_question_stay_a_rule() -> None:
    draft = parts_of("which flags give the lowest runtime on 4 or 8 nodes?")
    assert draft.ask == ("flags",)
    assert rule("nodes in {4, 8}") in rules(draft)


def test_two_labels_of_one_column_never_allow_none() -> None:
    draft = parts_of("use O2 on the A100, O3 is fine too, lowest runtime")
    assert rule("flags in {'O2', 'O3'}") in rules(draft)


@pytest.mark.parametrize(
    ("text", "count", "ask"),
    [
        ("list 10 nodes/threads combos with the lowest runtime", 10, ("nodes", "threads")),
        ("pick 5 (flags, gpu) pairs, runtime under 30 s", 5, ("flags", "gpu")),
        ("the top three node counts for the lowest runtime", 3, ("nodes",)),
        (
            "4 proposals please: flags and threads, runtime as low as possible",
            4,
            ("flags", "threads"),
        ),
        ("give me nodes + threads, shortest runtime", None, ("nodes", "threads")),
    ],
)
def test_counts_and_what_they_count(text: str, count: int | None, ask: tuple[str, ...]) -> None:
    draft = parts_of(text)
    assert (draft.count, draft.ask) == (count, ask)
    assert set(draft.goals) == {"runtime"}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("nodes x threads must not exceed 56", "nodes * threads <= 56"),
        ("nodes times threads must match the ranks", "nodes * threads == ranks"),
        ("ranks must be nodes * threads", "ranks == nodes * threads"),
        ("threads plus 8 may not exceed the cores", "threads + 8 <= cores"),
        ("cpu power + mem power under 500 W", "cpu_power + mem_power <= 500"),
        ("threads can't outnumber the cores", "threads <= cores"),
        ("no more than 48 ranks/node", "ranks <= 48 * nodes"),
        ("ranks must be a multiple of the nodes", "ranks % nodes == 0"),
        ("threads = cores / 2", "threads == cores / 2"),
        ("O1 is out", "flags != 'O1'"),
        ("don't go to O1", "flags != 'O1'"),
        ("only T4s", "gpu == 'T4'"),
        ("no package cap at all", "pkg_cap == none"),
        ("4 nodes is the upper limit", "nodes <= 4"),
        ("nodes can be anything from 4 to 16", "nodes >= 4"),
    ],
)
def test_rules_in_other_words(text: str, where: str) -> None:
    draft = parts_of(text)
    assert rule(where) in rules(draft)
    assert draft.ask == ()
