/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of tensors.
 */
#include "rows.h"

#include "dims.h"

#define GRAIN 4096 /* elements: the fewest that a thread is woken for */

void kw_rows_begin(kw_rows *rows, const kw_tensor_ref *out, uint32_t mask) {
  const kw_tensor_ref firsts = kw_dims_keep(out, mask), row = kw_dims_keep(out, ~mask);
  rows->mask = mask;
  kw_loop_begin(&rows->outer, &firsts);
  kw_loop_begin(&rows->inner, &row);
}

void kw_rows_add(kw_rows *rows, const kw_tensor_ref *tensor) {
  const kw_tensor_ref firsts = kw_dims_keep(tensor, rows->mask), row = kw_dims_keep(tensor, ~rows->mask);
  kw_loop_add(&rows->outer, &firsts);
  kw_loop_add(&rows->inner, &row);
}

void kw_rows_make(kw_rows *rows) {
  kw_loop_make(&rows->outer);
  kw_loop_make(&rows->inner);
}

int64_t kw_rows_grain(const kw_rows *rows) {
  return 1 + GRAIN / (rows->inner.numel + 1);
}
