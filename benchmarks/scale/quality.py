"""What a sample is worth: the error of a model learnt from it, guided against uniform.

    python -m benchmarks.scale.quality              # 5 tables, 5/10/20 %, 10 seeds
    python -m benchmarks.scale.quality --seeds 3 --only kripke

For every seed a fifth of the configurations is put aside. The rest is written to a Parquet file,
reduced by `compass.reduce` with each method to about as many rows, and learnt from with the
weights of the sample. The error is of the rows put aside, whose outcomes no sample and no model
has seen. Errors are of the logarithm, on which all these outcomes are learnt: its root mean square
(`RMSE`, the loss that the trees minimise) and its mean (`MAE`, about a relative error).
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.stats import t as student

import compass as cp
from benchmarks.automl.tables import EXHAUSTIVE
from benchmarks.roles import data_folder, sources
from benchmarks.scale.jobs import jobs
from compass.domain.space import Role
from compass.model.base import Task
from compass.model.recipe import Recipe
from compass.prepare.split import by_configuration
from compass.settings import Settings

Floats = NDArray[np.float64]
SHARES = (0.05, 0.1, 0.2)
METHODS = ("guided", "uniform")
JOBS = 100_000


@dataclass(frozen=True)
class Case:
    """A table and the outcome that is learnt."""

    name: str
    data: cp.Dataset
    goal: str


def cases(folder: Path) -> Iterator[Case]:
    """The tables that are there, and the generated one."""
    known = sources()
    for name, source in (
        ("kripke", known["kripke"]),
        ("amg", known["amg"]),
        ("gemm on GPUs", sources(EXHAUSTIVE)["gemm"]),
    ):
        if not source.absent(folder):
            yield Case(name, source.read(folder), source.goals[0])
    product = folder / "stampede2_apps" / "gemm_train.csv"
    if product.is_file():
        roles = {"m": "knob", "n": "knob", "k": "knob", "avg": "outcome", "std": "ignored"}
        study = {"columns": {name: {"role": role} for name, role in roles.items()}}
        yield Case("gemm", cp.read(str(product), study={**study, "drop": ["idx"]}), "avg")
    roles = {
        "app": "context",
        "input_gb": "context",
        "state": "context",
        "runtime_s": "outcome",
        "power_w": "ignored",
    }
    study = {"columns": {name: {"role": role} for name, role in roles.items()}}
    yield Case("job table", cp.read(jobs(JOBS, seed=1), study=study), "runtime_s")


def errors(case: Case, seed: int, folder: Path) -> dict[tuple[float, str], tuple[float, float]]:
    """RMSE and MAE of the logarithm on rows put aside, by share and method."""
    prepared = case.data.prepared
    features = prepared.space.select(prepared.space.having(Role.KNOB, Role.CONTEXT))
    X, y = prepared.columns_of(features.names), prepared.column(case.goal)
    known = np.flatnonzero(np.isfinite(y) & (y > 0))
    train, test = by_configuration(X[known], 0.2, seed)
    learnt, aside = known[train], known[test]
    whole = folder / "runs.parquet"
    pq.write_table(prepared.table.arrow.take(prepared.row_id[learnt]), whole)
    found = {}
    for keep in SHARES:
        for method in METHODS:
            sample = folder / "sample.parquet"
            cp.reduce(whole, sample, keep=keep, method=method, seed=seed, study=case.data.study)
            kept = pq.read_table(sample, columns=["sample_row", "sample_weight"]).to_pydict()
            rows, weight = learnt[kept["sample_row"]], np.array(kept["sample_weight"])
            model = Recipe(family="lightgbm", log=True).fit(
                X[rows],
                y[rows],
                task=Task(),
                weight=weight,
                seed=seed,
                settings=Settings(),
                features=features,
            )
            apart = np.log(np.maximum(model.predict(X[aside])[:, 0], 1e-12) / y[aside])
            found[keep, method] = (float(np.sqrt((apart**2).mean())), float(abs(apart).mean()))
    return found


def interval(ratios: Floats) -> str:
    """The mean of paired ratios and its 95 % interval."""
    count = len(ratios)
    half = student.ppf(0.975, count - 1) * ratios.std(ddof=1) / np.sqrt(count) if count > 1 else 0
    return f"{ratios.mean():.3f} [{ratios.mean() - half:.3f}, {ratios.mean() + half:.3f}]"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--only", metavar="NAME", action="append")
    said = parser.parse_args(arguments)
    print(f"guided / uniform, mean over {said.seeds} seeds [95 % interval]; below 1: guided wins")
    print(f"{'table':14} {'kept':>5} {'uniform RMSE':>12} {'RMSE ratio':>22} {'MAE ratio':>22}")
    every: list[float] = []
    lost = []
    for case in cases(data_folder()):
        if said.only and case.name not in said.only:
            continue
        runs = []
        for seed in range(said.first, said.first + said.seeds):
            with tempfile.TemporaryDirectory() as folder:
                runs.append(errors(case, seed, Path(folder)))
        for keep in SHARES:
            pairs = np.array([[run[keep, method] for method in METHODS] for run in runs])
            ratios = pairs[:, 0] / pairs[:, 1]
            every.append(float(ratios[:, 0].mean()))
            if ratios[:, 0].mean() >= 1:
                lost.append(f"{case.name} at {keep:.0%}")
            print(
                f"{case.name:14} {keep:5.0%} {pairs[:, 1, 0].mean():12.4f} "
                f"{interval(ratios[:, 0]):>22} {interval(ratios[:, 1]):>22}",
                flush=True,
            )
    print(f"mean over tables and shares: {np.mean(every):.3f}")
    print("guided does not beat uniform on:", ", ".join(lost) or "none")


if __name__ == "__main__":
    main()
