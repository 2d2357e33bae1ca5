"""Past runs on a server."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from compass.client.jobs import Progress, finished
from compass.client.replies import understood
from compass.domain.advice import Advice, AdviceList, JobRequest
from compass.domain.api import DatasetInfo, EngineInfo, Job
from compass.domain.arguments import maybe, takes
from compass.domain.base import valid
from compass.domain.machines import MachinesView, PlatformAnswer
from compass.domain.options import FitKeywords, FitOptions
from compass.domain.study import Study
from compass.domain.usage import UsageReport
from compass.engine import arguments
from compass.engine.columns import ColumnsView
from compass.prepare.study import with_roles

if TYPE_CHECKING:
    from compass.client.engine import RemoteEngine
    from compass.client.server import Server
    from compass.client.synthesizer import RemoteSynthesizer


@dataclass(frozen=True, eq=False)
class RemoteDataset:
    """Past runs that a server keeps, and a study that says what their columns mean.

    The study goes along with what is asked; the server's own copy stays as it is.
    """

    server: "Server" = field(repr=False)
    about: DatasetInfo = field(repr=False)
    study: Study = field(repr=False)

    @property
    def id(self) -> str:
        """The id that the server gave it."""
        return self.about.id

    @property
    def name(self) -> str:
        """The name that a person gave it."""
        return self.about.name

    def __len__(self) -> int:
        return self.about.rows

    def __repr__(self) -> str:
        return f"RemoteDataset({self.name!r}, {self.about.rows} rows, id {self.id})"

    def with_study(self, study: Study) -> "RemoteDataset":
        """The same runs seen through another study."""
        return replace(self, study=study)

    def roles(
        self,
        knobs: Iterable[str] | None = None,
        context: Iterable[str] | None = None,
        outcomes: Iterable[str] | None = None,
        ignored: Iterable[str] = (),
    ) -> "RemoteDataset":
        """The same runs with these roles. Columns that are not named keep what was inferred."""
        return self.with_study(with_roles(self.study, knobs, context, outcomes, ignored))

    def columns(self, *, mined: bool = False) -> ColumnsView:
        """What each column is taken for; `mined` also looks for dependencies."""
        body = {"study": _plain(self.study), "mine": mined}
        reply = self.server.connection.call(
            "POST", f"/datasets/{self.id}/columns/check", body=body, again=True
        )
        return understood(ColumnsView, reply)

    def advise(
        self,
        *,
        job: str | None = None,
        request: JobRequest | None = None,
        pasted: str | None = None,
        last: int = 20,
        user: str | None = None,
        risk: float = 0.05,
    ) -> tuple[Advice, ...]:
        """What the next jobs should ask Slurm for: one like a past job, a request, or the last.

        `pasted`: the number of a job, lines of `sacct`, or a job script, as people have them.
        """
        asked = None if request is None else request.model_dump(mode="json")
        about = {"job": job, "request": asked, "pasted": pasted}
        body = about | {"last": last, "user": user, "risk": risk}
        reply = self.server.connection.call(
            "POST", f"/datasets/{self.id}/advice", body=body, again=True
        )
        return understood(AdviceList, reply).advice

    def usage(self) -> UsageReport:
        """What these jobs asked Slurm for against what they used."""
        reply = self.server.connection.call("GET", f"/datasets/{self.id}/usage")
        return understood(UsageReport, reply)

    def machines(self) -> MachinesView:
        """What these runs tell of several machines, and by which columns."""
        reply = self.server.connection.call("GET", f"/datasets/{self.id}/machines")
        return understood(MachinesView, reply)

    def on_machines(
        self,
        application: str,
        source: str,
        *,
        machines: Iterable[str] = (),
        prices: Mapping[str, float] | None = None,
        power: Mapping[str, float] | None = None,
        level: float = 0.9,
        first: int = 0,
        seed: int = 7,
    ) -> PlatformAnswer:
        """What an application that was run on `source` does on every machine, in which order."""
        given: dict[str, Any] = {"application": application, "source": source}
        given |= {"machines": list(machines), "prices": dict(prices or {})}
        given |= {"power": dict(power or {}), "level": level, "first": first, "seed": seed}
        reply = self.server.connection.call(
            "POST", f"/datasets/{self.id}/machines", body=given, again=True
        )
        return understood(PlatformAnswer, reply)

    @takes(options=arguments.FIT, outcomes=maybe(arguments.NAMES))
    def fit(
        self,
        *,
        name: str | None = None,
        models: Mapping[str, Any] | None = None,
        model_columns: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        outcomes: Iterable[str] | None = None,
        **options: Unpack[FitKeywords],
    ) -> "RemoteEngine":
        """Learn from these runs; options are as in `Compass`, `outcomes` as in `Compass.fit`.

        An engine that was fitted in the same way before is used again. `models` are files of
        models for outcomes that are not to be learnt, `model_columns` what their inputs are.
        """
        from compass.client.engine import RemoteEngine

        chosen = valid(FitOptions, options).model_dump(mode="json", exclude_defaults=True)
        brought = {
            outcome: self.server.upload_model(file) for outcome, file in (models or {}).items()
        }
        wanted = {
            outcome: _stated_columns(given) for outcome, given in (model_columns or {}).items()
        }
        known = None if wanted else self._fitted(name, chosen, brought)
        if known is None:
            body = {"dataset": self.id, "study": _plain(self.study), "models": brought, **chosen}
            body |= {"model_columns": wanted, "name": name}
            connection = self.server.connection
            begun = understood(
                Job, connection.call("POST", "/engines", params=NOW, body=body, begins=True)
            )
            job = finished(connection, begun, progress)
            known = self.server.engine_info(str(job.engine))
        return RemoteEngine(self.server, known, progress).fit(outcomes)

    def synthesizer(
        self,
        synthesizer: str = "cart",
        *,
        name: str | None = None,
        rules: Iterable[str] = (),
        seed: int | None = None,
        settings: Mapping[str, Any] | None = None,
        tune: float = 0.0,
        progress: Progress | None = None,
    ) -> "RemoteSynthesizer":
        """Learn to draw rows like these; `settings` are some of those of the synthesizer."""
        body = {
            "dataset": self.id,
            "study": _plain(self.study),
            "synthesizer": synthesizer,
            "name": name,
            "rules": list(rules),
            "seed": seed,
            "settings": dict(settings or {}),
            "tune": tune,
        }
        connection = self.server.connection
        reply = connection.call("POST", "/synthesizers", params=NOW, body=body, begins=True)
        job = finished(connection, understood(Job, reply), progress)
        return self.server.synthesizer_of(str(job.synthesizer))

    def _fitted(
        self, name: str | None, options: dict[str, Any], brought: dict[str, str]
    ) -> EngineInfo | None:
        """An engine that was fitted to the same data with the same options; None: there is none."""
        without_rules = {key: value for key, value in options.items() if key != "rules"}
        for brief in self.server.engine_briefs():
            if (
                brief.dataset != self.id
                or brief.parent is not None
                or brief.options != without_rules
                or brief.brought != len(brought)
                or brief.version != self.server.version
                or name not in (None, brief.name)
            ):
                continue
            one = self.server.engine_info(brief.id)
            study = one.study if one.given_study is None else one.given_study
            if study == self.study and one.options == options and one.brought == brought:
                return one
        return None

    def delete(self) -> None:
        """Delete it from the server; engines that learnt from it stay."""
        self.server.connection.call("DELETE", f"/datasets/{self.id}")


NOW = {"wait": 0}  # the job at once: then there is something to follow, and to cancel


def _stated_columns(columns: Any) -> Any:
    """Which columns a model takes, as the request has it; a file is read here."""
    if not isinstance(columns, str | Path):
        return columns
    from compass.model.files.columns import stated

    return stated(Path(columns)).model_dump(mode="json", exclude_defaults=True)


def _plain(study: Study) -> Any:
    return study.model_dump(mode="json", exclude_defaults=True)
