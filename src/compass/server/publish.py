"""What an operator offers to everybody: past runs or a saved engine, named when the server starts.

It is known by its path, size and time, so that a server that is started again finds the engine that
it has fitted before.
"""

import asyncio
import hashlib
import json
import os
import shutil
from importlib.metadata import version
from pathlib import Path

from compass import embedded, registry
from compass.domain.api import DatasetInfo, EngineInfo, Job
from compass.domain.base import Noun
from compass.domain.errors import BadInput, CompassError
from compass.domain.options import FitOptions
from compass.domain.study import Study
from compass.engine.saved import check_format, generation_of, is_engine
from compass.prepare.study import merge
from compass.prepare.study_file import load_study
from compass.server import logs
from compass.server.job_work import ENGINE
from compass.server.jobs import Running
from compass.server.learning import learn, unlearnt
from compass.server.problems import Refused
from compass.server.service import Service
from compass.server.sizes import size_of
from compass.server.store import Kind, Workspace, now

EMBEDDED = embedded.NAME
_KINDS: dict[Kind, type[Noun]] = {"datasets": DatasetInfo, "engines": EngineInfo}


async def publish(
    service: Service, source: str, study_file: Path | None = None, surrogate: str | None = None
) -> None:
    """Make a dataset, and an engine on it, or a saved engine known to everybody.

    It can be asked at once; it learns meanwhile, so that the next who ask need not wait.
    """
    path, study = source_and_study(source, study_file, surrogate)
    dataset = _key(path, study)
    engine = _digest(f"engine {dataset}" + (f" {surrogate}" if surrogate else ""))
    async with service.alone("offer"):
        await _offered(service, path, study, source, surrogate, dataset, engine)
    await _learn_all(service, engine)


async def _offered(
    service: Service,
    path: Path,
    study: Study,
    source: str,
    surrogate: str | None,
    dataset: str,
    engine: str,
) -> None:
    """Offer this engine instead of what was offered before."""
    await _withdraw_others(service, service.store.offers({dataset, engine}))
    if not _known(service.store.shared, "engines", engine, EngineInfo):
        if is_engine(path):
            await _saved(service, path, engine)
        else:
            name = EMBEDDED if source == EMBEDDED else path.name
            await _fitted(service, path, study, surrogate, name, dataset, engine)


async def _learn_all(service: Service, engine: str) -> None:
    """Learn one outcome after the other; one that cannot be learnt stops no other."""
    shared = service.store.shared
    if not shared.has("engines", engine):
        return  # why is told by its job
    for outcome in unlearnt(service, shared, engine):
        try:
            await learn(service, shared, engine, [outcome])
        except CompassError as error:
            logs.trouble("learn", problem=error.message, hint=error.hint)


async def _fitted(
    service: Service,
    path: Path,
    study: Study,
    surrogate: str | None,
    name: str,
    dataset: str,
    engine: str,
) -> None:
    """Read a dataset and make an engine of it."""
    shared = service.store.shared
    if not _known(shared, "datasets", dataset, DatasetInfo):
        about = DatasetInfo(
            id=dataset, name=name, created=now(), shared=True, path=str(path), study=study
        )
        shared.put("datasets", dataset, about)
    if not shared.get("datasets", dataset, DatasetInfo).ready:
        await _done(
            _resumed(service, dataset)
            or service.jobs.start(shared, "read", {"dataset": dataset}, dataset=dataset)
        )
    work = {
        "engine": engine,
        "dataset": dataset,
        "name": name,
        "options": FitOptions(surrogate=surrogate or None).given(),
        "models": {},
        "columns": {},
    }
    await _done(
        _resumed(service, engine)
        or service.jobs.start(shared, "fit", work, engine=engine, dataset=dataset)
    )


async def _done(running: Running) -> None:
    """Wait for a job; what was wrong with it is raised."""
    assert running.task is not None
    await asyncio.wait([running.task])
    if running.problem is not None:
        raise running.problem


async def _saved(service: Service, path: Path, engine: str) -> None:
    """Take a copy of a saved engine, so that a save over it changes no answers."""
    shared = service.store.shared
    with shared.making("engines", engine) as draft:
        await asyncio.to_thread(shutil.copytree, path, draft / ENGINE)
        described = await service.run_task(shared, "describe", {"engine": str(draft / ENGINE)})
        about = EngineInfo(
            id=engine,
            name=path.name,
            created=now(),
            shared=True,
            bytes=size_of(draft),
            version=version("compass-hpc"),
            **described,
        )
        (draft / "about.json").write_text(about.model_dump_json())


def source_and_study(
    source: str, study_file: Path | None, surrogate: str | None = None
) -> tuple[Path, Study]:
    """What an operator names: where it is, and what its columns mean."""
    if surrogate not in {None, "auto"}:
        registry.get("surrogate", str(surrogate))  # a wrong name is an error now, not a failed job
    if source == EMBEDDED:
        known = load_study(embedded.study())
        own = Study() if study_file is None else load_study(study_file)
        return embedded.path(), merge(known, own)
    path = Path(source)
    if not path.exists():
        raise BadInput(f"there is no file or folder {source}", hint="check the path")
    if surrogate is not None and is_engine(path):
        raise BadInput(
            f"{source} is an engine and has its models", hint="leave --surrogate out, or name data"
        )
    if is_engine(path):  # an engine of another version is an error now, not a failed job
        check_format(path, (generation_of(path) / "engine.json").read_bytes())
    return path.resolve(), Study() if study_file is None else load_study(study_file)


def _key(path: Path, study: Study) -> str:
    """Another path, size, time, study or version of Compass is another offer."""
    files = [path, *sorted(path.rglob("*"))] if path.is_dir() else [path]
    facts = [(str(one), os.stat(one).st_size, os.stat(one).st_mtime_ns) for one in files]
    return _digest(json.dumps([facts, study.model_dump(mode="json"), version("compass-hpc")]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _resumed(service: Service, made: str) -> Running | None:
    """The job of an earlier start that makes this, and is gone on with."""
    own = [one for one in service.jobs.running.values() if one.workspace.shared]
    shared = [one for one in own if one.job.kind != "learn"]
    return next((one for one in shared if made == _made(one.job)), None)


def _made(job: Job) -> str | None:
    """What a job makes; one that makes an engine only learns from its dataset."""
    return job.engine or job.dataset


async def _withdraw_others(service: Service, kept: set[str]) -> None:
    """Remove what an earlier start offered; answers that people have stay theirs."""
    shared = service.store.shared
    for one in [one for one in service.jobs.running.values() if one.workspace.shared]:
        if _made(one.job) not in kept:
            await service.jobs.cancel(shared, one.job.id)
    for kind, noun in _KINDS.items():
        for name in shared.names(kind):
            if name not in kept and _known(shared, kind, name, noun):
                shared.remove(kind, name)


def _known(shared: Workspace, kind: Kind, name: str, noun: type[Noun]) -> bool:
    """Whether something is offered; what is there and cannot be understood is set aside."""
    if not shared.there(kind, name):
        return False
    try:
        shared.get(kind, name, noun)
    except Refused as refused:
        shared.set_aside(kind, name, refused.problem.error)
        return False
    return True


async def publish_or_log(
    service: Service, source: str, study_file: Path | None, surrogate: str | None
) -> None:
    """Publish, and log a problem instead of ending the server."""
    try:
        await publish(service, source, study_file, surrogate)
    except CompassError as error:
        logs.trouble("offer", problem=error.message, hint=error.hint)
    except OSError as error:
        logs.trouble("offer", error, problem=error.strerror, hint="see whether it can be read")
