"""What flags mean: the study, the data, the engine and the baseline that they name."""

import json
import math
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.client import Server
    from compass.client.engine import RemoteEngine
    from compass.engine.compass import Compass
    from compass.engine.dataset import Dataset
    from compass.learn.store import Progress

_SOURCES = ("SOURCE", "DATA", "RUNS")  # arguments that may be a glob


def check_output(*paths: Path | None) -> None:
    """Say before the work, not after it, that a file cannot be written."""
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise BadInput(f"cannot write {path}: it is a folder", hint="name a file in it")
        if not path.parent.is_dir():
            raise BadInput(
                f"cannot write {path}: there is no folder {path.parent}",
                hint=f"make it first: mkdir -p {shlex.quote(str(path.parent))}",
            )
        if not os.access(path.parent, os.W_OK):
            raise BadInput(f"not allowed to write into {path.parent}", hint="choose another folder")


def told_usage(error: Any) -> tuple[str, str]:
    """A problem with the flags in our words, and what to do about it."""
    text = _short(error.format_message().rstrip("."), 200)
    command = error.ctx.command_path if error.ctx is not None else "compass"
    hint = f"see {command} --help"
    if "unexpected extra argument" in text:
        takes = {one.metavar for one in error.ctx.command.params if one.metavar in _SOURCES}
        if takes:
            # The shell puts the files in the place of an unquoted glob.
            word = takes.pop()
            hint = f"{word} is one word: quote a glob ('runs/*.csv'), or name the folder; {hint}"
    return text[:1].lower() + text[1:], hint


def study_from_flags(
    roles: Iterable[str] | None,
    units: Iterable[str] | None,
    domains: Iterable[str] | None,
    missing: Iterable[str] | None,
    drop: Iterable[str] | None,
    rules: Iterable[str] | None,
    group: str | None = None,
    comparable: str | None = None,
) -> Any:
    """The flags as a study, so that they mean the same as the file."""
    from compass.domain.space import Role
    from compass.prepare.study_file import study_of

    columns: dict[str, dict[str, Any]] = {}
    for key, given, known in (
        ("role", roles, [role.value for role in Role]),
        ("unit", units, None),
        ("missing", missing, ["none", "drop"]),
    ):
        for text in given or ():
            name, value = _pair(key, text, known)
            columns.setdefault(name, {})[key] = value
    for text in domains or ():
        name, value = _pair("domain", text)
        columns.setdefault(name, {}).update(_domain(name, value))
    said: dict[str, Any] = {
        "columns": columns,
        "drop": list(drop or ()),
        "rules": list(rules or ()),
    }
    if group is not None:
        said["group"] = group
    if comparable is not None:
        names = [name.strip() for name in comparable.split(",") if name.strip()]
        said["comparable"] = [] if names == ["all"] else names
    return study_of(said, where="the flags")


_EXAMPLES = {
    "role": "nodes=knob",
    "unit": "runtime=s",
    "missing": "power_cap=none",
    "domain": "threads=4,8,16",
    "weight": "nodes=5",
}


def _pair(flag: str, text: str, known: list[str] | None = None) -> tuple[str, str]:
    name, found, value = text.rpartition("=")
    # Only a unit can be nothing: it takes away the one that was found.
    if not found or not name or not (value or flag == "unit"):
        raise BadInput(
            f"--{flag} {text} is not COLUMN=VALUE", hint=f"for example --{flag} {_EXAMPLES[flag]}"
        )
    if known is not None and value not in known:
        raise BadInput(
            f"--{flag} {text}: there is no {flag} '{value}'", hint=f"choose {', '.join(known)}"
        )
    return name, value


def weights(texts: list[str] | None) -> dict[str, float]:
    """Costs of changing parameters, from COLUMN=NUMBER."""
    found = {}
    for text in texts or ():
        name, value = _pair("weight", text)
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = math.nan
        if not 0 < found[name] < math.inf:
            raise BadInput(
                f"--weight {text}: '{value}' is not a positive number",
                hint="for example --weight nodes=5",
            )
    return found


def models(
    files: list[str] | None,
    columns: list[str] | None,
    allow_pickle: bool,
    at: "Server | None" = None,
) -> "dict[str, Any]":
    """Models that a person brings, by outcome; for a server, the files and those of the columns."""
    named = _pairs(columns or [], "--model-columns", "runtime=columns.yaml")
    given = _pairs(files or [], "--model", "runtime=model.onnx")
    for outcome in named:
        if outcome not in given:
            raise BadInput(
                f"--model-columns {outcome}=...: there is no --model {outcome}=...",
                hint="give the model too",
            )
    if at is not None:
        if allow_pickle:
            raise BadInput(
                "a server runs no code that a file brings", hint="leave out --allow-pickle"
            )
        return {outcome: (path, named.get(outcome)) for outcome, path in given.items()}
    if not given:
        return {}
    from compass.model.files import bring

    return {
        outcome: bring(
            Path(path),
            columns=Path(named[outcome]) if outcome in named else None,
            allow_pickle=allow_pickle,
        )
        for outcome, path in given.items()
    }


def journal(output: Path) -> Path:
    """The file beside an engine in which tuning keeps what it has tried."""
    whole = output.resolve()  # "." has no name
    return whole.with_name(f"{whole.name}.tuning")


def _pairs(texts: list[str], flag: str, example: str) -> dict[str, str]:
    """NAME=VALUE texts as a mapping."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise BadInput(
                f"{flag} {text} names no outcome and file", hint=f"write {flag} {example}"
            )
        found[name] = value
    return found


def _domain(name: str, text: str) -> dict[str, Any]:
    try:
        if ".." in text:
            span, _, step = text.partition(":")
            low, high = (float(end) for end in span.split(".."))
            size = float(step) if step else None
            if not (math.isfinite(high - low) and low <= high and (size is None or size > 0)):
                raise ValueError
            return {"low": low, "high": high} | ({} if size is None else {"step": size})
        numbers = sorted({float(part) for part in text.split(",")})
    except ValueError:
        if ".." in text:
            raise BadInput(
                f"--domain {name}={text} is not a range", hint="write low..high or low..high:step"
            ) from None
        return {"values": [part.strip() for part in text.split(",")]}
    if not all(map(math.isfinite, numbers)):
        raise BadInput(
            f"--domain {name}={text} is not a list of numbers", hint="write plain numbers: 4,8,16"
        )
    return {"allowed": numbers}


def server(url: str | None, token: str | None, query: str | None = None) -> "Server | None":
    """The server that does the work, if one is named; a query is read before it learns anything."""
    if url is None:
        return None
    from compass.client import connect
    from compass.language import parse_query

    if query is not None:
        parse_query(query)
    return connect(url, token)


def with_flags(study_file: Path | None, flags: Any, known: Any = None) -> Any:
    """The study of a file (or else a known one) and of flags, which have the last word."""
    from compass.domain.study import Study
    from compass.prepare.study import merge
    from compass.prepare.study_file import load_study

    said = (known or Study()) if study_file is None else load_study(study_file)
    return merge(said, flags)


def dataset(source: str, study_file: Path | None, flags: Any) -> "Dataset":
    """Past runs from what a person typed."""
    from compass import embedded
    from compass.domain.constraint import Source
    from compass.domain.study import Study
    from compass.engine.dataset import read
    from compass.engine.store import load
    from compass.prepare.study import merge
    from compass.prepare.study_file import load_study

    if not source:
        raise BadInput("DATA is empty", hint="name a file, a glob or a folder")
    if is_saved(source):
        engine = load(source)
        rules = tuple(rule.text for rule in engine.rules if rule.source is Source.STUDY)
        data = engine.data.with_study(merge(engine.data.study, Study(rules=rules)))
        if study_file is not None:
            data = data.with_study(merge(data.study, load_study(study_file)))
    elif source == "embedded":
        data = read(embedded.path(), study=study_file or embedded.study())
    else:
        data = read(source, study=study_file)
    return data.with_study(merge(data.study, flags))


def is_saved(source: str) -> bool:
    """Whether a person means a saved engine; one that is broken is still meant as one."""
    from compass.engine.saved import is_engine

    path = Path(source)
    try:
        return is_engine(path) or (path.suffix == ".compass" and path.is_dir())
    except OSError as error:  # a name that no file system takes
        raise BadInput(
            f"cannot open {_short(source)}: {error.strerror}", hint="name a file or a folder"
        ) from None


def engine(
    source: str,
    study_file: Path | None,
    flags: Any,
    progress: "Progress | None",
    at: "Server | None" = None,
    **models: Any,
) -> "Compass | RemoteEngine":
    """A saved engine, or a new one on the data with these `surrogate` and `models`.

    With a server it is there, and has the same methods.
    """
    if at is not None:
        from compass.cli import remote

        return remote.engine(at, source, study_file, flags, progress, **models)
    from compass.engine.compass import Compass
    from compass.engine.store import load

    if is_saved(source):
        check_fitted(study_file, flags, *models.values())
        loaded = load(source)
        loaded.store.progress = progress
        return loaded
    return Compass(dataset(source, study_file, flags), progress=progress, **models)


def check_fitted(study_file: Path | None, flags: Any, *models: Any) -> None:
    """Refuse to change what an engine was fitted with."""
    from compass.domain.study import Study

    if study_file is not None or flags != Study():
        raise BadInput(
            "a saved engine already has its roles and rules",
            hint="use --where for this question, or fit again from the data",
        )
    if any(models):
        raise BadInput("a saved engine already has its models", hint="fit again from the data")


def show_progress(engine: "Compass | RemoteEngine", progress: "Progress") -> None:
    """Let an engine tell how far its next work is."""
    from compass.engine.compass import Compass

    if isinstance(engine, Compass):
        engine.store.progress = progress
    else:
        engine.progress = progress


def baseline(text: str | None) -> Any:
    """`row:N`, or a JSON or YAML file with one configuration."""
    if text is None:
        return None
    if text.startswith("row:"):
        number = text.removeprefix("row:")
        if not re.fullmatch("[0-9]{1,18}", number):
            raise BadInput(f"--from {text} is not a row", hint="rows count from 0: --from row:0")
        return int(number)
    config = _configuration(text)
    scalars = (bool, int, float, str, type(None))
    if not isinstance(config, dict) or not all(
        isinstance(name, str) and isinstance(value, scalars) for name, value in config.items()
    ):
        raise BadInput(f"{text} is not one configuration", hint="write name: value, one per line")
    return config


def _configuration(text: str) -> Any:
    """What the file of that name holds."""
    import yaml

    try:
        written = Path(text).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(
            f"--from {text}: no such file", hint="write --from row:N for a past run"
        ) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a text file (UTF-8)"
        raise BadInput(
            f"--from {_short(text)}: cannot read it: {why}",
            hint="write row:N for a past run, or name a JSON or YAML file",
        ) from None
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        pass  # then it is YAML, of which JSON is only nearly a part: tabs are not
    try:
        return yaml.safe_load(written)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise BadInput(
            f"cannot read a configuration from {text}", hint="it should be JSON or YAML"
        ) from None


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
