"""What a rule written in Python promises: one answer per row, the same alone or among others."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.testing.base import Witness, summarised

_ROWS = 64
Column = NDArray[Any]


def check_rule(
    plugin: Any, *, name: str | None = None, samples: Mapping[str, Sequence[object]] | None = None
) -> None:
    """Raise ConformanceError unless the function keeps the promises of a rule.

    `samples` gives typical values of arguments by name: needed for those that are labels, useful
    for those that are not whole numbers from 1 to 64.
    """
    found = Witness("rule", name or str(getattr(plugin, "__name__", plugin)))
    summarised(found, plugin)
    rule: Callable[..., object] = plugin
    arguments = _arguments(found, rule, samples or {})
    given = {key: column.copy() for key, column in arguments.items()}
    at = found.at(f"{found.name}({', '.join(arguments)}) on arrays of {_ROWS} values")
    with at.calling("it takes one array for each argument (numpy.where, not if)"):
        answer = np.asarray(rule(*given.values()))
    _answer(at, answer, _ROWS)
    for key, column in arguments.items():
        unchanged = np.array_equal(given[key], column)
        at.expect(unchanged, "it leaves its arguments as they are", f"{key} was changed")
    again = np.array_equal(answer, np.asarray(rule(*given.values())))
    at.expect(again, "the same values give the same answer", "they differ")
    _row_by_row(found, rule, arguments, answer)
    _no_rows(found, rule, arguments)
    _none(found, rule, arguments)


def _arguments(
    found: Witness, rule: Callable[..., object], samples: Mapping[str, Sequence[object]]
) -> dict[str, Column]:
    """Columns to call the rule with: the samples in random order, else whole numbers."""
    at = found.at(f"inspect.signature({found.name})")
    names, keywords = list(samples), []
    try:
        parameters = inspect.signature(rule).parameters.values()
    except (TypeError, ValueError):
        pass  # some compiled functions do not tell: then the samples name the arguments
    else:
        needed = [p for p in parameters if p.default is p.empty]
        by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = [p.name for p in needed if p.kind in by_place]
        keywords = [p.name for p in needed if p.kind is p.KEYWORD_ONLY]
    at.expect(
        not keywords,
        "a rule text gives values by place, so it needs no keyword",
        f"{', '.join(keywords)} must be given by name",
    )
    at.expect(names, "it takes at least one column", "it takes none")
    rng = np.random.default_rng(1)
    return {key: _column(samples.get(key), rng) for key in names}


def _column(sample: Sequence[object] | None, rng: np.random.Generator) -> Column:
    if sample is None:
        return rng.integers(1, 65, _ROWS).astype(np.float64)
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in sample):
        return rng.choice(np.asarray(sample, dtype=np.float64), _ROWS)
    labels = np.empty(len(sample), dtype=object)
    labels[:] = list(sample)
    chosen: Column = labels[rng.integers(len(sample), size=_ROWS)]
    return chosen


def _answer(at: Witness, answer: Column, rows: int) -> None:
    at.expect(
        answer.shape == (rows,),
        "it gives one value for each row",
        f"an array of shape {answer.shape} for {rows} rows",
    )
    at.expect(
        answer.dtype == np.bool_ or answer.dtype.kind in "iuf",
        "it gives true/false, or numbers of which at most 0 means that it holds",
        f"values of type {answer.dtype}",
    )
    at.expect(
        answer.dtype == np.bool_ or not np.isnan(answer).any(),
        "it has an answer for every row whose arguments have values",
        f"NaN in {int(np.isnan(answer).sum()) if answer.dtype.kind == 'f' else 0} rows",
    )


def _row_by_row(
    found: Witness, rule: Callable[..., object], arguments: dict[str, Column], answer: Column
) -> None:
    for row in range(_ROWS):
        one = [column[row : row + 1].copy() for column in arguments.values()]
        values = ", ".join(f"[{column[0]!r}]" for column in one)
        at = found.at(f"{found.name}({values})")
        with at.calling("it takes arrays of a single row"):
            single = np.asarray(rule(*one))
        _answer(at, single, 1)
        same = single.dtype.kind == answer.dtype.kind and np.allclose(
            single[0], answer[row], rtol=1e-9, atol=0
        )
        at.expect(
            same,
            "a row alone gives the same as among others",
            f"{single[0]!r} alone, {answer[row]!r} as row {row} of {_ROWS}",
        )


def _no_rows(found: Witness, rule: Callable[..., object], arguments: dict[str, Column]) -> None:
    at = found.at(f"{found.name}({', '.join('[]' for _ in arguments)})")
    with at.calling("it takes arrays without rows"):
        nothing = np.asarray(rule(*(column[:0].copy() for column in arguments.values())))
    _answer(at, nothing, 0)


def _none(found: Witness, rule: Callable[..., object], arguments: dict[str, Column]) -> None:
    """The level `none` of a number arrives as NaN, and that of a category as None."""
    for key in arguments:
        columns = {k: column.copy() for k, column in arguments.items()}
        column = columns[key]
        missing = None if column.dtype == object else np.nan
        column[0] = missing
        at = found.at(f"{found.name}(...) with {key} = [{missing}, ...]")
        promise = "it takes `none` (NaN, or None among labels) without failing"
        with at.calling(promise), np.errstate(all="ignore"):
            answer = np.asarray(rule(*columns.values()))
        at.expect(
            answer.shape == (_ROWS,),
            "it gives one value for each row, also beside `none`",
            f"an array of shape {answer.shape}",
        )
