/* Kernels that ask which branches of trees a box of inputs can reach (compass.model.trees), and
 * what is best below a node and in a cell of an axis (compass.prove). */
#include "kernel.h"

typedef struct {
    const int32_t *feature, *left, *right;
    const double *threshold;
    int64_t nodes;
} Trees;

INLINE Trees trees_of(const Argument *a)
{
    return (Trees){.feature = a[0].data, .threshold = a[1].data, .left = a[2].data,
                   .right = a[3].data, .nodes = a[0].shape[0]};
}

/* feature, threshold, left, right, roots, floor, ceiling -> feature, left, right, origin, roots,
 * count [1]: the nodes that a box can reach, in preorder, and how many there are. */
static int reachable(const Argument *a)
{
    Trees trees = trees_of(a);
    const int64_t *roots = a[4].data;
    const double *floor = a[5].data, *ceiling = a[6].data;
    int32_t *feature = a[7].data, *left = a[8].data, *right = a[9].data, *origin = a[10].data;
    int64_t *new_roots = a[11].data;
    /* Nodes that wait stand at the end of the arrays, the last one first: there is room, since they
     * are nodes that are not written yet. */
    int32_t *node_of = origin + trees.nodes, *parent_of = feature + trees.nodes, kept = 0;
    for (int64_t t = 0; t < a[4].shape[0]; t++) {
        int64_t waiting = 0;
        int32_t node = (int32_t)roots[t];
        new_roots[t] = kept;
        while (true) {
            int32_t split = trees.feature[node];
            while (split >= 0) {
                if (ceiling[split] <= trees.threshold[node])
                    node = trees.left[node];
                else if (floor[split] > trees.threshold[node])
                    node = trees.right[node];
                else
                    break;
                split = trees.feature[node];
            }
            feature[kept] = split;
            origin[kept] = node;
            left[kept] = right[kept] = -1;
            kept++;
            if (split >= 0) {
                /* The left child is the next node out; the right one waits for its number. */
                left[kept - 1] = kept;
                *--node_of = trees.right[node];
                *--parent_of = kept - 1;
                waiting++;
                node = trees.left[node];
                continue;
            }
            if (waiting == 0)
                break;
            waiting--;
            node = *node_of++;
            right[*parent_of++] = kept;
        }
    }
    *(int64_t *)a[12].data = kept;
    return 0;
}

/* feature, threshold, left, right, value [nodes, wide], roots, slot, floor, ceiling -> least,
 * most: add up the smallest and largest leaf of every tree that a box can reach, tree by tree. */
static int extremes(const Argument *a)
{
    Trees trees = trees_of(a);
    const double *value = a[4].data, *floor = a[7].data, *ceiling = a[8].data;
    const int64_t *roots = a[5].data, *slot = a[6].data, wide = a[4].shape[1];
    double *least = a[9].data, *most = a[10].data;
    char *room = malloc(2 * wide * sizeof(double) + (trees.nodes + 1) * sizeof(int32_t));
    if (!room)
        return NO_MEMORY;
    double *low = (double *)room, *high = low + wide;
    int32_t *stack = (int32_t *)(high + wide);
    for (int64_t t = 0; t < a[5].shape[0]; t++) {
        for (int64_t c = 0; c < wide; c++) {
            low[c] = INFINITY;
            high[c] = -INFINITY;
        }
        int64_t waiting = 1;
        stack[0] = (int32_t)roots[t];
        while (waiting > 0) {
            int32_t node = stack[--waiting], split = trees.feature[node];
            if (split < 0) {
                for (int64_t c = 0; c < wide; c++) {
                    double leaf = value[node * wide + c];
                    low[c] = leaf < low[c] ? leaf : low[c];
                    high[c] = leaf > high[c] ? leaf : high[c];
                }
                continue;
            }
            if (floor[split] <= trees.threshold[node])
                stack[waiting++] = trees.left[node];
            if (ceiling[split] > trees.threshold[node])
                stack[waiting++] = trees.right[node];
        }
        for (int64_t c = 0; c < wide; c++) {
            least[slot[t] + c] += low[c];
            most[slot[t] + c] += high[c];
        }
    }
    free(room);
    return 0;
}

/* tree, value, low, high, others, cost, budget -> least [cells, trees]: lower it to the smallest
 * value of a leaf that reaches the cell. A leaf covers the cells low .. high of the axis; it
 * reaches one within the budget when what it costs on the other axes and the cost of the cell do
 * not exceed it. */
static int cover(const Argument *a)
{
    const int64_t *tree = a[0].data, *low = a[2].data, *high = a[3].data, wide = a[7].shape[1];
    const double *value = a[1].data, *others = a[4].data, *cost = a[5].data, budget = a[6].number;
    double *least = a[7].data;
    for (int64_t i = 0; i < a[0].shape[0]; i++)
        for (int64_t c = low[i]; c <= high[i]; c++) {
            double *now = least + c * wide + tree[i];
            if (others[i] + cost[c] <= budget && value[i] < *now)
                *now = value[i];
        }
    return 0;
}

/* feature, left, right -> value, which is given at leaves: the smallest one below every node. */
static int below(const Argument *a)
{
    const int32_t *feature = a[0].data, *left = a[1].data, *right = a[2].data;
    double *value = a[3].data;
    for (int64_t i = a[0].shape[0] - 1; i >= 0; i--) /* children come after their parents */
        if (feature[i] >= 0) {
            double first = value[left[i]], second = value[right[i]];
            value[i] = second < first ? second : first;
        }
    return 0;
}

const Kernel REACH[] = {
    {"reachable", "i4 f8 i4 i4 i8 f8 f8 to_i4 to_i4 to_i4 to_i4 to_i8 to_i8", reachable},
    {"extremes", "i4 f8 i4 i4 f8_2d i8 i8 f8 f8 to_f8 to_f8", extremes},
    {"cover", "i8 f8 i8 i8 f8 f8 number to_f8_2d", cover},
    {"below", "i4 i4 i4 to_f8", below},
    {0},
};
