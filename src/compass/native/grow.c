/* Kernels of compass.synth: grow a tree on sorted columns, and find the leaf of each row. */
#include "kernel.h"

typedef struct {
    int64_t rows, columns, classes, least;
    const double *x; /* [columns, rows] */
    const double *y; /* numbers, or positions of classes */
    int32_t **order; /* [columns + 1] rows by column, cut into nodes; the last: the donors */
    int32_t *spare;
    bool *goes_left;
    double *left, *right; /* [classes] */
} Growth;

typedef struct {
    int64_t feature;
    double threshold, score;
} Split;

/* A number between two that follow each other: the lower one where there is none. */
INLINE double between(double here, double next)
{
    double middle = here + (next - here) / 2;
    return middle < next ? middle : here;
}

/* The best cut of one column of a node whose target is a number: the squared sums of its sides. */
static void try_numbers(const Growth *g, int64_t f, int64_t start, int64_t stop, double total,
                        Split *best)
{
    const double *x = g->x + f * g->rows;
    const int32_t *order = g->order[f];
    double sum = 0.0;
    int64_t all = stop - start;
    for (int64_t i = start; i < stop - g->least; i++) {
        sum += g->y[order[i]];
        int64_t count = i - start + 1;
        double here = x[order[i]], next = x[order[i + 1]];
        if (count < g->least || here == next)
            continue;
        double rest = total - sum;
        double score = sum * sum / (double)count + rest * rest / (double)(all - count);
        if (score > best->score)
            *best = (Split){f, between(here, next), score};
    }
}

/* The same where the target is a class: squared counts instead of squared sums. */
static void try_classes(const Growth *g, int64_t f, int64_t start, int64_t stop,
                        const double *counts, Split *best)
{
    const double *x = g->x + f * g->rows;
    const int32_t *order = g->order[f];
    double squares_left = 0.0, squares_right = 0.0;
    int64_t all = stop - start;
    for (int64_t c = 0; c < g->classes; c++) {
        g->left[c] = 0.0;
        g->right[c] = counts[c];
        squares_right += counts[c] * counts[c];
    }
    for (int64_t i = start; i < stop - g->least; i++) {
        int64_t c = (int64_t)g->y[order[i]];
        squares_left += 2 * g->left[c]++ + 1;
        squares_right -= 2 * g->right[c]-- - 1;
        int64_t count = i - start + 1;
        double here = x[order[i]], next = x[order[i + 1]];
        if (count < g->least || here == next)
            continue;
        double score = squares_left / (double)count + squares_right / (double)(all - count);
        if (score > best->score)
            *best = (Split){f, between(here, next), score};
    }
}

/* The best split of a node that betters it by more than `gain`; feature -1: there is none. */
static Split best_split(const Growth *g, int64_t start, int64_t stop, double gain, double *counts)
{
    const int32_t *rows = g->order[g->columns];
    Split best = {-1, 0.0, 0.0};
    int64_t all = stop - start;
    if (all < 2 * g->least)
        return best;
    if (g->classes) {
        double squares = 0.0;
        memset(counts, 0, (size_t)g->classes * sizeof *counts);
        for (int64_t i = start; i < stop; i++)
            counts[(int64_t)g->y[rows[i]]]++;
        for (int64_t c = 0; c < g->classes; c++)
            squares += counts[c] * counts[c];
        best.score = squares / (double)all + gain;
        if (squares == (double)all * (double)all)
            return best;
        for (int64_t f = 0; f < g->columns; f++)
            try_classes(g, f, start, stop, counts, &best);
        return best;
    }
    double total = 0.0, first = g->y[rows[start]];
    bool same = true;
    for (int64_t i = start; i < stop; i++) {
        total += g->y[rows[i]];
        same &= g->y[rows[i]] == first;
    }
    best.score = total * total / (double)all + gain;
    if (same)
        return best;
    for (int64_t f = 0; f < g->columns; f++)
        try_numbers(g, f, start, stop, total, &best);
    return best;
}

/* Part the rows of a node in every order, those that go left first; where the right side begins. */
static int64_t part(const Growth *g, int64_t start, int64_t stop, Split split)
{
    const double *x = g->x + split.feature * g->rows;
    const int32_t *rows = g->order[g->columns];
    int64_t middle = start;
    for (int64_t i = start; i < stop; i++)
        g->goes_left[rows[i]] = x[rows[i]] <= split.threshold;
    for (int64_t f = 0; f <= g->columns; f++) {
        int32_t *order = g->order[f];
        int64_t right = 0;
        middle = start;
        for (int64_t i = start; i < stop; i++) {
            int32_t row = order[i];
            if (g->goes_left[row])
                order[middle++] = row;
            else
                g->spare[right++] = row;
        }
        memcpy(order + middle, g->spare, (size_t)right * sizeof *order);
    }
    return middle;
}

/* Grow the nodes, parents before their children; what a node holds is a stretch of the donors. */
static int64_t grow_nodes(Growth *g, double gain, const Argument *a, double *counts)
{
    int32_t *feature = a[6].data, *left = a[8].data, *parent = a[9].data;
    int32_t *starts = a[10].data, *stops = a[11].data;
    double *threshold = a[7].data;
    int64_t nodes = 1;
    starts[0] = 0, stops[0] = (int32_t)g->rows, parent[0] = -1;
    for (int64_t node = 0; node < nodes; node++) {
        Split split = best_split(g, starts[node], stops[node], gain, counts);
        feature[node] = (int32_t)split.feature;
        threshold[node] = split.threshold;
        left[node] = -1;
        if (split.feature < 0)
            continue;
        int64_t middle = part(g, starts[node], stops[node], split);
        left[node] = (int32_t)nodes;
        for (int64_t side = 0; side < 2; side++) {
            parent[nodes + side] = (int32_t)node;
            starts[nodes + side] = side ? (int32_t)middle : starts[node];
            stops[nodes + side] = side ? stops[node] : (int32_t)middle;
        }
        nodes += 2;
    }
    return nodes;
}

/* columns [p, n], orders [p, n] (rows by value), target [n], classes (0: numbers), least rows of a
 * leaf, least gain -> feature, threshold, left, parent, start, stop [nodes], donors [n], count. */
static int grow_tree(const Argument *a)
{
    Growth g = {.rows = a[0].shape[1],
                .columns = a[0].shape[0],
                .classes = a[3].integer,
                .least = a[4].integer,
                .x = a[0].data,
                .y = a[2].data};
    int32_t *donors = a[12].data;
    size_t rows = (size_t)g.rows, columns = (size_t)g.columns, classes = (size_t)g.classes + 1;
    int32_t *orders = malloc((rows * (columns + 1) + 1) * sizeof *orders);
    g.order = malloc((columns + 1) * sizeof *g.order);
    g.goes_left = malloc(rows + 1);
    double *counts = malloc(3 * classes * sizeof *counts);
    int failed = NO_MEMORY;
    if (orders && g.order && g.goes_left && counts) {
        memcpy(orders, a[1].data, rows * columns * sizeof *orders);
        for (size_t f = 0; f < columns; f++)
            g.order[f] = orders + f * rows;
        g.order[columns] = donors;
        g.spare = orders + rows * columns;
        g.left = counts + classes;
        g.right = counts + 2 * classes;
        for (size_t r = 0; r < rows; r++)
            donors[r] = (int32_t)r;
        *(int64_t *)a[13].data = grow_nodes(&g, a[5].number, a, counts);
        failed = 0;
    }
    free(orders);
    free(g.order);
    free(g.goes_left);
    free(counts);
    return failed;
}

/* feature, threshold, left [nodes], columns [p, m] -> the leaf of each row [m]. */
static int find_leaves(const Argument *a)
{
    const int32_t *feature = a[0].data, *left = a[2].data;
    const double *threshold = a[1].data, *x = a[3].data;
    int64_t rows = a[3].shape[1];
    int32_t *into = a[4].data;
    for (int64_t r = 0; r < rows; r++) {
        int32_t node = 0;
        while (feature[node] >= 0)
            node = left[node] + !(x[feature[node] * rows + r] <= threshold[node]);
        into[r] = node;
    }
    return 0;
}

const Kernel GROW[] = {
    {"grow_tree",
     "f8_2d i4_2d f8 integer integer number to_i4 to_f8 to_i4 to_i4 to_i4 to_i4 to_i4 to_i8",
     grow_tree},
    {"find_leaves", "i4 f8 i4 f8_2d to_i4", find_leaves},
    {0},
};
