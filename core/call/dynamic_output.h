/* SPDX-License-Identifier: Apache-2.0
 *
 * Counted ops: how many entries their first result has only the data show (kw_op_row_counted). Their last result is the
 * count, and who does not ask for it gets the first one narrowed to it.
 */
#ifndef KEYWAY_CORE_COUNTED_H
#define KEYWAY_CORE_COUNTED_H

#include "op/infer/infer.h"
#include "tensor/tensor.h"

/* Whether a call for so many results leaves the count to core. */
static inline bool kw_dynamic_output_narrows(const kw_op *op, uint32_t out_count) {
  return op->counted && out_count + 1 == op->schema.result_count;
}

/* The failure to return where such a call gives memory for its first result. */
kw_status kw_dynamic_output_refuse_result(const kw_op *op, const kw_inference *inference);

/* KW_OK, or KW_ERR_BUSY where it would have to wait and must not: while the stream records, in a
 * host callback. */
kw_status kw_dynamic_output_may_narrow(const kw_op *op, bool records);

/* Waits for the stream, reads the count and replaces *io_result, whose reference it takes over on success, by a view of
 * as many entries. */
kw_status kw_dynamic_output_narrow(const kw_op *op, kw_stream *stream, const kw_tensor *count, kw_tensor **io_result);

#endif /* KEYWAY_CORE_COUNTED_H */
