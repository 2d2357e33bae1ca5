"""Every regular expression of the package, found by looking: none has to be listed to be tested.

Run as a program, it imports all modules and prints, as JSON, the patterns that are compiled
meanwhile (the tables of the chat, those made by functions), those of the grammar of the query
language, and those that stand in the source as arguments of `re.match` and the like.
"""

import ast
import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import compass

_CALLS = re.compile("compile|match|fullmatch|search|subn?|split|findall|finditer")
_ROOT = Path(compass.__file__).parent


def main() -> None:
    """Print all patterns with where they stand."""
    found: list[tuple[str, Any, int]] = []
    compiled = re.compile

    def noting(pattern: Any, flags: int = 0) -> Any:
        frame = sys._getframe(1)
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_ROOT):
            found.append((f"{path.relative_to(_ROOT)}:{frame.f_lineno}", pattern, int(flags)))
        return compiled(pattern, flags)

    re.compile = noting  # type: ignore[assignment]
    modules = list(_imported())
    re.compile = compiled
    unevaluated: list[str] = []
    for module in modules:
        for place, pattern, flags in _in_source(module):
            if pattern is None:
                unevaluated.append(place)
            else:
                found.append((place, pattern, flags))
    found += _of_grammar()
    patterns = [(place, *_as_text(pattern), flags) for place, pattern, flags in found]
    print(json.dumps({"patterns": patterns, "unevaluated": unevaluated, "modules": len(modules)}))


def _as_text(pattern: str | bytes) -> tuple[str, bool]:
    """A pattern as JSON can hold it, and whether it is one of bytes."""
    return (pattern.decode("latin-1"), True) if isinstance(pattern, bytes) else (pattern, False)


def _imported() -> Iterator[ModuleType]:
    """The modules that use regular expressions; the others would only take time."""
    for path in sorted(_ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text())
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        if any("re" in _brought(node) for node in names):
            parts = path.relative_to(_ROOT.parent).with_suffix("").parts
            yield importlib.import_module(".".join(parts).removesuffix(".__init__"))


def _brought(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {str(node.module).partition(".")[0]} if not node.level else set()
    return {alias.name.partition(".")[0] for alias in node.names}


def _of_grammar() -> Iterator[tuple[str, str, int]]:
    from compass.language.grammar import parser

    for terminal in parser().terminals:
        yield f"language/grammar.lark: {terminal.name}", terminal.pattern.to_regexp(), 0


def _in_source(module: ModuleType) -> Iterator[tuple[str, str | bytes | None, int]]:
    """The patterns of calls such as `re.match(pattern, text)`; None: it is made when it runs."""
    path = Path(str(module.__file__))
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        of = node.func.value
        if isinstance(of, ast.Name) and of.id == "re" and _CALLS.fullmatch(node.func.attr):
            place = f"{path.relative_to(_ROOT)}: {ast.unparse(node.args[0])}"
            yield place, _value(node.args[0], module), _flags(node)


def _value(node: ast.expr, module: ModuleType) -> Any:
    """A text that the source holds, with names of its module; None if it cannot be told."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return vars(module).get(node.id)
    if isinstance(node, ast.FormattedValue):
        return _value(node.value, module)
    if isinstance(node, ast.JoinedStr):
        pieces = [_value(piece, module) for piece in node.values]
        return None if None in pieces else "".join(pieces)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _value(node.left, module), _value(node.right, module)
        return None if None in (left, right) else left + right
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _value(node.left, module), _value(node.right, module)
        return None if None in (left, right) else left * right
    return None


def _flags(node: ast.Call) -> int:
    names = [part.attr for arg in [*node.args[1:], *(k.value for k in node.keywords)]
             for part in ast.walk(arg) if isinstance(part, ast.Attribute)
             and isinstance(part.value, ast.Name) and part.value.id == "re"]  # fmt: skip
    flags = 0
    for name in names:
        flag = getattr(re, name, 0)
        flags |= int(flag) if isinstance(flag, re.RegexFlag) else 0
    return flags


if __name__ == "__main__":
    main()
