"""Built-in exporters keep their promises, and the suite tells when one does not."""

import csv
import io
import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from testing_broken import caught

from compass import registry
from compass.domain.answer import Answer
from compass.domain.errors import QueryProblem
from compass.exporters.forms import Csv, Json
from compass.testing import check, check_exporter
from compass.testing.answers import HOSTILE, empty, hostile, usual


def one_width(text: str) -> None:
    rows = list(csv.reader(io.StringIO(text)))
    assert len({len(row) for row in rows}) <= 1


def by_bash(text: str) -> None:
    """A script that sets variables and does nothing else; it stops at the first error."""
    done = subprocess.run(["bash", "-eu"], input=text.encode(), capture_output=True, check=True)
    assert not done.stdout
    assert not done.stderr


READ_BACK: dict[str, Callable[[str], object]] = {
    "json": lambda text: Answer.model_validate(json.loads(text)),
    "csv": one_width,
    "sbatch": by_bash,
}


# `svg` draws fronts and refuses all other answers; its own tests draw them.
@pytest.mark.parametrize("name", sorted({*registry.everything("exporter")} - {"svg"}))
def test_built_ins_keep_their_promises(name: str) -> None:
    check("exporter", name, read_back=READ_BACK.get(name))


class Lines:
    """One `name: value` line per setting."""

    name = "lines"

    @classmethod
    def render(cls, answer: Answer, template: str | None = None) -> str:
        if template is not None:
            raise QueryProblem("lines takes no template", hint="leave it out")
        if not answer.suggestions:
            return cls.nothing(answer)
        config = answer.suggestions[0].config
        return "".join(f"{cls.shown(n)}: {cls.shown(v)}\n" for n, v in config.items())

    @staticmethod
    def shown(value: object) -> str:
        return json.dumps(value)

    @staticmethod
    def nothing(answer: Answer) -> str:
        raise QueryProblem("there is nothing to show", hint="ask something else")


def lines(**changes: Any) -> type[Lines]:
    static = {key: staticmethod(value) for key, value in changes.items() if callable(value)}
    return type("Changed", (Lines,), {"__doc__": "Changed.", **changes, **static})


def test_an_honest_exporter_passes() -> None:
    check_exporter(Lines)
    check_exporter(lines(nothing=lambda answer: ""))


def first_only(answer: Answer, template: str | None = None) -> str:
    return str(answer.suggestions[0].config)


def spoiling(answer: Answer, template: str | None = None) -> str:
    text = answer.model_dump_json()
    answer.seconds.clear()
    return text


COUNT = iter(range(1000))


def numbered(answer: Answer, template: str | None = None) -> str:
    return f"{next(COUNT)}: {answer.text}"


def in_bytes(answer: Answer, template: str | None = None) -> bytes:
    return answer.model_dump_json().encode()


def surrogates(answer: Answer, template: str | None = None) -> str:
    return answer.text + "\ud800"


def choosy(answer: Answer, template: str | None = None) -> str:
    if len(answer.suggestions) > 1:
        raise QueryProblem("one at a time", hint="top 1")
    return answer.text


def hintless(answer: Answer) -> str:
    raise QueryProblem("no")


def greedy_template(answer: Answer, template: str | None = None) -> str:
    return answer.text if template is None else template.format()


def template_in_bytes(answer: Answer, template: str | None = None) -> object:
    return answer.text if template is None else template.encode()


def on_comment_lines(answer: Answer, template: str | None = None) -> str:
    return "".join(f"# {s.config}\n# {s.config.get('partition')}\n" for s in answer) or "-"


BROKEN: dict[str, tuple[Any, str]] = {
    "no name": (lines(name=""), "it has a `name`"),
    "no template argument": (lines(render=lambda answer: answer.text), "a template"),
    "needs a suggestion": (lines(render=first_only), "it renders no suggestion"),
    "spoils the answer": (lines(render=spoiling), "it leaves the answer as it is"),
    "different each time": (lines(render=numbered), "the same answer gives the same text"),
    "bytes": (lines(render=in_bytes), "it gives text"),
    "half a character": (lines(render=surrogates), "written as UTF-8"),
    "empty": (lines(render=lambda answer, template=None: ""), "it gives a text"),
    "choosy": (lines(render=choosy), "it refuses only answers without suggestions"),
    "no hint": (lines(nothing=hintless), "a refusal has a hint"),
    "careless": (lines(shown=str), "does not begin a line of its own"),
    "careless in comments": (lines(render=on_comment_lines), "does not begin a line of its own"),
    "templates": (lines(render=greedy_template), "it fills in a template"),
    "templates in bytes": (lines(render=template_in_bytes), "it gives text"),
    "not a class method": (
        type("Instance", (), {"__doc__": "x", "name": "x", "render": lambda s, a, t=None: a.text}),
        "it renders several suggestions",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_exporter_is_caught(what: str) -> None:
    plugin, promise = BROKEN[what]
    caught(lambda: check_exporter(plugin), promise)


def test_text_that_cannot_be_read_back_is_caught() -> None:
    caught(lambda: check_exporter(Csv, read_back=json.loads), "its text can be read back")
    quoting = lines(shown=lambda v: f"'{v}'")
    caught(lambda: check_exporter(quoting, read_back=by_bash), "its text can be read back")
    check_exporter(Json, read_back=json.loads)


def test_the_answers_are_what_their_names_say() -> None:
    assert all(answer.suggestions for answer in usual().values())
    assert not any(answer.suggestions for answer in empty().values())
    assert len(hostile()) == 2 * len(HOSTILE)
