/* The product of two matrices of single numbers, with vectors as long as the machine has them. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "kernel.h"

enum { HEIGHT = 4, STRIP = 16 }; /* rows of one matrix and columns of another, taken at once */

/* A matrix of any layout: the number at row i and column k is at[i * down + k * right]. */
typedef struct {
    const float *at;
    int64_t down, right;
} Matrix;

#define BYTES 16
#define NAMED(name) name##_16
#define TARGET
#include "product_loops.h"

#ifdef SEVERAL_TARGETS
#define BYTES 32
#define NAMED(name) name##_32
#define TARGET __attribute__((target("avx2")))
#include "product_loops.h"

#define BYTES 64
#define NAMED(name) name##_64
#define TARGET __attribute__((target("avx512f")))
#include "product_loops.h"
#endif

/* A [n, m] @ B [m, columns]; `strip` is room for m x STRIP numbers. A BLAS adds in another order,
 * and waits for its own threads, where more than one is allowed; a limit that is set by a thread
 * of several does not always hold. */
static void multiply(Matrix A, Matrix B, int64_t n, int64_t m, int64_t columns, float *strip,
                     float *out)
{
#ifdef SEVERAL_TARGETS
    /* Longer vectors are written out: compilers do not cut them up well. */
    if (__builtin_cpu_supports("avx512f"))
        multiply_64(A, B, n, m, columns, strip, out);
    else if (__builtin_cpu_supports("avx2"))
        multiply_32(A, B, n, m, columns, strip, out);
    else
#endif
        multiply_16(A, B, n, m, columns, strip, out);
}

#endif
