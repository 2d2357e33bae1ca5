"""What a synthesizer promises: legal rows, given cells, conditions, the same rows again."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Role, Space
from compass.rules import Domain
from compass.rules.domains import domain_of, of_values
from compass.settings import SynthesisSettings
from compass.synth.base import FittedSynthesizer, Floats, Synthesizer, narrowed, silent, within
from compass.synth.conditions import conditions_of
from compass.testing.base import Witness, first_difference, saved_arrays, witness

_SEED = 7
_ROWS = 400
_CASES = "compass.testing.synthesizer"
# What is promised does not depend on how long it learns, and a short training is quick.
SETTINGS = SynthesisSettings.model_validate(
    {
        "ctgan": {"epochs": 2, "batch": 100, "units": 32, "latent": 16},
        "tvae": {"epochs": 2, "batch": 100, "units": 32, "latent": 16},
        "great": {
            "epochs": 1,
            "batch": 100,
            "width": 16,
            "layers": 1,
            "heads": 2,
            "vocabulary": 300,
        },
        "pool": 1000,
    }
)


def space() -> Space:
    """Every kind of column: labels, whole numbers, a list, a grid, a real one, the level none."""
    return Space(
        parameters=(
            Category(name="app", role=Role.CONTEXT, values=("amg", "comd", "ft")),
            Number(name="nodes", low=1, high=16, step=1),
            Number(name="threads", low=4, high=16, allowed=(4, 8, 16)),
            Number(name="clock", low=1.2, high=2.4, step=0.1),
            Number(name="cap", low=50, high=120, step=10, optional=True),
            Category(name="pinned", values=(True, False, None)),
            Number(name="runtime", role=Role.OUTCOME, low=0.1, high=400.0),
        )
    )


@cache
def runs(n: int = 500) -> Floats:
    """Rows [n, 7] of that space; the runtime follows from the other columns."""
    rng = np.random.default_rng(3)
    columns = space()
    cap = columns["cap"]
    assert isinstance(cap, Number)
    app, pinned = rng.integers(0, 3, n), rng.integers(0, 3, n)
    nodes, threads = rng.integers(1, 17, n), rng.choice([4, 8, 16], n)
    clock = rng.integers(12, 25, n) / 10
    limit = np.where(rng.random(n) < 0.3, cap.none_code, rng.integers(5, 13, n) * 10.0)
    runtime = 200 * (1 + app) / (nodes * np.sqrt(threads) * clock) * rng.lognormal(0, 0.1, n)
    return np.column_stack(
        [app, nodes, threads, clock, limit, pinned, np.clip(runtime, 0.1, 400.0)]
    ).astype(np.float64)


def learnt(plugin: Any) -> FittedSynthesizer:
    """What the synthesizer learns from these rows."""
    kind: Synthesizer = plugin
    return kind.fit(runs().copy(), space(), seed=_SEED, settings=SETTINGS, tell=silent)


def drawn(
    model: FittedSynthesizer,
    domains: tuple[Domain, ...] | None = None,
    given: Floats | None = None,
    seed: int = _SEED,
) -> Floats:
    """Rows that a model draws."""
    free = tuple(domain_of(parameter) for parameter in space())
    cells = np.full((_ROWS, len(free)), np.nan) if given is None else given.copy()
    return model.sample(cells, domains or free, np.random.default_rng(seed))


def check_synthesizer(plugin: Any, *, name: str | None = None) -> None:
    """Raise ConformanceError unless the synthesizer keeps its promises."""
    found = witness("synthesizer", plugin, name)
    look = f"{_CASES}.drawn({_CASES}.learnt(plugin))"
    rows = runs().copy()
    with found.at(f"{_CASES}.learnt(plugin)").calling("it learns"):
        model = learnt(plugin)
        twin = plugin.fit(rows, space(), seed=_SEED, settings=SETTINGS, tell=silent)
    found.expect(model.name == plugin.name, "what is learnt has its name", model.name)
    with found.at(look).calling("it draws rows"):
        X = drawn(model)
    _legal(found.at(look), X)
    found.at(f"{look}, twice").same(drawn(model), X, "the same seed gives the same rows")
    found.at(f"{look}, learnt twice").same(
        drawn(twin), X, "the same rows and seed teach it the same"
    )
    rows[:] = 0.0
    found.at("fit, overwrite the rows, draw").same(
        drawn(twin), X, "what is learnt does not depend on the array it was learnt from"
    )
    found.at(f"{look} with another seed").expect(
        not np.array_equal(drawn(model, seed=_SEED + 1), X), "another seed gives others", "the same"
    )
    _given(found, model)
    _conditions(found, model)
    at = found.at(f"plugin.restore({_CASES}.learnt(plugin).arrays(), {_CASES}.space())")
    arrays = saved_arrays(at, model)
    with at.calling("it restores what `arrays()` gave"):
        again = drawn(plugin.restore(arrays, space()))
    at.expect(
        np.array_equal(again, X),
        "a restored model draws the same bit for bit",
        first_difference(again, X),
    )


def _legal(at: Witness, X: Any) -> None:
    shaped = isinstance(X, np.ndarray) and X.shape == (_ROWS, len(space()))
    at.expect(
        shaped and X.dtype == np.float64,
        "rows are a float64 matrix of the shape of what was given",
        f"{getattr(X, 'dtype', type(X).__name__)} {getattr(X, 'shape', '')}",
    )
    good = conditions_of(space(), ()).legal(X)
    at.expect(good.all(), "every value is legal", f"{int((~good).sum())} rows are not")
    for place, parameter in enumerate(space()):
        if isinstance(parameter, Category) or parameter.allowed is not None:
            values: NDArray[np.float64] = np.unique(X[:, place])
            at.expect(
                len(values) > 1, "columns vary", f"{parameter.name} is always {values.tolist()}"
            )


def _given(found: Witness, model: FittedSynthesizer) -> None:
    """Cells that are given stay; each row lacks others."""
    given = runs()[:60].copy()
    holes = np.random.default_rng(5).integers(0, 4, 60)
    for group in range(4):
        given[np.ix_(holes == group, [group, 6][: 1 + group % 2])] = np.nan
    at = found.at(f"{_CASES}.drawn(model, given=rows with gaps)")
    with at.calling("it fills gaps"):
        filled = drawn(model, given=given)
    known = ~np.isnan(given)
    at.expect(
        filled.shape == given.shape and np.array_equal(filled[known], given[known]),
        "cells that are given stay as they are",
        first_difference(np.where(known, filled, 0.0), np.where(known, given, 0.0)),
    )
    at.expect(not np.isnan(filled).any(), "every open cell is filled", "NaN")
    with at.calling("it fills nothing"):
        nothing = drawn(model, given=given[:0])
    at.expect(nothing.shape == (0, given.shape[1]), "no rows give no rows", nothing.shape)


def _conditions(found: Witness, model: FittedSynthesizer) -> None:
    """Every synthesizer draws what is asked for of single columns: values, ranges, lists."""
    columns = space()
    cases = {
        "a value": ("app == ft",),
        "a list": ("threads in {4, 16}",),
        "a range": ("runtime >= 20", "runtime <= 40"),
        "a range of a grid": ("clock >= 1.45", "clock <= 1.75"),
        "a value never seen": ("runtime == 33.25",),
        "none": ("cap == none",),
        "several": ("app == amg", "runtime <= 20", "nodes in {2, 4, 8}", "cap <= 80"),
    }
    legal = tuple(domain_of(parameter) for parameter in columns)
    for label, texts in cases.items():
        domains = conditions_of(columns, (), texts).domains
        at = found.at(f"{_CASES}.drawn(model, conditions of {texts})")
        with at.calling(f"it draws on conditions: {label}"):
            X = drawn(model, domains)
        for place, parameter in enumerate(columns):
            if narrowed(domains[place], legal[place]):
                inside = within(domains[place], X[:, place])
                at.expect(
                    inside.all(),
                    f"conditions on single columns are met: {label}",
                    f"{int((~inside).sum())} of {len(X)} rows have another {parameter.name}",
                )
        _legal_only(at, X)
    one = tuple(of_values(np.array([8.0]), None) if p.name == "nodes" else d
                for p, d in zip(columns, legal, strict=True))  # fmt: skip
    with found.calling("it draws on a domain of one value"):
        found.expect(bool((drawn(model, one)[:, 1] == 8.0).all()), "one value is met", "others")


def _legal_only(at: Witness, X: Floats) -> None:
    good = conditions_of(space(), ()).legal(X)
    at.expect(good.all(), "every value is legal under conditions", f"{int((~good).sum())} are not")
