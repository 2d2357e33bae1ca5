"""Flags that many commands share, and what they mean."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.engine.compass import Compass
    from compass.engine.dataset import Dataset
    from compass.engine.workbench import Progress

Source = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file, glob, directory, saved engine (*.compass), or 'embedded'.",
        show_default=False,
    ),
]
StudyFile = Annotated[
    Path | None, typer.Option("--study", help="A study file (YAML or TOML): roles, domains, rules.")
]
Roles = Annotated[
    list[str] | None,
    typer.Option("--role", help="COLUMN=knob|context|outcome|ignored; may be repeated."),
]
Units = Annotated[list[str] | None, typer.Option("--unit", help="COLUMN=UNIT, e.g. runtime=s.")]
Domains = Annotated[
    list[str] | None,
    typer.Option("--domain", help="COLUMN=4,8,16 or COLUMN=1..64 or COLUMN=1..64:1 (step)."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", help="COLUMN=none keeps rows without a value as the level none."),
]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="A column to leave out.")]
Rules = Annotated[
    list[str] | None,
    typer.Option("--rule", help="A rule that every answer must obey; may be repeated."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def study_from_flags(
    roles: Iterable[str] | None,
    units: Iterable[str] | None,
    domains: Iterable[str] | None,
    missing: Iterable[str] | None,
    drop: Iterable[str] | None,
    rules: Iterable[str] | None,
) -> Any:
    """The flags as a study, so that they mean the same as the file."""
    from compass.prepare.study_file import study_of

    columns: dict[str, dict[str, Any]] = {}
    for flag, key, given in (
        ("--role", "role", roles),
        ("--unit", "unit", units),
        ("--missing", "missing", missing),
    ):
        for text in given or ():
            name, value = _pair(flag, text)
            columns.setdefault(name, {})[key] = value
    for text in domains or ():
        name, value = _pair("--domain", text)
        columns.setdefault(name, {}).update(_domain(name, value))
    return study_of(
        {"columns": columns, "drop": list(drop or ()), "rules": list(rules or ())},
        where="the flags",
    )


def _pair(flag: str, text: str) -> tuple[str, str]:
    name, found, value = text.rpartition("=")
    if not found or not name or not value:
        raise BadInput(f"{flag} {text} is not COLUMN=VALUE", hint=f"for example {flag} nodes=...")
    return name, value


def _domain(name: str, text: str) -> dict[str, Any]:
    try:
        if ".." in text:
            span, _, step = text.partition(":")
            low, high = span.split("..")
            found = {"low": float(low), "high": float(high)}
            return found | ({"step": float(step)} if step else {})
        return {"allowed": sorted({float(part) for part in text.split(",")})}
    except ValueError:
        if ".." in text:
            raise BadInput(
                f"--domain {name}={text} is not a range", hint="write low..high or low..high:step"
            ) from None
        return {"values": [part.strip() for part in text.split(",")]}


def dataset(source: str, study_file: Path | None, flags: Any) -> "Dataset":
    """Past runs from what a person typed."""
    from compass import embedded
    from compass.engine.dataset import read
    from compass.prepare.study import merge

    data = read(embedded.path() if source == "embedded" else source, study=study_file)
    return data.with_study(merge(data.study, flags))


def engine(
    source: str, study_file: Path | None, flags: Any, progress: "Progress | None"
) -> "Compass":
    """A saved engine, or a new one on the data."""
    from compass.engine.compass import Compass
    from compass.engine.store import is_engine, load
    from compass.prepare.study import Study

    if is_engine(Path(source)):
        if study_file is not None or flags != Study():
            raise BadInput(
                "a saved engine already has its roles and rules",
                hint="use --where for this question, or fit again from the data",
            )
        loaded = load(source)
        loaded.bench.progress = progress
        return loaded
    return Compass(dataset(source, study_file, flags), progress=progress)


def baseline(text: str | None) -> Any:
    """`row:N`, or a JSON or YAML file with one configuration."""
    if text is None:
        return None
    if text.startswith("row:"):
        number = text.removeprefix("row:")
        if not number.isdigit():
            raise BadInput(f"--from {text} is not a row", hint="rows count from 0: --from row:0")
        return int(number)
    path = Path(text)
    if not path.is_file():
        raise BadInput(f"--from {text}: no such file", hint="write --from row:N for a past run")
    import yaml

    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        raise BadInput(
            f"cannot read a configuration from {text}", hint="it should be JSON or YAML"
        ) from None
    scalars = (bool, int, float, str, type(None))
    if not isinstance(config, dict) or not all(
        isinstance(name, str) and isinstance(value, scalars) for name, value in config.items()
    ):
        raise BadInput(f"{text} is not one configuration", hint="write name: value, one per line")
    return config
