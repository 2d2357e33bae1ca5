"""Kept tables parse like those worked out from the grammar; a bad file is no obstacle."""

from importlib.resources import files
from pathlib import Path
from typing import NoReturn

import pytest
from lark import Lark, UnexpectedInput

from compass.language.grammar import built, file_name, kept

SOURCE = files("compass.language").joinpath("grammar.lark").read_text(encoding="utf-8")
TEXTS = (
    "Recommend X = {nodes: ?, `a b`: ?} to achieve Y = {runtime: minimize, power: <= 12.5 W} "
    "where C = {app: 'x y', nodes < 16, gpus in {1, 2}} top 5 seed 7",
    "Reconfigure X = {cores: ?} to achieve Y = {power: reduce by 10%} from row 3 prove 0",
    "What if we change X = {gpus: old -> 2*old}, how would that affect Y = {runtime}",
    "Recommend X = {nodes: } to achieve",
    "Recommend X = {nodes: ?} to achieve Y = {runtime: minimize",
    "$",
)


def unwanted() -> NoReturn:
    raise AssertionError("the tables are there")


def outcome(parser: Lark, text: str) -> object:
    try:
        return parser.parse(text, start="query")
    except UnexpectedInput as error:
        known = getattr(error, "expected", None) or getattr(error, "allowed", None)
        accepts = getattr(error, "accepts", None)
        return type(error), error.pos_in_stream, known and set(known), accepts and set(accepts)


@pytest.fixture(scope="module")
def fresh() -> Lark:
    return built(SOURCE)


def test_kept_tables_parse_alike(tmp_path: Path, fresh: Lark) -> None:
    place = tmp_path / "new" / "tables.json"
    assert kept(place, lambda: fresh) is fresh
    again = kept(place, unwanted)
    for text in TEXTS:
        assert outcome(again, text) == outcome(fresh, text), text
    assert again.parse("gpus <= 4 * nodes", start="rule") == fresh.parse(
        "gpus <= 4 * nodes", start="rule"
    )


def test_tables_of_another_grammar_or_other_options_have_another_name() -> None:
    name = file_name(SOURCE, {"parser": "lalr"})
    assert name == file_name(SOURCE, {"parser": "lalr"})
    assert name != file_name(SOURCE + " ", {"parser": "lalr"})
    assert name != file_name(SOURCE, {"parser": "lalr", "propagate_positions": True})


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"data": 1, "memo": 2}', b"\xff\x00"])
def test_a_bad_file_is_replaced(content: bytes, tmp_path: Path, fresh: Lark) -> None:
    place = tmp_path / "tables.json"
    place.write_bytes(content)
    assert kept(place, lambda: fresh) is fresh
    assert kept(place, unwanted).parse("a <= 1", start="rule")


def test_a_folder_that_cannot_be_written_to_is_no_obstacle(tmp_path: Path, fresh: Lark) -> None:
    (tmp_path / "file").write_text("")
    assert kept(tmp_path / "file" / "tables.json", lambda: fresh) is fresh
