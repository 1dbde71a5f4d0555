/* SPDX-License-Identifier: Apache-2.0
 *
 * Cubic interpolation.
 */
#ifndef KEYWAY_CPU_FAST_CUBIC_H
#define KEYWAY_CPU_FAST_CUBIC_H

/* The weight of an element at distance x: Keys' cubic convolution with A = -0.75, as in the reference. */
static inline double kw_cubic_weight(double x) {
  const double A = -0.75;
  if (x < 0) x = -x;
  if (x <= 1) return ((A + 2) * x - (A + 3)) * x * x + 1;
  return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A;
}

/* The derivative of that by x. */
static inline double kw_cubic_slope(double x) {
  const double A = -0.75, distance = x < 0 ? -x : x;
  const double slope = distance <= 1 ? (3 * (A + 2) * distance - 2 * (A + 3)) * distance
                                     : (3 * A * distance - 10 * A) * distance + 8 * A;
  return x < 0 ? -slope : slope;
}

#endif /* KEYWAY_CPU_FAST_CUBIC_H */
