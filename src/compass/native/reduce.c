/* Kernels of compass.reducers: bins, scores, draws, and what is counted of all rows. */
#include "kernel.h"

enum { BLOCK = 512 }; /* rows that stay in the nearest cache */

/* How many borders each of a block of numbers exceeds; comparing with all of them beats a search.
 * Counted in whole numbers as wide as the numbers, which one vector instruction compares. */
VECTORS static void exceeded(const double *restrict values, int64_t count,
                             const double *restrict borders, int64_t many, uint8_t *restrict into)
{
    int64_t above[BLOCK] = {0};
    for (int64_t b = 0; b < many; b++)
        for (int64_t r = 0; r < count; r++)
            above[r] += values[r] > borders[b];
    for (int64_t r = 0; r < count; r++)
        into[r] = (uint8_t)above[r];
}

/* values [n], borders -> into [n]: how many borders each number exceeds. */
#define BIN_NUMBERS(type, kind)                                                                    \
    static int bin_numbers_##kind(const Argument *a)                                               \
    {                                                                                              \
        const type *values = a[0].data;                                                            \
        double part[BLOCK];                                                                        \
        for (int64_t start = 0; start < a[0].shape[0]; start += BLOCK) {                           \
            int64_t count = least_of(BLOCK, a[0].shape[0] - start);                                \
            for (int64_t r = 0; r < count; r++)                                                    \
                part[r] = (double)values[start + r];                                               \
            exceeded(part, count, a[1].data, a[1].shape[0], (uint8_t *)a[2].data + start);         \
        }                                                                                          \
        return 0;                                                                                  \
    }
BIN_NUMBERS(int32_t, i4)
BIN_NUMBERS(int64_t, i8)
BIN_NUMBERS(double, f8)

/* sums [n] (four members of 16 bits each), base, step, measured [n], log, usual -> into [n]: adds
 * the squares of error and spread. */
VECTORS static int add_error(const Argument *a)
{
    const uint64_t *sums = a[0].data;
    const double *measured = a[3].data;
    double base = a[1].number, step = a[2].number, usual = a[5].number, *into = a[6].data;
    double logs[BLOCK];
    for (int64_t start = 0; start < a[0].shape[0]; start += BLOCK) {
        int64_t count = least_of(BLOCK, a[0].shape[0] - start);
        const double *y = measured + start;
        if (a[4].integer) { /* apart: no vector instruction takes logarithms */
            for (int64_t r = 0; r < count; r++)
                logs[r] = log(measured[start + r]);
            y = logs;
        }
        for (int64_t r = 0; r < count; r++) {
            uint64_t sum = sums[start + r];
            double member[4];
            for (int m = 0; m < 4; m++)
                member[m] = (double)(int32_t)((sum >> (16 * m)) & 65535);
            double mean = (member[0] + member[1] + member[2] + member[3]) / 4, spread = 0.0;
            for (int m = 0; m < 4; m++)
                spread += (member[m] - mean) * (member[m] - mean);
            spread /= 3;
            double error = y[r] - (base + step * mean);
            double square = (error * error + step * step * spread) / usual;
            /* Nothing is known of a row whose outcome is missing: it counts as a usual one. */
            into[start + r] += square - square == 0.0 ? square : 1.0;
        }
    }
    return 0;
}

/* squares [n], targets, a, b: sums of squares become probabilities, in place. */
VECTORS static int to_probabilities(const Argument *a)
{
    double *squares = a[0].data, targets = (double)a[1].integer;
    for (int64_t r = 0; r < a[0].shape[0]; r++) {
        double wanted = a[2].number + a[3].number * sqrt(squares[r] / targets);
        squares[r] = wanted < 1.0 ? wanted : 1.0;
    }
    return 0;
}

/* The last step of SplitMix64: every bit of the answer depends on every bit of x. */
INLINE uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The random number in [0, 1) of a row under a key. */
INLINE double random_number(uint64_t key, int64_t row)
{
    uint64_t counter = (uint64_t)(row + 1) * 0x9e3779b97f4a7c15u;
    return (double)(int64_t)(mixed(mixed(key ^ counter)) >> 11) * 0x1p-53;
}

/* key, first -> into [n]: the numbers of the rows first, first + 1, ... */
static int random_numbers(const Argument *a)
{
    double *into = a[2].data;
    for (int64_t r = 0; r < a[2].shape[0]; r++)
        into[r] = random_number(a[0].bits, a[1].integer + r);
    return 0;
}

/* probability [n], usable [n], key, first -> rows and 1 / probability of those that are kept;
 * counted: how many, and how many were expected. */
static int choose(const Argument *a)
{
    const double *probability = a[0].data;
    const uint8_t *usable = a[1].data;
    int64_t *rows = a[4].data, kept = 0;
    double *weights = a[5].data, *counted = a[6].data, expected = 0.0;
    for (int64_t r = 0; r < a[0].shape[0]; r++) {
        if (!usable[r])
            continue;
        expected += probability[r];
        if (random_number(a[2].bits, a[3].integer + r) < probability[r]) {
            rows[kept] = r;
            weights[kept++] = 1.0 / probability[r];
        }
    }
    counted[0] = (double)kept;
    counted[1] = expected;
    return 0;
}

/* values [n], usable [n], about -> into: count, sum and sum of squares about a number, least and
 * greatest of the usable finite values. */
#define ADD_MOMENTS(type, kind)                                                                    \
    static int add_moments_##kind(const Argument *a)                                               \
    {                                                                                              \
        const type *values = a[0].data;                                                            \
        const uint8_t *usable = a[1].data;                                                         \
        double *into = a[3].data, total = 0.0, squares = 0.0, low = into[3], high = into[4];       \
        int64_t count = 0;                                                                         \
        for (int64_t r = 0; r < a[0].shape[0]; r++) {                                              \
            double value = (double)values[r], apart = value - a[2].number;                         \
            /* A missing cell is NaN, and NaN minus itself is not 0. */                            \
            if (usable[r] && apart - apart == 0.0) {                                               \
                count++;                                                                           \
                total += apart;                                                                    \
                squares += apart * apart;                                                          \
                low = value < low ? value : low;                                                   \
                high = value > high ? value : high;                                                \
            }                                                                                      \
        }                                                                                          \
        into[0] += (double)count;                                                                  \
        into[1] += total;                                                                          \
        into[2] += squares;                                                                        \
        into[3] = low;                                                                             \
        into[4] = high;                                                                            \
        return 0;                                                                                  \
    }
ADD_MOMENTS(int32_t, i4)
ADD_MOMENTS(int64_t, i8)
ADD_MOMENTS(double, f8)

/* codes [n], usable [n] -> into: usable rows of each label; the last is for missing ones. */
#define COUNT_LABELS(type, kind)                                                                   \
    static int count_labels_##kind(const Argument *a)                                              \
    {                                                                                              \
        const type *codes = a[0].data;                                                             \
        const uint8_t *usable = a[1].data;                                                         \
        int64_t *into = a[2].data, last = a[2].shape[0] - 1;                                       \
        for (int64_t r = 0; r < a[0].shape[0]; r++)                                                \
            into[codes[r] < 0 ? last : codes[r]] += usable[r];                                     \
        return 0;                                                                                  \
    }
COUNT_LABELS(int32_t, i4)
COUNT_LABELS(int64_t, i8)

const Kernel REDUCE[] = {
    {"bin_numbers_i4", "i4 f8 to_u1", bin_numbers_i4},
    {"bin_numbers_i8", "i8 f8 to_u1", bin_numbers_i8},
    {"bin_numbers_f8", "f8 f8 to_u1", bin_numbers_f8},
    {"add_error", "u8 number number f8 integer number to_f8", add_error},
    {"to_probabilities", "to_f8 integer number number", to_probabilities},
    {"random_numbers", "bits integer to_f8", random_numbers},
    {"choose", "f8 u1 bits integer to_i8 to_f8 to_f8", choose},
    {"add_moments_i4", "i4 u1 number to_f8", add_moments_i4},
    {"add_moments_i8", "i8 u1 number to_f8", add_moments_i8},
    {"add_moments_f8", "f8 u1 number to_f8", add_moments_f8},
    {"count_labels_i4", "i4 u1 to_i8", count_labels_i4},
    {"count_labels_i8", "i8 u1 to_i8", count_labels_i8},
    {0},
};
