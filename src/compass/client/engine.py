"""An engine on a server, asked like one in this program."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compass.client.dataset import NOW
from compass.client.files import as_file
from compass.client.jobs import Progress, finished
from compass.client.replies import understood
from compass.domain.answer import Answer, Curve, ModelCard, Proposal, Suggestion
from compass.domain.api import EngineInfo, Job
from compass.domain.arguments import anything_of, either, function, start, takes, text
from compass.domain.base import Value, scalar
from compass.domain.errors import CompassError
from compass.domain.explanation import Dependence, Explanation, Importance
from compass.domain.query import Query
from compass.domain.space import Space
from compass.domain.study import Study
from compass.domain.tell import TellReport
from compass.engine import arguments as spoken
from compass.engine.columns import ColumnsView
from compass.engine.questions import Questions, Run

if TYPE_CHECKING:
    from compass.client.server import Server
    from compass.engine.batch import Asking, Reply

_REMEMBERED = 5  # questions that `tell` looks at again when nobody says which


@dataclass(frozen=True)
class Known:
    """The data that an engine has learnt from."""

    study: Study
    rows: int
    sample: str | None
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return self.rows


class RemoteEngine(Questions):
    """Answers the three questions on a server, with the methods of `Compass`.

    `progress(what, done, total)` hears how far the work is; Ctrl-C ends it on the server too.
    """

    def __init__(
        self, server: "Server", about: EngineInfo, progress: Progress | None = None
    ) -> None:
        self.server = server
        self.about = about
        self.progress = progress
        self.asked: list[str] = []  # the last questions, for `tell`

    def __repr__(self) -> str:
        return f"RemoteEngine({self.name!r}, {self.about.rows} runs, id {self.id})"

    @property
    def id(self) -> str:
        """The id that the server gave it."""
        return self.about.id

    @property
    def name(self) -> str:
        """The name that a person gave it."""
        return self.about.name

    @property
    def space(self) -> Space:
        """The columns that can be used; ignored ones are not here."""
        return self.about.space

    @property
    def cards(self) -> tuple[ModelCard, ...]:
        """What was learnt, and how well."""
        return self.about.models

    @property
    def data(self) -> Known:
        """The data that it has learnt from."""
        about = self.about
        return Known(about.study, about.rows, about.sample, about.notes)

    def broken_by(self) -> dict[str, int]:
        """How many past runs break each rule."""
        return {rule.text: rule.broken_by for rule in self.about.rules}

    @takes(**spoken.ASKED, weights=spoken.WEIGHTS, curve=spoken.NAMES)
    def ask(
        self,
        question: str | Query,
        *,
        run: Run | None = None,
        where: Iterable[str] = (),
        count: int | None = None,
        seed: int | None = None,
        weights: Mapping[str, float] | None = None,
        diversity: float | None = None,
        prove: float | None = None,
        level: float | None = None,
        curve: Iterable[str] = (),
    ) -> Answer:
        """Answer a question given as text or as a Query; see `Compass.ask`."""
        said: dict[str, Any] = {
            "count": count,
            "seed": seed,
            "diversity": diversity,
            "prove": prove,
        }
        said |= {"level": level, "weights": None if weights is None else dict(weights)}
        body = _question(question, run, where, said) | {"curve": list(curve)}
        reply = self._post("answers", body, params=NOW, begins=True)
        if "state" in reply:  # a job; a question that was asked before has its answer at once
            job = finished(self.server.connection, understood(Job, reply), self.progress)
            reply = self.server.connection.call("GET", f"/answers/{job.answer}")
        answer = understood(Answer, reply["answer"])
        kept = [text for text in self.asked if text != answer.text]
        self.asked = [*kept, answer.text][-_REMEMBERED:]
        return answer

    @takes(questions=spoken.BATCH, progress=function)
    def ask_all(
        self,
        questions: "Iterable[Asking]",
        *,
        progress: Progress | None = None,
        **options: Any,
    ) -> "tuple[Reply, ...]":
        """Answer many questions, one after the other; one that fails stops no other.

        A question is a text, a Query, or a mapping with options; see `Compass.ask_all`.
        """
        from compass.engine.batch import Reply

        asked = list(questions)
        replies = []
        for place, one in enumerate(asked, 1):
            said = options | (dict(one) if isinstance(one, Mapping) else {"question": one})
            try:
                known = spoken.ONE_OF_MANY(said)
                replies.append(Reply(one, answer=self.ask(known.pop("question", ""), **known)))
            except CompassError as error:
                replies.append(Reply(one, error=error))
            if progress is not None:
                progress("answering", place, len(asked))
        return tuple(replies)

    @takes(**spoken.ASKED, said=spoken.OPTIONS)
    def query(
        self,
        question: str | Query,
        *,
        run: Run | None = None,
        where: Iterable[str] = (),
        **said: Any,
    ) -> Query:
        """A question as it is understood, bound to the columns; options are as in `ask`."""
        reply = self._post("queries", _question(question, run, where, said))
        return understood(Query, reply["query"])

    @takes(**spoken.ASKED, n=spoken.RUNS, options=spoken.OPTIONS)
    def run_next(
        self,
        n: int = 8,
        question: str | Query | None = None,
        *,
        run: Run | None = None,
        where: Iterable[str] = (),
        **options: Any,
    ) -> tuple[Proposal, ...]:
        """Up to n configurations to measure: those that would help a question most.

        Without a question, those that would teach the models most. Other options are as in `ask`.
        """
        reply = self._post("run-next", _question(question, run, where, options) | {"runs": n})
        return understood(tuple[Proposal, ...], reply["run_next"])

    @takes(run=start, parameters=spoken.NAMES, outcomes=spoken.NAMES)
    def curves(
        self, run: Run, parameters: Iterable[str], outcomes: Iterable[str] = ()
    ) -> tuple[Curve, ...]:
        """How outcomes answer to single parameters, everything else as in this run."""
        body = {"parameters": list(parameters), "outcomes": list(outcomes), "run": _run(run)}
        return understood(tuple[Curve, ...], self._post("curves", body))

    @takes(run=either(anything_of(Suggestion), start), outcomes=spoken.NAMES, against=start)
    def explain(
        self,
        run: Run | Suggestion,
        outcomes: Iterable[str] = (),
        *,
        against: Run | None = None,
    ) -> tuple[Explanation, ...]:
        """Why does the model predict this of a past run, a configuration or a suggestion?

        It is compared with past runs, or with the one run `against`: `answer.baseline`, a row.
        """
        body: dict[str, Any] = {"outcomes": list(outcomes), "against": _run(against)}
        if isinstance(run, Suggestion):
            body["given"] = run.model_dump(mode="json")
        else:
            body["run"] = _run(run)
        return understood(tuple[Explanation, ...], self._post("explanations", body))

    @takes(outcome=text, repeats=spoken.REPEATS)
    def importance(self, outcome: str, *, repeats: int = 10) -> Importance:
        """Which columns does the model of an outcome rely on?"""
        params = {"outcome": outcome, "repeats": repeats}
        return understood(Importance, self._get("importance", params))

    @takes(outcome=text, column=text, points=spoken.POINTS, label=spoken.label, lines=spoken.LINES)
    def dependence(
        self, outcome: str, column: str, *, points: int = 20, label: Value = None, lines: int = 0
    ) -> Dependence:
        """How does the prediction of an outcome answer to a column, over the past runs?"""
        params = {"outcome": outcome, "column": column, "points": points, "lines": lines}
        if label is not None:
            params["label"] = str(label)
        return understood(Dependence, self._get("dependence", params))

    def columns(self, *, study: Study | None = None, mined: bool = False) -> ColumnsView:
        """What each column of all its runs is taken for, also through another study."""
        said = None if study is None else study.model_dump(mode="json", exclude_defaults=True)
        return understood(ColumnsView, self._post("columns/check", {"study": said, "mine": mined}))

    @takes(questions=spoken.questions, name=text)
    def tell(
        self, rows: Any, questions: Iterable[str | Query] = (), *, name: str | None = None
    ) -> TellReport:
        """Take in new runs: a path, data frame, table or dict of columns; see `Compass.tell`.

        The server makes a new engine that knows them, which this is from now on; the one before
        stays under its id. `name` is what to call the new one.
        """
        from compass.language import format_query

        texts = [one if isinstance(one, str) else format_query(one) for one in questions]
        params: dict[str, Any] = NOW | {"ask": texts or self.asked}
        if name is not None:
            params["called"] = name
        connection = self.server.connection
        with as_file(rows, self.server.about) as file:
            params["name"] = file.name
            path = f"/engines/{self.id}/tell/upload"
            reply = connection.call("POST", path, params=params, content=file.content, begins=True)
        job = finished(connection, understood(Job, reply), self.progress)
        about = understood(EngineInfo, connection.call("GET", f"/engines/{job.engine}"))
        found = understood(TellReport, connection.call("GET", f"/engines/{about.id}/tell-report"))
        self.about = about
        return found

    def delete(self) -> None:
        """Delete it from the server; answers that it gave stay."""
        self.server.connection.call("DELETE", f"/engines/{self.id}")

    def _post(self, what: str, body: Any, params: Any = None, begins: bool = False) -> Any:
        # Twice does no harm: a question that was asked twice is answered once.
        path = f"/engines/{self.id}/{what}"
        connection = self.server.connection
        return connection.call("POST", path, params=params, body=body, again=True, begins=begins)

    def _get(self, what: str, params: Any) -> Any:
        return self.server.connection.call("GET", f"/engines/{self.id}/{what}", params=params)


def _question(
    question: str | Query | None, run: Run | None, where: Iterable[str], said: Mapping[str, Any]
) -> dict[str, Any]:
    """A question as the body of a request; what is not given is left out."""
    asked: Any = question
    if isinstance(question, Query):
        asked = question.model_dump(mode="json")
    texts = [where] if isinstance(where, str) else list(where)
    body: dict[str, Any] = {"question": asked, "run": _run(run), "where": texts or None, **said}
    return {name: scalar(value) for name, value in body.items() if value is not None}


def _run(run: Run | None) -> Any:
    """A row number or a configuration as the body of a request has it."""
    if run is None:
        return None
    if isinstance(run, Mapping):
        return {str(name): scalar(value) for name, value in run.items()}
    return int(run)
