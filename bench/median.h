/* SPDX-License-Identifier: Apache-2.0
 *
 * The median of measured times.
 */
#ifndef KEYWAY_BENCH_MEDIAN_H
#define KEYWAY_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int kw_compare_doubles(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Sorts them. At least one. */
static inline double kw_median(double *values, size_t count) {
  qsort(values, count, sizeof *values, kw_compare_doubles);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

#endif /* KEYWAY_BENCH_MEDIAN_H */
