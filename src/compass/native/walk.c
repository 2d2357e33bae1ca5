/* Kernels of flat trees (compass.model.trees.walk): pack their nodes, walk them, add up what their
 * leaves say. Walks exist twice: for inputs that are cast to float32 before they are compared, and
 * for inputs that are compared as they are. */
#include "node.h"

enum { BLOCK = 1024 };                   /* rows that walk a tree while its nodes are in cache */
enum { IDENTITY, SIGMOID, SOFTMAX, EXP }; /* links, by their place in walk.LINKS */

/* feature, threshold, left, right -> nodes: what a walk of float32 inputs needs of every node. */
static int pack_single(const Argument *a)
{
    const int32_t *feature = a[0].data, *left = a[2].data, *right = a[3].data;
    const double *threshold = a[1].data;
    Node *nodes = a[4].data;
    for (int64_t i = 0; i < a[0].shape[0]; i++) {
        bool leaf = feature[i] < 0;
        /* The largest float32 that is not above the threshold: inputs are float32, so comparing
         * with it decides every one of them as comparing with the float64 threshold does. */
        float edge = (float)threshold[i];
        if (edge > threshold[i])
            edge = nextafterf(edge, -INFINITY);
        /* A leaf leads to itself: rows can step until the last one has arrived. */
        nodes[i] = (Node){edge, feature[i], leaf ? (int32_t)i : left[i],
                          leaf ? (int32_t)i : right[i]};
    }
    return 0;
}

/* The same for a walk of float64 inputs. */
static int pack_wide(const Argument *a)
{
    const int32_t *feature = a[0].data, *left = a[2].data, *right = a[3].data;
    const double *threshold = a[1].data;
    WideNode *nodes = a[4].data;
    for (int64_t i = 0; i < a[0].shape[0]; i++) {
        bool leaf = feature[i] < 0;
        nodes[i] = (WideNode){threshold[i], feature[i], leaf ? (int32_t)i : left[i],
                              leaf ? (int32_t)i : right[i], 0};
    }
    return 0;
}

/* Here rather than in numpy, whose vectorised exp may differ with the place of a row. */
static void linked_of(const double *raw, int64_t count, int64_t link, double *linked)
{
    if (link == SIGMOID) {
        linked[1] = 1.0 / (1.0 + exp(-raw[0]));
        linked[0] = 1.0 - linked[1];
    } else if (link == SOFTMAX) {
        double top = raw[0], total = 0.0;
        for (int64_t c = 1; c < count; c++)
            top = raw[c] > top ? raw[c] : top;
        for (int64_t c = 0; c < count; c++) {
            linked[c] = exp(raw[c] - top);
            total += linked[c];
        }
        for (int64_t c = 0; c < count; c++)
            linked[c] /= total;
    } else
        for (int64_t c = 0; c < count; c++)
            linked[c] = link == EXP ? exp(raw[c]) : raw[c];
}

static void add_leaves(const double *value, int64_t wide, const int32_t *at, int64_t size,
                       double *raw, int64_t columns)
{
    if (wide == 1)
        for (int64_t r = 0; r < size; r++)
            raw[r * columns] += value[at[r]];
    else
        for (int64_t r = 0; r < size; r++)
            for (int64_t c = 0; c < wide; c++)
                raw[r * columns + c] += value[at[r] * wide + c];
}

typedef struct { /* what `mean` of one row needs beside its raw columns */
    const int64_t *groups;
    const double *divisor, *offset, *share;
    int64_t group_count, columns, outputs;
} Layout;

static void finish_row(const Layout *l, double *raw, double *linked, double *out)
{
    for (int64_t c = 0; c < l->columns; c++)
        raw[c] = l->offset[c] + raw[c] / l->divisor[c];
    for (int64_t c = 0; c < l->outputs; c++)
        out[c] = 0.0;
    for (int64_t g = 0; g < l->group_count; g++) {
        const int64_t *group = l->groups + 5 * g;
        linked_of(raw + group[0], group[1], group[2], linked);
        for (int64_t c = 0; c < group[4]; c++)
            out[group[3] + c] += linked[c];
    }
    for (int64_t c = 0; c < l->outputs; c++)
        out[c] /= l->share[c];
}

typedef struct { /* one ensemble, for predictions with their spread */
    const double *value, *offset;
    const int64_t *roots, *slot;
    int64_t trees, columns, wide, link, outputs, rounds, each, since;
    double divisor;
    bool staged;
} Ensemble;

/* Where every tree votes on all outputs: the mean vote, and the deviation of the first largest. */
static double votes(const Ensemble *e, const int32_t *leaves, int64_t apart, double *out)
{
    int64_t best = 0;
    for (int64_t c = 0; c < e->outputs; c++) {
        double total = 0.0;
        for (int64_t t = 0; t < e->trees; t++)
            total += e->value[leaves[t * apart] * e->wide + c];
        out[c] = e->offset[c] + total / e->divisor;
        if (out[c] > out[best])
            best = c;
    }
    /* A second sweep over the leaves: squares minus squared mean would cancel. */
    double centre = out[best] - e->offset[best], squares = 0.0;
    for (int64_t t = 0; t < e->trees; t++) {
        double miss = e->value[leaves[t * apart] * e->wide + best] - centre;
        squares += miss * miss;
    }
    return sqrt(squares / (double)e->trees);
}

static void add_tree(const Ensemble *e, int64_t tree, int32_t leaf, double *raw)
{
    for (int64_t c = 0; c < e->wide; c++)
        raw[e->slot[tree] + c] += e->value[leaf * e->wide + c];
}

/* Over the rounds of trees, each by itself, or the sums up to each of the later half: the
 * prediction, and the deviation of the score of its first largest output. */
static double rounds(const Ensemble *e, const int32_t *leaves, int64_t apart, double *raw,
                     double *linked, double *score, double *out)
{
    memset(raw, 0, e->columns * sizeof *raw);
    for (int64_t t = 0; t < e->trees; t++)
        add_tree(e, t, leaves[t * apart], raw);
    for (int64_t c = 0; c < e->columns; c++)
        raw[c] = e->offset[c] + raw[c] / e->divisor;
    linked_of(raw, e->columns, e->link, linked);
    int64_t best = 0;
    for (int64_t c = 0; c < e->outputs; c++) {
        out[c] = linked[c];
        if (linked[c] > linked[best])
            best = c;
    }
    memcpy(raw, e->offset, e->columns * sizeof *raw);
    for (int64_t k = 0; k < e->rounds; k++) {
        if (!e->staged)
            memcpy(raw, e->offset, e->columns * sizeof *raw);
        int64_t last = least_of((k + 1) * e->each, e->trees);
        for (int64_t t = k * e->each; t < last; t++)
            add_tree(e, t, leaves[t * apart], raw);
        if (k < e->since)
            continue;
        linked_of(raw, e->columns, e->link, linked);
        score[k] = linked[best];
    }
    /* Two sweeps: squares minus squared mean would cancel. */
    double centre = 0.0, squares = 0.0, count = (double)(e->rounds - e->since);
    for (int64_t k = e->since; k < e->rounds; k++)
        centre += score[k];
    centre /= count;
    for (int64_t k = e->since; k < e->rounds; k++)
        squares += (score[k] - centre) * (score[k] - centre);
    return sqrt(squares / count);
}

#define NODE Node
#define EDGE float
#define NAMED(name) name##_single
#include "walk_loops.h"
#undef NODE
#undef EDGE
#undef NAMED

#define NODE WideNode
#define EDGE double
#define NAMED(name) name##_wide
#include "walk_loops.h"

#define MEAN " f8 i8_2d f8 f8 i8_2d f8 f8_2d integer integer to_f8_2d"
#define SPREAD " f8_2d i8 i8 f8 number integer integer f8_2d integer integer to_f8_2d to_f8"

const Kernel WALK[] = {
    {"pack_single", "i4 f8 i4 i4 to_node", pack_single},
    {"pack_wide", "i4 f8 i4 i4 to_wide", pack_wide},
    {"mean_single", "node" MEAN, mean_single},
    {"mean_wide", "wide" MEAN, mean_wide},
    {"mean_spread_single", "node" SPREAD, mean_spread_single},
    {"mean_spread_wide", "wide" SPREAD, mean_spread_wide},
    {0},
};
