/* The product of two matrices with vectors of one size. Before it is included, BYTES is their size,
 * NAMED(x) the name of what is made for it, and TARGET says which machines have such vectors. */

/* May lie anywhere among single numbers. */
typedef float NAMED(Vector) __attribute__((vector_size(BYTES), aligned(4), may_alias));

/* Four rows of A [4, m] times a strip [m, STRIP]. */
INLINE void NAMED(tile)(Matrix A, const float *strip, int64_t m, float *out)
{
    enum { LANES = BYTES / sizeof(float), PARTS = STRIP / LANES };
    NAMED(Vector) sum[HEIGHT][PARTS] = {0};
    int64_t k = 0;
    /* Two terms at a time, and sums in registers to the end. */
    for (; k + 1 < m; k += 2, strip += 2 * STRIP) {
        const float *first = A.at + k * A.right, *second = first + A.right;
        for (int p = 0; p < PARTS; p++) {
            NAMED(Vector) v = *(const NAMED(Vector) *)(strip + p * LANES);
            NAMED(Vector) w = *(const NAMED(Vector) *)(strip + STRIP + p * LANES);
            for (int r = 0; r < HEIGHT; r++)
                sum[r][p] += first[r * A.down] * v + second[r * A.down] * w;
        }
    }
    for (int r = 0; r < HEIGHT; r++)
        for (int p = 0; p < PARTS; p++) {
            if (k < m)
                sum[r][p] += A.at[r * A.down + k * A.right] *
                             *(const NAMED(Vector) *)(strip + p * LANES);
            *(NAMED(Vector) *)(out + r * STRIP + p * LANES) = sum[r][p];
        }
}

TARGET static void NAMED(multiply)(Matrix A, Matrix B, int64_t n, int64_t m, int64_t columns,
                                   float *restrict strip, float *restrict out)
{
    int64_t fours = n - n % HEIGHT;
    float sum[HEIGHT * STRIP];
    for (int64_t j = 0; j < columns && fours > 0; j += STRIP) {
        /* Side by side: rows of a wide matrix fall on each other in the cache. */
        int64_t some = least_of(STRIP, columns - j);
        for (int64_t k = 0; k < m; k++)
            if (some == STRIP && B.right == 1)
                memcpy(strip + k * STRIP, B.at + k * B.down + j, STRIP * sizeof *strip);
            else
                for (int64_t c = 0; c < STRIP; c++)
                    strip[k * STRIP + c] = c < some ? B.at[k * B.down + (j + c) * B.right] : 0.0f;
        for (int64_t i = 0; i < fours; i += HEIGHT) {
            NAMED(tile)((Matrix){A.at + i * A.down, A.down, A.right}, strip, m, sum);
            for (int r = 0; r < HEIGHT; r++)
                memcpy(out + (i + r) * columns + j, sum + r * STRIP, some * sizeof *out);
        }
    }
    for (int64_t i = fours; i < n; i++) {
        memset(out + i * columns, 0, columns * sizeof *out);
        for (int64_t k = 0; k < m; k++)
            for (int64_t j = 0; j < columns; j++)
                out[i * columns + j] +=
                    A.at[i * A.down + k * A.right] * B.at[k * B.down + j * B.right];
    }
}

#undef BYTES
#undef NAMED
#undef TARGET
