"""What trust costs on 100,000 runs: `python -m benchmarks.trust.speed`.

Ten columns of all kinds. CPU milliseconds of a question (all that is said about the trust of twenty
suggestions, evidence included), what of it is the index of past runs and what the ensemble, and
how long both take to build beside the model itself: the default forest, and the family that
`auto` chooses on these rows (its last training alone, and with the choice). Limits beside.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.peers.ask import one_core
from benchmarks.show import save, table
from compass.evidence.assessor import Assessor
from compass.evidence.effects import effects
from compass.learn.store import ModelStore
from compass.model.base import Family
from compass.model.recipe import Recipe
from compass.prepare.split import configurations
from compass.trust.assess import assess
from compass.trust.spread import Perturbed
from compass.trust.support import Support

Floats = NDArray[np.float64]

SUGGESTIONS = 20
MOVED = 3  # parameters that each of them moves
ASK_LIMIT = 30.0  # CPU milliseconds of a question
BUILD_LIMIT = 1.0  # times the training of the model
LABELS = ("amber", "bronze", "coral", "denim", "ebony", "fern")
OUTCOME = "seconds"


def runs(rows: int, kinds: int, seed: int) -> dict[str, list[object]]:
    """Past runs of ten columns: `kinds` configurations at most, and one outcome."""
    rng = np.random.default_rng(seed)
    found: dict[str, NDArray[np.generic]] = {}
    for name in ("nodes", "tasks", "threads"):
        found[name] = 2 ** rng.integers(0, 8, kinds)
    for name in ("mesh", "tolerance", "density"):
        found[name] = rng.uniform(0, 10, kinds).round(3)
    for name in ("solver", "layout", "compiler"):
        found[name] = np.array(LABELS)[rng.integers(0, len(LABELS), kinds)]
    found["cap"] = rng.integers(100, 300, kinds)
    taken = rng.permutation(rows) % kinds
    columns = {name: column[taken].tolist() for name, column in found.items()}
    bare = rng.random(kinds)[taken] < 0.3
    columns["cap"] = [None if b else v for b, v in zip(bare, columns["cap"], strict=True)]
    steep = 1 + np.searchsorted(LABELS, np.asarray(columns["solver"]))
    work = (1 + np.asarray(columns["mesh"])) * (1 + np.asarray(columns["density"])) * steep
    seconds = work / np.sqrt(np.asarray(columns["nodes"])) * np.exp(rng.normal(0, 0.05, rows))
    return {**columns, OUTCOME: seconds.tolist()}


def judge_of(data: dict[str, list[object]], seed: int) -> Assessor:
    """An engine of a forest that learnt these runs; its judge."""
    table_ = cp.read(_arrow(data), study=_study(data))
    prepared = table_.prepared
    store = ModelStore(prepared, prepared, cp.Settings(surrogate="forest", seed=seed))
    names = tuple(name for name in prepared.space.names if name != OUTCOME)
    return Assessor(store, store.view_of(names), store.train(names, [OUTCOME]))


def _arrow(data: dict[str, list[object]]) -> object:
    import pyarrow as pa

    return pa.table(data)


def _study(data: dict[str, list[object]]) -> cp.Study:
    from compass.prepare.study_file import study_of

    columns = {name: {"role": "knob"} for name in data if name != OUTCOME}
    columns["cap"] = {"role": "knob", "missing": "none"}
    return study_of({"columns": {**columns, OUTCOME: {"role": "outcome"}}}, where="the benchmark")


def _suggested(run: Floats, past: Floats, rng: np.random.Generator) -> Floats:
    """Suggestions for a run: each has up to three of its parameters as in some past run."""
    found = np.repeat(run[None, :], SUGGESTIONS, axis=0)
    for one in found:
        moved = rng.permutation(len(run))[: rng.integers(1, MOVED + 1)]
        one[moved] = past[rng.integers(len(past)), moved]
    return found


def asked(assessor: Assessor, repeats: int) -> dict[str, float]:
    """Median CPU milliseconds of a question and of its parts."""
    view, settings = assessor.view, assessor.store.settings.trust
    certainty = assessor.store.certainty(view.features.names, tuple(assessor.trained))
    rng = np.random.default_rng(5)
    base = _suggested(view.X[view.valid[0]], view.X[view.train], rng)
    matched = assessor.matched

    def evidence() -> object:
        return effects(matched, [view.X[view.valid[0]]] * SUGGESTIONS, base)

    parts: dict[str, Callable[[], object]] = {
        "all of trust": lambda: (assessor.trust(base), evidence()),
        "effect evidence": evidence,
        "scores and labels": lambda: assess(base, view.support, certainty, settings),
        "index: novelty and support": lambda: view.support.around(base),
        "ensemble: variance and expected error": lambda: (certainty.uq(base), certainty.risk(base)),
    }
    return {name: 1000 * _cpu(part, repeats) for name, part in parts.items()}


def built(assessor: Assessor, *, auto: bool) -> dict[str, float]:
    """CPU seconds of building the index and the ensemble, and of training models beside."""
    view, store = assessor.view, assessor.store
    lesson = store.data_of(view.features.names, OUTCOME)
    X, y, settings = view.X[lesson.train], lesson.y[lesson.train], store.settings
    weight = store.prepared.weight

    def train(kind: Family) -> object:
        return kind.fit(
            X,
            y,
            task=lesson.task,
            weight=weight[lesson.train],
            seed=settings.seed,
            settings=settings,
            features=view.features,
        )

    found = {
        "index": _cpu(
            lambda: Support.build(
                X, view.X[view.valid], view.features, settings.trust, settings.seed
            )
        ),
        "ensemble": _cpu(
            lambda: Perturbed.fit(
                X,
                {OUTCOME: y},
                {OUTCOME: lesson.task},
                view.features,
                settings,
                settings.seed,
                X_valid=view.X[lesson.valid],
            )
        ),
        "forest": _cpu(lambda: train(Recipe(family="forest"))),
    }
    if auto:
        free = ModelStore(store.prepared, store.prepared, cp.Settings(seed=settings.seed))
        began = time.process_time()
        kind, chosen = free.chosen(lesson, OUTCOME)
        choice = time.process_time() - began
        name = chosen.recipe.family
        last = _cpu(lambda: train(kind))
        found |= {f"auto: {name}": last, f"auto: {name}, choice included": choice + last}
    return found


def _cpu(act: Callable[[], object], repeats: int = 1) -> float:
    if repeats > 1:
        act()  # compiled and cached by now
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        act()
        seconds.append(time.process_time() - began)
    return float(np.median(seconds))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust.speed", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--rows", type=int, default=125_000, help="a fifth is for checking")
    parser.add_argument("--kinds", type=int, help="distinct configurations; default: all rows")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--no-auto", action="store_true", help="leave out the choice of a family")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    said = parser.parse_args(arguments)
    one_core()
    assessor = judge_of(runs(said.rows, said.kinds or said.rows, said.seed), said.seed)
    question = asked(assessor, said.repeats)
    train = assessor.view.X[assessor.view.train]
    kinds = len(np.unique(configurations(train)))
    print(f"{len(train):,} training rows, {kinds:,} configurations, {train.shape[1]} columns\n")
    lines = [
        (name, f"{ms:.1f}", f"{100 * ms / question['all of trust']:.0f} %", limit)
        for (name, ms), limit in zip(
            question.items(), (f"{ASK_LIMIT:g}", "", "", "", ""), strict=True
        )
    ]
    print(table((f"trust of {SUGGESTIONS} suggestions", "CPU ms", "share", "limit"), lines))
    cost = built(assessor, auto=not said.no_auto)
    trust = cost["index"] + cost["ensemble"]
    print()
    rows = [("index", cost["index"], "", ""), ("ensemble", cost["ensemble"], "", "")]
    rows += [
        (f"model, {name}", seconds, f"{trust / seconds:.2f}", f"{BUILD_LIMIT:g}")
        for name, seconds in cost.items()
        if name not in ("index", "ensemble")
    ]
    lines = [(name, f"{seconds:.2f}", ratio, limit) for name, seconds, ratio, limit in rows]
    print(table(("built once", "CPU s", "trust / model", "limit"), lines))
    if said.json:
        save(said.json, {"rows": len(train), "milliseconds": question, "seconds": cost})
    models = [seconds for name, seconds in cost.items() if name not in ("index", "ensemble")]
    late = question["all of trust"] > ASK_LIMIT or trust > BUILD_LIMIT * min(models)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
