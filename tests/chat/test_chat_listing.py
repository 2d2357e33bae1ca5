"""Values in a reply: short lists and aligned tables."""

from hypothesis import given
from hypothesis import strategies as st

from compass.chat.listing import aligned, cell, settings_list, shortened
from property_examples import examples

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=120)


def test_a_list_names_units_and_stops_where_it_gets_long() -> None:
    assert settings_list({"nodes": 4, "runtime": 12.5}, {"runtime": "s"}) == (
        "nodes = 4, runtime = 12.5 s"
    )
    many = {f"c{i}": i for i in range(100)}
    text = settings_list(many, {}, 60)
    told = text.count(" = ")
    assert text.endswith(f" and {100 - told} more columns")
    assert 1 <= told < 10
    assert settings_list({}, {}) == ""


def test_a_text_keeps_the_unit_it_has() -> None:
    assert cell("12 ms", "s") == "12 ms"
    assert cell(True, "s") == "true"
    assert cell(None, "s") == "none"


def test_columns_stand_below_each_other() -> None:
    assert aligned([("", "row 3", "row 7"), ("nodes", "4", "16")]) == (
        "         row 3  row 7\n  nodes  4      16"
    )


@examples(100)
@given(
    st.integers(2, 4).flatmap(lambda n: st.lists(st.tuples(*[TEXT] * n), min_size=1, max_size=6))
)
def test_no_table_is_wider_than_a_terminal(rows: list[tuple[str, ...]]) -> None:
    lines = aligned(rows).split("\n")
    assert len(lines) == len(rows)
    assert max(map(len, lines)) <= 80


@examples(100)
@given(TEXT, st.integers(4, 40))
def test_a_shortened_text_is_one_line(text: str, most: int) -> None:
    found = shortened(text, most)
    assert len(found) <= most
    assert len(found.splitlines()) <= 1
    assert found == " ".join(text.split()) or found.endswith("...")
