"""The same measures by SDMetrics and syntheval: run in an environment of their own, on plain files.

python run_oracles.py FOLDER: reads real.csv, made.csv and about.json (the columns of labels), and
real.npy and made.npy, the same rows as standardised numbers; writes measures.json.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd


def main(folder: Path) -> None:
    labels = json.loads((folder / "about.json").read_text())["labels"]
    kinds = dict.fromkeys(labels, str)
    real, made = (pd.read_csv(folder / f"{name}.csv", dtype=kinds) for name in ("real", "made"))
    found = quality(real, made, labels) | distances(folder)
    (folder / "measures.json").write_text(json.dumps(found))


def quality(real: pd.DataFrame, made: pd.DataFrame, labels: list[str]) -> dict[str, float]:
    """The quality report of SDMetrics and its two parts, over all pairs of columns.

    Its present version leaves out pairs that have little to do with each other in the real rows;
    that is switched off.
    """
    warnings.simplefilter("ignore", FutureWarning)  # it will move; its version is pinned
    from sdmetrics.reports.single_table import QualityReport

    columns = {
        name: {"sdtype": "categorical" if name in labels else "numerical"} for name in real.columns
    }
    report = QualityReport()
    report.real_association_threshold = report.real_correlation_threshold = 0
    report.generate(real, made, {"columns": columns}, verbose=False)
    parts = report.get_properties().set_index("Property")["Score"]
    return {
        "SDQuality": float(report.get_score()),
        "column shapes": float(parts["Column Shapes"]),
        "pair trends": float(parts["Column Pair Trends"]),
    }


def distances(folder: Path) -> dict[str, float]:
    """The median distance of a row to the closest real record, by syntheval."""
    from syntheval.utils.nn_distance import _knn_distance

    real, made = (pd.DataFrame(np.load(folder / f"{name}.npy")) for name in ("real", "made"))
    closest = _knn_distance(made, real, [], 1, "euclid")
    return {"closest record": float(np.median(closest))}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
