/* One row times a matrix, summed in the order of the terms (compass.model.sums, embed.forward). */
#ifndef AFFINE_H
#define AFFINE_H

#include "kernel.h"

/* Add z times a row of a matrix to `out`. */
INLINE void add_term(double z, const double *restrict row, double *restrict out, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++)
        out[j] += z * row[j];
}

/* The same for four rows, one after the other, while a sum is in a register. */
INLINE void add_terms(const double *z, const double *const *rows, double *restrict out,
                      int64_t columns)
{
    const double *restrict a = rows[0], *restrict b = rows[1];
    const double *restrict c = rows[2], *restrict d = rows[3];
    double p = z[0], q = z[1], r = z[2], s = z[3];
    for (int64_t j = 0; j < columns; j++)
        out[j] = (((out[j] + p * a[j]) + q * b[j]) + r * c[j]) + s * d[j];
}

/* out [columns] = x [rows] @ weight [rows, columns] + bias; terms of 0 are left out. */
INLINE void affine_row(const double *x, int64_t rows, const double *weight, const double *bias,
                       double *out, int64_t columns)
{
    double z[4];
    const double *row[4];
    int some = 0;
    memcpy(out, bias, columns * sizeof *out);
    for (int64_t k = 0; k < rows; k++) {
        if (x[k] == 0.0)
            continue;
        z[some] = x[k];
        row[some++] = weight + k * columns;
        if (some == 4) {
            add_terms(z, row, out, columns);
            some = 0;
        }
    }
    for (int i = 0; i < some; i++)
        add_term(z[i], row[i], out, columns);
}

#endif
