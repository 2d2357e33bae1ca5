"""What a table's columns may be, and what is refused."""

import math

import pytest
from pydantic import ValidationError

from compass.domain.errors import UnknownName
from compass.domain.space import Category, Number, Role, Space

SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=16, step=1),
        Category(name="app", values=("FT", "CoMD"), role=Role.CONTEXT),
        Number(name="runtime", low=0, high=100, unit="s", role=Role.OUTCOME),
        Number(name="note", low=0, high=1, role=Role.IGNORED),
    )
)


class TestNumber:
    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"low": 2, "high": 1}, "n: low 2 is above high 1"),
            ({"low": 0, "high": math.inf}, "n: bounds and step must be finite"),
            ({"low": math.nan, "high": 1}, "n: bounds and step must be finite"),
            ({"low": 0, "high": 1, "step": 0}, "n: step must be positive"),
            ({"low": 0, "high": 1, "step": -1}, "n: step must be positive"),
            ({"low": 0, "high": 1e308, "step": 1e-5}, "n: there are too many steps"),
            ({"low": -1e308, "high": 1e308, "step": 1}, "n: there are too many steps"),
            ({"low": 0, "high": 9, "allowed": ()}, "n: allowed values must be ascending"),
            ({"low": 0, "high": 9, "allowed": (4, 2)}, "n: allowed values must be ascending"),
            ({"low": 0, "high": 9, "allowed": (2, 2)}, "n: allowed values must be ascending"),
            ({"low": 0, "high": 9, "allowed": (2, math.nan)}, "n: bounds and step must be finite"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, fields: dict[str, object], message: str) -> None:
        with pytest.raises(ValidationError, match=message):
            Number(name="n", **fields)  # type: ignore[arg-type]

    def test_one_value_is_enough(self) -> None:
        assert Number(name="n", low=3, high=3, allowed=(3,)).whole

    @pytest.mark.parametrize(
        ("fields", "whole"),
        [
            ({"low": 1, "high": 9, "step": 1}, True),
            ({"low": 1, "high": 9, "step": 2}, True),
            ({"low": 0.5, "high": 9, "step": 1}, False),
            ({"low": 0, "high": 9, "step": 0.5}, False),
            ({"low": 1, "high": 9}, False),
            ({"low": 1, "high": 9, "allowed": (4, 8)}, True),
            ({"low": 1, "high": 9, "allowed": (4, 8.5), "step": 1}, False),
        ],
    )
    def test_whole_means_every_legal_value(self, fields: dict[str, object], whole: bool) -> None:
        assert Number(name="n", **fields).whole is whole  # type: ignore[arg-type]

    @pytest.mark.parametrize(("low", "high"), [(0, 100), (5, 5), (-3, -1)])
    def test_none_has_a_code_beyond_the_range(self, low: float, high: float) -> None:
        code = Number(name="n", low=low, high=high, optional=True).none_code
        assert code >= high + 1
        assert code - high >= high - low

    def test_a_number_that_is_always_given_has_no_code_for_none(self) -> None:
        assert math.isnan(Number(name="n", low=0, high=1).none_code)


class TestCategory:
    def test_labels_are_distinct(self) -> None:
        with pytest.raises(ValidationError, match="app: labels must be distinct"):
            Category(name="app", values=("FT", "CoMD", "FT"))

    def test_labels_of_another_kind_are_other_labels(self) -> None:
        values = (1, True, "1", None, "none")
        assert Category(name="c", values=values).values == values

    def test_a_missing_value_may_be_a_label(self) -> None:
        assert Category(name="c", values=("a", None)).optional
        assert not Category(name="c", values=("a", "none")).optional


class TestSpace:
    def test_names_are_unique(self) -> None:
        twice = Number(name="b", low=0, high=1)
        other = Category(name="a", values=("x",))
        with pytest.raises(ValidationError, match="duplicate column names: a, b"):
            Space(parameters=(twice, other, twice, other))

    def test_columns_keep_their_order(self) -> None:
        assert SPACE.names == ("nodes", "app", "runtime", "note")
        assert [parameter.name for parameter in SPACE] == list(SPACE.names)
        assert len(SPACE) == 4

    def test_columns_are_found_by_name(self) -> None:
        assert "app" in SPACE
        assert "App" not in SPACE
        assert SPACE["app"] == SPACE.parameters[1]
        with pytest.raises(UnknownName, match="no column named 'node'") as caught:
            SPACE["node"]
        assert caught.value.hint == "did you mean nodes?"

    def test_columns_by_role(self) -> None:
        assert SPACE.having(Role.KNOB) == ("nodes",)
        assert SPACE.having(Role.KNOB, Role.CONTEXT) == ("nodes", "app")
        assert SPACE.having() == ()

    def test_a_selection_has_the_order_asked_for(self) -> None:
        assert SPACE.select(["runtime", "nodes"]).names == ("runtime", "nodes")
        with pytest.raises(UnknownName):
            SPACE.select(["runtimes"])

    def test_it_survives_json(self) -> None:
        assert Space.model_validate_json(SPACE.model_dump_json()) == SPACE
