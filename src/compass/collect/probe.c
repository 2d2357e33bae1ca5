/* Seven small OpenMP kernels that tell machines apart, timed in one process.
 *
 * Given for each run: one line on standard input, `kernel n threads repeats target_ms`.
 * Answer, one line on standard output:
 *     ok seconds bytes flops    the fastest repeat of one execution, and what it moves and computes
 *     error reason
 * Every result is checked before it is timed.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    long n;
    double *a, *b, *c;
    uint32_t *at, *key, *spare;
    double total;
} data;

typedef struct {
    const char *name;
    void (*run)(data *);
    int (*right)(const data *);
    double bytes, flops; /* per element; matmul: per element of a matrix and n */
} kernel;

static void fill(data *d) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < d->n; i++) {
        d->a[i] = 1.0;
        d->b[i] = (double)(i % 7);
        d->c[i] = 2.0;
    }
    uint32_t seed = 12345;
    for (long i = 0; i < d->n; i++) {
        seed = seed * 1664525u + 1013904223u;
        d->at[i] = (uint32_t)(((uint64_t)seed * (uint64_t)d->n) >> 32);
        d->key[i] = seed;
    }
}

static void triad(data *d) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < d->n; i++) d->a[i] = d->b[i] + 3.0 * d->c[i];
}
static int triad_right(const data *d) {
    for (long i = 0; i < d->n; i++)
        if (d->a[i] != (double)(i % 7) + 6.0) return 0;
    return 1;
}

static void daxpy(data *d) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < d->n; i++) d->a[i] += 0.5 * d->b[i];
}
static int daxpy_right(const data *d) {
    for (long i = 0; i < d->n; i++)
        if (d->a[i] != 1.0 + 0.5 * (double)(i % 7)) return 0;
    return 1;
}

static void reduction(data *d) {
    double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (long i = 0; i < d->n; i++) total += d->b[i];
    d->total = total;
}
static int reduction_right(const data *d) {
    double total = 0;
    for (long i = 0; i < d->n; i++) total += (double)(i % 7);
    return fabs(d->total - total) <= 1e-9 * total;
}

static void stencil(data *d) {
#pragma omp parallel for schedule(static)
    for (long i = 1; i < d->n - 1; i++) d->a[i] = (d->b[i - 1] + d->b[i] + d->b[i + 1]) / 3.0;
}
static int stencil_right(const data *d) {
    for (long i = 1; i < d->n - 1; i++) {
        double sum = (double)((i - 1) % 7 + i % 7 + (i + 1) % 7);
        if (fabs(d->a[i] - sum / 3.0) > 1e-12) return 0;
    }
    return 1;
}

static long side(const data *d) { return (long)sqrt((double)d->n); }

static void matmul(data *d) {
    long m = side(d);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < m; i++) {
        double *row = d->a + i * m;
        memset(row, 0, (size_t)m * sizeof *row);
        for (long k = 0; k < m; k++) {
            double left = d->b[i * m + k];
            for (long j = 0; j < m; j++) row[j] += left * d->c[k * m + j];
        }
    }
}
static int matmul_right(const data *d) {
    long m = side(d);
    for (long i = 0; i < m; i++) {
        double sum = 0;
        for (long k = 0; k < m; k++) sum += 2.0 * d->b[i * m + k];
        if (fabs(d->a[i * m] - sum) > 1e-9 * sum || d->a[i * m] != d->a[i * m + m - 1]) return 0;
    }
    return 1;
}

/* Sorts by bytes, least first: four passes over keys and a spare array. */
static void sort(data *d) {
    uint32_t *from = d->spare, *to = (uint32_t *)d->b;
    memcpy(from, d->key, (size_t)d->n * sizeof *from);
    for (int pass = 0; pass < 4; pass++) {
        long start[257] = {0};
        for (long i = 0; i < d->n; i++) start[((from[i] >> (8 * pass)) & 255) + 1]++;
        for (int v = 0; v < 256; v++) start[v + 1] += start[v];
        for (long i = 0; i < d->n; i++) to[start[(from[i] >> (8 * pass)) & 255]++] = from[i];
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
}
static int sort_right(const data *d) {
    for (long i = 1; i < d->n; i++)
        if (d->spare[i - 1] > d->spare[i]) return 0;
    return 1;
}

static void gather(data *d) {
    double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (long i = 0; i < d->n; i++) total += d->b[d->at[i]];
    d->total = total;
}
static int gather_right(const data *d) {
    double total = 0;
    for (long i = 0; i < d->n; i++) total += (double)((long)d->at[i] % 7);
    return fabs(d->total - total) <= 1e-9 * total;
}

static const kernel KERNELS[] = {
    {"triad", triad, triad_right, 24, 2},     {"daxpy", daxpy, daxpy_right, 24, 2},
    {"reduction", reduction, reduction_right, 8, 1},
    {"stencil", stencil, stencil_right, 16, 3}, {"matmul", matmul, matmul_right, 24, 2},
    {"sort", sort, sort_right, 48, 0},        {"gather", gather, gather_right, 12, 1},
};

static double once(const kernel *k, data *d, long executions) {
    double begin = omp_get_wtime();
    for (long i = 0; i < executions; i++) k->run(d);
    return (omp_get_wtime() - begin) / (double)executions;
}

static void measure(const kernel *k, long n, int repeats, double target) {
    size_t bytes = (size_t)n * sizeof(double);
    data d = {.n = n, .a = malloc(bytes), .b = malloc(bytes), .c = malloc(bytes)};
    d.at = malloc(bytes / 2);
    d.key = malloc(bytes / 2);
    d.spare = malloc(bytes / 2);
    if (d.a && d.b && d.c && d.at && d.key && d.spare) {
        fill(&d);
        k->run(&d);
        if (k->right(&d)) {
            double first = once(k, &d, 1);
            long executions = first > 0 ? (long)(target / first) + 1 : 1000;
            if (executions > 1000000) executions = 1000000;
            double best = once(k, &d, executions);
            for (int r = 1; r < repeats; r++) {
                double again = once(k, &d, executions);
                best = again < best ? again : best;
            }
            int product = strcmp(k->name, "matmul") == 0;
            double m = (double)side(&d), elements = product ? m * m : (double)n;
            double flops = k->flops * elements * (product ? m : 1);
            printf("ok %.9g %.0f %.0f\n", best, k->bytes * elements, flops);
        } else {
            puts("error wrong result");
        }
    } else {
        puts("error not enough memory");
    }
    free(d.a), free(d.b), free(d.c), free(d.at), free(d.key), free(d.spare);
}

int main(void) {
    char line[256], name[16];
    long n, threads, repeats;
    double target_ms;
    omp_set_dynamic(0);
    while (fgets(line, sizeof line, stdin) != NULL) {
        int got = sscanf(line, "%15s %ld %ld %ld %lf", name, &n, &threads, &repeats, &target_ms);
        const kernel *k = NULL;
        for (size_t i = 0; got == 5 && i < sizeof KERNELS / sizeof *KERNELS; i++)
            if (strcmp(KERNELS[i].name, name) == 0) k = &KERNELS[i];
        if (k == NULL || n < 16 || threads < 1 || repeats < 1) {
            puts("error configuration not understood");
        } else {
            omp_set_num_threads((int)threads);
            measure(k, n, (int)repeats, target_ms / 1000);
        }
        fflush(stdout);
    }
    return 0;
}
