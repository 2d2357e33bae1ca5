"""The corpus of plain sentences is sound, and its scorer counts what it says it counts."""

import csv
from itertools import combinations, product

import pytest
import yaml
from rapidfuzz import fuzz
from tests.chat.corpus_case import (
    HALVES,
    SETS,
    Sentence,
    accuracy,
    report,
    score,
    sentences,
    slots,
    tables,
    tables_in,
)

from compass import embedded
from compass.chat.draft import Draft
from compass.domain.goal import IsClass, Reach, Within, maximize, minimize, observe
from compass.domain.query import Given, Kind, Plus, Row, SetTo, set_to, times
from compass.domain.space import Category, Number, Role, Space

EVERY = [sentence for half in SETS for sentence in sentences(half)]


def _sentence(table: str, *wants: Draft, free: frozenset[str] = frozenset()) -> Sentence:
    return Sentence("x", table, "", (), wants, free)


def test_there_are_enough_sentences_in_every_set() -> None:
    assert sum(len(sentences(half)) for half in HALVES) >= 200
    assert min(len(sentences(half)) for half in SETS) >= 100
    assert len({sentence.id for sentence in EVERY}) == len(EVERY)


def test_no_sentence_is_nearly_another() -> None:
    texts = [sentence.text.casefold() for sentence in EVERY]
    near = [pair for pair in combinations(texts, 2) if fuzz.ratio(*pair) > 92]
    assert near == []


@pytest.mark.parametrize("half", HALVES)
def test_each_half_has_every_table_kind_and_tag(half: str) -> None:
    here = sentences(half)
    five = tables_in("tables")
    assert {s.table for s in here} == set(five)
    assert len(five) == 5
    for table, kind in product(five, Kind):
        assert any(s.table == table and s.wants[0].kind is kind for s in here), (table, kind)
    every_tag = {tag for other in HALVES for s in sentences(other) for tag in s.tags}
    assert {tag for s in here for tag in s.tags} == every_tag


def test_practice_has_every_kind_on_the_known_tables_and_on_its_own() -> None:
    here = sentences("practice")
    own = set(tables_in("practice_tables"))
    assert not own & set(tables_in("tables"))
    assert sum(s.table in own for s in here) == len(here) / 2
    for table, kind in product(tables(), Kind):
        assert any(s.table == table and s.wants[0].kind is kind for s in here), (table, kind)


@pytest.mark.parametrize("sentence", EVERY, ids=lambda sentence: sentence.id)
def test_what_is_wanted_fits_the_table(sentence: Sentence) -> None:
    space = tables()[sentence.table]
    for want in sentence.wants:
        wanted = slots(want, space)
        assert wanted
        assert not [text for _, text in wanted if text.startswith("unreadable")]
        assert set(want.ask) | set(want.keep) <= set(space.names) - set(space.having(Role.OUTCOME))
        assert set(want.change) <= set(space.having(Role.KNOB))
        assert set(want.goals) <= set(space.having(Role.OUTCOME))
        assert score(sentence, want).counts == (len(wanted), 0, 0)


def _legal(space: Space, name: str, value: object) -> bool:
    parameter = space[name]
    if isinstance(parameter, Category):
        return value in parameter.values
    if value is None:
        return parameter.optional
    assert isinstance(value, int | float)
    if parameter.allowed is not None:
        return value in parameter.allowed
    return parameter.low <= value <= parameter.high


@pytest.mark.parametrize("sentence", EVERY, ids=lambda sentence: sentence.id)
def test_values_that_are_told_are_legal(sentence: Sentence) -> None:
    space = tables()[sentence.table]
    want = sentence.wants[0]
    given = want.baseline.config if isinstance(want.baseline, Given) else {}
    after = {name: edit.value for name, edit in want.change.items() if isinstance(edit, SetTo)}
    for values in (given, want.stated, after):
        for name, value in values.items():
            assert _legal(space, name, value), (name, value)
    for name, goal in want.goals.items():
        if isinstance(goal, Within):
            parameter = space[name]
            assert isinstance(parameter, Number)
            bounds = [bound for bound in (goal.low, goal.high) if bound is not None]
            assert all(parameter.low < bound < parameter.high for bound in bounds), name


def test_kernels_are_the_columns_of_the_embedded_table() -> None:
    space = tables()["kernels"]
    study = yaml.safe_load(embedded.study().read_text("utf-8"))["columns"]
    with embedded.path().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(space.names) == list(rows[0])
    for parameter in space:
        assert parameter.role == study[parameter.name]["role"]
        cells = {row[parameter.name] for row in rows}
        if isinstance(parameter, Category):
            assert set(parameter.values) == cells
        else:
            assert parameter.unit == study[parameter.name].get("unit")
            if parameter.allowed is not None:
                assert set(parameter.allowed) == {float(cell) for cell in cells}


@pytest.mark.parametrize(
    ("table", "first", "second"),
    [
        ("simulation", ["nodes < 16"], ["16 > nodes"]),
        ("simulation", ["nodes < 16"], ["nodes <= 15"]),
        ("simulation", ["not nodes >= 16"], ["nodes < 16"]),
        ("simulation", ["4 <= nodes <= 8"], ["nodes >= 4", "nodes < 9"]),
        ("simulation", ["nodes: [4, 8]"], ["nodes >= 4 and nodes <= 8"]),
        ("simulation", ["queue != 'debug'"], ["queue in {short, regular, large}"]),
        ("simulation", ["queue not in {debug, large}"], ["queue != debug", "queue != large"]),
        ("simulation", ["queue == debug or queue == large"], ["queue in {large, debug}"]),
        ("simulation", ["runtime < 2 h"], ["runtime <= 7200"]),
        ("simulation", ["num_threads <= 0.5 * cpu_cores"], ["cpu_cores >= 2 * num_threads"]),
        ("jobs", ["gpus_req <= 4 * num_nodes_req"], ["gpus_req / num_nodes_req <= 4"]),
        ("jobs", ["gpus_req > 0 -> partition == gpu"], ["gpus_req >= 1 -> partition == 'gpu'"]),
        ("jobs", ["exclusive == true"], ["exclusive != false"]),
        ("kernels", ["tile < 128"], ["tile <= 64"]),
        ("kernels", ["threads <= 1"], ["threads == 1"]),
        ("solver", ["P * Q * R == ppn * nodes"], ["nodes == P * Q * R / ppn"]),
        ("solver", ["strong_threshold < 0.5"], ["strong_threshold <= 0.45"]),
        ("training", ["learning_rate < 0.001"], ["learning_rate <= 0.001"]),
    ],
)
def test_rules_that_say_the_same_are_the_same(
    table: str, first: list[str], second: list[str]
) -> None:
    space = tables()[table]
    assert slots(Draft(where=tuple(first)), space) == slots(Draft(where=tuple(second)), space)


@pytest.mark.parametrize(
    ("table", "first", "second"),
    [
        ("simulation", "nodes < 16", "nodes <= 16"),
        ("simulation", "nodes < 16", "nodes > 16"),
        ("simulation", "cpu_freq < 2.4", "cpu_freq <= 2.4"),
        ("simulation", "queue != debug", "queue == debug"),
        ("simulation", "num_threads <= cpu_cores", "num_threads < cpu_cores"),
        ("simulation", "num_threads <= cpu_cores", "num_threads >= cpu_cores"),
        ("jobs", "gpus_req <= 4 * num_nodes_req", "gpus_req <= 8 * num_nodes_req"),
        ("jobs", "gpus_req <= 4 * num_nodes_req", "num_nodes_req <= 4 * gpus_req"),
        ("jobs", "gpus_req <= 4 * num_nodes_req", "gpus_req <= 4"),
        ("solver", "pkg_cap_w == none", "pkg_cap_w != none"),
    ],
)
def test_rules_that_differ_are_different(table: str, first: str, second: str) -> None:
    space = tables()[table]
    one, other = (slots(Draft(where=(text,)), space) for text in (first, second))
    assert one != other
    assert len(one) == len(other) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"goals": {"power": Within(high=300)}}, {"where": ("power < 300",)}),
        ({"goals": {"power": Within(high=2, unit="kW")}}, {"where": ("power <= 2000",)}),
        (
            {"goals": {"power": Within(low=200, high=350)}},
            {"where": ("power >= 200", "power <= 350")},
        ),
        ({"change": {"nodes": set_to(8)}}, {"where": ("nodes == 8",)}),
        ({"change": {"queue": set_to("debug")}}, {"where": ("queue == 'debug'",)}),
        ({"stated": {"nodes": 4}}, {"baseline": Given(config={"nodes": 4})}),
        ({"baseline": Given(config={"app": "amg"})}, {"where": ("app == 'amg'",)}),
        (
            {"goals": dict.fromkeys(("runtime", "power", "energy", "memory_used"), observe)},
            {},
        ),
    ],
)
def test_two_places_for_one_thing_are_the_same(
    first: dict[str, object], second: dict[str, object]
) -> None:
    space = tables()["simulation"]
    one, other = (slots(Draft.model_validate(wanted), space) for wanted in (first, second))
    assert one == other


def test_a_change_that_is_tried_out_is_no_rule() -> None:
    space = tables()["simulation"]
    tried = slots(Draft(kind=Kind.WHAT_IF, change={"nodes": set_to(8)}), space)
    assert tried == {("kind", "what-if"), ("change nodes", "= 8")}


def test_a_class_is_a_goal_or_a_rule() -> None:
    space = tables()["jobs"]
    goal = Draft(goals={"job_state": IsClass(value="completed")})
    assert slots(goal, space) == slots(Draft(where=("job_state == completed",)), space)


def test_a_wrong_value_counts_once_and_a_wrong_column_twice() -> None:
    want = _sentence("simulation", Draft(kind=Kind.RECOMMEND, goals={"runtime": minimize}))
    right = Draft(kind=Kind.RECOMMEND)
    assert score(want, right.model_copy(update={"goals": {"runtime": minimize}})).counts == (
        2,
        0,
        0,
    )
    assert score(want, right.model_copy(update={"goals": {"runtime": maximize}})).counts == (
        1,
        1,
        0,
    )
    assert score(want, right.model_copy(update={"goals": {"power": minimize}})).counts == (1, 1, 1)
    assert score(want, right).counts == (1, 0, 1)
    assert score(want, Draft()).counts == (0, 0, 2)


def test_what_was_not_said_counts_as_wrong() -> None:
    want = _sentence("simulation", Draft(ask=("nodes",)))
    assert score(want, Draft(ask=("nodes", "queue"), count=3)).counts == (1, 2, 0)
    assert score(want, Draft(ask=("queue",))).counts == (0, 1, 0)


def test_what_does_not_fit_the_table_is_wrong_and_no_crash() -> None:
    want = _sentence("simulation", Draft(where=("nodes < 16",)))
    for bad in ("nodes <", "hosts < 16", "queue < 3 W"):
        assert score(want, Draft(where=(bad,))).counts[0] == 0
    odd = Draft(change={"queue": times(2)}, goals={"speed": minimize}, stated={"nodes": "many"})
    assert score(want, odd).counts == (0, 3, 1)


def test_free_slots_are_not_judged_and_the_nearest_want_is_taken() -> None:
    free = _sentence("simulation", Draft(ask=("nodes",)), free=frozenset({"kind"}))
    assert score(free, Draft(kind=Kind.RECOMMEND, ask=("nodes",))).counts == (1, 0, 0)
    either = _sentence("simulation", Draft(count=2, ask=("nodes",)), Draft(count=2))
    assert score(either, Draft(count=2)).counts == (1, 0, 0)


def test_to_reach_a_value_is_the_bound_that_was_wanted() -> None:
    want = _sentence(
        "simulation", Draft(kind=Kind.RECONFIGURE, goals={"runtime": Within(high=1800)})
    )
    half_hour = Reach(value=30, unit="min")
    got = Draft(kind=Kind.RECONFIGURE, goals={"runtime": half_hour}, baseline=Row(row=3))
    assert score(want, got).counts == (2, 1, 0)


def test_edits_are_compared_in_the_columns_unit() -> None:
    space = tables()["jobs"]
    hour, minutes = (
        Draft(kind=Kind.WHAT_IF, change={"time_limit_min": Plus(amount=amount, unit=unit)})
        for amount, unit in ((1, "h"), (60, None))
    )
    assert slots(hour, space) == slots(minutes, space)


def test_the_report_of_a_perfect_and_of_a_silent_reader() -> None:
    wants = {(s.text, s.table): s.wants[0] for s in sentences("develop")}
    names = {id(space): name for name, space in tables().items()}
    perfect = report("develop", lambda text, space: wants[text, names[id(space)]])
    assert f"{len(wants)} of {len(wants)} sentences without an error" in perfect
    assert all("100.0 %" in line for line in perfect.splitlines()[1:])
    silent = report("develop", lambda text, space: Draft(), verbose=True)
    assert f"0 of {len(wants)} sentences without an error" in silent
    shares = [line for line in silent.splitlines() if line.endswith(" slots")]
    assert shares
    assert all("   0.0 %" in line for line in shares)
    assert all(sentence.text in silent for sentence in sentences("develop"))
    assert accuracy([(3, 1, 0), (0, 0, 4)]) == 3 / 8
