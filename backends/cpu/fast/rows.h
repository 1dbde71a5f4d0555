/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops on rows: sets of elements that share numbers, each of them walked more than once.
 */
#ifndef KEYWAY_CPU_FAST_ROWS_H
#define KEYWAY_CPU_FAST_ROWS_H

#include "fast.h"
#include "loop.h"

/* How the rows of a tensor lie, and what steps with them. Operand 0 of both loops is the result. */
typedef struct kw_rows {
  kw_loop outer; /* from row to row */
  kw_loop inner; /* within a row */
  uint32_t mask; /* the dimensions of `outer` */
} kw_rows;

/* The rows of `out`, one for each element of the dimensions in `mask`. */
void kw_rows_begin(kw_rows *rows, const kw_tensor_ref *out, uint32_t mask);
/* Adds an operand of the same shape; or one that has only some of it, see kw_dims_spread. */
void kw_rows_add(kw_rows *rows, const kw_tensor_ref *tensor);
void kw_rows_make(kw_rows *rows);

/* How many rows a thread is woken for. */
int64_t kw_rows_grain(const kw_rows *rows);

#endif /* KEYWAY_CPU_FAST_ROWS_H */
