/* Kernels of compass.trust.distance and compass.prepare.geometry. */
#include "distance.h"

enum { BLOCK = 1024 }; /* training rows compared together while they are in cache */

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

/* Squared distances of a block of rows to one point. */
INLINE void block_squares(const int64_t *kind, int64_t columns, const double *rows, int64_t n,
                          int64_t first, int64_t size, const double *point, double *total)
{
    memset(total, 0, size * sizeof *total);
    for (int64_t j = 0; j < columns; j++)
        add_squares(kind[j], rows + j * n + first, size, point[j], total);
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

/* kind, rows [c, n], points [p, c], start, stop -> best [p, k]: the k smallest squared distances
 * of the points start .. stop - 1. */
VECTORS static int nearest(const Argument *a)
{
    const int64_t *kind = a[0].data, columns = a[0].shape[0], n = a[1].shape[1];
    const double *rows = a[1].data, *points = a[2].data;
    int64_t k = a[5].shape[1];
    double total[BLOCK];
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t size = least_of(BLOCK, n - first);
        for (int64_t p = a[3].integer; p < a[4].integer; p++) {
            double *best = (double *)a[5].data + p * k;
            block_squares(kind, columns, rows, n, first, size, points + p * columns, total);
            for (int64_t i = 0; i < size; i++)
                if (total[i] < best[k - 1])
                    insert(total[i], best, k);
        }
    }
    return 0;
}

/* kind, rows [c, n], points [p, c], reach -> best [p, k], and of every row within reach its
 * position and squared distance; ends [p] is where those of a point begin, and then end. */
VECTORS static int around(const Argument *a)
{
    const int64_t *kind = a[0].data, columns = a[0].shape[0], n = a[1].shape[1];
    const double *rows = a[1].data, *points = a[2].data;
    int64_t k = a[4].shape[1], *where = a[5].data, *ends = a[7].data;
    double *squared = a[6].data, reach = a[3].number, total[BLOCK];
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t size = least_of(BLOCK, n - first);
        for (int64_t p = 0; p < a[2].shape[0]; p++) {
            double *best = (double *)a[4].data + p * k;
            block_squares(kind, columns, rows, n, first, size, points + p * columns, total);
            for (int64_t i = 0; i < size; i++) {
                if (total[i] < best[k - 1])
                    insert(total[i], best, k);
                if (total[i] <= reach) {
                    where[ends[p]] = first + i;
                    squared[ends[p]++] = total[i];
                }
            }
        }
    }
    return 0;
}

/* rows [n, d], x [d], columns, scale [d], category [d], none [d] -> apart [n]: the sum over the
 * columns of the distance of rows to x. */
static int sum_distances(const Argument *a)
{
    const double *rows = a[0].data, *x = a[1].data, *scale = a[3].data, *none = a[5].data;
    const int64_t *columns = a[2].data, counted = a[2].shape[0], d = a[0].shape[1];
    const bool *category = a[4].data;
    double *apart = a[6].data;
    for (int64_t r = 0; r < a[0].shape[0]; r++) {
        double total = 0.0;
        for (int64_t i = 0; i < counted; i++) {
            int64_t c = columns[i];
            double value = rows[r * d + c];
            if (category[c] || value == none[c] || x[c] == none[c])
                total += value != x[c] ? 1.0 : 0.0;
            else
                total += fabs(value - x[c]) / scale[c];
        }
        apart[r] = total;
    }
    return 0;
}

const Kernel DISTANCE[] = {
    {"squares", "i8 f8_2d f8 to_f8", squares},
    {"nearest", "i8 f8_2d f8_2d integer integer to_f8_2d", nearest},
    {"around", "i8 f8_2d f8_2d number to_f8_2d to_i8 to_f8 to_i8", around},
    {"sum_distances", "f8_2d f8 i8 f8 b1 f8 to_f8", sum_distances},
    {0},
};
