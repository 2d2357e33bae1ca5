/* The best points of planes (compass.generate.planes): two columns of one configuration move,
 * everything else stays. A tree cuts such a plane into a few rectangles; each is added at its four
 * corners, and one sum at the end gives the prediction at every point. */
#include "node.h"

enum { AT_MOST, EQUAL, BELOW }; /* kinds of linear rules, as compass.generate.linear_rules */

typedef struct {
    /* trees */
    const double *value, *divisor, *offset;
    const int64_t *trees;
    int64_t tree_count, outputs;
    /* planes through x, and the values of the columns as the trees compare them */
    const double *x, *option, *option_cost;
    const int64_t *pairs, *begin;
    int64_t count;
    /* targets in terms of raw outputs */
    const int64_t *slot, *wide, *wanted;
    const double *low, *high, *scale, *sign;
    int64_t target_count;
    /* linear rules, which are about the values themselves */
    const double *factor, *constant, *term, *size, *slack, *exact_x, *exact_option;
    const int64_t *kind;
    int64_t rule_count, width;
    /* which points may be looked at */
    const int64_t *mask_start;
    const bool *allowed;
    const double *budget;
    double margin;
    /* room, and what is found */
    double *grid, *sums, *keys;
    int64_t *stack, *position;
} Planes;

typedef struct { /* one plane: columns a and b, b is -1 where it is a line */
    int64_t a, b, na, nb;
    const double *va, *vb, *ea, *eb, *ca, *cb;
} Plane;

static Planes planes_of(const Argument *a)
{
    return (Planes){
        .value = a[1].data, .trees = a[2].data, .tree_count = a[2].shape[0],
        .divisor = a[3].data, .offset = a[4].data, .outputs = a[4].shape[0],
        .x = a[5].data, .pairs = a[6].data, .count = a[6].shape[0], .begin = a[7].data,
        .option = a[8].data, .option_cost = a[9].data,
        .slot = a[10].data, .target_count = a[10].shape[0], .wide = a[11].data,
        .wanted = a[12].data, .low = a[13].data, .high = a[14].data, .scale = a[15].data,
        .sign = a[16].data,
        .factor = a[17].data, .constant = a[18].data, .rule_count = a[18].shape[0],
        .kind = a[19].data, .term = a[20].data, .size = a[21].data, .slack = a[22].data,
        .exact_x = a[23].data, .width = a[23].shape[0], .exact_option = a[24].data,
        .mask_start = a[25].data, .allowed = a[26].data, .budget = a[27].data,
        .margin = a[28].number,
        .grid = a[29].data, .stack = a[30].data,
        .sums = a[31].data, .position = a[32].data, .keys = a[33].data,
    };
}

/* Of every rule: what the columns that stay add to its sum and slack, and what a and b do. */
static void sum_rest(const Planes *s, const Plane *p)
{
    int64_t n = s->rule_count, a = p->a, b = p->b;
    for (int64_t r = 0; r < n; r++) {
        const double *factor = s->factor + r * s->width, *term = s->term + r * s->width;
        double total = s->constant[r], near = s->size[r], slack = s->slack[r];
        for (int64_t c = 0; c < s->width; c++)
            if (c != a && c != b) {
                total += factor[c] * s->exact_x[c];
                near += term[c] * fabs(s->exact_x[c]);
            }
        s->sums[r] = total;
        s->sums[n + r] = slack * near;
        s->sums[2 * n + r] = factor[a];
        s->sums[3 * n + r] = b < 0 ? 0.0 : factor[b];
        s->sums[4 * n + r] = slack * term[a];
        s->sums[5 * n + r] = b < 0 ? 0.0 : slack * term[b];
    }
}

static Plane plane_of(const Planes *s, int64_t k)
{
    int64_t a = s->pairs[2 * k], b = s->pairs[2 * k + 1], at = s->begin[a], bt = s->begin[b];
    Plane p = {.a = a, .b = b, .na = s->begin[a + 1] - at, .nb = s->begin[b + 1] - bt,
               .va = s->option + at, .vb = s->option + bt,
               .ea = s->exact_option + at, .eb = s->exact_option + bt,
               .ca = s->option_cost + at, .cb = s->option_cost + bt};
    if (a == b) { /* a line: nothing else moves */
        p.b = -1;
        p.nb = 1;
    }
    sum_rest(s, &p);
    return p;
}

/* Whether all rules hold at a point; where rounding decides, `<` does not and `<=` does. */
static bool obeys(const Planes *s, double first, double second)
{
    int64_t n = s->rule_count;
    const double *sums = s->sums;
    for (int64_t r = 0; r < n; r++) {
        double total = sums[r] + sums[2 * n + r] * first + sums[3 * n + r] * second;
        double near = sums[n + r] + sums[4 * n + r] * fabs(first) + sums[5 * n + r] * fabs(second);
        bool fine = s->kind[r] == BELOW   ? total < -near
                    : s->kind[r] == EQUAL ? fabs(total) <= near
                                          : total <= near;
        if (!fine)
            return false;
    }
    return true;
}

/* The first position in first .. last - 1 whose value is above the threshold, else last. */
INLINE int64_t first_above(const double *values, int64_t first, int64_t last, double threshold)
{
    while (first < last) {
        int64_t middle = (first + last) / 2;
        if (values[middle] <= threshold)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

INLINE double *cell(const Planes *s, const Plane *p, int64_t i, int64_t j, int64_t c)
{
    return s->grid + (i * (p->nb + 1) + j) * s->outputs + c;
}

static void clear(const Planes *s, const Plane *p)
{
    memset(s->grid, 0, sizeof(double) * (p->na + 1) * (p->nb + 1) * s->outputs);
}

/* Corners become sums of what they are corners of: the predictions. */
static void sum_up(const Planes *s, const Plane *p)
{
    int64_t outputs = s->outputs;
    for (int64_t i = 0; i < p->na; i++)
        for (int64_t c = 0; c < outputs; c++) {
            double along = 0.0;
            for (int64_t j = 0; j < p->nb; j++) {
                along += *cell(s, p, i, j, c);
                *cell(s, p, i, j, c) = along + (i > 0 ? *cell(s, p, i - 1, j, c) : 0.0);
            }
        }
}

typedef struct {
    double missed, preference, inside;
} Score;

/* How far the goals are missed at a point, the preference, how far inside the ranges it lies. */
INLINE Score score_of(const Planes *s, const double *at)
{
    Score found = {0.0, 0.0, s->margin};
    for (int64_t k = 0; k < s->target_count; k++) {
        int64_t slot = s->slot[k];
        if (s->wide[k] > 1) {
            double other = -INFINITY;
            for (int64_t c = 0; c < s->wide[k]; c++)
                if (c != s->wanted[k] && at[slot + c] + s->offset[slot + c] > other)
                    other = at[slot + c] + s->offset[slot + c];
            double own = at[slot + s->wanted[k]] + s->offset[slot + s->wanted[k]];
            found.missed += other - own > 0.0 ? other - own : 0.0;
            continue;
        }
        double y = at[slot] + s->offset[slot], below = s->low[k] - y, above = y - s->high[k];
        found.preference += s->sign[k] * y / s->scale[k];
        found.missed += (below > 0.0 ? below : 0.0) / s->scale[k];
        found.missed += (above > 0.0 ? above : 0.0) / s->scale[k];
        double from_low = -below / s->scale[k], from_high = -above / s->scale[k];
        found.inside = from_low < found.inside ? from_low : found.inside;
        found.inside = from_high < found.inside ? from_high : found.inside;
    }
    return found;
}

/* Keep the best point of plane k that may be looked at, is within its budget and obeys the rules:
 * by how far the goals are missed, the preference, and the cost (or how far inside it lies). */
static void look(const Planes *s, const Plane *p, int64_t k)
{
    double budget = s->budget[k], *keys = s->keys + 3 * k;
    for (int64_t i = 0; i < p->na; i++) {
        if (p->ca[i] >= budget)
            continue;
        for (int64_t j = 0; j < p->nb; j++) {
            double cost = p->ca[i] + (p->b >= 0 ? p->cb[j] : 0.0);
            if (cost >= budget)
                continue;
            if (s->mask_start[k] >= 0 && !s->allowed[s->mask_start[k] + i * p->nb + j])
                continue;
            Score found = score_of(s, cell(s, p, i, j, 0));
            double last = s->margin > 0 ? -found.inside : cost;
            if (found.missed > keys[0])
                continue;
            if (found.missed == keys[0] &&
                (found.preference > keys[1] || (found.preference == keys[1] && last >= keys[2])))
                continue;
            if (!obeys(s, p->ea[i], p->b >= 0 ? p->eb[j] : 0.0))
                continue;
            keys[0] = found.missed, keys[1] = found.preference, keys[2] = last;
            s->position[2 * k] = i, s->position[2 * k + 1] = j;
        }
    }
}

#define NODE Node
#define NAMED(name) name##_single
#include "planes_loop.h"
#undef NODE
#undef NAMED

#define NODE WideNode
#define NAMED(name) name##_wide
#include "planes_loop.h"

#define TYPES                                                                                    \
    " f8 i8_2d f8 f8 f8 i8_2d i8 f8 f8 i8 i8 i8 f8 f8 f8 f8"                                     \
    " f8_2d f8 i8 f8_2d f8 f8 f8 f8 i8 b1 f8 number to_f8_3d to_i8_2d to_f8_2d to_i8_2d to_f8_2d"

/* rules [r, d], start, value, keep [n, d], chance [n], rounds -> X [n, d]: single values are moved
 * just far enough that linear rules hold (compass.generate.repair_linear). */
static int repair_rules(const Argument *a)
{
    const double *factor = a[0].data, *constant = a[1].data, *term = a[3].data, *size = a[4].data;
    const double *slack = a[5].data, *value = a[7].data, *chance = a[9].data;
    const int64_t *kind = a[2].data, *start = a[6].data;
    int64_t rules = a[0].shape[0], width = a[0].shape[1];
    for (int64_t row = 0; row < a[11].shape[0]; row++) {
        double *x = (double *)a[11].data + row * width, luck = chance[row];
        const bool *keep = (const bool *)a[8].data + row * width;
        bool fine = false;
        for (int64_t round = 0; round < a[10].integer && !fine; round++) {
            fine = true;
            for (int64_t r = 0; r < rules; r++) {
                const double *by = factor + r * width;
                double total = constant[r], near = size[r];
                int64_t able = 0;
                for (int64_t c = 0; c < width; c++) {
                    near += term[r * width + c] * fabs(x[c]);
                    if (by[c] != 0.0) {
                        total += by[c] * x[c];
                        able += start[c + 1] > start[c] && !keep[c];
                    }
                }
                near *= slack[r];
                double missed = kind[r] == EQUAL ? fabs(total) : total;
                if (kind[r] == BELOW ? missed < -near : missed <= near)
                    continue;
                fine = false;
                if (able == 0)
                    continue;
                /* A fixed sequence of choices from one random number: the same seed, the same
                 * row. */
                luck = fmod(luck * 9301.0 + 0.49297, 1.0);
                int64_t nth = least_of((int64_t)(luck * (double)able), able - 1), c = 0;
                for (;; c++) {
                    if (by[c] == 0.0 || start[c + 1] <= start[c] || keep[c])
                        continue;
                    if (nth-- == 0)
                        break;
                }
                double wanted = x[c] - total / by[c];
                bool up = by[c] < 0.0; /* the sum falls as the column grows */
                /* A sum that has to stay below 0 excludes the value at which it is 0. */
                bool strict = kind[r] == BELOW;
                double close = (strict ? -1.0 : 1.0) * near / fabs(by[c]);
                double limit = up ? wanted - close : wanted + close;
                int64_t first = start[c], last = start[c + 1];
                while (first < last) {
                    int64_t middle = (first + last) / 2;
                    if (value[middle] < limit || (up == strict && value[middle] == limit))
                        first = middle + 1;
                    else
                        last = middle;
                }
                int64_t at = up ? first : first - 1;
                x[c] = value[least_of(most_of(at, start[c]), start[c + 1] - 1)];
            }
        }
    }
    return 0;
}

const Kernel PLANES[] = {
    {"best_of_planes_single", "node" TYPES, best_of_planes_single},
    {"best_of_planes_wide", "wide" TYPES, best_of_planes_wide},
    {"repair_rules", "f8_2d f8 i8 f8_2d f8 f8 i8 f8 b1_2d f8 integer to_f8_2d", repair_rules},
    {0},
};
