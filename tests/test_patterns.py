"""No text, whatever it is, makes a pattern of the package try more ways than the text is long."""

import json
import subprocess
import sys

import pytest
from tests.backtracking import Automaton, finding

from compass.chat.english.marked_labels import _whole

# Made of what is known only when they run: quoted names and labels, or texts of tables that are
# compiled when their module is imported, and are found then.
MADE = {
    "chat/english/dialogue_acts.py": 1,
    "chat/english/inquiries.py": 1,
    "chat/english/marked_labels.py": 1,
    "chat/english/question_kind.py": 1,
    "domain/errors.py": 1,
    "cli/serve.py": 1,  # a pattern of the domain, which is looked at there
    "slurm/directives.py": 1,
}
SLOW = [
    (r"(?:a|a)*b", "exponential"),
    (r"(a*)*b", "exponential"),
    (r"(?:a+)+b", "exponential"),
    (r"L(?:[,|&]*[!|]L|[,|&]+L)*C", "exponential"),
    (r"(?:(?:then|please|then please) )*x", "exponential"),
    (r"a*a*b", "polynomial"),
    (r"\d+\.?\d*x", "polynomial"),
    (r"[so]*!?[so]*L", "polynomial"),
    (r'"(.*)" \w+ "(.*)"$', "polynomial"),
    (r"(?:C&(?!(?:C&)+Q))*", "polynomial"),
    (r"(?i:A*a*)b", "polynomial"),
]
LINEAR = [
    r"a*b*c",
    r"a*+a*b",
    r"\d+(?:\.\d*)?x",
    r"(?:foo|fob|bar)+$",
    r"C(?:[&,|]+C)*Q",
    r"(?:[,|]*[!|]L)*",
    r"\s*(\w+)\s*=\s*(\w+)",
    r"a{1,200}b",
    r"(?:a?){3}b",
    r"a(?=b*c)x*",
    r"'(?:[^'\\]|\\.)*'",
    r"x(?!y)[^x]*x",
]


def test_every_pattern_is_linear() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.written_patterns"], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert len(found["patterns"]) > 300
    slow = []
    places = {tuple(what): place for place, *what in found["patterns"]}
    for (pattern, is_bytes, flags), place in places.items():
        why = finding(pattern.encode("latin-1") if is_bytes else pattern, flags)
        if why is not None:
            slow.append(f"{place}: {pattern!r} is {why.growth}, for example on {why.text(3)!r}")
    assert not slow, "\n".join(sorted(slow))
    made = [place.partition(":")[0] for place in found["unevaluated"]]
    assert {place: made.count(place) for place in made} == MADE, found["unevaluated"]


@pytest.mark.parametrize("label", ["a+b", "((", "x" * 50, "++ ++ ++", "a.b*c"])
def test_the_pattern_of_a_label_is_linear(label: str) -> None:
    pattern = _whole(label)
    assert finding(pattern.pattern, pattern.flags) is None


@pytest.mark.parametrize(("pattern", "growth"), SLOW)
def test_a_slow_pattern_is_found_with_a_text_that_shows_it(pattern: str, growth: str) -> None:
    why = finding(pattern)
    assert why is not None
    assert why.growth == growth
    ways = Automaton(pattern)
    once, twice = (ways.count(why.text(times)) for times in (10, 20))
    # Twice the text: more than three times the steps, where a linear pattern has two.
    assert twice > 3 * once


@pytest.mark.parametrize("pattern", LINEAR)
def test_a_linear_pattern_is_not_blamed(pattern: str) -> None:
    assert finding(pattern) is None
