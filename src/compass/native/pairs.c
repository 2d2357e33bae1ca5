/* Kernels that find pairs of comparable runs (compass.trust.pairs). */
#include "distance.h"

static const double NEAR = 0.125; /* a value is near the old or the new one within this share */
static const double FAR = 1e6;    /* more than any two values of one column are apart, squared */

/* The square of how far two coordinates are apart. */
INLINE double between(int64_t kind, double a, double b)
{
    if (kind == CATEGORY)
        return a == b ? 0.0 : 1.0;
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0.0 : 1.0;
    return (a - b) * (a - b);
}

/* kind, columns [c, n], first, last, point, sized -> apart [2, m]: squares of distances to a
 * point, of the sizes of the problem and of everything. */
VECTORS static int totals(const Argument *a)
{
    const int64_t *kind = a[0].data, *sized = a[5].data, n = a[1].shape[1], first = a[2].integer;
    int64_t size = a[3].integer - first, wide = a[6].shape[1];
    const double *columns = a[1].data, *point = a[4].data;
    double *apart = a[6].data;
    for (int64_t j = 0; j < a[0].shape[0]; j++)
        add_squares(kind[j], columns + j * n + first, size, point[j], apart + wide);
    for (int64_t s = 0; s < a[5].shape[0]; s++) {
        int64_t j = sized[s];
        add_squares(kind[j], columns + j * n + first, size, point[j], apart);
    }
    return 0;
}

/* kind, values [m], old, new -> apart [m]: squares of distances when one coordinate changes. */
VECTORS static int shift(const Argument *a)
{
    const double *values = a[1].data, old = a[2].number, new = a[3].number;
    int64_t kind = a[0].integer, m = a[1].shape[0];
    double *apart = a[4].data;
    if (kind == CATEGORY || isnan(old) || isnan(new)) {
        for (int64_t i = 0; i < m; i++)
            apart[i] += between(kind, values[i], new) - between(kind, values[i], old);
        return 0;
    }
    for (int64_t i = 0; i < m; i++) {
        double step = (values[i] - new) * (values[i] - new) - (values[i] - old) * (values[i] - old);
        apart[i] += isnan(step) ? 0.0 : step;
    }
    return 0;
}

typedef struct {
    const int64_t *kind, *same, *others;
    const double *columns, *start, *point;
    int64_t rows, other_columns;
    double tolerance;
} Runs;

/* Of runs that are at one end of the first moved column, those that are nearest otherwise. */
static void gather(const Runs *runs, int64_t first, const double *apart, const double *near,
                   const int64_t *moved, int64_t moves, const int32_t *among,
                   const double *values, int64_t many, int64_t *found, double *least, int64_t most)
{
    const int64_t *kind = runs->kind;
    const double *point = runs->point;
    int64_t lead = moved[0];
    double q = point[lead];
    /* At an end that is a label or `none` all runs are as far from the suggestion there. */
    bool exact = kind[lead] == CATEGORY || isnan(near[0]) || isnan(q);
    double same = between(kind[lead], near[0], q), slack = FAR * (moves - 1);
    for (int64_t t = 0; t < many; t++) {
        int64_t i = among[t];
        double total = apart[i - first] - (exact ? same : (values[t] - q) * (values[t] - q));
        if (!(total < least[most - 1] + slack))
            continue;
        bool fits = true;
        for (int64_t m = 1; m < moves && fits; m++) {
            double value = runs->columns[moved[m] * runs->rows + i];
            fits = isnan(near[2 * m]) ? isnan(value)
                                      : near[2 * m] <= value && value <= near[2 * m + 1];
            if (fits)
                total -= between(kind[moved[m]], value, point[moved[m]]);
        }
        total = total > 0.0 ? total : 0.0;
        if (!fits || !(total < least[most - 1]))
            continue;
        int64_t place = most - 1;
        for (; place > 0 && least[place - 1] > total; place--) {
            least[place] = least[place - 1];
            found[place] = found[place - 1];
        }
        least[place] = total;
        found[place] = i;
    }
}

/* Give each run at the new end the closest free run at the old end with the same context. */
static void match_ends(const Runs *runs, const int64_t *old, int64_t olds, const int64_t *new,
                       int64_t news, bool *used, int64_t *partner, double *gap)
{
    double limit = runs->tolerance * runs->tolerance * (1 + 1e-9);
    memset(used, 0, olds * sizeof *used);
    for (int64_t b = 0; b < news && new[b] >= 0; b++) {
        int64_t best = -1;
        double least = INFINITY;
        for (int64_t o = 0; o < olds && old[o] >= 0; o++) {
            if (used[o] || runs->same[old[o]] != runs->same[new[b]])
                continue;
            double total = 0.0;
            for (int64_t c = 0; c < runs->other_columns && total <= limit; c++) {
                const double *column = runs->columns + runs->others[c] * runs->rows;
                total += between(runs->kind[runs->others[c]], column[old[o]], column[new[b]]);
            }
            if (total <= limit && total < least) {
                best = o;
                least = total;
            }
        }
        if (best >= 0) {
            used[best] = true;
            partner[b] = old[best];
            gap[b] = sqrt(least);
        }
    }
}

/* kind, columns, same, old, new, others, tolerance -> partner, gap. */
static int match(const Argument *a)
{
    Runs runs = {.kind = a[0].data, .columns = a[1].data, .rows = a[1].shape[1],
                 .same = a[2].data, .others = a[5].data, .other_columns = a[5].shape[0],
                 .tolerance = a[6].number};
    bool *used = malloc(a[3].shape[0] + 1);
    if (!used)
        return NO_MEMORY;
    match_ends(&runs, a[3].data, a[3].shape[0], a[4].data, a[4].shape[0], used, a[7].data,
               a[8].data);
    free(used);
    return 0;
}

/* Where values at least (or above) x begin; NaN, which is `none`, is larger than all. */
INLINE int64_t bound(const double *values, int64_t n, double x, bool above)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        double value = values[middle];
        bool before = isnan(x) ? above || !isnan(value) : above ? value <= x : value < x;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* kind, columns [c, n], order [c, n], ranked [c, n], same, first, apart [m], start, point, moved,
 * others, tolerance -> old, new, gap: pairs for one move. `new` gets the runs at its new end,
 * `old` their partners or -1. */
static int find(const Argument *a)
{
    Runs runs = {.kind = a[0].data, .columns = a[1].data, .rows = a[1].shape[1],
                 .same = a[4].data, .start = a[7].data, .point = a[8].data,
                 .others = a[10].data, .other_columns = a[10].shape[0],
                 .tolerance = a[11].number};
    const int32_t *order = a[2].data;
    const double *ranked = a[3].data, *apart = a[6].data;
    const int64_t *moved = a[9].data, moves = a[9].shape[0], n = runs.rows;
    int64_t first = a[5].integer, size = a[6].shape[0], most = a[13].shape[0];
    /* One piece of memory: ends of the moved columns, the columns turned, found, least, used. */
    char *room = malloc(moves * (2 * sizeof(double) + sizeof(int64_t)) +
                        most * (2 * sizeof(int64_t) + sizeof(double) + sizeof(bool)) + 1);
    if (!room)
        return NO_MEMORY;
    double *near = (double *)room, *least = near + 2 * moves;
    int64_t *turned = (int64_t *)(least + most), *found = turned + moves;
    bool *used = (bool *)(found + 2 * most);
    for (int64_t i = 0; i < 2 * most; i++)
        found[i] = -1;
    for (int side = 0; side < 2; side++) {
        int64_t lead = 0, low = 0, high = 0;
        for (int64_t m = 0; m < moves; m++) {
            int64_t j = moved[m];
            double near_end = side == 0 ? runs.start[j] : runs.point[j];
            double far_end = side == 0 ? runs.point[j] : runs.start[j];
            bool exact = runs.kind[j] == CATEGORY || isnan(near_end) || isnan(far_end);
            double space = exact ? 0.0 : NEAR * fabs(far_end - near_end) * (1 + 1e-9);
            near[2 * m] = near_end - space;
            near[2 * m + 1] = near_end + space;
            turned[m] = j;
            int64_t begin = bound(ranked + j * n + first, size, near[2 * m], false);
            int64_t end = bound(ranked + j * n + first, size, near[2 * m + 1], true);
            if (m == 0 || end - begin < high - low) {
                lead = m;
                low = begin;
                high = end;
            }
        }
        /* The runs at this end of the column with the fewest; of the others each is asked. */
        for (int c = 0; c < 2; c++) {
            double kept = near[c];
            near[c] = near[2 * lead + c];
            near[2 * lead + c] = kept;
        }
        int64_t kept = turned[0];
        turned[0] = turned[lead];
        turned[lead] = kept;
        int64_t at = turned[0] * n + first + low;
        for (int64_t i = 0; i < most; i++)
            least[i] = INFINITY;
        gather(&runs, first, apart, near, turned, moves, order + at, ranked + at, high - low,
               found + side * most, least, most);
    }
    memcpy(a[13].data, found + most, most * sizeof *found);
    match_ends(&runs, found, most, found + most, most, used, a[12].data, a[14].data);
    free(room);
    return 0;
}

const Kernel PAIRS[] = {
    {"totals", "i8 f8_2d integer integer f8 i8 to_f8_2d", totals},
    {"shift", "integer f8 number number to_f8", shift},
    {"match", "i8 f8_2d i8 i8 i8 i8 number to_i8 to_f8", match},
    {"find", "i8 f8_2d i4_2d f8_2d i8 integer f8 f8 f8 i8 i8 number to_i8 to_i8 to_f8", find},
    {0},
};
