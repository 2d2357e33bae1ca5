"""The default generator: a population search that only ever keeps legal configurations."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from compass import registry
from compass.domain.space import Number
from compass.generate.base import Candidates, Columns, Floats, with_columns
from compass.generate.blocks import Block, blocks
from compass.generate.gradient import descend
from compass.generate.objectives import objectives
from compass.generate.pairwise import PairwiseSearch, pairwise_search, reaching
from compass.generate.past import with_past_runs
from compass.generate.pick import pick, preferred
from compass.generate.repair import repair, restore_forced, rule_violation
from compass.generate.score import ScoredCandidates, order, score
from compass.generate.supported import towards_past_runs
from compass.generate.task import SearchTask
from compass.generate.variation import Variation, children, draw, repaired, variation_of
from compass.prepare.geometry import nearest_rows
from compass.prepare.legal import legal_mask

_PER_ANSWER = 2  # candidates that are kept for each answer that is wanted, where those are many
_ARCHIVE = 600  # good candidates remembered for picking different answers
_NEAR_ROWS = 128  # past runs near the start whose settings are tried
_FAR_ROWS = 64  # past runs from anywhere
_POLISHED = 2  # best candidates that are improved one block at a time
_POLISH_TABLE = 512  # alternatives of a block tried while polishing
_FINER = 96  # finer values of a single column tried while polishing
_PASSES = 4
_DOUBTED = 12  # best candidates that are looked at for support


@registry.add("generator", "legal-search")
class LegalSearch:
    """Population search with repair, on cells of the model and legal values only."""

    name = "legal-search"

    @staticmethod
    def generate(task: SearchTask) -> Candidates:
        """Distinct legal candidates, best first. The same task gives the same answer."""
        bare = replace(task, past_runs=None)
        if not len(task.movable):
            return _finish(task, score(task, task.start[None, :]), exhaustive=True)
        groups = blocks(bare)
        if any(block.table is not None and not len(block.table) for block in groups):
            return _nothing(task, exhaustive=False)
        few = combinations(groups) <= task.settings.search.enumerate
        exhaustive = few and all(block.complete for block in groups)
        found = score(bare, restore_forced(bare, every_combination(bare, groups))) if few else None
        if not exhaustive:
            found = _search(bare, groups, found)
        assert found is not None
        if not exhaustive:
            found = with_supported(bare, found)
        return _finish(task, with_past_runs(task, found), exhaustive)


def with_supported(task: SearchTask, found: ScoredCandidates) -> ScoredCandidates:
    """Candidates with some that are nearer to past runs, where the best are far from any."""
    fine = task.trusted or task.supported
    if fine is None or not len(found):
        return found
    best = found.X[order(task, found)[:_DOUBTED]]
    best = best[~(fine(best) & (True if task.usual is None else task.usual(best)))]
    if not len(best):
        return found
    return ScoredCandidates.join([found, score(task, towards_past_runs(task, best))])


def _nothing(task: SearchTask, exhaustive: bool) -> Candidates:
    return score(task, np.empty((0, len(task.start)))).candidates(exhaustive=exhaustive)


def _finish(task: SearchTask, scored: ScoredCandidates, exhaustive: bool) -> Candidates:
    legal = scored.take(np.flatnonzero(scored.violation == 0))
    if not len(legal):
        return _nothing(task, exhaustive)
    every = ranked = preferred(task, legal)
    meets = ranked.valid <= 0
    if meets[0]:
        ranked = ranked.take(np.flatnonzero(meets))
    chosen = plain_numbers(task, ranked.take(pick(task, ranked)))
    late = task.timed_out and not exhaustive
    found = chosen.candidates(exhaustive=exhaustive, evaluated=len(scored), timed_out=late)
    return replace(found, tried=every.X)


def combinations(groups: list[Block]) -> float:
    """How many combinations the tables of all blocks have; infinite where one has no table."""
    sizes = [np.inf if block.table is None else float(len(block.table)) for block in groups]
    return float(np.prod(sizes))


def every_combination(task: SearchTask, groups: list[Block]) -> Floats:
    """Every combination of the blocks' legal tuples as complete configurations."""
    sizes = [len(block.table) for block in groups if block.table is not None]
    index = np.unravel_index(np.arange(int(np.prod(sizes))), sizes)
    X = np.repeat(task.start[None, :], len(index[0]), axis=0)
    for block, rows in zip(groups, index, strict=True):
        assert block.table is not None
        X[:, block.columns] = block.table[rows]
    return X


def _search(
    task: SearchTask, groups: list[Block], tried: ScoredCandidates | None
) -> ScoredCandidates:
    """Seeds, exact two-parameter changes, a population, and polishing of the best.

    `tried` are candidates that have been scored already.
    """
    rng = np.random.default_rng(task.seed)
    settings, size = task.settings.search, population_size(task)
    variation = variation_of(task, groups)
    archive = [score(task, unique(restore_forced(task, seeds(variation, rng))))]
    if tried is not None:
        archive.append(tried.take(order(task, tried)[:size]))
    pairwise = pairwise_search(task, groups)
    if pairwise is not None:
        # The better what single columns reach, the less of the planes has to be looked at.
        for look in (pairwise.along, pairwise.around):
            moves = look(
                variation.legal_start, _incumbent_distance(task, ScoredCandidates.join(archive))
            )
            archive.append(score(task, unique(restore_forced(task, moves))))
    population = _best(task, ScoredCandidates.join(archive), size)
    unchanged = 0
    for _ in range(settings.generations):
        offspring = children(variation, population.X, size, rng)
        fresh = score(task, unique(restore_forced(task, offspring)))
        before = population.X[0]
        population = _best(task, ScoredCandidates.join([population, fresh]), size)
        archive.append(fresh)
        unchanged = unchanged + 1 if np.array_equal(before, population.X[0]) else 0
        if task.timed_out or (unchanged >= settings.patience and population.valid[0] <= 0):
            break
    archive += _polish(variation, pairwise, population, rng)
    return _remembered(task, ScoredCandidates.join(archive))


def population_size(task: SearchTask) -> int:
    """How many candidates are kept: more where many answers are wanted."""
    return max(task.settings.search.population, _PER_ANSWER * task.count)


def _incumbent_distance(task: SearchTask, scored: ScoredCandidates) -> float:
    """The proximity of the closest candidate that meets everything; infinite when none does."""
    if not task.proximity or objectives(task.targets):
        return np.inf
    good = (scored.violation == 0) & (scored.valid <= 0)
    return float(scored.proximity[good].min(initial=np.inf))


def _best(task: SearchTask, scored: ScoredCandidates, count: int) -> ScoredCandidates:
    """The best different candidates, best first."""
    ranked = order(task, scored)[: 2 * count]
    return scored.take(first_of_each(scored.X, ranked)[:count])


def _remembered(task: SearchTask, scored: ScoredCandidates) -> ScoredCandidates:
    """Different candidates, best first; of the worse ones only a choice."""
    ranked = first_of_each(scored.X, order(task, scored))
    # The very best are often all alike: a choice of the others keeps different answers at hand.
    half = max(_ARCHIVE, 40 * task.count) // 2
    best, others = ranked[:half], ranked[half:]
    step = max(1, -(-len(others) // half))
    return scored.take(np.concatenate([best, others[::step]]))


def seeds(variation: Variation, rng: np.random.Generator) -> Floats:
    """The start, settings of past runs near it, and random legal settings."""
    task, movable = variation.task, variation.task.movable
    observed = task.observed
    parts = [variation.legal_start[None, :]]
    if len(observed):
        closest = nearest_rows(observed, task.start, movable, task.geometry, _NEAR_ROWS)
        others = rng.integers(len(observed), size=min(_FAR_ROWS, len(observed)))
        rows = observed[np.concatenate([closest, others])]
        parts.append(_legal(task, with_columns(task.start, movable, rows[:, movable])))
    random = np.repeat(task.start[None, :], population_size(task), axis=0)
    for block in variation.groups:
        random[:, block.columns] = draw(block, len(random), rng)
    parts.append(random)
    X = np.concatenate(parts)
    fine = rule_violation(task, X) == 0
    poor = X[~fine][: 2 * population_size(task)]
    keep = np.zeros(poor.shape, dtype=np.bool_)
    return np.concatenate([X[fine], repaired(variation, poor, keep, rng)])


def _legal(task: SearchTask, X: Floats) -> Floats:
    """The configurations whose movable values are on their grids and inside their ranges."""
    fine = np.ones(len(X), dtype=bool)
    for column in task.movable:
        fine &= legal_mask(task.space.parameters[column], X[:, column])
    return np.asarray(X[fine])


def _polish(
    variation: Variation,
    pairwise: PairwiseSearch | None,
    population: ScoredCandidates,
    rng: np.random.Generator,
) -> list[ScoredCandidates]:
    """The best candidates improved until nothing helps: two columns, or one block, at a time."""
    task, tried = variation.task, []
    # What is likely enough is brought nearer afterwards (`generate.certain`): one is enough then.
    few = 1 if pairwise is None and task.chances is not None else _POLISHED
    for index in _different_moves(task, population)[:few]:
        if task.timed_out:
            break
        incumbent = population.take(np.array([index]))
        if pairwise is not None:
            incumbent = pairwise.descend(incumbent)
            tried.append(incumbent)
        elif task.predict.gradient(incumbent.X) is not None:
            incumbent = descend(variation, incumbent, rng)
            tried.append(incumbent)
        tables = [b for b in variation.groups if b.table is not None and len(b.columns) > 2]
        if pairwise is None or tables:
            groups = tables if pairwise else variation.groups
            tried += _block_by_block(variation, groups, incumbent, rng)
    if tried and pairwise is not None and task.proximity and not task.timed_out:
        tried += _smaller_changes(variation, ScoredCandidates.join(tried))
    return tried


def _different_moves(task: SearchTask, population: ScoredCandidates) -> list[int]:
    """The best candidates that move different columns: those that move the same end alike."""
    moved = task.start != population.X
    _, first = np.unique(moved, axis=0, return_index=True)
    return [int(index) for index in np.sort(first)[:_POLISHED]]


def _smaller_changes(variation: Variation, tried: ScoredCandidates) -> list[ScoredCandidates]:
    """Where a value is minimised: smaller changes that come within the tolerance of the best."""
    task = variation.task
    if not objectives(task.targets):
        return []
    goal = reaching(task, tried.take(order(task, tried)[:1]))
    pairwise = pairwise_search(goal, variation.groups)
    assert pairwise is not None
    near = restore_forced(task, pairwise.around(variation.legal_start))
    starts = score(goal, np.concatenate([tried.X, near]))
    best = order(goal, starts)[:_POLISHED]
    ends = [pairwise.descend(starts.take(index[None])).X for index in best]
    return [score(task, np.concatenate(ends))]


def _block_by_block(
    variation: Variation, groups: list[Block], current: ScoredCandidates, rng: np.random.Generator
) -> list[ScoredCandidates]:
    task, tried = variation.task, []
    for _ in range(_PASSES if not task.timed_out else 0):
        before = current.X.copy()
        for block in groups:
            batch = score(task, restore_forced(task, _alternatives(task, block, current.X[0], rng)))
            both = ScoredCandidates.join([current, batch])
            current = both.take(order(task, both)[:1])
            tried.append(batch)
        if np.array_equal(before, current.X):
            break
    return tried


def _alternatives(task: SearchTask, block: Block, x: Floats, rng: np.random.Generator) -> Floats:
    """Configurations that differ from x in one block only."""
    if block.table is not None:
        table = block.table
        if len(table) > _POLISH_TABLE:
            apart = (np.abs(table - x[block.columns]) / task.geometry.scale[block.columns]).sum(1)
            near = np.argsort(apart, kind="stable")[: _POLISH_TABLE // 2]
            others = rng.integers(len(table), size=_POLISH_TABLE // 2)
            table = table[np.concatenate([near, others])]
        finer = [] if block.complete else _single_moves(task, block, x)
        return np.concatenate([with_columns(x, block.columns, table), *finer])
    parts, columns = [], []
    for column, values in zip(block.columns, block.values, strict=True):
        options = values if len(values) <= 64 else values[rng.integers(len(values), size=64)]
        parts.append(with_columns(x, column, options))
        columns += len(options) * [column]
    touched = np.array(columns)[:, None] == np.arange(len(x))
    return repair(task, np.concatenate(parts), [block], keep=touched)


def _single_moves(task: SearchTask, block: Block, x: Floats) -> list[Floats]:
    """Finer values of single columns than the block's table has, where the rules allow them."""
    found = []
    for column, values in zip(block.columns, block.values, strict=True):
        near = np.argsort(np.abs(values - x[column]), kind="stable")[:_FINER]
        X = with_columns(x, column, values[near])
        found.append(X[rule_violation(task, X) == 0])
    return found


def plain_numbers(task: SearchTask, chosen: ScoredCandidates) -> ScoredCandidates:
    """Numbers without a grid given with as few digits as the model's cell allows.

    A cell's edge such as 63.700001 is the nearest point of the cell; 63.8 is in the same cell and
    is what a person would type. The extra distance is at most one percent of the column's scale.
    """
    rounded = chosen.X.copy()
    fine = np.ones(len(rounded), dtype=bool)
    for column in task.movable:
        parameter = task.space.parameters[column]
        if not isinstance(parameter, Number) or parameter.step or parameter.allowed:
            continue
        edges = task.predict.edges(int(column))
        untouched = (task.start[column], task.geometry.none[column])
        for row, value in enumerate(chosen.X[:, column]):
            if value not in untouched:
                rounded[row, column] = _short(value, float(task.geometry.scale[column]), edges)
        fine &= legal_mask(parameter, rounded[:, column])
    again = score(task, rounded)
    fine &= (again.violation == 0) & (again.valid <= chosen.valid)
    fine &= again.preference <= chosen.preference
    which = np.arange(len(rounded)) + np.where(fine, 0, len(rounded))
    return ScoredCandidates.join([again, chosen]).take(which)


def _short(value: float, scale: float, edges: Floats | None) -> float:
    """The number with the fewest digits near `value` that lies in the same cell."""
    reach = 0.01 * scale
    low, high = value - reach, value + reach
    if edges is not None and len(edges):
        cell = int(np.searchsorted(edges, np.float32(value)))
        if cell > 0:
            low = max(low, float(np.nextafter(np.float32(edges[cell - 1]), np.float32(np.inf))))
        if cell < len(edges):
            high = min(high, float(np.nextafter(np.float32(edges[cell]), np.float32(-np.inf))))
    for digits in range(1, 12):
        nearest = float(f"{value:.{digits}g}")
        around = (nearest, _toward(value, digits, np.ceil), _toward(value, digits, np.floor))
        inside = [c for c in around if low <= c <= high]
        if inside:
            return min(inside, key=lambda c: abs(c - value))
    return value


def _toward(value: float, digits: int, rounded: Callable[[float], float]) -> float:
    """The next number with so many digits above (`ceil`) or below (`floor`)."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(abs(value))) - digits + 1)
    return float(f"{rounded(value / unit) * unit:.12g}")


def unique(X: Floats) -> Floats:
    """Different configurations [m, d] in the order of the first of each."""
    return X[first_of_each(X, np.arange(len(X)))]


def first_of_each(X: Floats, ranked: Columns) -> Columns:
    """The positions in `ranked` without later repetitions of the same configuration."""
    rows = np.ascontiguousarray(X[ranked]).view(np.dtype((np.void, X.shape[1] * 8))).ravel()
    _, first = np.unique(rows, return_index=True)
    return np.asarray(ranked[np.sort(first)])
