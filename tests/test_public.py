"""The public face: every name is there, documented, and costs nothing until it is used."""

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import compass
from compass.domain.goal import Extreme, Observe, Same

ROOT = Path(__file__).parents[1]


def test_all_is_complete_and_in_order() -> None:
    assert list(compass.__all__) == sorted(compass.__all__)
    assert set(compass.__all__) == set(compass._WHERE)
    assert dir(compass) == compass.__all__


@pytest.mark.parametrize("name", compass.__all__)
def test_every_name_can_be_imported_and_is_what_its_module_has(name: str) -> None:
    found = getattr(compass, name)
    assert found is getattr(import_module(compass._WHERE[name]), name)
    if inspect.isclass(found) or inspect.isfunction(found):
        assert inspect.getdoc(found)


def test_star_import_gives_exactly_these() -> None:
    space: dict[str, object] = {}
    exec("from compass import *", space)
    assert set(compass.__all__) == set(space) - {"__builtins__"}


def test_a_checker_sees_the_same_names_from_the_same_modules() -> None:
    """The imports that only type checkers read name everything once, from where it is."""
    (block,) = (node for node in ast.parse(inspect.getsource(compass)).body if _checked(node))
    seen = [
        (name.asname or name.name, node.module)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    ]
    assert sorted(seen) == sorted(compass._WHERE.items())


def _checked(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@pytest.mark.parametrize("name", compass.__all__)
def test_a_name_tells_what_it_is(name: str) -> None:
    """Classes are capitalised; everything else is a function, or a goal that needs no number."""
    found = getattr(compass, name)
    if name[0].isupper():
        assert inspect.isclass(found)
    else:
        assert inspect.isfunction(found) or isinstance(found, Extreme | Observe | Same)
    assert "." not in name
    assert found.__module__.startswith("compass.")


def test_everything_that_the_documentation_uses_is_public() -> None:
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    used = {
        name
        for path in texts
        for name in re.findall(r"(?<![\w.])cp\.(\w+)", path.read_text(encoding="utf-8"))
    }
    assert used
    assert used <= set(compass.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Kompass'"):
        _ = compass.Kompass


def test_importing_costs_nothing() -> None:
    heavy = ("numpy", "scipy", "sklearn", "pyarrow", "pydantic", "lark", "rich", "typer")
    program = (
        "import sys, compass\n"
        f"print([name for name in {heavy} if name in sys.modules])\n"
        "compass.minimize, compass.at_most(3)\n"
        "print('numpy' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == ["[]", "False"]
