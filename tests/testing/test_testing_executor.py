"""The suite of executors tells when one does not keep its promises."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from testing_broken import caught

from compass.domain.errors import BadInput
from compass.execute.threads import Threads
from compass.testing import check_executor


class Loop:
    """A plain loop: the simplest executor that keeps its promises."""

    name = "loop"
    workers = 1

    def __init__(self, text: str = "") -> None:
        if text:
            raise BadInput("a loop has no options")

    def map(self, work: Any, items: Any) -> Iterator[tuple[int, Any]]:
        for position, item in enumerate(items):
            yield position, work(item)

    def close(self) -> None:
        pass


def test_a_loop_passes() -> None:
    check_executor(Loop)
    check_executor(Loop())


class Forgetful(Loop):
    """Loses the last of many items."""

    def map(self, work: Any, items: Any) -> Any:
        return super().map(work, items[:-1] if len(items) > 500 else items)


class Twice(Loop):
    """Does the first item twice."""

    def map(self, work: Any, items: Any) -> Any:
        if items:
            yield 0, work(items[0])
        yield from super().map(work, items)


class Shifted(Loop):
    """Gives a result to the wrong item."""

    def map(self, work: Any, items: Any) -> Any:
        for position, result in super().map(work, items):
            yield len(items) - 1 - position, result


class Clipped(Loop):
    """Cuts large results."""

    def map(self, work: Any, items: Any) -> Any:
        for position, result in super().map(work, items):
            yield position, result[:1000] if isinstance(result, bytes) else result


class Vague(Loop):
    """Says of every error only that there was one."""

    def map(self, work: Any, items: Any) -> Any:
        try:
            yield from super().map(work, items)
        except Exception as error:
            raise RuntimeError("something went wrong") from error


class Hintless(Loop):
    """Loses what an error knows besides its message."""

    def map(self, work: Any, items: Any) -> Any:
        try:
            yield from super().map(work, items)
        except Exception as error:
            raise type(error)(*error.args) from error


class Silent(Loop):
    """Leaves out what fails."""

    def map(self, work: Any, items: Any) -> Any:
        for position, item in enumerate(items):
            try:
                yield position, work(item)
            except Exception:
                continue


class Fragile(Loop):
    """Cannot be used again after an error."""

    broken = False

    def map(self, work: Any, items: Any) -> Any:
        if self.broken:
            raise RuntimeError("broken")
        try:
            yield from super().map(work, items)
        except Exception:
            self.broken = True
            raise


class Eager(Loop):
    """Gives a list, which cannot be closed."""

    def map(self, work: Any, items: Any) -> Any:
        return list(super().map(work, items))


class Nobody(Loop):
    """Has no workers."""

    workers = 0


class Careless(Loop):
    """Takes any text."""

    def __init__(self, text: str = "") -> None:
        pass


@pytest.mark.parametrize(
    ("plugin", "promise"),
    [
        (Forgetful, "every item is done once"),
        (Twice, "every item is done once"),
        (Shifted, "a result is that of the item at its position"),
        (Clipped, "large results arrive whole"),
        (Vague, "an error of the work arrives with its class"),
        (Hintless, "an error of the work arrives with its class"),
        (Silent, "an error of the work arrives with its class"),
        (Fragile, "it can be used after an error"),
        (Eager, "the iterator can be closed early"),
        (Nobody, "it says how many `workers` it has"),
        (Careless, "a text that it cannot use is a BadInput"),
    ],
)
def test_a_broken_promise_is_told(plugin: Any, promise: str) -> None:
    caught(partial(check_executor, plugin), promise)


def test_an_object_is_not_closed() -> None:
    made = Threads("1")
    check_executor(made)
    assert dict(made.map(abs, [-1])) == {0: 1}
    made.close()
