"""Conditions on rows: batch by batch the same as the rules engine on the whole table."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from reduce_case import STUDY, jobs, reduced, write

import compass as cp
from compass.domain.errors import BadInput, CompassError, DataProblem, UnknownName
from compass.language.bind import bind_rule
from compass.language.parse import parse_rule
from compass.prepare.encode import Encoder
from compass.prepare.infer import infer
from compass.readers import Table
from compass.reducers.columns import Cells
from compass.reducers.filters import LabelFilter, NumberFilter, RuleFilter, filters_of
from compass.rules.evaluate import compile_rule

RULES = [
    ("nodes > 4", NumberFilter),
    ("nodes <= 4", NumberFilter),
    ("nodes == 8", NumberFilter),
    ("nodes != 8", NumberFilter),
    ("size >= 50.5", NumberFilter),
    ("size != 3", NumberFilter),
    ("size < 10 and nodes < 16", NumberFilter),
    ("app == wild", LabelFilter),
    ("app != wild", RuleFilter),
    ("app in {amg, rare}", LabelFilter),
    ("not app in {amg, rare}", RuleFilter),
    ("nodes in {1, 32}", RuleFilter),
    ("8 < nodes", RuleFilter),
    ("size / nodes < 10 or app == rare", RuleFilter),
    ("nodes * 2 == 16", RuleFilter),
    ("app == amg -> nodes >= 8", RuleFilter),
    ("min(nodes, size) > 3", RuleFilter),
    ("not (size > 50)", RuleFilter),
]


@pytest.mark.parametrize(("text", "kind"), RULES)
def test_each_kind_of_rule_holds_where_the_rules_engine_says(text: str, kind: Any) -> None:
    table = Table.of(jobs(1500))
    space, _ = infer(table, STUDY)
    whole = compile_rule(bind_rule(parse_rule(text), space), space, space.names, text)
    wanted = whole.holds(Encoder(space).encode_table(table))
    assert 0 < wanted.sum() < 1500
    filters = filters_of((text,), space)
    assert isinstance(filters[0], kind)
    found = np.ones(1500, dtype=bool)
    # In the types of a file, coded labels and batches that begin anywhere.
    arrow = jobs(1500)
    place = arrow.column_names.index("app")
    arrow = arrow.set_column(place, "app", arrow.column("app").dictionary_encode())
    for start in range(0, 1500, 400):
        part = arrow.slice(start, 400)
        columns = {name: Cells(part.column(name)) for name in part.column_names}
        for one in filters:
            found[start : start + 400] &= one.holds(columns, part)
    np.testing.assert_array_equal(found, wanted)


def test_a_label_that_was_not_looked_at_first_obeys_what_it_obeys() -> None:
    space, _ = infer(Table.of(jobs(500)), STUDY)
    new = pa.table({"app": ["amg", "new", None], "nodes": [1, 1, 1]})
    columns = {name: Cells(new.column(name)) for name in new.column_names}
    for text, wanted in (
        ("app != amg", [False, True, False]),
        ("not app in {amg, rare}", [False, True, False]),
        ("app == amg or nodes > 1", [True, False, False]),
    ):
        (one,) = filters_of((text,), space)
        assert one.holds(columns, new).tolist() == wanted, text


def test_a_sample_holds_only_rows_that_obey(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs())
    rules = ["nodes >= 4", "app != rare", "size / nodes < 20"]
    report, sample = reduced(source, tmp_path / "s.parquet", keep=0.3, where=rules)
    rows = jobs().to_pylist()
    usable = [
        r
        for r in rows
        if r["nodes"] >= 4
        and r["app"] != "rare"
        and r["size"] is not None
        and r["size"] / r["nodes"] < 20
    ]
    assert report.usable == len(usable)
    assert set(sample.column("id").to_pylist()) <= {r["id"] for r in usable}
    few = sum(r["nodes"] < 4 for r in rows)
    assert report.dropped["not nodes >= 4"] == few
    assert sum(report.dropped.values()) == 6000 - report.usable


@pytest.mark.parametrize(
    ("rule", "problem", "message"),
    [
        ("apps == amg", UnknownName, "did you mean app"),
        ("app == amgg", UnknownName, "did you mean amg"),
        ("nodes >", CompassError, ""),
        ("nodes > 1000000", DataProblem, "meets the conditions"),
        ("app > 3", BadInput, ""),
    ],
)
def test_conditions_that_cannot_be_meant_are_told(
    rule: str, problem: type[CompassError], message: str, tmp_path: Path
) -> None:
    source = write(tmp_path / "a.parquet", jobs(1000))
    with pytest.raises(problem) as caught:
        reduced(source, tmp_path / "s.parquet", where=[rule])
    assert message in str(caught.value)
    assert caught.value.hint or caught.type is not BadInput
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_missing_features_are_left_out_and_counted_unless_they_are_a_level(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs())
    gaps = jobs().column("size").null_count
    report, sample = reduced(source, tmp_path / "s.parquet", keep=0.5)
    assert report.dropped == {"size is missing": gaps}
    assert sample.column("size").null_count == 0
    study = cp.Study.model_validate(
        STUDY.model_dump(exclude_unset=True)
        | {
            "columns": {
                **STUDY.model_dump(exclude_unset=True)["columns"],
                "size": {"role": "context", "missing": "none"},
            }
        }
    )
    report, sample = reduced(source, tmp_path / "s.parquet", keep=0.5, study=study)
    assert report.dropped == {}
    assert report.usable == 6000
    assert 0 < sample.column("size").null_count < gaps


def test_conditions_see_labels_as_the_study_renames_them_and_the_sample_keeps_them(
    tmp_path: Path,
) -> None:
    source = write(tmp_path / "a.parquet", jobs())
    study = STUDY.model_copy(update={"map": {"app": {"w*": "other", "rare": "other"}}})
    report, sample = reduced(
        source, tmp_path / "s.parquet", keep=0.5, study=study, where=["app == other"]
    )
    assert set(sample.column("app").to_pylist()) == {"wild", "rare"}
    app = np.array(jobs().column("app").to_pylist())
    assert report.rows - report.dropped["not app == other"] == np.isin(app, ["wild", "rare"]).sum()
    assert {one.label for one in report.labels} == {"other"}
