"""One contestant, in a process of its own: prints rows, CPU seconds, seconds and peak memory.

All do the same work on the same files: keep completed jobs longer than a second, leave out rows
without an input size, take mean, deviation, minimum and maximum of the numbers, score every row
with the same pilot trees, keep 5 % with the same chances, and write the sample to Parquet.

The peers get the pilot model ready-made (their clock starts after it is there); ours is on the
clock from the listing of the files to the renamed sample.
"""

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow.dataset import dataset

from benchmarks.scale.jobs import write

KEEP = 0.05
WHERE = ("state == 'COMPLETED'", "runtime_s > 1")
NUMBERS = ["nodes", "tasks", "gpus", "input_gb", "runtime_s"]
STUDY = {
    "columns": {
        "app": {"role": "context"},
        "input_gb": {"role": "context"},
        "runtime_s": {"role": "outcome"},
        "power_w": {"role": "ignored"},
        "state": {"role": "ignored", "kind": "category"},
    }
}


def ours(files: list[Path], output: Path, executor: str) -> None:
    from compass.domain.study import Study
    from compass.reducers.large import reduce

    reduce(
        files,
        output,
        keep=KEEP,
        where=WHERE,
        study=Study.model_validate(STUDY),
        executor=executor,
    )


def pilot_of(files: list[Path]) -> Any:
    """The chances that `compass reduce` would use for these files."""
    from compass.domain.study import Study
    from compass.readers.fragments import fragments_of
    from compass.reducers.pilot import draw
    from compass.reducers.plan import Choice, scan_plan

    choice = Choice(KEEP, where=WHERE, study=Study.model_validate(STUDY))
    source = fragments_of(files)
    pool = draw(source, choice.study, choice.seed, choice.settings)
    return scan_plan(pool, choice)[0].probabilities


def chances_of(frame: Any, chances: Any) -> np.ndarray:
    """The chance of each row of a pandas frame, as a person would write it."""
    scorer = chances.scorer
    bins = np.empty((len(scorer.features), len(frame)), dtype=np.uint8)
    for place, feature in enumerate(scorer.features):
        column = frame[feature.name]
        if feature.borders is None:
            bins[place] = column.map(dict(feature.labels)).fillna(feature.other).to_numpy(np.uint8)
        else:
            bins[place] = np.searchsorted(feature.borders, column.to_numpy(np.float64), side="left")
    (scored,) = scorer.targets
    members = scored.trees.members(bins)
    error = np.log(frame["runtime_s"].to_numpy()) - members.mean(axis=0)
    score = np.sqrt((error**2 + members.var(axis=0, ddof=1)) / scored.usual)
    return np.minimum(1.0, chances.a + chances.b * score)


def _read(files: list[Path]) -> Any:
    import dask.dataframe as dd

    names = [str(file) for file in files]
    return dd.read_parquet(names) if files[0].suffix == ".parquet" else dd.read_csv(names)


def idiomatic(files: list[Path], output: Path, chances: Any) -> None:
    """dask.dataframe as people write it: first the statistics, then the sample."""
    import dask

    jobs = _read(files)
    jobs = jobs[(jobs["state"] == "COMPLETED") & (jobs["runtime_s"] > 1)]
    jobs = jobs.dropna(subset=["input_gb"])
    numbers = jobs[NUMBERS]
    dask.compute(numbers.mean(), numbers.std(), numbers.min(), numbers.max(), numbers.count())
    meta = jobs._meta.assign(weight=np.float64())
    jobs.map_partitions(_weighted, chances, meta=meta).to_parquet(output)


def together(files: list[Path], output: Path, chances: Any) -> None:
    """The same expressions, computed together by somebody who knows Dask well."""
    import dask

    jobs = _read(files)
    jobs = jobs[(jobs["state"] == "COMPLETED") & (jobs["runtime_s"] > 1)]
    jobs = jobs.dropna(subset=["input_gb"])
    numbers = jobs[NUMBERS]
    statistics = [numbers.mean(), numbers.std(), numbers.min(), numbers.max(), numbers.count()]
    meta = jobs._meta.assign(weight=np.float64())
    sample = jobs.map_partitions(_weighted, chances, meta=meta)
    kept, *_ = dask.compute(sample, *statistics)
    kept.to_parquet(output)


def _weighted(frame: Any, chances: Any) -> Any:
    chance = chances_of(frame, chances)
    keep = np.random.default_rng(len(frame)).random(len(frame)) < chance
    return frame[keep].assign(weight=1 / chance[keep])


def fused(files: list[Path], output: Path, chances: Any) -> None:
    """dask.dataframe by hand: everything in one function per partition."""
    import pandas as pd

    parts = _read(files).to_delayed()
    import dask

    done = dask.compute(*[dask.delayed(_fused)(part, chances) for part in parts])
    pd.concat([kept for kept, _ in done]).to_parquet(output)


def _fused(frame: Any, chances: Any) -> tuple[Any, Any]:
    frame = frame[
        (frame["state"] == "COMPLETED") & (frame["runtime_s"] > 1) & frame["input_gb"].notna()
    ]
    statistics = frame[NUMBERS].agg(["sum", "min", "max", "count"])
    squares = (frame[NUMBERS] ** 2).sum()
    return _weighted(frame, chances), (statistics, squares)


PEERS = {"idiomatic": idiomatic, "together": together, "fused": fused}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("who", choices=["ours", *PEERS])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--executor", default="threads")
    parser.add_argument("--visits", type=int, default=1, help="visit the files this often")
    said = parser.parse_args()
    files = sorted(said.folder.iterdir()) * said.visits
    place = Path(tempfile.mkdtemp(dir=said.folder.parent))
    output = place / "sample.parquet"
    _warm(said.who, place)
    chances = None if said.who == "ours" else pilot_of(files)
    begun, used = time.perf_counter(), _cpu()
    if said.who == "ours":
        ours(files, output, said.executor)
    else:
        PEERS[said.who](files, output, chances)
    seconds, cpu = time.perf_counter() - begun, _cpu() - used
    kept = dataset(output).count_rows()
    shutil.rmtree(place)
    from compass.reducers.large import peak_memory

    peak = peak_memory() / 1e6
    found = {"who": said.who, "kept": kept, "cpu": cpu, "seconds": seconds, "peak_mb": peak}
    sys.stdout.write(json.dumps(found) + "\n")


def _warm(who: str, folder: Path) -> None:
    """Whatever is imported or compiled at first use is there before the clock starts."""
    small = write(folder / "small", 20_000, "parquet")
    if who == "ours":
        ours(small, folder / "first.parquet", "threads")
        return
    import dask

    dask.config.set(scheduler="threads", num_workers=2)
    PEERS[who](small, folder / "first.parquet", pilot_of(small))


def _cpu() -> float:
    own, others = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


if __name__ == "__main__":
    main()
