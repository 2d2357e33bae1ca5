"""The work of jobs: reading a dataset, making an engine, learning, telling it runs, answering."""

import asyncio
import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from compass.domain.answer import ModelCard, Pending
from compass.domain.api import AnswerInfo, DatasetInfo, EngineInfo, State, SynthesizerInfo
from compass.server import answers
from compass.server.jobs import Running
from compass.server.learning import learn_for, with_models
from compass.server.pool import Report
from compass.server.problems import Refused
from compass.server.sizes import size_of
from compass.server.store import Workspace, now
from compass.server.synthesis_tasks import FILE

if TYPE_CHECKING:
    from compass.server.service import Service

ENGINE = "engine"  # the folder of a saved engine within the folder of what is known about it
TELL_REPORT = "tell-report.json"
_SOON = 5.0  # seconds of a proof that are not worth ending a working process for


async def read_dataset(
    service: "Service", workspace: Workspace, given: dict[str, Any], running: Running
) -> dict[str, str]:
    """Read a dataset that was uploaded or named; one that cannot be read is removed."""
    name = given["dataset"]
    about = workspace.get("datasets", name, DatasetInfo)
    task = {
        "path": str(service.data_path(workspace, name)),
        "study": about.study.model_dump(mode="json", exclude_defaults=True),
        "called": about.name,
        "limits": service.limits.model_dump(),
    }
    running.update(stage="reading")
    try:
        # Not behind the fits, which may take an hour: a person waits for it. A public dataset
        # may have to be downloaded, for which a person waits longer.
        public = about.catalogue is not None
        pool = service.fit_pool if public else service.ask_pool
        written = await pool.do(
            "read",
            task,
            owner=workspace.id,
            seconds=service.limits.fit_seconds if public else service.limits.query_seconds,
            report=running.report,
            started=running.began,
        )
        found = json.loads(written)
    except (Refused, asyncio.CancelledError) as error:
        # What cannot be read is of no use; where the job goes on elsewhere, it is.
        if not service.jobs.goes_on(running, error):
            workspace.remove("datasets", name)
        raise
    found.pop("used")
    read = {"ready": True, **found}
    # Unless it was deleted meanwhile.
    workspace.update("datasets", name, DatasetInfo, lambda about: about.model_copy(update=read))
    return {}


async def fit_engine(
    service: "Service", workspace: Workspace, given: dict[str, Any], running: Running
) -> dict[str, str]:
    """Make an engine of a dataset and keep it; outcomes are learnt when a question needs them."""
    name = given["engine"]
    if workspace.has("engines", name):
        return {}  # the server ended after it was done and before that was noted
    data = service.ready_dataset(workspace, given["dataset"])
    with workspace.making("engines", name) as draft:
        task = service.dataset_task(workspace, given["dataset"], given.get("study")) | {
            "output": str(draft / ENGINE),
            "options": given["options"],
            "models": {
                outcome: service.model_task(workspace, model, given["columns"].get(outcome))
                for outcome, model in given["models"].items()
            },
        }
        described = json.loads(await _in_fit_pool(service, "fit", task, workspace, running))
        about = EngineInfo(
            id=name,
            name=given["name"] or data.name,
            created=now(),
            shared=workspace.shared,
            dataset=data.id,
            bytes=size_of(draft),
            options=given["options"],
            brought=given["models"],
            given_study=task["study"],
            version=version("compass-hpc"),
            **described,
        )
        (draft / "about.json").write_text(about.model_dump_json())
    return {}


async def learn_outcome(
    service: "Service", workspace: Workspace, given: dict[str, Any], running: Running
) -> dict[str, str]:
    """Let an engine learn one more outcome; it is added to the engine where that is kept."""
    name, outcome = given["engine"], given["outcome"]
    if outcome not in workspace.get("engines", name, EngineInfo).unlearnt:
        return {}
    workspace.check_room(0)

    def report(shown: dict[str, Any]) -> None:
        running.report(shown | {"stage": f"learning {outcome}"})

    task = {"engine": str(service.engine_path(workspace, name)), "outcome": outcome}
    learnt = await _in_fit_pool(service, "learn", task, workspace, running, report)
    cards = [ModelCard.model_validate(card) for card in json.loads(learnt)]
    size = {"bytes": size_of(workspace.place("engines", name))}
    # Others may have learnt meanwhile.
    workspace.update(
        "engines", name, EngineInfo, lambda about: with_models(about, cards).model_copy(update=size)
    )
    service.unlearnt.pop(name, None)
    workspace.count_again("engines", name)
    return {}


async def tell_runs(
    service: "Service", workspace: Workspace, given: dict[str, Any], running: Running
) -> dict[str, str]:
    """Give new runs to a copy of an engine; the file of the runs is removed afterwards."""
    try:
        await _learn_runs(service, workspace, given, running)
    except BaseException as error:
        if not service.jobs.goes_on(running, error):
            workspace.remove("datasets", given["runs"])
        raise
    # The new engine has its own copy of the runs.
    workspace.remove("datasets", given["runs"])
    return {}


async def _learn_runs(
    service: "Service", workspace: Workspace, given: dict[str, Any], running: Running
) -> None:
    name = given["engine"]
    if workspace.has("engines", name):
        return
    old = service.engine(workspace, given["parent"])
    with workspace.making("engines", name) as draft:
        task = {
            "engine": str(service.engine_path(workspace, old.id)),
            "path": str(service.data_path(workspace, given["runs"])),
            "called": service.dataset(workspace, given["runs"]).name,
            "output": str(draft / ENGINE),
            "questions": given["questions"],
            "limits": service.limits.model_dump(),
        }
        made = json.loads(await _in_fit_pool(service, "tell", task, workspace, running))
        about = old.model_copy(
            update={"id": name, "created": now(), "parent": old.id, "shared": False}
        )
        named = {"name": given.get("name") or old.name, "version": version("compass-hpc")}
        about = EngineInfo.model_validate(
            about.model_dump() | made["engine"] | named | {"bytes": size_of(draft)}
        )
        (draft / TELL_REPORT).write_text(json.dumps(made["report"]))
        (draft / "about.json").write_text(about.model_dump_json())


async def synthesize(
    service: "Service", workspace: Workspace, given: dict[str, Any], running: Running
) -> dict[str, str]:
    """Learn to draw rows like those of a dataset, and keep what was learnt."""
    name = given["synthesizer"]
    if workspace.has("synthesizers", name):
        return {}  # the server ended after it was done and before that was noted
    data = service.ready_dataset(workspace, given["dataset"])
    options = given["options"]
    with workspace.making("synthesizers", name) as draft:
        task = options | {
            "data": service.dataset_task(workspace, given["dataset"], given["study"]),
            "output": str(draft / FILE),
        }
        described = json.loads(await _in_fit_pool(service, "synthesize", task, workspace, running))
        about = SynthesizerInfo(
            id=name,
            name=given["name"] or data.name,
            created=now(),
            dataset=data.id,
            synthesizer=options["synthesizer"],
            bytes=size_of(draft),
            version=version("compass-hpc"),
            **described,
        )
        (draft / "about.json").write_text(about.model_dump_json())
    return {}


async def ask_question(
    service: "Service", workspace: Workspace, given: dict[str, Any], running: Running
) -> dict[str, str]:
    """Answer a question and keep the answer; what takes longer comes later."""
    name, engine = given["answer"], given["engine"]
    if workspace.has("answers", name):
        return {}
    await learn_for(service, workspace, engine, given["question"], running)
    written = await _in_ask_pool(service, "ask", workspace, given, running)
    await asyncio.to_thread(answers.keep, workspace, name, engine, given["question"], written)
    return {}


async def complete_answer(
    service: "Service", workspace: Workspace, given: dict[str, Any], running: Running
) -> dict[str, str]:
    """Add to an answer what is pending: its proof, then the runs to make next."""
    about = workspace.get("answers", given["answer"], AnswerInfo)
    seconds = await asyncio.to_thread(answers.proof_seconds, workspace, about.id)
    running.soon_done = seconds <= _SOON
    work = {
        "answer": about.id,
        "engine": about.engine,
        "question": answers.question(workspace, about),
    }
    while about.pending:
        if running.left:  # while its proof, which was soon done, had a working process
            raise asyncio.CancelledError
        running.update(state=State.WAITING, stage=about.pending[0].value, done=0, total=0)
        task = work | {"pending": about.pending}
        long = Pending.PROOF in about.pending
        written = await _continued(service, workspace, task, running, long=long)
        about = await asyncio.to_thread(answers.complete, workspace, about, written)
        running.pending = len(about.pending)
        running.update()
    return {}


async def _continued(
    service: "Service",
    workspace: Workspace,
    task: dict[str, Any],
    running: Running,
    *,
    long: bool,
    again: bool = True,
) -> bytes:
    """More of an answer; where a working process was ended from outside, tried `again` once."""
    try:
        return await _in_ask_pool(
            service, "continue", workspace, task, running, later=True, long=long
        )
    except Refused as refused:
        if refused.problem.code != "worker-ended":
            raise
        if not again:
            # Without a time to try it again: it would go on ending processes.
            raise Refused.of(refused.status, refused.problem) from None
    return await _continued(service, workspace, task, running, long=long, again=False)


async def _in_ask_pool(
    service: "Service",
    task: str,
    workspace: Workspace,
    given: dict[str, Any],
    running: Running,
    **when: bool,
) -> bytes:
    path = str(service.engine_path(workspace, given["engine"]))
    return await service.ask_pool.do(
        task,
        given | {"engine": path},
        owner=workspace.id,
        seconds=service.limits.query_seconds,
        warm=path,
        answer=given["answer"],
        **when,
        report=running.report,
        started=running.began,
    )


async def _in_fit_pool(
    service: "Service",
    task: str,
    given: dict[str, Any],
    workspace: Workspace,
    running: Running,
    report: Report | None = None,
) -> bytes:
    return await service.fit_pool.do(
        task,
        given,
        owner=workspace.id,
        seconds=service.limits.fit_seconds,
        warm=given.get("engine"),
        report=report or running.report,
        started=running.began,
    )


WORK = {
    "read": read_dataset,
    "fit": fit_engine,
    "learn": learn_outcome,
    "tell": tell_runs,
    "synthesize": synthesize,
    "ask": ask_question,
    "complete": complete_answer,
}
