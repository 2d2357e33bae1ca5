/* Kernels of compass.reducers.oblivious: symmetric trees over bins of one byte. */
#include "kernel.h"

enum { BLOCK = 512, MEMBERS = 4 };

/* Set one bit of the leaf of every row that is above a border. A function of its own: within the
 * loop over levels it would be no vector code. */
VECTORS static void ask(const uint8_t *restrict column, uint8_t border, uint8_t bit, int64_t count,
                        uint8_t *restrict leaf)
{
    for (int64_t r = 0; r < count; r++)
        leaf[r] |= column[r] > border ? bit : 0;
}

/* bins [d, n], features [trees, depth], borders [trees, depth], leaves [trees, 2**depth] ->
 * into [n]: the sum of the leaves of every row. */
static int add_trees(const Argument *a)
{
    const uint8_t *bins = a[0].data, *borders = a[2].data;
    const uint16_t *features = a[1].data;
    const uint64_t *leaves = a[3].data;
    int64_t rows = a[0].shape[1], trees = a[1].shape[0], depth = a[1].shape[1];
    int64_t ends = a[3].shape[1];
    uint64_t *into = a[4].data;
    uint8_t *leaf = malloc(trees * BLOCK + 1);
    if (!leaf)
        return NO_MEMORY;
    for (int64_t start = 0; start < rows; start += BLOCK) {
        int64_t count = least_of(BLOCK, rows - start);
        for (int64_t t = 0; t < trees; t++) {
            uint8_t *places = leaf + t * BLOCK;
            memset(places, 0, count);
            for (int64_t level = 0; level < depth; level++)
                ask(bins + features[t * depth + level] * rows + start,
                    borders[t * depth + level], (uint8_t)(1 << level), count, places);
        }
        for (int64_t r = 0; r < count; r++) {
            uint64_t total = 0;
            for (int64_t t = 0; t < trees; t++)
                total += leaves[t * ends + leaf[t * BLOCK + r]];
            into[start + r] = total;
        }
    }
    free(leaf);
    return 0;
}

typedef struct {
    const uint8_t *bins, *apart; /* [columns, rows], [rows] */
    int64_t columns, rows, highest;
    double rate;
    double *left;  /* [MEMBERS, rows] what each member has not explained yet */
    double *slope; /* [rows] */
    uint8_t *leaf; /* [rows] */
    double *sums;  /* room for sums and counts of bins and leaves, and of leaves */
} Growing;

/* The column and border that explain most over all leaves of a level; border -1: none. */
static int64_t split(const Growing *g, int64_t leaves, int64_t *feature)
{
    int64_t cells = g->highest * leaves, border = -1;
    double *total = g->sums, *count = total + cells, *below = count + cells, *few = below + leaves;
    double *whole = few + leaves, *many = whole + leaves, best = 0.0;
    *feature = 0;
    for (int64_t column = 0; column < g->columns; column++) {
        const uint8_t *bins = g->bins + column * g->rows;
        memset(g->sums, 0, (2 * cells + 4 * leaves) * sizeof *g->sums);
        for (int64_t r = 0; r < g->rows; r++) {
            int64_t cell = bins[r] * leaves + g->leaf[r];
            total[cell] += g->slope[r];
            count[cell] += 1;
        }
        for (int64_t b = 0; b < g->highest; b++)
            for (int64_t i = 0; i < leaves; i++) {
                whole[i] += total[b * leaves + i];
                many[i] += count[b * leaves + i];
            }
        for (int64_t b = 0; b < g->highest - 1; b++) {
            double gain = 0.0;
            for (int64_t i = 0; i < leaves; i++) {
                below[i] += total[b * leaves + i];
                few[i] += count[b * leaves + i];
                double above = whole[i] - below[i], rest = many[i] - few[i];
                gain += below[i] * below[i] / (few[i] + 1.0) + above * above / (rest + 1.0);
                gain -= whole[i] * whole[i] / (many[i] + 1.0);
            }
            if (gain > best) {
                best = gain;
                *feature = column;
                border = b;
            }
        }
    }
    return border;
}

/* Give every leaf its values [leaves, MEMBERS], and take them off what is left. */
static void settle(const Growing *g, int64_t leaves, double *values)
{
    double *total = g->sums, *count = total + leaves;
    for (int64_t member = 0; member < MEMBERS; member++) {
        double *left = g->left + member * g->rows;
        memset(g->sums, 0, 2 * leaves * sizeof *g->sums);
        for (int64_t r = 0; r < g->rows; r++)
            if (g->apart[r] != member) {
                total[g->leaf[r]] += left[r];
                count[g->leaf[r]] += 1;
            }
        for (int64_t i = 0; i < leaves; i++)
            values[i * MEMBERS + member] = g->rate * total[i] / (count[i] + 1.0);
        for (int64_t r = 0; r < g->rows; r++)
            left[r] -= values[g->leaf[r] * MEMBERS + member];
    }
}

/* Grow one tree on what the earlier ones left over. */
static void grow(const Growing *g, int64_t depth, uint16_t *features, uint8_t *borders,
                 double *values)
{
    const double *left = g->left;
    int64_t n = g->rows;
    for (int64_t r = 0; r < n; r++)
        g->slope[r] = 0.25 * (left[r] + left[n + r] + left[2 * n + r] + left[3 * n + r]);
    memset(g->leaf, 0, n);
    for (int64_t level = 0; level < depth; level++) {
        int64_t feature, border = split(g, (int64_t)1 << level, &feature);
        if (border < 0)
            break;
        features[level] = (uint16_t)feature;
        borders[level] = (uint8_t)border;
        ask(g->bins + feature * n, borders[level], (uint8_t)(1 << level), n, g->leaf);
    }
    settle(g, (int64_t)1 << depth, values);
}

/* bins [d, n], y [n], apart [n], rate, highest -> features [trees, depth], borders [trees, depth],
 * values [trees, 2**depth, MEMBERS]. */
static int boost(const Argument *a)
{
    Growing g = {.bins = a[0].data, .apart = a[2].data, .columns = a[0].shape[0],
                 .rows = a[0].shape[1], .rate = a[3].number, .highest = a[4].integer};
    int64_t trees = a[5].shape[0], depth = a[5].shape[1], leaves = a[7].shape[1];
    const double *y = a[1].data;
    g.left = malloc((MEMBERS + 1) * g.rows * sizeof(double) + 1);
    g.leaf = malloc(g.rows + 1);
    g.sums = malloc((2 * g.highest + 4) * leaves * sizeof(double));
    if (g.left && g.leaf && g.sums) {
        g.slope = g.left + MEMBERS * g.rows;
        for (int64_t member = 0; member < MEMBERS; member++)
            memcpy(g.left + member * g.rows, y, g.rows * sizeof *y);
        for (int64_t t = 0; t < trees; t++)
            grow(&g, depth, (uint16_t *)a[5].data + t * depth, (uint8_t *)a[6].data + t * depth,
                 (double *)a[7].data + t * leaves * MEMBERS);
    }
    int failed = g.left && g.leaf && g.sums ? 0 : NO_MEMORY;
    free(g.left);
    free(g.leaf);
    free(g.sums);
    return failed;
}

const Kernel OBLIVIOUS[] = {
    {"add_trees", "u1_2d u2_2d u1_2d u8_2d to_u8", add_trees},
    {"boost", "u1_2d f8 u1 number integer to_u2_2d to_u1_2d to_f8_3d", boost},
    {0},
};
