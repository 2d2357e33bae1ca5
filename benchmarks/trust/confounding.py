"""What a confounded trace is believed to say: `python -m benchmarks.trust.confounding`.

Jobs that ask for many nodes are big jobs. A plain forest (scikit-learn's defaults) learns from such
a trace that more nodes make jobs slower, or that fewer do; Compass must not call such a change
trusted, and must say why. Twice: on real traces (KTH and Theta, where the truth is not known), and
on a synthetic one (benchmarks/trust/trace.py) where it is; there with runs that name program and
input, and then with scaling runs added, which is when the label may turn to trusted and the advice
has to be right. The exit code is 1 when a change that nothing supports is trusted.
"""

import argparse
import gzip
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.roles import data_folder
from benchmarks.show import save, table
from benchmarks.trust.trace import NODES, law, trace
from compass.domain.space import Role

Floats = NDArray[np.float64]

SWF = (
    *("job_id", "submit", "wait", "run", "procs_alloc", "avg_cpu_time", "mem_used", "procs_req"),
    *("time_req", "mem_req", "status", "user", "group", "app", "queue", "partition"),
    *("prev_job", "think_time"),
)
TRACES = {
    "KTH SP2": "swf_kth/raw/KTH-SP2-1996-2.swf.gz",
    "Theta, train": "swf_theta/raw/train.swf",
    "Theta, validate": "swf_theta/raw/validate.swf",
}
HEAD = (
    *("trace", "jobs", "a plain forest: faster / slower", "truth: faster", "trusted", "caution"),
    "unsupported",
)


@dataclass(frozen=True)
class Result:
    """How the nodes of some jobs were changed, and what was said of it."""

    name: str
    asked: int
    faster: float  # share of the questions in which a plain forest expects a shorter run
    truth: float | None  # share in which the run really is shorter
    labels: dict[str, int]
    right: float | None  # share of trusted answers with the right direction
    reason: str


def read_swf(path: Path) -> dict[str, Floats]:
    """The jobs of a trace in the Standard Workload Format that ran."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    lines = [line for line in text.splitlines() if line.strip() and line[0] != ";"]
    jobs = np.array([line.split()[: len(SWF)] for line in lines], dtype=np.float64)
    jobs = jobs[(jobs[:, SWF.index("run")] > 0) & (jobs[:, SWF.index("procs_req")] > 0)]
    return {name: jobs[:, place] for place, name in enumerate(SWF)}


def real(name: str, path: Path, questions: int, seed: int, surrogate: str) -> Result:
    """Questions about a trace as it is."""
    return _asked(name, trace_of(path), "procs_req", "run", questions, seed, surrogate, None)


def trace_of(path: Path, newest: int = 0) -> cp.Dataset:
    """A trace: what the user asks for, who it is, and the runtime; all jobs or the newest."""
    jobs = {column: values[-newest:] for column, values in read_swf(path).items()}
    used = {"procs_req": "knob", "time_req": "knob", "user": "context", "run": "outcome"}
    if len(np.unique(jobs["user"])) == 1:
        used["user"] = "ignored"
    roles = {column: {"role": used.get(column, "ignored")} for column in jobs}
    return cp.read(jobs, study={"columns": roles})


def synthetic(
    name: str, columns: tuple[str, ...], scaling: int, questions: int, seed: int, surrogate: str
) -> Result:
    """Questions about a trace whose law is known."""
    jobs = trace(3000, seed, scaling=scaling)
    context = [n for n in columns if n not in ("nodes", "runtime")]
    data = cp.read(jobs.only(*columns)).roles(
        knobs=["nodes"], context=context, outcomes=["runtime"]
    )
    return _asked(name, data, "nodes", "runtime", questions, seed, surrogate, jobs.work)


def _asked(
    name: str,
    data: cp.Dataset,
    knob: str,
    outcome: str,
    questions: int,
    seed: int,
    surrogate: str,
    work: Floats | None,
) -> Result:
    """Double the nodes of random jobs, where that many exist."""
    engine = cp.Compass(data, surrogate=surrogate, seed=seed).fit()
    prepared = data.prepared
    nodes = prepared.column(knob)
    rng = np.random.default_rng(seed)
    possible = np.flatnonzero(np.isin(2 * nodes, nodes))
    rows = rng.choice(possible, min(questions, len(possible)), replace=False)
    features = data.prepared.space.having(Role.KNOB, Role.CONTEXT)
    X, y = prepared.columns_of(features), prepared.column(outcome)
    place = features.index(knob)
    changed = X[rows].copy()
    changed[:, place] *= 2
    plain = _plain(X, y, seed)
    faster = plain.predict(changed) < plain.predict(X[rows])
    truth = (
        None if work is None else law(work[rows], 2 * nodes[rows]) < law(work[rows], nodes[rows])
    )
    labels: Counter[str] = Counter()
    right, reason = [], ""
    for place, row in enumerate(rows):
        answer = engine.what_if(int(prepared.row_id[row]), {knob: cp.times(2)}, [outcome])
        said = answer[0]
        labels[said.trust.label.value] += 1
        reason = reason or said.trust.reason
        change = said.outcome(outcome).change
        if truth is not None and said.trust.label.value == "trusted" and change is not None:
            right.append((change < 0) == bool(truth[place]))
    return Result(
        name,
        len(rows),
        float(faster.mean()),
        None if truth is None else float(truth.mean()),
        dict(labels),
        float(np.mean(right)) if right else None,
        reason,
    )


def _plain(X: Floats, y: Floats, seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=seed, n_jobs=2).fit(X, y)


def advice(seed: int, scaling: int, surrogate: str) -> list[tuple[str, str, str, float, float]]:
    """The recommended nodes of every program and input: label, and runtime over the best by law."""
    jobs = trace(3000, seed, scaling=scaling)
    data = cp.read(jobs.only("app", "input", "nodes", "runtime")).roles(
        knobs=["nodes"], context=["app", "input"], outcomes=["runtime"]
    )
    engine = cp.Compass(data, surrogate=surrogate, seed=seed).fit()
    cases = zip(jobs.columns["app"], jobs.columns["input"], strict=True)
    seen = dict(zip(cases, jobs.work, strict=True))
    found = []
    for (app, case), work in sorted(seen.items()):
        where = [f"app == '{app}'", f"input == '{case}'"]
        answer = engine.recommend(["nodes"], {"runtime": cp.minimize}, where=where, count=1)
        best = min(float(law(work, n)) for n in NODES)
        nodes = answer[0].config["nodes"]
        label = answer[0].trust.label.value
        found.append((app, case, label, float(nodes), float(law(work, float(nodes))) / best))  # type: ignore[arg-type]
    return found


def main(arguments: list[str] | None = None) -> int:
    """Ask, print, and say whether anything was trusted that must not be."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--surrogate", default="forest")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    ask = (given.questions, given.seed, given.surrogate)
    folder = data_folder()
    confounded = [
        real(name, folder / path, *ask) for name, path in TRACES.items() if (folder / path).exists()
    ]
    named = ("app", "input", "nodes", "runtime")
    confounded += [
        synthetic("synthetic, users only", ("user", "nodes", "runtime"), 0, *ask),
        synthetic("synthetic, app and input", named, 0, *ask),
    ]
    scaled = synthetic("synthetic, with scaling runs", named, 5, *ask)
    results = [*confounded, scaled]
    print(table(HEAD, [_row(result) for result in results]))
    print()
    for result in results:
        print(f"{result.name}: {result.reason}")
    print()
    if scaled.right is not None:
        print(f"With scaling runs, {scaled.right:.1%} of the trusted directions are right.")
    for scaling in (0, 5):
        told = advice(given.seed, scaling, given.surrogate)
        trusted = sum(label == "trusted" for _, _, label, _, _ in told)
        worse = np.mean([ratio for *_, ratio in told])
        runs = f"{scaling} scaling runs each" if scaling else "no scaling runs"
        print(
            f"Recommended nodes, {runs}: {trusted} of {len(told)} trusted; "
            f"runtime over the best by the law, mean {worse:.2f}."
        )
    if given.json:
        save(given.json, {"results": [asdict(result) for result in results]})
    wrong = sum(result.labels.get("trusted", 0) for result in confounded)
    if wrong:
        print(f"{wrong} changes are trusted although nothing supports them", file=sys.stderr)
    return 1 if wrong else 0


def _row(result: Result) -> tuple[str, ...]:
    labels = [str(result.labels.get(name, 0)) for name in ("trusted", "caution", "unsupported")]
    truth = "" if result.truth is None else f"{result.truth:.0%}"
    faster = f"{result.faster:.0%} / {1 - result.faster:.0%}"
    return (result.name, str(result.asked), faster, truth, *labels)


if __name__ == "__main__":
    sys.exit(main())
