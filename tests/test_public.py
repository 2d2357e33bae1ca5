"""The public face: every name is there, documented, and costs nothing until it is used."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

import compass


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


def test_a_checker_sees_the_same_names() -> None:
    """The imports that only type checkers read name everything once."""
    text = inspect.getsource(compass)
    block = text[text.index("if TYPE_CHECKING:") : text.index("_WHERE = ")]
    for name in compass.__all__:
        assert name in block


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Kompass'"):
        _ = compass.Kompass


def test_importing_costs_nothing() -> None:
    heavy = ("numpy", "scipy", "sklearn", "numba", "pyarrow", "pydantic", "lark", "rich", "typer")
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
