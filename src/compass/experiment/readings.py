"""How an outcome is read, as text: `gflops=/GFLOPS: (\\S+)/`, `loss=json:metrics.loss`.

    seconds                     wall-clock seconds of the command
    /PATTERN/                   its first group, in the last line that it fits
    json:PATH                   inside the last JSON object: metrics.loss, runs.0.time, "a.b".c
    line                        the last line that is not empty

What the command prints is read, or a file that it writes into the run's own folder:

    file:NAME:/PATTERN/    file:NAME:json:PATH    file:NAME

A number can be multiplied: `runtime=seconds*1000`, `power=json:watts*1e-3`.
"""

import json
import re

from compass.domain.errors import StudyProblem
from compass.domain.experiment import OutcomeReading, ReadFrom
from compass.language.format import format_number

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_SCALE = re.compile(rf"\*\s*({_NUMBER})")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"')
_PLAIN_FILE = re.compile(r'[^":*\s]+')
_PLAIN_KEY = re.compile(r'[^".*\s]+')
_FORMS = "seconds, line, /PATTERN/, json:PATH, file:NAME:/PATTERN/, file:NAME:json:PATH, file:NAME"


def parse_reading(text: str) -> tuple[str, OutcomeReading]:
    """The outcome that a text such as `gflops=/GFLOPS: (\\S+)/` names, and how it is read."""
    name, sign, how = text.partition("=")
    name, how = name.strip(), how.strip()
    if not sign or not name or not how:
        raise _problem(text, "it is not NAME=HOW")
    rest, scale = _without_scale(how)
    file = None
    if rest.startswith("file:"):
        file, rest = _file(rest.removeprefix("file:"), text)
    return name, _reading(rest, file, scale, text)


def format_reading(name: str, reading: OutcomeReading) -> str:
    """The text that `parse_reading` reads as this."""
    match reading.source:
        case ReadFrom.PATTERN:
            how = f"/{reading.text}/"
        case ReadFrom.JSON:
            how = f"json:{reading.text}"
        case _:
            how = reading.source.value
    if reading.file is not None:
        plain = _PLAIN_FILE.fullmatch(reading.file)
        written = reading.file if plain else json.dumps(reading.file, ensure_ascii=False)
        how = f"file:{written}" + ("" if reading.source is ReadFrom.LINE else f":{how}")
    factor = "" if reading.scale == 1 else f"*{format_number(reading.scale)}"
    return f"{name}={how}{factor}"


def json_steps(path: str) -> tuple[str, ...]:
    """The keys of a path such as `metrics.loss` or `"a.b".0`; StudyProblem if it is none."""
    steps, place = [], 0
    while True:
        quoted, plain = _QUOTED.match(path, place), _PLAIN_KEY.match(path, place)
        found = quoted or plain
        if found is None:
            break
        steps.append(_unquoted(found[0], path) if quoted else found[0])
        place = found.end()
        if place == len(path):
            return tuple(steps)
        if path[place] != ".":
            break
        place += 1
    raise StudyProblem(
        f"'{path}' is no path inside JSON",
        hint='keys with points between them: metrics.loss, runs.0.time, "a.b".c',
    )


def _without_scale(how: str) -> tuple[str, float]:
    """What is before `*1000` at the end, and that number."""
    star = how.rfind("*")
    found = _SCALE.fullmatch(how, star) if star > 0 else None
    if found is None:
        return how, 1.0
    return how[:star].rstrip(), float(found[1])


def _file(rest: str, text: str) -> tuple[str, str]:
    """The name of a file, and what of it is read."""
    found = _QUOTED.match(rest) or _PLAIN_FILE.match(rest)
    if found is None:
        raise _problem(text, "it names no file")
    name = _unquoted(found[0], text) if rest.startswith('"') else found[0]
    rest = rest[found.end() :]
    if rest and not rest.startswith(":"):
        raise _problem(text, f"'{rest}' after the name of the file is not understood")
    return name, rest.removeprefix(":") or ReadFrom.LINE.value


def _reading(how: str, file: str | None, scale: float, text: str) -> OutcomeReading:
    if how.startswith("/") and how.endswith("/") and len(how) > 2:
        return OutcomeReading(source=ReadFrom.PATTERN, text=how[1:-1], file=file, scale=scale)
    if how.startswith("json:"):
        path = how.removeprefix("json:").strip()
        json_steps(path)
        return OutcomeReading(source=ReadFrom.JSON, text=path, file=file, scale=scale)
    if how in (ReadFrom.LINE.value, ReadFrom.SECONDS.value):
        return OutcomeReading(source=ReadFrom(how), file=file, scale=scale)
    raise _problem(text, f"'{how}' is not understood")


def _unquoted(text: str, whole: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        raise _problem(whole, f"{text} is no quoted name") from None


def _problem(text: str, why: str) -> StudyProblem:
    return StudyProblem(f"'{text}' does not say how an outcome is read: {why}", hint=_FORMS)
