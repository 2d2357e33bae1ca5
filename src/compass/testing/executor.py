"""What a place to run work promises: every item once, results as in a loop, and its errors."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from compass.domain.errors import BadInput, QuerySyntax
from compass.testing.base import Witness, witness

_MANY = 1000
_BIG = 3_000_000  # bytes of one result
_HINT = "choose another item"


def squared(item: int) -> tuple[int, int]:
    """Easy work: the item and its square."""
    return item, item * item


def bulky(item: int) -> bytes:
    """A result that does not fit into the buffer of a pipe."""
    return bytes([item % 251]) * _BIG


def refusing(item: int) -> int:
    """Work that Compass refuses for one item."""
    if item == 7:
        raise QuerySyntax("seven is refused", hint=_HINT, text="a seven", column=2)
    return item


def failing(item: int) -> float:
    """Work that fails for one item as any code may fail."""
    return 1 / (item - 7)


def check_executor(
    executor: Any, *, name: str | None = None, text: str = "", many: int = _MANY
) -> None:
    """Raise ConformanceError unless the executor keeps its promises.

    A class is made with `text` and closed; an object is used as it is, and stays open. `many` is
    how many tiny items it gets.
    """
    found = witness("executor", executor, name)
    with _ready(found, executor, text) as opened:
        found.at("executor.workers").expect(
            isinstance(opened.workers, int) and opened.workers >= 1,
            "it says how many `workers` it has",
            f"executor.workers is {opened.workers!r}",
        )
        _same_as_a_loop(found, opened, many)
        _big_results(found, opened)
        _errors(found, opened)
        _early_end(found, opened)


@contextmanager
def _ready(found: Witness, executor: Any, text: str) -> Iterator[Any]:
    if not inspect.isclass(executor):
        yield executor
        return
    make: Any = executor
    with found.at(f"plugin({text!r})").calling("it is made with the text after its name"):
        opened: Any = make(text)
    try:
        try:
            make("\t no such text \t")
        except BadInput:
            pass
        else:
            at = found.at(r"plugin('\t no such text \t')")
            raise at.broken("a text that it cannot use is a BadInput", "it was made")
        yield opened
    finally:
        opened.close()


def _same_as_a_loop(found: Witness, opened: Any, many: int) -> None:
    for count in (0, 1, many):
        at = found.at(f"sorted(executor.map(squared, range({count})))")
        with at.calling("it does easy work"):
            came = list(opened.map(squared, range(count)))
        positions = [position for position, _ in came]
        at.expect(
            sorted(positions) == list(range(count)),
            "every item is done once",
            f"{len(positions)} positions, {len(set(positions))} of them distinct, for {count}",
        )
        wrong = [(p, r) for p, r in came if r != squared(p)]
        at.expect(
            not wrong,
            "a result is that of the item at its position",
            f"{wrong[:1]} and {max(len(wrong) - 1, 0)} more",
        )


def _big_results(found: Witness, opened: Any) -> None:
    at = found.at("list(executor.map(bulky, range(6)))")
    with at.calling("results may be large"):
        wrong = [
            position for position, got in opened.map(bulky, range(6)) if got != bulky(position)
        ]
    at.expect(not wrong, "large results arrive whole", f"not those of {wrong}")


def _errors(found: Witness, opened: Any) -> None:
    look = "list(executor.map(refusing, range(20)))"
    seen = _raised(opened, refusing)
    found.at(look).expect(
        type(seen) is QuerySyntax
        and (seen.message, seen.hint, seen.column) == ("seven is refused", _HINT, 2),
        "an error of the work arrives with its class, message, hint and what else it knows",
        repr(seen),
    )
    _usable(found, opened, "after an error")
    seen = _raised(opened, failing)
    found.at(look.replace("refusing", "failing")).expect(
        type(seen) is ZeroDivisionError and str(seen) == "division by zero",
        "any exception of the work arrives as it is",
        repr(seen),
    )


def _raised(opened: Any, work: Any) -> Any:
    try:
        list(opened.map(work, range(20)))
    except Exception as error:
        return error
    return None


def _early_end(found: Witness, opened: Any) -> None:
    at = found.at("iterator = executor.map(squared, range(100)); next(iterator); iterator.close()")
    with at.calling("the iterator can be closed early"):
        iterator = opened.map(squared, range(100))
        next(iterator)
        iterator.close()
    _usable(found, opened, "after an iterator was closed early")


def _usable(found: Witness, opened: Any, when: str) -> None:
    at = found.at("sorted(executor.map(squared, range(9)))")
    with at.calling(f"it can be used {when}"):
        came = sorted(opened.map(squared, range(9)))
    at.expect(came == [(n, squared(n)) for n in range(9)], f"it can be used {when}", repr(came))
