"""The tasks of a working process: each takes plain JSON and returns the bytes of a JSON result.

Paths come from the server, which made them of names that it chose itself; everything else comes
from people and is checked here as if it had been typed.
"""

import json
import os
import resource
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from compass.domain.answer import Pending
from compass.server import experiment_tasks
from compass.server.chat_tasks import ChatHandlers
from compass.server.file_checks import check_shape, check_table
from compass.server.memory import resident
from compass.server.synthesis_tasks import SynthesisHandlers
from compass.server.worker import CONTINUABLE

if TYPE_CHECKING:
    from compass.domain.answer import Answer
    from compass.engine.compass import Compass
    from compass.engine.dataset import Dataset
    from compass.readers.table import Table

Report = Callable[[str, int, int], None]
Given = dict[str, Any]

_WARM = 4  # engines and datasets that stay in memory
_FULL = 0.5  # share of the memory limit beyond which nothing is kept warm
CATALOGUE = "dataset:"  # what stands before the name of a public dataset
_MOST_ROWS = 1_000  # of one page
_LONGEST_CELL = 1_000  # characters of a text that are shown


class TaskHandlers:
    """Handles tasks, and keeps the engines and datasets of the last ones in memory."""

    def __init__(self) -> None:
        self._engines: OrderedDict[str, Compass] = OrderedDict()
        self._current: dict[str, str] = {}  # the generation of each, as far as it was looked at
        self._datasets: OrderedDict[str, Dataset] = OrderedDict()
        # Answers that can be gone on with, each with its engine, which is one of those above.
        self._unfinished: OrderedDict[str, tuple[str, Iterator[Answer]]] = OrderedDict()
        talks = ChatHandlers()
        rows = SynthesisHandlers(self._dataset, self._engine)
        self._tasks: dict[str, Callable[[Given, Report], bytes]] = {
            "read": self.read,
            "columns": self.columns,
            "rules": self.rules,
            "rows": self.rows,
            "advise": self.advise,
            "usage": self.usage,
            "machines": self.machines,
            "machine_forecast": self.machine_forecast,
            "points": self.points,
            "overview": self.overview,
            "bring": self.bring,
            "fit": self.fit,
            "describe": self.describe,
            "learn": self.learn,
            "to_learn": self.to_learn,
            "bind": self.bind,
            "ask": self.ask,
            "continue": self.continue_answer,
            "next": self.next,
            "tell": self.tell,
            "explain": self.explain,
            "importance": self.importance,
            "dependence": self.dependence,
            "curves": self.curves,
            "look_up": self.look_up,
            "plugins": self.plugins,
            "begin": talks.begin,
            "say": talks.say,
            "edit": talks.edit,
            **rows.tasks,
            **{f"experiment_{name}": task for name, task in experiment_tasks.TASKS.items()},
        }

    def do(self, task: str, given: Given, report: Report) -> bytes:
        """Do one task."""
        return self._tasks[task](given, report)

    def tidy(self) -> None:
        """Keep little in memory when it is nearly full."""
        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        if limit != resource.RLIM_INFINITY and resident(os.getpid()) > _FULL * limit:
            self.forget()

    def forget(self) -> None:
        """Keep nothing in memory."""
        self._engines.clear()
        self._datasets.clear()
        self._unfinished.clear()

    # Data

    def read(self, given: Given, _: Report) -> bytes:
        """Read a dataset for the first time: whether it can be used, and how large it is."""
        limits = given["limits"]
        check_shape(Path(given["path"]), limits)
        data = self._dataset(given)
        check_table(data.table.rows, len(data.table.names), limits)
        prepared = data.prepared
        found = {
            "rows": data.table.rows,
            "columns": len(data.table.names),
            "fingerprint": data.table.fingerprint,
            "used": prepared.report.rows_out,
        }
        return json.dumps(found).encode()

    def columns(self, given: Given, _: Report) -> bytes:
        """What each column is taken for."""
        from compass.engine.columns import columns_of
        from compass.prepare.study_file import study_of

        if "engine" in given:
            data = self._engine(given["engine"]).data
            data = data.with_study(study_of(given["study"]))
        else:
            data = self._dataset(given)
        return _written(columns_of(data, mined=bool(given.get("mine"))))

    def rules(self, given: Given, _: Report) -> bytes:
        """The rules of a dataset, and how many rows break each."""
        from compass.domain.api import RulesView
        from compass.engine.columns import rules_of
        from compass.rules.mine import mine

        data = self._dataset(given)
        mined = mine(data.prepared.values, data.prepared.space) if given.get("mine") else None
        rules = rules_of(data, given.get("rules", ()))
        return _written(RulesView(rules=rules, dependencies=mined))

    def advise(self, given: Given, _: Report) -> bytes:
        """What the next jobs should ask Slurm for."""
        from compass.domain.advice import JobRequest
        from compass.schedule.advice.advisor import Advisor
        from compass.schedule.advice.jobs import jobs_of_table
        from compass.schedule.advice.pasted import advice_on

        asked = given["asked"]
        advisor = Advisor(jobs_of_table(self._dataset(given).table.arrow), asked["risk"])
        if asked["job"] is not None:
            found = [advisor.of_job(asked["job"])]
        elif asked["request"] is not None:
            found = [advisor.of_request(JobRequest.model_validate(asked["request"]))]
        elif asked["pasted"] is not None:
            found = advice_on(advisor, asked["pasted"], asked["user"])
        else:
            found = advisor.of_last(asked["last"], asked["user"])
        return json.dumps({"advice": [one.model_dump(mode="json") for one in found]}).encode()

    def usage(self, given: Given, _: Report) -> bytes:
        """What jobs asked for against what they used."""
        from compass.schedule.advice.jobs import jobs_of_table
        from compass.schedule.usage import usage

        return _written(usage(jobs_of_table(self._dataset(given).table.arrow)))

    def machines(self, given: Given, _: Report) -> bytes:
        """What a dataset tells of runs on several machines."""
        from compass.engine.machine_order import machines_view

        return _written(machines_view(self._dataset(given)))

    def machine_forecast(self, given: Given, report: Report) -> bytes:
        """What an application does on every machine, and in which order."""
        from compass.engine.machine_order import ForecastOptions, machine_forecast

        asked = dict(given["asked"])
        application, source = asked.pop("application"), asked.pop("source")
        options = ForecastOptions(**asked | {"machines": tuple(asked["machines"])})
        data = self._dataset(given)
        return _written(machine_forecast(data, application, source, options, report))

    def rows(self, given: Given, _: Report) -> bytes:
        """Some rows of a dataset or of an engine's data, as they were given."""
        import pyarrow as pa

        from compass.domain.api import Page
        from compass.engine.find_rows import find_rows

        data = self._engine(given["engine"]).data if "engine" in given else self._dataset(given)
        table, found = data.table, None
        if "numbers" in given:
            for number in given["numbers"]:
                table.check_row(number)
            numbers = given["numbers"]
            first = numbers[0] if numbers else 0
        else:
            count = min(given["count"], _MOST_ROWS)
            wanted = {
                key: given[key] for key in ("where", "text", "sort", "down") if given.get(key)
            }
            if wanted:
                matching = find_rows(data.prepared, **wanted)
                found = len(matching)
                first = min(given["first"], found)
                numbers = matching[first : first + count].tolist()
            else:
                first = min(given["first"], table.rows)
                numbers = list(range(first, min(first + count, table.rows)))
        picked = table.arrow.take(pa.array(numbers, pa.int64()))
        cells = [[_cell(value) for value in column.to_pylist()] for column in picked.columns]
        rows = tuple(zip(*cells, strict=True)) if cells else ()
        page = Page(
            names=tuple(table.names),
            first=first,
            total=table.rows,
            found=table.rows if found is None else found,
            numbers=tuple(numbers),
            rows=rows,
        )
        return _written(page)

    def points(self, given: Given, _: Report) -> bytes:
        """Some columns of the runs that an engine uses; of too many runs a sample."""
        import numpy as np

        from compass.domain.api import Points
        from compass.domain.errors import unknown
        from compass.prepare.encode import decode_value

        prepared = self._engine(given["engine"]).data.prepared
        names, picked = list(prepared.space.names), prepared.citable(np.arange(prepared.rows))
        total = len(picked)
        if total > given["count"]:
            # At random, as every n-th row of a table that was swept would leave out whole settings.
            chosen = np.random.default_rng(0).choice(total, given["count"], replace=False)
            picked = picked[np.sort(chosen)]
        columns = []
        for name in given["columns"]:
            if name not in names:
                raise unknown("column", name, names)
            place = names.index(name)
            found, where = np.unique(prepared.values[picked, place], return_inverse=True)
            parameter = prepared.space.parameters[place]
            shown = [
                None if np.isnan(v) else _cell(decode_value(parameter, float(v))) for v in found
            ]
            columns.append(tuple(shown[at] for at in where))
        rows = tuple(prepared.row_id[picked].tolist())
        points = Points(names=given["columns"], total=total, rows=rows, columns=tuple(columns))
        return _written(points)

    def overview(self, given: Given, _: Report) -> bytes:
        """What the runs of an engine tell by themselves."""
        return _written(self._engine(given["engine"]).overview())

    def bring(self, given: Given, _: Report) -> bytes:
        """Whether a model that somebody brought can be used."""
        opened = _brought(given).opened
        described = {"format": opened.content.kind, "columns": list(opened.inputs.names or ())}
        return json.dumps(described).encode()

    # Engines

    def fit(self, given: Given, report: Report) -> bytes:
        """Lay out the runs of a dataset and save the engine; outcomes are learnt later."""
        from compass.engine.compass import Compass

        options = dict(given["options"])
        models = {name: _brought(one) for name, one in given.get("models", {}).items()}
        engine = Compass(self._dataset(given), progress=report, models=models, **options).fit([])
        engine.save(Path(given["output"]))
        return self._described(engine)

    def describe(self, given: Given, _: Report) -> bytes:
        """The description of a saved engine."""
        return self._described(self._engine(given["engine"]))

    def learn(self, given: Given, report: Report) -> bytes:
        """Learn an outcome and add it to the saved engine; the cards of all that it has learnt."""
        from compass.engine.store import add

        engine = self._engine(given["engine"])
        engine.store.progress = report
        if given["outcome"] not in engine.learnt:
            engine.fit([given["outcome"]])
            add(engine, Path(given["engine"]))
        return json.dumps([card.model_dump(mode="json") for card in engine.cards]).encode()

    def to_learn(self, given: Given, _: Report) -> bytes:
        """The outcomes that a question needs and that are learnt from the usual columns."""
        from compass.domain.space import Role
        from compass.engine.scope import features_of

        engine = self._engine(given["engine"])
        question, options = _question(given["question"])
        if question is None:  # runs that teach the models most: all of them
            return json.dumps(engine.space.having(Role.OUTCOME)).encode()
        options.pop("curve", None)
        query = engine.query(question, **options)
        usual = features_of(query, engine.space) == engine.features
        return json.dumps(engine.to_learn(query) if usual else []).encode()

    def bind(self, given: Given, _: Report) -> bytes:
        """A question as Compass understands it."""
        from compass.domain.api import QueryView
        from compass.language import format_query

        engine = self._engine(given["engine"])
        question, options = _question(given["question"])
        options.pop("curve", None)
        query = engine.query(question, **options)
        view = QueryView(query=query, text=format_query(query), to_learn=engine.to_learn(query))
        return _written(view)

    def ask(self, given: Given, report: Report) -> bytes:
        """Answer a question; a proof and the runs to make next are left for later."""
        return self._step(given, report, self._stream(given), len(Pending) + 1)

    def continue_answer(self, given: Given, report: Report) -> bytes:
        """The answer with more of what was pending: its proof, then the runs to make next.

        Where another process has begun it, or this one has forgotten it, it is worked out again.
        """
        known = self._unfinished.pop(given["answer"], None)
        steps = self._stream(given) if known is None else known[1]
        return self._step(given, report, steps, len(given["pending"]))

    def _stream(self, given: Given) -> "Iterator[Answer]":
        question, options = _question(given["question"])
        return self._engine(given["engine"]).stream(question, **options)

    def _step(self, given: Given, report: Report, steps: "Iterator[Answer]", pending: int) -> bytes:
        """The next answer of which less is pending than this."""
        engine = self._engine(given["engine"])
        engine.store.progress = report
        answer = next(one for one in steps if len(one.pending) < pending)
        engine.asked.clear()  # a server remembers answers itself
        if answer.pending:
            self._unfinished[given["answer"]] = given["engine"], steps
            while len(self._unfinished) > CONTINUABLE:
                self._unfinished.popitem(last=False)
        return _written(answer)

    def next(self, given: Given, report: Report) -> bytes:
        """Which runs would help most."""
        from compass.exporters.run_file import to_fill_in

        engine = self._engine(given["engine"])
        engine.store.progress = report
        question, options = _question(given["question"])
        options.pop("prove", None)
        pending = given.get("pending", ())
        found = engine.run_next(given["count"], question, pending=pending, **options)
        return json.dumps(
            {
                "run_next": [proposal.model_dump(mode="json") for proposal in found],
                "units": engine.space.units,
                "csv": to_fill_in(engine.space, engine.data.study, found),
            }
        ).encode()

    def tell(self, given: Given, report: Report) -> bytes:
        """Take new runs into a copy of an engine."""
        from compass.engine.store import load

        check_shape(Path(given["path"]), given["limits"])
        engine = load(given["engine"])  # its own: the warm one must stay as it is
        engine.store.progress = report
        changes = engine.tell(_called(given), given.get("questions") or ())
        engine.save(Path(given["output"]))
        described = json.loads(self._described(engine))
        return json.dumps({"report": changes.model_dump(mode="json"), "engine": described}).encode()

    def explain(self, given: Given, _: Report) -> bytes:
        """Why the model predicts what it predicts."""
        from compass.domain.answer import Suggestion
        from compass.domain.base import valid

        engine = self._engine(given["engine"])
        run: Any = given["run"]
        if "suggestion" in given:
            run = valid(Suggestion, given["suggestion"])
        found = engine.explain(
            run, tuple(given.get("outcomes") or ()), against=given.get("against")
        )
        return json.dumps([one.model_dump(mode="json") for one in found]).encode()

    def importance(self, given: Given, _: Report) -> bytes:
        """Which columns a model relies on."""
        engine = self._engine(given["engine"])
        return _written(engine.importance(given["outcome"], repeats=given["repeats"]))

    def dependence(self, given: Given, _: Report) -> bytes:
        """How a prediction answers to a column."""
        engine = self._engine(given["engine"])
        options = {name: given[name] for name in ("points", "label", "lines")}
        return _written(engine.dependence(given["outcome"], given["column"], **options))

    def curves(self, given: Given, _: Report) -> bytes:
        """How outcomes answer to single parameters around a run or a configuration."""
        engine = self._engine(given["engine"])
        found = engine.curves(given["run"], given["parameters"], given["outcomes"])
        return json.dumps([one.model_dump(mode="json") for one in found]).encode()

    def look_up(self, given: Given, report: Report) -> bytes:
        """What is known already, for an inquiry."""
        from compass.chat.draft import Inquiry
        from compass.chat.look_up import look_up
        from compass.domain.base import valid

        engine = self._engine(given["engine"])
        engine.store.progress = report
        return _written(look_up(engine, valid(Inquiry, given["inquiry"])))

    def plugins(self, _: Given, __: Report) -> bytes:
        """Everything that can be chosen by name."""
        from compass import registry

        return json.dumps(
            [{"joint": p.joint, "name": p.name, "what": p.summary} for p in registry.listing()]
        ).encode()

    # What is kept warm

    def _engine(self, path: str) -> "Compass":
        from compass.engine.saved import generation_of, is_engine
        from compass.engine.store import load, refresh

        place = Path(path)
        current = generation_of(place).name if is_engine(place) else ""
        if path not in self._engines:
            self._engines[path] = load(path)
        elif self._current[path] != current:  # others have learnt more of it
            refresh(self._engines[path], place)
        self._current[path] = current
        engine: Compass = _newest(self._engines, path)
        self._current = {one: self._current[one] for one in self._engines}
        # What can be gone on with holds its engine: with the one, the other is forgotten.
        for answer, (used, _) in list(self._unfinished.items()):
            if used not in self._engines:
                del self._unfinished[answer]
        return engine

    def _dataset(self, given: Given) -> "Dataset":
        from compass.engine.dataset import Dataset, read
        from compass.prepare.study import merge
        from compass.prepare.study_file import study_of

        source, study = given["path"], study_of(given.get("study") or {})
        key = _version(source)
        if key not in self._datasets:
            public = source.startswith(CATALOGUE)
            self._datasets[key] = read(source if public else _called(given))
        data: Dataset = _newest(self._datasets, key)
        # What the catalogue knows about the columns stays, unless the person says otherwise.
        whole = merge(data.study, study)
        return data if data.study == whole else data.with_study(whole)

    def _described(self, engine: "Compass") -> bytes:
        rules = [
            {"text": text, "broken_by": count, "source": source}
            for (text, count), source in zip(
                engine.broken_by().items(), (r.source.value for r in engine.rules), strict=False
            )
        ]
        described = {
            "rows": engine.data.table.rows,
            "fingerprint": engine.data.table.fingerprint,
            "study": engine.data.study.model_dump(mode="json"),
            "rules": rules,
            "models": [card.model_dump(mode="json") for card in engine.cards],
            "sample": engine.data.prepared.sample,
            "notes": list(engine.data.prepared.report.notes),
            "space": engine.space.model_dump(mode="json"),
        }
        return json.dumps(described).encode()


def _newest(kept: "OrderedDict[str, Any]", key: str) -> Any:
    kept.move_to_end(key)
    while len(kept) > _WARM:
        kept.popitem(last=False)
    return kept[key]


def _called(given: Given) -> "Table":
    """Rows of a file or folder by the name that people gave it, not by where the server has it."""
    from compass.readers import read

    path = Path(given["path"])
    table = read(path)
    parts = []
    for part in table.parts:
        below = "" if part.file is None else os.path.relpath(part.file, path)
        file = given["called"] if below in {"", "."} else f"{given['called']}/{below}"
        parts.append(replace(part, file=file))
    return replace(table, parts=tuple(parts))


def _version(source: str) -> str:
    """A source by its name and, where it is a file that may change, its time."""
    try:
        return f"{source}?{Path(source).stat().st_mtime_ns}"
    except OSError:
        return source


def _question(asked: Given) -> tuple[Any, dict[str, Any]]:
    """A question and its options, as `Compass.ask` takes them."""
    from compass.domain.base import valid
    from compass.domain.options import AskOptions
    from compass.domain.query import Query

    question = asked.get("question")
    if isinstance(question, dict):
        question = valid(Query, question)
    options = {name: value for name, value in asked.items() if name != "question"}
    return question, valid(AskOptions, options).given()


def _brought(given: Given) -> Any:
    from compass.model.files import bring_bytes

    return bring_bytes(
        Path(given["path"]).read_bytes(), name=given["name"], columns=given.get("columns")
    )


def _cell(value: Any) -> Any:
    if isinstance(value, bool | int | float) or value is None:
        return value
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"


def _written(noun: BaseModel) -> bytes:
    return noun.model_dump_json().encode()
