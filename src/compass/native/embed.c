/* Kernels of trained networks that are applied to rows (compass.embed.forward). Every row is
 * treated by itself with a fixed order of additions: a row gives the same bits in any batch. */
#include "affine.h"

INLINE double above_zero(double x) { return x < 0.0 ? 0.0 : x; }

/* Replace scores by the nearest shares: not negative, 1 in sum (sparsemax). */
INLINE void nearest_shares(double *z, int64_t size)
{
    /* Michelot: drop what lies below the threshold until nothing does. The largest is moved to 0
     * first, or large values would swallow the 1 that is shared out. */
    double top = z[0], total = 0.0;
    for (int64_t j = 1; j < size; j++)
        top = z[j] > top ? z[j] : top;
    for (int64_t j = 0; j < size; j++) {
        z[j] -= top;
        total += z[j];
    }
    int64_t count = size;
    double threshold = (total - 1.0) / count;
    while (true) {
        int64_t kept = 0;
        total = 0.0;
        for (int64_t j = 0; j < size; j++)
            if (z[j] > threshold) {
                total += z[j];
                kept++;
            }
        if (kept >= count) /* more, if anything, by rounding */
            break;
        count = kept;
        threshold = (total - 1.0) / count;
    }
    for (int64_t j = 0; j < size; j++)
        z[j] = above_zero(z[j] - threshold);
}

/* z [size]: sparsemax, in place. */
static int sparsemax(const Argument *a)
{
    nearest_shares(a[0].data, a[0].shape[0]);
    return 0;
}

typedef struct {
    const double *first, *first_bias, *later, *later_bias; /* of one turn */
    int64_t dense, hidden, layers;
} Turn;

/* What the gated layers of a turn make of a row x: h [hidden]; g [2 hidden] is room. */
INLINE void features(const Turn *turn, const double *x, double *g, double *h)
{
    int64_t hidden = turn->hidden, wide = 2 * hidden;
    affine_row(x, turn->dense, turn->first, turn->first_bias, g, wide);
    for (int64_t j = 0; j < hidden; j++)
        h[j] = g[j] / (1.0 + exp(-g[hidden + j]));
    for (int64_t l = 0; l < turn->layers; l++) {
        affine_row(h, hidden, turn->later + l * hidden * wide, turn->later_bias + l * wide, g,
                   wide);
        for (int64_t j = 0; j < hidden; j++)
            h[j] = (h[j] + g[j] / (1.0 + exp(-g[hidden + j]))) * sqrt(0.5);
    }
}

/* D [n, dense], owner [dense], first [turns, dense, 2 hidden], first_bias, later [turns, layers,
 * hidden, 2 hidden], later_bias, attend [steps, attention, columns], attend_bias, relax
 * -> out [n, width], masks [n, steps, columns], strength [n, steps]. */
VECTORS static int attend(const Argument *a)
{
    const double *D = a[0].data, *weight = a[6].data, *bias = a[7].data, relax = a[8].number;
    const int64_t *owner = a[1].data, dense = a[0].shape[1], hidden = a[4].shape[2];
    int64_t steps = a[6].shape[0], attention = a[6].shape[1], columns = a[6].shape[2];
    int64_t layers = a[4].shape[1], width = a[9].shape[1];
    double *x = malloc((dense + 3 * hidden + 2 * columns + 1) * sizeof *x);
    if (!x)
        return NO_MEMORY;
    double *h = x + dense, *g = h + hidden, *z = g + 2 * hidden, *prior = z + columns;
    for (int64_t row = 0; row < a[0].shape[0]; row++) {
        double *out = (double *)a[9].data + row * width;
        double *strength = (double *)a[11].data + row * steps;
        memset(out, 0, width * sizeof *out);
        for (int64_t j = 0; j < columns; j++)
            prior[j] = z[j] = 1.0;
        /* What the first turn says only decides what is attended to in the next one. */
        for (int64_t turn = 0; turn <= steps; turn++) {
            if (turn > 0) {
                int64_t step = turn - 1;
                affine_row(h + width, attention, weight + step * attention * columns,
                           bias + step * columns, z, columns);
                for (int64_t j = 0; j < columns; j++)
                    z[j] *= prior[j];
                nearest_shares(z, columns);
                for (int64_t j = 0; j < columns; j++)
                    prior[j] *= relax - z[j];
                memcpy((double *)a[10].data + (row * steps + step) * columns, z,
                       columns * sizeof *z);
            }
            for (int64_t k = 0; k < dense; k++)
                x[k] = D[row * dense + k] * z[owner[k]];
            Turn now = {.first = (const double *)a[2].data + turn * dense * 2 * hidden,
                        .first_bias = (const double *)a[3].data + turn * 2 * hidden,
                        .later = (const double *)a[4].data + turn * layers * 2 * hidden * hidden,
                        .later_bias = (const double *)a[5].data + turn * layers * 2 * hidden,
                        .dense = dense, .hidden = hidden, .layers = layers};
            features(&now, x, g, h);
            if (turn == 0)
                continue;
            strength[turn - 1] = 0.0;
            for (int64_t j = 0; j < width; j++) {
                out[j] += above_zero(h[j]);
                strength[turn - 1] += above_zero(h[j]);
            }
        }
    }
    free(x);
    return 0;
}

/* D [n, sizes[0]], sizes, weights -> out [n, sizes[-1]]: a multi-layer perceptron. */
VECTORS static int perceive(const Argument *a)
{
    const double *weights = a[2].data;
    const int64_t *sizes = a[1].data, layers = a[1].shape[0] - 1, given = a[0].shape[1];
    int64_t widest = 0;
    for (int64_t l = 0; l <= layers; l++)
        widest = most_of(widest, sizes[l]);
    double *x = malloc((2 * widest + 1) * sizeof *x);
    if (!x)
        return NO_MEMORY;
    double *g = x + widest;
    for (int64_t row = 0; row < a[0].shape[0]; row++) {
        const double *at = weights;
        memcpy(x, (const double *)a[0].data + row * given, sizes[0] * sizeof *x);
        for (int64_t l = 0; l < layers; l++) {
            int64_t rows = sizes[l], columns = sizes[l + 1];
            affine_row(x, rows, at, at + rows * columns, g, columns);
            at += (rows + 1) * columns;
            for (int64_t j = 0; j < columns; j++)
                x[j] = l == layers - 1 ? g[j] : g[j] / (1.0 + exp(-g[j]));
        }
        memcpy((double *)a[3].data + row * sizes[layers], x, sizes[layers] * sizeof *x);
    }
    free(x);
    return 0;
}

const Kernel EMBED[] = {
    {"sparsemax", "to_f8", sparsemax},
    {"attend", "f8_2d i8 f8_3d f8_2d f8_4d f8_3d f8_3d f8_2d number to_f8_2d to_f8_3d to_f8_2d",
     attend},
    {"perceive", "f8_2d i8 f8 to_f8_2d", perceive},
    {0},
};
