"""Engines on the tables of the paper's datasets, each learnt once."""

from functools import cache

from acceptance_tables import (
    APP_ROLES,
    BUTTER_ROLES,
    MONET_ROLES,
    NPB_ROLES,
    PM100_ROLES,
    PM100_RULES,
    SIMULATION_ROLES,
    applications,
    butter_e,
    monet,
    npb_mz,
    pm100,
    simulations,
)

import compass as cp
from compass.settings import ForestSettings, TrustSettings

FEW = cp.Settings(surrogate="forest", forest=ForestSettings(trees=30), trust=TrustSettings(trees=4))
_NOT_MEANT = ["avg_runtime", "ipath_0", "ipath_1"]  # what the person of Figure 6 drops


def _one_application(app: str) -> cp.Compass:
    """A file of one application: `app` and `node_count` never vary, so they have no role."""
    roles = {"knobs": APP_ROLES["knobs"], "outcomes": APP_ROLES["outcomes"]}
    data = cp.read(applications((app,), 400)).roles(**roles, ignored=_NOT_MEANT)
    return cp.Compass(data, settings=FEW)


@cache
def engines() -> dict[str, cp.Compass]:
    """The engines by the names that Table VI gives to the datasets."""
    return {
        "Monet": cp.Compass(cp.read(monet()).roles(**MONET_ROLES), settings=FEW),
        "PM-100": cp.Compass(
            cp.read(pm100()).roles(**PM100_ROLES), rules=PM100_RULES, settings=FEW
        ),
        "BUTTER-E": cp.Compass(cp.read(butter_e()).roles(**BUTTER_ROLES), settings=FEW),
        "CoMD": _one_application("CoMD"),
        "FT": _one_application("FT"),
    }


@cache
def both_applications() -> cp.Compass:
    """FT and CoMD in one file: `app` is a context here."""
    roles = APP_ROLES | {"context": ["app"]}
    data = cp.read(applications(n=800)).roles(**roles, ignored=_NOT_MEANT)
    return cp.Compass(data, settings=FEW)


@cache
def npb() -> cp.Compass:
    """The multi-zone benchmarks."""
    data = cp.read(npb_mz()).roles(**NPB_ROLES, ignored=["papi_tot_i"])
    return cp.Compass(data, rules=["num_processes >= 4 * num_nodes"], settings=FEW)


@cache
def simulation() -> cp.Compass:
    """The simulation of Figure 5."""
    data = cp.read(simulations()).roles(**SIMULATION_ROLES)
    return cp.Compass(data, settings=FEW)
