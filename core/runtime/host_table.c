/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's side of a plugin's calls: each service finds the plugin in ctx and asks the room whose matter it is.
 */
#include "runtime/host_table.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "device/host_call.h"
#include "device/late_error.h"
#include "device/open.h"
#include "op/op.h"
#include "plugin/kernel.h"

#include <stdlib.h>

/* After the plugin's shutdown and in a forked child: no lock may be taken there, and nobody listens. */
static bool is_over(const kw_plugin *plugin) {
  return atomic_load_explicit(&plugin->ended, memory_order_acquire) || kw_fork_happened();
}

static kw_status host_set_error(void *ctx, kw_status status, const char *message) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  const kw_plugin *plugin = ctx;
  if (message == NULL) message = kw_status_name(status);
  /* The second of two texts with one status is the context of the first. */
  if (kw_error_offered(status)) {
    kw_wrap(status, "%s.%s: %s", plugin->vendor, plugin->key, message);
  } else {
    kw_fail(status, "%s.%s: %s", plugin->vendor, plugin->key, message);
  }
  return kw_error_offer(status);
}

static kw_status host_log(void *ctx, kw_log_level level, const char *message) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  const kw_plugin *plugin = ctx;
  kw_log(level, "%s.%s: %s", plugin->vendor, plugin->key, message != NULL ? message : "");
  return KW_OK;
}

/* What a service that init calls ends with: a plugin whose init then fails is not to blame for the host's lack of
 * memory.
 */
static kw_status end_of_service(kw_plugin *plugin, kw_status status) {
  if (status == KW_ERR_OUT_OF_MEMORY) atomic_store(&plugin->starved, true);
  return kw_error_offer(status);
}

static kw_status host_register_kernel(void *ctx, const kw_kernel_desc *kernel) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  return end_of_service(ctx, kw_kernel_register(ctx, kernel));
}

static kw_status host_define_op(void *ctx, const kw_op_desc *op) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  kw_plugin *plugin = ctx;
  if (!kw_kernels_are_open(plugin)) {
    return kw_error_offer(kw_fail(KW_ERR_INVALID_ARGUMENT, "define_op: called outside init; define ops there"));
  }
  return end_of_service(plugin, kw_op_define(plugin->vendor, plugin->desc.abi_version, op));
}

static kw_status host_report_async_error(void *ctx, uint64_t stream_token, uint64_t call_id, kw_status status,
                                         const char *message) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  return kw_error_offer(kw_late_error_report(stream_token, call_id, status, message != NULL ? message : ""));
}

static kw_status host_run_callback(void *ctx, uint64_t callback_token) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  return kw_error_offer(kw_host_call_run(callback_token));
}

static kw_status host_parallel_for(void *ctx, int64_t n, int64_t grain, kw_range_fn body, void *user) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  if (n < 0 || body == NULL) {
    return kw_error_offer(kw_fail(KW_ERR_INVALID_ARGUMENT, "parallel_for got %s", n < 0 ? "a negative n" : "no body"));
  }
  const kw_status status = kw_parallel_for(n, grain, body, user);
  if (status == KW_OK) return KW_OK;
  return kw_error_offer(
      kw_fail(status, "the application cancelled the call: the flag it watches (kw_cancel_watch) is set"));
}

static kw_status host_thread_count(void *ctx, uint32_t *out_count) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  *out_count = kw_parallel_threads();
  return KW_OK;
}

static kw_status host_alloc(void *ctx, uint64_t size, uint64_t alignment, void **out_pointer) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return kw_error_offer(kw_fail(KW_ERR_INVALID_ARGUMENT, "host_alloc: size %llu, alignment %llu (a power of two)",
                                  (unsigned long long)size, (unsigned long long)alignment));
  }
  void *pointer;
  if (alignment < sizeof(void *)) alignment = sizeof(void *);
  if (size > PTRDIFF_MAX || posix_memalign(&pointer, alignment, size) != 0) {
    return kw_error_offer(
        kw_fail(KW_ERR_OUT_OF_MEMORY, "%llu bytes of host memory are not to be had", (unsigned long long)size));
  }
  *out_pointer = pointer;
  return KW_OK;
}

static kw_status host_free(void *ctx, void *pointer) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  free(pointer);
  return KW_OK;
}

static kw_status host_report_build(void *ctx, void *device, const char *module, uint64_t ns, bool cached) {
  if (is_over(ctx)) return KW_ERR_UNSUPPORTED;
  const kw_plugin *plugin = ctx;
  if (kw_trace_on()) {
    char name[256];
    kw_utf8_mend(name, sizeof name, module != NULL ? module : "?");
    kw_trace_span("build", name, cached ? "cached" : NULL, kw_trace_now() - ns);
  }
  return kw_error_offer(kw_device_count_build(plugin, device, ns, cached));
}

static kw_status host_devices_changed(void *ctx) {
  kw_plugin *plugin = ctx;
  if (is_over(plugin)) return KW_ERR_UNSUPPORTED;
  atomic_store(&plugin->devices_changed, true);
  return KW_OK;
}

const kw_host_api kw_host_services = {
    .struct_size = sizeof kw_host_services,
    .set_error = host_set_error,
    .log = host_log,
    .register_kernel = host_register_kernel,
    .define_op = host_define_op,
    .report_async_error = host_report_async_error,
    .run_callback = host_run_callback,
    .parallel_for = host_parallel_for,
    .thread_count = host_thread_count,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .report_build = host_report_build,
    .devices_changed = host_devices_changed,
};
