"""Questions answered by rows drawn on the condition of their goals, beside the other searches.

Tables that hold every legal configuration (`benchmarks/word`): an engine learns 15 % of the rows, a
question becomes a search task, and each generator gets the same task: the same model, rules and
past runs. Nothing stands between a generator and the figures: no proof, no chance that a goal has
to be met with, no measured run put first. What it suggests is looked up in the whole table. Two
laws of jobs: an engine learns 3,000 noisy runs, and suggestions are put into the law itself.

* minimise: the first suggestion, and the best of five, over the best legal configuration of the
  table, or over the best of 100,000 legal ones drawn from the law for the same context; 1 is the
  best there is;
* within: the share of suggestions that truly lie in a range that a fifth of the runs lies in.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import compass as cp
from benchmarks.roles import data_folder
from benchmarks.word.exhaustive import every_space, looked_up, sample
from benchmarks.word.laws import LAWS, JobLaw
from compass.domain.query import Kind
from compass.engine.arguments import edit, query_of
from compass.engine.plan import plan
from compass.engine.scope import Scope
from compass.evidence.assessor import Assessor
from compass.generate.base import generator_for
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder
from compass.settings import Settings

from .kept import Kept, rounded

GENERATORS = ("legal-search", "c3g", "synthetic")
COUNT = 5
_EDGES = (0.0, 0.1, 0.3, 0.5)  # quantiles at which ranges begin
_WIDE = 0.2  # of a range, in quantiles
_RUNS, _CONTEXTS, _TRUE = 3_000, 4, 100_000
_SLOWEST = 1e3  # a suggestion that does not run is taken for so many times the best
Truth = Callable[[dict[str, Any]], float | None]


def run(kept: Kept) -> Iterator[str]:
    """The table, line by line."""
    cases = dict(_cases())
    found = {name: kept.once("generator", name, measure) for name, measure in cases.items()}
    yield "| table | generator | minimise: first | best of 5 | within: truly | suggestions | rules "
    yield "kept | s a question |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for group in dict.fromkeys(name.split(" ")[0] for name in found):
        own = [one for name, one in found.items() if name.split(" ")[0] == group]
        for generator in GENERATORS:
            yield _line(group, generator, [one[generator] for one in own])


def _line(group: str, generator: str, found: list[dict[str, list[float]]]) -> str:
    joined = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
    first, best = (np.exp(np.mean(np.log(joined[name]))) for name in ("first", "best"))
    return (
        f"| {group} | {generator} | {first:.3f} | {best:.3f} | {joined['within'].mean():.0%} | "
        f"{joined['suggested'].mean():.1f} | {joined['legal'].mean():.0%} | "
        f"{np.median(joined['seconds']):.2f} |"
    )


def _cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    for space in every_space(data_folder()):
        yield space.name, lambda space=space: _space(space)
    for law in LAWS:
        yield f"law-of-{law.name}", lambda law=law: _law(law)


def _engine(data: cp.Dataset) -> cp.Compass:
    return cp.Compass(data, settings=Settings(surrogate="forest", prove=0, seed=7)).fit()


def _space(space: Any) -> dict[str, dict[str, list[float]]]:
    rows = sample(space)
    engine = _engine(cp.read(space.data.table.arrow.take(rows), study=space.study))
    works = {"valid": cp.is_class(1)} if "valid" in engine.space and np.isnan(space.y).any() else {}
    best = float(np.nanmin(space.y))
    edges = [[float(v) for v in np.nanquantile(space.y, [q, q + _WIDE])] for q in _EDGES]

    def legal(config: dict[str, Any]) -> bool:
        return looked_up(space, config) is not None

    def truth(config: dict[str, Any]) -> float | None:
        return looked_up(space, config)

    asked = [({space.outcome: cp.minimize, **works}, best, None)]
    asked += [({space.outcome: cp.within(*ends), **works}, best, ends) for ends in edges]
    return _asked(engine, list(space.knobs), [(goals, b, e, {}) for goals, b, e in asked],
                  truth, legal)  # fmt: skip


def _law(law: JobLaw) -> dict[str, dict[str, list[float]]]:
    X, y = law.table(_RUNS, law.seed)
    engine = _engine(cp.read(law.columns_of(X, y), study=law.study()))
    rng = np.random.default_rng(5)
    everything, _ = law.table(_TRUE, law.seed + 1)
    places = [law.names.index(name) for name in law.context]
    asked = []
    for row in X[rng.choice(len(X), _CONTEXTS, replace=False)]:
        same = everything[(everything[:, places] == row[places]).all(axis=1)]
        values = law.formula(same)
        fixed = {name: law.decode(row)[name] for name in law.context}
        asked.append(({law.outcome: cp.minimize}, float(values.min()), None, fixed))
        for q in _EDGES:
            ends = [float(v) for v in np.quantile(values, [q, q + _WIDE])]
            asked.append(({law.outcome: cp.within(*ends)}, float(values.min()), ends, fixed))

    def truth(config: dict[str, Any]) -> float:
        return law.value(law.encode(config))

    def legal(config: dict[str, Any]) -> bool:
        encoded = law.encode(config)
        return not law.faults(encoded, encoded, law.names)

    return _asked(engine, list(law.knobs), asked, truth, legal)


def _asked(
    engine: cp.Compass,
    knobs: list[str],
    questions: list[tuple[dict[str, Any], float, list[float] | None, dict[str, Any]]],
    truth: Truth,
    legal: Callable[[dict[str, Any]], bool],
) -> dict[str, dict[str, list[float]]]:
    found = {}
    for generator in GENERATORS:
        scores: dict[str, list[float]] = {
            name: [] for name in ("first", "best", "within", "suggested", "legal", "seconds")
        }
        for goals, best, ends, fixed in questions:
            task = _task(engine, knobs, goals, fixed, generator)
            start = time.process_time()
            X = generator_for(task).generate(task).X[:COUNT]
            scores["seconds"].append(rounded(time.process_time() - start, 3))
            encoder = Encoder(task.space)
            configs = [encoder.decode(x) for x in X]
            values = [truth(config) for config in configs]
            known = [best * _SLOWEST if v is None or not np.isfinite(v) else v for v in values]
            scores["suggested"].append(float(len(configs)))
            scores["legal"] += [float(legal(config)) for config in configs]
            if ends is None:
                ratios = [v / best for v in known] or [_SLOWEST]
                scores["first"].append(rounded(ratios[0]))
                scores["best"].append(rounded(min(ratios)))
            else:
                scores["within"] += [float(ends[0] <= v <= ends[1]) for v in known] or [0.0]
        found[generator] = scores
    return found


def _task(
    engine: cp.Compass,
    knobs: list[str],
    goals: dict[str, Any],
    fixed: dict[str, Any],
    generator: str,
) -> SearchTask:
    """What a generator is given, as an engine makes it; the model alone says what meets a goal."""
    given = {name: edit(value) for name, value in fixed.items()}
    query = engine.query(query_of(Kind.RECOMMEND, knobs, given, goals, ()), count=COUNT)
    store = engine.store

    def assess(scope: Scope) -> Assessor:
        trained = store.train(scope.view.names, scope.outcomes)
        return Assessor(store, scope.view, trained, None)

    task, _ = plan(query, store, engine.rules, assess)
    settings = task.settings.model_copy(update={"generator": generator})
    return replace(task, settings=settings, chances=None, past_runs=None)
