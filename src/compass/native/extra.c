/* Extremely randomised regression trees (Geurts, Ernst and Wehenkel 2006), for few rows that are
 * learnt from again and again (compass.acquire.loop.forest): every column of a node is cut once,
 * anywhere between its least and its largest value, and the cut that leaves the least squares is
 * kept. */
#include "kernel.h"

typedef struct {
    const float *X;   /* [n, d] */
    const double *y;  /* [n] */
    int64_t d;
    int64_t *rows;    /* [n] those of a node lie side by side */
    int32_t *feature; /* nodes, parents before their children */
    double *threshold;
    int32_t *left, *right;
    double *value;
    int64_t nodes;
    uint64_t state;
} Growth;

/* SplitMix64: a number from 0 to 1, 1 excluded. */
INLINE double drawn(Growth *g)
{
    uint64_t x = g->state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* What is gained by cutting rows at a value of a column: the squares between the two sides. */
static double gain(const Growth *g, int64_t first, int64_t last, int64_t c, float cut)
{
    double below = 0, above = 0;
    int64_t under = 0;
    for (int64_t i = first; i < last; i++) {
        int64_t r = g->rows[i];
        if (g->X[r * g->d + c] <= cut) {
            below += g->y[r];
            under++;
        } else {
            above += g->y[r];
        }
    }
    double over = (double)(last - first - under);
    return below * below / (double)under + above * above / over;
}

/* The best of one random cut per column; false: rows do not differ in any. */
static bool best_cut(Growth *g, int64_t first, int64_t last, int32_t *column, float *edge)
{
    double most = -INFINITY;
    for (int64_t c = 0; c < g->d; c++) {
        float low = g->X[g->rows[first] * g->d + c], high = low;
        for (int64_t i = first + 1; i < last; i++) {
            float x = g->X[g->rows[i] * g->d + c];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        if (!(high > low))
            continue;
        float cut = (float)(low + drawn(g) * ((double)high - low));
        if (cut >= high) /* by rounding: nothing would be above */
            cut = low;
        double found = gain(g, first, last, c, cut);
        if (found > most) {
            most = found;
            *column = (int32_t)c;
            *edge = cut;
        }
    }
    return most > -INFINITY;
}

/* Grow a node of these rows and all below it; its position. Deep at most as there are rows. */
static int32_t grow(Growth *g, int64_t first, int64_t last)
{
    int32_t at = (int32_t)g->nodes++, column = -1;
    double sum = 0, least = INFINITY, largest = -INFINITY;
    float edge = 0;
    for (int64_t i = first; i < last; i++) {
        double own = g->y[g->rows[i]];
        sum += own;
        least = own < least ? own : least;
        largest = own > largest ? own : largest;
    }
    g->value[at] = sum / (double)(last - first);
    g->feature[at] = -1;
    g->threshold[at] = 0;
    g->left[at] = g->right[at] = -1;
    if (largest <= least || !best_cut(g, first, last, &column, &edge))
        return at;
    int64_t middle = first;
    for (int64_t i = first; i < last; i++) {
        int64_t r = g->rows[i];
        if (g->X[r * g->d + column] <= edge) {
            g->rows[i] = g->rows[middle];
            g->rows[middle++] = r;
        }
    }
    g->feature[at] = column;
    g->threshold[at] = edge;
    int32_t below = grow(g, first, middle);
    g->left[at] = below;
    int32_t above = grow(g, middle, last);
    g->right[at] = above;
    return at;
}

/* X [n, d], y [n], seed -> feature, threshold, left, right, value [trees * (2 n - 1)], roots
 * [trees], count [1] of the nodes. */
static int grow_trees(const Argument *a)
{
    int64_t n = a[0].shape[0], *roots = a[8].data, *count = a[9].data;
    Growth g = {
        .X = a[0].data, .y = a[1].data, .d = a[0].shape[1], .state = a[2].bits,
        .feature = a[3].data, .threshold = a[4].data, .left = a[5].data, .right = a[6].data,
        .value = a[7].data,
    };
    g.rows = malloc((size_t)(n ? n : 1) * sizeof *g.rows);
    if (!g.rows)
        return NO_MEMORY;
    for (int64_t t = 0; t < a[8].shape[0]; t++) {
        for (int64_t i = 0; i < n; i++)
            g.rows[i] = i;
        roots[t] = g.nodes;
        grow(&g, 0, n);
    }
    count[0] = g.nodes;
    free(g.rows);
    return 0;
}

const Kernel EXTRA[] = {
    {"grow_trees", "f4_2d f8 bits to_i4 to_f8 to_i4 to_i4 to_f8 to_i8 to_i8", grow_trees},
    {0},
};
