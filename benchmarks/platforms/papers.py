"""The papers' models on public tables: `python -m benchmarks.platforms.papers [TABLE ...]`.

Every application is left out in turn. XGBoost on raw samples, on embeddings (sequential attention,
network, autoencoder, VAE), with and without abstract machine models, one model per machine pair
where there are none; and the relative performance vector with Random Forest beside it. Machine
models come from the training applications, which stand in for a benchmark suite. Means over seeds.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.platforms.cases import CASES, folder
from benchmarks.platforms.scores import ranked, scores
from benchmarks.show import save, table
from compass.platforms.base import Training
from compass.platforms.counters import counter_mapping
from compass.platforms.members import machine_means
from compass.platforms.pairs import Floats, MatchedRuns
from compass.platforms.relative import RelativeMember
from compass.platforms.views import Scaling, balanced, profile
from compass.platforms.xamm import XammOptions, train

Method = Callable[[MatchedRuns, MatchedRuns, str, int], Floats]
HEAD = ("method", "MAPE %", "mean |log|", "R2", "tau", "exact %", "AUC", "spread over seeds")


def xamm(embedding: str, *, with_amms: bool, **more: object) -> Method:
    """XGBoost on an embedding."""

    def predict(known: MatchedRuns, asked: MatchedRuns, source: str, seed: int) -> Floats:
        options = XammOptions(embedding=embedding, seed=seed, sources=(source,), **more)
        model = train(known, known if with_amms else None, options)
        found = np.zeros(asked.log_runtime.shape)
        for place, target in enumerate(asked.machines):
            if target != source:
                ratio = model.predict(asked, source, target, with_amms=with_amms)
                found[:, place] = np.log(np.maximum(ratio, 1e-3))
        return found

    return predict


def _training(known: MatchedRuns, asked: MatchedRuns, source: str, seed: int) -> tuple:
    weight = balanced(known.applications)
    X = profile(known, source, "physical", counter_mapping())
    scaling = Scaling.of(X, weight)
    training = Training(scaling.apply(X), known.log_ratio(source), known.applications, weight, seed)
    return training, scaling.apply(profile(asked, source, "physical", counter_mapping()))


def relative(known: MatchedRuns, asked: MatchedRuns, source: str, seed: int) -> Floats:
    """The relative performance vector."""
    training, asked_X = _training(known, asked, source, seed)
    return RelativeMember().fit(training)(asked_X)


def forest(known: MatchedRuns, asked: MatchedRuns, source: str, seed: int) -> Floats:
    """Random Forest on the vector, the baseline of that paper."""
    from sklearn.ensemble import RandomForestRegressor

    training, asked_X = _training(known, asked, source, seed)
    means = machine_means(training)
    vector = np.where(np.isfinite(training.log_ratio), training.log_ratio, means)
    model = RandomForestRegressor(n_jobs=1, random_state=seed).fit(training.X, vector)
    return np.asarray(model.predict(asked_X)).reshape(len(asked_X), -1)


def mean(known: MatchedRuns, asked: MatchedRuns, source: str, seed: int) -> Floats:
    """The per-machine mean, whose order is the majority order."""
    training, _ = _training(known, asked, source, seed)
    return np.tile(machine_means(training), (len(asked), 1))


METHODS: dict[str, Method] = {
    "per-machine mean (majority order)": mean,
    "Random Forest, vector": forest,
    "XGBoost, raw": xamm("raw", with_amms=False),
    "XGBoost, network": xamm("network", with_amms=False),
    "XGBoost, autoencoder": xamm("autoencoder", with_amms=False),
    "XGBoost, VAE": xamm("vae", with_amms=False),
    "XGBoost, attention": xamm("attention", with_amms=False),
    "XGBoost, attention + AMM by mean": xamm("attention", with_amms=True, aggregate="mean"),
    "XGBoost, attention + AMM by L2": xamm("attention", with_amms=True, aggregate="l2"),
    "XGBoost, attention + AMM by variance": xamm("attention", with_amms=True, aggregate="variance"),
    "VAE and 3 x 1024, vector": relative,
}


def auc(found: Floats, truth: Floats, majority: Floats) -> float:
    """Area under the ROC curve of telling which lines have the majority order."""
    positive, score = [], []
    order = np.argsort(majority)
    for told, was in zip(found, truth, strict=True):
        known = [m for m in order if np.isfinite(was[m])]
        pair = ranked(majority, was)
        if pair is None or len(known) < 2:
            continue
        positive.append(pair[1])
        score.append(np.diff(told[known]).min())  # how clearly the majority order is told
    from sklearn.metrics import roc_auc_score

    if len(set(positive)) < 2:
        return float("nan")
    return float(roc_auc_score(positive, score))


def scored(runs: MatchedRuns, source: str, method: Method, seed: int) -> tuple[float, ...]:
    """MAPE, mean |log error|, R2, tau, exact order, AUC."""
    found = np.full(runs.log_runtime.shape, np.nan)
    place, truth = runs.place(source), runs.log_ratio(source)
    for application in np.unique(runs.applications):
        own = runs.applications == application
        found[own] = method(runs.some(~own), runs.some(own), source, seed)
    found[:, place] = 0.0
    s = scores(found, truth, runs.applications, place)
    known = np.isfinite(truth)
    known[:, place] = False
    ratio, told = np.exp(truth[known]), np.exp(np.minimum(found[known], 50))
    r2 = 1 - ((told - ratio) ** 2).sum() / ((ratio - ratio.mean()) ** 2).sum()
    majority = np.nanmean(truth, axis=0)
    return s.mape, s.log_error, float(r2), s.tau, s.exact, auc(found, truth, majority)


def main() -> None:
    """Score the papers' models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["rodinia", "raja"])
    parser.add_argument("--only", nargs="+", help="methods whose name holds one of these")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--lines", type=int, default=40, help="of an application, at most")
    parser.add_argument("-o", "--output", type=Path, help="figures as JSON")
    given = parser.parse_args()
    figures: dict[str, object] = {}
    for case in CASES:
        if case.name not in given.tables:
            continue
        runs = case.runs(folder())
        kept = np.concatenate(
            [np.flatnonzero(runs.applications == a)[: given.lines] for a in set(runs.applications)]
        )
        source = case.sources[0]
        runs = runs.some(np.sort(kept)).ran_on(source)
        print(f"\n{case.name} from {source}: {len(runs)} lines, {given.seeds} seeds")
        rows = []
        parts = given.only or [""]
        chosen = {n: m for n, m in METHODS.items() if any(part in n for part in parts)}
        for name, method in chosen.items():
            each = np.array([scored(runs, source, method, seed) for seed in range(given.seeds)])
            s = each.mean(axis=0)
            rows.append((name, *(f"{v:.3g}" for v in s), f"{each[:, 0].std():.2g}"))
            figures[f"{case.name}: {name}"] = each.tolist()
            print(rows[-1])
            sys.stdout.flush()
        print(table(HEAD, rows))
    if given.output:
        save(given.output, figures)


if __name__ == "__main__":
    main()
