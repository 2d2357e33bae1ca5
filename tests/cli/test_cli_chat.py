"""The dialogue on the command line: piped messages, JSON lines, and what cannot be used."""

import io
import json
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from cli_case import FLAGS, QUICK, Result, compass, refused, write_csv

import compass as cp
from compass.chat.draft import Reply
from compass.cli.chat import Terminal
from compass.engine.store import save
from conftest import ROLES, cluster_columns

QUESTION = "recommend gpus to minimize runtime where the app is wrf"


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("data") / "jobs.csv", cluster_columns(300))


@pytest.fixture(scope="module")
def saved(jobs: Path) -> Path:
    engine = cp.Compass(cp.read(jobs).roles(**ROLES), rules=["cores <= 32 * nodes"], settings=QUICK)
    return save(engine.fit(), jobs.parent / "jobs.compass")


def talk(source: object, *messages: str, flags: tuple[object, ...] = ()) -> Result:
    """A conversation through a pipe."""
    with patch.object(sys, "stdin", io.StringIO("".join(f"{m}\n" for m in messages))):
        return compass("chat", source, *flags)


def lines_of(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.out.splitlines()]


def test_each_line_of_a_pipe_is_a_message(saved: Path) -> None:
    result = talk(saved, QUESTION, "yes", "why?", "exit", "never read")
    assert (result.code, result.err) == (0, "")
    parts = (
        f"You: {QUESTION}",
        "Compass: ✓ Query complete. Can you please confirm the following query:",
        "Recommend a configuration X = {gpus: ?} to achieve Y = {runtime: minimize} "
        "where C = {app == 'wrf'}.",
        "Closest rows",
        "Compass: I suggest gpus = ",
        "You can ask why, what if, or for more options.",
        "Past runs that support it",
    )
    places = [result.out.index(part) for part in parts]
    assert places == sorted(places)
    assert "never read" not in result.out


def test_json_is_one_object_per_line(saved: Path) -> None:
    result = talk(saved, QUESTION, "yes", "give me more options", "quit", flags=("--json",))
    assert (result.code, result.err) == (0, "")
    found = lines_of(result)
    kinds = ["reply", "reply", "reply", "answer", "reply", "reply", "answer", "reply"]
    assert [next(iter(line)) for line in found] == kinds
    confirm, run = (Reply.model_validate(found[i]["reply"]) for i in (1, 2))
    assert run.run == confirm.query
    answer, more = (cp.Answer.model_validate(found[i]["answer"]) for i in (3, 6))
    assert answer.query == run.run
    assert more.query == answer.query.model_copy(update={"count": 6})
    assert len(more) > len(answer)


def test_the_runs_to_make_next_are_told_in_full(saved: Path) -> None:
    words = (QUESTION, "yes", "which 2 runs should I make next?", "quit")
    result = talk(saved, *words, flags=("--json",))
    assert (result.code, result.err) == (0, "")
    found = lines_of(result)
    assert [next(iter(line)) for line in found[-2:]] == ["reply", "reply"]
    wanted, told = (Reply.model_validate(line["reply"]) for line in found[-2:])
    assert wanted.propose is not None
    assert wanted.propose.count == 2
    proposals = cp.load(saved).run_next(2, wanted.propose.query)
    assert proposals
    for proposal in proposals:
        written = ", ".join(f"{name} = {value}" for name, value in proposal.config.items())
        assert f"{written}: {proposal.why}" in told.text


def test_what_is_known_is_looked_up(saved: Path) -> None:
    engine = cp.load(saved)
    words = (QUESTION, "show row 12", "which run had the lowest power so far?", "yes", "quit")
    result = talk(saved, *words, flags=("--json",))
    assert (result.code, result.err) == (0, "")
    replies = [Reply.model_validate(one["reply"]) for one in lines_of(result) if "reply" in one]
    confirm, looking, row, _, best, run, _ = replies[1:]
    assert (looking.text, looking.findings) == ("Looking it up.", None)
    assert row.findings is not None
    assert row.findings.runs[0].settings["nodes"] == engine.data.row(12)["nodes"]
    assert best.findings is not None
    assert best.findings.runs[0].outcomes["power"] == min(
        engine.data.table.column("power").to_pylist()
    )
    assert row.query == best.query == confirm.query == run.run  # the question stayed as it was


def test_a_row_that_is_not_there_is_told_with_a_hint(saved: Path) -> None:
    result = talk(saved, "show row 4000")
    assert result.code == 0
    assert "Compass: There is no row 4000. Rows are numbered 0 to 299" in result.out


def test_what_is_known_fits_a_terminal(saved: Path) -> None:
    result = talk(saved, "which knobs matter most for power?", "compare rows 3 and 7")
    table = [line for line in result.out.splitlines() if line.startswith("  ")]
    assert len(table) >= 6
    assert max(map(len, table)) <= 80


def test_a_question_that_no_runs_can_be_proposed_for_is_told(saved: Path) -> None:
    stuck = "Reconfigure X = {gpus: ?} to achieve Y = {runtime: reduce by 10%} from row 999999"
    result = talk(saved, stuck, "what should I run next?", "undo")
    assert result.code == 0
    assert "999999" in result.out.split("Looking for the runs")[1]
    assert "I took the last change back" in " ".join(result.out.split())


def test_a_file_is_learnt_from_at_the_first_confirmed_question(jobs: Path) -> None:
    with patch.object(cp.Compass, "ask") as ask:
        result = talk(jobs, QUESTION, flags=(*FLAGS, "--surrogate", "forest"))
    assert result.code == 0
    ask.assert_not_called()
    assert "Query complete" in result.out
    assert "Hello" in talk("embedded").out


def test_what_the_engine_refuses_is_told_and_the_talk_goes_on(saved: Path) -> None:
    stuck = "Reconfigure X = {gpus: ?} to achieve Y = {runtime: reduce by 10%} from row 999999"
    result = talk(saved, stuck, "yes", "undo")
    assert result.code == 0
    flat = " ".join(result.out.split())
    assert "999999" in flat
    assert flat.count("Query complete") == 2
    assert "I took the last change back" in flat


def test_a_message_that_is_too_long_is_refused_and_the_talk_goes_on(saved: Path) -> None:
    result = talk(saved, "x" * 2001, "", "help")
    assert "2,001 characters" in result.out
    assert "start over" in result.out
    found = lines_of(talk(saved, "x" * 2001, flags=("--json",)))
    assert found[1]["error"] == {
        "message": "the message has 2,001 characters; the limit is 2,000",
        "hint": "say it in several messages",
    }


def test_at_a_terminal_it_asks_for_messages_until_ctrl_d(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = iter(["help"])

    def enter(prompt: str) -> str:
        assert prompt == "You: "
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    with (
        patch.object(sys, "stdin", io.StringIO()),
        patch.object(sys.stdin, "isatty", lambda: True),
        patch("builtins.input", enter),
    ):
        assert list(Terminal().messages()) == ["help"]
    assert capsys.readouterr().out == "\n"


def test_control_characters_do_not_reach_the_terminal(saved: Path) -> None:
    result = talk(saved, "minimize \x1b[2J\x07 flurble")
    assert "\x1b" not in result.out
    assert "\x07" not in result.out


def test_a_language_model_that_is_not_there_is_told_once(saved: Path) -> None:
    flags = ("--llm", "http://127.0.0.1:9/v1", "--llm-model", "tiny")
    result = talk(saved, "minimize runtime", "gpus", flags=flags)
    assert result.code == 0
    assert result.out.count("The language model was of no use") == 1
    assert "Do you have any other constraints?" in result.out


@pytest.mark.parametrize(
    "flags",
    [
        ("--llm", "http://localhost/v1"),
        ("--llm-model", "tiny"),
        ("--llm", "nonsense", "--llm-model", "tiny"),
    ],
)
def test_flags_that_cannot_be_used(flags: tuple[str, ...], saved: Path) -> None:
    refused(talk(saved, flags=flags), "language model")


def test_data_that_is_not_there(tmp_path: Path) -> None:
    refused(talk(tmp_path / "none.csv"))
