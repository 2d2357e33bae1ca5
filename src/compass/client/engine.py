"""An engine on a server, asked like one in this program."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from compass.chat.draft import Inquiry
from compass.chat.outcomes import NEEDS_MODEL, outcome_meant
from compass.client.answers import followed
from compass.client.dataset import NOW
from compass.client.files import as_file
from compass.client.jobs import Progress, finished
from compass.client.replies import understood
from compass.domain.answer import Answer, Curve, ModelCard, Pending, Proposal, Suggestion
from compass.domain.api import AnswerView, EngineInfo, Job
from compass.domain.arguments import anything_of, either, function, maybe, start, takes, text
from compass.domain.base import Value, scalar
from compass.domain.errors import CompassError, QueryProblem, UnknownName
from compass.domain.explanation import Dependence, Explanation, Importance
from compass.domain.findings import Findings
from compass.domain.options import AskOptions, QueryOptions
from compass.domain.overview import Overview
from compass.domain.query import Query
from compass.domain.space import Space
from compass.domain.study import Study
from compass.domain.tell import TellReport
from compass.engine import arguments
from compass.engine.columns import ColumnsView
from compass.engine.questions import Questions, Run
from compass.language.bind import outcomes_named

if TYPE_CHECKING:
    from compass.client.server import Server
    from compass.engine.batch import Asking, BatchReply

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
        """What has been learnt so far, and how well."""
        return self.about.models

    @property
    def learnt(self) -> tuple[str, ...]:
        """The outcomes that have been learnt from the knobs and the context."""
        return self.about.learnt

    @takes(outcomes=maybe(arguments.NAMES))
    def fit(self, outcomes: Iterable[str] | None = None) -> "RemoteEngine":
        """Learn these outcomes before a question needs them; without names all of them."""
        for outcome in outcomes_named(outcomes, self.space):
            if outcome not in self.about.unlearnt:
                continue
            reply = self._post("outcomes", {"outcome": outcome}, params=NOW, begins=True)
            if "state" in reply:  # a job; another person may have learnt it meanwhile
                finished(self.server.connection, understood(Job, reply), self.progress)
            self._look_again()
        return self

    def _look_again(self) -> None:
        """Note what the server has learnt meanwhile."""
        if self.about.unlearnt:
            self.about = self.server.engine_info(self.id)

    @property
    def data(self) -> Known:
        """The data that it has learnt from."""
        about = self.about
        return Known(about.study, about.rows, about.sample, about.notes)

    def broken_by(self) -> dict[str, int]:
        """How many past runs break each rule."""
        return {rule.text: rule.broken_by for rule in self.about.rules}

    def _ask(self, question: str | Query, options: AskOptions) -> Answer:
        return deque(self._stream(question, options), maxlen=1).pop()

    def _stream(self, question: str | Query, options: AskOptions) -> Iterator[Answer]:
        connection = self.server.connection
        reply = self._post("answers", _body(question, options), params=NOW, begins=True)
        if "state" in reply:  # a job; a question that was asked before has its answer at once
            job = finished(connection, understood(Job, reply), self.progress)
            reply = connection.call("GET", f"/answers/{job.answer}")
            self._look_again()
        view = understood(AnswerView, reply)
        kept = [text for text in self.asked if text != view.answer.text]
        self.asked = [*kept, view.answer.text][-_REMEMBERED:]
        return self._steps(view)

    def _steps(self, view: AnswerView) -> Iterator[Answer]:
        for seen in followed(self.server.connection, view):
            yield seen.answer
            if Pending.PROOF in seen.answer.pending and self.progress is not None:
                self.progress("proving", 0, ceil(seen.answer.query.prove or 0))

    @takes(questions=arguments.BATCH, progress=function)
    def ask_all(
        self,
        questions: "Iterable[Asking]",
        *,
        progress: Progress | None = None,
        **options: Any,
    ) -> "tuple[BatchReply, ...]":
        """Answer many questions, one after the other; one that fails stops no other.

        A question is a text, a Query, or a mapping with options; see `Compass.ask_all`.
        """
        from compass.engine.batch import BatchReply

        asked = list(questions)
        replies = []
        for place, one in enumerate(asked, 1):
            mine = dict(one) if isinstance(one, Mapping) else {"question": one}
            try:
                given = arguments.ONE_OF_MANY(options | mine)
                replies.append(BatchReply(one, answer=self.ask(given.pop("question", ""), **given)))
            except CompassError as error:
                replies.append(BatchReply(one, error=error))
            if progress is not None:
                progress("answering", place, len(asked))
        return tuple(replies)

    def _query(self, question: str | Query, options: QueryOptions) -> Query:
        reply = self._post("queries", _body(question, options))
        return understood(Query, reply["query"])

    def _to_learn(self, question: str | Query, options: QueryOptions) -> tuple[str, ...]:
        reply = self._post("queries", _body(question, options))
        return understood(tuple[str, ...], reply["to_learn"])

    def _run_next(
        self,
        n: int,
        question: str | Query | None,
        options: QueryOptions,
        pending: tuple[dict[str, Value], ...],
    ) -> tuple[Proposal, ...]:
        body = _body(question, options) | {"runs": n}
        reply = self._post("run-next", body | ({"pending": pending} if pending else {}))
        return understood(tuple[Proposal, ...], reply["run_next"])

    @takes(run=start, parameters=arguments.NAMES, outcomes=arguments.NAMES)
    def curves(
        self, run: Run, parameters: Iterable[str], outcomes: Iterable[str] = ()
    ) -> tuple[Curve, ...]:
        """How outcomes answer to single parameters, everything else as in this run."""
        wanted = tuple(outcomes)
        self._learn_first(wanted)
        body = {"parameters": list(parameters), "outcomes": wanted, "run": _run(run)}
        return understood(tuple[Curve, ...], self._post("curves", body))

    def overview(self) -> Overview:
        """What the past runs tell by themselves; nothing is learnt or predicted for it."""
        return understood(Overview, self._get("overview", {}))

    @takes(run=either(anything_of(Suggestion), start), outcomes=arguments.NAMES, against=start)
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
        wanted = tuple(outcomes)
        body: dict[str, Any] = {"outcomes": wanted, "against": _run(against)}
        if isinstance(run, Suggestion):
            body["given"] = run.model_dump(mode="json")
        else:
            self._learn_first(wanted)
            body["run"] = _run(run)
        return understood(tuple[Explanation, ...], self._post("explanations", body))

    @takes(outcome=text, repeats=arguments.REPEATS)
    def importance(self, outcome: str, *, repeats: int = 10) -> Importance:
        """Which columns does the model of an outcome rely on?"""
        self._learn_first((outcome,))
        params = {"outcome": outcome, "repeats": repeats}
        return understood(Importance, self._get("importance", params))

    @takes(
        outcome=text,
        column=text,
        points=arguments.POINTS,
        label=arguments.label,
        lines=arguments.LINES,
    )
    def dependence(
        self, outcome: str, column: str, *, points: int = 20, label: Value = None, lines: int = 0
    ) -> Dependence:
        """How does the prediction of an outcome answer to a column, over the past runs?"""
        self._learn_first((outcome,))
        params = {"outcome": outcome, "column": column, "points": points, "lines": lines}
        if label is not None:
            params["label"] = str(label)
        return understood(Dependence, self._get("dependence", params))

    def _learn_first(self, outcomes: tuple[str, ...]) -> None:
        """Learn these outcomes, or all, with progress: a request that does so may take too long.

        What is wrong with a name is told by what uses it.
        """
        with suppress(QueryProblem, UnknownName):
            self.fit(outcomes or None)

    @takes(inquiry=anything_of(Inquiry))
    def look_up(self, inquiry: Inquiry) -> Findings:
        """What is known already: past runs, what matters, how well outcomes are predicted."""
        if inquiry.topic in NEEDS_MODEL:
            self._learn_first((outcome_meant(self.space, inquiry.outcome),))
        body = inquiry.model_dump(mode="json", exclude_defaults=True)
        return understood(Findings, self._post("findings", body))

    def columns(self, *, study: Study | None = None, mined: bool = False) -> ColumnsView:
        """What each column of all its runs is taken for, also through another study."""
        said = None if study is None else study.model_dump(mode="json", exclude_defaults=True)
        return understood(ColumnsView, self._post("columns/check", {"study": said, "mine": mined}))

    @takes(questions=arguments.questions, name=text)
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


def _body(question: str | Query | None, options: QueryOptions) -> dict[str, Any]:
    """A question with its options as a request; what is not given is left out."""
    if question is None:
        return options.given()
    asked = question.model_dump(mode="json") if isinstance(question, Query) else question
    return {"question": asked, **options.given()}


def _run(run: Run | None) -> Any:
    """A row number or a configuration as the body of a request has it."""
    if run is None:
        return None
    if isinstance(run, Mapping):
        return {str(name): scalar(value) for name, value in run.items()}
    return int(run)
