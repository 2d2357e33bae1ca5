"""An experiment on a server, used like the one of the library."""

import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import httpx

from compass.client.connection import ServerConnection
from compass.client.dataset import RemoteDataset
from compass.client.jobs import PAUSE, Patience, stream
from compass.client.problems import unreachable
from compass.client.replies import understood
from compass.domain.api import (
    AttachedRuns,
    ExperimentInfo,
    ExperimentView,
    NextExperimentRuns,
    ToldRuns,
)
from compass.domain.base import Value
from compass.domain.experiment import (
    ExperimentPlan,
    ExperimentReport,
    ExperimentRun,
    ExperimentStatus,
    RunEvent,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.engine.dataset import Dataset

_PART = 500  # runs that are asked for at once


class RemoteExperiment:
    """Runs that a server chooses, and somebody else makes and tells."""

    def __init__(self, connection: ServerConnection, about: ExperimentInfo) -> None:
        self._connection = connection
        self.about = about

    def __repr__(self) -> str:
        return f"RemoteExperiment({self.about.name!r}, id={self.about.id!r})"

    @property
    def _path(self) -> str:
        return f"/experiments/{self.about.id}"

    def next(self, count: int = 1, *, worker: str = "by hand") -> tuple[ExperimentRun, ...]:
        """Up to so many runs to make now; nobody else is given them."""
        body = {"count": count, "worker": worker}
        reply = self._connection.call("POST", f"{self._path}/next", body=body)
        return understood(NextExperimentRuns, reply).runs

    def tell(
        self,
        number: int,
        outcomes: Mapping[str, Value] | None = None,
        *,
        failed: str | None = None,
        infeasible: str | None = None,
    ) -> bool:
        """What came of a run; `failed`, `infeasible`: why there is no result. False: known."""
        result = {"run": number, **(outcomes or {})}
        if infeasible is not None:
            result["failure"] = f"infeasible: {infeasible}"
        elif failed is not None:
            result["failure"] = failed
        return self.tell_all([result]).taken > 0

    def tell_all(self, results: list[dict[str, Value]]) -> ToldRuns:
        """What came of several runs, by `run` or by their settings; `failure`: why one failed.

        A failure `infeasible: REASON` says that it cannot be made; it costs no budget.
        """
        # Told twice they are taken in once, so a broken connection does no harm.
        body = {"results": results}
        reply = self._connection.call("POST", f"{self._path}/tell", body=body, again=True)
        return understood(ToldRuns, reply)

    def enqueue(self, config: Mapping[str, Value], *, repeats: int | None = None) -> None:
        """Add a configuration of your own, to be run before what models choose."""
        body = {"configs": [dict(config)], "repeats": repeats}
        self._connection.call("POST", f"{self._path}/add", body=body)

    def cancel(self, *numbers: int) -> ExperimentStatus:
        """Wait for these runs no longer; without numbers, for any."""
        body = {"runs": list(numbers)}
        reply = self._connection.call("POST", f"{self._path}/cancel", body=body, again=True)
        return understood(ExperimentStatus, reply)

    def attach(self, data: RemoteDataset, *, where: tuple[str, ...] = ()) -> AttachedRuns:
        """Past runs to learn from: how many of its own kind, of another, and left out."""
        body = {"dataset": data.id, "where": list(where)}
        reply = self._connection.call("POST", f"{self._path}/attach", body=body, again=True)
        return understood(AttachedRuns, reply)

    def status(self) -> ExperimentStatus:
        """How far it is, and its best run."""
        return understood(ExperimentView, self._connection.call("GET", self._path)).status

    def best(self) -> ExperimentRun | None:
        """The best run so far."""
        return self.status().best

    def report(self) -> ExperimentReport:
        """What was found, the learning curve, and how good predictions were."""
        return understood(ExperimentReport, self._connection.call("GET", f"{self._path}/report"))

    def runs(self) -> tuple[ExperimentRun, ...]:
        """All runs by number."""
        return tuple(self._runs())

    def _runs(self) -> Iterator[ExperimentRun]:
        after = 0
        while True:
            params: dict[str, Any] = {"after": after, "count": _PART}
            part = self._connection.call("GET", f"{self._path}/runs", params=params)
            for one in part:
                run = understood(ExperimentRun, one)
                after = run.number
                yield run
            if len(part) < _PART:
                return

    def events(self, after: int = 0) -> Iterator[RunEvent]:
        """What happens, from behind this event on, as it happens; it does not end by itself.

        It goes on when the server is started again.
        """
        patience = Patience(self._connection.patience)
        while True:
            with patience:
                for event in self._events(after):
                    after = event.id
                    patience.renew()
                    yield event
            time.sleep(PAUSE)

    def _events(self, after: int) -> Iterator[RunEvent]:
        """The events of one stream."""
        try:
            for _, data in stream(self._connection, f"{self._path}/events?after={after}"):
                yield understood(RunEvent, data)
        except httpx.TransportError as error:
            raise unreachable(self._connection.url, error) from None

    def table(self) -> "pa.Table":
        """The runs that ended, as a table; attached past runs stay on the server."""
        from compass.experiment.export import table_of
        from compass.experiment.space import space_of

        return table_of(self._plan, space_of(self._plan), self.runs())

    def dataset(self) -> "Dataset":
        """The same as past runs for an engine: `cp.Compass(experiment.dataset())`."""
        from compass.experiment.export import dataset_of
        from compass.experiment.space import space_of

        return dataset_of(self._plan, space_of(self._plan), self.runs())

    @cached_property
    def _plan(self) -> ExperimentPlan:
        from compass.experiment.plan_file import plan_of

        return plan_of(self.about.plan)

    def delete(self) -> None:
        """Delete it on the server, with all its runs."""
        self._connection.call("DELETE", self._path)
