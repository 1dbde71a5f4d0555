/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the count of a counted op, and narrowing its result to it.
 */
#include "call/dynamic_output.h"

#include "base/error.h"
#include "device/host_memory.h"
#include "device/wait.h"

#include <inttypes.h>
#include <string.h>

kw_status kw_dynamic_output_refuse_result(const kw_op *op, const kw_inference *inference) {
  char text[160];
  return kw_fail(KW_ERR_INVALID_ARGUMENT,
                 "%s: only the data show how large result 0 is; leave it NULL, or ask for the count as result %u too "
                 "and give %s",
                 op->schema.name, op->schema.result_count - 1,
                 kw_ref_describe(&inference->results[0], text, sizeof text));
}

kw_status kw_dynamic_output_may_narrow(const kw_op *op, bool records) {
  if (!records) return kw_stream_may_wait(op->schema.name);
  return kw_fail(KW_ERR_BUSY,
                 "%s: how large result 0 is shows when the graph runs; while the stream records, ask for the count as "
                 "result %u too, and result 0 comes in the largest size",
                 op->schema.name, op->schema.result_count - 1);
}

kw_status kw_dynamic_output_narrow(const kw_op *op, kw_stream *stream, const kw_tensor *count, kw_tensor **io_result) {
  const int64_t most = (*io_result)->ref.shape[0];
  int64_t filled = -1;
  bool passed = false;
  kw_host_memory *memory = kw_host_memory_take(sizeof filled);
  if (!memory) return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: no host memory for the count", op->schema.name);
  kw_status status = kw_tensor_read_async(count, memory->bytes, stream);
  if (status == KW_OK) status = kw_stream_wait(op->schema.name, stream, &passed);
  if (status == KW_OK) memcpy(&filled, memory->bytes, sizeof filled);
  kw_host_memory_give(stream, memory, passed);
  if (status == KW_OK && (filled < 0 || filled > most)) {
    status =
        kw_fail(KW_ERR_INTERNAL, "%s: the kernel says that it has filled %" PRId64 " of at most %" PRId64 " entries",
                op->schema.name, filled, most);
  }
  kw_tensor *narrow = NULL;
  if (status == KW_OK) status = kw_tensor_slice(*io_result, 0, 0, filled, 1, &narrow);
  if (status != KW_OK) return status;
  kw_tensor_release(*io_result);
  *io_result = narrow;
  return KW_OK;
}
