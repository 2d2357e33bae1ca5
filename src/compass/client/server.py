"""A Compass server, and the way in."""

import os
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from compass.client import keys
from compass.client.dataset import NOW, RemoteDataset
from compass.client.engine import RemoteEngine
from compass.client.files import as_file, opened
from compass.client.jobs import Progress, finished
from compass.client.link import Link
from compass.client.nouns import About, DatasetInfo, EngineInfo, JobInfo, ModelInfo, understood
from compass.client.problems import no_server
from compass.domain.arguments import number, takes, text
from compass.domain.errors import BadInput, unknown

Thing = TypeVar("Thing", RemoteDataset, RemoteEngine)


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

    `token` is what the operator gave out (or COMPASS_TOKEN). `workspace` is the key of one; without
    it, the one that this person used last on this server, or a new one. A busy server is waited
    for `patience` seconds, an answer to one request `timeout` seconds.
    """
    given = token if token is not None else os.environ.get("COMPASS_TOKEN") or None
    link = Link(url, given, patience=patience, timeout=timeout)
    try:
        told = link.call("GET", "/about")
        if not isinstance(told, dict) or not {"version", "limits"} <= told.keys():
            raise no_server(link.url)
        about = understood(About, told)
        return Server(link, about, _entered(link, workspace))
    except BaseException:
        link.close()
        raise


def _entered(link: Link, key: str | None) -> str:
    """The key of the workspace that is used from now on."""
    if key is not None:
        if not _opens(link, key):
            raise BadInput(
                "the key opens no workspace on this server", hint="leave it out to make a new one"
            )
        return key
    known = keys.known(link.url)
    if known and _opens(link, known[0]):
        return known[0]  # nothing is written: a home may be read-only
    with keys.locked():  # two programs that start together share a workspace
        for one in keys.known(link.url):
            if _opens(link, one):
                break
        else:
            link.enter(None)
            one = str(link.call("POST", "/workspaces")["key"])
            link.enter(one)
        keys.remember(link.url, one)
    return one


def _opens(link: Link, key: str) -> bool:
    if not key.isascii() or not key.isprintable():
        return False
    link.enter(key)
    code, _ = link.said("GET", "/workspaces/mine")
    return not code


class Server:
    """A server and one's own workspace on it."""

    def __init__(self, link: Link, about: About, workspace: str) -> None:
        self.link = link
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
        self.link.close()

    @property
    def url(self) -> str:
        """Where it is."""
        return self.link.url

    @property
    def version(self) -> str:
        """The version of Compass that it runs."""
        return self.about.version

    def datasets(self) -> list[RemoteDataset]:
        """Past runs that can be used, the newest of one's own first."""
        infos = understood(list[DatasetInfo], self.link.call("GET", "/datasets"))
        return [RemoteDataset(self, one, one.study) for one in infos if one.ready]

    def engines(self) -> list[RemoteEngine]:
        """Engines that can be asked, the newest of one's own first."""
        return [RemoteEngine(self, one) for one in self.engine_infos()]

    def engine_infos(self) -> list[EngineInfo]:
        """What is known about the engines."""
        return understood(list[EngineInfo], self.link.call("GET", "/engines"))

    def dataset(self, name: str) -> RemoteDataset:
        """The dataset of this name or id; of several of that name the newest."""
        return _named("dataset", name, self.datasets())

    def engine(self, name: str) -> RemoteEngine:
        """The engine of this name or id; of several of that name the newest."""
        return _named("engine", name, self.engines())

    def upload(
        self, source: Any, *, name: str | None = None, progress: Progress | None = None
    ) -> RemoteDataset:
        """Past runs from anything that `read` takes: a path, glob, folder, table or data frame.

        What is in the workspace already is not sent again. `name` is what to call runs that are not
        a file.
        """
        with as_file(source, self.about, name) as file:
            digest = file.digest
            for known in self.datasets():
                if known.about.digest == digest and not known.about.shared:
                    return known
            params = NOW | {"name": file.name}
            told = self.link.call(
                "POST", "/datasets/upload", params=params, content=file.content, begins=True
            )
        return self._made(told, progress)

    def public(self, name: str, *, progress: Progress | None = None) -> RemoteDataset:
        """A public dataset of the catalogue, which the server gets by itself."""
        for known in self.datasets():
            if known.about.catalogue == name:
                return known
        body = {"name": name}
        told = self.link.call(
            "POST", "/datasets/from-catalogue", params=NOW, body=body, begins=True
        )
        return self._made(told, progress)

    def _made(self, told: Any, progress: Progress | None) -> RemoteDataset:
        job = finished(self.link, understood(JobInfo, told), progress)
        about = understood(DatasetInfo, self.link.call("GET", f"/datasets/{job.dataset}"))
        return RemoteDataset(self, about, about.study)

    def upload_model(self, path: str | Path) -> str:
        """Upload a model of one's own (ONNX, LightGBM, XGBoost, ...); its id."""
        with opened(Path(path), self.about) as file:
            digest = file.digest
            models = understood(list[ModelInfo], self.link.call("GET", "/models"))
            for known in models:
                if known.digest == digest:
                    return known.id
            params = {"name": file.name}
            told = self.link.call("POST", "/models/upload", params=params, content=file.content)
        return understood(ModelInfo, told).id


def _named(kind: str, name: str, every: list[Thing]) -> Thing:
    for one in every:
        if name in {one.id, one.name}:
            return one
    names = list(dict.fromkeys(one.name for one in every))
    raise unknown(kind, name, names, where="on the server")
