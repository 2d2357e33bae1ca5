"""Texts that cannot be read are refused with a place and a hint, whatever they are."""

import pytest

from compass.domain.errors import QuerySyntax
from compass.domain.expression import (
    And,
    Arithmetic,
    Comparison,
    Expression,
    Literal,
    Name,
    children,
    names_in,
)
from compass.domain.space import Number, Space
from compass.language import bind_rule, format_rule, parse_query, parse_rule
from compass.language.build_rule import DEEPEST_NESTING as DEEPEST

RECONFIGURE = "Reconfigure X = {n: ?} to achieve Y = {t: minimize} "


def refused(text: str, *, rule: bool = False) -> QuerySyntax:
    with pytest.raises(QuerySyntax) as caught:
        (parse_rule if rule else parse_query)(text)
    return caught.value


def pointed(error: QuerySyntax) -> str:
    """The printed text from the caret on."""
    line, caret = error.pointer().splitlines()
    return line[caret.index("^") :]


PLACES = [
    ("Please X = {n: ?} to achieve Y = {t: minimize}", "Please"),
    ("Recommend X = {n ?} to achieve Y = {t: minimize}", "?} to"),
    ("Recommend X = {n: ?, } to achieve Y = {t: minimize}", "} to"),
    ("Recommend X = {n: ?} to achive Y = {t: minimize}", "to achive"),
    ("Recommend X = {n: ?} to achieve Y = {t: improve by 10%}", "by 10%"),
    ("Recommend X = {n: ?} to achieve Y = {t: [5, 1]}", "[5, 1]"),
    ("Recommend X = {n: ?} to achieve Y = {t: <= 5 mw}", "5 mw"),
    ("Recommend X = {n: ?} to achieve Y = {t: 5 s}", "5 s}"),
    ("Recommend X = {n: ?} to achieve Y = {t: min, t: max}", "t: max"),
    ("Reconfigure X = {n: ?} to achieve Y = {t: reduce by 0%}", "reduce by 0%"),
    ("Reconfigure X = {n: ?} to achieve Y = {t: same within 0%}", "same within"),
    ("Reconfigure X = {n: old -> 2*m} to achieve Y = {t: min}", "n: old -> 2*m"),
    ("Reconfigure X = {n: old -> old/0} to achieve Y = {t: min}", "old/0"),
    ("Reconfigure X = {n: 2 h -> 3 h} to achieve Y = {t: min}", "n: 2 h"),
    ("Reconfigure X = {n: 1e999} to achieve Y = {t: min}", "1e999"),
    ("What if we change X = {a: ?, b: 4, a: 4}", "a: 4}"),
    (RECONFIGURE + "where C = {m < }", "}"),
    (RECONFIGURE + "where C = {a < 1, m + 1}", "m + 1}"),
    (RECONFIGURE + "where C = {(m < 1) + 1 < 3}", "(m < 1) + 1"),
    (RECONFIGURE + "where C = {m in {}}", "}}"),
    (RECONFIGURE + "where C = {app == 'FT}", "'FT}"),
    (RECONFIGURE + "where C = {`core 0 < 1}", "`core 0"),
    (RECONFIGURE + "from row x", "x"),
    (RECONFIGURE + "from row 1.5", "from row 1.5"),
    (RECONFIGURE + "from {n: 2 h}", "n: 2 h"),
    (RECONFIGURE + "top 0", "top 0"),
    (RECONFIGURE + "top 1001", "top 1001"),
    (RECONFIGURE + "seed 4294967296", "seed 4294967296"),
    (RECONFIGURE + "weights {n: 1, m: 0}", "m: 0"),
    (RECONFIGURE + "weights {n: 1, n: 2}", "n: 2"),
    (RECONFIGURE + "loss {valid: 1, near: 2}", "near: 2"),
    (RECONFIGURE + "seed 7 please", "please"),
    (RECONFIGURE + "chance 0%", "chance 0%"),
    (RECONFIGURE + "top 2 chance 95", "chance 95"),
    (RECONFIGURE + "chance most", "most"),
    (RECONFIGURE + "beyond 3", "3"),
    ("Reconfigure X = {n: ResNet-5 h} to achieve Y = {t: min}", "n: ResNet-5 h"),
    ("Reconfigure X = {n: m + 4} to achieve Y = {t: min}", "n: m + 4"),
]


@pytest.mark.parametrize(("text", "place"), PLACES)
@pytest.mark.parametrize("padding", [0, 300])
def test_the_caret_stands_at_the_place(text: str, place: str, padding: int) -> None:
    # Blanks, line breaks and tabs before the text: the shown window moves, the place does not.
    error = refused("\t\n " * (padding // 3) + text)
    assert pointed(error).startswith(place)
    assert error.text[error.column :].startswith(place)
    assert error.hint
    assert all(len(line) <= 80 for line in error.pointer().splitlines())


@pytest.mark.parametrize(
    "text",
    [
        "Recommend",
        "Recommend X = {n: ?",
        "Recommend X = {n: ?} to achieve",
        RECONFIGURE + "where C = {m < 16",
        RECONFIGURE + "where m <  \n ",
        RECONFIGURE + "top",
    ],
)
def test_a_text_that_ends_too_early_points_behind_its_last_word(text: str) -> None:
    error = refused(text)
    assert error.message == "the text ends too early"
    assert error.column == len(text.rstrip())
    assert error.hint.startswith(("expected", "for example"))


def test_the_error_prints_message_place_and_hint() -> None:
    text = "Recommend X = {n: ?} to achieve Y = {t = }"
    assert str(refused(text)).splitlines()[:3] == [
        "did not expect '}' here",
        "  mend X = {n: ?} to achieve Y = {t = }",
        "  " + " " * 36 + "^",
    ]
    assert "hint: expected" in str(refused(text))


def test_the_hint_says_what_could_stand_there() -> None:
    assert "to achieve Y = {...}" in refused("Recommend X = {n: ?} where C = {}").hint
    assert "a number" in refused(RECONFIGURE + "top few").hint
    assert ":" in refused("Recommend X = {n, m: ?} to achieve Y = {}").hint


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("What if we change X = {net: 3D-torus}", "'3D-torus'"),
        ("What if we change X = {net: a -> Tesla V100, n: 2}", "'Tesla V100'"),
        (RECONFIGURE + "where net: Tesla V100", "'Tesla V100'"),
        (RECONFIGURE + "from {net: ResNet+50}", "'ResNet+50'"),
    ],
)
def test_a_value_that_needs_quotes_is_shown_with_them(text: str, value: str) -> None:
    assert refused(text).hint.endswith(f"if it is one value, quote it: {value}")


@pytest.mark.parametrize(
    "text", ["What if we change X = {n: }", RECONFIGURE + "top few", RECONFIGURE + "chance most"]
)
def test_no_quotes_are_offered_where_no_value_stands(text: str) -> None:
    assert "quote it" not in refused(text).hint


def test_a_text_that_starts_wrongly_is_shown_an_example() -> None:
    assert "Recommend a configuration X =" in refused("nodes < 16").hint
    assert refused("<= 4", rule=True).hint == "for example: gpus <= 4 * nodes"


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_an_empty_text_is_shown_an_example(text: str) -> None:
    assert "Recommend" in refused(text).hint
    assert "gpus" in refused(text, rule=True).hint


def test_a_text_that_is_too_long_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted() -> None:
        raise AssertionError("the text was read")

    monkeypatch.setattr("compass.language.parse.parser", unwanted)
    error = refused("Recommend X = {" + "n" * 9_985)
    assert error.message == "the text has 10,000 characters; the limit is 8,000"
    assert error.hint


@pytest.mark.parametrize(
    "text",
    [
        "\x00\x01\x02",
        bytes(range(128, 256)).decode("latin-1"),
        "💥" * 50,
        "{{{{}}}}",
        "''",
        "`",
        "\\",
        "Recommend X = {\x00: ?} to achieve Y = {t: min}",
        "\ud800",
        "Recommend X = {`\ud800`: ?} to achieve Y = {t: min}",
    ],
)
def test_garbage_is_refused(text: str) -> None:
    assert refused(text).hint


DEEP = {
    "not": "not " * 1900 + "a",
    "sum": "+".join(["a"] * 3000) + " < 1",
    "value": "+".join(["a"] * 3000),
    "power": "**".join(["a"] * 2000) + " < 1",
    "minus": "-" * 3000 + "a < 1",
    "implication": "->".join(["a"] * 2000),
    "call": "f(" * 2000 + "a" + ")" * 2000,
    "condition": "(" + "not " * 1500 + "a) + 1 < 2",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_nesting_is_refused_as_such(text: str) -> None:
    for error in (refused(text, rule=True), refused(f"{RECONFIGURE}where {text}")):
        assert error.message == "the text is nested too deeply"
        assert error.hint == "split it into several rules"


def test_brackets_alone_are_not_nesting() -> None:
    assert parse_rule("(" * 3900 + "a < 1" + ")" * 3900) == parse_rule("a < 1")


def test_a_long_list_of_conditions_is_not_nesting() -> None:
    rule = parse_rule(" and ".join(f"c{i} < {i}" for i in range(400)))
    assert isinstance(rule, And)
    assert len(rule.operands) == 400
    assert parse_rule(format_rule(rule)) == rule


def deepest() -> list[str]:
    """Rules of exactly the depth that is still accepted."""
    return [
        "not " * (DEEPEST - 2) + "a < 1",
        " + ".join(["a"] * (DEEPEST - 1)) + " < 1",
        " ** ".join(["a"] * (DEEPEST - 1)) + " < 1",
        "(a < 1 and (a < 1 or " * ((DEEPEST - 2) // 2) + "a < 1" + "))" * ((DEEPEST - 2) // 2),
        "a < 1 -> " * (DEEPEST - 2) + "a < 1",
        "f(" * (DEEPEST - 1) + "a" + ")" * (DEEPEST - 1),
    ]


@pytest.mark.parametrize("text", deepest())
def test_what_is_accepted_can_be_printed_and_bound(text: str) -> None:
    space = Space(parameters=(Number(name="a", low=0, high=1),))
    rule = parse_rule(text)
    assert parse_rule(format_rule(rule)) == rule
    assert names_in(rule) == ("a",)
    assert bind_rule(rule, space) == rule
    assert height(rule) == DEEPEST
    error = refused(f"not ({text})", rule=True)
    assert error.message == "the text is nested too deeply"


def height(node: Expression) -> int:
    level, found = [node], 0
    while level:
        level, found = [child for parent in level for child in children(parent)], found + 1
    return found


def test_a_rule_and_a_query_are_not_each_other() -> None:
    assert refused("a < 1").column == 0
    assert refused(RECONFIGURE, rule=True).text == RECONFIGURE


def test_line_breaks_and_blanks_do_not_matter() -> None:
    spread = RECONFIGURE.replace(" ", "\n\t ")
    assert parse_query(spread) == parse_query(RECONFIGURE)
    assert parse_rule("a\n<\t1") == Comparison("<", Name("a"), Literal(1))


def test_numbers_may_stand_beside_operators() -> None:
    assert parse_rule("a-1<b*-2") == Comparison(
        "<", Arithmetic("-", Name("a"), Literal(1)), Arithmetic("*", Name("b"), Literal(-2))
    )
