"""Weights of a sample: which column they are in, and numbers over rows that count unequally."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from compass import registry
from compass.cli.tables import print_columns
from compass.domain.errors import StudyProblem
from compass.domain.space import Role, Space
from compass.engine.dataset import Dataset
from compass.prepare import ColumnChoice, Study, infer, prepare, study_from, weigh
from compass.prepare.base import Rows, StepResult
from compass.readers import Table, read
from compass.readers.sample import COLUMNS, marked

N = 40


def columns(**more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {
        "threads": rng.integers(1, 9, N),
        "runtime_s": rng.uniform(1, 10, N),
        "other": rng.uniform(1, 2, N),
        "sample_weight": rng.uniform(1, 39, N),
        "sample_file": ["jobs.csv"] * N,
        "sample_row": np.arange(N),
    } | more


def sample(**more: Any) -> Table:
    table = pa.table(columns(**more))
    how = {"method": "uniform", "keep": 0.05, "seed": 7, "rows": 800, "usable": 800, "kept": N}
    return read(table.cast(marked(table.schema, how)))


def test_a_sample_is_weighed_and_its_marks_are_never_features() -> None:
    table = sample()
    found = prepare(table)
    np.testing.assert_array_equal(found.weight, table.column("sample_weight").to_numpy())
    assert not {*COLUMNS} & {*found.space.names}
    reports = {report.name: report for report in found.columns}
    assert reports["sample_weight"].note == "how many rows of the source this one stands for"
    assert all(reports[name].role is Role.IGNORED for name in COLUMNS)
    assert found.sample == (
        "a sample of 5 % (uniform, seed 7): 40 of 800 rows, each counts 1/chance"
    )
    # A study that was written from what was inferred changes nothing.
    again = prepare(table, study_from(*infer(table)))
    np.testing.assert_array_equal(again.weight, found.weight)
    assert again.columns[3].note == reports["sample_weight"].note


def test_a_study_weighs_otherwise_or_not_at_all() -> None:
    table = sample()
    by_other = prepare(table, Study(weight="other"))
    np.testing.assert_array_equal(by_other.weight, table.column("other").to_numpy())
    assert str(by_other.sample).endswith("each counts by other")
    off = prepare(table, Study(weight="none"))
    assert (off.weight == 1).all()
    assert str(off.sample).endswith("all count alike")
    assert not {*COLUMNS} & {*off.space.names}


def test_without_the_mark_it_is_an_ordinary_table_unless_the_study_says_so() -> None:
    table = read(pa.table(columns()))
    plain = prepare(table)
    assert (plain.weight == 1).all()
    assert plain.sample is None
    assert "sample_weight" in plain.space
    stated = prepare(table, Study(weight="sample_weight"))
    np.testing.assert_array_equal(stated.weight, table.column("sample_weight").to_numpy())
    assert not {*COLUMNS} & {*stated.space.names}


def test_nobody_can_make_a_mark_a_feature() -> None:
    choice = {"sample_row": ColumnChoice(role=Role.KNOB)}
    with pytest.raises(StudyProblem, match="tells how the rows were sampled"):
        prepare(sample(), Study(columns=choice))


def test_added_rows_count_once_and_a_sampled_row_must_have_its_weight() -> None:
    weight: list[float | None] = [2.0, *[5.0] * (N - 2), None]
    file: list[str | None] = [*["jobs.csv"] * (N - 1), None]
    found = prepare(sample(sample_weight=weight, sample_file=file))
    assert found.weight.tolist() == [2.0, *[5.0] * (N - 2), 1.0]
    for bad in (None, float("nan"), 0.0, -1.0, float("inf")):
        with pytest.raises(StudyProblem, match="not a positive number in row 3"):
            prepare(sample(sample_weight=[*[5.0] * 3, bad, *[5.0] * (N - 4)]))


def test_a_step_that_forgets_the_mark_changes_nothing() -> None:
    class Forgetful:
        name = "forgetful"

        def __init__(self, study: Study) -> None:
            del study

        def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
            del space
            return StepResult(Table.of(table.arrow.replace_schema_metadata(None)), rows)

    registry.add("step", "forgetful")(Forgetful)
    try:
        found = prepare(sample(), steps=["forgetful"])
    finally:
        registry.remove("step", "forgetful")
    assert not {*COLUMNS} & {*found.space.names}
    assert found.weight.min() > 1


counted = st.lists(
    st.tuples(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), st.integers(1, 6)),
    min_size=1,
    max_size=30,
)


@given(rows=counted)
@budget(max_examples=60, deadline=None)
def test_a_weight_of_three_is_three_rows(rows: list[tuple[float, int]]) -> None:
    values, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    often = np.repeat(values, weight.astype(int))
    # The mean of the weights does not matter.
    for size in (1.0, 0.37):
        given = size * weight
        assert weigh.mean(values, given) == pytest.approx(often.mean(), abs=1e-9)
        assert weigh.deviation(values, given) == pytest.approx(often.std(), abs=1e-6)
    if weigh.uneven(weight) is not None:
        shares = np.percentile(often, (10, 50, 90), method="inverted_cdf")
        found = weigh.percentiles(values[:, None], weight, (10.0, 50.0, 90.0))
        np.testing.assert_array_equal(found[:, 0], shares)
        assert weigh.median(values, weight) == shares[1]
    assert weigh.effective(weight) <= len(values) + 1e-9


def test_equal_weights_change_no_bit() -> None:
    values, weight = np.random.default_rng(0).normal(size=101), np.full(101, 3.7)
    assert weigh.mean(values, weight) == values.mean()
    assert weigh.deviation(values, weight) == values.std()
    assert weigh.median(values, weight) == np.median(values)
    assert weigh.error_of_mean(values, weight) == values.std(ddof=1) / np.sqrt(101)
    found = weigh.percentiles(values[:, None], weight, (10.0, 90.0))[:, 0]
    np.testing.assert_array_equal(found, np.percentile(values, (10, 90)))
    assert (weigh.normal(weight) == 1).all()
    assert weigh.effective(weight) == pytest.approx(101)
    one, two = np.random.default_rng(4), np.random.default_rng(4)
    np.testing.assert_array_equal(weigh.order(weight, 101, one), two.permutation(101))
    assert weigh.thinned(weight, 101, one).tolist() == list(range(101))


def test_the_error_of_a_mean_is_what_samples_of_a_source_scatter_by() -> None:
    rng = np.random.default_rng(2)
    source = rng.lognormal(size=4000)
    chance = np.clip(0.05 * source, 0.01, 0.5)  # rows with large values are taken more often
    means, errors = [], []
    for _ in range(400):
        taken = rng.random(4000) < chance
        means.append(weigh.mean(source[taken], 1 / chance[taken]))
        errors.append(weigh.error_of_mean(source[taken], 1 / chance[taken]))
    assert np.mean(means) == pytest.approx(source.mean(), rel=0.02)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.1)


def test_an_order_by_weights_is_that_of_the_first_of_equal_rows() -> None:
    weight = np.array([1.0, 2.0, 5.0])
    rng, often = np.random.default_rng(3), np.repeat(np.arange(3), weight.astype(int))
    ours, theirs = np.zeros((3, 3)), np.zeros((3, 3))
    for _ in range(4000):
        drawn = rng.permutation(often)
        first = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
        for place in range(3):
            ours[place, weigh.order(weight, 3, rng)[place]] += 1 / 4000
            theirs[place, first[place]] += 1 / 4000
    np.testing.assert_allclose(ours, theirs, atol=0.03)


def test_what_is_left_of_a_sample_when_it_is_thinned_is_a_plain_one() -> None:
    rng = np.random.default_rng(5)
    source = rng.uniform(size=200_000)
    chance = 0.1 + 0.8 * source
    taken = source[rng.random(len(source)) < chance]
    weight = 1 / (0.1 + 0.8 * taken)
    left = taken[weigh.thinned(weight, len(taken), rng)]
    assert taken.mean() > 0.6  # the sample itself is not plain
    assert left.mean() == pytest.approx(0.5, abs=0.01)


def test_columns_are_told_as_those_of_a_sample(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    data = Dataset(sample())
    prepared = data.prepared
    print_columns(data.columns(mined=True), as_json=False)
    printed = capsys.readouterr().out
    assert f"note: the data is {prepared.sample}" in printed
    assert "40 rows of the sample, 40 used" in printed
    assert "how many rows of the source this one stands for" in printed
    assert "No dependency holds on all rows of the sample" in printed
    print_columns(data.columns(mined=True), as_json=True)
    assert f'"sample": "{prepared.sample}"' in capsys.readouterr().out
