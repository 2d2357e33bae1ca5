"""What models see: whether they tell synthetic from real rows, and what they learn from them."""

import numpy as np

from compass.domain.space import Category, Space
from compass.execute.one_thread import one_thread
from compass.synth.base import Floats

_FOLDS = 5
_PARAMETERS: dict[str, object] = {
    "num_leaves": 31,
    "learning_rate": 0.1,
    "min_data_in_leaf": 10,
    "verbosity": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
}
_ROUNDS = 60
_ROUNDS_EACH = 30  # where there is a model for each column


def two_sample_auc(real: Floats, synthetic: Floats, seed: int = 0) -> float:
    """How well boosted trees tell which rows are real: 0.5 not at all, 1 always (Lopez-Paz 2017).

    Of rows that no tree has seen, in five folds; as many rows of each kind.
    """
    import lightgbm
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(seed)
    count = min(len(real), len(synthetic))
    X = np.vstack([rows[rng.permutation(len(rows))[:count]] for rows in (real, synthetic)])
    y = np.repeat([1.0, 0.0], count)
    fold = rng.permutation(len(X)) % _FOLDS
    scores = np.empty(len(X))
    with one_thread():
        for held in range(_FOLDS):
            part = lightgbm.Dataset(X[fold != held], y[fold != held])
            chosen = {**_PARAMETERS, "objective": "binary", "seed": seed}
            model = lightgbm.train(chosen, part, _ROUNDS)
            scores[fold == held] = model.predict(X[fold == held], num_threads=1)
    return float(roc_auc_score(y, scores))


def global_utility(
    space: Space, train: Floats, synthetic: Floats, test: Floats, seed: int = 0
) -> float:
    """Every column predicted from all others: the skill on real rows that is kept.

    The skill of a column is how much of the error of its mean, or its commonest label, boosted
    trees take away. Returned is the mean of min(skill by synthetic, skill by real rows), both at
    least 0, over the mean of the skills by real rows: 1 is nothing lost.
    """
    kept = possible = 0.0
    with one_thread():
        for place in range(len(space)):
            real = max(_skill(space, place, train, test, seed), 0.0)
            made = max(_skill(space, place, synthetic, test, seed), 0.0)
            kept, possible = kept + min(real, made), possible + real
    return kept / possible if possible > 0 else 1.0


def _skill(space: Space, place: int, rows: Floats, test: Floats, seed: int) -> float:
    import lightgbm

    parameter = space.parameters[place]
    others = [j for j in range(len(space)) if j != place]
    y, truth = rows[:, place], test[:, place]
    chosen = {**_PARAMETERS, "seed": seed}
    if isinstance(parameter, Category):
        known, codes = np.unique(y, return_inverse=True)
        plain = (truth != known[np.bincount(codes).argmax()]).mean()
        if len(known) < 2 or plain == 0:
            return 0.0
        chosen |= {"objective": "multiclass", "num_class": len(known)}
        part = lightgbm.Dataset(rows[:, others], codes)
        scores = np.asarray(lightgbm.train(chosen, part, _ROUNDS_EACH).predict(test[:, others]))
        return float(1 - (known[scores.argmax(axis=1)] != truth).mean() / plain)
    plain = np.square(truth - y.mean()).mean()
    if plain == 0 or np.ptp(y) == 0:
        return 0.0
    part = lightgbm.Dataset(rows[:, others], y)
    predicted = np.asarray(
        lightgbm.train({**chosen, "objective": "regression"}, part, _ROUNDS_EACH).predict(
            test[:, others]
        )
    )
    return float(1 - np.square(predicted - truth).mean() / plain)
