"""The Python that repeats an answer."""

import pprint
from collections.abc import Mapping, Sequence
from typing import Any

from compass.domain.answer import Answer
from compass.domain.study import Study


def repeating(
    answer: Answer,
    source: str,
    study: Study,
    options: Mapping[str, Any],
    notes: Sequence[str] = (),
) -> str:
    """A program that reads the same data, learns the same and asks the same question.

    `source` is where the data is, `options` are those of `Compass`, `notes` what a person has to do
    first. Everything that people wrote stands in it as a quoted text, so that none of it can become
    code; notes are of one line.
    """
    said = study.model_dump(mode="json", exclude_defaults=True)
    given = [f"    {name}={value!r}," for name, value in sorted(options.items())]
    lines = [
        '"""Repeats an answer of Compass."""',
        "",
        "import compass as cp",
        "",
        *(f"# {note}" for note in notes),
        f"STUDY = {pprint.pformat(said, width=96, sort_dicts=False)}",
        "",
        f"data = cp.read({source!r}, study=STUDY)",
        f"if data.table.fingerprint != {answer.provenance.data!r}:",
        '    raise SystemExit("this is not the data that the answer came from")',
        "engine = cp.Compass(",
        "    data,",
        *given,
        ")",
        f"answer = engine.ask({answer.text!r}, seed={answer.provenance.seed!r})",
        "for suggestion in answer:",
        "    print(suggestion.settings, suggestion.trust.label.value)",
        "if not answer.answered:",
        "    for idea in answer.ideas:",
        '        print("not suggested:", idea.settings, idea.trust.label.value)',
        "    raise SystemExit(answer.no_answer)",
    ]
    return "\n".join(lines) + "\n"
