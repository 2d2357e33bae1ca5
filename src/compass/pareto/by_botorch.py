"""Runs chosen by BoTorch (extra `pareto`): qLogNEHVI and qLogNParEGO on Gaussian processes.

An alternative for many outcomes, off unless it is asked for. The candidates that may add most are
looked at, one run after the other: what is pending or chosen counts as being run, and is no
candidate any more, so that a batch cannot hold the same run twice.

Decision 0072 (docs/decisions).
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.errors import EnvironmentProblem
from compass.execute.one_thread import one_thread
from compass.pareto.acquisition import FrontChoice, FrontRequest
from compass.pareto.expected_volume import failing_of
from compass.pareto.improvement import expected_improvement, loss_of, normal_of
from compass.trust.normal import below

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SPREAD = 1.645  # deviations of a 90 % interval
_DRAWS = 64  # of the posterior, for each candidate
_AT_ONCE = 128  # candidates
_LOOKED_AT = 512  # candidates: the time of a choice grows with them
_LEARNT = 400  # runs that the processes learn from at most: the latest
_EXACT = 4  # outcomes whose boxes are exact, as BoTorch advises; of more small ones are left out
_COARSE = 1e-3  # share of the volume that may be left out then
_NEVER = 1e-6  # the least probability of success that is reckoned with


@registry.add("front_acquisition", "qlognehvi")
class NoisyVolume:
    """BoTorch: the logarithm of the expected gain in hypervolume, with noise."""

    name = "qlognehvi"
    models = "Gaussian processes (BoTorch, qLogNEHVI)"

    @staticmethod
    def prepare() -> None:
        """BoTorch has to be installed."""
        _library()

    @staticmethod
    def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
        """One run after the other, each the best of all candidates."""
        return _chosen(request, _volume)


@registry.add("front_acquisition", "qlognparego")
class NoisyScalars:
    """BoTorch: the expected improvement of a random Chebyshev sum, another one for every run."""

    name = "qlognparego"
    models = "Gaussian processes (BoTorch, qLogNParEGO)"

    @staticmethod
    def prepare() -> None:
        """BoTorch has to be installed."""
        _library()

    @staticmethod
    def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
        """One run after the other, each the best of all candidates."""
        return _chosen(request, _scalars)


def _library() -> Any:
    """BoTorch, ready to be used; where it is missing, what to do about it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import botorch
            from botorch.acquisition.multi_objective import logei
    except ImportError as missing:
        raise EnvironmentProblem(
            f"this way to choose runs needs BoTorch, but {missing.name or 'it'} is not installed",
            hint="pip install 'compass-hpc[pareto]', or leave the choice to Compass "
            "(acquisition: expected-volume)",
        ) from missing
    # It would compile a kernel for this processor into the cache of the person, which other
    # machines that share the cache would load. It does without where that was tried before.
    logei._load_attempted = True
    return botorch


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The processes of all outcomes and of what conditions are about, as BoTorch has them."""

    request: FrontRequest
    model: Any
    known: Any  # [n, p] the runs that were learnt
    reference: Floats  # [k] of what was measured and is expected

    def losses(self, samples: Any, X: Any = None) -> Any:
        """Samples [..., k + c] of the normal distributions as outcomes that are maximised."""
        import torch

        del X
        parts = []
        for k, sign in enumerate(self.request.log_sign.tolist()):
            normal = samples[..., k]
            parts.append(-normal if not sign else -sign * torch.exp(sign * normal))
        return torch.stack(parts, dim=-1)

    @property
    def constraints(self) -> list[Callable[[Any], Any]] | None:
        """What is not above 0 where a condition is met."""
        found: list[Callable[[Any], Any]] = []
        for place, one in enumerate(self.request.seen.conditions, len(self.request.log_sign)):
            low, high = one.edges
            if math.isfinite(high):
                found.append(_beyond(place, high, 1.0))
            if math.isfinite(low):
                found.append(_beyond(place, low, -1.0))
        return found or None


def _beyond(place: int, edge: float, sign: float) -> Callable[[Any], Any]:
    """How far samples are beyond an edge in one of their columns."""

    def off(samples: Any) -> Any:
        return sign * (samples[..., place] - edge)

    return off


def _volume(fitted: _Fitted, sampler: Any, pending: Any, rng: np.random.Generator) -> Any:
    from botorch.acquisition.multi_objective.logei import (
        qLogNoisyExpectedHypervolumeImprovement,
    )
    from botorch.acquisition.multi_objective.objective import GenericMCMultiOutputObjective

    del rng
    return qLogNoisyExpectedHypervolumeImprovement(
        model=fitted.model,
        ref_point=(-fitted.reference).tolist(),
        X_baseline=fitted.known,
        sampler=sampler,
        objective=GenericMCMultiOutputObjective(fitted.losses),
        constraints=fitted.constraints,
        X_pending=pending,
        prune_baseline=True,
        alpha=0.0 if len(fitted.reference) <= _EXACT else _COARSE,
    )


def _scalars(fitted: _Fitted, sampler: Any, pending: Any, rng: np.random.Generator) -> Any:
    import torch
    from botorch.acquisition.multi_objective.objective import GenericMCMultiOutputObjective
    from botorch.acquisition.multi_objective.parego import qLogNParEGO

    return qLogNParEGO(
        model=fitted.model,
        X_baseline=fitted.known,
        scalarization_weights=torch.tensor(rng.dirichlet(np.ones(len(fitted.reference)))),
        sampler=sampler,
        objective=GenericMCMultiOutputObjective(fitted.losses),
        constraints=fitted.constraints,
        X_pending=pending,
        prune_baseline=True,
    )


def _chosen(request: FrontRequest, make: Callable[..., Any]) -> tuple[FrontChoice, ...]:
    """One run after the other, each the best of the candidates that are left."""
    _library()
    import torch

    made = len(request.seen.X) + len(request.pending)
    with one_thread("torch"), warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")
        torch.manual_seed(1000 * request.problem.seed + made)
        return _one_by_one(request, make, np.random.default_rng([request.problem.seed, made]))


def _one_by_one(
    request: FrontRequest, make: Callable[..., Any], rng: np.random.Generator
) -> tuple[FrontChoice, ...]:
    import torch
    from botorch.sampling import SobolQMCNormalSampler

    points = request.problem.inputs(request.candidates)
    Z = torch.as_tensor(points.Z, dtype=torch.float64)
    busy = torch.as_tensor(request.problem.inputs(request.pending).Z, dtype=torch.float64)
    model, known = _model(request)
    mean, deviation = _posterior(model, Z)
    k = len(request.log_sign)
    predicted = loss_of(mean[:, :k], request.log_sign)
    reference, volume = request.reach(predicted)
    fitted = _Fitted(request, model, known, reference)
    failing = failing_of(request.problem, request.seen, points)
    meets = _meets(request, mean[:, k:], deviation[:, k:])
    gains = expected_improvement(
        mean[:, :k], deviation[:, :k], request.front, reference, log_sign=request.log_sign
    )
    gains = gains * (1 - failing) * meets
    success = np.log(np.maximum(1 - failing, _NEVER))
    open_ = _shortlist(gains, request.count)
    places: list[int] = []
    for _ in range(min(request.count, len(Z))):
        sampler = SobolQMCNormalSampler(torch.Size([_DRAWS]), seed=int(rng.integers(2**31)))
        pending = busy if len(busy) else None
        acquisition = make(fitted, sampler, pending, rng)
        left = np.flatnonzero(open_)
        with torch.no_grad():
            parts = [acquisition(Z[some][:, None, :]) for some in _parts(left)]
        worth = torch.cat(parts).numpy() + success[left]
        place = int(left[int(np.argmax(np.nan_to_num(worth, nan=-np.inf, neginf=-1e300)))])
        places.append(place)
        open_[place] = False
        busy = torch.cat([busy, Z[place : place + 1]])
    half = _SPREAD * np.sqrt(deviation[:, :k] ** 2 + _noise(model)[:k] ** 2)
    return tuple(
        FrontChoice(
            place=place,
            mean=predicted[place],
            low=loss_of(mean[place, :k] - half[place], request.log_sign),
            high=loss_of(mean[place, :k] + half[place], request.log_sign),
            failure=float(failing[place]),
            meets=float(meets[place]),
            gain=float(gains[place] / volume) if volume else math.nan,
        )
        for place in places
    )


def _shortlist(gains: Floats, count: int) -> Bools:
    """Which candidates [m] are looked at: all where they are few, else those that may add most."""
    found = np.zeros(len(gains), dtype=np.bool_)
    found[np.argsort(-gains, kind="stable")[: max(_LOOKED_AT, 4 * count)]] = True
    return found


def _parts(places: NDArray[np.int64]) -> Sequence[NDArray[np.int64]]:
    return np.split(places, range(_AT_ONCE, len(places), _AT_ONCE))


def _model(request: FrontRequest) -> tuple[Any, Any]:
    """A process for each outcome and each condition, and the runs that they learnt [n, p]."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import ModelListGP, SingleTaskGP
    from botorch.models.transforms import Standardize
    from gpytorch.mlls import SumMarginalLogLikelihood

    seen = request.seen
    fine = seen.fine[-_LEARNT:]
    columns = list(normal_of(seen.losses[fine], request.log_sign).T)
    columns += [normal_of(one.values[fine], np.array(int(one.positive))) for one in seen.conditions]
    known = torch.as_tensor(request.problem.inputs(seen.X[fine]).Z, dtype=torch.float64)
    models = [
        SingleTaskGP(known, torch.tensor(own)[:, None], outcome_transform=Standardize(m=1))
        for own in columns
    ]
    model = ModelListGP(*models)
    fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
    return model, known


def _posterior(model: Any, Z: Any) -> tuple[Floats, Floats]:
    """Means and deviations [m, k + c] of the normal distributions."""
    import torch

    with torch.no_grad():
        found = model.posterior(Z)
    return found.mean.numpy(), found.variance.clamp_min(0.0).sqrt().numpy()


def _noise(model: Any) -> Floats:
    """The deviation of a single run of each outcome and condition, [k + c]."""
    found = []
    for own in model.models:
        scale = float(own.outcome_transform.stdvs.squeeze())
        found.append(scale * math.sqrt(float(own.likelihood.noise.squeeze())))
    return np.array(found)


def _meets(request: FrontRequest, mean: Floats, deviation: Floats) -> Floats:
    """The probability [m] that the conditions are met, from means and deviations [m, c]."""
    found = np.ones(len(mean))
    for place, one in enumerate(request.seen.conditions):
        low, high = one.edges
        spread = np.maximum(deviation[:, place], 1e-12)
        chance = below((high - mean[:, place]) / spread) - below((low - mean[:, place]) / spread)
        found *= np.maximum(chance, 0.0)
    return found
