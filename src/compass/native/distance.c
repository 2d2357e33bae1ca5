/* Kernels of compass.trust.distance and compass.prepare.geometry. */
#include "distance.h"

enum { BLOCK = 64 }; /* rows that lie close together; compass.trust.blocks has the number, too */

/* Put a value into `best` [k], which is ascending; the largest falls out. */
INLINE void insert(double value, double *best, int64_t k)
{
    int64_t place = k - 1;
    while (place > 0 && best[place - 1] > value) {
        best[place] = best[place - 1];
        place--;
    }
    best[place] = value;
}

/* kind, rows [c, n], point [c] -> total [n]: squared distances of all rows to a point. */
VECTORS static int squares(const Argument *a)
{
    const int64_t *kind = a[0].data, columns = a[0].shape[0], n = a[1].shape[1];
    const double *rows = a[1].data, *point = a[2].data;
    double *total = a[3].data;
    for (int64_t j = 0; j < columns; j++)
        add_squares(kind[j], rows + j * n, n, point[j], total);
    return 0;
}

typedef struct { /* rows [c, n] in blocks, and what the rows of each block [c, b] lie between */
    const int64_t *kind;
    const double *rows, *low, *high;
    const uint8_t *gaps; /* `none` among the rows of a block: 0 no, 1 some, 2 all of them */
    int64_t columns, n, count;
} Blocks;

INLINE Blocks blocks_of(const Argument *a)
{
    return (Blocks){.kind = a[0].data, .columns = a[0].shape[0], .rows = a[1].data,
                    .n = a[1].shape[1], .low = a[2].data, .high = a[3].data,
                    .count = a[2].shape[1], .gaps = a[4].data};
}

/* Squares that no row of a block can be nearer than, [b]. In the order of `add_squares` and with
 * its operations, so that rounding cannot make one larger than the distance of a row. */
INLINE void add_bounds(const Blocks *s, const double *point, double *bound)
{
    memset(bound, 0, s->count * sizeof *bound);
    for (int64_t j = 0; j < s->columns; j++) {
        const double *low = s->low + j * s->count, *high = s->high + j * s->count, q = point[j];
        const uint8_t *gaps = s->gaps + j * s->count;
        if (s->kind[j] == NUMBER)
            for (int64_t b = 0; b < s->count; b++) {
                double step = q < low[b] ? low[b] - q : q > high[b] ? q - high[b] : 0.0;
                bound[b] += step * step;
            }
        else if (s->kind[j] == CATEGORY)
            for (int64_t b = 0; b < s->count; b++)
                bound[b] += q < low[b] || q > high[b] ? 1.0 : 0.0;
        else if (isnan(q))
            for (int64_t b = 0; b < s->count; b++)
                bound[b] += gaps[b] ? 0.0 : 1.0;
        else
            for (int64_t b = 0; b < s->count; b++) {
                double step = q < low[b] ? low[b] - q : q > high[b] ? q - high[b] : 0.0;
                step *= step;
                bound[b] += gaps[b] == 2 || (gaps[b] == 1 && step > 1.0) ? 1.0 : step;
            }
    }
}

/* Squared distances of the rows of a block to a point. */
INLINE int64_t block_squares(const Blocks *s, int64_t block, const double *point, double *total)
{
    int64_t first = block * BLOCK, size = least_of(BLOCK, s->n - first);
    memset(total, 0, size * sizeof *total);
    for (int64_t j = 0; j < s->columns; j++)
        add_squares(s->kind[j], s->rows + j * s->n + first, size, point[j], total);
    return size;
}

/* The block to begin with: the others can then be left out more often. */
INLINE int64_t nearest_block(const double *bound, int64_t count)
{
    int64_t found = 0;
    for (int64_t b = 1; b < count; b++)
        if (bound[b] < bound[found])
            found = b;
    return found;
}

/* kind, rows, low, high, gaps, points [p, c], start, stop -> best [p, k]: the k smallest squared
 * distances of the points start .. stop - 1. */
VECTORS static int nearest(const Argument *a)
{
    Blocks s = blocks_of(a);
    int64_t k = a[8].shape[1];
    double *bound = malloc(sizeof(double) * (s.count + 1)), total[BLOCK];
    if (!bound)
        return NO_MEMORY;
    for (int64_t p = a[6].integer; p < a[7].integer; p++) {
        const double *point = (const double *)a[5].data + p * s.columns;
        double *best = (double *)a[8].data + p * k;
        add_bounds(&s, point, bound);
        int64_t begin = nearest_block(bound, s.count);
        for (int64_t turn = 0; turn < s.count; turn++) {
            int64_t b = turn == 0 ? begin : turn - (turn <= begin);
            if (bound[b] >= best[k - 1])
                continue;
            int64_t size = block_squares(&s, b, point, total);
            for (int64_t i = 0; i < size; i++)
                if (total[i] < best[k - 1])
                    insert(total[i], best, k);
        }
    }
    free(bound);
    return 0;
}

/* kind, rows, low, high, gaps, points [p, c], reach -> best [p, k], and of every row within reach
 * its place and squared distance; ends [p] is where those of a point begin, and then end. */
VECTORS static int around(const Argument *a)
{
    Blocks s = blocks_of(a);
    int64_t k = a[7].shape[1], *where = a[8].data, *ends = a[10].data;
    double reach = a[6].number, *squared = a[9].data;
    double *bound = malloc(sizeof(double) * (s.count + 1)), total[BLOCK];
    if (!bound)
        return NO_MEMORY;
    for (int64_t p = 0; p < a[5].shape[0]; p++) {
        const double *point = (const double *)a[5].data + p * s.columns;
        double *best = (double *)a[7].data + p * k;
        add_bounds(&s, point, bound);
        int64_t begin = nearest_block(bound, s.count);
        for (int64_t turn = 0; turn < s.count; turn++) {
            int64_t b = turn == 0 ? begin : turn - (turn <= begin);
            if (bound[b] >= best[k - 1] && bound[b] > reach)
                continue;
            int64_t size = block_squares(&s, b, point, total);
            for (int64_t i = 0; i < size; i++) {
                if (total[i] < best[k - 1])
                    insert(total[i], best, k);
                if (total[i] <= reach) {
                    where[ends[p]] = b * BLOCK + i;
                    squared[ends[p]++] = total[i];
                }
            }
        }
    }
    free(bound);
    return 0;
}

INLINE double key_of(const double *column, int64_t row)
{
    return isnan(column[row]) ? -INFINITY : column[row];
}

/* How far the rows [lo, hi) of an order lie apart in a column. */
static double width_of(int64_t kind, const double *column, const int64_t *order, int64_t lo,
                       int64_t hi)
{
    double low = INFINITY, high = -INFINITY;
    bool gaps = false;
    for (int64_t i = lo; i < hi; i++) {
        double value = column[order[i]];
        gaps |= isnan(value);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    if (kind == CATEGORY)
        return low < high ? 1.0 : 0.0;
    double wide = high > low ? high - low : 0.0;
    return gaps && wide < 1.0 && low <= high ? 1.0 : wide;
}

/* Order the rows [lo, hi) so that the first `middle - lo` have the smallest values of a column. */
static void split(const double *column, int64_t *order, int64_t lo, int64_t hi, int64_t middle)
{
    while (hi - lo > 1) {
        double first = key_of(column, order[lo]), last = key_of(column, order[hi - 1]);
        double pivot = key_of(column, order[lo + (hi - lo) / 2]);
        /* the median of three */
        if ((first <= pivot) != (pivot <= last))
            pivot = (first <= last) == (first <= pivot) ? last : first;
        int64_t less = lo, at = lo, more = hi;
        while (at < more) { /* less | equal | more */
            double key = key_of(column, order[at]);
            int64_t kept = order[at];
            if (key < pivot) {
                order[at++] = order[less];
                order[less++] = kept;
            } else if (key > pivot) {
                order[at] = order[--more];
                order[more] = kept;
            } else
                at++;
        }
        if (middle < less)
            hi = less;
        else if (middle >= more)
            lo = more;
        else
            return;
    }
}

/* kind, rows [c, n] -> order [n], which numbers all rows before: so that rows that follow each
 * other in blocks lie close together. Halves along the widest column, again and again. */
static int order_in_blocks(const Argument *a)
{
    const int64_t *kind = a[0].data, columns = a[1].shape[0], n = a[1].shape[1];
    const double *rows = a[1].data;
    int64_t *order = a[2].data, waiting[2 * 64], depth = 0;
    waiting[0] = 0, waiting[1] = n, depth = 1;
    while (depth > 0) {
        depth--;
        int64_t lo = waiting[2 * depth], hi = waiting[2 * depth + 1], widest = -1;
        double wide = 0.0;
        if (hi - lo <= BLOCK)
            continue;
        for (int64_t j = 0; j < columns; j++) {
            double found = width_of(kind[j], rows + j * n, order, lo, hi);
            if (found > wide) {
                wide = found;
                widest = j;
            }
        }
        if (widest < 0)
            continue; /* they are all the same */
        int64_t blocks = (hi - lo + BLOCK - 1) / BLOCK, middle = lo + (blocks + 1) / 2 * BLOCK;
        split(rows + widest * n, order, lo, hi, middle);
        waiting[2 * depth] = lo, waiting[2 * depth + 1] = middle;
        depth++;
        waiting[2 * depth] = middle, waiting[2 * depth + 1] = hi;
        depth++;
    }
    return 0;
}

/* rows [n, d], x [d], columns, scale [d], category [d], none [d], weight [d] -> apart [n]: the
 * weighted sum over the columns of the distance of rows to x. */
static int sum_distances(const Argument *a)
{
    const double *rows = a[0].data, *x = a[1].data, *scale = a[3].data, *none = a[5].data;
    const int64_t *columns = a[2].data, counted = a[2].shape[0], d = a[0].shape[1];
    const bool *category = a[4].data;
    const double *weight = a[6].data;
    double *apart = a[7].data;
    int64_t n = a[0].shape[0];
    memset(apart, 0, n * sizeof *apart);
    for (int64_t i = 0; i < counted; i++) {
        int64_t c = columns[i];
        double own = x[c], of = scale[c], heavy = weight[c], gap = none[c];
        const double *value = rows + c;
        if (category[c] || own == gap)
            for (int64_t r = 0; r < n; r++)
                apart[r] += value[r * d] != own ? heavy : 0.0;
        else
            for (int64_t r = 0; r < n; r++) {
                double step = heavy * (fabs(value[r * d] - own) / of);
                apart[r] += value[r * d] == gap ? heavy : step;
            }
    }
    return 0;
}

const Kernel DISTANCE[] = {
    {"squares", "i8 f8_2d f8 to_f8", squares},
    {"order_in_blocks", "i8 f8_2d to_i8", order_in_blocks},
    {"nearest", "i8 f8_2d f8_2d f8_2d u1_2d f8_2d integer integer to_f8_2d", nearest},
    {"around", "i8 f8_2d f8_2d f8_2d u1_2d f8_2d number to_f8_2d to_i8 to_f8 to_i8", around},
    {"sum_distances", "f8_2d f8 i8 f8 b1 f8 f8 to_f8", sum_distances},
    {0},
};
