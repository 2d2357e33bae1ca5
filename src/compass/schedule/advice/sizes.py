"""Cores, nodes and GPUs: what similar jobs kept busy of them. Never more than `caution`.

Accounting says how many were busy, not what fewer would do to the time.
"""

import numpy as np

from compass.domain.advice import KeptOption, RequestEdit
from compass.domain.answer import Label
from compass.schedule.advice.history import Codes
from compass.schedule.advice.jobs import Jobs

_FEWEST = 5
_WORTH = 0.75  # of the cores: with more of them busy, fewer are no news
_LATEST = 30

Told = RequestEdit | KeptOption


def sizes(past: Jobs, own: Codes, job: Jobs, near: Codes, *, whole: bool) -> list[Told]:
    """What is advised of cores, nodes and GPUs, and what is not.

    `own` [n] is the application of each past job, `near` are the similar ones; `whole`: nodes are
    not shared, so cores are not given back.
    """
    return [*_cores(past, own, job, near, whole), *_gpus(past, job, near)]


def _cores(past: Jobs, own: Codes, job: Jobs, near: Codes, whole: bool) -> list[Told]:
    asked, nodes = float(job.cores[0]), float(job.nodes[0])
    if np.isnan(asked) or asked <= 1 or not len(near):
        return []
    option = "nodes" if nodes > 1 else "ntasks" if job.tasks[0] > 1 else "cpus-per-task"
    same = near[(past.cores[near] == asked) & (past.state[near] == "COMPLETED")]
    used = past.cores_used[same]
    used = used[~np.isnan(used)][-_LATEST:]
    if len(used) < _FEWEST:
        return [KeptOption(option=option, why="too few similar jobs tell how many cores were busy")]
    busy = float(np.ceil(used.max()))
    if nodes > 1:
        return [_nodes(past, own, job, same, busy)]
    if busy > _WORTH * asked:
        return [KeptOption(option=option, why=f"up to {busy:.0f} of {asked:.0f} are busy")]
    if whole:
        why = f"{busy:.0f} of {asked:.0f} are busy, but whole nodes are given"
        return [KeptOption(option=option, why=why)]
    tried = (own == own[same[-1]]) & (past.cores <= busy)
    why = f"no similar job kept more than {busy:.0f} cores busy; {_effect(tried.any())}"
    return [_edit(option, asked, busy, why)]


def _nodes(past: Jobs, own: Codes, job: Jobs, same: Codes, busy: float) -> Told:
    """Fewer nodes, where the cores that were busy and the memory that was used fit on them."""
    asked, nodes = float(job.cores[0]), float(job.nodes[0])
    share = asked / nodes
    fewer = max(float(np.ceil(busy / share)), 1.0)
    why = f"up to {busy:.0f} of {asked:.0f} cores on {nodes:.0f} nodes are busy"
    if fewer >= nodes:
        return KeptOption(option="nodes", why=why)
    used = past.memory_used[same] * past.nodes[same]
    room = float(job.memory_asked[0])
    if np.isnan(used).all() or np.isnan(room):
        return KeptOption(option="nodes", why=f"{why}, but the memory that they use is not known")
    if np.nanmax(used) / fewer > room:
        return KeptOption(option="nodes", why=f"{why}, but their memory needs {nodes:.0f} nodes")
    tried = (own == own[same[-1]]) & (past.nodes <= fewer)
    fit = f"they fit on {fewer:.0f}, with at most {share * fewer:.0f} tasks"
    return _edit("nodes", nodes, fewer, f"{why}: {fit}; {_effect(tried.any())}")


def _gpus(past: Jobs, job: Jobs, near: Codes) -> list[Told]:
    """No GPU, where they are asked for and no similar job used one."""
    asked = float(job.gpus[0])
    gathered = bool((past.gpus_used > 0).any())  # else zeros mean that nothing is gathered
    if not asked > 0 or not gathered:
        return []
    used = past.gpus_used[near[past.gpus[near] > 0]]
    used = used[~np.isnan(used)][-_LATEST:]
    if len(used) < _FEWEST:
        return [KeptOption(option="gpus", why="too few similar jobs tell how busy GPUs were")]
    if (used > 0).any():
        return [KeptOption(option="gpus", why=f"{(used > 0).mean():.0%} of similar jobs used GPUs")]
    return [_edit("gpus", asked, 0.0, f"none of the last {len(used)} similar jobs used a GPU")]


def _edit(option: str, old: float, new: float, why: str) -> RequestEdit:
    return RequestEdit(
        option=option, old=f"{old:.0f}", new=f"{new:.0f}", why=why, label=Label.CAUTION
    )


def _effect(tried: bool) -> str:
    return "was run so before" if tried else "its effect on the time was never measured"
