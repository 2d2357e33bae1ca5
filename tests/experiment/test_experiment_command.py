"""A command is made from a template: its values are words, never commands."""

import os
import subprocess
from pathlib import Path

import pytest

from compass.domain.base import Value
from compass.domain.errors import EnvironmentProblem, QuerySyntax
from compass.experiment.command import checked, find_program, written

FOLDER = Path("/runs/7")
NASTY = [
    "$(touch owned)",
    "`touch owned`",
    "; touch owned #",
    "a b",
    "' ; touch owned; '",
    '" ; touch owned; "',
    "*",
    "-rf /",
    "a\nb",
    "\\",
    "${HOME}",
    "{n}",
]


def words(template: str, **config: Value) -> list[str]:
    made = checked(template, list(config)).command(config, run=7, folder=FOLDER)
    return list(made.words)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (16.0, "16"),
        (16, "16"),
        (0.1, "0.1"),
        (1e-7, "1e-07"),
        (123456789.123, "123456789.123"),
        (True, "true"),
        (None, "none"),
        ("O3 -g", "O3 -g"),
    ],
)
def test_values_are_written_as_people_type_them(value: Value, text: str) -> None:
    assert written(value) == text


def test_places_are_filled() -> None:
    assert words("./a -n {nodes} --out={folder}/{run}.json {{x}}", nodes=4.0) == [
        *("./a", "-n", "4", "--out=/runs/7/7.json", "{x}")
    ]


@pytest.mark.parametrize("value", NASTY)
def test_a_value_stays_one_word(value: str) -> None:
    assert words("echo {n} x{n} '{n}'", n=value) == ["echo", value, f"x{value}", value]


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize("place", ["{n}", '"{n}"', "'{n}'", 'x"y{n}"', "x'y{n}'z"])
def test_a_value_is_one_word_for_a_shell(value: str, place: str, tmp_path: Path) -> None:
    command = checked(f"sh: printf '[%s]' {place}", ["n"]).command(
        {"n": value}, run=7, folder=FOLDER
    )
    printed = subprocess.run(
        command.words,
        env={**os.environ, **command.environment},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed == f"[{place.replace(chr(34), '').replace(chr(39), '').replace('{n}', value)}]"
    assert not list(tmp_path.iterdir())


def test_even_misjudged_quotes_execute_nothing(tmp_path: Path) -> None:
    script = "sh: # don't\necho {n} \"$(echo '{n}')\" {n}"
    command = checked(script, ["n"]).command(
        {"n": "'$(touch owned)\"`touch owned`"}, run=7, folder=FOLDER
    )
    environment = {**os.environ, **command.environment}
    subprocess.run(command.words, env=environment, cwd=tmp_path, check=False, capture_output=True)
    assert not list(tmp_path.iterdir())


def test_a_shell_has_its_own_variables() -> None:
    made = checked("sh: cd {folder} && ./a ${HOME} $COMPASS_N | tail -1", ["n"])
    command = made.command({"n": 3}, run=7, folder=FOLDER)
    assert command.words[:2] == ("/bin/sh", "-c")
    assert "${HOME} $COMPASS_N | tail -1" in command.words[2]
    assert made.program is None
    assert made.shown({"n": 3}, run=7, folder=FOLDER).startswith("cd /runs/7 && ./a ${HOME}")


def test_settings_are_variables() -> None:
    config: dict[str, Value] = {"tile size": 16.0, "cap": None, "a-b": 1, "a_b": 2, "threads": 8}
    found = checked("./a", list(config)).command(config, run=7, folder=FOLDER).environment
    assert found == {
        "COMPASS_RUN": "7",
        "COMPASS_FOLDER": "/runs/7",
        "COMPASS_TILE_SIZE": "16",
        "COMPASS_THREADS": "8",
        "OMP_NUM_THREADS": "8",
    }


@pytest.mark.parametrize("name", ["threads", "num_threads", "OMP_NUM_THREADS", "nthreads"])
def test_threads_are_told_to_openmp(name: str) -> None:
    command = checked("./a", [name]).command({name: 4.0}, run=1, folder=FOLDER)
    assert command.environment["OMP_NUM_THREADS"] == "4"


@pytest.mark.parametrize("value", [0, 1.5, "many", None, True])
def test_what_is_no_count_is_not_told_to_openmp(value: Value) -> None:
    command = checked("./a", ["threads"]).command({"threads": value}, run=1, folder=FOLDER)
    assert "OMP_NUM_THREADS" not in command.environment


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(QuerySyntax, match="no parameter named 'thread' in the command") as error:
        checked("./a {thread}", ["threads"])
    assert "did you mean threads?" in error.value.hint
    assert error.value.column == 4


@pytest.mark.parametrize(
    "template",
    ["a | b", "a > b", "a && b", "a; b", "a $HOME", 'a "$HOME"', "a `b`", "a ${HOME}", "a $(b)"],
)
def test_what_needs_a_shell_is_said(template: str) -> None:
    with pytest.raises(QuerySyntax, match="needs a shell") as error:
        checked(template, [])
    assert "sh:" in error.value.hint
    checked(f"sh:{template}", [])


@pytest.mark.parametrize(
    "template", ["a '|' b", "a '$HOME' \\; x", "a {p|q}", "awk '{{print $1}}'"]
)
def test_what_is_quoted_needs_no_shell(template: str) -> None:
    checked(template, ["p|q"])


@pytest.mark.parametrize("template", ["", "  ", "sh:", "sh:  ", "''", "a\0b"])
def test_an_empty_command_is_refused(template: str) -> None:
    with pytest.raises(QuerySyntax, match="the command is empty"):
        checked(template, [])


def test_an_open_quote_is_refused() -> None:
    with pytest.raises(QuerySyntax, match="no closing quotation"):
        checked("a 'b", [])


def test_programs_are_found(tmp_path: Path) -> None:
    assert find_program("sh", tmp_path).name == "sh"
    program = tmp_path / "solver"
    for problem in ("there is no program", "may not be executed"):
        with pytest.raises(EnvironmentProblem, match=problem):
            find_program("./solver", tmp_path)
        program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_program("./solver", tmp_path) == program
    with pytest.raises(EnvironmentProblem, match=r"no program named 'solver'") as error:
        find_program("solver", tmp_path)
    assert "./solver" in error.value.hint
    with pytest.raises(EnvironmentProblem, match="is a folder"):
        find_program("./", tmp_path)
