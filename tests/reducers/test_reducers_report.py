"""What a report says of counts."""

from compass.reducers.report import columns_of, effective, labels_of, notes_of
from compass.reducers.statistics import Moments, Tally


def test_columns_without_values_have_no_figures() -> None:
    (one,) = columns_of(Tally(moments={"x": Moments(3.0)}))
    assert (one.count, one.mean, one.deviation, one.low, one.high, one.estimate) == (
        *(0, None, None),
        *(None, None, None),
    )


def test_labels_are_told_with_the_share_that_was_kept_the_favoured_first() -> None:
    counts = {"a": (100, 5), "b": (10, 5), "c": (0, 0)}
    found = labels_of(Tally(labels={"app": counts, "user": None}))
    assert [(one.label, one.chance) for one in found] == [("b", 0.5), ("a", 0.05)]


def test_the_effective_number_of_rows() -> None:
    assert effective(Tally(kept=3, weight=6.0, squares=12.0)) == 3.0
    assert effective(Tally(kept=2, weight=10.0, squares=82.0)) < 1.3
    assert effective(Tally()) == 0.0


def test_notes_tell_what_is_not_as_it_was_meant_to_be() -> None:
    fine = Tally(usable=1000, expected=52.0, moments={"x": Moments(0.0, 1000)})
    assert notes_of(fine, 0.05, {}) == ()
    far = Tally(usable=1000, expected=80.0, moments={"x": Moments(0.0, 990)})
    notes = notes_of(far, 0.05, {"f": "why"})
    assert "8.00% was kept instead of 5.00%" in notes[0]
    assert notes[1] == "10 usable rows have no x"
    assert notes[2].startswith("1 fragments could not be read")
