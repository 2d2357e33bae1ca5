"""Outcomes of engines on a server: learnt when a question first needs one, each as a job.

Who needs the same outcome waits for the same job. What is learnt is added to the engine on disk,
for everybody who may use it.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from compass.domain.answer import ModelCard
from compass.domain.api import EngineInfo, State
from compass.domain.errors import CompassError
from compass.language.bind import column
from compass.server.jobs import Running
from compass.server.problems import Refused
from compass.server.store import Workspace

if TYPE_CHECKING:
    from compass.server.service import Service


def unlearnt(service: "Service", workspace: Workspace, engine: str) -> tuple[str, ...]:
    """The outcomes of an engine that nobody has needed yet."""
    if engine not in service.unlearnt:
        service.unlearnt[engine] = service.engine(workspace, engine).unlearnt
    return service.unlearnt[engine]


def learning(service: "Service", workspace: Workspace, engine: str, outcome: str) -> Running | None:
    """The job that learns an outcome, which is started if there is none; None: it is learnt."""
    owner = service.owner_of(workspace, "engines", engine)
    if outcome not in unlearnt(service, workspace, engine):
        return None
    for running in service.jobs.running.values():
        job = running.job
        about = (running.workspace, job.kind, job.engine, job.outcome)
        if about == (owner, "learn", engine, outcome) and not job.state.over:
            return running
    service.unlearnt.pop(engine, None)
    if outcome not in unlearnt(service, workspace, engine):
        return None  # another server has learnt it meanwhile
    service.fit_pool.admit(owner.id)
    work = {"engine": engine, "outcome": outcome}
    return service.jobs.start(owner, "learn", work, engine=engine, outcome=outcome)


async def learn(
    service: "Service",
    workspace: Workspace,
    engine: str,
    outcomes: Iterable[str],
    shown: Running | None = None,
) -> None:
    """Wait until an engine has learnt outcomes, one after the other; `shown` tells how far it is.

    The work goes on when nobody waits any more: the next question about the outcome needs it.
    """
    wanted = tuple(outcomes)
    with service.ask_pool.reserved(workspace.id):
        for place, outcome in enumerate(wanted, 1):
            running = learning(service, workspace, engine, outcome)
            if running is not None:
                which = f", {place} of {len(wanted)} outcomes" if len(wanted) > 1 else ""
                await _finished(service, running, f"learning {outcome}{which}", shown)


async def _finished(
    service: "Service", running: Running, stage: str, shown: Running | None
) -> None:
    """Wait for a job that learns; `shown` says so meanwhile."""
    async for job in service.jobs.follow(running.workspace, running.job.id):
        if shown is not None and not job.state.over:
            shown.update(state=job.state, stage=stage, done=job.done, total=job.total)
    assert running.task is not None
    await asyncio.wait([running.task])  # a server that closes ends the streams before
    if running.problem is not None:
        raise running.problem
    if running.job.state is not State.DONE:
        what = running.job.outcome
        raise Refused(
            409, "cancelled", f"learning {what} was cancelled", hint="ask again to learn it"
        )


async def learn_for(
    service: "Service",
    workspace: Workspace,
    engine: str,
    question: dict[str, Any],
    shown: Running | None = None,
) -> None:
    """Wait until an engine has learnt the outcomes that a question needs."""
    if not unlearnt(service, workspace, engine):
        return
    needed = await service.run_engine_task(workspace, engine, "to_learn", question=question)
    await learn(service, workspace, engine, needed, shown)


async def learn_named(
    service: "Service", workspace: Workspace, engine: str, names: Iterable[str]
) -> None:
    """Wait until an engine has learnt the outcomes that a request names; none: all of them.

    What is wrong with a name is told by what uses it.
    """
    missing = unlearnt(service, workspace, engine)
    if not missing:
        return
    space, found = service.engine(workspace, engine).space, set()
    given = tuple(names)
    for name in given:
        with suppress(CompassError):
            found.add(column(name, space))
    await learn(service, workspace, engine, [n for n in missing if not given or n in found])


def with_models(about: EngineInfo, cards: Iterable[ModelCard]) -> EngineInfo:
    """What is known about an engine, with models that it has learnt since."""
    known = {(card.features, card.target) for card in about.models}
    new = [card for card in cards if (card.features, card.target) not in known]
    return about.model_copy(update={"models": (*about.models, *new)})
