"""The list of commands: in groups, the same as the README has."""

import re
from pathlib import Path

from compass.cli.main import app

README = Path(__file__).resolve().parents[2] / "README.md"


def _commands() -> list[str]:
    single = [
        (one.name or one.callback.__name__) for one in app.registered_commands if one.callback
    ]
    return [*single, *(one.name for one in app.registered_groups if one.name)]


def test_every_command_stands_in_a_group() -> None:
    assert all(one.rich_help_panel for one in app.registered_commands)
    assert all(one.rich_help_panel for one in app.registered_groups)


def test_the_readme_names_every_command_and_no_other() -> None:
    table = re.search(r"\| command \| what it does \|\n.*?\n\n", README.read_text(), re.DOTALL)
    assert table is not None
    cells = [line.split("|")[1] for line in table.group().strip().splitlines()[2:]]
    named = [
        re.sub(r"^compass ", "", code).split()[0]
        for cell in cells
        for code in re.findall("`(.+?)`", cell)
    ]
    assert sorted(named) == sorted(_commands())
