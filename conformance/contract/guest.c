/* SPDX-License-Identifier: Apache-2.0
 *
 * A small host, and the plugin as its guest.
 */
#include "guest.h"

#include <dlfcn.h>
#include <stdio.h>

/* ---- A host ------------------------------------------------------------------------------------------------------ */

kw_guest_record kw_guest_seen;

static kw_guest_record *record_of(void *ctx) {
  return ctx ? ctx : &kw_guest_seen;
}

static kw_status host_set_error(void *ctx, kw_status status, const char *message) {
  kw_guest_record *seen = record_of(ctx);
  snprintf(seen->error, sizeof seen->error, "%s", message);
  return status;
}

static kw_status host_log(void *ctx, kw_log_level level, const char *message) {
  (void)ctx, (void)level, (void)message;
  return KW_OK;
}

static kw_status host_register_kernel(void *ctx, const kw_kernel_desc *kernel) {
  (void)kernel;
  record_of(ctx)->kernels++;
  return KW_OK;
}

static kw_status host_define_op(void *ctx, const kw_op_desc *op) {
  (void)op;
  record_of(ctx)->ops++;
  return KW_OK;
}

static kw_status host_report(void *ctx, uint64_t token, uint64_t call_id, kw_status status, const char *message) {
  (void)ctx, (void)token, (void)call_id;
  KW_FAIL("the plugin reported a late error (%s): %s", kw_status_name(status), message ? message : "no text");
}

static kw_status host_run_callback(void *ctx, uint64_t token) {
  (void)ctx;
  KW_FAIL("the plugin ran a host function (token %llu) that nobody had enqueued", (unsigned long long)token);
}

static kw_status host_parallel_for(void *ctx, int64_t n, int64_t grain, kw_range_fn body, void *user) {
  (void)ctx, (void)grain;
  body(user, 0, n);
  return KW_OK;
}

static kw_status host_thread_count(void *ctx, uint32_t *out_count) {
  (void)ctx;
  *out_count = 1;
  return KW_OK;
}

static kw_status host_memory(void *ctx, uint64_t size, uint64_t alignment, void **out_pointer) {
  (void)ctx;
  return posix_memalign(out_pointer, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) == 0
             ? KW_OK
             : KW_ERR_OUT_OF_MEMORY;
}

static kw_status host_free(void *ctx, void *pointer) {
  (void)ctx;
  free(pointer);
  return KW_OK;
}

static kw_status host_report_build(void *ctx, void *device, const char *module, uint64_t ns, bool cached) {
  (void)ctx, (void)device, (void)module, (void)ns, (void)cached;
  return KW_OK;
}

static kw_status host_devices_changed(void *ctx) {
  (void)ctx;
  return KW_OK;
}

const kw_host_api kw_guest_host = {
    .struct_size = sizeof kw_guest_host,
    .abi_version = KW_ABI_VERSION,
    .set_error = host_set_error,
    .log = host_log,
    .register_kernel = host_register_kernel,
    .define_op = host_define_op,
    .report_async_error = host_report,
    .run_callback = host_run_callback,
    .parallel_for = host_parallel_for,
    .thread_count = host_thread_count,
    .host_alloc = host_memory,
    .host_free = host_free,
    .report_build = host_report_build,
    .devices_changed = host_devices_changed,
};

/* ---- Kernels kept ------------------------------------------------------------------------------------------------ */

kw_kernel_desc *kw_guest_kernels;
uint32_t kw_guest_kernel_count;

kw_status kw_guest_keep_kernel(void *ctx, const kw_kernel_desc *kernel) {
  static uint32_t room;
  if (kw_guest_kernel_count == room) {
    room = room ? 2 * room : 1024;
    kw_guest_kernels = realloc(kw_guest_kernels, room * sizeof *kw_guest_kernels);
    KW_CHECK(kw_guest_kernels, "no host memory for %u kernels", room);
  }
  kw_kernel_desc *kept = &kw_guest_kernels[kw_guest_kernel_count++];
  *kept = (kw_kernel_desc){0};
  memcpy(kept, kernel, kernel->struct_size < sizeof *kept ? kernel->struct_size : sizeof *kept);
  kept->op = strdup(kernel->op); /* the plugin's texts are valid during the call only */
  kept->name = strdup(kernel->name);
  KW_CHECK(kept->op && kept->name, "no host memory for a kernel's name");
  return host_register_kernel(ctx, kernel);
}

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

kw_guest kw_guest_load(void) {
  void *library = dlopen(kw_contract.plugin_path, RTLD_NOW | RTLD_LOCAL);
  KW_CHECK(library, "%s", dlerror());
  const kw_query_info host = {.struct_size = sizeof host,
                              .abi_min = KW_ABI_VERSION_MIN,
                              .abi_max = KW_ABI_VERSION,
                              .host_version = kw_version()};
  const char *reason = "no reason";
  kw_guest g = {0};
  *(void **)&g.query = dlsym(library, KW_QUERY_SYMBOL);
  KW_CHECK(g.query && g.query(&host, &g.desc, &reason) == KW_OK, "query refused: %s", reason);
  for (uint32_t i = 0; i < g.desc->group_count; i++) {
    const kw_group *group = &g.desc->groups[i];
    if (strcmp(group->name, KW_GROUP_DEVICE) == 0) g.device = group->table;
    if (strcmp(group->name, KW_GROUP_MEMORY) == 0) g.memory = group->table;
    if (strcmp(group->name, KW_GROUP_STREAM) == 0) g.stream = group->table;
    if (strcmp(group->name, KW_GROUP_EVENT) == 0) g.event = group->table;
    if (strcmp(group->name, KW_GROUP_GRAPH) == 0) g.graph = group->table;
    if (strcmp(group->name, KW_GROUP_ACTIVITY) == 0) g.activity = group->table;
    if (strcmp(group->name, KW_GROUP_INTEROP) == 0) g.interop = group->table;
    if (strcmp(group->name, KW_GROUP_ENERGY) == 0) g.energy = group->table;
    if (strcmp(group->name, KW_GROUP_TEST) == 0) g.test = group->table;
  }
  return g;
}

kw_host_api kw_guest_host_for(const kw_guest *g) {
  kw_host_api host = kw_guest_host;
  if (g->desc->abi_version < host.abi_version) host.abi_version = g->desc->abi_version;
  return host;
}

void kw_guest_expect(kw_status status, kw_status want, const char *call, const char *when) {
  KW_CHECK(status == want, "%s: %s gave %s, not %s: %s", when, call, kw_status_name(status), kw_status_name(want),
           status != KW_OK && *kw_guest_seen.error ? kw_guest_seen.error : "no text");
  kw_guest_seen.error[0] = 0; /* it says nothing of the next call */
}

/* To the device and back, on a stream, and nothing is left. */
void kw_guest_use_opened(const kw_guest *g, void *device, uint64_t seed, const char *when) {
  enum { SIZE = 4096 };
  static unsigned char bytes[SIZE], back[SIZE];
  void *stream = NULL;
  kw_mem mem = NULL;
  const kw_stream_info stream_info = {.struct_size = sizeof stream_info, .token = 1};
  KW_GUEST_OK(when, g->stream->create(device, &stream_info, &stream));
  const kw_alloc_info alloc = {.struct_size = sizeof alloc, .kind = KW_MEM_DEVICE, .size = SIZE, .alignment = 1};
  KW_GUEST_OK(when, g->memory->alloc(device, &alloc, &mem));
  kw_test_pattern(bytes, SIZE, seed);
  const kw_copy_info there = {
      .struct_size = sizeof there, .kind = KW_COPY_HOST_TO_DEVICE, .dst_mem = mem, .src_host = bytes, .size = SIZE};
  const kw_copy_info here = {
      .struct_size = sizeof here, .kind = KW_COPY_DEVICE_TO_HOST, .dst_host = back, .src_mem = mem, .size = SIZE};
  KW_GUEST_OK(when, g->memory->copy(device, stream, &there));
  KW_GUEST_OK(when, g->memory->copy(device, stream, &here));
  KW_GUEST_OK(when, g->stream->synchronize(device, stream, KW_WAIT_FOREVER));
  kw_test_same(back, bytes, SIZE, "what was copied to the device and back");
  KW_GUEST_OK(when, g->memory->dealloc(device, mem));
  KW_GUEST_OK(when, g->stream->destroy(device, stream));
}

void kw_guest_use_device(const kw_guest *g, void *plugin, uint64_t seed, const char *when) {
  void *device = NULL;
  KW_GUEST_OK(when, g->device->open(plugin, 0, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &device));
  kw_guest_use_opened(g, device, seed, when);
  KW_GUEST_OK(when, g->device->close(device));
}
