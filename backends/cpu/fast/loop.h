/* SPDX-License-Identifier: Apache-2.0
 *
 * Walking strided operands of one shape in rows: as few dimensions as they need.
 */
#ifndef KEYWAY_CPU_FAST_LOOP_H
#define KEYWAY_CPU_FAST_LOOP_H

#include <keyway/plugin.h>

#define KW_LOOP_OPERANDS 8

/* Results of at least as many bytes, in rows of at least so many, are written past the caches. Who reads them next
 * would find little of them there; smaller ones it would. */
#define KW_LOOP_PAST_BYTES (INT64_C(8) << 20)
#define KW_LOOP_PAST_ROW 4096

/* Operand 0 is what is written. A dimension that an operand repeats along has step 0. */
typedef struct kw_loop {
  uint32_t operands;
  uint32_t rank; /* at least 1 once it is made; the last dimension is a row */
  int64_t numel;
  int64_t shape[KW_MAX_RANK];
  int64_t step[KW_LOOP_OPERANDS][KW_MAX_RANK]; /* bytes */
} kw_loop;

/* From an element of a tensor to the next along dimension d: bytes. */
int64_t kw_loop_step(const kw_tensor_ref *tensor, uint32_t d);

/* A loop over the shape of `out`, its operand 0. */
void kw_loop_begin(kw_loop *loop, const kw_tensor_ref *out);
/* Adds an operand that broadcasts to that shape, and one value that repeats everywhere. */
void kw_loop_add(kw_loop *loop, const kw_tensor_ref *tensor);
void kw_loop_add_constant(kw_loop *loop);
/* Leaves out dimensions of size 1, orders the others by the steps of the operands, and joins those that are one. The
 * order in which elements are visited means nothing from here on. */
void kw_loop_make(kw_loop *loop);

/* Where element number `element` of each operand is. */
void kw_loop_find(const kw_loop *loop, char *const *base, int64_t element, char **at);
/* The same, but elements are visited in row-major order. */
void kw_loop_make_in_order(kw_loop *loop);

/* `n` elements: element i of operand k at at[k] + i * step[k]. */
typedef void (*kw_row_fn)(void *context, char *const *at, const int64_t *step, int64_t n);

/* Calls `row` for the rows of elements [begin, end) of the loop, on the calling thread. */
void kw_loop_run(const kw_loop *loop, char *const *base, int64_t begin, int64_t end, kw_row_fn row, void *context);

#endif /* KEYWAY_CPU_FAST_LOOP_H */
