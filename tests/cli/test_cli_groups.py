"""Groups of flags: declared once, shown as single flags, given back as one noun."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from compass.cli.ask import AskFlags
from compass.cli.groups import grouped
from compass.cli.main import app
from compass.domain.options import AskOptions


@dataclass(frozen=True)
class Inner:
    size: Annotated[int, typer.Option(help="How large.")] = 3


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: Annotated[str | None, typer.Option("--name", help="Its name.")] = None
    inner: Inner


def program(found: list[object]) -> typer.Typer:
    made = typer.Typer()

    @made.command()
    @grouped
    def command(first: str, *, group: Outer, loud: bool = False) -> None:
        """Do it."""
        found.extend((first, group, loud))

    return made


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["x"], ["x", Outer(inner=Inner()), False]),
        (["x", "--size", "5", "--loud"], ["x", Outer(inner=Inner(5)), True]),
        (["--name", "n", "x"], ["x", Outer(name="n", inner=Inner()), False]),
    ],
)
def test_a_group_is_given_back_as_one(words: list[str], expected: list[object]) -> None:
    found: list[object] = []
    assert CliRunner().invoke(program(found), words).exit_code == 0
    assert found == expected


def test_the_help_shows_single_flags_in_their_order() -> None:
    out = CliRunner().invoke(program([]), ["--help"], env={"COLUMNS": "100"}).output
    places = [out.index(word) for word in ("Do it.", "--name", "Its name.", "--size", "How large.")]
    assert places == sorted(places)


def test_every_option_of_a_question_has_a_flag() -> None:
    assert set(AskFlags().options()) == set(AskOptions.model_fields)


STUDY = ("--study", "--role", "--unit", "--domain", "--missing", "--drop", "--rule", "--group")


@pytest.mark.parametrize("command", ["ask", "next", "fit", "columns", "explain", "chat"])
def test_commands_on_data_share_the_flags_of_a_study_and_of_a_server(command: str) -> None:
    made = typer.main.get_command(app)
    known = {flag for one in made.commands[command].params for flag in one.opts}  # type: ignore[attr-defined]
    assert {*STUDY, "--comparable", "--server", "--token", "--json"} <= known
