"""What answers say besides: values between those that were run, classes, forced moves, starts."""

import io

import acceptance_engines as made
import pytest
from acceptance_tables import butter_runtime, pm100_power
from rich.console import Console

import compass as cp
from compass.chat.summary import summary
from compass.cli import render
from compass.domain.goal import observe, same
from compass.domain.query import Row, times

Engines = dict[str, cp.Compass]


@pytest.fixture(scope="session")
def engines() -> Engines:
    return made.engines()


def printed(answer: cp.Answer, width: int = 200) -> str:
    text = io.StringIO()
    render.answer(Console(file=text, width=width), answer)
    return " ".join(text.getvalue().split())


def row_with(engine: cp.Compass, **values: object) -> int:
    rows = map(engine.data.row, range(len(engine.data)))
    return next(
        n for n, row in enumerate(rows) if all(row[name] == v for name, v in values.items())
    )


def test_a_depth_between_seen_ones_is_answered_and_marked(engines: Engines) -> None:
    engine = engines["BUTTER-E"]
    number = row_with(engine, depth=3, dataset="adult", is_gpu=True)
    answer = engine.what_if(number, {"depth": 6}, ["runtime"])
    (only,) = answer.unseen
    assert (only.name, only.value, only.below, only.above) == ("depth", 6.0, 5.0, 7.0)
    assert only.interpolated
    assert (
        "depth = 6 was never run: it lies between 5 and 7, so the prediction is interpolated."
        in (answer.notes)
    )
    law = butter_runtime(engine.data.row(number) | {"depth": 6})
    assert answer[0].outcome("runtime").value == pytest.approx(law, rel=0.1)


def test_a_depth_beyond_seen_ones_is_extrapolated(engines: Engines) -> None:
    engine = engines["BUTTER-E"]
    answer = engine.what_if(7, {"depth": 40}, ["runtime"])
    (only,) = answer.unseen
    assert (only.below, only.above) == (20.0, None)
    assert not only.interpolated
    assert any("depth = 40 is above 20" in n and "extrapolated" in n for n in answer.notes)


def test_a_fixed_value_and_a_condition_between_seen_ones(engines: Engines) -> None:
    engine = engines["BUTTER-E"]
    question = "Recommend X = {depth: 6, batch_size: ?} to achieve Y = {runtime: minimize}"
    answer = engine.ask(question, where=["dataset == mnist"])
    assert [one.interpolated for one in answer.unseen] == [True]
    assert answer[0].config["depth"] == 6
    assert answer[0].config["batch_size"] == 256
    seen = engine.ask(question.replace("6", "7"), where=["dataset == mnist"])
    assert seen.unseen == ()


def test_twice_the_depth_of_one_run_counts_from_it(engines: Engines) -> None:
    engine = engines["BUTTER-E"]
    answer = engine.what_if(row_with(engine, depth=3), {"depth": times(2)}, ["runtime"])
    assert [(one.value, one.interpolated) for one in answer.unseen] == [(6.0, True)]


def test_classes_are_told_as_probabilities(engines: Engines) -> None:
    engine = engines["PM-100"]
    number = row_with(engine, job_state="TIMEOUT")
    answer = engine.what_if(number, {"time_limit": 1440}, ["job_state"])
    state = answer[0].outcome("job_state")
    assert {*state.scores} == {*state.scores_before} == {"COMPLETED", "TIMEOUT"}
    assert sum(state.scores.values()) == pytest.approx(1)
    assert state.scores["COMPLETED"] > state.scores_before["COMPLETED"]  # by the law
    assert state.probability == pytest.approx(max(state.scores.values()))
    likeliest = max(state.scores, key=lambda label: state.scores[label])
    assert state.value == likeliest
    assert f"{likeliest} " in printed(answer)
    assert "before TIMEOUT" in printed(answer)
    assert "job_state is predicted to be COMPLETED" in summary(answer)
    assert "%" in summary(answer)


def test_classes_over_many_runs_are_mean_probabilities(engines: Engines) -> None:
    engine = engines["PM-100"]
    answer = engine.what_if(None, {"time_limit": times(0.5)}, ["job_state"])
    assert answer.population is not None
    (state,) = answer.population.outcomes
    rows = [engine.data.row(n) for n in range(len(engine.data))]
    kept = [row for row in rows if row["time_limit"] >= 60]
    share = sum(row["job_state"] == "TIMEOUT" for row in kept) / len(kept)
    assert state.scores_before["TIMEOUT"] == pytest.approx(share, abs=0.05)
    assert state.scores["TIMEOUT"] > state.scores_before["TIMEOUT"] + 0.05  # less time, more ends
    text = printed(answer)
    assert "before: " in text
    assert "points" in text
    assert "becomes " in summary(answer)


def test_a_condition_on_an_outcome_is_printed_with_its_probability(engines: Engines) -> None:
    answer = engines["PM-100"].ask(
        "Recommend X = {num_nodes_req: ?, mem_req: ?} to achieve Y = "
        "{node_power_consumption: minimize} where C = {job_state: completed, num_gpus_req: 16}"
    )
    told = "The condition job_state == 'COMPLETED' is on a predicted outcome: it holds with a"
    assert printed(answer).count(told) == len(answer) + len(answer.ideas)
    assert told in summary(answer)


def test_a_change_given_in_full_lists_what_else_has_to_move(engines: Engines) -> None:
    engine = engines["PM-100"]
    number = row_with(engine, num_nodes_req=4, num_gpus_req=16, job_state="COMPLETED")
    answer = engine.what_if(number, {"num_gpus_req": 32}, ["node_power_consumption"])
    moved = {edit.name: edit.forced_by for edit in answer[0].edits}
    assert moved == {
        "num_gpus_req": None,
        "num_gpus_alloc": "num_gpus_alloc == num_gpus_req",
        "num_nodes_req": "num_gpus_req <= 4 * num_nodes_req",
        "num_nodes_alloc": "num_nodes_alloc == num_nodes_req",
    }
    assert not any(edit.for_goal for edit in answer[0].edits)
    before, after = engine.data.row(number), answer[0].config
    law = pm100_power(after, "node_power_consumption") - pm100_power(
        before, "node_power_consumption"
    )
    assert answer[0].outcome("node_power_consumption").change == pytest.approx(law, rel=0.3)


def test_or_says_that_nothing_else_has_to(engines: Engines) -> None:
    engine = engines["PM-100"]
    answer = engine.what_if(5, {"time_limit": 1440}, ["run_time"])
    assert [edit.name for edit in answer[0].edits if edit.forced_by] == []
    assert "Nothing else has to move: the change alone breaks no rule." in answer.notes


def test_a_what_if_that_asks_starts_from_a_typical_run(engines: Engines) -> None:
    engine = engines["BUTTER-E"]
    where = ["dataset == mnist", "is_gpu == true"]
    answer = engine.what_if(
        None, {"batch_size": 32}, {"runtime": same, "power": observe}, where=where
    )
    assert isinstance(answer.query.baseline, Row)
    row = engine.data.row(answer.query.baseline.row)
    assert (row["dataset"], row["is_gpu"]) == ("mnist", True)
    count = sum(
        r["dataset"] == "mnist" and r["is_gpu"]
        for r in map(engine.data.row, range(len(engine.data)))
    )
    assert (
        f"starts from row {answer.query.baseline.row}, the most typical of the {count:,}"
        in (answer.notes[0])
    )
    # The same question from that run is the same question.
    again = engine.ask(answer.query)
    assert again.suggestions == answer.suggestions


def test_a_condition_on_what_is_changed_chooses_the_runs(engines: Engines) -> None:
    engine = engines["PM-100"]
    answer = engine.what_if(
        None, {"num_gpus_req": times(2)}, ["node_power_consumption"], where=["num_gpus_req == 16"]
    )
    assert answer.population is not None
    rows = map(engine.data.row, range(len(engine.data)))
    assert answer.population.runs == sum(row["num_gpus_req"] == 16 for row in rows)
    (power,) = answer.population.outcomes
    assert power.change is not None
    assert power.change > 0
