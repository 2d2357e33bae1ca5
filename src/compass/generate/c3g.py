"""C3G: the set of configurations with the least loss, taken literally (COMPASS, equation 1).

    L = sum_i [ valid * L_valid(x_i) + proximity * L_prox(x_i, x) + constraint * Phi(x_i) ]
        - diversity * L_div(x_1 .. x_n)

The four weights are `Settings.loss`; the terms are in `compass.generate.loss` and, for Phi,
`compass.generate.repair`. Nothing else decides: no term comes before another, and a rule counts
only by how far it is broken, so that the set with the least loss may break rules. Where the paper
leaves something open it is read so:

* A goal that is minimised or maximised has no range, so no hinge: its objective value (the outcome
  in standard deviations, smaller is better) takes the place of L_valid.
* x is where the search starts: the baseline with the stated changes made, or for a recommendation
  the past run that it begins with.
* A set holds different configurations: without diversity it is the n with the least loss, not n
  times the same. They take legal values of each column.
* Columns that nobody asked about move only where a rule leaves no other way.
* Of sets with the same loss any may be taken: chance decides, by the seed.
* Outcomes are those that the model predicts; past runs of a configuration do not count.

What leaves the generator obeys the rules all the same: members of the set that break one are left
out and counted in `Candidates.withheld`.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from compass import registry
from compass.domain.space import Number
from compass.generate import loss
from compass.generate.base import Candidates, Columns, Floats, with_columns
from compass.generate.blocks import at_most, column_values
from compass.generate.least_set import least_set, spread_firsts
from compass.generate.repair import restore_forced
from compass.generate.score import ScoredCandidates, order, score
from compass.generate.task import SearchTask
from compass.prepare.geometry import nearest_rows
from compass.rules import domains_of

_NEAR_ROWS = 128  # past runs near the start whose settings are tried
_FAR_ROWS = 128  # past runs from anywhere
_MUTATE = 0.25  # chance that a column of a child gets a new value
_SINGLE = 64  # values of one column tried while polishing
_PAIRED = 16  # values of each of two columns tried together
_BATCH = 8192  # configurations tried in one round of polishing
_ROUNDS = 8
_STARTS = 16  # starts of the search in the pool, of either kind
_WORK = 100_000  # members of sets times configurations of the pool that they are compared with

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class LeastLoss:
    """The set that the search found, rule-breaking members included."""

    X: Floats  # [n, d] cheapest first
    loss: float  # of the set
    evaluated: int
    complete: bool  # every configuration was tried
    timed_out: bool


@registry.add("generator", "c3g")
class C3G:
    """The loss of the COMPASS paper, minimised as it stands over sets of configurations."""

    name = "c3g"
    weighs_goals = True

    @staticmethod
    def generate(task: SearchTask) -> Candidates:
        """The members of the set that obey every rule, in the order of decision 0003."""
        found = least_loss(task)
        scored = score(task, found.X)
        legal = scored.take(np.flatnonzero(scored.violation == 0))
        ranked = legal.take(order(task, legal))
        # Never exhaustive: what was tried and is not in the set may be legal and meet the goals.
        candidates = ranked.candidates(evaluated=found.evaluated, timed_out=found.timed_out)
        return replace(candidates, withheld=len(scored) - len(legal))


def costs(task: SearchTask, scored: ScoredCandidates) -> Floats:
    """What each configuration adds to the loss of every set that it is in, [n]."""
    weights = task.settings.loss
    return (
        _weighted(weights.valid, scored.valid + scored.preference)
        + _weighted(weights.proximity, scored.proximity)
        + _weighted(weights.constraint, scored.violation)
    )


def _weighted(weight: float, term: Floats) -> Floats:
    # A violation may be infinite, and a term that is switched off must not make it NaN.
    return weight * term if weight else np.zeros(len(term))


def set_loss(task: SearchTask, X: Floats) -> float:
    """The loss of the set X [n, d]."""
    total = float(costs(task, score(replace(task, past_runs=None), X)).sum())
    return total - task.settings.loss.diversity * loss.diversity(X, task.geometry)


def least_loss(task: SearchTask) -> LeastLoss:
    """The set of `task.count` different configurations with the least loss that was found.

    In a small space every configuration is tried; else a population grows around the best set, and
    its members are improved one and two columns at a time.
    """
    task = replace(task, past_runs=None)
    pool = _Pool(task)
    movable = [int(column) for column in task.movable]
    values = {column: _values(task, column) for column in movable}
    sizes = [len(values[column]) for column in movable]
    small = float(np.prod(sizes, dtype=np.float64)) <= task.settings.search.enumerate
    rng = np.random.default_rng(task.seed)
    if small:
        pool.add(rng.permutation(_all(task, values)))
        chosen = _best(pool, ())
    else:
        chosen = _search(pool, values, rng)
    ranked = chosen[np.argsort(pool.cost[chosen], kind="stable")]
    X = pool.X[ranked]
    late = task.timed_out and not small
    return LeastLoss(X, set_loss(task, X), len(pool.X), small, late)


@dataclass(eq=False)
class _Pool:
    """Every configuration that was tried, once, with its cost."""

    task: SearchTask
    X: Floats = field(init=False)  # [m, d]
    cost: Floats = field(init=False)  # [m]
    _seen: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.X, self.cost = np.empty((0, len(self.task.start))), np.empty(0)

    def add(self, X: Floats) -> None:
        """Try configurations [k, d]; those that were tried before cost nothing."""
        X = restore_forced(self.task, X) + 0.0  # -0.0 is 0.0
        fresh = []
        for row, x in enumerate(X):
            key = x.tobytes()
            if key not in self._seen:
                self._seen.add(key)
                fresh.append(row)
        if fresh:
            self.X = np.concatenate([self.X, X[fresh]])
            self.cost = np.concatenate([self.cost, costs(self.task, score(self.task, X[fresh]))])

    def shuffle(self, rng: Rng, places: Columns) -> Columns:
        """Bring the pool into a random order; where the configurations at these places are now."""
        order_of = rng.permutation(len(self.X))
        self.X, self.cost = self.X[order_of], self.cost[order_of]
        return np.argsort(order_of)[places]


def _best(pool: _Pool, now: Columns | tuple[int, ...]) -> Columns:
    """Positions of the best set of the pool; `now` is one to start from."""
    task = pool.task
    firsts = [[int(place) for place in now]]
    if not len(now):
        starts = min(_STARTS, _WORK // (len(pool.X) * max(1, task.count)))
        firsts = spread_firsts(pool.X, pool.cost, task.movable, starts)
    weight = task.settings.loss.diversity
    return least_set(pool.X, pool.cost, task.count, weight, task.geometry, firsts)


def _values(task: SearchTask, column: int) -> Floats:
    """The legal values of a column that are tried, ascending; no rule narrows them."""
    name = task.space.names[column]
    found = column_values(task, column, domains_of(task.space, task.space.names)[name])
    if column in task.forced:
        found = np.union1d(found, task.start[[column]])
    return found


def _all(task: SearchTask, values: dict[int, Floats]) -> Floats:
    """Every combination of the values as complete configurations."""
    sizes = [len(one) for one in values.values()]
    index = np.unravel_index(np.arange(int(np.prod(sizes))), sizes) if sizes else ()
    X = np.repeat(task.start[None, :], int(np.prod(sizes)), axis=0)
    for (column, listed), rows in zip(values.items(), index, strict=True):
        X[:, column] = listed[rows]
    return X


def _search(pool: _Pool, values: dict[int, Floats], rng: Rng) -> Columns:
    """Seeds, generations of a population, and polishing of the set."""
    task, settings = pool.task, pool.task.settings.search
    pool.add(_seeds(task, values, rng))
    chosen = _best(pool, ())
    for _ in range(settings.generations):
        if task.timed_out:
            return chosen
        pool.add(_children(pool, chosen, values, rng))
        chosen = _best(pool, chosen)
    chosen = _best(pool, ())
    for _ in range(_ROUNDS):
        before = pool.X[chosen]
        if task.timed_out:
            break
        pool.add(_neighbours(before, values, rng))
        chosen = _best(pool, chosen)
        if np.array_equal(pool.X[chosen], before):
            break
    return _best(pool, pool.shuffle(rng, chosen))


def _nearest(values: Floats, wanted: Floats) -> Floats:
    """The listed value nearest to each wanted one."""
    right = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    below, above = values[np.maximum(right - 1, 0)], values[right]
    return np.where(np.abs(below - wanted) <= np.abs(above - wanted), below, above)


def _seeds(task: SearchTask, values: dict[int, Floats], rng: Rng) -> Floats:
    """The start, the settings of past runs near and far, and random ones, on listed values."""
    count = task.settings.search.population
    random = np.repeat(task.start[None, :], 2 * count, axis=0)
    for column, listed in values.items():
        random[:, column] = listed[rng.integers(len(listed), size=len(random))]
    rows = task.observed
    near = nearest_rows(rows, task.start, task.movable, task.geometry, _NEAR_ROWS)
    far = rng.integers(len(rows), size=_FAR_ROWS if len(rows) else 0)
    past = np.concatenate([task.start[None, :], rows[near], rows[far]])
    known = with_columns(task.start, task.movable, past[:, task.movable])
    for column, listed in values.items():
        known[:, column] = _nearest(listed, known[:, column])
    return np.concatenate([known, random])


def _children(pool: _Pool, chosen: Columns, values: dict[int, Floats], rng: Rng) -> Floats:
    """New configurations out of the cheapest ones and of the members of the set.

    Columns come from either parent; some take a value from anywhere, a neighbouring one, or one on
    the way back to the start.
    """
    task, count = pool.task, pool.task.settings.search.population
    cheap = np.argsort(pool.cost, kind="stable")[:count]
    parents = pool.X[np.concatenate([np.repeat(chosen, max(1, count // (2 * len(chosen)))), cheap])]
    first = parents[rng.integers(len(parents), size=2 * count)]
    second = parents[rng.integers(len(parents), size=2 * count)]
    X = np.where(rng.random(first.shape) < 0.5, first, second)
    for column, listed in values.items():
        rows = np.flatnonzero(rng.random(len(X)) < max(_MUTATE, 1.0 / len(values)))
        last = len(listed) - 1
        at = np.minimum(np.searchsorted(listed, X[rows, column]), last)
        start = min(int(np.searchsorted(listed, task.start[column])), last)
        anywhere = rng.integers(len(listed), size=len(rows))
        if isinstance(task.space.parameters[column], Number):
            beside = np.clip(at + rng.choice([-1, 1], size=len(rows)), 0, last)
            between = (start + rng.random(len(rows)) * (at - start)).astype(np.int64)
            kind = rng.integers(3, size=len(rows))
            anywhere = np.choose(kind, [anywhere, beside, between])
        X[rows, column] = listed[anywhere]
    return np.asarray(X)


def _neighbours(members: Floats, values: dict[int, Floats], rng: Rng) -> Floats:
    """The members [n, d] with one column changed, and with two, as far as a batch allows."""
    found = []
    columns = list(values)
    room = max(_BATCH // len(members), _PAIRED * _PAIRED)
    pairs = [(a, b) for place, a in enumerate(columns) for b in columns[place + 1 :]]
    for x in members:
        tried = 0
        for column in columns:
            some = _around(values[column], x[column], min(_SINGLE, max(4, room // len(columns))))
            found.append(with_columns(x, column, some))
            tried += len(some)
        for place in rng.permutation(len(pairs)):
            if tried >= room:
                break
            one, other = pairs[place]
            sides = (_around(values[column], x[column], _PAIRED) for column in (one, other))
            grid = np.meshgrid(*sides)
            both = np.column_stack([axis.ravel() for axis in grid])
            found.append(with_columns(x, np.array([one, other]), both))
            tried += len(both)
    return np.concatenate(found)


def _around(values: Floats, now: float, count: int) -> Floats:
    """Up to `count` of the values: half of them next to the present one, half from anywhere."""
    if len(values) <= count:
        return values
    first = int(np.clip(np.searchsorted(values, now) - count // 4, 0, len(values) - count // 2))
    return np.union1d(values[first : first + count // 2], at_most(count // 2, values))
