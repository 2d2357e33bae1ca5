"""Code decides by fields: nobody takes apart, or looks into, sentences that other code wrote."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Fields that hold sentences; a decision on one of them belongs to a field beside it.
_SENTENCES = r"\b\w*\.(reason|why|message|hint|no_answer|described\(\))"
_LOOKED_INTO = re.compile(
    rf"{_SENTENCES}\.(startswith|endswith|removeprefix|removesuffix|partition|split|replace)\("
    rf"|(?<!\w)\"(?!\\n\")[^\"]*\" (not )?in {_SENTENCES}"
    rf"|{_SENTENCES} (not )?in \w*(reason|note|text)\b"
)
_ON_THE_PAGE = re.compile(
    r"\.(reason|why|hint|no_answer)\.(startsWith|endsWith|includes|replace|split|match|indexOf)\("
    r"|\.test\([\w.]*\.(reason|why|hint|no_answer)\)"
)


@pytest.mark.parametrize(
    ("folder", "pattern", "found"),
    [("src/compass", _LOOKED_INTO, "**/*.py"), ("web/src", _ON_THE_PAGE, "**/*.ts*")],
)
def test_no_code_reads_sentences_of_other_code(
    folder: str, pattern: re.Pattern[str], found: str
) -> None:
    read = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / folder).glob(found))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not read, "\n".join(read)


@pytest.mark.parametrize(
    "line",
    [
        'apart = trust.reason.removeprefix("Trusted: ")',
        'why = matched.known.reason.split(". Add a column")[0]',
        'word, _, why = population.reason.partition(":")',
        "if effect.reason not in text",
        'meant = error.message.startswith(f"no column named")',
    ],
)
def test_the_guard_knows_what_it_looks_for(line: str) -> None:
    assert _LOOKED_INTO.search(line)
