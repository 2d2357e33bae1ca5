"""A machine that no application was run on: `python -m benchmarks.platforms.unseen`.

On rodinia, for each GPU in turn: what the ratio of its peaks is worth, and what it is worth to have
run the other kernels there, which stand in for a benchmark: their geometric mean, and the default
model. The kernel that is asked about is left out of everything.
"""

from pathlib import Path

import numpy as np

from benchmarks.platforms.cases import CASES, folder
from benchmarks.platforms.scores import scores
from benchmarks.show import table
from compass.platforms.peaks import peak_log_ratio, read_peaks
from compass.platforms.predictor import fit

PEAKS = Path(__file__).with_name("peaks.yaml")


def main() -> None:
    """Print the three errors."""
    case = CASES[0]
    runs, source = case.runs(folder()), case.sources[0]
    peaks = read_peaks(PEAKS)
    place, truth = runs.place(source), runs.log_ratio(source)
    ratio = [peak_log_ratio(peaks[source], peaks[machine]) for machine in runs.machines]
    found = {"ratio of the peaks": np.tile(ratio, (len(runs), 1))}
    for name in ("geometric mean of the benchmark", "default, with the benchmark"):
        found[name] = np.full(truth.shape, np.nan)
    for application in np.unique(runs.applications):
        own = runs.applications == application
        model = fit(runs.some(~own), source)
        each = model.learner.each(model.views(runs.some(own)))
        found["geometric mean of the benchmark"][own] = each["mean"]
        found["default, with the benchmark"][own] = model.served(each)
    rows = []
    for name, log_ratio in found.items():
        s = scores(log_ratio, truth, runs.applications, place)
        rows.append((name, f"{s.mape:.1f}", f"{s.log_error:.3f}", f"{s.tau:.3f}"))
    print(table(("rodinia, an unseen machine", "MAPE %", "mean |log|", "tau"), rows))


if __name__ == "__main__":
    main()
