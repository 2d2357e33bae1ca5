"""Schedules as JSON and as a table of starts."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from compass.schedule.measures import LEVEL, Measures
from compass.schedule.simulate import Schedule
from compass.schedule.truth import CIRCULAR


def notes(schedule: Schedule) -> list[str]:
    """What has to be said of a schedule before anything else is."""
    trace = schedule.trace
    found = list(trace.notes)
    if trace.truth:
        moved = f"{trace.changed} of {len(trace)} jobs ask for something else"
        found.insert(0, f"{moved}; they run by {trace.truth}")
    if trace.circular:
        found.insert(0, CIRCULAR)
    recorded = trace.wait[np.isfinite(trace.wait)]
    if len(recorded):
        found.append(f"the trace itself recorded a mean wait of {recorded.mean() / 3600:.3g} h")
    return found


def as_json(found: Sequence[Schedule], worth: Sequence[Measures]) -> str:
    """Schedules of one trace with their measures; a number that is not known is null."""
    first = found[0]
    value = {
        "jobs": len(first.trace),
        "machine": first.machine,
        "kill": first.kill,
        "level": LEVEL,
        "notes": notes(first),
        "schedules": [
            {"policy": schedule.policy.name, **asdict(one)}
            for schedule, one in zip(found, worth, strict=True)
        ],
    }
    return json.dumps(_known(value), indent=2)


def starts(found: Sequence[Schedule]) -> pa.Table:
    """When each job starts and ends: a row per job and policy; times in s as the trace has them."""
    return pa.concat_tables(
        pa.table(
            {
                "policy": [one.policy.name] * len(one.trace),
                "job": one.trace.job.tolist(),
                "submit": one.trace.submit,
                "start": one.start,
                "end": one.end,
                "wait": one.wait,
                one.trace.resources[0]: one.trace.need[:, 0],
                "truth": [_stamp(one)] * len(one.trace),
            }
        )
        for one in found
    )


def _stamp(schedule: Schedule) -> str:
    trace = schedule.trace
    return f"{trace.truth} (circular)" if trace.circular else trace.truth or "as recorded"


def _known(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _known(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_known(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
