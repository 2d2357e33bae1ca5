"""Which column feeds which input of a model, and by which numbers labels are given to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, ValidationError

from compass.domain.arguments import argument, path_name
from compass.domain.base import Noun, Value
from compass.domain.errors import BadInput, unknown
from compass.domain.space import Category, Number, Space

Floats = NDArray[np.float64]
Stated = str | Mapping[str, Any]
Columns = Mapping[str, Stated] | Sequence[Stated] | str | Path

INPUTS = 100_000


@dataclass(frozen=True)
class Inputs:
    """What a model says about its inputs."""

    names: tuple[str, ...] | None  # None: it has none
    count: int | None  # None: it does not tell
    texts: frozenset[int] = frozenset()  # inputs that are labels, not numbers


class InputEntry(Noun):
    """What a person says about one input of a model."""

    column: str | None = Field(None, description="the column that feeds it")
    codes: dict[Value, float] | None = Field(None, description="the number for each label")
    label: Value = Field(None, description="1 where the column has this label, else 0")
    none: float | None = Field(None, description="the number for the level none")
    value: float | None = Field(None, description="the same number for every configuration")


class Feed(Noun):
    """How one input of a model is made of an encoded configuration."""

    kind: Literal["number", "table", "constant", "text"]
    place: int = Field(0, ge=0, description="the column it is made of")
    value: FiniteFloat = Field(0.0, description="of a constant")
    beyond: FiniteFloat | None = Field(None, description="numbers above this are the level none")
    none: FiniteFloat = Field(0.0, description="the number for the level none")
    table: tuple[FiniteFloat, ...] = Field((), description="the number for each label")
    texts: tuple[str, ...] = Field((), description="the text for each label")

    @property
    def plain(self) -> bool:
        """Whether the input is the column as it is."""
        positions = tuple(float(position) for position in range(len(self.table)))
        return (self.kind == "number" and self.beyond is None) or (
            self.kind == "table" and self.table == positions
        )


def fed(feeds: Sequence[Feed], X: Floats) -> Floats:
    """The inputs of the model float64[n, inputs] for X float64[n, d]; text by position."""
    made = np.empty((len(X), len(feeds)))
    for column, feed in enumerate(feeds):
        if feed.kind == "constant":
            made[:, column] = feed.value
            continue
        source = X[:, feed.place]
        labels = feed.table if feed.kind == "table" else feed.texts
        if feed.kind in ("table", "text") and not ((source >= 0) & (source < len(labels))).all():
            raise BadInput(
                "a model that was brought is fed a label that it does not know",
                hint="bring the model again: it was fitted to a column with other labels",
            )
        if feed.kind == "table":
            made[:, column] = np.asarray(feed.table)[source.astype(np.int64)]
        elif feed.kind == "number" and feed.beyond is not None:
            made[:, column] = np.where(source > feed.beyond, feed.none, source)
        else:
            made[:, column] = source
    return made


class ColumnMapping(Noun):
    """What a person says about a model as a whole."""

    columns: Any = Field(None, description="a list or a mapping of columns, or nothing")
    classes: tuple[Value, ...] | None = Field(None, description="the label of each class")
    log: bool = Field(False, description="whether it predicts the logarithm")


def stated(columns: Columns | None) -> ColumnMapping:
    """What a person says: a list or mapping of columns, or a YAML or JSON file that holds one.

    A file may also have the keys `columns`, `classes` and `log`.
    """
    if not isinstance(columns, str | Path):
        return ColumnMapping(columns=columns)
    path = argument("columns", path_name, columns)
    found = _read(path)
    if isinstance(found, Mapping) and _is_sheet(found):
        try:
            found = ColumnMapping.model_validate(dict(found))
        except ValidationError as error:
            first = error.errors()[0]
            raise BadInput(
                f"{path}: {first['loc'][0]}: {first['msg']}",
                hint="classes is a list of labels, log is true or false",
            ) from None
    mapping = found if isinstance(found, ColumnMapping) else ColumnMapping(columns=found)
    if not isinstance(mapping.columns, Mapping | list | None):
        raise BadInput(
            f"{path} must hold a list or a mapping of columns",
            hint="write one line for each input: 'input of the model: column'",
        )
    return mapping


def _read(path: Path) -> Any:
    import yaml  # needed only with a model that somebody brings

    try:
        if path.stat().st_size > 2**20:
            raise BadInput(f"{path} is too large for a list of columns", hint="1 MiB is enough")
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}", hint="check the path") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(
            f"{path} is neither YAML nor JSON: {str(error).splitlines()[0]}",
            hint="write one line for each input: 'input of the model: column'",
        ) from None


def _is_sheet(found: Mapping[Any, Any]) -> bool:
    """Whether a file tells about the whole model, rather than about inputs of these names."""
    inner = found.get("columns")
    about_input = isinstance(inner, str) or (
        isinstance(inner, Mapping) and {"column", "value"} & set(inner)
    )
    return bool(found) and set(found) <= set(ColumnMapping.model_fields) and not about_input


def feeds(
    inputs: Inputs, columns: Mapping[str, Stated] | Sequence[Stated] | None, features: Space
) -> tuple[Feed, ...]:
    """How each input of the model is made of these features; an error where that cannot be done."""
    entries = _entries(inputs, columns, features)
    return tuple(
        _feed(entry, name, place in inputs.texts, features)
        for place, (name, entry) in enumerate(entries)
    )


def _entries(
    inputs: Inputs, columns: Mapping[str, Stated] | Sequence[Stated] | None, features: Space
) -> list[tuple[str, InputEntry]]:
    """For each input of the model what it is called and what feeds it."""
    names = inputs.names
    if columns is None:
        if names is None:
            raise _unnamed(inputs, features)
        return [(name, _named(name, features)) for name in names]
    if isinstance(columns, Mapping):
        return _by_name(inputs, columns, features)
    entries = [_entry(item, f"{place + 1}") for place, item in enumerate(columns)]
    expected = len(names) if names is not None else inputs.count
    if expected is not None and len(entries) != expected:
        raise BadInput(
            f"the model has {expected} inputs, {len(entries)} columns were given",
            hint=template(inputs, features),
        )
    listed = [entry.column for entry in entries]
    if names is not None and listed != list(names) and sorted(map(str, listed)) == sorted(names):
        raise BadInput(
            f"the columns are in another order than the model's inputs: {_some(names)}",
            hint="give them in that order, or leave them out: the names in the file fit",
        )
    called = names or [f"input {place + 1}" for place in range(len(entries))]
    return list(zip(called, entries, strict=True))


def _by_name(
    inputs: Inputs, columns: Mapping[str, Stated], features: Space
) -> list[tuple[str, InputEntry]]:
    if inputs.names is None:
        # The order of the file is the order of the inputs; the names are the person's own.
        if inputs.count is not None and len(columns) != inputs.count:
            raise BadInput(
                f"the model has {inputs.count} inputs, {len(columns)} columns were given",
                hint=template(inputs, features),
            )
        return [(str(name), _entry(item, str(name))) for name, item in columns.items()]
    for name in columns:
        if name not in inputs.names:
            raise unknown("input of the model", str(name), inputs.names)
    return [
        (name, _entry(columns[name], name) if name in columns else _named(name, features))
        for name in inputs.names
    ]


def _named(name: str, features: Space) -> InputEntry:
    if name in features:
        return InputEntry(column=name)
    split = _one_hot(name, features)
    problem = unknown("column", name, features.names, where="among the features")
    if split is not None:
        problem.hint = f"say what the input is: {name}: {_flow(split)}"
    else:
        problem.hint += f"; or say what feeds this input of the model: {name}: COLUMN"
    raise problem


def _entry(item: Any, name: str) -> InputEntry:
    given = {"column": item} if isinstance(item, str) else item
    try:
        entry = InputEntry.model_validate(dict(given))
    except (ValidationError, TypeError, ValueError) as error:
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "not a mapping"
        raise BadInput(
            f"what feeds input {name} of the model cannot be understood: {why}",
            hint="write a column, {column: app, codes: {wrf: 0, lammps: 1}},"
            " {column: app, label: wrf} or {value: 3.0}",
        ) from None
    given = entry.model_fields_set
    kinds = given & {"codes", "label", "value"}
    if len(kinds) > 1 or ("value" in given) == ("column" in given):
        raise BadInput(
            f"what feeds input {name} of the model is not clear",
            hint="give a column (with codes or a label where it has labels), or a value",
        )
    numbers = [entry.value, entry.none, *(entry.codes or {}).values()]
    if not all(number is None or np.isfinite(number) for number in numbers):
        raise BadInput(f"input {name} of the model is fed a value that is no finite number")
    return entry


def _feed(entry: InputEntry, name: str, text: bool, features: Space) -> Feed:
    if entry.column is None:
        if text:
            raise BadInput(f"input {name} of the model is a text, not a number")
        return Feed(kind="constant", value=float(entry.value or 0.0))
    if entry.column not in features:
        raise unknown("column", entry.column, features.names, where="among the features")
    parameter, place = features[entry.column], features.names.index(entry.column)
    if isinstance(parameter, Number):
        return _number(entry, name, text, parameter, place)
    if text:
        if {"codes", "label"} & entry.model_fields_set:
            raise BadInput(
                f"input {name} of the model takes labels as they are", hint="leave out the codes"
            )
        texts = tuple("" if label is None else str(label) for label in parameter.values)
        return Feed(kind="text", place=place, texts=texts)
    if "label" in entry.model_fields_set:
        position = _position(entry.label, parameter)
        hot = tuple(float(other == position) for other in range(len(parameter.values)))
        return Feed(kind="table", place=place, table=hot)
    if entry.codes is None:
        raise BadInput(
            f"{entry.column} has labels; the model's input {name} takes numbers",
            hint=f"say the number of each label: {name}: {_flow(_coded(parameter))}",
        )
    return Feed(kind="table", place=place, table=_codes(entry, parameter))


def _number(entry: InputEntry, name: str, text: bool, parameter: Number, place: int) -> Feed:
    if text or {"codes", "label"} & entry.model_fields_set:
        raise BadInput(
            f"{parameter.name} is a number, but input {name} of the model is fed labels",
            hint=f"map the input to a column with labels, or write: {name}: {parameter.name}",
        )
    if not parameter.optional:
        return Feed(kind="number", place=place)
    if entry.none is None:
        raise BadInput(
            f"{parameter.name} can be none; the model needs a number for that",
            hint=f"say which one it knows: {name}: {{column: {parameter.name}, none: -1}}",
        )
    beyond = (parameter.high + parameter.none_code) / 2
    return Feed(kind="number", place=place, beyond=beyond, none=entry.none)


def _codes(entry: InputEntry, parameter: Category) -> tuple[float, ...]:
    codes = dict(entry.codes or {})
    table: dict[int, float] = {}
    for label, code in codes.items():
        table[_position(label, parameter)] = float(code)
    if None in parameter.values and entry.none is not None:
        table[parameter.values.index(None)] = entry.none
    missing = [str(v) for place, v in enumerate(parameter.values) if place not in table]
    if missing:
        raise BadInput(
            f"no code is given for these labels of {parameter.name}: {_some(missing)}",
            hint="say a number for every label that the column has",
        )
    return tuple(table[place] for place in range(len(parameter.values)))


def _position(label: Value, parameter: Category) -> int:
    for place, value in enumerate(parameter.values):
        if type(value) is type(label) and value == label:
            return place
    places = {str(value): place for place, value in enumerate(parameter.values)}
    if str(label) in places:
        return places[str(label)]
    raise unknown("label", str(label), places, where=f"in {parameter.name}")


def template(inputs: Inputs, features: Space) -> str:
    """A columns file to copy: one line for each input of the model."""
    lines = []
    if inputs.names is None:
        chosen = features.names[: inputs.count] if inputs.count else features.names
        lines = [f"- {_flow(_guess(name, features))}" for name in chosen]
    else:
        lines = [f"{name}: {_flow(_guess(name, features))}" for name in inputs.names[:30]]
    return "write a columns file with a line for each input, in the model's order:\n" + "\n".join(
        lines
    )


def _unnamed(inputs: Inputs, features: Space) -> BadInput:
    count = "" if inputs.count is None else f" for its {inputs.count} inputs"
    return BadInput(
        f"the model has no names{count}: which column is which must be said",
        hint=template(inputs, features),
    )


def _guess(name: str, features: Space) -> Any:
    if name not in features:
        return _one_hot(name, features) or "COLUMN"
    parameter = features[name]
    if isinstance(parameter, Category):
        return _coded(parameter)
    return {"column": name, "none": -1} if parameter.optional else name


def _one_hot(name: str, features: Space) -> dict[str, Any] | None:
    """What an input that is named after a column and a label is: `app_wrf`, `app=wrf`."""
    for parameter in features:
        if isinstance(parameter, Category):
            for label in parameter.values:
                if name in (f"{parameter.name}_{label}", f"{parameter.name}={label}"):
                    return {"column": parameter.name, "label": label}
    return None


def _coded(parameter: Category) -> dict[str, Any]:
    codes = {label: place for place, label in enumerate(parameter.values)}
    return {"column": parameter.name, "codes": codes}


def _flow(item: Any) -> str:
    import yaml

    text = yaml.safe_dump(item, default_flow_style=True, sort_keys=False, width=10**6)
    return text.strip().removesuffix("...").strip()


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
