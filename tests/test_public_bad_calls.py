"""Every argument of the public face with every kind of value: it works, or says what is wrong.

What is not named as accepted has to raise a `CompassError` with a hint.
"""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.errors import CompassError
from conftest import QUICK, ROLES, cluster_columns

RECOMMEND = "Recommend a configuration X = {gpus: ?} to achieve Y = {runtime: minimize}"
RECONFIGURE = "Reconfigure X = {gpus: ?} to achieve Y = {runtime: reduce by 10%}"
GOALS = {"runtime": cp.minimize}
LESS = {"runtime": cp.less(0.1)}
MOST_CHARACTERS = 1000  # of an error: what was given is not repeated at length


def values() -> dict[str, Any]:
    """What people give by mistake, and some of what they mean; made anew for what is used up."""
    return {
        "None": None,
        "nan": float("nan"),
        "inf": float("inf"),
        "minus one": -1,
        "zero": 0,
        "five": 5,
        "huge": 10**30,
        "half": 0.5,
        "true": True,
        "text": "no such thing",
        "empty text": "",
        "long text": "x" * 100_000,
        "row": "row:3",
        "bad row": "row:x",
        "broken character": "\ud800",
        "null character": "a\0b",
        "bytes": b"gpus",
        "path": Path("no/such/file"),
        "date": datetime.date(2024, 1, 1),
        "complex": 1j,
        "object": object(),
        "class": int,
        "list": [],
        "numbers": [1, 2],
        "nones": [None],
        "nested": [["gpus"]],
        "range": range(3),
        "set": {"gpus"},
        "generator": (name for name in ["gpus"]),
        "dict": {},
        "number as name": {1: 2},
        "list as value": {"gpus": [1]},
        "none as value": {"gpus": None},
        "nan as value": {"gpus": float("nan")},
        "object as value": {"gpus": object()},
        "deep": {"gpus": {"gpus": {"gpus": 1}}},
        "numpy whole": np.int64(3),
        "numpy nan": np.float32("nan"),
        "numpy true": np.bool_(True),
        "numpy text": np.str_("gpus"),
        "numpy array": np.arange(3),
    }


@dataclass(frozen=True)
class Scene:
    """What the calls need."""

    data: cp.Dataset
    engine: cp.Compass
    answer: cp.Answer
    folder: Path
    file: Path


@dataclass(frozen=True)
class Argument:
    """One argument of one public function, and which of the values it accepts."""

    name: str
    call: Callable[[Scene, Any], Any]
    accepted: frozenset[str]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("calls")
    data = cp.read(pa.table(cluster_columns(120))).roles(**ROLES)
    engine = cp.Compass(data, settings=QUICK).fit()
    answer = engine.recommend(ask=["gpus"], goals=GOALS, prove=0)
    file = folder / "runs.csv"
    file.write_text("a,b\n" + "".join(f"{i % 7},{i}\n" for i in range(50)))
    return Scene(data, engine, answer, folder, file)


def arg(name: str, call: Callable[[Scene, Any], Any], *accepted: str | Iterable[str]) -> Argument:
    found = [(one,) if isinstance(one, str) else one for one in accepted]
    return Argument(name, call, frozenset(value for several in found for value in several))


def raising(replies: Iterable[Any]) -> None:
    for reply in replies:
        if reply.error is not None:
            raise reply.error


COUNT = ("five", "numpy whole")
FROM_ZERO = (*COUNT, "zero")
POSITIVE = (*COUNT, "half", "huge")
NUMBER = (*POSITIVE, "zero", "minus one")
ROW = (*FROM_ZERO, "row")
YES_OR_NO = ("true", "numpy true", "zero")
NOTHING = ("None", "list")  # no conditions, no columns, no rules
GPUS = ("set", "generator", "numpy text")  # the column, named in three ways
TRUE = ("true", "numpy true")
NAME = ("text", "empty text", "long text", "row", "bad row", "numpy text", "broken character")
NAME = (*NAME, "null character")


def data_arguments() -> list[Argument]:
    return [
        arg("read source", lambda s, v: cp.read(v)),
        arg("read column", lambda s, v: cp.read({"a": [1, 2], "b": v}), "numbers"),
        arg("read study", lambda s, v: cp.read(s.data.table, study=v), "None", "dict"),
        arg("read steps", lambda s, v: cp.read(s.data.table, steps=v).prepared, NOTHING),
        *(
            arg(role, lambda s, v, role=role: s.data.roles(**{role: v}).prepared, NOTHING, GPUS)
            for role in ("knobs", "context", "outcomes", "ignored")
        ),
        arg("with_study", lambda s, v: s.data.with_study(v).prepared),
        arg("columns mined", lambda s, v: s.data.columns(mined=v), TRUE),
        arg("row", lambda s, v: s.data.row(v), ROW),
        arg("reduced keep", lambda s, v: s.data.reduced(v, "uniform", 7), "half"),
        arg("reduced reducer", lambda s, v: s.data.reduced(0.5, v, 7)),
        arg("reduced seed", lambda s, v: s.data.reduced(0.5, "uniform", v), FROM_ZERO),
        arg("Dataset table", lambda s, v: cp.Dataset(v)),
        arg("Dataset study", lambda s, v: cp.Dataset(s.data.table, v)),
        arg("Dataset steps", lambda s, v: cp.Dataset(s.data.table, steps=v).prepared, NOTHING),
        *reduce_arguments(),
    ]


def reduce_arguments() -> list[Argument]:
    def call(name: str) -> Callable[[Scene, Any], Any]:
        def made(s: Scene, v: Any) -> Any:
            given = {"keep": 0.5, "method": "uniform", name: v}
            return cp.reduce(s.file, s.folder / "sample.parquet", **given)

        return made

    return [
        arg("reduce source", lambda s, v: cp.reduce(v, s.folder / "o.parquet", keep=0.5)),
        arg("reduce output", lambda s, v: cp.reduce(s.file, v, keep=0.5)),
        arg("reduce keep", call("keep"), "half"),
        arg("reduce method", call("method")),
        arg("reduce by", call("by"), NOTHING),
        arg("reduce where", call("where"), NOTHING),
        arg("reduce seed", call("seed"), FROM_ZERO),
        arg("reduce study", call("study"), "None"),
        arg("reduce executor", call("executor"), "None", "empty text"),
        arg("reduce skip_unreadable", call("skip_unreadable"), TRUE),
        arg("reduce settings", call("settings"), "None"),
    ]


def engine_arguments() -> list[Argument]:
    def call(name: str) -> Callable[[Scene, Any], Any]:
        return lambda s, v: cp.Compass(s.data, **{"settings": QUICK, name: v})

    return [
        arg("Compass data", lambda s, v: cp.Compass(v)),
        arg("Compass rules", call("rules"), NOTHING),
        *(
            arg(f"Compass {name}", call(name), "None", NAME)
            for name in ("surrogate", "generator", "reducer", "represent")
        ),
        arg(
            "Compass surrogate fitted",
            lambda s, v: cp.Compass(s.data, surrogate=v, settings=QUICK).fit(),
            "None",
        ),
        arg("Compass seed", call("seed"), FROM_ZERO, "None"),
        arg("Compass keep", call("keep"), "half", "None"),
        arg("Compass tune", call("tune"), POSITIVE, "zero", "None"),
        arg(
            "Compass journal",
            call("journal"),
            "None",
            "text",
            "numpy text",
            "row",
            "bad row",
            "path",
        ),
        arg("Compass settings", call("settings"), "None"),
        arg("Compass models", call("models"), "None", "dict"),
        arg("Compass executor", lambda s, v: call("executor")(s, v).fit(), "None", "empty text"),
        arg("tell rows", lambda s, v: s.engine.tell(v)),
        arg("tell questions", lambda s, v: s.engine.tell(s.data.table.arrow[:0], v)),
        arg("save", lambda s, v: s.engine.save(v), "text", "row", "bad row", "path", "numpy text"),
        arg("load", lambda s, v: cp.load(v)),
    ]


def ask_arguments() -> list[Argument]:
    def option(name: str) -> Callable[[Scene, Any], Any]:
        return lambda s, v: s.engine.ask(RECOMMEND, **{"prove": 0, name: v})

    def batch(**options: Any) -> Callable[[Scene, Any], Any]:
        (name,) = options
        return lambda s, v: raising(s.engine.ask_all([options[name]], **{name: v, "prove": 0}))

    return [
        arg("ask question", lambda s, v: s.engine.ask(v)),
        arg("ask run", option("run"), "None"),
        arg("ask where", option("where"), NOTHING),
        arg("ask count", option("count"), COUNT, "None"),
        arg("ask seed", option("seed"), FROM_ZERO, "None"),
        arg("ask weights", option("weights"), "None", "dict"),
        arg("ask loss", option("loss"), "None", "dict"),
        arg("ask diversity", option("diversity"), FROM_ZERO, "half", "None"),
        arg("ask prove", option("prove"), FROM_ZERO, "half", "None"),
        arg("ask level", option("level"), "half", "None"),
        arg("ask chance", option("chance"), "half", "None"),
        arg("ask beyond", option("beyond"), YES_OR_NO, "None"),
        arg("ask generator", option("generator"), "None"),
        arg("ask curve", option("curve"), NOTHING, GPUS),
        arg(
            "ask curve from a run",
            lambda s, v: s.engine.ask(RECONFIGURE, run=3, prove=0, curve=v),
            NOTHING,
            GPUS,
        ),
        arg("query question", lambda s, v: s.engine.query(v)),
        arg("query run", lambda s, v: s.engine.query(RECONFIGURE, run=v), ROW, "None", "dict"),
        arg("query where", lambda s, v: s.engine.query(RECOMMEND, where=v), NOTHING, GPUS),
        arg("query unknown", lambda s, v: s.engine.query(RECOMMEND, bogus=v)),
        arg("ask_all questions", lambda s, v: raising(s.engine.ask_all(v)), "list"),
        arg("ask_all question", lambda s, v: raising(s.engine.ask_all([v]))),
        arg("ask_all run", batch(run=RECONFIGURE), ROW),
        arg("ask_all where", batch(where=RECOMMEND), NOTHING),
        arg("ask_all count", batch(count=RECOMMEND), COUNT, "None"),
        arg("ask_all weights", batch(weights=RECOMMEND), "None", "dict"),
        arg("ask_all curve", batch(curve=RECONFIGURE + " from row 3"), NOTHING, GPUS),
        arg("ask_all unknown", batch(bogus=RECOMMEND)),
        arg("ask_all executor", batch(executor=RECOMMEND), "None", "empty text"),
        arg("run_next n", lambda s, v: s.engine.run_next(v), COUNT),
        arg("run_next n asked", lambda s, v: s.engine.run_next(v, RECOMMEND), COUNT),
        arg("run_next question", lambda s, v: s.engine.run_next(2, v), "None"),
        arg("run_next run", lambda s, v: s.engine.run_next(2, RECONFIGURE, run=v), ROW),
        arg("run_next run alone", lambda s, v: s.engine.run_next(2, run=v), "None"),
        arg("run_next where", lambda s, v: s.engine.run_next(2, where=v), NOTHING),
        arg("run_next count alone", lambda s, v: s.engine.run_next(2, count=v), "None"),
        arg("run_next unknown", lambda s, v: s.engine.run_next(2, RECOMMEND, bogus=v)),
    ]


def question_arguments() -> list[Argument]:
    def recommend(s: Scene, ask: Any = ("gpus",), goals: Any = GOALS, **given: Any) -> Any:
        return s.engine.recommend(ask, goals, prove=0, **given)

    def reconfigure(s: Scene, run: Any = 3, ask: Any = ("gpus",), **given: Any) -> Any:
        return s.engine.reconfigure(run, ask, **{"goals": LESS, "prove": 0, **given})

    def what_if(s: Scene, run: Any = 3, outcomes: Any = ("runtime",), **given: Any) -> Any:
        return s.engine.what_if(
            run, **{"change": {"gpus": 2}, "prove": 0, **given}, outcomes=outcomes
        )

    return [
        arg("recommend ask", recommend, NOTHING, GPUS),
        arg("recommend goals", lambda s, v: recommend(s, goals=v)),
        arg("recommend goal", lambda s, v: recommend(s, goals={"runtime": v})),
        arg("recommend fixed", lambda s, v: recommend(s, fixed=v), "None", "dict"),
        arg(
            "recommend fixed value",
            lambda s, v: recommend(s, fixed={"nodes": v}),
            FROM_ZERO,
            "minus one",
            "huge",
        ),
        arg("recommend where", lambda s, v: recommend(s, where=v), NOTHING),
        arg("recommend unknown", lambda s, v: recommend(s, bogus=v)),
        arg("reconfigure run", reconfigure, ROW),
        arg(
            "reconfigure value of a run",
            lambda s, v: reconfigure(s, {**s.data.row(3), "nodes": v}),
            NUMBER,
        ),
        arg("reconfigure ask", lambda s, v: reconfigure(s, ask=v), NOTHING, GPUS),
        arg("reconfigure goals", lambda s, v: reconfigure(s, goals=v)),
        arg("reconfigure change", lambda s, v: reconfigure(s, change=v), "None", "dict"),
        arg("reconfigure where", lambda s, v: reconfigure(s, where=v), NOTHING),
        arg("what_if run", what_if, ROW, "None"),
        arg("what_if change", lambda s, v: what_if(s, change=v)),
        arg(
            "what_if value",
            lambda s, v: what_if(s, change={"gpus": v}),
            FROM_ZERO,
            "minus one",
            "huge",
        ),
        arg("what_if outcomes", lambda s, v: what_if(s, outcomes=v), NOTHING, "dict"),
        arg("what_if ask", lambda s, v: what_if(s, ask=v), NOTHING),
        arg("what_if where", lambda s, v: what_if(s, where=v), NOTHING),
        arg("what_if unknown", lambda s, v: what_if(s, bogus=v)),
    ]


def explain_arguments() -> list[Argument]:
    def dependence(s: Scene, outcome: Any = "runtime", column: Any = "gpus", **given: Any) -> Any:
        return s.engine.dependence(outcome, column, **given)

    return [
        arg("curves run", lambda s, v: s.engine.curves(v, ["gpus"], ["runtime"]), ROW),
        arg("curves parameters", lambda s, v: s.engine.curves(3, v, ["runtime"]), GPUS),
        arg("curves outcomes", lambda s, v: s.engine.curves(3, ["gpus"], v), NOTHING),
        arg("explain run", lambda s, v: s.engine.explain(v, ["runtime"]), ROW),
        arg("explain outcomes", lambda s, v: s.engine.explain(3, v), NOTHING),
        arg("explain against", lambda s, v: s.engine.explain(3, against=v), ROW, "None"),
        arg("importance outcome", lambda s, v: s.engine.importance(v)),
        arg("importance repeats", lambda s, v: s.engine.importance("runtime", repeats=v), COUNT),
        arg("dependence outcome", lambda s, v: dependence(s, outcome=v)),
        arg("dependence column", lambda s, v: dependence(s, column=v), "numpy text"),
        arg("dependence points", lambda s, v: dependence(s, points=v), COUNT),
        arg("dependence label", lambda s, v: dependence(s, "state", label=v), "None"),
        arg("dependence lines", lambda s, v: dependence(s, lines=v), FROM_ZERO),
        arg("outcome of a suggestion", lambda s, v: s.answer[0].outcome(v)),
    ]


def file_arguments() -> list[Argument]:
    def connect(name: str) -> Callable[[Scene, Any], Any]:
        # Nobody listens there: what is not refused before ends in an error that says so.
        return lambda s, v: cp.connect("http://127.0.0.1:9", **{name: v})

    return [
        arg("export answer", lambda s, v: cp.export(v, "csv", s.folder / "o.csv")),
        arg("export form", lambda s, v: cp.export(s.answer, v, s.folder / "o.csv")),
        arg(
            "export path",
            lambda s, v: cp.export(s.answer, "csv", v),
            "text",
            "numpy text",
            "row",
            "bad row",
        ),
        arg(
            "export template",
            lambda s, v: cp.export(s.answer, "sbatch", s.folder / "o.sh", v),
            "None",
        ),
        arg("bring path", lambda s, v: cp.bring(v)),
        arg("bring columns", lambda s, v: cp.bring(s.file, columns=v)),
        arg("bring classes", lambda s, v: cp.bring(s.file, classes=v)),
        arg("bring limits", lambda s, v: cp.bring(s.file, limits=v)),
        arg("connect url", lambda s, v: cp.connect(v)),
        *(arg(f"connect {name}", connect(name)) for name in ("token", "workspace")),
        *(arg(f"connect {name}", connect(name)) for name in ("patience", "timeout")),
    ]


def noun_arguments() -> list[Argument]:
    def field(noun: Any, name: str, **needed: Any) -> Callable[[Scene, Any], Any]:
        return lambda s, v: noun(**{**needed, name: v})

    given = {
        "at_most": NUMBER,
        "at_least": NUMBER,
        "times": NUMBER,
        "plus": NUMBER,
        "less": POSITIVE,
        "more": POSITIVE,
        "no_more": (*POSITIVE, "None"),
        "no_less": (*POSITIVE, "None"),
    }
    query = {
        "kind": (),
        "change": ("dict",),
        "goals": ("dict",),
        "where": ("list",),
        "baseline": ("None",),
        "count": (*COUNT, "None"),
        "seed": (*FROM_ZERO, "None"),
        "weights": ("dict",),
        "loss": ("dict",),
        "diversity": (*FROM_ZERO, "half", "None"),
        "level": ("half", "None"),
        "chance": ("half", "None"),
        "beyond": YES_OR_NO,
    }
    settings = {
        "forest": ("dict",),
        "seed": FROM_ZERO,
        "keep": ("half",),
        "prove": (*POSITIVE, "zero"),
        "tune": (*POSITIVE, "zero"),
        "scale": (),
    }
    study = {"columns": ("dict",), "map": ("dict",), "drop": ("list", "set", "generator")}
    return [
        *(arg(n, lambda s, v, n=n: getattr(cp, n)(v), some) for n, some in given.items()),
        arg("within low", lambda s, v: cp.within(v, 5), set(NUMBER) - {"huge"}, "None"),
        arg("within high", lambda s, v: cp.within(5, v), "five", "huge", "None"),
        arg("parse_query", lambda s, v: cp.parse_query(v)),
        arg("format_query", lambda s, v: cp.format_query(v)),
        *(arg(f"Query {n}", field(cp.Query, n, kind="recommend"), s) for n, s in query.items()),
        *(arg(f"Settings {n}", field(cp.Settings, n), some) for n, some in settings.items()),
        *(arg(f"Study {n}", field(cp.Study, n), some) for n, some in study.items()),
        arg("Query positional", lambda s, v: cp.Query(v)),
    ]


ARGUMENTS = [
    *data_arguments(),
    *engine_arguments(),
    *ask_arguments(),
    *question_arguments(),
    *explain_arguments(),
    *file_arguments(),
    *noun_arguments(),
]


def test_the_table_has_many_calls() -> None:
    assert len({argument.name for argument in ARGUMENTS}) == len(ARGUMENTS)
    assert len(ARGUMENTS) * len(values()) > 4000
    for argument in ARGUMENTS:
        assert argument.accepted <= set(values()), argument.name


@pytest.mark.parametrize("argument", ARGUMENTS, ids=lambda argument: argument.name)
def test_a_call_works_or_says_what_is_wrong(
    argument: Argument, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    wrong = []
    for name, value in values().items():
        try:
            argument.call(scene, value)
            if name not in argument.accepted:
                wrong.append(f"{name}: was accepted")
        except CompassError as error:
            if name in argument.accepted:
                wrong.append(f"{name}: {error}")
            elif not error.message or not error.hint or len(str(error)) > MOST_CHARACTERS:
                wrong.append(f"{name}: no hint, or too long: {str(error)[:200]}")
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}"[:300])
    assert not wrong, "\n".join(wrong)
