import numpy as np
import pytest
from machine_law import MACHINES, roofline_runs

from compass.domain.errors import DataProblem
from compass.platforms.members import MachineMean, Neighbours, RidgeResiduals
from compass.platforms.pairs import MatchedRuns
from compass.platforms.predictor import PlatformModel, fit

QUICK = (MachineMean(), Neighbours(), RidgeResiduals())


def blind(runs: MatchedRuns, source: str = "quartz") -> MatchedRuns:
    """The runs on the source only."""
    elsewhere = np.arange(len(runs.machines)) != runs.place(source)
    return runs.hidden(np.tile(elsewhere, (len(runs), 1)))


@pytest.fixture(scope="module")
def runs() -> MatchedRuns:
    return roofline_runs(25)


@pytest.fixture(scope="module")
def model(runs: MatchedRuns) -> PlatformModel:
    chosen = np.isin(runs.applications, [f"app{i:02d}" for i in range(18)])
    return fit(runs.some(chosen), "quartz")


def test_a_roofline_is_learnt(runs: MatchedRuns, model: PlatformModel) -> None:
    off, mean, inside = [], [], []
    for number in range(18, 25):
        own = runs.of(f"app{number:02d}")
        truth = own.log_ratio("quartz")
        forecast = model.predict(blind(own))
        off.append(np.abs(forecast.log_ratio - truth).mean())
        mean.append(np.abs(model.learner.each(model.views(own))["mean"] - truth).mean())
        inside.append((np.abs(forecast.log_ratio - truth) <= np.log(forecast.factor)).mean())
    assert np.mean(off) < 0.5 * np.mean(mean)
    assert np.mean(off) < 0.12
    assert np.mean(inside) > 0.8
    assert forecast.log_ratio[:, model.place].tolist() == [0.0] * 4


def test_what_is_predicted_is_within_what_was_seen(runs: MatchedRuns, model: PlatformModel) -> None:
    seen = model.lines.log_ratio("quartz")
    found = model.served(model.learner.each(model.views(runs)))
    assert (found >= seen.min(axis=0) - 1e-12).all()
    assert (found <= seen.max(axis=0) + 1e-12).all()


def test_measured_runs_are_kept_and_correct_the_others(
    runs: MatchedRuns, model: PlatformModel
) -> None:
    own = runs.of("app20")
    lassen = own.place("lassen")
    slow = own.log_runtime.copy()
    slow[:, lassen] += 1.0  # an application that does not like that machine
    own = MatchedRuns(
        own.machines,
        own.applications,
        own.configuration,
        own.configuration_names,
        slow,
        own.counters,
        own.counter_names,
    )
    truth = own.log_ratio("quartz")
    hide = np.ones(truth.shape, dtype=bool)
    hide[:, model.place] = False
    before = model.predict(own.hidden(hide))
    hide[0, lassen] = False
    after = model.predict(own.hidden(hide))
    assert after.measured[0, lassen]
    assert after.log_ratio[0, lassen] == pytest.approx(truth[0, lassen])
    assert after.factor[0, lassen] == 1.0
    off = np.abs(truth - before.log_ratio)[1:, lassen]
    left = np.abs(truth - after.log_ratio)[1:, lassen]
    assert (left < 0.5 * off).all()


def test_a_machine_run_by_nobody_has_no_prediction(runs: MatchedRuns) -> None:
    hide = np.zeros(runs.log_runtime.shape, dtype=bool)
    hide[:, runs.place("corona")] = True
    model = fit(runs.hidden(hide), "quartz", members=QUICK)
    forecast = model.predict(blind(runs.of("app03")))
    assert np.isnan(forecast.log_ratio[:, model.machines.index("corona")]).all()
    others = [place for place, name in enumerate(model.machines) if name != "corona"]
    assert np.isfinite(forecast.log_ratio[:, others]).all()


def test_the_same_runs_give_the_same_model(runs: MatchedRuns, model: PlatformModel) -> None:
    chosen = np.isin(runs.applications, [f"app{i:02d}" for i in range(18)])
    again = fit(runs.some(chosen), "quartz")
    own = blind(runs.of("app22"))
    assert np.array_equal(model.predict(own).log_ratio, again.predict(own).log_ratio)
    assert model.chosen == again.chosen


def test_held_out_errors_are_those_of_models_that_did_not_see_the_application() -> None:
    runs = roofline_runs(4)
    model = fit(runs, "quartz", members=(MachineMean(),))
    truth = runs.log_ratio("quartz")
    for name in set(runs.applications.tolist()):
        others = runs.others(name).log_ratio("quartz")
        # Of each machine's mean; clipping to what was seen changes nothing.
        expected = truth[runs.applications == name] - others.mean(axis=0)
        found = model.held_out[runs.applications == name]
        assert np.isnan(found[:, model.place]).all()
        elsewhere = [p for p in range(len(MACHINES)) if p != model.place]
        assert found[:, elsewhere] == pytest.approx(expected[:, elsewhere])


def test_two_applications_are_too_few() -> None:
    with pytest.raises(DataProblem, match="2 applications were run on quartz"):
        fit(roofline_runs(2), "quartz")
