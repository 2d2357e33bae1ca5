"""SMAC3 on a case, asked and told. Runs in the peers' environment.

Its facade for categories and integers (`HyperparameterOptimizationFacade`: a random forest) on the
parameters as ordered values; legal are the configurations of the case: what is asked for besides is
told as failed and costs no evaluation.
"""

import tempfile
import warnings
from typing import Any

import numpy as np

from benchmarks.loop.peer_case import Evaluations, PeerCase, serve

ASKED = 20  # times the budget: more asks without a new legal configuration end a search
_FAR = 10.0  # times the slowest run: what a failed launch is told to be


def run(case: PeerCase, seed: int) -> Evaluations:
    """The starts, then what SMAC asks for."""
    import logging

    from ConfigSpace import (
        Categorical,
        Configuration,
        ConfigurationSpace,
        OrdinalHyperparameter,
    )
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory.dataclasses import TrialInfo, TrialValue

    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    made, place_of = Evaluations(case), case.place_of
    space = ConfigurationSpace(seed=seed)
    for name, own in zip(case.names, case.values, strict=True):
        places = list(range(len(own)))
        space.add(
            Categorical(name, places)
            if isinstance(own[0], str)
            else OrdinalHyperparameter(name, places)
        )
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            space,
            deterministic=True,
            n_trials=ASKED * case.budget,
            seed=seed,
            output_directory=folder,
        )
        facade = HyperparameterOptimizationFacade
        smac = facade(
            scenario,
            _never,
            initial_design=facade.get_initial_design(scenario, n_configs=0, additional_configs=[]),
            overwrite=True,
            logging_level=False,
        )

        def cost(row: int | None) -> float:
            value = np.nan if row is None else made(row)
            known = case.y[np.array(made.order, dtype=np.int64)]
            worst = _FAR * (np.nanmax(known) if np.isfinite(known).any() else 1.0)
            return float(np.log(worst if np.isnan(value) else value))

        for row in case.starts[seed]:
            values = dict(zip(case.names, map(int, case.places[row]), strict=True))
            start = TrialInfo(Configuration(space, values=values), seed=0)
            smac.tell(start, TrialValue(cost=cost(row)))
        for _ in range(ASKED * case.budget):
            if made.full:
                break
            trial = smac.ask()
            asked = tuple(int(trial.config[name]) for name in case.names)
            smac.tell(trial, TrialValue(cost=cost(place_of.get(asked))))
    return made


def _never(_: Any, seed: int = 0) -> float:
    """SMAC is asked and told: it runs nothing itself."""
    raise AssertionError(seed)


CONTESTANTS = {"smac": run}

if __name__ == "__main__":
    serve(CONTESTANTS)
