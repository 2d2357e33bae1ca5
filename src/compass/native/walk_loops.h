/* The walks of walk.c for one type of node: NODE, EDGE and NAMED say which. */

enum { NAMED(LANES) = 8 }; /* rows that step together: their memory accesses overlap */

/* The leaf that each of `size` rows of the block [size, width] reaches. */
INLINE void NAMED(walk)(const NODE *nodes, int32_t root, const EDGE *block, int64_t width,
                        int64_t size, int32_t *at)
{
    int64_t first = 0;
    for (; first + NAMED(LANES) <= size; first += NAMED(LANES)) {
        const EDGE *rows = block + first * width;
        int32_t here[NAMED(LANES)], moved;
        for (int r = 0; r < NAMED(LANES); r++)
            here[r] = root;
        do { /* without branches there is nothing to mispredict */
            moved = 0;
#pragma GCC unroll 8
            for (int r = 0; r < NAMED(LANES); r++) {
                NODE node = nodes[here[r]];
                int32_t column = node.feature < 0 ? 0 : node.feature;
                int32_t to = rows[r * width + column] <= node.edge ? node.left : node.right;
                moved |= to ^ here[r];
                here[r] = to;
            }
        } while (moved);
        memcpy(at + first, here, sizeof here);
    }
    for (; first < size; first++) {
        int32_t here = root;
        while (nodes[here].feature >= 0)
            here = block[first * width + nodes[here].feature] <= nodes[here].edge
                       ? nodes[here].left
                       : nodes[here].right;
        at[first] = here;
    }
}

/* nodes, value, trees [t, 5], divisor, offset, groups [g, 5], share, X [n, d], start, stop ->
 * out [n, outputs]: predictions of the rows start .. stop - 1; see `joined.Joined`. */
static int NAMED(mean)(const Argument *a)
{
    const NODE *nodes = a[0].data;
    const double *value = a[1].data, *X = a[7].data;
    const int64_t *trees = a[2].data, count = a[2].shape[0], width = a[7].shape[1];
    int64_t start = a[8].integer, stop = a[9].integer, rows = least_of(BLOCK, stop - start);
    Layout l = {.groups = a[5].data, .divisor = a[3].data, .offset = a[4].data,
                .share = a[6].data, .group_count = a[5].shape[0], .columns = a[4].shape[0],
                .outputs = a[10].shape[1]};
    if (rows <= 0)
        return 0;
    double *raw = malloc(sizeof(double) * (rows * l.columns + l.outputs));
    EDGE *block = malloc(sizeof(EDGE) * (rows * width + 1));
    int32_t *at = malloc(sizeof(int32_t) * rows);
    bool ready = raw && block && at;
    for (int64_t first = start; ready && first < stop; first += BLOCK) {
        int64_t size = least_of(BLOCK, stop - first);
        for (int64_t i = 0; i < size * width; i++)
            block[i] = (EDGE)X[first * width + i];
        memset(raw, 0, sizeof(double) * size * l.columns);
        for (int64_t t = 0; t < count; t++) {
            const int64_t *tree = trees + 5 * t;
            NAMED(walk)(nodes + tree[0], (int32_t)tree[1], block, width, size, at);
            add_leaves(value + tree[2], tree[3], at, size, raw + tree[4], l.columns);
        }
        for (int64_t r = 0; r < size; r++)
            finish_row(&l, raw + r * l.columns, raw + rows * l.columns,
                       (double *)a[10].data + (first + r) * l.outputs);
    }
    free(raw);
    free(block);
    free(at);
    return ready ? 0 : NO_MEMORY;
}

/* nodes, value [m, w], roots, slot, offset, divisor, link, staged, X, start, stop -> out, spread:
 * the same for one ensemble, and the standard deviation of the first largest output. Over what:
 * the rounds of trees, each by itself; or, if staged, the sums up to each of the later half. */
static int NAMED(mean_spread)(const Argument *a)
{
    const NODE *nodes = a[0].data;
    const double *X = a[8].data;
    int64_t start = a[9].integer, stop = a[10].integer, width = a[8].shape[1];
    int64_t rows = least_of(BLOCK, stop - start);
    Ensemble e = {.value = a[1].data, .wide = a[1].shape[1], .roots = a[2].data,
                  .trees = a[2].shape[0], .slot = a[3].data, .offset = a[4].data,
                  .columns = a[4].shape[0], .divisor = a[5].number, .link = a[6].integer,
                  .staged = a[7].integer > 0, .outputs = a[11].shape[1]};
    e.each = most_of(e.columns / e.wide, 1); /* trees that make a round */
    e.rounds = (e.trees + e.each - 1) / e.each;
    e.since = e.staged ? e.rounds / 2 : 0;
    /* Every tree votes on all outputs, and its vote is what its leaf holds. */
    bool plain = !e.staged && e.link == IDENTITY && e.each == 1 && e.divisor == (double)e.trees;
    if (rows <= 0)
        return 0;
    double *room = malloc(sizeof(double) * (e.columns + e.outputs + e.rounds));
    EDGE *block = malloc(sizeof(EDGE) * (rows * width + 1));
    int32_t *leaves = malloc(sizeof(int32_t) * (rows * e.trees + 1));
    bool ready = room && block && leaves;
    for (int64_t first = start; ready && first < stop; first += BLOCK) {
        int64_t size = least_of(BLOCK, stop - first);
        for (int64_t i = 0; i < size * width; i++)
            block[i] = (EDGE)X[first * width + i];
        for (int64_t t = 0; t < e.trees; t++)
            NAMED(walk)(nodes, (int32_t)e.roots[t], block, width, size, leaves + t * rows);
        for (int64_t r = 0; r < size; r++) {
            double *out = (double *)a[11].data + (first + r) * e.outputs;
            ((double *)a[12].data)[first + r] =
                plain ? votes(&e, leaves + r, rows, out)
                      : rounds(&e, leaves + r, rows, room, room + e.columns,
                               room + e.columns + e.outputs, out);
        }
    }
    free(room);
    free(block);
    free(leaves);
    return ready ? 0 : NO_MEMORY;
}
