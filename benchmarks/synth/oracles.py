"""Our measures beside those of SDMetrics and syntheval on the same rows.

They are asked in an environment of their own, as their licences keep them out of Compass:
python -m venv .venv-oracles; .venv-oracles/bin/pip install -r benchmarks/synth/requirements.txt
"""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from compass.domain.space import Category
from compass.synth.cells import columns_of
from compass.synth.quality.dense import dense
from compass.synth.quality.privacy import closeness
from compass.synth.quality.sdquality import column_shapes, pair_trends, sd_quality

from .kept import Kept, rounded
from .learn import drawn, learnt
from .tables import ML, ml_table, performance_table

PYTHON = Path(__file__).parents[2] / ".venv-oracles" / "bin" / "python"
_TABLES = ("magic", "parkinsons", "kripke", "zeus")
_MOST = 1500
_SCRIPT = Path(__file__).with_name("run_oracles.py")
_NAMES = ("SDQuality", "column shapes", "pair trends", "closest record")


def run(kept: Kept) -> Iterator[str]:
    """The table, line by line."""
    if not PYTHON.is_file():
        yield f"skipped what is not kept: there is no {PYTHON.parent.parent.name}"
    yield "| table | rows of | measure | ours | SDMetrics, syntheval | apart |"
    yield "|---|---|---|---:|---:|---:|"
    for name in _TABLES:
        for synthesizer in ("cart", "copula"):
            found = kept.once("oracles", f"{name} {synthesizer}", partial(_both, name, synthesizer))
            for measure in _NAMES:
                ours, theirs = found[measure]
                yield (
                    f"| {name} | {synthesizer} | {measure} | {ours:.6f} | {theirs:.6f} | "
                    f"{abs(ours - theirs):.1e} |"
                )


def _both(name: str, synthesizer: str) -> dict[str, list[float]]:
    """Every measure by us and by them."""
    table = ml_table(name) if name in ML else performance_table(name)
    real = table.split(0)[0][:_MOST]
    model, _ = learnt(table, real, synthesizer)
    made, _ = drawn(table, model, len(real), 1)
    space = table.space
    ours = {
        "SDQuality": sd_quality(space, real, made, "own-bin"),
        "column shapes": column_shapes(space, real, made),
        "pair trends": pair_trends(space, real, made, "own-bin"),
        "closest record": closeness(space, real, made).median,
    }
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for what, rows in (("real", real), ("made", made)):
            pv.write_csv(pa.table(columns_of(rows, space)), folder / f"{what}.csv")
        for what, rows in zip(("real", "made"), dense(space, real, real, made), strict=True):
            np.save(folder / f"{what}.npy", rows)
        labels = [p.name for p in space if isinstance(p, Category)]
        (folder / "about.json").write_text(json.dumps({"labels": labels}), encoding="utf-8")
        subprocess.run([PYTHON, _SCRIPT, folder], check=True)
        theirs = json.loads((folder / "measures.json").read_text(encoding="utf-8"))
    return {one: [rounded(ours[one], 9), rounded(theirs[one], 9)] for one in _NAMES}
