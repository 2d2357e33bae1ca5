"""What counts as a difference between configurations, column by column."""

import numpy as np

from compass.domain.space import Category, Number, Space
from compass.prepare.geometry import Geometry


def test_the_geometry_of_a_space_knows_its_labels_and_the_level_none() -> None:
    cap = Number(name="cap", low=100, high=200, optional=True)
    space = Space(
        parameters=(
            Number(name="nodes", low=1, high=8, step=1),
            cap,
            Category(name="app", values=("amg", None)),
        )
    )
    scale, weight = np.array([2.0, 30.0, 1.0]), np.array([1.0, 3.0, 1.0])
    found = Geometry.of(space, scale, weight)
    assert found.scale is scale
    assert found.weight is weight
    assert found.category.tolist() == [False, False, True]
    np.testing.assert_array_equal(found.none, [np.nan, cap.none_code, np.nan])
