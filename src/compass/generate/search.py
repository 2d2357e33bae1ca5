"""C3G: a population search that only ever keeps legal configurations."""

import numpy as np

from compass import registry
from compass.domain.space import Number
from compass.generate import loss
from compass.generate.base import Arena, Bools, Floats, Generated
from compass.generate.pick import pick, preferred
from compass.generate.repair import broken, repair, settle
from compass.generate.score import Scored, join, order, score
from compass.generate.start import Block, blocks
from compass.prepare.legal import legal_mask, snap

_ARCHIVE = 4000  # good candidates remembered for picking different answers
_NEAR_ROWS = 1024  # past runs near the start whose settings are tried
_POLISHED = 3  # best candidates that are improved one block at a time
_POLISH_TABLE = 512  # alternatives of a block tried while polishing
_FINER = 96  # finer values of a single column tried while polishing
_PASSES = 4


@registry.add("generator", "c3g")
class C3G:
    """Population search with repair, on cells of the model and legal values only."""

    name = "c3g"

    @staticmethod
    def generate(arena: Arena) -> Generated:
        """Distinct legal candidates, best first. The same arena gives the same answer."""
        if not len(arena.movable):
            return _single(arena)
        groups = blocks(arena)
        if any(block.table is not None and not len(block.table) for block in groups):
            return _nothing(arena, exhaustive=False)
        few = _combinations(groups) <= arena.settings.search.enumerate
        exhaustive = few and all(block.complete for block in groups)
        table = settle(arena, _all(arena, groups)) if few else None
        found = score(arena, table) if table is not None else None
        if not exhaustive:
            found = _search(arena, groups, found)
        assert found is not None
        return _finish(arena, found, exhaustive)


def _single(arena: Arena) -> Generated:
    return _finish(arena, score(arena, arena.start[None, :]), exhaustive=True)


def _nothing(arena: Arena, exhaustive: bool) -> Generated:
    empty = np.empty((0, len(arena.start)))
    return Generated(empty, np.empty(0, dtype=bool), np.empty(0), exhaustive)


def _finish(arena: Arena, scored: Scored, exhaustive: bool) -> Generated:
    legal = scored.take(np.flatnonzero(scored.violation == 0))
    if not len(legal):
        return _nothing(arena, exhaustive)
    ranked = preferred(arena, legal)
    meets = ranked.valid <= 0
    if meets[0]:
        ranked = ranked.take(np.flatnonzero(meets))
    chosen = _plain_numbers(arena, ranked.take(pick(arena, ranked)))
    return Generated(
        chosen.X, chosen.valid <= 0, chosen.proximity, exhaustive, evaluated=len(scored)
    )


def _combinations(groups: list[Block]) -> float:
    sizes = [np.inf if block.table is None else float(len(block.table)) for block in groups]
    return float(np.prod(sizes))


def _all(arena: Arena, groups: list[Block]) -> Floats:
    """Every combination of the blocks' legal tuples as complete configurations."""
    sizes = [len(block.table) for block in groups if block.table is not None]
    index = np.unravel_index(np.arange(int(np.prod(sizes))), sizes)
    X = np.repeat(arena.start[None, :], len(index[0]), axis=0)
    for block, rows in zip(groups, index, strict=True):
        assert block.table is not None
        X[:, block.columns] = block.table[rows]
    return X


def _search(arena: Arena, groups: list[Block], tried: Scored | None) -> Scored:
    """The population search; `tried` are candidates that have been scored already."""
    rng = np.random.default_rng(arena.seed)
    settings = arena.settings.search
    seeds = _seeds(arena, groups, rng)
    scored = score(arena, _unique(settle(arena, seeds)))
    if tried is not None:
        scored = join([scored, tried.take(order(arena, tried)[: settings.population])])
    archive = [scored]
    population = scored.take(order(arena, scored)[: settings.population])
    for _ in range(settings.generations):
        children = _children(arena, groups, population, rng)
        fresh = score(arena, _unique(settle(arena, children)))
        both = join([population, fresh])
        keep = _first_of_each(both.X, order(arena, both))
        population = both.take(keep[: settings.population])
        archive.append(fresh)
    archive.append(_polish(arena, groups, population, rng))
    everything = join(archive)
    ranked = _first_of_each(everything.X, order(arena, everything))
    # The very best are often all alike: a choice of the others keeps different answers at hand.
    best, others = ranked[: _ARCHIVE // 2], ranked[_ARCHIVE // 2 :]
    step = max(1, -(-len(others) // (_ARCHIVE // 2)))
    return everything.take(np.concatenate([best, others[::step]]))


def _seeds(arena: Arena, groups: list[Block], rng: np.random.Generator) -> Floats:
    """The start, settings of past runs near it, and random legal settings."""
    movable = arena.movable
    observed = arena.observed
    parts = [_home(arena)[None, :]]
    if len(observed):
        near = loss.column_distance(observed, arena.start, arena.geometry)[:, movable].sum(axis=1)
        closest = np.argsort(near, kind="stable")[:_NEAR_ROWS]
        others = rng.integers(len(observed), size=min(_NEAR_ROWS, len(observed)))
        rows = observed[np.concatenate([closest, others])]
        past = np.repeat(arena.start[None, :], len(rows), axis=0)
        past[:, movable] = rows[:, movable]
        parts.append(_legal(arena, past))
    random = np.repeat(arena.start[None, :], arena.settings.search.population, axis=0)
    for block in groups:
        random[:, block.columns] = _draw(block, len(random), rng)
    parts.append(random)
    X = np.concatenate(parts)
    loose = [block for block in groups if block.table is None]
    if not loose:
        return X
    fine = broken(arena, X) == 0
    poor = X[~fine][: 2 * arena.settings.search.population]
    return np.concatenate([X[fine], repair(arena, poor, loose)])


def _home(arena: Arena) -> Floats:
    """The start with legal values of what may be chosen: a baseline need not have them."""
    home = arena.start.copy()
    for column in arena.free:
        home[column] = snap(arena.space.parameters[column], home[[column]])[0]
    return home


def _legal(arena: Arena, X: Floats) -> Floats:
    """The configurations whose movable values are on their grids and inside their ranges."""
    fine = np.ones(len(X), dtype=bool)
    for column in arena.movable:
        fine &= legal_mask(arena.space.parameters[column], X[:, column])
    return np.asarray(X[fine])


def _draw(block: Block, n: int, rng: np.random.Generator) -> Floats:
    """Random values of a block, [n, columns]."""
    if block.table is not None:
        return np.asarray(block.table[rng.integers(len(block.table), size=n)])
    return np.column_stack([values[rng.integers(len(values), size=n)] for values in block.values])


def _children(
    arena: Arena, groups: list[Block], population: Scored, rng: np.random.Generator
) -> Floats:
    """Crossover block by block, then mutation, pull-back towards the start, and repair."""
    n, size = arena.settings.search.population, len(population)
    mother = population.X[(size * rng.random(n) ** 2).astype(np.int64)]
    father = population.X[(size * rng.random(n) ** 2).astype(np.int64)]
    children, home = mother.copy(), _home(arena)
    touched = np.zeros(children.shape, dtype=bool)
    chance = max(1.0 / len(groups), 0.25)
    for block in groups:
        columns = block.columns
        from_father = rng.random(n) < 0.5
        children[np.ix_(from_father, columns)] = father[np.ix_(from_father, columns)]
        mutate = rng.random(n) < chance
        if mutate.any():
            _mutate(block, children, mutate, touched, arena.start, rng)
        back = rng.random(n) < 0.15 * arena.proximity
        children[np.ix_(back, columns)] = home[columns]
    loose = [block for block in groups if block.table is None]
    return repair(arena, children, loose, keep=touched) if loose else _obeying(arena, children)


def _obeying(arena: Arena, X: Floats) -> Floats:
    """Pulling a block back to the start may break its rules: such children are dropped."""
    return np.asarray(X[broken(arena, X) == 0])


def _mutate(
    block: Block, X: Floats, rows: Bools, touched: Bools, start: Floats, rng: np.random.Generator
) -> None:
    """Replace the block's values: all of them by a legal combination, or single columns.

    Single columns go to a random value, or to one between where they are and the start.
    """
    chosen = np.flatnonzero(rows)
    if block.table is not None:
        whole = chosen if block.complete else chosen[rng.random(len(chosen)) < 0.5]
        X[np.ix_(whole, block.columns)] = block.table[
            rng.integers(len(block.table), size=len(whole))
        ]
        chosen = np.setdiff1d(chosen, whole)
    for place, (column, values) in enumerate(zip(block.columns, block.values, strict=True)):
        mine = chosen[rng.integers(len(block.columns), size=len(chosen)) == place]
        here = np.searchsorted(values, X[mine, column])
        home = np.searchsorted(values, start[column])
        back = (home + rng.random(len(mine)) * (here - home)).astype(np.int64)
        fresh = rng.integers(len(values), size=len(mine))
        index = np.where(rng.random(len(mine)) < 0.5, fresh, back)
        X[mine, column] = values[np.clip(index, 0, len(values) - 1)]
        touched[mine, column] = True


def _polish(
    arena: Arena, groups: list[Block], population: Scored, rng: np.random.Generator
) -> Scored:
    """The best candidates, and the start, improved one block at a time until nothing helps."""
    tried = []
    heads = [*population.X[:_POLISHED], _home(arena)]
    for head in heads:
        current = score(arena, head[None, :])
        for _ in range(_PASSES):
            before = current.X.copy()
            for block in groups:
                batch = score(arena, settle(arena, _alternatives(arena, block, current.X[0], rng)))
                both = join([current, batch])
                current = both.take(order(arena, both)[:1])
                tried.append(batch)
            if np.array_equal(before, current.X):
                break
    return join([population, *tried])


def _alternatives(arena: Arena, block: Block, x: Floats, rng: np.random.Generator) -> Floats:
    """Configurations that differ from x in one block only."""
    if block.table is not None:
        table = block.table
        if len(table) > _POLISH_TABLE:
            apart = (np.abs(table - x[block.columns]) / arena.geometry.scale[block.columns]).sum(1)
            near = np.argsort(apart, kind="stable")[: _POLISH_TABLE // 2]
            others = rng.integers(len(table), size=_POLISH_TABLE // 2)
            table = table[np.concatenate([near, others])]
        X = np.repeat(x[None, :], len(table), axis=0)
        X[:, block.columns] = table
        finer = [] if block.complete else _single_moves(arena, block, x)
        return np.concatenate([X, *finer])
    parts = []
    touched = []
    for column, values in zip(block.columns, block.values, strict=True):
        options = values if len(values) <= 64 else values[rng.integers(len(values), size=64)]
        X = np.repeat(x[None, :], len(options), axis=0)
        X[:, column] = options
        parts.append(X)
        mark = np.zeros(X.shape, dtype=bool)
        mark[:, column] = True
        touched.append(mark)
    return repair(arena, np.concatenate(parts), [block], keep=np.concatenate(touched))


def _single_moves(arena: Arena, block: Block, x: Floats) -> list[Floats]:
    """Finer values of single columns than the block's table has, where the rules allow them."""
    found = []
    for column, values in zip(block.columns, block.values, strict=True):
        near = np.argsort(np.abs(values - x[column]), kind="stable")[:_FINER]
        X = np.repeat(x[None, :], len(near), axis=0)
        X[:, column] = values[near]
        found.append(X[broken(arena, X) == 0])
    return found


def _plain_numbers(arena: Arena, chosen: Scored) -> Scored:
    """Numbers without a grid told with as few digits as the model's cell allows.

    A cell's edge such as 63.700001 is the nearest point of the cell; 63.8 is in the same cell and
    is what a person would type. The extra distance is at most one percent of the column's scale.
    """
    rounded = chosen.X.copy()
    fine = np.ones(len(rounded), dtype=bool)
    for column in arena.movable:
        parameter = arena.space.parameters[column]
        if not isinstance(parameter, Number) or parameter.step or parameter.allowed:
            continue
        edges = arena.predict.edges(int(column))
        untouched = (arena.start[column], arena.geometry.none[column])
        for row, value in enumerate(chosen.X[:, column]):
            if value not in untouched:
                rounded[row, column] = _short(value, float(arena.geometry.scale[column]), edges)
        fine &= legal_mask(parameter, rounded[:, column])
    again = score(arena, rounded)
    fine &= (again.violation == 0) & (again.valid <= chosen.valid)
    fine &= again.extreme <= chosen.extreme
    order_ = np.where(fine, np.arange(len(rounded)), np.arange(len(rounded)) + len(rounded))
    return join([again, chosen]).take(order_)


def _short(value: float, scale: float, edges: Floats | None) -> float:
    """The number with the fewest digits near `value` that lies in the same cell."""
    reach = 0.01 * scale
    low, high = value - reach, value + reach
    if edges is not None and len(edges):
        place = int(np.searchsorted(edges, np.float32(value)))
        if place > 0:
            low = max(low, float(np.nextafter(np.float32(edges[place - 1]), np.float32(np.inf))))
        if place < len(edges):
            high = min(high, float(np.nextafter(np.float32(edges[place]), np.float32(-np.inf))))
    for digits in range(1, 12):
        candidates = [
            float(f"{value:.{digits}g}"),
            _toward(value, digits, up=True),
            _toward(value, digits, up=False),
        ]
        inside = [c for c in candidates if low <= c <= high]
        if inside:
            return min(inside, key=lambda c: abs(c - value))
    return value


def _toward(value: float, digits: int, *, up: bool) -> float:
    """The next number with so many digits above or below."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(abs(value))) - digits + 1)
    steps = np.ceil(value / unit) if up else np.floor(value / unit)
    return float(f"{steps * unit:.12g}")


def _unique(X: Floats) -> Floats:
    return X[_first_of_each(X, np.arange(len(X)))]


def _first_of_each(
    X: Floats, ranked: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The positions in `ranked` without later repetitions of the same configuration."""
    rows = np.ascontiguousarray(X[ranked]).view(np.dtype((np.void, X.shape[1] * 8))).ravel()
    _, first = np.unique(rows, return_index=True)
    return np.asarray(ranked[np.sort(first)])
