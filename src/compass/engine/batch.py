"""Many questions at once: each is answered as if it were the only one, on any executor.

The random numbers of a question come from its own seed, so answers do not depend on which worker
gives them, nor on the other questions.
"""

import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.domain.answer import Answer
from compass.domain.arguments import argument, named
from compass.domain.base import valid
from compass.domain.errors import BadInput
from compass.domain.options import AskOptions
from compass.domain.query import Query
from compass.engine import arguments
from compass.engine.provenance import Clock
from compass.execute import Executor, WorkerLost, opened
from compass.learn.store import Progress

if TYPE_CHECKING:
    from compass.engine.compass import Compass

Asking = str | Query | Mapping[str, Any]
_BATCH = 16  # most questions that travel together
_ROUNDS = 4  # batches per worker: whoever has easy questions gets more of them
_thread = threading.local()  # the engine that this thread of a worker answers with


@dataclass(frozen=True)
class BatchReply:
    """A question with its answer, or with what was wrong with it."""

    question: Asking
    answer: Answer | None = None
    error: Exception | None = None  # a CompassError, unless it is a defect


@dataclass(frozen=True)
class _Bound:
    """A question as it is sent to workers: bound to the columns."""

    query: Query
    curve: tuple[str, ...] = ()


@dataclass(frozen=True)
class _PackedEngine:
    """A saved engine as it is sent to workers: its files."""

    name: str
    files: tuple[tuple[str, bytes], ...]


def ask_all(
    engine: "Compass",
    questions: Iterable[Asking],
    *,
    executor: str | Executor | None,
    progress: Progress | None,
    options: Mapping[str, Any],
) -> tuple[BatchReply, ...]:
    """The replies in the order of the questions; a question that fails does not stop the others."""
    asked = list(questions)
    bound = [_result_or_error(partial(_bound, engine, one, options)) for one in asked]
    good = [place for place, one in enumerate(bound) if isinstance(one, _Bound)]
    results: list[Any] = list(bound)
    tell = _Counter(progress, len(asked), len(asked) - len(good))
    if executor is None:
        for place in good:
            results[place] = _answer(engine, bound[place])
            tell(1)
    elif good:
        for place in good:
            problem = _result_or_error(partial(_learn, engine, bound[place].query))
            results[place] = problem if isinstance(problem, Exception) else bound[place]
        able = [place for place in good if isinstance(results[place], _Bound)]
        tell(len(good) - len(able))
        with opened(executor) as place_to_run:
            _distribute(place_to_run, _packed(engine), able, results, tell)
    replies = tuple(_reply(one, result) for one, result in zip(asked, results, strict=True))
    for place in good:
        answer = replies[place].answer
        if answer is not None:
            engine.remember(bound[place].query, answer)
    return replies


class _Counter:
    """Tells how many questions are done."""

    def __init__(self, progress: Progress | None, total: int, done: int) -> None:
        self.progress, self.total, self.done = progress, total, 0
        self(done)

    def __call__(self, more: int) -> None:
        self.done += more
        if self.progress is not None:
            self.progress("answering", self.done, self.total)


def _result_or_error(call: Any) -> Any:
    """What a call gives, or the problem that it has."""
    try:
        return call()
    except Exception as problem:
        return problem


def _bound(engine: "Compass", one: Asking, options: Mapping[str, Any]) -> _Bound:
    """A question with its options, bound to the columns."""
    own = named("for example {'question': '...', 'run': 7}")
    mine = argument("a question", own, one) if isinstance(one, Mapping) else {"question": one}
    given = arguments.ONE_OF_MANY({**options, **mine})
    question = given.pop("question", None)
    if not isinstance(question, str | Query):
        raise BadInput(
            "a question is missing",
            hint="give texts, queries, or mappings such as {'question': '...', 'run': 7}",
        )
    chosen = valid(AskOptions, given)
    return _Bound(engine._query(question, chosen), chosen.curve)


def _learn(engine: "Compass", query: Query) -> None:
    """Models that no question has needed before are learnt once, not by every worker."""
    engine._bind_task(query, Clock())


def _answer(engine: "Compass", one: _Bound) -> Answer | Exception:
    found: Answer | Exception = _result_or_error(partial(engine._answer, one.query, one.curve))
    return found


def _reply(question: Asking, result: Any) -> BatchReply:
    if isinstance(result, Exception):
        return BatchReply(question, error=result)
    return BatchReply(question, answer=result)


def _distribute(
    executor: Executor,
    packed_engine: _PackedEngine,
    places: Sequence[int],
    results: list[Any],
    tell: _Counter,
) -> None:
    """Puts an answer, or a problem, in the place of each of these questions."""
    size = max(1, min(_BATCH, len(places) // (_ROUNDS * executor.workers)))
    batches = [places[first : first + size] for first in range(0, len(places), size)]
    while batches:
        items = [tuple(results[place] for place in batch) for batch in batches]
        done = set()
        try:
            for number, answers in executor.map(partial(_answers, packed_engine), items):
                done.add(number)
                for place, answer in zip(batches[number], answers, strict=True):
                    results[place] = answer
                tell(len(answers))
            return
        except WorkerLost as lost:
            batches = _after(lost, batches, done, results, tell)


def _after(
    lost: WorkerLost,
    batches: Sequence[Sequence[int]],
    done: set[int],
    results: list[Any],
    tell: _Counter,
) -> list[Sequence[int]]:
    """What is left when a batch has ended its workers: its questions are asked one by one."""
    failed = batches[lost.position]
    left = [batch for n, batch in enumerate(batches) if n not in done and n != lost.position]
    if len(failed) > 1:
        return [*left, *([place] for place in failed)]
    results[failed[0]] = lost
    tell(1)
    return left


def _packed(engine: "Compass") -> _PackedEngine:
    folder = Path(tempfile.mkdtemp(prefix="compass-ask-"))
    try:
        engine.save(folder / "engine")
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        packed = tuple((str(path.relative_to(folder)), path.read_bytes()) for path in files)
        return _PackedEngine(secrets.token_hex(8), packed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answers(packed_engine: _PackedEngine, batch: Sequence[_Bound]) -> list[Answer | Exception]:
    """The answers to a batch, where there is a worker."""
    return [_answer(_loaded(packed_engine), one) for one in batch]


def _loaded(packed_engine: _PackedEngine) -> "Compass":
    """A packed engine, loaded once by each thread of a worker."""
    from compass.engine.store import load

    if getattr(_thread, "name", None) != packed_engine.name:
        folder = Path(tempfile.mkdtemp(prefix="compass-ask-"))
        try:
            for name, data in packed_engine.files:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            _thread.engine = load(folder / "engine")
            _thread.name = packed_engine.name
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    engine: Compass = _thread.engine
    return engine
