"""Kernel Tuner's strategies in simulation mode on a case. Runs in the peers' environment.

The search space is built from the case (`from_cache`): the same legal configurations for everybody.
The first random samples that a strategy draws are the starts, the best first, and they are
evaluated before it begins, so that it goes on from them and not from draws of its own.

The Bayesian optimiser needs help for that: its draws are its own, so the starts are put in their
place; and Kernel Tuner (1.5.0) tells of a failed launch by the largest float, which it takes for a
time, so it is given 1e20, by which it knows a failure.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.loop.peer_case import BudgetSpent, Evaluations, PeerCase, serve

_BAYES = "bayes_opt"
_FAILURE = 1e20  # what its Bayesian optimiser takes for no time
_PLAIN: dict[str, Any] = {}  # what was replaced


def contestant(module: str, **options: Any) -> Callable[[PeerCase, int], Evaluations]:
    """A strategy of Kernel Tuner with these options."""

    def run(case: PeerCase, seed: int) -> Evaluations:
        from importlib import import_module

        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - what the strategies draw from
        strategy = import_module(f"kernel_tuner.strategies.{module}")
        made = Evaluations(case)
        for row in case.starts[seed]:
            made(row)
        searchspace, runner, tuning, waiting = _simulated(case, seed, made, options)
        if module == _BAYES:
            _help_bayes(strategy, waiting)
        try:
            # A strategy that ends early is started again: the budget is there to be used.
            for _ in range(20):
                if made.full:
                    break
                strategy.tune(searchspace, runner, tuning)
        except BudgetSpent:
            pass
        return made

    return run


def _help_bayes(strategy: Any, waiting: list[tuple[Any, ...]]) -> None:
    """Have the Bayesian optimiser begin with these configurations, and know failures."""
    from kernel_tuner import util

    optimiser = strategy.BayesianOptimization
    plain_cost, plain_draw = _PLAIN.setdefault(
        "of kernel tuner", (util.get_result_cost, optimiser.draw_random_sample)
    )

    def cost(result: dict[str, Any], *about: Any) -> Any:
        return [_FAILURE] if "__error__" in result else plain_cost(result, *about)

    def draw(self: Any) -> tuple[Any, int]:
        if not waiting:
            return plain_draw(self)  # type: ignore[no-any-return]
        wanted = waiting.pop(0)
        for index, config in enumerate(self.searchspace):
            if tuple(self.denormalize_param_config(self.unprune_param_config(config))) == wanted:
                return config, index
        raise AssertionError(wanted)

    util.get_result_cost = cost
    optimiser.draw_random_sample = draw


def _simulated(
    case: PeerCase, seed: int, made: Evaluations, options: dict[str, Any]
) -> tuple[Any, Any, Any, list[tuple[Any, ...]]]:
    """The space, the runner and the options of a strategy, and the starts that it draws first."""
    from kernel_tuner import util
    from kernel_tuner.interface import Options
    from kernel_tuner.runners.simulation import SimulationDevice

    rows = {config: i for i, config in enumerate(_configs(case))}
    searchspace = _space(case, list(rows))
    starts = sorted(case.starts[seed], key=lambda row: (np.isnan(case.y[row]), case.y[row]))
    waiting = [_configs(case)[row] for row in starts]
    plain = searchspace.get_random_sample

    def samples(count: int) -> list[tuple[Any, ...]]:
        """The starts first, then random configurations."""
        found = [waiting.pop(0) for _ in range(min(count, len(waiting)))]
        return found + (list(plain(count - len(found))) if count > len(found) else [])

    searchspace.get_random_sample = samples
    tuning = Options(
        {
            "tune_params": searchspace.tune_params,
            "restrictions": None,
            "objective": ["time"],
            "objective_higher_is_better": [False],
            "strategy_options": Options({"max_fevals": case.budget, **options}),
            "budget": util.TuningBudget(None, 10**9),
            "verbose": False,
            "cache": {},
            "snap": True,
        }
    )

    class Runner:
        """Answers from the case."""

        dev = SimulationDevice(10**9, {"device_name": "Simulation"}, True)

        def add_strategy_time(self, seconds: float) -> None:
            """Nothing here is timed."""

        def run(self, configs: Any, _: Any) -> list[dict[str, Any]]:
            """What is measured of each."""
            results = []
            for config in configs:
                found = made(rows[tuple(config)])
                result = dict(zip(case.names, config, strict=True))
                if np.isnan(found):
                    result["__error__"] = util.RuntimeFailedConfig()
                result["time"] = util.RuntimeFailedConfig() if np.isnan(found) else found
                results.append(result)
            return results

    return searchspace, Runner(), tuning, waiting


def _configs(case: PeerCase) -> list[tuple[Any, ...]]:
    """The configurations as Kernel Tuner writes them; labels by their position."""
    values = [
        tuple(range(len(own))) if isinstance(own[0], str) else tuple(int(v) for v in own)
        for own in case.values
    ]
    return [tuple(values[j][at] for j, at in enumerate(row)) for row in case.places.tolist()]


def _space(case: PeerCase, configs: list[tuple[Any, ...]]) -> Any:
    from kernel_tuner.searchspace import Searchspace

    params = {name: sorted({c[j] for c in configs}) for j, name in enumerate(case.names)}
    cache = {
        ",".join(map(str, config)): dict(zip(case.names, config, strict=True)) for config in configs
    }
    return Searchspace(None, None, None, from_cache={"tune_params": params, "cache": cache})


CONTESTANTS = {
    "kt-genetic": contestant("genetic_algorithm"),
    "kt-hybrid-vndx": contestant("gen_hybrid_vndx"),
    "kt-bayes": contestant(_BAYES, samplingmethod="random"),
}

if __name__ == "__main__":
    serve(CONTESTANTS)
