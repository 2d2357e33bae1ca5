/* Kernels of models without trees (compass.model.sums, neighbours, neural): a row gives the same
 * bits in every batch. Every number is summed in the order of its terms; what runs side by side
 * are different sums. */
#include "affine.h"

/* Z [n, w], B [w, outputs], c, start, stop -> out [n, outputs]: Z @ B + c. */
VECTORS static int affine(const Argument *a)
{
    const double *Z = a[0].data, *B = a[1].data, *c = a[2].data;
    int64_t terms = a[1].shape[0], outputs = a[1].shape[1];
    for (int64_t i = a[3].integer; i < a[4].integer; i++)
        affine_row(Z + i * terms, terms, B, c, (double *)a[5].data + i * outputs, outputs);
    return 0;
}

/* Z [n, w], M [w, w] upper triangular, start, stop -> out [n]: squared lengths of Z @ M. */
VECTORS static int lengths(const Argument *a)
{
    const double *Z = a[0].data, *M = a[1].data;
    int64_t w = a[1].shape[0], start = a[2].integer, rows = a[3].integer - start;
    double *out = a[4].data, *restrict total = calloc(rows * w + 1, sizeof *total);
    if (!total)
        return NO_MEMORY;
    for (int64_t k = 0; k < w; k++)
        for (int64_t i = 0; i < rows; i++) {
            double z = Z[(start + i) * w + k];
            for (int64_t j = k; j < w; j++)
                total[i * w + j] += z * M[k * w + j];
        }
    for (int64_t i = 0; i < rows; i++) {
        double length = 0.0;
        for (int64_t j = 0; j < w; j++)
            length += total[i * w + j] * total[i * w + j];
        out[start + i] = length;
    }
    free(total);
    return 0;
}

enum { RBF, MATERN, MATERN_SLOPE };

/* 2 to the power of a whole number from -1022 to 1023. */
INLINE double power_of_two(double whole)
{
    /* The sum has the number in its last bits: they become the exponent. */
    double shifted = whole + (6755399441055744.0 + 1023.0), found;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 52;
    memcpy(&found, &bits, sizeof found);
    return found;
}

/* exp() from -700 to 0; that of the C library is called for one number at a time, this is not. */
INLINE double exponential(double x)
{
    double whole = floor(x * 1.4426950408889634 + 0.5);
    double rest = (x - whole * 0.6931471803691238) - whole * 1.9082149292705877e-10;
    double power = 1.0 / 6227020800.0;
    power = power * rest + 1.0 / 479001600.0;
    power = power * rest + 1.0 / 39916800.0;
    power = power * rest + 1.0 / 3628800.0;
    power = power * rest + 1.0 / 362880.0;
    power = power * rest + 1.0 / 40320.0;
    power = power * rest + 1.0 / 5040.0;
    power = power * rest + 1.0 / 720.0;
    power = power * rest + 1.0 / 120.0;
    power = power * rest + 1.0 / 24.0;
    power = power * rest + 1.0 / 6.0;
    power = power * rest + 0.5;
    power = (power * rest + 1.0) * rest + 1.0;
    return power * power_of_two(whole);
}

/* Replace squared distances by similarities; `kind` is known when this is compiled. */
INLINE void similarities(double *restrict out, int64_t m, double factor, int kind)
{
    for (int64_t s = 0; s < m; s++) {
        double squared = factor * out[s], root = sqrt(5.0 * squared);
        double minus = kind == RBF ? -squared : -root;
        /* From -700 on it is as good as 0, and so is what is no number. */
        bool near = minus > -700.0;
        double power = exponential(near ? minus : -700.0);
        if (kind == MATERN)
            power = power * (1.0 + root + 5.0 / 3.0 * squared);
        else if (kind == MATERN_SLOPE)
            power = power * (1.0 + root);
        out[s] = near ? power : 0.0;
    }
}

/* Z [n, w], S [w, m], factor, kind, start, stop -> out [n, m]: how similar rows are to points. */
VECTORS static int similar(const Argument *a)
{
    const double *Z = a[0].data, *S = a[1].data, factor = a[2].number;
    int64_t w = a[1].shape[0], m = a[1].shape[1], kind = a[3].integer;
    for (int64_t i = a[4].integer; i < a[5].integer; i++) {
        double *restrict out = (double *)a[6].data + i * m;
        memset(out, 0, m * sizeof *out);
        for (int64_t k = 0; k < w; k++) {
            double z = Z[i * w + k];
            for (int64_t s = 0; s < m; s++)
                out[s] += (z - S[k * m + s]) * (z - S[k * m + s]);
        }
        if (kind == RBF)
            similarities(out, m, factor, RBF);
        else if (kind == MATERN)
            similarities(out, m, factor, MATERN);
        else
            similarities(out, m, factor, MATERN_SLOPE);
    }
    return 0;
}

/* raw [n, k] -> out [n, k]: shares that sum to 1 in a row. */
static int softmax(const Argument *a)
{
    int64_t k = a[0].shape[1];
    for (int64_t i = 0; i < a[0].shape[0]; i++) {
        const double *raw = (const double *)a[0].data + i * k;
        double *out = (double *)a[1].data + i * k, highest = raw[0], total = 0.0;
        for (int64_t j = 1; j < k; j++)
            highest = raw[j] > highest ? raw[j] : highest;
        for (int64_t j = 0; j < k; j++) {
            out[j] = exp(raw[j] - highest);
            total += out[j];
        }
        for (int64_t j = 0; j < k; j++)
            out[j] /= total;
    }
    return 0;
}

/* raw [n, m] -> value [n, m], slope [n, m]: silu, and how fast it changes. */
static int silu(const Argument *a)
{
    const double *raw = a[0].data;
    double *value = a[1].data, *slope = a[2].data;
    for (int64_t i = 0; i < a[0].shape[0] * a[0].shape[1]; i++) {
        double share = 1.0 / (1.0 + exp(-raw[i]));
        value[i] = raw[i] * share;
        slope[i] = share + value[i] * (1.0 - share);
    }
    return 0;
}

/* apart [n, k], near [n, k], mean [m, raw], within [m, raw], weight [m], by_distance
 * -> out [n, raw], spread [n]: the weighted mean of neighbours, and the deviation of its largest
 * column. */
static int average(const Argument *a)
{
    const double *mean = a[2].data, *within = a[3].data, *weight = a[4].data;
    int64_t k = a[1].shape[1], raw = a[2].shape[1], by_distance = a[5].integer;
    double *spread = a[7].data, *share = malloc(k * sizeof *share + 1);
    if (!share)
        return NO_MEMORY;
    for (int64_t i = 0; i < a[1].shape[0]; i++) {
        const double *apart = (const double *)a[0].data + i * k;
        const int64_t *near = (const int64_t *)a[1].data + i * k;
        double *out = (double *)a[6].data + i * raw, total = 0.0, variance = 0.0;
        int64_t best = 0;
        for (int64_t s = 0; s < k; s++) {
            share[s] = weight[near[s]];
            /* Relative to the nearest: a quotient of tiny distances stays a number. */
            if (by_distance && apart[0] > 0)
                share[s] *= apart[0] / apart[s];
            else if (by_distance && apart[s] > 0)
                share[s] = 0.0;
            total += share[s];
        }
        for (int64_t j = 0; j < raw; j++) {
            out[j] = 0.0;
            for (int64_t s = 0; s < k; s++)
                out[j] += share[s] / total * mean[near[s] * raw + j];
            if (out[j] > out[best])
                best = j;
        }
        for (int64_t s = 0; s < k; s++) {
            int64_t at = near[s] * raw + best;
            double away = mean[at] - out[best];
            variance += share[s] / total * (away * away + within[at]);
        }
        spread[i] = sqrt(variance);
    }
    free(share);
    return 0;
}

const Kernel SUMS[] = {
    {"affine", "f8_2d f8_2d f8 integer integer to_f8_2d", affine},
    {"lengths", "f8_2d f8_2d integer integer to_f8", lengths},
    {"similar", "f8_2d f8_2d number integer integer integer to_f8_2d", similar},
    {"softmax", "f8_2d to_f8_2d", softmax},
    {"silu", "f8_2d to_f8_2d to_f8_2d", silu},
    {"average", "f8_2d i8_2d f8_2d f8_2d f8 integer to_f8_2d to_f8", average},
    {0},
};
