"""A Compass server: connecting to it, and the datasets and engines that it has."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from compass.client import keys
from compass.client.connection import ServerConnection
from compass.client.dataset import NOW, RemoteDataset
from compass.client.engine import RemoteEngine
from compass.client.experiment import RemoteExperiment
from compass.client.files import as_file, opened
from compass.client.jobs import Progress, finished
from compass.client.problems import no_server
from compass.client.replies import understood
from compass.client.synthesizer import RemoteSynthesizer
from compass.domain.api import (
    About,
    DatasetBrief,
    DatasetInfo,
    EngineBrief,
    EngineInfo,
    ExperimentInfo,
    Job,
    ModelInfo,
    SynthesizerInfo,
)
from compass.domain.arguments import number, takes, text
from compass.domain.errors import BadInput, unknown
from compass.domain.people import Me
from compass.synth.quality.report import QualityReport


@takes(
    url=text,
    token=text,
    workspace=text,
    patience=number(0, 86_400),
    timeout=number(0, 86_400, above=True),
)
def connect(
    url: str,
    token: str | None = None,
    workspace: str | None = None,
    *,
    patience: float = 60.0,
    timeout: float = 300.0,
) -> "Server":
    """Talk to a Compass server: `connect("http://127.0.0.1:8765")`.

    `token` is what the operator gave out (or COMPASS_TOKEN). `workspace` is the key of one, or,
    where the server knows people, `mine` or `group:NAME`; without it, `mine`, or the one that this
    person used last on this server, or a new one. A busy server is waited for `patience` seconds,
    an answer to one request `timeout` seconds.
    """
    given = token if token is not None else os.environ.get("COMPASS_TOKEN") or None
    connection = ServerConnection(url, given, patience=patience, timeout=timeout)
    try:
        reply = connection.call("GET", "/about")
        if not isinstance(reply, dict) or not {"version", "limits"} <= reply.keys():
            raise no_server(connection.url)
        about = understood(About, reply)
        # Where people are known, their workspace has a name instead of a key.
        named = "mine" if about.people and workspace is None and given is None else workspace
        return Server(connection, about, _entered(connection, named))
    except BaseException:
        connection.close()
        raise


def _entered(connection: ServerConnection, key: str | None) -> str:
    """The key of the workspace that is used from now on."""
    if key is not None:
        if not _opens(connection, key):
            raise BadInput(
                "the key opens no workspace on this server", hint="leave it out to make a new one"
            )
        return key
    known = keys.known(connection.url)
    if known and _opens(connection, known[0]):
        return known[0]  # nothing is written: a home may be read-only
    with keys.locked():  # two programs that start together share a workspace
        for one in keys.known(connection.url):
            if _opens(connection, one):
                break
        else:
            connection.enter(None)
            one = str(connection.call("POST", "/workspaces")["key"])
            connection.enter(one)
        keys.remember(connection.url, one)
    return one


def _opens(connection: ServerConnection, key: str) -> bool:
    if not key.isascii() or not key.isprintable():
        return False
    connection.enter(key)
    code, _ = connection.try_call("GET", "/workspaces/mine")
    return code in {"", "damaged"}  # what is in a workspace can be used though it is damaged itself


class Server:
    """A server and one's own workspace on it."""

    def __init__(self, connection: ServerConnection, about: About, workspace: str) -> None:
        self.connection = connection
        self.about = about
        self.workspace = workspace

    def __repr__(self) -> str:
        return f"Server({self.url!r})"

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what the server keeps stays."""
        self.connection.close()

    @property
    def url(self) -> str:
        """The address of the server."""
        return self.connection.url

    @property
    def version(self) -> str:
        """The version of Compass that it runs."""
        return self.about.version

    def me(self) -> Me:
        """Who the server takes you for, the workspaces that you may use, and how much of them."""
        return understood(Me, self.connection.call("GET", "/me"))

    def datasets(self) -> list[RemoteDataset]:
        """Past runs that can be used, the newest of one's own first."""
        return [self._dataset(one.id) for one in self.dataset_briefs()]

    def dataset_briefs(self) -> Iterator[DatasetBrief]:
        """The same as summaries, which is quicker where there are many."""
        for entry in self.connection.entries("/datasets"):
            if (one := understood(DatasetBrief, entry)).ready:
                yield one

    def engines(self) -> list[RemoteEngine]:
        """Engines that can be asked, the newest of one's own first."""
        return [self._engine(one.id) for one in self.engine_briefs()]

    def engine_briefs(self) -> Iterator[EngineBrief]:
        """The same as summaries, which is quicker where there are many."""
        for entry in self.connection.entries("/engines"):
            yield understood(EngineBrief, entry)

    def dataset(self, name: str) -> RemoteDataset:
        """The dataset of this name or id; of several of that name the newest."""
        return self._dataset(_named("dataset", name, self.dataset_briefs()))

    def engine(self, name: str) -> RemoteEngine:
        """The engine of this name or id; of several of that name the newest."""
        return self._engine(_named("engine", name, self.engine_briefs()))

    def _dataset(self, name: str) -> RemoteDataset:
        about = understood(DatasetInfo, self.connection.call("GET", f"/datasets/{name}"))
        return RemoteDataset(self, about, about.study)

    def _engine(self, name: str) -> RemoteEngine:
        return RemoteEngine(self, self.engine_info(name))

    def engine_info(self, name: str) -> EngineInfo:
        """Everything that is known about an engine, by its id."""
        return understood(EngineInfo, self.connection.call("GET", f"/engines/{name}"))

    def experiments(self) -> list[RemoteExperiment]:
        """The experiments of the workspace, the newest first."""
        return [
            RemoteExperiment(self.connection, understood(ExperimentInfo, entry))
            for entry in self.connection.entries("/experiments")
        ]

    def experiment(self, name: str) -> RemoteExperiment:
        """The experiment of this name or id; of several of that name the newest."""
        every = self.experiments()
        for one in every:
            if name in (one.about.id, one.about.name):
                return one
        names = [one.about.name for one in every]
        raise unknown("experiment", name, list(dict.fromkeys(names)), where="on the server")

    def start_experiment(self, plan: Mapping[str, Any], name: str = "") -> RemoteExperiment:
        """Begin an experiment; the plan is that of a plan file, without what runs it."""
        body = {"name": name or "experiment", "plan": dict(plan)}
        reply = self.connection.call("POST", "/experiments", body=body)
        return RemoteExperiment(self.connection, understood(ExperimentInfo, reply))

    def synthesizers(self) -> list[RemoteSynthesizer]:
        """The synthesizers of the workspace, the newest first."""
        return [
            self.synthesizer_of(understood(SynthesizerInfo, entry).id)
            for entry in self.connection.entries("/synthesizers")
        ]

    def synthesizer(self, name: str) -> RemoteSynthesizer:
        """The synthesizer of this name or id; of several of that name the newest."""
        every = self.synthesizers()
        for one in every:
            if name in (one.id, one.name):
                return one
        names = [one.name for one in every]
        raise unknown("synthesizer", name, list(dict.fromkeys(names)), where="on the server")

    def synthesizer_of(self, name: str) -> RemoteSynthesizer:
        """The synthesizer of this id."""
        reply = self.connection.call("GET", f"/synthesizers/{name}")
        return RemoteSynthesizer(self.connection, understood(SynthesizerInfo, reply))

    def judge_synthetic(
        self,
        real: RemoteDataset,
        synthetic: RemoteDataset,
        *,
        test: RemoteDataset | None = None,
        target: str | None = None,
        picture: str = "pca",
        seed: int | None = None,
    ) -> QualityReport:
        """How like the rows of one dataset those of another are, each measure beside its floor."""
        body = {
            "real": real.id,
            "study": real.study.model_dump(mode="json", exclude_defaults=True),
            "synthetic": synthetic.id,
            "test": None if test is None else test.id,
            "target": target,
            "picture": picture,
            "seed": seed,
        }
        reply = self.connection.call("POST", "/synthesizers/check", body=body, again=True)
        return understood(QualityReport, reply)

    def upload(
        self, source: Any, *, name: str | None = None, progress: Progress | None = None
    ) -> RemoteDataset:
        """Past runs from anything that `read` takes: a path, glob, folder, table or data frame.

        What is in the workspace already is not sent again. `name` is what to call runs that are not
        a file.
        """
        with as_file(source, self.about, name) as file:
            digest = file.digest
            for known in self.dataset_briefs():
                if known.digest == digest and not known.shared:
                    return self._dataset(known.id)
            params = NOW | {"name": file.name}
            reply = self.connection.call(
                "POST", "/datasets/upload", params=params, content=file.content, begins=True
            )
        return self._made(reply, progress)

    def public(self, name: str, *, progress: Progress | None = None) -> RemoteDataset:
        """A public dataset of the catalogue, which the server gets by itself."""
        for known in self.dataset_briefs():
            if known.catalogue == name:
                return self._dataset(known.id)
        body = {"name": name}
        reply = self.connection.call(
            "POST", "/datasets/from-catalogue", params=NOW, body=body, begins=True
        )
        return self._made(reply, progress)

    def _made(self, reply: Any, progress: Progress | None) -> RemoteDataset:
        job = finished(self.connection, understood(Job, reply), progress)
        return self._dataset(str(job.dataset))

    def upload_model(self, path: str | Path) -> str:
        """Upload a model of one's own (ONNX, LightGBM, XGBoost, ...); its id."""
        with opened(Path(path), self.about) as file:
            digest = file.digest
            for entry in self.connection.entries("/models"):
                if (known := understood(ModelInfo, entry)).digest == digest:
                    return known.id
            params = {"name": file.name}
            reply = self.connection.call(
                "POST", "/models/upload", params=params, content=file.content
            )
        return understood(ModelInfo, reply).id


def _named(kind: str, name: str, every: Iterator[DatasetBrief | EngineBrief]) -> str:
    """The id of the dataset or engine that has this name or id."""
    names = []
    for one in every:
        if name in {one.id, one.name}:
            return one.id
        names.append(one.name)
    raise unknown(kind, name, list(dict.fromkeys(names)), where="on the server")
