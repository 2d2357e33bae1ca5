"""What a form of an answer promises: text, the same again, whatever the labels are."""

from collections.abc import Callable
from typing import Any

from compass.domain.answer import Answer
from compass.domain.errors import CompassError
from compass.testing.answers import BROKEN, HEAD, TAIL, empty, hostile, usual
from compass.testing.base import Witness, witness

_TEMPLATE = "run on {nodes} nodes with ${{HOME}} and {{braces}}\n"


def check_exporter(
    plugin: Any, *, name: str | None = None, read_back: Callable[[str], object] | None = None
) -> None:
    """Raise ConformanceError unless the exporter keeps its promises.

    `read_back` reads the text as its users do (`json.loads`, a parser, a shell); whatever it
    raises is a broken promise.
    """
    found = witness("exporter", plugin, name)
    without = empty()
    for label, answer in (usual() | without | hostile()).items():
        at = found.at(f"plugin.render(compass.testing.answers.answer({label!r}))")
        before = answer.model_dump_json()
        text = _render(at, plugin, answer, label, refusable=label in without)
        unchanged = answer.model_dump_json() == before
        at.expect(unchanged, "it leaves the answer as it is", "it changed")
        if text is None:
            continue
        again = plugin.render(answer)
        at.expect(again == text, "the same answer gives the same text", "two calls differ")
        at.expect(label in without or text.strip(), "it gives a text", "an empty one")
        _lines(at, text)
        if read_back is not None:
            with at.at(f"read_back({at.look})").calling(f"its text can be read back ({label})"):
                read_back(text)
    _template(found, plugin)


def _render(at: Witness, plugin: Any, answer: Answer, label: str, *, refusable: bool) -> str | None:
    """The text; None for a refusal that a person understands."""
    with at.calling(f"it renders {label}"):
        try:
            text = plugin.render(answer)
        except CompassError as error:
            if not refusable:
                raise at.broken("it refuses only answers without suggestions", error) from None
            at.expect(error.hint, "a refusal has a hint", f"no hint: {error.message}")
            return None
    at.expect(isinstance(text, str), "it gives text", type(text).__name__)
    with at.calling("its text can be written as UTF-8"):
        text.encode("utf-8")
    assert isinstance(text, str)
    return text


def _lines(at: Witness, text: str) -> None:
    """A line break inside a label stays inside quotes, or goes."""
    place = text.find(BROKEN)
    while place >= 0:
        line = text[text.rfind("\n", 0, place) + 1 : place]
        quoted = line.count('"') % 2 == 1 or line.count("'") % 2 == 1
        at.expect(
            quoted,
            "a line break in a label or name does not begin a line of its own",
            f"{line + HEAD!r}, and on the next line {TAIL!r}",
        )
        place = text.find(BROKEN, place + 1)


def _template(found: Witness, plugin: Any) -> None:
    label = "one suggestion"
    at = found.at(f"plugin.render(compass.testing.answers.answer({label!r}), {_TEMPLATE!r})")
    with at.calling("it fills in a template, or refuses it with a CompassError"):
        try:
            text = plugin.render(usual()[label], _TEMPLATE)
        except CompassError:
            return
    at.expect(isinstance(text, str), "it gives text", type(text).__name__)
