"""Curves around a run, and a question as it is understood."""

import pytest

import compass as cp
from compass.domain.errors import QueryProblem, UnknownName


def test_curves_around_a_row_equal_single_what_ifs(engine: cp.Compass) -> None:
    curve, other = engine.curves(7, ["gpus"], ["runtime", "power"])
    assert (curve.parameter, curve.outcome, other.outcome) == ("gpus", "runtime", "power")
    for point in curve.points:
        asked = engine.what_if(7, {"gpus": point.value}, ["runtime"], prove=0)
        # A what-if to the value that the run has changes nothing, and predicts the same.
        assert asked[0].outcome("runtime").value == pytest.approx(point.predicted, rel=1e-9)


def test_curves_follow_the_law(engine: cp.Compass) -> None:
    (curve,) = engine.curves(7, ["gpus"], ["runtime"])
    values = [float(point.predicted) for point in curve.points]  # type: ignore[arg-type]
    assert values == sorted(values, reverse=True)  # more GPUs are faster


def test_curves_around_a_configuration_and_of_a_label(engine: cp.Compass) -> None:
    config = dict(engine.data.row(7))
    (by_row,) = engine.curves(7, ["app"], ["power"])
    (by_config,) = engine.curves(config, ["app"], ["power"])
    assert {point.value for point in by_config.points} == {"lammps", "wrf"}
    assert by_row == by_config


def test_all_outcomes_where_none_is_named(engine: cp.Compass) -> None:
    assert {c.outcome for c in engine.curves(7, ["gpus"])} == {"runtime", "power", "state"}


def test_names_that_are_no_parameters_are_refused(engine: cp.Compass) -> None:
    with pytest.raises(UnknownName, match="gpu_count"):
        engine.curves(7, ["gpu_count"])
    with pytest.raises(QueryProblem):
        engine.curves(7, ["runtime"], ["runtime"])


def test_a_question_as_it_is_understood(engine: cp.Compass) -> None:
    text = "Recommend X = {NODES: ?} to achieve Y = {Runtime: <= 60}"
    query = engine.query(text, where=["gpus <= 2"], count=2)
    assert (query.ask, query.count) == (("nodes",), 2)
    assert [rule.text for rule in query.where] == ["gpus <= 2"]
    answer = engine.ask(query, prove=0)
    assert answer.query.model_copy(update={"prove": None}) == query
