"""The machine that jobs are scheduled on: so much of each resource, in one pool."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from compass.domain.errors import BadInput, UnknownName, unknown
from compass.schedule.trace import RESOURCES, JobTrace, peak_use

Machine = Mapping[str, int]  # how much of each resource there is


def machine_for(trace: JobTrace, given: Machine | None = None) -> dict[str, int]:
    """What is counted: what is given, else what the trace says of its machine.

    A resource that neither names is not counted; the first one that jobs ask for has to be.
    """
    for name, amount in (given or {}).items():
        if name not in RESOURCES:
            raise unknown("resource", name, RESOURCES)
        if name not in trace.resources:
            raise UnknownName(
                f"the jobs of this trace ask for no {name}",
                hint=f"they ask for: {', '.join(trace.resources)}",
            )
        if amount < 1:
            raise BadInput(f"a machine with {amount} {name}", hint="at least 1")
    has = {**trace.capacity, **(given or {})}
    first = trace.resources[0]
    if first not in has:
        used = peak_use(trace).get(first)
        known = f"{used} of them were in use at once" if used else "jobs tell how many they ask for"
        raise BadInput(
            f"how many {first} the machine has is not known",
            hint=f"say it: --{first} N; {known}, the largest job asks for "
            f"{int(trace.asks(first).max())}",
        )
    return {name: has[name] for name in trace.resources if name in has}


def fitted(trace: JobTrace, machine: Machine) -> JobTrace:
    """The jobs as this machine counts them; those that ask for more than it has are left out."""
    kept = tuple(name for name in trace.resources if name in machine)
    places = [trace.resources.index(name) for name in kept]
    need = np.ascontiguousarray(trace.need[:, places])
    seen = replace(trace, need=need, resources=kept)
    fits = np.all(need <= np.array([machine[name] for name in kept]), axis=1)
    if fits.all():
        return seen
    if not fits.any():
        raise BadInput(
            "every job asks for more than the machine has",
            hint=f"the machine: {', '.join(f'{machine[name]} {name}' for name in kept)}",
        )
    left = f"left out, larger than the machine: {int((~fits).sum())} jobs"
    return seen.only(fits).noted(left)
