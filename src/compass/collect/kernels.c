/* Four small OpenMP kernels, timed for many configurations in one process.
 *
 * Fixed when compiled:  PRECISION (32 or 64), UNROLL (1, 2, 4, 8), compiler flags.
 * Given for each run:   one line on standard input,
 *     kernel n threads schedule chunk tile repeats target_ms
 * Answer, one line on standard output, in the same order as the questions:
 *     ok worst_error total_error flops executions seconds_1 ... seconds_R
 *     error reason
 * seconds_i is the time of ONE kernel execution in repeat i. Whether the errors are acceptable is
 * judged by the caller: -ffast-math makes comparisons with NaN inside this program unreliable.
 *
 * COMPASS_FAULT deliberately spoils one element of each result, to prove that the check can fail.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined PRECISION || !defined UNROLL
#error "compile with -DPRECISION=32 or 64 and -DUNROLL=1, 2, 4 or 8"
#endif
#if PRECISION == 32
typedef float real;
#else
typedef double real;
#endif

/* REPEAT(M) writes M(0) M(1) ... UNROLL times; UNROLL_HINT asks the compiler to do the unrolling. */
#define REPEAT_1(M) M(0)
#define REPEAT_2(M) M(0) M(1)
#define REPEAT_4(M) REPEAT_2(M) M(2) M(3)
#define REPEAT_8(M) REPEAT_4(M) M(4) M(5) M(6) M(7)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define REPEAT(M) JOIN(REPEAT_, UNROLL)(M)
#define AS_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLL_HINT(times) AS_PRAGMA(unroll times)
#else
#define UNROLL_HINT(times) AS_PRAGMA(GCC unroll times)
#endif

#define NOINLINE __attribute__((noinline))
#define MAX_REPEATS 101
#define ROW_SLOTS 64 /* upper bound on the entries of one sparse row */

typedef struct {
    char kernel[16], schedule[16];
    long n, threads, chunk, tile, repeats;
    double target; /* seconds one repeat should last */
} config;

typedef struct {
    long n, spot;    /* spot: one element of the result that the check looks at */
    real *a, *b, *c; /* a is the result, b and c are the input */
    int *col;
    long *row;
    double flops; /* of one execution */
} problem;

typedef struct { double worst, total; } deviation;

static long least(long x, long y) { return x < y ? x : y; }
static long blocks_of(long n, long tile) { return (n + tile - 1) / tile; }

static void *space(size_t bytes) {
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == NULL) {
        puts("error not enough memory");
        exit(2);
    }
    return memory;
}

/* A fixed hash stands for random numbers: the same matrix on each machine and for each flag. */
static uint32_t hash(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ (x >> 16);
}

static void note(deviation *seen, double got, double wanted) {
    double scale = wanted < 0 ? -wanted : wanted;
    double d = (got > wanted ? got - wanted : wanted - got) / (scale > 1 ? scale : 1);
    seen->total += d; /* carries a NaN, which the maximum may lose */
    if (d > seen->worst) seen->worst = d;
}

/* ---- triad: a = b + 3 c, blocks of `tile` elements ---------------------------------------- */

static NOINLINE void triad_block(real *restrict a, const real *restrict b, const real *restrict c,
                                 long count) {
    UNROLL_HINT(UNROLL)
    for (long i = 0; i < count; i++) a[i] = b[i] + (real)3 * c[i];
}

static NOINLINE void triad_run(const problem *p, long tile) {
    const long n = p->n, blocks = blocks_of(n, tile);
#pragma omp parallel for schedule(runtime)
    for (long block = 0; block < blocks; block++) {
        long at = block * tile;
        triad_block(p->a + at, p->b + at, p->c + at, least(tile, n - at));
    }
}

static void triad_make(problem *p) {
    const long n = p->n;
    real *a = p->a = space(n * sizeof(real));
    real *b = p->b = space(n * sizeof(real));
    real *c = p->c = space(n * sizeof(real));
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = (real)(i & 7);
        c[i] = (real)(i & 15);
    }
    p->flops = 2.0 * n;
}

static deviation triad_check(const problem *p) {
    deviation seen = {0, 0};
    for (long i = 0; i < p->n; i++) note(&seen, p->a[i], (double)(i & 7) + 3.0 * (i & 15));
    return seen;
}

/* ---- matmul: a = b c, square tiles, `UNROLL` steps of the sum at a time -------------------- */

static NOINLINE void matmul_tile(real *restrict a, const real *restrict b, const real *restrict c,
                                 long n, long rows, long cols, long steps) {
    for (long i = 0; i < rows; i++) {
        real *restrict out = a + i * n;
        const real *restrict left = b + i * n;
        for (long k = 0; k < steps; k += UNROLL) { /* n and tile are multiples of 8 */
            const real *restrict right = c + k * n;
#define FACTOR(u) const real f##u = left[k + u];
            REPEAT(FACTOR)
#define TERM(u) +f##u *right[u * n + j]
            for (long j = 0; j < cols; j++) out[j] = out[j] REPEAT(TERM);
        }
    }
}

static NOINLINE void matmul_run(const problem *p, long tile) {
    const long n = p->n, side = blocks_of(n, tile);
#pragma omp parallel for schedule(runtime)
    for (long block = 0; block < side * side; block++) {
        long i = block / side * tile, j = block % side * tile;
        long rows = least(tile, n - i), cols = least(tile, n - j);
        real *out = p->a + i * n + j;
        for (long r = 0; r < rows; r++) memset(out + r * n, 0, cols * sizeof(real));
        for (long k = 0; k < n; k += tile)
            matmul_tile(out, p->b + i * n + k, p->c + k * n + j, n, rows, cols, least(tile, n - k));
    }
}

static void matmul_make(problem *p) {
    const long n = p->n;
    real *a = p->a = space(n * n * sizeof(real));
    real *b = p->b = space(n * n * sizeof(real));
    real *c = p->c = space(n * n * sizeof(real));
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n * n; i++) { /* small integers: sums are exact in both precisions */
        a[i] = 0;
        b[i] = (real)(hash((uint32_t)i) & 3);
        c[i] = (real)(hash((uint32_t)i + 7919U) & 3);
    }
    p->flops = 2.0 * n * n * n;
}

/* a x must equal b (c x) for a vector x: a check of order n^2 for a product of order n^3. */
static deviation matmul_check(const problem *p) {
    const long n = p->n;
    deviation seen = {0, 0};
    double *x = space(n * sizeof(double)), *cx = space(n * sizeof(double));
    for (long i = 0; i < n; i++) x[i] = (double)(1 + (hash((uint32_t)i) & 7));
    for (long i = 0; i < n; i++) {
        cx[i] = 0;
        for (long j = 0; j < n; j++) cx[i] += p->c[i * n + j] * x[j];
    }
    for (long i = 0; i < n; i++) {
        double got = 0, wanted = 0;
        for (long j = 0; j < n; j++) {
            got += p->a[i * n + j] * x[j];
            wanted += p->b[i * n + j] * cx[j];
        }
        note(&seen, got, wanted);
    }
    free(x), free(cx);
    return seen;
}

/* ---- stencil: five points on an n by n grid, square tiles ---------------------------------- */

static NOINLINE void stencil_tile(real *restrict a, const real *restrict b, long n, long rows,
                                  long cols) {
    for (long i = 0; i < rows; i++) {
        real *restrict out = a + i * n;
        const real *restrict in = b + i * n;
        UNROLL_HINT(UNROLL)
        for (long j = 0; j < cols; j++)
            out[j] = (real)0.5 * in[j] + (real)0.125 * (in[j - 1] + in[j + 1] + in[j - n] + in[j + n]);
    }
}

static NOINLINE void stencil_run(const problem *p, long tile) {
    const long n = p->n, inner = n - 2, side = blocks_of(inner, tile);
#pragma omp parallel for schedule(runtime)
    for (long block = 0; block < side * side; block++) {
        long i = block / side * tile, j = block % side * tile, at = (i + 1) * n + j + 1;
        stencil_tile(p->a + at, p->b + at, n, least(tile, inner - i), least(tile, inner - j));
    }
}

static void stencil_make(problem *p) {
    const long n = p->n;
    real *a = p->a = space(n * n * sizeof(real));
    real *b = p->b = space(n * n * sizeof(real));
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n * n; i++) {
        a[i] = 0;
        b[i] = (real)(i * 37 & 255);
    }
    p->spot = n + n / 2; /* the border, which has the element n / 2, is not computed */
    p->flops = 6.0 * (n - 2) * (n - 2);
}

static deviation stencil_check(const problem *p) {
    const long n = p->n;
    deviation seen = {0, 0};
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            const real *in = p->b + i * n + j;
            double around = (double)in[-1] + in[1] + in[-n] + in[n];
            note(&seen, p->a[i * n + j], 0.5 * in[0] + 0.125 * around);
        }
    return seen;
}

/* ---- spmv: a = M b, M sparse (CSR), blocks of `tile` rows ---------------------------------- */

static NOINLINE void spmv_rows(real *restrict a, const real *restrict b, const real *restrict value,
                               const int *restrict col, const long *restrict row, long count) {
    for (long i = 0; i < count; i++) {
        real sum[UNROLL] = {0}; /* separate sums: the additions need not wait for each other */
        long k = row[i];
        for (; k + UNROLL <= row[i + 1]; k += UNROLL) {
#define GATHER(u) sum[u] += value[k + u] * b[col[k + u]];
            REPEAT(GATHER)
        }
        for (; k < row[i + 1]; k++) sum[0] += value[k] * b[col[k]];
#define PART(u) +sum[u]
        a[i] = REPEAT(PART);
    }
}

static NOINLINE void spmv_run(const problem *p, long tile) {
    const long n = p->n, blocks = blocks_of(n, tile);
#pragma omp parallel for schedule(runtime)
    for (long block = 0; block < blocks; block++) {
        long at = block * tile;
        spmv_rows(p->a + at, p->b, p->c, p->col, p->row + at, least(tile, n - at));
    }
}

/* The first quarter of the rows is long (32 to 63 entries), the rest short (1 to 8): equal shares
 * of rows are unequal shares of work, as in many real matrices, so the schedule matters. */
static long row_length(long i, long n) {
    uint32_t noise = hash((uint32_t)i);
    return i < n / 4 ? 32 + (noise & 31) : 1 + (noise & 7);
}

static void spmv_make(problem *p) {
    const long n = p->n, band = least(n, 4096);
    long *row = p->row = space((n + 1) * sizeof(long));
    row[0] = 0;
    for (long i = 0; i < n; i++) row[i + 1] = row[i] + row_length(i, n);
    real *a = p->a = space(n * sizeof(real));
    real *b = p->b = space(n * sizeof(real));
    real *c = p->c = space(row[n] * sizeof(real));
    int *col = p->col = space(row[n] * sizeof(int));
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = (real)(i & 7);
        long first = i - band / 2 < 0 ? 0 : least(i - band / 2, n - band);
        for (long k = row[i]; k < row[i + 1]; k++) {
            uint32_t noise = hash((uint32_t)i * ROW_SLOTS + (uint32_t)(k - row[i]));
            col[k] = (int)(first + noise % (uint32_t)band);
            c[k] = (real)(noise >> 28);
        }
    }
    p->flops = 2.0 * row[n];
}

static deviation spmv_check(const problem *p) {
    deviation seen = {0, 0};
    for (long i = 0; i < p->n; i++) {
        double wanted = 0;
        for (long k = p->row[i]; k < p->row[i + 1]; k++) wanted += p->c[k] * (double)(p->col[k] & 7);
        note(&seen, p->a[i], wanted);
    }
    return seen;
}

/* ---- measuring ----------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    void (*make)(problem *);
    void (*run)(const problem *, long);
    deviation (*check)(const problem *);
} kernel;
static const kernel KERNELS[] = {{"triad", triad_make, triad_run, triad_check},
                                 {"matmul", matmul_make, matmul_run, matmul_check},
                                 {"stencil", stencil_make, stencil_run, stencil_check},
                                 {"spmv", spmv_make, spmv_run, spmv_check}};

static const kernel *kernel_named(const char *name) {
    for (size_t i = 0; i < sizeof KERNELS / sizeof *KERNELS; i++)
        if (strcmp(KERNELS[i].name, name) == 0) return &KERNELS[i];
    return NULL;
}

static int set_schedule(const config *c) {
    omp_sched_t kind;
    if (strcmp(c->schedule, "static") == 0) kind = omp_sched_static;
    else if (strcmp(c->schedule, "dynamic") == 0) kind = omp_sched_dynamic;
    else if (strcmp(c->schedule, "guided") == 0) kind = omp_sched_guided;
    else return 0;
    omp_set_schedule(kind, (int)c->chunk);
    return 1;
}

static double seconds_of(const kernel *k, const problem *p, long tile, long executions) {
    double begin = omp_get_wtime();
    for (long i = 0; i < executions; i++) k->run(p, tile);
    return omp_get_wtime() - begin;
}

/* Finds how many executions fill the target time; this is also the warm-up of caches, threads and
 * clock. A time that is long enough is confirmed, because a single interruption of a thread would
 * otherwise pass for a slow kernel. */
static long calibrate(const kernel *k, const problem *p, const config *c) {
    long executions = 1;
    double took = seconds_of(k, p, c->tile, executions);
    for (int round = 0; round < 40 && took < 4 * c->target; round++) {
        double again = seconds_of(k, p, c->tile, executions);
        took = again < took ? again : took;
        if (took >= c->target / 2) break;
        double grow = took > 0 ? c->target / took : 8;
        executions = (long)(executions * (grow > 8 ? 8 : grow)) + 1;
        took = seconds_of(k, p, c->tile, executions);
    }
    long scaled = (long)(executions * c->target / took + 0.5);
    return scaled > 1 ? scaled : 1;
}

static void measure(const kernel *k, const config *c) {
    problem p = {.n = c->n, .spot = c->n / 2};
    k->make(&p);
    k->run(&p, c->tile);
#ifdef COMPASS_FAULT
    p.a[p.spot] += 1;
#endif
    deviation seen = k->check(&p);
    long executions = calibrate(k, &p, c);
    printf("ok %.3g %.3g %.0f %ld", seen.worst, seen.total, p.flops, executions);
    for (long r = 0; r < c->repeats; r++)
        printf(" %.9g", seconds_of(k, &p, c->tile, executions) / executions);
    putchar('\n');
    void *used[] = {p.a, p.b, p.c, p.col, p.row};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) free(used[i]);
}

int main(void) {
    char line[256];
    omp_set_dynamic(0);
    while (fgets(line, sizeof line, stdin) != NULL) {
        config c;
        double target_ms;
        int got = sscanf(line, "%15s %ld %ld %15s %ld %ld %ld %lf", c.kernel, &c.n, &c.threads,
                         c.schedule, &c.chunk, &c.tile, &c.repeats, &target_ms);
        const kernel *k = got == 8 ? kernel_named(c.kernel) : NULL;
        int sound = k != NULL && c.n >= 8 && c.n % 8 == 0 && c.tile >= 8 && c.tile % 8 == 0 &&
                    c.threads > 0 && c.chunk >= 0 && c.repeats > 0 && c.repeats <= MAX_REPEATS;
        if (!sound || !set_schedule(&c)) {
            puts("error configuration not understood");
        } else {
            c.target = target_ms / 1000;
            omp_set_num_threads((int)c.threads);
            measure(k, &c);
        }
        fflush(stdout);
    }
    return 0;
}
