"""Study files: what a person says about a table, as YAML or TOML."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from compass import files
from compass.domain.errors import StudyProblem, nearest
from compass.domain.study import ColumnChoice, MachineChoice, Study, TrustChoice

_TITLE = "# A Compass study: what the columns are. role: knob, context, outcome or ignored.\n"
_MACHINES_EXAMPLE = "machines: {machine: cluster, application: app, prices: {lassen: 2.5}}"
_TRUST_EXAMPLE = "trust: {neighbours: 20, tau: 0.3, caution: 0.95, unsupported: 0.99}"


def load_study(path: str | Path) -> Study:
    """The study in a YAML (or `.toml`) file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as problem:
        names = [entry.name for entry in path.parent.glob("*")] if path.parent.is_dir() else []
        close = nearest(path.name, names)
        raise StudyProblem(
            f"there is no study file {path}",
            hint=f"did you mean {path.parent / close}?" if close else "write one: --write-study",
        ) from problem
    except (OSError, UnicodeDecodeError) as problem:
        raise StudyProblem(
            f"cannot read the study {path}: {problem}", hint="it must be a text file (UTF-8)"
        ) from problem
    try:
        raw = _from_toml(text) if path.suffix.lower() == ".toml" else _from_yaml(text)
    except ValueError as problem:
        raise StudyProblem(
            f"the study {path} is not well formed: {problem}", hint="check that place"
        ) from problem
    return study_of({} if raw is None else raw, where=f"the study {path}")


# Both are imported where they are needed: most commands read no study file.


def _from_toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _from_yaml(text: str) -> Any:
    from compass.prepare.yaml_text import from_yaml

    return from_yaml(text)


def study_of(raw: object, *, where: str = "the study") -> Study:
    """A study from plain data (as read from a file), with errors that say where."""
    if not isinstance(raw, Mapping):
        raise StudyProblem(f"{where} must be a mapping", hint="its keys are: " + _keys(Study))
    try:
        return Study.model_validate(raw)
    except ValidationError as problem:
        first = problem.errors()[0]
        place = [str(step) for step in first["loc"]]
        if first["type"] == "extra_forbidden":
            raise _unknown_key(place, where) from problem
        message = first["msg"].removeprefix("Value error, ")
        raise StudyProblem(
            f"{where}, {'.'.join(place)}: {message}" if place else f"{where}: {message}",
            hint=_hint(place),
        ) from problem


def _hint(place: list[str]) -> str:
    """What may stand at a place of a study."""
    if place[:1] == ["columns"]:
        return f"keys of a column: {_keys(ColumnChoice)}"
    if place[:1] == ["trust"]:
        return f"for example {_TRUST_EXAMPLE}"
    if place[:1] == ["machines"]:
        return f"for example {_MACHINES_EXAMPLE}"
    return f"keys of a study: {_keys(Study)}"


def _unknown_key(place: list[str], where: str) -> StudyProblem:
    known, inside = dict(Study.model_fields), ""
    if place[0] == "columns" and len(place) > 1:
        known, inside = dict(ColumnChoice.model_fields), f" of {place[1]}"
    elif place[0] == "trust" and len(place) > 1:
        known, inside = dict(TrustChoice.model_fields), " of trust"
    elif place[0] == "machines" and len(place) > 1:
        known, inside = dict(MachineChoice.model_fields), " of machines"
    close = nearest(place[-1], known)
    return StudyProblem(
        f"{where} has an unknown key '{place[-1]}'{inside}",
        hint=f"did you mean {close}?" if close else f"the keys are: {', '.join(known)}",
    )


def _keys(noun: type[Study] | type[ColumnChoice]) -> str:
    return ", ".join(noun.model_fields)


def save_study(study: Study, path: str | Path) -> None:
    """Writes a study to a YAML (or `.toml`) file; the old file stays whole until the new one is."""
    path = Path(path)
    write = to_toml if path.suffix.lower() == ".toml" else _to_yaml
    text = _TITLE + write(_plain(study))
    try:
        files.write_text(path, text)
    except OSError as problem:
        raise StudyProblem(
            f"cannot write the study {path}: {problem.strerror or problem}",
            hint="choose a folder that exists and that you may write to",
        ) from problem


def _to_yaml(raw: Mapping[str, Any]) -> str:
    from compass.prepare.yaml_text import to_yaml

    return to_yaml(raw)


def _plain(study: Study) -> dict[str, Any]:
    """The study without what it does not say; whole numbers without a decimal point."""
    raw = study.model_dump(mode="json", exclude_defaults=True)
    for name, choice in study.columns.items():
        fields = choice.model_dump(mode="json", exclude_none=True)
        fields |= {key: _short(fields[key]) for key in ("low", "high", "step") if key in fields}
        if "allowed" in fields:
            fields["allowed"] = [_short(number) for number in fields["allowed"]]
        raw["columns"][name] = fields
    return raw


def _short(number: float) -> float:
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def to_toml(raw: Mapping[str, Any], place: tuple[str, ...] = ()) -> str:
    """Plain data as TOML: mappings become tables, everything else `key = value`."""
    plain = {key: value for key, value in raw.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in raw.items() if isinstance(value, Mapping)}
    lines = [f"{_toml_key(key)} = {_toml_value(value)}\n" for key, value in plain.items()]
    if place and (plain or not tables):
        lines.insert(0, f"\n[{'.'.join(map(_toml_key, place))}]\n")
    return "".join(lines) + "".join(to_toml(table, (*place, key)) for key, table in tables.items())


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_text(key)


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if value is None:
        raise StudyProblem("TOML has no word for `none`", hint="save the study as YAML")
    return _toml_text(value)
