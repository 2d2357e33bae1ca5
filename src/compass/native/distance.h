/* How far apart two configurations are, column by column (compass.trust.distance). */
#ifndef DISTANCE_H
#define DISTANCE_H

#include "kernel.h"

enum { NUMBER, OPTIONAL, CATEGORY }; /* what a column holds */

/* Add how far the values of one column are from q, squared. One plain loop per kind, so that each
 * becomes vector instructions. */
INLINE void add_squares(int64_t kind, const double *row, int64_t n, double q, double *total)
{
    if (kind == NUMBER)
        for (int64_t i = 0; i < n; i++)
            total[i] += (row[i] - q) * (row[i] - q);
    else if (kind == CATEGORY)
        for (int64_t i = 0; i < n; i++)
            total[i] += row[i] == q ? 0.0 : 1.0;
    else if (isnan(q))
        for (int64_t i = 0; i < n; i++)
            total[i] += isnan(row[i]) ? 0.0 : 1.0;
    else
        for (int64_t i = 0; i < n; i++) {
            double step = (row[i] - q) * (row[i] - q);
            total[i] += isnan(step) ? 1.0 : step;
        }
}

#endif
