/* What every kernel is written with. A kernel is a loop over arrays of numpy that runs without the
 * interpreter's lock. It returns 0, or NO_MEMORY. Its arguments have been checked against its
 * types when it is called; that sizes fit together is up to the caller, who is ours.
 *
 * Types: i4, i8, f4, f8, u1, u2, u8, b1 are arrays of one dimension, f8_2d of two, and so on;
 * `to_` before it is an array that is written to. `node` and `wide` are nodes of trees (node.h).
 * `integer`, `bits` (uint64) and `number` are single numbers. */
#ifndef KERNEL_H
#define KERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void *data;
    int64_t shape[4];
    int64_t integer;
    uint64_t bits;
    double number;
} Argument;

typedef struct {
    const char *name;
    const char *types;
    int (*run)(const Argument *a);
} Kernel;

#define NO_MEMORY (-1)

/* One table per file of kernels; the last entry has no name. */
extern const Kernel DISTANCE[];
extern const Kernel EMBED[];
extern const Kernel EXTRA[];
extern const Kernel GROW[];
extern const Kernel NETWORK[];
extern const Kernel OBLIVIOUS[];
extern const Kernel PAIRS[];
extern const Kernel PLANES[];
extern const Kernel REACH[];
extern const Kernel REDUCE[];
extern const Kernel ROWS[];
extern const Kernel SCHEDULE[];
extern const Kernel SHAPLEY[];
extern const Kernel SUMS[];
extern const Kernel TEXT[];
extern const Kernel WALK[];

/* Compiled twice, for machines with wide vectors and for all others; the machine chooses. By GCC:
 * the linker of zig has nothing that looks at the machine, and other systems cannot choose. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(__clang__)
#define SEVERAL_TARGETS
#define VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define VECTORS
#endif

/* Part of the loop that it is called from: it is compiled for the same vectors. */
#define INLINE static inline __attribute__((always_inline))

INLINE int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
