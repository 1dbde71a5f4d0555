/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops over the operands of a pointwise function, up to six, one element of which is a, b, c, ...: STORED is their
 * type in memory, READ(x) makes a number of type T of one, and LANES(name) names what is of it.
 */
#ifndef KEYWAY_CPU_FAST_OPERANDS_H
#define KEYWAY_CPU_FAST_OPERANDS_H

#include "level.h"

#define OPERAND(name)                   \
  const T name = READ(name##_lanes[i]); \
  (void)name
#define OPERAND_1 OPERAND(a)
#define OPERAND_2 \
  OPERAND_1;      \
  OPERAND(b)
#define OPERAND_3 \
  OPERAND_2;      \
  OPERAND(c)
#define OPERAND_4 \
  OPERAND_3;      \
  OPERAND(d)
#define OPERAND_6 \
  OPERAND_4;      \
  OPERAND(e);     \
  OPERAND(f)
/* Read before the loop: what it writes might be bytes of these pointers, for all a compiler knows. */
#define POINTER(at, name)                    \
  const STORED *const name##_lanes = in[at]; \
  (void)name##_lanes
#define POINTERS_1 POINTER(0, a)
#define POINTERS_2 \
  POINTERS_1;      \
  POINTER(1, b)
#define POINTERS_3 \
  POINTERS_2;      \
  POINTER(2, c)
#define POINTERS_4 \
  POINTERS_3;      \
  POINTER(3, d)
#define POINTERS_6 \
  POINTERS_4;      \
  POINTER(4, e);   \
  POINTER(5, f)

/* A function whose results are of type `result`. */
#define LOOP(name, result, operands, value)                              \
  static void LANES(name)(void *out, const void *const *in, int64_t n) { \
    POINTERS_##operands;                                                 \
    result *const results = out;                                         \
    KW_INDEPENDENT                                                       \
    for (int64_t i = 0; i < n; i++) {                                    \
      OPERAND_##operands;                                                \
      results[i] = (value);                                              \
    }                                                                    \
  }

/* The same, named `name`_REPEATED, where operands from number `from` on are one lane. */
#define LOOP_REPEATED(name, result, operands, from, value)                          \
  static void LANES(name##_REPEATED)(void *out, const void *const *in, int64_t n) { \
    POINTERS_##operands;                                                            \
    REPEATED_##operands##_FROM_##from;                                              \
    result *const results = out;                                                    \
    KW_INDEPENDENT                                                                  \
    for (int64_t i = 0; i < n; i++) {                                               \
      OPERAND_##from;                                                               \
      results[i] = (value);                                                         \
    }                                                                               \
  }
#define REPEATED(name) const T name = READ(name##_lanes[0])
#define REPEATED_2_FROM_1 REPEATED(b)
#define REPEATED_3_FROM_1 \
  REPEATED(b);            \
  REPEATED(c)
#define REPEATED_3_FROM_2 REPEATED(c)
#define REPEATED_4_FROM_2 \
  REPEATED(c);            \
  REPEATED(d)
#define REPEATED_4_FROM_3 REPEATED(d)

#endif /* KEYWAY_CPU_FAST_OPERANDS_H */
