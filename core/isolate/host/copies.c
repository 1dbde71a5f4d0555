/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies whose host end lies in a block.
 */
#include "isolate/host/host.h"

/* Lets the stream run a token, as the host does for a plugin without host functions: *out_done, it has been waited for
 * and the token is the caller's to run. */
static kw_status enqueue_token(void *device, void *stream, uint64_t token, bool *out_done) {
  const kw_plugin_answer *plugin = &kw_hosted_plugin.answer;
  kw_status status = KW_ERR_UNSUPPORTED;
  *out_done = false;
  if ((plugin->native & KW_NATIVE_CALL_HOST) != 0) status = plugin->stream.call_host(device, stream, token);
  if (status == KW_OK) return KW_OK;
  status = plugin->stream.synchronize(device, stream, KW_WAIT_FOREVER);
  *out_done = status == KW_OK;
  return status;
}

kw_status kw_host_copy(kw_question *q) {
  const kw_plugin_answer *plugin = &kw_hosted_plugin.answer;
  kw_wire_copy order;
  void *device = (void *)(uintptr_t)kw_take_u64(&q->in), *stream = (void *)(uintptr_t)kw_take_u64(&q->in);
  kw_take_raw(&q->in, &order, sizeof order);
  if (q->in.broken) return KW_ERR_INVALID_ARGUMENT;
  if (order.block != 0) {
    unsigned char *bytes = kw_host_block(order.block, order.offset, order.copy.size);
    if (bytes == NULL) {
      return kw_host_table.set_error(NULL, KW_ERR_OUT_OF_MEMORY, "the plugin's process could not map a block");
    }
    if (order.copy.kind == KW_COPY_HOST_TO_DEVICE) order.copy.src_host = bytes;
    if (order.copy.kind == KW_COPY_DEVICE_TO_HOST) order.copy.dst_host = bytes;
  }
  bool done = false;
  kw_status status = KW_OK;
  if (order.before != 0) status = enqueue_token(device, stream, order.before, &done);
  if (status == KW_OK && done) status = kw_host_run_token(order.before);
  if (status == KW_OK) status = plugin->memory.copy(device, stream, &order.copy);
  done = false;
  if (status == KW_OK && order.after != 0) status = enqueue_token(device, stream, order.after, &done);
  kw_put_u64(&q->out, done);
  return status;
}
