"""What a working process can do. Each task takes plain JSON and gives the bytes of a JSON answer.

Paths come from the server, which made them of names that it chose itself; everything else comes
from people and is checked here as if it had been typed.
"""

import json
import resource
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from compass.server.guard import check_shape, check_table

if TYPE_CHECKING:
    from compass.engine.compass import Compass
    from compass.engine.dataset import Dataset

Report = Callable[[str, int, int], None]
Given = dict[str, Any]

_WARM = 4  # engines and datasets that stay in memory
_FULL = 0.5  # share of the memory limit beyond which nothing is kept warm
_MOST_ROWS = 1_000  # of one page


class Desk:
    """Does tasks, and keeps the engines and datasets of the last ones in memory."""

    def __init__(self) -> None:
        self._engines: OrderedDict[str, Compass] = OrderedDict()
        self._datasets: OrderedDict[str, Dataset] = OrderedDict()
        self._tasks: dict[str, Callable[[Given, Report], bytes]] = {
            "read": self.read,
            "columns": self.columns,
            "rules": self.rules,
            "rows": self.rows,
            "bring": self.bring,
            "fit": self.fit,
            "describe": self.describe,
            "bind": self.bind,
            "ask": self.ask,
            "next": self.next,
            "tell": self.tell,
            "explain": self.explain,
            "importance": self.importance,
            "dependence": self.dependence,
            "curves": self.curves,
        }

    def do(self, task: str, given: Given, report: Report) -> bytes:
        """Do one task."""
        return self._tasks[task](given, report)

    def tidy(self) -> None:
        """Keep little in memory when it is nearly full."""
        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        if limit != resource.RLIM_INFINITY and resident() > _FULL * limit:
            self.forget()

    def forget(self) -> None:
        """Keep nothing in memory."""
        self._engines.clear()
        self._datasets.clear()

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
        from compass.engine.court import comparable_runs
        from compass.server.nouns import ColumnsView

        data = self._dataset(given)
        prepared = data.prepared
        return _written(
            ColumnsView(
                columns=prepared.columns,
                sample=prepared.sample,
                cleaning=prepared.report,
                notes=prepared.report.notes,
                comparable=comparable_runs(prepared),
                rules=_rules(data, given.get("rules", ())),
                study=data.study,
            )
        )

    def rules(self, given: Given, _: Report) -> bytes:
        """The rules of a dataset, and how many rows break each."""
        from compass.rules.mine import mine
        from compass.server.nouns import MinedView, RulesView

        data = self._dataset(given)
        mined = None
        if given.get("mine"):
            found = mine(data.prepared.values, data.prepared.space)
            mined = tuple(MinedView(text=m.text, kind=m.kind, why=m.why) for m in found)
        return _written(RulesView(rules=_rules(data, given.get("rules", ())), dependencies=mined))

    def rows(self, given: Given, _: Report) -> bytes:
        """Some rows of a dataset or of an engine's data, as they were given."""
        from compass.server.nouns import Page

        table = (
            self._engine(given["engine"]).data if "engine" in given else self._dataset(given)
        ).table
        if "numbers" in given:
            for number in given["numbers"]:
                table.check_row(number)
            picked = table.arrow.take(given["numbers"])
            first = given["numbers"][0] if given["numbers"] else 0
        else:
            first = min(given["first"], table.rows)
            picked = table.arrow.slice(first, min(given["count"], _MOST_ROWS))
        cells = [[_cell(value) for value in column.to_pylist()] for column in picked.columns]
        rows = tuple(zip(*cells, strict=True)) if cells else ()
        return _written(Page(names=tuple(table.names), first=first, total=table.rows, rows=rows))

    def bring(self, given: Given, _: Report) -> bytes:
        """Whether a model that somebody brought can be used."""
        opened = _brought(given).opened
        told = {"format": opened.content.kind, "columns": list(opened.inputs.names or ())}
        return json.dumps(told).encode()

    # Engines

    def fit(self, given: Given, report: Report) -> bytes:
        """Learn from a dataset and save the engine."""
        from compass.engine.compass import Compass

        options = dict(given["options"])
        models = {name: _brought(one) for name, one in given.get("models", {}).items()}
        engine = Compass(self._dataset(given), progress=report, models=models, **options).fit()
        engine.save(Path(given["output"]))
        return self._described(engine)

    def describe(self, given: Given, _: Report) -> bytes:
        """What an engine is."""
        return self._described(self._engine(given["engine"]))

    def bind(self, given: Given, _: Report) -> bytes:
        """A question as Compass understands it."""
        from compass.language import format_query
        from compass.server.nouns import QueryView

        engine = self._engine(given["engine"])
        question, run, where, options = _question(given["question"])
        query = engine.query(question, run=run, where=where, **options)
        return _written(QueryView(query=query, text=format_query(query)))

    def ask(self, given: Given, report: Report) -> bytes:
        """Answer a question."""
        engine = self._engine(given["engine"])
        engine.bench.progress = report
        asked = given["question"]
        question, run, where, options = _question(asked)
        answer = engine.ask(
            question, run=run, where=where, curve=tuple(asked.get("curve") or ()), **options
        )
        engine.asked.clear()  # a server remembers answers itself
        return _written(answer)

    def next(self, given: Given, report: Report) -> bytes:
        """Which runs would help most."""
        from compass.engine.next_file import to_fill_in

        engine = self._engine(given["engine"])
        engine.bench.progress = report
        asked = given["question"]
        question, run, where, options = _question(asked)
        options.pop("prove", None)
        found = engine.run_next(given["count"], question, run=run, where=where, **options)
        return json.dumps(
            {
                "run_next": [proposal.model_dump(mode="json") for proposal in found],
                "csv": to_fill_in(engine, found),
            }
        ).encode()

    def tell(self, given: Given, report: Report) -> bytes:
        """Take new runs into a copy of an engine."""
        from compass.engine.store import load

        check_shape(Path(given["path"]), given["limits"])
        engine = load(given["engine"])  # its own: the warm one must stay as it is
        engine.bench.progress = report
        told = engine.tell(Path(given["path"]), given.get("questions") or ())
        engine.save(Path(given["output"]))
        described = json.loads(self._described(engine))
        return json.dumps({"told": told.model_dump(mode="json"), "engine": described}).encode()

    def explain(self, given: Given, _: Report) -> bytes:
        """Why the model predicts what it predicts."""
        from compass.domain.answer import Suggestion

        engine = self._engine(given["engine"])
        run: Any = given["run"]
        if "suggestion" in given:
            run = Suggestion.model_validate(given["suggestion"])
        found = engine.explain(
            run, tuple(given.get("outcomes") or ()), against=given.get("against")
        )
        return json.dumps([one.model_dump(mode="json") for one in found]).encode()

    def importance(self, given: Given, _: Report) -> bytes:
        """Which columns a model relies on."""
        return _written(self._engine(given["engine"]).importance(given["outcome"]))

    def dependence(self, given: Given, _: Report) -> bytes:
        """How a prediction answers to a column."""
        engine = self._engine(given["engine"])
        return _written(
            engine.dependence(given["outcome"], given["column"], points=given.get("points", 20))
        )

    def curves(self, given: Given, _: Report) -> bytes:
        """How outcomes answer to single parameters around a run or a configuration."""
        engine = self._engine(given["engine"])
        found = engine.curves(given["run"], given["parameters"], given["outcomes"])
        return json.dumps([one.model_dump(mode="json") for one in found]).encode()

    # What is kept warm

    def _engine(self, path: str) -> "Compass":
        from compass.engine.store import load

        if path not in self._engines:
            self._engines[path] = load(path)
        engine: Compass = _newest(self._engines, path)
        return engine

    def _dataset(self, given: Given) -> "Dataset":
        from compass.engine.dataset import Dataset, read
        from compass.prepare.study_file import study_of

        source, study = given["path"], study_of(given.get("study") or {})
        if source not in self._datasets:
            self._datasets[source] = read(Path(source))
        data: Dataset = _newest(self._datasets, source)
        return data if data.study == study else data.with_study(study)

    def _described(self, engine: "Compass") -> bytes:
        rules = [
            {"text": text, "broken_by": count, "source": source}
            for (text, count), source in zip(
                engine.broken_by().items(), (r.source.value for r in engine.rules), strict=False
            )
        ]
        told = {
            "rows": engine.data.table.rows,
            "fingerprint": engine.data.table.fingerprint,
            "study": engine.data.study.model_dump(mode="json"),
            "rules": rules,
            "models": [card.model_dump(mode="json") for card in engine.cards],
            "notes": list(engine.data.prepared.report.notes),
            "space": engine.space.model_dump(mode="json"),
        }
        return json.dumps(told).encode()


def _newest(kept: "OrderedDict[str, Any]", key: str) -> Any:
    kept.move_to_end(key)
    while len(kept) > _WARM:
        kept.popitem(last=False)
    return kept[key]


def resident() -> int:
    """Bytes of memory that this process holds."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def _question(asked: Given) -> tuple[Any, Any, tuple[str, ...], Given]:
    """A question, where it starts, its rules, and its options, as `Compass.ask` takes them."""
    from compass.domain.query import Query
    from compass.engine.spoken import valid

    question = asked.get("question")
    if isinstance(question, dict):
        question = valid(Query, question)
    names = ("count", "seed", "weights", "diversity", "prove", "level")
    options = {name: asked[name] for name in names if asked.get(name) is not None}
    return question, asked.get("run"), tuple(asked.get("where") or ()), options


def _rules(data: "Dataset", more: Any) -> tuple[Any, ...]:
    from compass.engine.standing import broken_by, standing
    from compass.server.nouns import RuleView

    rules = standing(data, tuple(more))
    counts = broken_by(data.prepared, rules)
    return tuple(
        RuleView(text=rule.text, broken_by=counts[rule.text], source=rule.source.value)
        for rule in rules
        if rule.text in counts
    )


def _brought(given: Given) -> Any:
    from compass.model.brought import bring_bytes

    return bring_bytes(
        Path(given["path"]).read_bytes(), name=given["name"], columns=given.get("columns")
    )


def _cell(value: Any) -> Any:
    if isinstance(value, bool | int | str) or value is None:
        return value
    return value if isinstance(value, float) else str(value)


def _written(noun: BaseModel) -> bytes:
    return noun.model_dump_json().encode()
