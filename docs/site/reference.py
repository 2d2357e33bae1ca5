"""References made from the code: Python, the command line, HTTP and the settings."""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel

from compass import settings
from compass.cli.main import app
from compass.server.document import document

_AS_IS = "\b"  # begins a paragraph of help that is not to be wrapped

# What people import, besides `compass` itself.
MODULES = ("compass", "compass.client", "compass.platforms", "compass.testing")


def pages() -> dict[str, str]:
    """All pages of references by name."""
    return {
        "docs/reference/python": python(),
        "docs/reference/cli": commands(),
        "docs/reference/http": http(),
        "docs/reference/settings": defaults(),
    }


def _table(*rows: tuple[str, ...]) -> str:
    """A Markdown table, the first row its header."""
    head, *body = [" | ".join(_cell(one) for one in row) for row in rows]
    return "\n".join([f"| {head} |", "|" + "---|" * len(rows[0]), *(f"| {row} |" for row in body)])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# Python


def python() -> str:
    """Names that people import, with signatures, fields and methods."""
    parts = ["# Python", "Everything that is meant to be imported. Types are those of the code."]
    for module_name in MODULES:
        module = import_module(module_name)
        parts += [f"## `{module_name}`", _text(module)]
        for name in sorted(_names(module), key=str.casefold):
            parts += _described(name, getattr(module, name))
    return "\n\n".join(part for part in parts if part)


def _names(module: Any) -> list[str]:
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def _text(thing: Any) -> str:
    """The docstring, which is Markdown; paragraphs that are Python become blocks of code."""
    first, _, rest = (inspect.getdoc(thing) or "").partition("\n\n")
    if rest and _is_python(rest):
        rest = f"```python\n{rest}\n```"
    return f"{first}\n\n{rest}".strip()


def _is_python(text: str) -> bool:
    try:
        return not isinstance(ast.parse(text).body[-1], ast.Expr) or "(" in text
    except SyntaxError:
        return False


def _described(name: str, thing: Any) -> Iterator[str]:
    yield f"### `{name}`"
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):  # `minimize` and its like
        yield _text(type(thing))
        return
    if inspect.isclass(thing) and issubclass(thing, BaseModel):
        yield _text(thing)
        rows = [
            (f"`{field}`", f"`{_type(about.annotation)}`", about.description or "")
            for field, about in thing.model_fields.items()
        ]
        if rows:
            yield _table(("field", "type", "meaning"), *rows)
    else:
        yield f"```python\n{_signature(name, thing)}\n```"
        yield _text(thing)
    if inspect.isclass(thing):
        yield from _members(thing)


def _members(thing: type) -> Iterator[str]:
    """Public methods and properties, those of our own base classes too."""
    ours = [one for one in thing.__mro__ if one.__module__.startswith("compass.")]
    found = {name: value for one in reversed(ours) for name, value in vars(one).items()}
    for name, member in sorted(found.items()):
        if name.startswith(("_", "model_")):
            continue
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(member, property):
            yield f"**`.{name}`** {_text(member)}"
        elif inspect.isfunction(function) and function.__doc__:
            yield f"```python\n{_signature(f'{thing.__name__}.{name}', function)}\n```"
            yield _text(function)


def _signature(name: str, thing: Any) -> str:
    """A call as one reads it; one parameter a line where it is long."""
    try:
        found = inspect.signature(thing)
    except ValueError:
        return name
    found = found.replace(
        parameters=[one for one in found.parameters.values() if one.name != "self"]
    )
    text = _plain(f"{name}{found}")
    if len(text) <= 90:
        return text
    back = f" -> {inspect.formatannotation(found.return_annotation)}"
    lines = [f"    {one}," for one in found.parameters.values()]
    keywords = [one for one in found.parameters.values() if one.kind is one.KEYWORD_ONLY]
    if keywords and not any(one.kind is one.VAR_POSITIONAL for one in found.parameters.values()):
        lines.insert(list(found.parameters.values()).index(keywords[0]), "    *,")
    return _plain("\n".join([f"{name}(", *lines, f"){back}"]))


def _type(annotation: Any) -> str:
    return _plain(inspect.formatannotation(annotation))


def _plain(text: str) -> str:
    """Without the modules of types and what pydantic keeps beside them."""
    text = re.sub(r"<(?:class|function|enum) '?([\w.]+).*?>", r"\1", text)
    text = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", text)
    return re.sub(r"Annotated\[([^\[\],]+(?:\[[^\]]*\])?),[^\]]*\]", r"\1", text)


# The command line


def commands() -> str:
    """All commands with their arguments and options, as `--help` has them."""
    parts = ["# Commands", "`compass COMMAND --help` prints the same."]
    parts += _command("compass", typer.main.get_command(app))
    return "\n\n".join(part for part in parts if part)


def _command(path: str, command: Any) -> Iterator[str]:
    below = getattr(command, "commands", {})
    if not below or path != "compass":
        yield f"{'###' if path.count(' ') > 1 else '##'} {path}"
        yield _help(command.help or "")
    rows = [
        (_parameter(one), getattr(one, "help", None) or "")
        for one in command.params
        if not getattr(one, "hidden", False) and one.name != "help"
    ]
    if rows:
        yield _table(("argument or option", "meaning"), *rows)
    for name in sorted(below):
        yield from _command(f"{path} {name}", below[name])


def _help(text: str) -> str:
    """What `--help` says; paragraphs that are printed as they are become blocks of code."""
    parts = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        f"```text\n{part.removeprefix(_AS_IS).strip()}\n```" if part.startswith(_AS_IS) else part
        for part in parts
    )


def _parameter(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    default = parameter.default
    shown = default is not None and not callable(default) and not parameter.is_flag
    return names + (f" (default `{default}`)" if shown and default not in ((), "") else "")


# HTTP


def http() -> str:
    """All routes, what they take and what they answer."""
    found = document()
    parts = [
        "# HTTP",
        "The routes of `compass serve`, as its document (`/api/v1/openapi.json`) has them. How "
        "workspaces, tokens and jobs work is in the [guide to the server](../guides/server.md).",
    ]
    tagged: dict[str, list[str]] = {}
    for path, methods in found["paths"].items():
        for method, about in methods.items():
            tagged.setdefault(about["tags"][0], []).append(_route(path, method, about))
    for tag in sorted(tagged):
        parts += [f"## {tag}", *tagged[tag]]
    parts.append("## What is sent")
    for name, schema in sorted(found["components"]["schemas"].items()):
        parts += _schema(name, schema)
    return "\n\n".join(part for part in parts if part)


def _route(path: str, method: str, about: dict[str, Any]) -> str:
    lines = [f"### {method.upper()} `{path}`", about.get("description", "")]
    asked = [
        (f"`{one['name']}`", one["in"], one.get("description", ""))
        for one in about.get("parameters", [])
    ]
    if asked:
        lines.append(_table(("parameter", "in", "meaning"), *asked))
    takes = _content(about.get("requestBody", {}))
    gives = [
        f"{code}: {_content(reply)}"
        for code, reply in about["responses"].items()
        if code.startswith("2") and _content(reply)
    ]
    known = [f"Takes {takes}." if takes else "", f"Answers {'; '.join(gives)}." if gives else ""]
    lines.append(" ".join(one for one in known if one))
    return "\n\n".join(line for line in lines if line)


def _content(part: dict[str, Any]) -> str:
    return ", ".join(
        _named(about.get("schema", {})) or f"`{kind}`"
        for kind, about in part.get("content", {}).items()
    )


def _named(schema: dict[str, Any]) -> str:
    """A schema in a few words, linked where it is described on the page."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{_anchor(name)})"
    if "items" in schema:
        return f"list of {_named(schema['items']) or 'anything'}"
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        return " or ".join(dict.fromkeys(_named(one) or "anything" for one in several))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    found = schema.get("type", "")
    return found if isinstance(found, str) else " or ".join(found)


def _anchor(name: str) -> str:
    """As MyST names headings."""
    return re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")


def _schema(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f"### {name}"
    yield schema.get("description", "")
    needed = set(schema.get("required", []))
    rows = [
        (
            f"`{field}`" + ("" if field in needed else " (optional)"),
            _named(about),
            about.get("description", ""),
        )
        for field, about in schema.get("properties", {}).items()
    ]
    if rows:
        yield _table(("field", "type", "meaning"), *rows)
    else:
        yield _named(schema)


# Settings


def defaults() -> str:
    """Every default with its source, as the comments of the code have it."""
    source = Path(inspect.getfile(settings)).read_text(encoding="utf-8")
    lines = source.splitlines()
    parts = ["# Settings", _text(settings)]
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ClassDef):
            continue
        rows = [
            (f"`{ast.unparse(one.target)}`", f"`{_default(one)}`", _comment(lines, one))
            for one in node.body
            if isinstance(one, ast.AnnAssign)
        ]
        if rows:
            parts += [f"## {node.name}", ast.get_docstring(node) or ""]
            parts.append(_table(("name", "default", "source"), *rows))
    return "\n\n".join(part for part in parts if part)


def _default(field: ast.AnnAssign) -> str:
    value = field.value
    if isinstance(value, ast.Call) and value.args:
        value = value.args[0]
    return ast.unparse(value) if value is not None else ""


def _comment(lines: list[str], field: ast.AnnAssign) -> str:
    """What the comment at the end of a field, or in the lines above it, says."""
    assert field.end_lineno is not None
    beside = lines[field.end_lineno - 1][field.end_col_offset :].partition("#")[2].strip()
    above: list[str] = []
    number = field.lineno - 2
    while number >= 0 and lines[number].strip().startswith("#"):
        above.insert(0, lines[number].strip().lstrip("# "))
        number -= 1
    return " ".join([*above, beside]).strip()
