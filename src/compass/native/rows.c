/* Kernels that compare whole configurations (compass.prepare.split, compass.generate.distinct),
 * and the normal distribution (compass.trust.normal). */
#include "kernel.h"

/* The last step of SplitMix64: every bit of the input changes about half of the output. */
INLINE uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* X [n, d] -> hashed [n]: a number that is the same for identical rows; NaN equals NaN. */
static int configurations(const Argument *a)
{
    const double *X = a[0].data;
    int64_t n = a[0].shape[0], d = a[0].shape[1];
    uint64_t *hashed = a[1].data;
    for (int64_t r = 0; r < n; r++) {
        uint64_t found = 0x9E3779B97F4A7C15u, bits;
        for (int64_t c = 0; c < d; c++) {
            double value = X[r * d + c] + 0.0; /* -0.0 and 0.0 are the same */
            memcpy(&bits, &value, sizeof bits);
            found = mixed(found ^ (isnan(value) ? 0x7FF8000000000000u : bits));
        }
        hashed[r] = found;
    }
    return 0;
}

/* X [n, d], x [d], columns, least [d], none [d], ratio -> apart [n]: which rows differ noticeably
 * from x in one of the columns: by `least` or by the ratio; where `least` is NaN, at all. */
static int noticeably_different(const Argument *a)
{
    const double *X = a[0].data, *x = a[1].data, *least = a[3].data, *none = a[4].data;
    const int64_t *columns = a[2].data, count = a[2].shape[0], d = a[0].shape[1];
    double ratio = a[5].number;
    uint8_t *apart = a[6].data;
    for (int64_t r = 0; r < a[0].shape[0]; r++) {
        bool found = false;
        for (int64_t i = 0; i < count && !found; i++) {
            int64_t c = columns[i];
            double value = X[r * d + c], own = x[c];
            if (value == own)
                continue;
            double big = fmax(fabs(value), fabs(own)), small = fmin(fabs(value), fabs(own));
            found = isnan(least[c]) || (value * own > 0 && big >= ratio * small) ||
                    fabs(value - own) >= least[c] || value == none[c] || own == none[c];
        }
        apart[r] = found;
    }
    return 0;
}

/* z [n] -> below [n]: the share of a normal distribution below z deviations from its mean. */
static int normal_below(const Argument *a)
{
    const double *z = a[0].data;
    double *below = a[1].data;
    for (int64_t i = 0; i < a[0].shape[0]; i++)
        below[i] = 0.5 * erfc(-z[i] * 0.70710678118654752440);
    return 0;
}

const Kernel ROWS[] = {
    {"configurations", "f8_2d to_u8", configurations},
    {"normal_below", "f8 to_f8", normal_below},
    {"noticeably_different", "f8_2d f8 i8 f8 f8 number to_b1", noticeably_different},
    {0},
};
