"""How the tests of the suites say that a broken plug-in is caught."""

from collections.abc import Callable

import pytest

from compass.testing import ConformanceError


def caught(call: Callable[[], None], promise: str) -> ConformanceError:
    """The error of a check that must fail because of this promise, and of no other."""
    with pytest.raises(ConformanceError) as error:
        call()
    assert promise in error.value.promise
    text = str(error.value)
    assert f"'{error.value.name}' breaks a promise: {error.value.promise}" in text
    assert "\nseen: " in text
    assert "\nto see it: " in text
    assert error.value.seen
    assert error.value.look
    return error.value
