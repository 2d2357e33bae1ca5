"""Groups of flags that several commands share, each declared once.

A command names a group as one parameter; `grouped` shows typer its single flags:

    @grouped
    def columns(data: flags.Source, *, study: StudyFlags, remote: ServerFlags) -> None: ...
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from compass.cli import flags
from compass.cli.parse import named_files
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.client import Server


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters may be groups of flags, with their flags as its parameters."""
    taken = inspect.signature(command).parameters
    hints = get_type_hints(command, include_extras=True)
    single = [one for name in taken for one in _parameters(name, hints[name], taken[name].default)]

    @wraps(command)
    def called(**values: Any) -> None:
        command(**{name: _value(name, hints[name], values) for name in taken})

    called.__signature__ = inspect.Signature(single)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in single}
    return called


def _parameters(name: str, hint: Any, default: Any) -> Iterator[inspect.Parameter]:
    """The flags of a parameter: itself, or those of the group that it is."""
    if not is_dataclass(hint):
        yield inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint
        )
        return
    hints = get_type_hints(hint, include_extras=True)
    for one in fields(hint):
        yield from _parameters(one.name, hints[one.name], one.default)


def _value(name: str, hint: Any, values: Mapping[str, Any]) -> Any:
    """The value of a parameter: what was given, or a group made of it."""
    if not isinstance(hint, type) or not is_dataclass(hint):
        return values[name]
    hints = get_type_hints(hint, include_extras=True)
    return hint(**{one.name: _value(one.name, hints[one.name], values) for one in fields(hint)})


@dataclass(frozen=True)
class ServerFlags:
    """The server that does the work, if one is named."""

    server: flags.Server = None
    token: flags.Token = None

    def connect(self, query: str | None = None) -> "Server | None":
        """The server; a query is parsed first, so that a wrong one is not sent anywhere."""
        if self.server is None:
            return None
        from compass.client import connect
        from compass.language import parse_query

        if query is not None:
            parse_query(query)
        return connect(self.server, self.token)


@dataclass(frozen=True)
class ModelFileFlags:
    """Files of models that a person brings, by outcome."""

    model: flags.Models = None
    model_columns: flags.ModelColumns = None
    allow_pickle: flags.AllowPickle = False

    def models(self, server: "Server | None" = None) -> dict[str, Any]:
        """The models by outcome; for a server, their files and the files of their columns."""
        columns = named_files(self.model_columns or [], "--model-columns", "runtime=columns.yaml")
        files = named_files(self.model or [], "--model", "runtime=model.onnx")
        for outcome in columns:
            if outcome not in files:
                raise BadInput(
                    f"--model-columns {outcome}=...: there is no --model {outcome}=...",
                    hint="give the model too",
                )
        if server is not None:
            if self.allow_pickle:
                raise BadInput(
                    "a server runs no code that a file brings", hint="leave out --allow-pickle"
                )
            return {outcome: (path, columns.get(outcome)) for outcome, path in files.items()}
        if not files:
            return {}
        from compass.model.files import bring

        return {
            outcome: bring(
                Path(path),
                columns=Path(columns[outcome]) if outcome in columns else None,
                allow_pickle=self.allow_pickle,
            )
            for outcome, path in files.items()
        }


@dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """Which models predict the outcomes."""

    surrogate: flags.Surrogate = None
    files: ModelFileFlags
