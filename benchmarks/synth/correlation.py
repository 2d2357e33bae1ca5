"""Which measure tells how useful synthetic rows are: rank correlation with efficiency.

Synthetic sets of every quality: those of the default and of the copula, with a growing share of
cells exchanged between rows, with labels exchanged, with noise, and of few learnt rows. Spearman's
rank correlation with the efficiency lost, within each table; the interval is a bootstrap over sets.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from compass.domain.space import Category, Space
from compass.prepare.legal import snap
from compass.synth.base import Floats
from compass.synth.quality.dissimilarity import dissimilarity
from compass.synth.quality.divergence import mean_kl
from compass.synth.quality.efficiency import best, efficiencies
from compass.synth.quality.predictive import global_utility, two_sample_auc
from compass.synth.quality.sdquality import sd_quality
from compass.synth.quality.tabsyndex import tabsyndex

from .kept import Kept, rounded
from .learn import drawn, learnt
from .tables import ML, RealTable, ml_table, performance_table

_MOST = 1000
TABLES = ("magic", "heloc", "parkinsons", "powerbound", "kripke")
# Signs: more of it is worse (+1), or better (-1).
SIGNS = {
    "dissimilarity": 1,
    "dissimilarity (eigenvalue)": 1,
    "SDQuality (shared-bin)": -1,
    "SDQuality (own-bin)": -1,
    "mean KL": 1,
    "tabsyndex": -1,
    "two-sample AUC": 1,
    "global utility": -1,
}
Change = Callable[[Floats, np.random.Generator], Floats]


def run(kept: Kept) -> Iterator[str]:
    """The table, line by line."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in SIGNS}
    for name in TABLES:
        sets = kept.once("correlation", name, partial(_sets, name))
        lost = np.array(sets["lost"])
        yield f"{name}: {len(lost)} sets, efficiency lost from {lost.min():.3g} to {lost.max():.3g}"
        for measure, sign in SIGNS.items():
            found[measure].append(_ranked(lost, sign * np.array(sets[measure])))
    yield "\n| measure | " + " | ".join(TABLES) + " | mean |"
    yield "|---|" + "---|" * len(TABLES) + "---:|"
    for measure, each in found.items():
        cells = " | ".join(f"{one[0]:.2f} ({one[1]:.2f} to {one[2]:.2f})" for one in each)
        yield f"| {measure} | {cells} | {np.mean([one[0] for one in each]):.2f} |"


def _sets(name: str) -> dict[str, list[float]]:
    """The efficiency that each synthetic set lost, and what every measure says of it."""
    table = ml_table(name) if name in ML else performance_table(name)
    train, test = table.split(0)
    train, test = train[:_MOST], test[:_MOST]
    found: dict[str, list[float]] = {"lost": [], **{measure: [] for measure in SIGNS}}
    for made in _varied(table, train):
        models = efficiencies(table.space, table.target, train, made, test)
        found["lost"].append(rounded(best(models).gap))
        for measure, value in _measures(table.space, train, made, test, models).items():
            found[measure].append(rounded(value))
    return found


def _measures(
    space: Space,
    train: Floats,
    made: Floats,
    test: Floats,
    models: tuple,  # type: ignore[type-arg]
) -> dict[str, float]:
    return {
        "dissimilarity": dissimilarity(space, train, made),
        "dissimilarity (eigenvalue)": dissimilarity(space, train, made, "eigenvalue"),
        "SDQuality (shared-bin)": sd_quality(space, train, made),
        "SDQuality (own-bin)": sd_quality(space, train, made, "own-bin"),
        "mean KL": mean_kl(space, train, made),
        "tabsyndex": tabsyndex(space, train, made, models)["tabsyndex"],
        "two-sample AUC": two_sample_auc(train, made),
        "global utility": global_utility(space, train, made, test),
    }


def _varied(table: RealTable, train: Floats) -> Iterator[Floats]:
    """Synthetic sets of every quality."""
    rng = np.random.default_rng(3)
    target = table.space.names.index(table.target)
    for name in ("cart", "copula"):
        model, _ = learnt(table, train, name)
        made, _ = drawn(table, model, len(train), 1)
        yield made
        for share in (0.1, 0.3, 0.6, 1.0):
            yield _exchanged(made, range(made.shape[1]), share, rng)
            yield _exchanged(made, [target], share, rng)
        for size in (0.2, 0.6):
            yield _noisy(table.space, made, size, rng)
    for few in (30, 100, 300):
        model, _ = learnt(table, train[:few], "cart")
        yield drawn(table, model, len(train), 1)[0]


def _exchanged(
    rows: Floats, columns: range | list[int], share: float, rng: np.random.Generator
) -> Floats:
    """A share of the cells of some columns, exchanged between rows."""
    found = rows.copy()
    for place in columns:
        some = np.flatnonzero(rng.random(len(rows)) < share)
        found[some, place] = rows[rng.permutation(some), place]
    return found


def _noisy(space: Space, rows: Floats, size: float, rng: np.random.Generator) -> Floats:
    """Noise of a share of each number's deviation."""
    found = rows.copy()
    for place, parameter in enumerate(space):
        if not isinstance(parameter, Category):
            noise = rng.normal(size=len(rows)) * size * rows[:, place].std()
            found[:, place] = snap(parameter, rows[:, place] + noise)
    return found


def _ranked(lost: Floats, values: Floats) -> tuple[float, float, float]:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    rhos = []
    for _ in range(500):
        some = rng.integers(0, len(lost), len(lost))
        if np.ptp(values[some]) > 0 and np.ptp(lost[some]) > 0:
            rhos.append(spearmanr(lost[some], values[some]).statistic)
    low, high = np.quantile(rhos, [0.025, 0.975])
    return float(spearmanr(lost, values).statistic), float(low), float(high)
