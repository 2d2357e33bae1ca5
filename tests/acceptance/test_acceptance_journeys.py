"""The journeys of Figures 5 and 6, from the table to the answer: in a conversation and without."""

import io
import json
import sys
from pathlib import Path
from unittest.mock import patch

import acceptance_engines as made
import pytest
from acceptance_questions import TABLE_VI
from acceptance_tables import applications, simulations
from tests.cli.cli_case import Result, compass, write_csv

import compass as cp
from compass.chat.dialogue import begin, respond, show_answer
from compass.chat.draft import Reply

FIGURE_5 = (
    "Recommend a configuration for my simulation.",
    "Minimize runtime.",
    "Number of threads and thread binding algorithm.",
    "yes",
    "The system has less than 16 nodes. So keep it under that value.",
    "yes",
)
FIGURE_5_QUERY = (
    "Recommend a configuration X_user = {num_threads: ?, thread_affinity: ?} "
    "to achieve Y = {runtime : minimize} where C = {nodes < 16}."
)
FIGURE_6 = (
    "recommend",
    "Minimize perf_variation and runtime",
    "algorithm, bw_level, power_cap and thread_count",
    "no",
    "yes",
)
DROPPED = ("ipath_1", "ipath_0", "avg_runtime")


@pytest.fixture(scope="session")
def simulation() -> cp.Compass:
    return made.simulation()


def talk(source: Path, *messages: str, flags: tuple[str, ...] = ()) -> Result:
    with patch.object(sys, "stdin", io.StringIO("".join(f"{m}\n" for m in messages))):
        return compass("chat", source, "--surrogate", "forest", *flags)


def test_figure_5_by_the_assistant_ends_in_what_the_law_says(simulation: cp.Compass) -> None:
    conversation, reply = begin(simulation.space)
    for message in FIGURE_5:
        conversation, reply = respond(conversation, message, simulation.space)
    assert reply.run == simulation.query(FIGURE_5_QUERY)
    answer = simulation.ask(reply.run)
    # 32 threads, spread: 64 are slower, close is slower.
    assert answer[0].settings == {"num_threads": 32, "thread_affinity": "spread"}
    assert "nodes 1..8" in answer.context
    conversation, reply = show_answer(conversation, answer)
    assert "num_threads = 32 and thread_affinity = spread" in reply.text
    conversation, reply = respond(conversation, "why?", simulation.space, answer=answer)
    assert answer[0].trust.reason.split(".")[0] in reply.text


def test_figure_5_by_the_query_language(simulation: cp.Compass) -> None:
    answer = simulation.ask(FIGURE_5_QUERY)
    assert answer[0].settings == {"num_threads": 32, "thread_affinity": "spread"}


def test_figure_5_by_the_command_line(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "simulations.csv", simulations(300))
    result = talk(file, *FIGURE_5)
    assert (result.code, result.err) == (0, "")
    parts = [
        "Compass: What is your objective?",
        "Compass: Which parameters should I recommend values for?",
        "Do you mean these two parameters?",
        "Do you have any other constraints?",
        "Query complete. Can you please confirm the following query:",
        "where C = {nodes < 16}.",
        "Compass: I suggest num_threads = 32 and thread_affinity = spread.",
    ]
    places = [result.out.index(part) for part in parts]
    assert places == sorted(places)


@pytest.fixture(scope="module")
def ft_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that Figure 6 shows: one application, in lower case."""
    columns = applications(("FT",), 400) | {"app": ["ft"] * 400}
    return write_csv(tmp_path_factory.mktemp("data") / "ft_perf_variation.csv", columns)


def test_figure_6_look_at_the_rows_and_drop_columns(ft_file: Path) -> None:
    flags = [word for name in DROPPED for word in ("--drop", name)]
    before = json.loads(compass("columns", ft_file, "--json").out)
    assert [column["name"] for column in before["columns"]] == list(applications(n=1))
    after = json.loads(compass("columns", ft_file, *flags, "--json").out)
    left = {c["name"]: c["note"] for c in after["columns"] if c["role"] == "ignored"}
    assert {*DROPPED} <= {*left}
    assert left["app"] == "constant"


def test_figure_6_by_the_command_line(ft_file: Path) -> None:
    flags = tuple(word for name in DROPPED for word in ("--drop", name))
    result = talk(ft_file, *FIGURE_6, flags=(*flags, "--json"))
    assert (result.code, result.err) == (0, "")
    lines = [json.loads(line) for line in result.out.splitlines()]
    (answer,) = [cp.Answer.model_validate(line["answer"]) for line in lines if "answer" in line]
    replies = [Reply.model_validate(line["reply"]) for line in lines if "reply" in line]
    assert any("Query complete" in reply.text for reply in replies)
    assert {*answer.query.goals} == {"perf_variation", "runtime"}
    best = answer[0].settings
    assert (best["algorithm"], best["thread_count"]) == ("pak", 16)
    assert not {*DROPPED} & {*answer[0].config}


def test_figure_6_by_python(ft_file: Path) -> None:
    data = cp.read(ft_file).roles(ignored=DROPPED)
    engine = cp.Compass(data, surrogate="forest")
    answer = engine.recommend(
        ask=["algorithm", "bw_level", "power_cap", "thread_count"],
        goals={"perf_variation": cp.minimize, "runtime": cp.minimize},
        where=["app: FT"],
    )
    assert (answer[0].settings["algorithm"], answer[0].settings["thread_count"]) == ("pak", 16)
    assert answer.notes[0] == "The condition app == 'ft' holds: app is 'ft' in every run."


@pytest.mark.parametrize("app", ["FT", "CG"])
def test_a_question_of_table_vi_typed_into_the_conversation(ft_file: Path, app: str) -> None:
    flags = tuple(word for name in DROPPED for word in ("--drop", name))
    question = TABLE_VI["recommend", "FT"].replace("app: FT", f"app: {app}")
    result = talk(ft_file, question, "yes", flags=flags)
    assert result.code == 0
    flat = " ".join(result.out.split())
    if app == "FT":
        assert "The condition app == 'ft' holds: app is 'ft' in every run." in flat
        assert "Compass: I suggest algorithm = pak" in flat
    else:
        assert "No value of app named 'CG'. There are: ft." in flat
        assert "I suggest" not in flat


def test_words_about_a_constant_column_are_understood(ft_file: Path) -> None:
    said = "recommend thread_count to minimize runtime where app is ft"
    result = talk(ft_file, said, "yes")
    assert result.code == 0
    assert "app is 'ft' in every run" in " ".join(result.out.split())
