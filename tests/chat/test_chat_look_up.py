"""What an engine knows already, against what the table says."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chat.chat_case import quick_engine

import compass as cp
from compass.chat.draft import Inquiry, Topic
from compass.chat.look_up import look_up
from compass.domain.errors import BadInput, BaselineProblem, QueryProblem, UnknownName
from compass.domain.findings import Findings
from conftest import QUICK
from property_examples import examples

ROLES = {"knobs": ["nodes"], "context": ["app"], "outcomes": ["runtime", "gflops"]}


def best(engine: cp.Compass, **inquiry: object) -> Findings:
    return look_up(engine, Inquiry.model_validate({"topic": Topic.BEST_RUN, **inquiry}))


def small(ignored: tuple[str, ...] = (), **columns: Sequence[object]) -> cp.Compass:
    """An engine that has learnt nothing: past runs need no model."""
    n = len(next(iter(columns.values())))
    table = {
        "app": [("a", "b")[i % 2] for i in range(n)],
        "nodes": [1 + i % 4 for i in range(n)],
        "runtime": [float(i) for i in range(n)],
        "gflops": [float(2 * i) for i in range(n)],
        **columns,
    }
    told = [name for name in ("state", "valid") if name in columns]
    roles = {**ROLES, "outcomes": [*ROLES["outcomes"], *told], "ignored": ignored}
    return cp.Compass(cp.read(table).roles(**roles), settings=QUICK)


# The best run


@examples(60)
@given(
    st.lists(st.integers(0, 6), min_size=8, max_size=30),
    st.sampled_from(("minimize", "maximize")),
    st.sampled_from(((), ("app == 'a'",), ("nodes < 3", "app == 'b'"), ("runtime > 3",))),
)
def test_no_run_is_better_than_the_best(
    values: list[int], direction: str, where: tuple[str, ...]
) -> None:
    values = [0, 1, *values]  # at least two, so that the column is in use
    runtime = [v + 0.5 for v in values]
    engine = small(runtime=list(runtime))
    holds = {
        "app == 'a'": lambda i: i % 2 == 0,
        "app == 'b'": lambda i: i % 2 == 1,
        "nodes < 3": lambda i: i % 4 < 2,
        "runtime > 3": lambda i: runtime[i] > 3,
    }
    rows = [i for i in range(len(runtime)) if all(holds[rule](i) for rule in where)]
    found = best(engine, outcome="runtime", direction=direction, where=where)
    if not rows:
        assert (found.among, found.runs) == (0, ())
        assert found.text.startswith("No past run where ")
        return
    value = (min if direction == "minimize" else max)(runtime[i] for i in rows)
    first, *ties = [i for i in rows if runtime[i] == value]
    assert found.runs[0].row == first
    assert found.runs[0].outcomes["runtime"] == value
    assert found.runs[0].settings == {"app": "ab"[first % 2], "nodes": 1 + first % 4}
    assert found.ties == tuple(ties)
    assert found.among == len(rows)
    assert len(found.text.splitlines()) <= 15


def test_the_best_run_is_told_with_its_settings_and_outcomes() -> None:
    found = best(small(runtime=[5.0, 3.0, 4.0] * 4), outcome="runtime")
    assert found.text.splitlines() == [
        "The lowest runtime of 12 past runs: 3, in row 1.",
        "Knobs: nodes = 2",
        "Context: app = b",
        "Outcomes: runtime = 3, gflops = 2",
        "Just as good: rows 4, 7 and 10.",
        "This configuration was run 3 times: 4 on average.",  # rows 1, 5 and 9
        "These runs differ in their context: name one to compare like runs (app).",
    ]


def test_what_nobody_says_is_as_usual() -> None:
    engine = small(runtime=[5.0, 3.0, 4.0] * 4)
    assert best(engine) == best(engine, outcome="runtime", direction="minimize")
    assert best(engine, outcome="gflops") == best(engine, outcome="gflops", direction="maximize")


def test_a_lucky_run_stands_beside_the_others_of_its_configuration() -> None:
    engine = small(app=["a"] * 6 + ["b"] * 6, nodes=[1, 2] * 6)
    text = best(engine, outcome="runtime").text  # rows 0, 2 and 4 are one configuration
    assert "This configuration was run 3 times: 2 on average." in text


def test_runs_that_failed_are_not_the_fastest() -> None:
    state = ["FAILED", "COMPLETED", "CANCELLED by 12", "COMPLETED"] * 3
    state[-2] = "CANCELLED by 34"
    engine = small(state=list(state))
    found = best(engine, outcome="runtime")
    assert found.runs[0].row == 1
    assert found.among == 6
    assert "Runs with state CANCELLED or FAILED are left out." in found.text
    asked = best(engine, outcome="runtime", where=("state == 'FAILED'",))
    assert (asked.runs[0].row, asked.among) == (0, 3)
    assert "left out" not in asked.text


def test_runs_that_are_not_valid_are_left_out() -> None:
    found = best(small(valid=[False, False, True, True] * 3), outcome="runtime")
    assert found.runs[0].row == 2
    assert "Runs with valid false are left out." in found.text


def test_only_runs_that_were_made_and_measured_count() -> None:
    table = {
        "app": ["a", "b"] * 8,
        "nodes": [1, 2, 3, 4] * 4,
        "runtime": [1.0, None, 2.0, 3.0, *(float(i) for i in range(4, 16))],
        "made": ["synthetic", "measured", "failed", "measured"] * 4,
    }
    data = cp.read(table, study={"origin": "made"}).roles(
        knobs=["nodes"], context=["app"], outcomes=["runtime"]
    )
    found = best(cp.Compass(data, settings=QUICK), outcome="runtime")
    assert (found.runs[0].row, found.among) == (3, 7)


def test_where_no_run_was_measured_the_rows_that_were_left_out_are_counted() -> None:
    engine = small(nodes=[1, 2, 3, None] * 3)
    found = best(engine, outcome="runtime", where=("runtime > 99",))
    assert found.text.splitlines() == [
        "No past run where runtime > 99 has a measured runtime.",
        "3 of 12 rows were left out when the data was cleaned.",
    ]


def test_what_cannot_be_the_best_is_refused() -> None:
    engine = quick_engine()
    with pytest.raises(QueryProblem, match="labels"):
        best(engine, outcome="state")
    with pytest.raises(QueryProblem, match="nodes is not an outcome"):
        best(engine, outcome="nodes")
    with pytest.raises(UnknownName, match="walltime"):
        best(engine, outcome="walltime")
    with pytest.raises(UnknownName, match="queue"):
        best(engine, outcome="runtime", where=("queue == 'gpu'",))


def test_a_rule_may_name_a_column_with_one_value() -> None:
    engine = small(site=["x"] * 12, runtime=[5.0, 3.0, 4.0] * 4)
    constant = engine.data.prepared.constants.names
    assert constant == ("site",)
    assert best(engine, outcome="runtime", where=("site == 'x'",)).runs[0].row == 1
    with pytest.raises(BadInput):
        best(engine, outcome="runtime", where=("site == 'y'",))


# Rows


def test_a_row_has_every_column() -> None:
    engine = quick_engine()
    found = look_up(engine, Inquiry(topic=Topic.ROW, row=12))
    (run,) = found.runs
    row = engine.data.row(12)
    assert {**run.settings, **run.outcomes, **run.others} == row
    assert found.text.splitlines()[0] == "Row 12:"
    for name, value in run.settings.items():
        assert f"{name} = {value}" in found.text


def test_columns_that_are_not_in_use_are_told_too() -> None:
    engine = small(("made",), made=[f"job {i}" for i in range(12)])
    found = look_up(engine, Inquiry(topic=Topic.ROW, row=7))
    assert found.runs[0].others == {"made": "job 7"}
    assert "Not in use: made = job 7" in found.text


def test_a_row_that_was_left_out_is_shown_with_the_reason() -> None:
    engine = small(nodes=[1, 2, None, 4] * 3, runtime=[float(i) for i in range(12)])
    assert 2 not in engine.data.prepared.row_id
    found = look_up(engine, Inquiry(topic=Topic.ROW, row=2))
    assert found.runs[0].outcomes["runtime"] == 2.0
    assert "row 2 was left out" in found.runs[0].left_out
    assert found.runs[0].left_out in found.text


@pytest.mark.parametrize("inquiry", [{"row": 300}, {"row": -1}])
def test_a_row_that_is_not_there_says_which_are(inquiry: dict[str, int]) -> None:
    with pytest.raises(BaselineProblem) as told:
        look_up(quick_engine(), Inquiry.model_validate({"topic": Topic.ROW, **inquiry}))
    assert "0 to 299" in told.value.hint


def test_rows_have_to_be_named() -> None:
    with pytest.raises(BadInput, match="no row"):
        look_up(quick_engine(), Inquiry(topic=Topic.ROW))
    for places in ((), (1,), (1, 2, 3)):
        with pytest.raises(BadInput, match="two rows"):
            look_up(quick_engine(), Inquiry(topic=Topic.COMPARE, places=places, rows=True))


@examples(40)
@given(st.integers(0, 299), st.integers(0, 299))
def test_two_rows_side_by_side_show_what_differs(one: int, other: int) -> None:
    engine = quick_engine()
    found = look_up(engine, Inquiry(topic=Topic.COMPARE, places=(one, other), rows=True))
    rows = [engine.data.row(row) for row in (one, other)]
    features = ("app", "size", "nodes", "cores", "gpus")
    differing = {name for name in features if rows[0][name] != rows[1][name]}
    lines = found.text.splitlines()
    assert lines[0] == f"{len(differing)} of {len(features)} settings differ:"
    told = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert set(told) == differing | {"runtime", "power", "state"}
    for name in differing:
        assert told[name] == [str(row[name]) for row in rows]
    assert [run.row for run in found.runs] == [one, other]
    assert len(lines) <= 15


def test_the_last_row_can_be_named() -> None:
    found = look_up(quick_engine(), Inquiry(topic=Topic.COMPARE, places=(3, -1), rows=True))
    assert [run.row for run in found.runs] == [3, 299]


# Models


def test_what_matters_is_ranked_with_shares_that_add_up() -> None:
    engine = quick_engine()
    found = look_up(engine, Inquiry(topic=Topic.IMPORTANCE, outcome="power"))
    assert found.importance is not None
    assert found.importance == engine.importance("power", repeats=5)
    lines = [line.split() for line in found.text.splitlines() if line.startswith("  ")]
    told = {name: float(share) for name, share, _ in lines}
    assert next(iter(told)) == "nodes"  # power = 100 nodes + 2 cores + 50 gpus
    assert set(told) == {"nodes", "cores", "gpus"}
    rises = {c.name: c.rise for c in found.importance.columns}
    whole = sum(rises[name] for name in told)
    for name, share in told.items():
        assert share == pytest.approx(100 * rises[name] / whole, abs=0.5)
    assert list(told) == sorted(told, key=lambda name: -rises[name])
    assert "not what causes it" in found.text
    assert "share the credit" in found.text
    assert len(found.text.splitlines()) <= 15


def test_what_the_context_decides_is_told_beside_the_knobs() -> None:
    found = look_up(quick_engine(), Inquiry(topic=Topic.IMPORTANCE, outcome="runtime"))
    assert found.importance is not None
    clear = {c.name: c.rise for c in found.importance.columns if c.rise > max(2 * c.error, 0)}
    knobs = sum(rise for name, rise in clear.items() if name in ("nodes", "cores", "gpus"))
    own = 100 * knobs / sum(clear.values())
    assert f"Beside the context, knobs have {own:.0f} % of it all: " in found.text
    assert "size " in found.text.split("of it all: ")[1]
    table = [line.split()[0] for line in found.text.splitlines() if line.startswith("  ")]
    assert not {"app", "size"} & set(table)


def test_columns_that_go_together_are_named() -> None:
    rng = np.random.default_rng(5)
    nodes = rng.integers(1, 9, 200)
    table = {
        "nodes": nodes.tolist(),
        "cores": (nodes**2 + rng.integers(0, 2, 200)).tolist(),  # the ranks are nearly the same
        "gpus": rng.integers(0, 5, 200).tolist(),
        "runtime": (100 / nodes + rng.normal(0, 0.1, 200)).tolist(),
    }
    data = cp.read(table).roles(knobs=["nodes", "cores", "gpus"], outcomes=["runtime"])
    found = look_up(cp.Compass(data, settings=QUICK), Inquiry(topic=Topic.IMPORTANCE))
    together = found.text.splitlines()[-1]
    assert together.startswith("Here these go together: ")
    assert {"nodes", "cores"} <= set(together.strip(".").split())
    assert "gpus" not in together


def test_nothing_matters_for_what_is_chance() -> None:
    rng = np.random.default_rng(6)
    table = {
        "nodes": rng.integers(1, 9, 80).tolist(),
        "gpus": rng.integers(0, 5, 80).tolist(),
        "luck": rng.normal(100, 10, 80).tolist(),
    }
    data = cp.read(table).roles(knobs=["nodes", "gpus"], outcomes=["luck"])
    engine = cp.Compass(data, settings=QUICK)
    found = look_up(engine, Inquiry(topic=Topic.IMPORTANCE, outcome="luck"))
    assert found.text.startswith("No knob clearly matters for luck: ")
    assert "nothing it predicts is trusted" in found.text
    (card,) = engine.cards
    assert not card.skilled


def test_how_well_each_outcome_is_predicted() -> None:
    engine = quick_engine()
    engine.fit()
    every = look_up(engine, Inquiry(topic=Topic.CERTAINTY))
    assert {card.target for card in every.models} == {"runtime", "power", "state"}
    cards = {card.target: card for card in engine.cards if len(card.features) == 5}
    for card in every.models:
        assert card == cards[card.target].model_copy(update={"scores": ()})
        assert f"- {card.target}: {card.error_name} {100 * card.error:.2g} %" in every.text
    one = look_up(engine, Inquiry(topic=Topic.CERTAINTY, outcome="power"))
    assert [card.target for card in one.models] == ["power"]
    assert "runtime" not in one.text


def test_an_engine_that_has_learnt_nothing_learns_only_what_is_asked() -> None:
    engine = small(runtime=[float(i % 5) for i in range(40)])
    best(engine, outcome="runtime")
    look_up(engine, Inquiry(topic=Topic.ROW, row=3))
    assert engine.cards == ()
    found = look_up(engine, Inquiry(topic=Topic.CERTAINTY, outcome="gflops"))
    assert [card.target for card in engine.cards] == ["gflops"]
    assert found.outcome == "gflops"
