"""BoTorch on a case: `CONTESTANT CASE SEED,SEED`, JSON lines out.

Runs in an environment of its own (`requirements.txt`). One Gaussian process for each outcome, with
the usual settings of BoTorch, on the places of values (labels as one column each) and the
logarithms of outcomes. The acquisition function is worked out for every configuration that was not
evaluated, and the best one is evaluated: the same feasible pool as for everybody.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pareto.front_case import FrontCase

_AT_ONCE = 256  # configurations
_DRAWS = 128


def inputs(case: FrontCase) -> Any:
    """The configurations as numbers from 0 to 1, [m, p]."""
    columns = []
    for j, (size, label) in enumerate(zip(case.sizes, case.labels, strict=True)):
        own = case.places[:, j]
        if label:
            columns += [(own == value).astype(float) for value in range(size)]
        else:
            columns.append(own / max(size - 1, 1))
    return np.column_stack(columns)


def search(case: FrontCase, seed: int, name: str) -> list[int]:
    """The rows that are evaluated, in order; the starts first."""
    import torch
    from botorch.acquisition.multi_objective.logei import (
        qLogNoisyExpectedHypervolumeImprovement,
    )
    from botorch.acquisition.multi_objective.parego import qLogNParEGO
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import ModelListGP, SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.sampling import SobolQMCNormalSampler
    from botorch.utils.multi_objective.hypervolume import infer_reference_point
    from botorch.utils.multi_objective.pareto import is_non_dominated
    from gpytorch.mlls import SumMarginalLogLikelihood

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    X = torch.tensor(inputs(case), dtype=torch.float64)
    Y = torch.tensor(-np.log(case.Y), dtype=torch.float64)  # BoTorch maximises
    order = list(case.starts[seed])
    while len(order) < case.budget:
        known, told = X[order], Y[order]
        models = [
            SingleTaskGP(known, told[:, [k]], outcome_transform=Standardize(m=1))
            for k in range(Y.shape[1])
        ]
        model = ModelListGP(*models)
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        sampler = SobolQMCNormalSampler(torch.Size([_DRAWS]), seed=seed + len(order))
        if name == "qlognehvi":
            front = told[is_non_dominated(told)]
            acquisition = qLogNoisyExpectedHypervolumeImprovement(
                model=model,
                ref_point=infer_reference_point(front).tolist(),
                X_baseline=known,
                sampler=sampler,
                prune_baseline=True,
            )
        else:
            acquisition = qLogNParEGO(model=model, X_baseline=known, sampler=sampler)
        open_ = np.setdiff1d(np.arange(len(X)), order)
        with torch.no_grad():
            parts = [acquisition(X[part, None, :]) for part in np.split(open_, _cuts(len(open_)))]
        order.append(int(open_[int(torch.cat(parts).argmax())]))
    return order


def _cuts(count: int) -> list[int]:
    return list(range(_AT_ONCE, count, _AT_ONCE))


if __name__ == "__main__":
    contestant, path, seeds = sys.argv[1:]
    given = FrontCase.read(Path(path))
    for number in map(int, seeds.split(",")):
        began = time.process_time()
        rows = search(given, number, contestant)
        cpu = (time.process_time() - began) / max(len(rows) - len(given.starts[number]), 1)
        print(json.dumps({"seed": number, "order": rows, "cpu": cpu}), flush=True)
