"""Does measuring what is proposed find better configurations: `python -m benchmarks.trust.next`.

A small noisy sample of a law, or of a table that holds every configuration, is learnt. Then, for a
few rounds, a batch of configurations is proposed, measured (the law and its noise, or the table)
and told. Four ways to propose:

    next      what `engine.run_next(n, question)` proposes: the expected improvement of the decision
    knowing   what `engine.run_next(n)` proposes: far from past runs and uncertain
    best      the n suggestions of the answer itself
    random    legal configurations by chance

The figure is the regret of the best configuration that was measured at all, by its true value:
(value - optimum) / (value of a usual configuration - optimum). 0 is the optimum, 1 is as good as a
configuration by chance. All ways begin with the same sample. The exit code is 1 when `next` is not
below `random` and `knowing` on the mean over everything.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks import formulas, oneshot
from benchmarks.measure import interval
from benchmarks.roles import data_folder
from benchmarks.show import save, table
from compass.domain.space import Role

Floats = NDArray[np.float64]

BATCH, ROUNDS, SEEDS, FIRST = 4, 3, 5, 200
WAYS = ("next", "knowing", "best", "random")
NOISE = 0.05  # standard deviation of a measurement, as a share
MANY = 300_000  # configurations by chance, the best of which stands for the optimum of a law


@dataclass(frozen=True)
class Case:
    """Something that can be measured anywhere, with its truth at hand."""

    name: str
    names: tuple[str, ...]
    study: Any
    outcome: str
    rows: int  # of the first sample
    noise: float
    draw: Callable[[int, np.random.Generator], list[dict[str, Any]]]
    truth: Callable[[dict[str, Any]], float]  # NaN: it fails
    best: float
    usual: float

    def measured(self, config: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        """One run."""
        kept = {name: config[name] for name in self.names}
        value = self.truth(kept) * float(np.exp(self.noise * rng.standard_normal()))
        return {**kept, self.outcome: value if np.isfinite(value) else None}

    def regret(self, config: dict[str, Any]) -> float:
        """0: the optimum, 1: as good as a usual one; a failure is infinitely bad."""
        value = self.truth({name: config[name] for name in self.names})
        return (value - self.best) / (self.usual - self.best) if np.isfinite(value) else np.inf


@dataclass(frozen=True)
class Trial:
    """One way from one first sample: the regret at the beginning and after every round."""

    case: str
    way: str
    seed: int
    regrets: tuple[float, ...]
    seconds: float


def strong_scaling(x: Floats) -> Floats:
    """Time of a solver: work shared by nodes and threads, messages, and a tile that fits."""
    nodes, threads, tile = x.T
    work = 400 / (nodes * threads**0.8)
    return np.asarray(work + 0.35 * nodes + 0.1 * threads + 3 * (np.log2(tile / 64)) ** 2 + 2)


def pipeline(x: Floats) -> Floats:
    """Time of a staged program: the slowest stage, with buffers that cost and a chunk that fits."""
    readers, workers, chunk, buffers = x.T
    slowest = np.maximum(60 / readers, 240 / workers)
    wait = 20 * np.abs(np.log2(chunk * buffers / 512)) + 0.8 * readers + 0.4 * workers
    return np.asarray(slowest + wait + 0.05 * buffers + 5)


_WHOLE = {"whole": True}
OWN = (
    formulas.Law(
        "strong scaling",
        (
            formulas.Input("nodes", 1, 64, **_WHOLE),
            formulas.Input("threads", 1, 32, **_WHOLE),
            formulas.Input("tile", 8, 512, **_WHOLE),
        ),
        40,
        strong_scaling,
    ),
    formulas.Law(
        "pipeline",
        (
            formulas.Input("readers", 1, 32, **_WHOLE),
            formulas.Input("workers", 1, 96, **_WHOLE),
            formulas.Input("chunk", 1, 256, **_WHOLE),
            formulas.Input("buffers", 1, 64, **_WHOLE),
        ),
        40,
        pipeline,
    ),
)


def laws() -> Iterator[Case]:
    """Laws in several variables; the optimum is the best of very many configurations."""
    chosen = {"Hoefler": 40, "Linear of 15": 60}
    known = [(law, chosen[law.name]) for law in formulas.LAWS if law.name in chosen]
    for law, rows in [*((law, law.rows) for law in OWN), *known]:
        rng = np.random.default_rng(0)
        values = law.formula(np.column_stack([one.draw(MANY, rng) for one in law.inputs]))
        linear = law.name == "Linear of 15"
        shift = 2.0 if linear else 0.0  # so that noise, a share, means the same
        best, usual = -1.5 if linear else float(values.min()), float(np.median(values))
        names = tuple(one.name for one in law.inputs)
        roles = {name: {"role": "knob"} for name in names} | {"y": {"role": "outcome"}}
        for one in law.inputs:
            roles[one.name] |= {"low": one.low, "high": one.high}
            if one.whole:
                roles[one.name] |= {"step": 1}
        yield Case(
            name=law.name,
            names=names,
            study={"columns": roles},
            outcome="y",
            rows=rows,
            noise=NOISE,
            draw=_drawing(law),
            truth=_law(law, shift),
            best=best + shift,
            usual=usual + shift,
        )


def _drawing(
    law: formulas.Law,
) -> Callable[[int, np.random.Generator], list[dict[str, Any]]]:
    def draw(n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        whole = [one.whole for one in law.inputs]
        return [
            {
                one.name: int(value) if w else float(f"{value:.4g}")
                for one, value, w in zip(law.inputs, row, whole, strict=True)
            }
            for row in law.draw(n, rng)
        ]

    return draw


def _law(law: formulas.Law, shift: float) -> Callable[[dict[str, Any]], float]:
    return lambda config: law.at(config) + shift


def exhaustive(folder: Path) -> Iterator[Case]:
    """One space of every table that holds all its legal configurations; measured once each."""
    for one in oneshot.tables():
        if one.source.absent(folder):
            print(f"{one.source.name}: skipped, not in {folder}", file=sys.stderr)
            continue
        yield _space(next(iter(oneshot.spaces(one, folder))))


def _space(space: oneshot.Space) -> Case:
    rows = space.data.table.arrow.to_pylist()
    names = tuple(n for n in space.data.prepared.space.names if n not in (space.outcome, "valid"))
    place = {tuple(row[name] for name in names): i for i, row in enumerate(rows)}

    def draw(n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        return [rows[i] for i in rng.permutation(len(rows))[:n]]

    def truth(config: dict[str, Any]) -> float:
        return float(space.y[place[tuple(config[name] for name in names)]])

    kept = {*names, space.outcome}
    columns = {name: choice for name, choice in space.study.columns.items() if name in kept}
    study = space.study.model_copy(update={"columns": columns, "drop": ()})
    return Case(
        name=space.name,
        names=names,
        study=study,
        outcome=space.outcome,
        rows=60,
        noise=0.0,
        draw=draw,
        truth=truth,
        best=float(np.nanmin(space.y)),
        usual=float(np.nanmedian(space.y)),
    )


def trial(case: Case, way: str, seed: int, rounds: int, batch: int) -> Trial:
    """Rounds of proposing, measuring and telling, from the sample of this seed."""
    began = time.perf_counter()
    rng = np.random.default_rng(seed)
    first = [case.measured(config, rng) for config in case.draw(case.rows, rng)]
    regrets = [min(case.regret(run) for run in first)]
    engine = cp.Compass(
        cp.read(_columns(first), study=case.study), seed=seed, surrogate="forest"
    ).fit()
    for _ in range(rounds):
        runs = [case.measured(c, rng) for c in _proposed(case, engine, way, batch, rng)]
        regrets.append(min([regrets[-1], *(case.regret(run) for run in runs)]))
        if runs:
            engine.tell(_columns(runs))
    return Trial(case.name, way, seed, tuple(regrets), time.perf_counter() - began)


def _proposed(
    case: Case, engine: cp.Compass, way: str, n: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    if way == "random":
        return case.draw(n, rng)
    if way == "knowing":
        return [dict(proposal.config) for proposal in engine.run_next(n)]
    goals = {case.outcome: cp.minimize}
    if way == "best":
        answer = engine.recommend(goals=goals, count=n, prove=0.0)
        return [dict(suggestion.config) for suggestion in answer]
    asked = ", ".join(f"{name}: ?" for name in engine.space.having(Role.KNOB))
    query = f"Recommend X = {{{asked}}} to achieve Y = {{{case.outcome}: minimize}}"
    return [dict(proposal.config) for proposal in engine.run_next(n, query)]


def _columns(runs: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [run[name] for run in runs] for name in runs[0]}


def show(trials: Sequence[Trial]) -> str:
    """Per case and way the mean regret at the beginning and after every round."""
    rounds = len(trials[0].regrets) - 1
    head = ("case", "way", "sample", *(f"round {i + 1}" for i in range(rounds)), "± 95 %", "s")
    lines = []
    for name in (*dict.fromkeys(t.case for t in trials), "all"):
        for way in dict.fromkeys(t.way for t in trials):
            own = [t for t in trials if t.way == way and name in (t.case, "all")]
            mean = [f"{np.mean([t.regrets[i] for t in own]):.3f}" for i in range(rounds + 1)]
            half = interval([[t.regrets[-1]] for t in own]).half
            seconds = np.mean([t.seconds for t in own])
            lines.append((name, way, *mean, f"{half:.3f}", f"{seconds:.1f}"))
    return "mean regret of the best measured configuration\n" + table(head, lines)


def lost(trials: Sequence[Trial]) -> list[str]:
    """The ways that `next` does not beat on the mean over everything."""
    mean = {way: np.mean([t.regrets[-1] for t in trials if t.way == way]) for way in WAYS}
    return [way for way in ("random", "knowing") if not mean["next"] < mean[way]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust.next", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="WORD", help="cases whose name has this word in it")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="first samples per case")
    parser.add_argument("--first", type=int, default=FIRST, help="the first seed")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    said = parser.parse_args(arguments)
    trials: list[Trial] = []
    for case in (*laws(), *exhaustive(data_folder())):
        if said.only and said.only.casefold() not in case.name.casefold():
            continue
        for seed in range(said.first, said.first + said.seeds):
            trials += [trial(case, way, seed, said.rounds, said.batch) for way in WAYS]
        own = [t for t in trials if t.case == case.name]
        last = ", ".join(
            f"{way} {np.mean([t.regrets[-1] for t in own if t.way == way]):.3f}" for way in WAYS
        )
        print(f"{case.name}: {said.seeds} samples: {last}", file=sys.stderr, flush=True)
    if not trials:
        print("nothing was measured", file=sys.stderr)
        return 0
    print(show(trials))
    if said.json:
        save(said.json, {"trials": [asdict(t) for t in trials]})
    worse = lost(trials)
    for way in worse:
        print(f"next is not better than {way}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
