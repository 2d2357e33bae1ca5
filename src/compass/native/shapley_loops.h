/* The walk of exact Shapley values for one kind of nodes. Before it is included, NODE is their
 * type, INPUT that of the rows, and NAMED(x) the name of a function for them. */

/* The first node at or below this one where the rows part, or the leaf where they end. */
INLINE int64_t NAMED(fork)(const NODE *nodes, int64_t node, const INPUT *x, const INPUT *z,
                           const char *side)
{
    while (nodes[node].feature >= 0) {
        int32_t column = nodes[node].feature;
        bool first = x[column] <= nodes[node].edge, second = z[column] <= nodes[node].edge;
        if (first != second) {
            if (side[column] == NEITHER)
                break;
            if (side[column] == SECOND)
                first = second;
        }
        node = first ? nodes[node].left : nodes[node].right;
    }
    return node;
}

INLINE int64_t NAMED(branch)(const NODE *node, INPUT value)
{
    return value <= node->edge ? node->left : node->right;
}

/* nodes, x [d], Z [b, d], value [m, wide], roots, slot, share, start, stop -> out [b, d, raw],
 * which is zero before: the Shapley values of x against the rows start .. stop - 1 of Z. share[a,
 * b] is (a-1)! b! / (a+b)!. */
static int NAMED(contributions)(const Argument *arguments)
{
    const NODE *nodes = arguments[0].data;
    const INPUT *x = arguments[1].data;
    const double *value = arguments[3].data, *share = arguments[6].data;
    const int64_t *roots = arguments[4].data, *slot = arguments[5].data;
    int64_t columns = arguments[1].shape[0], wide = arguments[3].shape[1];
    int64_t most = arguments[6].shape[0], raw = arguments[9].shape[2];
    /* One piece of memory: sums of the first ways, the present sums, the nodes above, sides. */
    char *room = calloc(2 * (most + 1) * wide * sizeof(double) + most * sizeof(int64_t) +
                        columns + 1, 1);
    if (!room)
        return NO_MEMORY;
    double *gained = (double *)room, *lost = gained + most * wide, *gain = lost + most * wide;
    double *loss = gain + wide;
    int64_t *path = (int64_t *)(loss + wide); /* the nodes above where the rows part */
    char *side = (char *)(path + most);
    for (int64_t k = arguments[7].integer; k < arguments[8].integer; k++) {
        const INPUT *z = (const INPUT *)arguments[2].data + k * columns;
        for (int64_t t = 0; t < arguments[4].shape[0]; t++) {
            double *out = (double *)arguments[9].data + k * columns * raw + slot[t];
            int64_t node = roots[t], depth = 0, a = 0, b = 0;
            bool more = true;
            while (more) {
                node = NAMED(fork)(nodes, node, x, z, side);
                int32_t column = nodes[node].feature;
                if (column >= 0) {
                    path[depth++] = node;
                    side[column] = FIRST;
                    a++;
                    node = NAMED(branch)(nodes + node, x[column]);
                    continue;
                }
                for (int64_t c = 0; c < wide; c++) {
                    gain[c] = value[node * wide + c] * share[a * most + b];
                    loss[c] = value[node * wide + c] * share[b * most + a];
                }
                more = false;
                while (depth > 0 && !more) {
                    const NODE *above = nodes + path[depth - 1];
                    double *before = gained + (depth - 1) * wide;
                    double *after = lost + (depth - 1) * wide;
                    column = above->feature;
                    double *own = out + column * raw;
                    if (side[column] == FIRST) {
                        for (int64_t c = 0; c < wide; c++) {
                            own[c] += gain[c];
                            before[c] = gain[c];
                            after[c] = loss[c];
                        }
                        side[column] = SECOND;
                        a--;
                        b++;
                        node = NAMED(branch)(above, z[column]);
                        more = true;
                    } else {
                        for (int64_t c = 0; c < wide; c++) {
                            own[c] -= loss[c];
                            gain[c] += before[c];
                            loss[c] += after[c];
                        }
                        side[column] = NEITHER;
                        b--;
                        depth--;
                    }
                }
            }
        }
    }
    free(room);
    return 0;
}

#undef NODE
#undef INPUT
#undef NAMED
