"""Registered rules keep their promises, and the suite tells when one does not."""

from typing import Any

import numpy as np
import pytest
from testing_broken import caught

from compass import registry
from compass.rules.functions import BUILT_IN
from compass.testing import check, check_rule


def test_built_ins_keep_their_promises() -> None:
    for name in registry.everything("rule"):
        check("rule", name)


@pytest.mark.parametrize("name", [n for n in BUILT_IN if n not in ("min", "max")])
def test_the_functions_of_the_language_would_pass(name: str) -> None:
    function = BUILT_IN[name]
    samples = {key: [0.5, 1, 2, 3.75] for key in "xy"[: function.least]}

    def call(x: Any, y: Any = None) -> Any:
        """A function of the language."""
        return function.compute(x) if function.least == 1 else function.compute(x, y)

    def call_two(x: Any, y: Any) -> Any:
        """A function of the language."""
        return function.compute(x, y)

    check_rule(call if function.least == 1 else call_two, name=name, samples=samples)


def test_labels_arrive_as_labels() -> None:
    def gpu_needs_gpus(partition: Any, gpus: Any) -> Any:
        """A GPU partition needs a GPU."""
        return (partition != "gpu") | (gpus >= 1)

    check_rule(gpu_needs_gpus, samples={"partition": ["cpu", "gpu", None], "gpus": [0, 1, 4]})


def test_a_registered_rule_by_its_name() -> None:
    @registry.add("rule", "even")
    def even(n: Any) -> Any:
        """A number is even."""
        return n % 2 == 0

    try:
        check("rule", "even")
    finally:
        registry.remove("rule", "even")


def written_as_for_one_row(nodes: Any) -> Any:
    """Fits."""
    return 1 if nodes > 4 else 0


def a_single_answer(nodes: Any) -> Any:
    """Fits."""
    return bool((nodes < 100).all())


def by_the_batch(nodes: Any) -> Any:
    """Fits."""
    return nodes - nodes.mean()


def words(nodes: Any) -> Any:
    """Fits."""
    return np.where(nodes > 4, "yes", "no")


def not_a_number(nodes: Any) -> Any:
    """Fits."""
    return np.log2(nodes - 32.5)


def changing(nodes: Any) -> Any:
    """Fits."""
    nodes *= 2
    return nodes < 64


def random(nodes: Any) -> Any:
    """Fits."""
    return np.random.default_rng().random(len(nodes))


def no_rows(nodes: Any) -> Any:
    """Fits."""
    return nodes <= nodes.max()


def no_none(nodes: Any) -> Any:
    """Fits."""
    return np.array([int(n) for n in nodes]) < 4


def dropping(nodes: Any) -> Any:
    """Fits."""
    return nodes[~np.isnan(nodes)] < 4


def no_single_row(nodes: Any) -> Any:
    """Fits."""
    return np.array([nodes[0], nodes[1], *nodes[2:]]) < 4


def by_keyword(nodes: Any, *, size: Any) -> Any:
    """Fits."""
    return nodes < size


def nothing() -> bool:
    """Fits."""
    return True


def quiet(nodes: Any) -> Any:
    return nodes < 4


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(
    ("rule", "promise"),
    [
        (written_as_for_one_row, "one array for each argument"),
        (a_single_answer, "one value for each row"),
        (by_the_batch, "a row alone gives the same as among others"),
        (words, "it gives true/false, or numbers"),
        (not_a_number, "it has an answer for every row"),
        (changing, "leaves its arguments"),
        (random, "the same values give the same answer"),
        (no_rows, "arrays without rows"),
        (no_none, "without failing"),
        (no_single_row, "arrays of a single row"),
        (dropping, "also beside `none`"),
        (by_keyword, "it needs no keyword"),
        (nothing, "at least one column"),
        (quiet, "its docstring"),
    ],
)
def test_a_broken_rule_is_caught(rule: Any, promise: str) -> None:
    caught(lambda: check_rule(rule), promise)
