/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of strided operands: dimensions are joined once for a signature, and walked for each piece of a loop.
 */
#include "loop.h"

#include "number.h"

#include <string.h>

int64_t kw_loop_step(const kw_tensor_ref *tensor, uint32_t d) {
  return tensor->strides[d] * (int64_t)kw_number_size(tensor->dtype);
}

void kw_loop_begin(kw_loop *loop, const kw_tensor_ref *out) {
  memset(loop, 0, sizeof *loop);
  loop->rank = out->rank;
  loop->numel = 1;
  for (uint32_t d = 0; d < out->rank; d++) {
    loop->shape[d] = out->shape[d];
    loop->numel *= out->shape[d];
  }
  kw_loop_add(loop, out);
}

void kw_loop_add(kw_loop *loop, const kw_tensor_ref *tensor) {
  int64_t *step = loop->step[loop->operands++];
  const uint32_t skipped = loop->rank - tensor->rank;
  for (uint32_t d = 0; d < tensor->rank; d++) {
    if (tensor->shape[d] != 1) step[skipped + d] = kw_loop_step(tensor, d);
  }
}

void kw_loop_add_constant(kw_loop *loop) {
  loop->operands++;
}

static void swap(int64_t *a, int64_t *b) {
  const int64_t kept = *a;
  *a = *b;
  *b = kept;
}

static void swap_dimensions(kw_loop *loop, uint32_t a, uint32_t b) {
  swap(&loop->shape[a], &loop->shape[b]);
  for (uint32_t k = 0; k < loop->operands; k++) swap(&loop->step[k][a], &loop->step[k][b]);
}

/* Whether dimension a should lie within dimension b: by the first operand that steps along both, and unlike. */
static bool is_inner(const kw_loop *loop, uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < loop->operands; k++) {
    const int64_t of_a = loop->step[k][a], of_b = loop->step[k][b];
    if (of_a != 0 && of_b != 0 && of_a != of_b) return of_a < of_b;
  }
  return false;
}

/* Whether stepping through all of dimension d is one step of dimension d - 1. */
static bool continues(const kw_loop *loop, uint32_t d) {
  for (uint32_t k = 0; k < loop->operands; k++) {
    if (loop->step[k][d] * loop->shape[d] != loop->step[k][d - 1]) return false;
  }
  return true;
}

static void remove_dimension(kw_loop *loop, uint32_t d) {
  for (uint32_t i = d; i + 1 < loop->rank; i++) swap_dimensions(loop, i, i + 1);
  loop->rank--;
}

static void order(kw_loop *loop) {
  for (uint32_t i = 1; i < loop->rank; i++) { /* by insertion: ranks are small, and mostly in order */
    for (uint32_t d = i; d > 0 && is_inner(loop, d - 1, d); d--) swap_dimensions(loop, d - 1, d);
  }
}

static void leave_out_ones(kw_loop *loop) {
  for (uint32_t d = loop->rank; d-- > 0;) {
    if (loop->shape[d] == 1) remove_dimension(loop, d);
  }
}

static void join(kw_loop *loop) {
  for (uint32_t d = loop->rank; d-- > 1;) {
    if (!continues(loop, d)) continue;
    loop->shape[d - 1] *= loop->shape[d];
    for (uint32_t k = 0; k < loop->operands; k++) loop->step[k][d - 1] = loop->step[k][d];
    remove_dimension(loop, d);
  }
  if (loop->rank > 0) return;
  loop->rank = 1;
  loop->shape[0] = 1;
  for (uint32_t k = 0; k < loop->operands; k++) loop->step[k][0] = 0;
}

void kw_loop_make(kw_loop *loop) {
  leave_out_ones(loop);
  order(loop);
  join(loop);
}

void kw_loop_make_in_order(kw_loop *loop) {
  leave_out_ones(loop);
  join(loop);
}

/* Where element number `element` is in each dimension, and of each operand. */
static void locate(const kw_loop *loop, char *const *base, int64_t element, int64_t *index, char **at) {
  for (uint32_t d = loop->rank; d-- > 0; element /= loop->shape[d]) index[d] = element % loop->shape[d];
  for (uint32_t k = 0; k < loop->operands; k++) {
    at[k] = base[k];
    for (uint32_t d = 0; d < loop->rank; d++) at[k] += index[d] * loop->step[k][d];
  }
}

void kw_loop_find(const kw_loop *loop, char *const *base, int64_t element, char **at) {
  int64_t index[KW_MAX_RANK];
  locate(loop, base, element, index, at);
}

void kw_loop_run(const kw_loop *loop, char *const *base, int64_t begin, int64_t end, kw_row_fn row, void *context) {
  const uint32_t last = loop->rank - 1;
  int64_t index[KW_MAX_RANK], step[KW_LOOP_OPERANDS];
  char *at[KW_LOOP_OPERANDS];
  if (begin >= end) return; /* sizes may be 0 */
  for (uint32_t k = 0; k < loop->operands; k++) step[k] = loop->step[k][last];
  if (last == 0) {
    for (uint32_t k = 0; k < loop->operands; k++) at[k] = base[k] + begin * step[k];
    row(context, at, step, end - begin);
    return;
  }
  locate(loop, base, begin, index, at);
  for (int64_t left = end - begin;;) {
    int64_t n = loop->shape[last] - index[last];
    if (n > left) n = left;
    row(context, at, step, n);
    left -= n;
    if (left <= 0) return;
    for (uint32_t k = 0; k < loop->operands; k++) at[k] -= index[last] * step[k];
    index[last] = 0;
    for (uint32_t d = last; d-- > 0;) { /* to the next row */
      const bool wraps = ++index[d] == loop->shape[d];
      const int64_t steps = wraps ? 1 - loop->shape[d] : 1;
      for (uint32_t k = 0; k < loop->operands; k++) at[k] += steps * loop->step[k][d];
      if (!wraps) break;
      index[d] = 0;
    }
  }
}
