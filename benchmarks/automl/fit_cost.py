"""The processor time of `compass fit` with its defaults, and how much of it is choosing a model."""

import argparse
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import compass as cp
from benchmarks.automl.fit_time import jobs
from benchmarks.show import save, table
from compass import embedded
from compass.domain.space import Role


@dataclass(frozen=True)
class Row:
    """One table."""

    table: str
    rows: int
    columns: int
    outcomes: int
    models: str
    error: str
    fit: float  # CPU seconds, and so are those below
    choosing: float
    winners: float  # training the chosen models once
    named: float  # a fit with the families that were chosen, which compares nothing but scales


def run(given: argparse.Namespace) -> int:
    """Print every table that is there."""
    cp.Compass(jobs(600)).fit()  # compiled kernels and imported libraries are not measured
    rows = []
    for name, read in _tables(given.data).items():
        if given.only and name not in given.only:
            continue
        data = read()
        data.prepared  # noqa: B018 - reading and cleaning are not what is measured
        rows.append(_row(name, data))
    head = (
        *("table", "rows", "columns", "outcomes", "chosen", "error on unseen runs", "fit, CPU s"),
        *("choosing", "the models once", "fit, families named"),
    )
    print(table(head, [tuple(_shown(value) for value in asdict(row).values()) for row in rows]))
    if given.json:
        save(given.json, {"tables": [asdict(row) for row in rows]})
    return 0


def _shown(value: object) -> object:
    return f"{value:.2f}" if isinstance(value, float) else value


def _tables(folder: Path) -> dict[str, Callable[[], cp.Dataset]]:
    """The embedded runs, a trace of jobs where it is there, and jobs that draw power by a law."""
    found: dict[str, Callable[[], cp.Dataset]] = {
        "embedded": lambda: cp.read(embedded.path(), study=embedded.study()),
        "power": lambda: powers(6000),
    }
    trace = folder / "swf_kth" / "raw" / "KTH-SP2-1996-2.swf.gz"
    if trace.is_file():
        found["kth"] = lambda: cp.read(trace).roles(
            knobs=["requested_processors", "requested_s"],
            context=["user"],
            outcomes=["run_s"],
            ignored=["wait_s", "processors", "status", "group"],
        )
    return found


def _row(name: str, data: cp.Dataset) -> Row:
    began = time.process_time()
    engine = cp.Compass(data).fit()
    fit = time.process_time() - began
    cards = engine.cards
    return Row(
        table=name,
        rows=cards[0].rows,
        columns=len(cards[0].features),
        outcomes=len(cards),
        models=", ".join(card.family + " (log)" * card.log for card in cards),
        error=", ".join(f"{card.error:.2%}" for card in cards),
        fit=fit,
        choosing=sum(score.seconds for card in cards for score in card.scores),
        winners=sum(_trained(engine, card) for card in cards),
        named=sum(_named(data, card) for card in cards),
    )


def _trained(engine: cp.Compass, card: cp.ModelCard) -> float:
    """CPU seconds of training a chosen model once more."""
    data = engine.store.data_of(card.features, card.target)
    recipe = engine.store.trained[card.features, card.target].recipe
    training = data.training(engine.store.settings)
    began = time.process_time()
    training.fit(recipe, data.train)
    return time.process_time() - began


def _named(data: cp.Dataset, card: cp.ModelCard) -> float:
    """CPU seconds of a fit of one outcome by the family that was chosen for it."""
    others = [name for name in data.prepared.space.having(Role.OUTCOME) if name != card.target]
    alone = data.roles(ignored=others) if others else data
    alone.prepared  # noqa: B018
    began = time.process_time()
    cp.Compass(alone, surrogate=card.family).fit()
    return time.process_time() - began


def powers(rows: int, seed: int = 11) -> cp.Dataset:
    """Jobs with the columns of PM100, and the power of node, memory and CPU by a law."""
    rng = np.random.default_rng(seed)
    nodes = rng.choice([1, 2, 4, 8, 16, 32], rows, p=[0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
    cores = nodes * rng.choice([4, 8, 16, 32], rows)
    given = np.where(rng.random(rows) < 0.8, cores, np.maximum(cores // 2, 1))
    per_task = np.minimum(rng.choice([1, 2, 4], rows), given)
    gpus = nodes * rng.choice([0, 1, 2, 4], rows, p=[0.05, 0.05, 0.1, 0.8])
    memory = nodes * rng.choice([32, 64, 128, 256], rows)
    knobs = {
        **{"num_nodes_req": nodes, "num_cores_req": cores, "cores_per_task": per_task},
        **{"num_gpus_req": gpus, "mem_req": memory, "num_tasks": given // per_task},
        "time_limit": rng.choice([30, 60, 120, 240, 480, 1440], rows),
    }
    context = {
        **{"num_nodes_alloc": nodes, "num_cores_alloc": given, "num_gpus_alloc": gpus},
        **{"mem_alloc": memory, "partition": rng.choice([1, 2], rows, p=[0.8, 0.2])},
    }
    laws = {
        "node_power": 240 * nodes + 4 * given + 60 * gpus,
        "mem_power": 20 * nodes + 0.25 * memory + 5 * gpus,
        "cpu_power": 90 * nodes + 3.5 * given,
    }
    outcomes = {name: law * rng.normal(1, 0.01, rows) for name, law in laws.items()}
    columns = {**knobs, **context, **outcomes}
    return cp.read({name: np.asarray(values).tolist() for name, values in columns.items()}).roles(
        knobs=list(knobs), context=list(context), outcomes=list(outcomes)
    )
