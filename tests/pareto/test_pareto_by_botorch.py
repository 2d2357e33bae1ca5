"""Runs chosen by BoTorch: by what they are expected to add, new, and only where asked for."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from compass.domain.errors import BadInput, EnvironmentProblem
from compass.pareto.acquisition import FrontChoice, FrontRequest, front_acquisition
from compass.pareto.by_botorch import NoisyScalars, NoisyVolume, _model, _posterior
from compass.pareto.expected_volume import ExpectedVolume
from compass.pareto.improvement import expected_improvement, loss_of
from compass.pareto.next_runs import checked
from compass.testing.front_acquisition import request


def without_bounds(outcomes: int) -> FrontRequest:
    asked = request(outcomes)
    return replace(asked, seen=replace(asked.seen, conditions=()))


def test_the_volume_that_it_samples_is_the_exact_one_of_its_models() -> None:
    """For two outcomes the expected gain has a closed form: what is chosen is among its best."""
    import torch

    asked = replace(without_bounds(2), count=1)
    (chosen,) = NoisyVolume.choose(asked)
    torch.manual_seed(0)
    model, _ = _model(asked)
    Z = torch.as_tensor(asked.problem.inputs(asked.candidates).Z, dtype=torch.float64)
    mean, deviation = _posterior(model, Z)
    reference, _ = asked.reach(loss_of(mean, asked.log_sign))
    # What is pending counts as being run: it takes the places of candidates like it.
    pending = torch.as_tensor(asked.problem.inputs(asked.pending).Z, dtype=torch.float64)
    front = np.concatenate([asked.front, loss_of(_posterior(model, pending)[0], asked.log_sign)])
    gains = expected_improvement(mean, deviation, front, reference, log_sign=asked.log_sign)
    assert gains[chosen.place] >= 0.8 * gains.max()


@pytest.mark.parametrize("chooser", [NoisyVolume, NoisyScalars])
def test_a_batch_as_large_as_the_candidates_has_each_of_them_once(chooser: type) -> None:
    asked = request(2, left=6)
    chosen = chooser.choose(replace(asked, count=9))
    assert sorted(one.place for one in chosen) == list(range(6))


def test_bounds_count() -> None:
    """Candidates that likely miss a bound are told so, and are not preferred."""
    chosen = NoisyScalars.choose(replace(request(2), count=4))
    assert all(0 < one.meets <= 1 for one in chosen)
    assert np.mean([one.meets for one in chosen]) > 0.5


def test_without_the_library_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botorch", None)
    with pytest.raises(EnvironmentProblem, match="BoTorch") as caught:
        front_acquisition("qlognehvi")
    assert "compass-hpc[pareto]" in str(caught.value.hint)
    assert front_acquisition("expected-volume").name == "expected-volume"


def test_an_acquisition_that_chooses_a_run_twice_is_refused() -> None:
    class Twice(ExpectedVolume):
        name = "twice"

        @staticmethod
        def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
            return (ExpectedVolume.choose(request)[0],) * 2

    with pytest.raises(BadInput, match="twice"):
        checked(Twice(), request(2))
