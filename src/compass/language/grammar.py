"""The parser of the language; its tables are worked out once and kept as JSON.

Working them out takes ten times as long as reading them: most of what a short command would do.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from lark import Lark, __version__
from lark.grammar import Rule
from lark.lexer import TerminalDef

from compass import files

_OPTIONS: dict[str, Any] = {
    "parser": "lalr",
    "start": ["query", "rule"],
    "propagate_positions": True,
    "maybe_placeholders": False,
}
_NUMBERED = "numbered"  # JSON has no numbers as keys: a list of pairs under this name


@cache
def parser() -> Lark:
    """The parser of queries and rules."""
    source = resources("compass.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return kept(files.cache_folder() / file_name(source, _OPTIONS), lambda: built(source))


def built(source: str) -> Lark:
    """A parser with tables that are worked out from the text of a grammar."""
    return Lark(source, **_OPTIONS)


def file_name(source: str, options: Mapping[str, Any]) -> str:
    """The name of the file of the tables: everything that they are made of is in it."""
    made_of = json.dumps([__version__, source, options])
    return f"grammar-{hashlib.blake2b(made_of.encode(), digest_size=16).hexdigest()}.json"


def kept(path: Path, build: Callable[[], Lark]) -> Lark:
    """The parser whose tables a file holds; if it holds none, it is built and they are kept."""
    try:
        tables = json.loads(path.read_bytes(), object_hook=_numbered)
        return Lark.load(tables)
    except Exception:  # noqa: S110 - whatever is in the file, a parser can be built
        pass
    made = build()
    data, memo = made.memo_serialize([TerminalDef, Rule])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_text(path, json.dumps(_plain({"data": data, "memo": memo})))
    except OSError:
        pass  # a folder that cannot be written to: the next command builds it again
    return made


def _plain(value: Any) -> Any:
    """Tables as JSON can hold them."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value and all(isinstance(key, int) for key in value):
        return {_NUMBERED: [[key, _plain(one)] for key, one in value.items()]}
    return {key: _plain(one) for key, one in value.items()}


def _numbered(found: dict[str, Any]) -> Any:
    return dict(found[_NUMBERED]) if found.keys() == {_NUMBERED} else found
