"""Optuna's samplers on a case. Runs in the peers' environment.

Every parameter is the position among its values, or a label; losses are logarithms. A sampler is
asked until what it asks for is legal and was not evaluated: what breaks a rule is told as a
constraint that is not met, what is known is answered again, and neither costs an evaluation. After
ten asks in vain a legal configuration is drawn at random and told, so that the budget is spent.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.loop.peer_case import Contestant, Evaluations, PeerCase, serve

FAILED = 10.0  # times the slowest run so far: what a failed launch is told to be
ASKED = 10  # times for one evaluation


def contestant(sampler: Callable[[int], Any]) -> Contestant:
    """A search with a sampler."""

    def run(case: PeerCase, seed: int) -> Evaluations:
        import optuna

        warnings.filterwarnings("ignore")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        return _Search(case, optuna.create_study(sampler=sampler(seed))).run(seed)

    return run


class _Search:
    def __init__(self, case: PeerCase, study: Any) -> None:
        import optuna

        self.case, self.study = case, study
        self.made = Evaluations(case)
        self.place_of = case.place_of
        self.space = {
            name: optuna.distributions.CategoricalDistribution(tuple(range(len(own))))
            if isinstance(own[0], str)
            else optuna.distributions.IntDistribution(0, len(own) - 1)
            for name, own in zip(case.names, case.values, strict=True)
        }

    def run(self, seed: int) -> Evaluations:
        """The starts, then what the sampler asks for."""
        for row in self.case.starts[seed]:
            self._add(row)
        rng = np.random.default_rng(seed)
        while not self.made.full:
            before = len(self.made.order)
            for _ in range(ASKED):
                self._ask()
                if len(self.made.order) > before:
                    break
            else:
                self._add(
                    next(
                        row
                        for row in rng.permutation(len(self.case.y)).tolist()
                        if row not in self.made
                    )
                )
        return self.made

    def _ask(self) -> None:
        """Ask the sampler once, and tell it what comes out."""
        trial = self.study.ask(self.space)
        row = self.place_of.get(tuple(trial.params[name] for name in self.case.names))
        trial.set_constraint("rules", float(row is None))
        self.study.tell(trial, self._worst() if row is None else self._loss(row))

    def _add(self, row: int) -> None:
        """Evaluate a configuration that the sampler did not ask for, and tell it."""
        import optuna

        from_row = dict(zip(self.case.names, map(int, self.case.places[row]), strict=True))
        self.study.enqueue_trial(from_row)
        trial = self.study.ask(self.space)
        assert isinstance(trial, optuna.trial.Trial)
        trial.set_constraint("rules", 0.0)
        self.study.tell(trial, self._loss(row))

    def _loss(self, row: int) -> float:
        found = self.made(row)
        return self._worst() if np.isnan(found) else float(np.log(found))

    def _worst(self) -> float:
        known = self.case.y[np.array(self.made.order, dtype=np.int64)]
        known = known[np.isfinite(known)]
        return float(np.log(FAILED * known.max())) if len(known) else 10.0


def _tpe(seed: int) -> Any:
    import optuna

    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=20)


def _gp(seed: int) -> Any:
    import optuna

    return optuna.samplers.GPSampler(seed=seed, n_startup_trials=20, deterministic_objective=True)


CONTESTANTS = {"tpe": contestant(_tpe), "gp": contestant(_gp)}

if __name__ == "__main__":
    serve(CONTESTANTS)
