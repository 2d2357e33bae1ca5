"""The run that a what-if starts from when it asks for values and names none."""

import numpy as np
import pytest

import compass as cp
from compass.domain.errors import BaselineProblem
from compass.domain.query import Row
from compass.engine.scope import scope_of
from compass.engine.typical import most_typical, typical_run
from compass.prepare.geometry import column_distances

QUESTION = "What if we change X = {gpus: 0 -> 4, cores: ?}, how would that affect Y = {runtime}"


def test_it_is_nearest_to_the_middle_of_those_that_match(engine: cp.Compass) -> None:
    query = engine.query(QUESTION, where=["app == wrf"])
    scope = scope_of(query, engine.store, engine.rules)
    found = typical_run(query, scope)
    assert isinstance(found.query.baseline, Row)
    row = engine.data.row(found.query.baseline.row)
    assert (row["app"], row["gpus"]) == ("wrf", 0)
    assert f"row {found.query.baseline.row}" in found.note
    view = scope.view
    rows = np.arange(40)
    position = most_typical(view, rows)
    middle = np.median(view.X[rows], axis=0)
    labels = view.X[rows][:, view.names.index("app")]
    middle[view.names.index("app")] = np.bincount(labels.astype(int)).argmax()
    apart = [column_distances(view.X[[r]], middle, view.geometry({})).sum() for r in rows]
    assert apart[position] == pytest.approx(min(apart))


def test_the_answer_says_which_run_it_is(engine: cp.Compass) -> None:
    answer = engine.ask(QUESTION)
    assert isinstance(answer.query.baseline, Row)
    assert f"from row {answer.query.baseline.row}" in answer.text
    assert f"row {answer.query.baseline.row}" in answer.context
    assert answer.notes[0].startswith("No baseline was given: the question starts from row ")


def test_where_no_run_matches_there_is_none_to_start_from(engine: cp.Compass) -> None:
    with pytest.raises(BaselineProblem) as caught:
        engine.ask(QUESTION, where=["nodes == 1", "nodes == 2"])
    assert "--from" in caught.value.hint
