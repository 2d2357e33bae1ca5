"""What came out of a run, read from what it printed and wrote.

Patterns are those of RE2: the time they take grows with the text and no faster, whatever pattern
and text are, because both may come from strangers.
"""

import json
import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from compass.domain.base import Config, Value
from compass.domain.errors import DataProblem, StudyProblem
from compass.domain.experiment import OutcomeReading, ReadFrom
from compass.experiment.printed import Text, shown
from compass.experiment.readings import json_steps
from compass.experiment.runners.folder import output_files

_JSON_END = 8 * 2**20  # bytes of the end of a text in which a JSON object is looked for
_JSON_WORK = 4 * _JSON_END  # characters that are read for it, all attempts together
_LONGEST_LABEL = 200
# As programs write numbers; Fortran has a D for the exponent of a double.
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eEdD][+-]?\d+)?", re.ASCII)
_LINE_WITH_OBJECT = re.compile(r"^[ \t]*\{\s*[\"}]", re.MULTILINE)
_DECODER = json.JSONDecoder()
_WINDOW = 4096  # characters that are read first, where an object may begin


def check_readings(readings: Mapping[str, OutcomeReading]) -> None:
    """Raise StudyProblem unless every pattern and path can be used."""
    for name, reading in readings.items():
        if reading.source is ReadFrom.JSON:
            json_steps(reading.text)
        elif reading.source is ReadFrom.PATTERN:
            _check_pattern(name, reading.text)


def read_outcomes(
    readings: Mapping[str, OutcomeReading],
    folder: Path,
    seconds: float | None,
    classes: Collection[str] = (),
) -> Config:
    """The outcomes of a run that ended well; DataProblem says why one of them cannot be read.

    `folder` is the run's own, `seconds` are those that it took, `classes` name the outcomes that
    are labels and not numbers.
    """
    return {
        name: _read(name, reading, folder, seconds, name in classes)
        for name, reading in readings.items()
    }


def _read(
    name: str, reading: OutcomeReading, folder: Path, seconds: float | None, is_class: bool
) -> Value:
    if reading.source is ReadFrom.SECONDS:
        if seconds is None:
            raise DataProblem(f"{name}: it is not known how long the run took")
        return seconds * reading.scale
    if reading.file is None:
        text = Text(output_files(folder), "the output")
    else:
        text = Text([folder / reading.file], reading.file)
    try:
        found = _found(reading, text)
    except DataProblem as problem:
        raise DataProblem(f"{name}: {problem.message}", hint=_hint_of_file(reading)) from None
    return _label(name, found) if is_class else _number(name, found, reading.scale)


def _hint_of_file(reading: OutcomeReading) -> str:
    if reading.file is None:
        return ""
    return f"the command has to write {{folder}}/{reading.file}"


def _found(reading: OutcomeReading, text: Text) -> Any:
    """What stands there: a text, or a value of JSON."""
    match reading.source:
        case ReadFrom.PATTERN:
            return _by_pattern(reading.text, text)
        case ReadFrom.JSON:
            return _in_json(json_steps(reading.text), text)
    line = text.last_line()
    if not line:
        raise DataProblem(f"{text.what} is empty")
    return line


def _by_pattern(pattern: str, text: Text) -> str:
    import pyarrow as pa
    import pyarrow.compute as pc

    last = None
    for chunk in text.chunks():
        found = pc.split_pattern(pa.array([chunk], pa.large_string()), "\n").flatten()
        found = found.filter(pc.match_substring_regex(found, pattern))
        last = found[-1:] if len(found) else last
    if last is None:
        raise DataProblem(f"no line of {text.what} has /{pattern}/; {_ends_with(text)}")
    # The whole line becomes what the group holds; arrow has no other way to an unnamed group.
    whole = rf"\A(?s:.*?)({pattern})(?s:.*)\z"
    try:
        found = pc.replace_substring_regex(last, whole, r"\2")
    except pa.ArrowInvalid:  # the pattern has no group: all that it fits is meant
        found = pc.replace_substring_regex(last, whole, r"\1")
    return str(found[0].as_py())


def _check_pattern(name: str, pattern: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as problem:
        why = str(problem).removeprefix("Invalid regular expression: ")
        raise StudyProblem(
            f"{name}: the pattern /{pattern}/ cannot be used: {why}",
            hint="look-around and references to groups are not supported",
        ) from None


def _in_json(steps: tuple[str, ...], text: Text) -> Any:
    found = _last_json(text)
    for done, step in enumerate(steps):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and _is_place(step, len(found)):
            found = found[int(step)]
        else:
            place = ".".join(steps[:done]) or "the JSON"
            raise DataProblem(f"{place} in {text.what} has no '{step}', only {_keys(found)}")
    return found


def _is_place(step: str, length: int) -> bool:
    digits = step.removeprefix("-")
    plain = digits.isascii() and digits.isdigit() and len(digits) < 10
    return plain and -length <= int(step) < length


def _keys(value: Any) -> str:
    if isinstance(value, dict):
        return shown(", ".join(list(map(str, value))[:8])) or "no key"
    return f"{len(value)} values" if isinstance(value, list) else shown(repr(value)[:100])


def _last_json(text: Text) -> Any:
    """The JSON that a text is, or the last object in it that begins a line."""
    end = text.end(_JSON_END)
    try:
        return json.loads(end)
    except (ValueError, RecursionError):
        pass
    place, last, work = 0, None, 0
    while found := _LINE_WITH_OBJECT.search(end, place):
        start = end.index("{", found.start())
        length, value, read = _object_at(end, start)
        place = start + (length or 1)
        last = value if length else last
        work += read
        if work > _JSON_WORK:
            raise DataProblem(f"{text.what} holds too much that begins like JSON and is none")
    if last is None:
        raise DataProblem(f"there is no JSON object in {text.what}; {_ends_with(text)}")
    return last


def _object_at(text: str, start: int) -> tuple[int, Any, int]:
    """The JSON object at a place: its length (0: there is none), its value, characters read."""
    window, read = _WINDOW, 0
    while True:
        # Of a part only: an error counts the lines before it, which would be all of the text.
        part = text[start : start + window]
        try:
            value, length = _DECODER.raw_decode(part)
        except json.JSONDecodeError as problem:
            read += len(part)
            cut = problem.pos > len(part) - 16 or problem.msg.startswith("Unterminated")
            if len(part) < window or not cut:
                return 0, None, read
            window *= 8
        except (ValueError, RecursionError):  # too many digits, too deep
            return 0, None, read + len(part)
        else:
            return length, value, read + length


def _ends_with(text: Text) -> str:
    end = shown(text.end(4096))
    return f"it ends with: {end}" if end else "it is empty"


def _number(name: str, found: Any, scale: float) -> float:
    value = found
    if isinstance(found, str) and _NUMBER.fullmatch(found.strip()) and len(found) < 400:
        value = float(found.strip().lower().replace("d", "e"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = _as_float(value) * scale
        if math.isfinite(number):
            return number
    raise DataProblem(f"{name}: {_words(found)} is not a number")


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf


def _label(name: str, found: Any) -> str:
    if isinstance(found, dict | list) or found is None:
        raise DataProblem(f"{name}: {_words(found)} is not a label")
    label = _words(found, quoted=False)
    if not label or len(label) > _LONGEST_LABEL:
        raise DataProblem(f"{name}: '{shown(label)}' is not a label")
    return label


def _words(found: Any, *, quoted: bool = True) -> str:
    if isinstance(found, str):
        return f"'{shown(found)}'" if quoted else found.strip()
    if found is None or isinstance(found, bool):
        return {None: "null", True: "true", False: "false"}[found]
    return shown(str(found) if isinstance(found, float) else repr(found)[:100])
