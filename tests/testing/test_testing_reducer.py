"""Built-in reducers keep their promises, and the suite tells when one does not."""

from typing import Any

import numpy as np
import pytest
from testing_broken import caught

from compass import registry
from compass.prepare import Prepared
from compass.reducers.uniform import Uniform
from compass.testing import check, check_reducer
from compass.testing.reducer import runs


@pytest.mark.parametrize("name", registry.everything("reducer"))
def test_built_ins_keep_their_promises(name: str) -> None:
    check("reducer", name)


def test_rows_kept_by_the_throw_of_a_coin_are_fair() -> None:
    class Coin:
        """Each row is kept with the same chance."""

        name = "coin"

        def reduce(self, prepared: Prepared, keep: float, seed: int) -> Any:
            thrown = np.random.default_rng(seed).random(prepared.rows)
            rows = np.flatnonzero(thrown < keep).astype(np.int64)
            if not len(rows):
                rows = np.array([thrown.argmin()], dtype=np.int64)
            return rows, prepared.weight[rows] / max(keep, 1 / prepared.rows)

    check_reducer(Coin)


def changed(change: Any) -> type[Uniform]:
    """The uniform reducer with a change made to what it returns."""

    class Changed(Uniform):
        """Uniform, changed."""

        def reduce(self, prepared: Prepared, keep: float, seed: int) -> Any:
            rows, weight = super().reduce(prepared, keep, seed)
            return change(rows, weight, prepared, keep)

    return Changed


def moved(rows: Any, weight: Any, prepared: Prepared, keep: float) -> Any:
    prepared.weight[:] = prepared.weight + 0.0
    prepared.values[0, 1] = prepared.values[0, 1] + 1e-9
    return rows, weight


def unseeded(rows: Any, weight: Any, prepared: Prepared, keep: float) -> Any:
    chosen = np.random.default_rng().choice(prepared.rows, len(rows), replace=False)
    rows = np.sort(chosen).astype(np.int64)
    return rows, prepared.weight[rows] * prepared.rows / len(rows)


BROKEN: dict[str, tuple[Any, str]] = {
    "a list": (changed(lambda r, w, p, k: (r.tolist(), w)), "rows are an int64 array"),
    "a mask": (
        changed(lambda r, w, p, k: (np.isin(np.arange(p.rows), r), w)),
        "rows are an int64 array",
    ),
    "a weight short": (changed(lambda r, w, p, k: (r, w[1:])), "weights are a float64 array"),
    "shuffled": (changed(lambda r, w, p, k: (r[::-1].copy(), w)), "ascending and distinct"),
    "repeated": (
        changed(lambda r, w, p, k: (np.repeat(r, 2), np.repeat(w, 2) / 2)),
        "ascending and distinct",
    ),
    "row numbers of the table": (changed(lambda r, w, p, k: (r + p.rows, w)), "positions in the"),
    "nothing left": (
        changed(lambda r, w, p, k: (r, w) if len(r) > 1 else (r[:0], w[:0])),
        "at least one",
    ),
    "no weight": (changed(lambda r, w, p, k: (r, w * 0)), "weights are positive"),
    "half": (changed(lambda r, w, p, k: (r[::2].copy(), w[::2] * 2)), "about the share `keep`"),
    "unseeded": (changed(unseeded), "the same data, share and seed give the same rows"),
    "ones": (changed(lambda r, w, p, k: (r, np.ones(len(r)))), "count as much as all rows did"),
    "forgets own weights": (
        changed(lambda r, w, p, k: (r, np.full(len(r), p.rows / len(r)))),
        "count as much as all rows did",
    ),
    "never everything": (
        changed(lambda r, w, p, k: (r, w) if k < 1 else (r[1:], w[1:])),
        "keep=1 keeps every row",
    ),
    "reweighs": (
        changed(lambda r, w, p, k: (r, w) if k < 1 else (r, np.full(len(r), w.mean()))),
        "every row counts what it did",
    ),
    "touches the data": (changed(moved), "it leaves the data as it is"),
    "raises": (changed(lambda r, w, p, k: 1 / 0), "it chooses rows"),
    "needs an argument": (
        type("Needy", (Uniform,), {"__doc__": "x", "__init__": lambda self, study: None}),
        "needs no arguments",
    ),
    "no name": (type("Nameless", (Uniform,), {"__doc__": "x", "name": None}), "it has a `name`"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_reducer_is_caught(what: str) -> None:
    plugin, promise = BROKEN[what]
    runs.cache_clear()  # one of them spoils the rows
    try:
        caught(lambda: check_reducer(plugin), promise)
    finally:
        runs.cache_clear()


def test_rows_of_ones_own() -> None:
    check_reducer(Uniform, data=runs(500))
