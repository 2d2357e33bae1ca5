"""Cells read shape by shape are the numbers that reading them one by one gives."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compass.arrow import texts_of
from compass.slurm import units
from compass.slurm.shapes import numbers

CLOCK = st.from_regex(
    r"(\d{1,3}-)?(\d{2}:)?\d{2}:\d{2}(\.\d{1,4})?|\d{1,18}(\.\d{1,9})?|2-12", fullmatch=True
)
SIZE = st.from_regex(r"\d{1,16}(\.\d{1,3})?[KMGTPkm]?i?B?", fullmatch=True)
ODD = st.sampled_from(["", "Unknown", " 00:10:00", "UNLIMITED", "12:", "1e5", "００:10", "-1"])


@pytest.mark.parametrize(
    ("parse", "cell"), [(units.seconds, CLOCK), (units.size, SIZE), (units.amount, SIZE)]
)
def test_numbers_are_those_of_reading_cell_by_cell(
    parse: Callable[[str], float | None], cell: st.SearchStrategy[str]
) -> None:
    @settings(max_examples=25, deadline=None)
    @given(st.lists(cell | ODD, min_size=32, max_size=80))
    def check(cells: list[str]) -> None:
        found, rest = numbers(texts_of(cells), parse)
        left = set(rest)
        for place, text in enumerate(cells):
            if place in left:
                assert math.isnan(found[place])
                continue
            expected = parse(text)
            assert (math.isnan(found[place]) and expected is None) or found[place] == expected

    check()


def test_usual_cells_are_all_read_together() -> None:
    cells = [f"{hour:02}:{minute:02}:07" for hour in range(24) for minute in range(60)]
    cells += [f"1-{hour:02}:00:00" for hour in range(24)] + ["00:12.447", ""]
    found, rest = numbers(texts_of(cells), units.seconds)
    assert not rest
    assert found[61] == 3600 + 60 + 7
    assert found[-2] == 12.447
    assert np.isnan(found[-1])
