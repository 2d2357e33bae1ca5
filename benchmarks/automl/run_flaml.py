"""FLAML on one case, in an environment of its own: only numpy, pandas and FLAML are needed here."""

import argparse
import json
import time
import warnings

import numpy as np
import pandas as pd
from flaml import AutoML


def frame(X: np.ndarray, labels: np.ndarray) -> pd.DataFrame:
    """The rows with labels as categories, which FLAML knows how to handle."""
    found = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    for j in np.flatnonzero(labels):
        found[f"c{j}"] = found[f"c{j}"].astype(int).astype("category")
    return found


def main() -> None:
    """Fit within the time, predict, and say what won."""
    parser = argparse.ArgumentParser()
    parser.add_argument("case")
    parser.add_argument("answer")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--cores", type=int, required=True)
    parser.add_argument("--log", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with np.load(given.case) as case:
        X, y, X_test, labels = (case[name] for name in ("X", "y", "X_test", "labels"))
    began = time.perf_counter()
    tool = AutoML()
    tool.fit(
        frame(X, labels),
        np.log(y) if given.log else y,
        task="regression",
        metric="mae" if given.log else "mape",  # of logarithms, MAPE would mean nothing
        time_budget=given.seconds,
        n_jobs=given.cores,
        seed=7,
        verbose=0,
    )
    seconds = time.perf_counter() - began
    predicted = np.asarray(tool.predict(frame(X_test, labels)), dtype=float)
    np.savez(given.answer, predicted=np.exp(predicted) if given.log else predicted)
    print(json.dumps({"estimator": tool.best_estimator, "seconds": seconds}))


if __name__ == "__main__":
    main()
