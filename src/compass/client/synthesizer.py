"""A synthesizer on a server, used like the one of the library."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from compass.client.connection import ServerConnection
from compass.client.replies import understood
from compass.domain.api import SynthesizerInfo
from compass.domain.base import Value
from compass.synth.decide import Decision
from compass.synth.predict import Predictions
from compass.synth.report import SynthesisReport

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.client.dataset import RemoteDataset
    from compass.client.engine import RemoteEngine

_ROW = Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class RemoteRows:
    """Rows that a server drew, and how they were come by."""

    table: "pa.Table"
    report: SynthesisReport

    def __len__(self) -> int:
        return int(self.table.num_rows)


@dataclass(frozen=True, eq=False)
class RemoteSynthesizer:
    """Rows of a dataset, learnt by a server: draws new ones, and fills in empty cells."""

    connection: ServerConnection = field(repr=False)
    about: SynthesizerInfo

    @property
    def id(self) -> str:
        """The id that the server gave it."""
        return self.about.id

    @property
    def name(self) -> str:
        """The name that a person gave it."""
        return self.about.name

    def sample(
        self,
        count: int,
        *,
        where: Iterable[str] = (),
        given: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> RemoteRows:
        """`count` new rows; `where` are rules, `given` values or lists by column."""
        body = {"count": count, "where": list(where), "given": dict(given or {}), "seed": seed}
        return _rows(self._call("sample", body))

    def fill(
        self,
        rows: "Sequence[_ROW] | RemoteDataset",
        *,
        where: Iterable[str] = (),
        draws: int = 1,
        seed: int | None = None,
    ) -> RemoteRows:
        """These rows with what they lack drawn; with several `draws` each one as many times.

        Rows may also be those of a dataset that the server has.
        """
        there = {"rows": _plain(rows)} if isinstance(rows, Sequence) else {"dataset": rows.id}
        body: dict[str, Any] = {**there, "where": list(where), "draws": draws, "seed": seed}
        return _rows(self._call("fill", body))

    def decide(
        self,
        *,
        where: Iterable[str] = (),
        given: Mapping[str, Any] | None = None,
        count: int = 500,
        seed: int | None = None,
    ) -> Decision:
        """What runs within limits look like: how often which values, and which together."""
        body = {"count": count, "where": list(where), "given": dict(given or {}), "seed": seed}
        return understood(Decision, self._call("decide", body))

    def predict(
        self,
        rows: Sequence[_ROW],
        *,
        draws: int = 50,
        beside: "RemoteEngine | None" = None,
        seed: int | None = None,
    ) -> Predictions:
        """The outcomes of given rows, beside those of the surrogate of an engine."""
        engine = None if beside is None else beside.id
        body = {"rows": _plain(rows), "draws": draws, "engine": engine, "seed": seed}
        return understood(Predictions, self._call("predict", body))

    def delete(self) -> None:
        """Delete it from the server."""
        self.connection.call("DELETE", f"/synthesizers/{self.id}")

    def _call(self, what: str, body: dict[str, Any]) -> Any:
        # Nothing is kept of it, so a broken connection does no harm.
        return self.connection.call(
            "POST", f"/synthesizers/{self.id}/{what}", body=body, again=True
        )


def _plain(rows: Sequence[_ROW]) -> list[dict[str, Value]]:
    return [dict(row) for row in rows]


def _rows(reply: Any) -> RemoteRows:
    import pyarrow as pa

    report = understood(SynthesisReport, reply["report"])
    columns = zip(*reply["rows"], strict=True) if reply["rows"] else ([] for _ in reply["names"])
    cells = {name: list(column) for name, column in zip(reply["names"], columns, strict=True)}
    return RemoteRows(pa.table(cells), report)
