/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops on rows: sets of elements that share numbers, each of them walked more than once.
 */
#ifndef KEYWAY_CPU_FAST_ROWS_H
#define KEYWAY_CPU_FAST_ROWS_H

#include "fast.h"
#include "loop.h"

#include <stdbool.h>

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

/* Where row number `row` begins, of every operand. */
void kw_rows_find(const kw_rows *rows, int64_t row, char *const *base, char **at);

/* How many rows a thread is woken for. */
int64_t kw_rows_grain(const kw_rows *rows);

/* How an operand's elements become lanes, and lanes its elements. */
typedef struct kw_port {
  kw_read_fn read;
  kw_write_fn write;
  int64_t size;   /* bytes of an element */
  bool is_native; /* elements lie in memory as lanes do */
} kw_port;

/* False for a dtype that has no such lanes. */
bool kw_port_open(kw_port *port, kw_dtype dtype, kw_lane lane);

/* n lanes from `at`, in `buffer` where they do not lie there as lanes. */
const void *kw_port_lanes(const kw_port *port, const char *at, int64_t step, int64_t n, void *buffer);

/* How many lanes the block from lane i of n on has. */
static inline int64_t kw_block_at(int64_t i, int64_t n) {
  return n - i < KW_LANE_BLOCK ? n - i : KW_LANE_BLOCK;
}

#endif /* KEYWAY_CPU_FAST_ROWS_H */
