"""C3G: a population search that only ever keeps legal configurations."""

from dataclasses import replace

import numpy as np

from compass import registry
from compass.domain.space import Number
from compass.generate.base import Arena, Floats, Generated
from compass.generate.breed import Herd, children, draw, herd_of, mended
from compass.generate.measured import weighed
from compass.generate.nearest import nearest_rows
from compass.generate.pick import pick, preferred
from compass.generate.planes import Planes, planes, reaching
from compass.generate.repair import broken, repair, settle
from compass.generate.score import Scored, join, order, score
from compass.generate.slope import descend
from compass.generate.start import Block, blocks
from compass.prepare.legal import legal_mask

_ARCHIVE = 600  # good candidates remembered for picking different answers
_NEAR_ROWS = 128  # past runs near the start whose settings are tried
_FAR_ROWS = 64  # past runs from anywhere
_POLISHED = 2  # best candidates that are improved one block at a time
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
        bare = replace(arena, record=None)
        if not len(arena.movable):
            return _single(arena)
        groups = blocks(bare)
        if any(block.table is not None and not len(block.table) for block in groups):
            return _nothing(arena, exhaustive=False)
        few = _combinations(groups) <= arena.settings.search.enumerate
        exhaustive = few and all(block.complete for block in groups)
        table = settle(bare, _all(bare, groups)) if few else None
        found = score(bare, table) if table is not None else None
        if not exhaustive:
            found = _search(bare, groups, found)
        assert found is not None
        return _finish(arena, weighed(arena, found), exhaustive)


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
        chosen.X,
        chosen.valid <= 0,
        chosen.proximity,
        exhaustive,
        evaluated=len(scored),
        cut=arena.late and not exhaustive,
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
    """Seeds, exact two-parameter changes, a population, and polishing of the best.

    `tried` are candidates that have been scored already.
    """
    rng = np.random.default_rng(arena.seed)
    settings = arena.settings.search
    herd = herd_of(arena, groups)
    archive = [score(arena, _unique(settle(arena, _seeds(herd, rng))))]
    if tried is not None:
        archive.append(tried.take(order(arena, tried)[: settings.population]))
    sheet = planes(arena, groups)
    if sheet is not None:
        # The better what single columns reach, the less of the planes has to be looked at.
        for look in (sheet.along, sheet.around):
            moves = look(herd.home, _incumbent(arena, join(archive)))
            archive.append(score(arena, _unique(settle(arena, moves))))
    population = _best(arena, join(archive), settings.population)
    still = 0
    for _ in range(settings.generations):
        bred = settle(arena, children(herd, population.X, settings.population, rng))
        fresh = score(arena, _unique(bred))
        before = population.X[0]
        population = _best(arena, join([population, fresh]), settings.population)
        archive.append(fresh)
        still = still + 1 if np.array_equal(before, population.X[0]) else 0
        if arena.late or (still >= settings.patience and population.valid[0] <= 0):
            break
    archive += _polish(herd, sheet, population, rng)
    return _remembered(arena, join(archive))


def _incumbent(arena: Arena, scored: Scored) -> float:
    """The proximity of the closest candidate that meets everything; infinite when none does."""
    if not arena.proximity or any(target.direction for target in arena.targets):
        return np.inf
    good = (scored.violation == 0) & (scored.valid <= 0)
    return float(scored.proximity[good].min(initial=np.inf))


def _best(arena: Arena, scored: Scored, count: int) -> Scored:
    """The best different candidates, best first."""
    ranked = order(arena, scored)[: 2 * count]
    return scored.take(_first_of_each(scored.X, ranked)[:count])


def _remembered(arena: Arena, scored: Scored) -> Scored:
    """Different candidates, best first; of the worse ones only a choice."""
    ranked = _first_of_each(scored.X, order(arena, scored))
    # The very best are often all alike: a choice of the others keeps different answers at hand.
    half = max(_ARCHIVE, 40 * arena.count) // 2
    best, others = ranked[:half], ranked[half:]
    step = max(1, -(-len(others) // half))
    return scored.take(np.concatenate([best, others[::step]]))


def _seeds(herd: Herd, rng: np.random.Generator) -> Floats:
    """The start, settings of past runs near it, and random legal settings."""
    arena, movable = herd.arena, herd.arena.movable
    observed = arena.observed
    parts = [herd.home[None, :]]
    if len(observed):
        closest = nearest_rows(observed, arena.start, movable, arena.geometry, _NEAR_ROWS)
        others = rng.integers(len(observed), size=min(_FAR_ROWS, len(observed)))
        rows = observed[np.concatenate([closest, others])]
        past = np.repeat(arena.start[None, :], len(rows), axis=0)
        past[:, movable] = rows[:, movable]
        parts.append(_legal(arena, past))
    random = np.repeat(arena.start[None, :], arena.settings.search.population, axis=0)
    for block in herd.groups:
        random[:, block.columns] = draw(block, len(random), rng)
    parts.append(random)
    X = np.concatenate(parts)
    fine = broken(arena, X) == 0
    poor = X[~fine][: 2 * arena.settings.search.population]
    keep = np.zeros(poor.shape, dtype=np.bool_)
    return np.concatenate([X[fine], mended(herd, poor, keep, rng)])


def _legal(arena: Arena, X: Floats) -> Floats:
    """The configurations whose movable values are on their grids and inside their ranges."""
    fine = np.ones(len(X), dtype=bool)
    for column in arena.movable:
        fine &= legal_mask(arena.space.parameters[column], X[:, column])
    return np.asarray(X[fine])


def _polish(
    herd: Herd, sheet: Planes | None, population: Scored, rng: np.random.Generator
) -> list[Scored]:
    """The best candidates improved until nothing helps: two columns, or one block, at a time."""
    arena, tried = herd.arena, []
    for place in _heads(arena, population):
        if arena.late:
            break
        head = population.take(np.array([place]))
        if sheet is not None:
            head = sheet.descend(head)
            tried.append(head)
        elif arena.predict.gradient(head.X) is not None:
            head = descend(herd, head, rng)
            tried.append(head)
        tables = [b for b in herd.groups if b.table is not None and len(b.columns) > 2]
        if sheet is None or tables:
            tried += _block_by_block(herd, tables if sheet else herd.groups, head, rng)
    if tried and sheet is not None and arena.proximity and not arena.late:
        tried += _smaller_changes(herd, join(tried))
    return tried


def _heads(arena: Arena, population: Scored) -> list[int]:
    """The best candidates that move different columns: what is alike ends at the same place."""
    moved = arena.start != population.X
    _, first = np.unique(moved, axis=0, return_index=True)
    return [int(place) for place in np.sort(first)[:_POLISHED]]


def _smaller_changes(herd: Herd, tried: Scored) -> list[Scored]:
    """Where a value is minimised: smaller changes that come within the tolerance of the best."""
    arena = herd.arena
    if not any(target.direction for target in arena.targets):
        return []
    goal = reaching(arena, tried.take(order(arena, tried)[:1]))
    sheet = planes(goal, herd.groups)
    assert sheet is not None
    heads = score(goal, np.concatenate([tried.X, settle(arena, sheet.around(herd.home))]))
    ends = [sheet.descend(heads.take(place[None])).X for place in order(goal, heads)[:_POLISHED]]
    return [score(arena, np.concatenate(ends))]


def _block_by_block(
    herd: Herd, groups: list[Block], current: Scored, rng: np.random.Generator
) -> list[Scored]:
    arena, tried = herd.arena, []
    for _ in range(_PASSES if not arena.late else 0):
        before = current.X.copy()
        for block in groups:
            batch = score(arena, settle(arena, _alternatives(arena, block, current.X[0], rng)))
            both = join([current, batch])
            current = both.take(order(arena, both)[:1])
            tried.append(batch)
        if np.array_equal(before, current.X):
            break
    return tried


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
