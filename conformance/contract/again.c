/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite lifecycle: init after shutdown. Keyway starts a plugin once in a process, so here the plugin is the guest of a
 * small host of the test's own, in a process of its own.
 */
#include "child.h"
#include "scenarios.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>

#include <keyway/plugin.h>

/* ---- A host ------------------------------------------------------------------------------------------------------ */

static struct {
  uint32_t kernels, ops; /* offered since init */
  char error[512];
} seen;

static kw_status host_set_error(void *ctx, kw_status status, const char *message) {
  (void)ctx;
  snprintf(seen.error, sizeof seen.error, "%s", message);
  return status;
}

static kw_status host_log(void *ctx, kw_log_level level, const char *message) {
  (void)ctx, (void)level, (void)message;
  return KW_OK;
}

static kw_status host_register_kernel(void *ctx, const kw_kernel_desc *kernel) {
  (void)ctx, (void)kernel;
  seen.kernels++;
  return KW_OK;
}

static kw_status host_define_op(void *ctx, const kw_op_desc *op) {
  (void)ctx, (void)op;
  seen.ops++;
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

static const kw_host_api full_table = {
    .struct_size = sizeof full_table,
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
};

/* ---- The plugin -------------------------------------------------------------------------------------------------- */

typedef struct guest {
  const kw_plugin_desc *desc;
  const kw_device_api *device;
  const kw_memory_api *memory;
  const kw_stream_api *stream;
} guest;

static guest load_guest(void) {
  void *library = dlopen(kw_contract.plugin_path, RTLD_NOW | RTLD_LOCAL);
  KW_CHECK(library, "%s", dlerror());
  kw_query_fn query;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  const kw_query_info host = {sizeof host, KW_ABI_VERSION_MIN, KW_ABI_VERSION, 0, kw_version()};
  const char *reason = "no reason";
  guest g = {0};
  KW_CHECK(query && query(&host, &g.desc, &reason) == KW_OK, "query refused: %s", reason);
  for (uint32_t i = 0; i < g.desc->group_count; i++) {
    const kw_group *group = &g.desc->groups[i];
    if (strcmp(group->name, KW_GROUP_DEVICE) == 0) g.device = group->table;
    if (strcmp(group->name, KW_GROUP_MEMORY) == 0) g.memory = group->table;
    if (strcmp(group->name, KW_GROUP_STREAM) == 0) g.stream = group->table;
  }
  return g;
}

#define EXPECT_OK(call) expect_ok((call), #call, round)
static void expect_ok(kw_status status, const char *call, int round) {
  KW_CHECK(status == KW_OK, "after %d rounds of init and shutdown: %s gave %s: %s", round, call, kw_status_name(status),
           *seen.error ? seen.error : "no text");
}

/* To the device and back, on a stream, and nothing is left. */
static void use_device(const guest *g, void *plugin, int round) {
  enum { SIZE = 4096 };
  static unsigned char bytes[SIZE], back[SIZE];
  void *device = NULL, *stream = NULL;
  kw_mem mem = NULL;
  EXPECT_OK(g->device->open(plugin, 0, &device));
  const kw_stream_info stream_info = {.struct_size = sizeof stream_info, .token = 1};
  EXPECT_OK(g->stream->create(device, &stream_info, &stream));
  const kw_alloc_info alloc = {.struct_size = sizeof alloc, .kind = KW_MEM_DEVICE, .size = SIZE, .alignment = 1};
  EXPECT_OK(g->memory->alloc(device, &alloc, &mem));
  kw_test_pattern(bytes, SIZE, (uint64_t)round);
  const kw_copy_info there = {
      .struct_size = sizeof there, .kind = KW_COPY_HOST_TO_DEVICE, .dst_mem = mem, .src_host = bytes, .size = SIZE};
  const kw_copy_info here = {
      .struct_size = sizeof here, .kind = KW_COPY_DEVICE_TO_HOST, .dst_host = back, .src_mem = mem, .size = SIZE};
  EXPECT_OK(g->memory->copy(device, stream, &there));
  EXPECT_OK(g->memory->copy(device, stream, &here));
  EXPECT_OK(g->stream->synchronize(device, stream, KW_WAIT_FOREVER));
  kw_test_same(back, bytes, SIZE, "what was copied to the device and back after another init");
  EXPECT_OK(g->memory->dealloc(device, mem));
  EXPECT_OK(g->stream->destroy(device, stream));
  EXPECT_OK(g->device->close(device));
}

static int count_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return 0;
  int count = 0;
  while (readdir(tasks)) count++;
  closedir(tasks);
  return count;
}

int kw_child_init_again(void) {
  enum { ROUNDS = 6 };
  guest g = load_guest();
  uint32_t kernels = 0, ops = 0, devices = 0;
  int threads = 0;
  for (int round = 0; round < ROUNDS; round++) {
    kw_host_api table = full_table; /* good until shutdown has returned, and each time another */
    const char *reason = NULL;
    void *plugin = NULL;
    uint32_t count = 0;
    if (g.desc->abi_version < table.abi_version) table.abi_version = g.desc->abi_version;
    memset(&seen, 0, sizeof seen);
    EXPECT_OK(g.desc->probe(&reason));
    EXPECT_OK(g.desc->init(&table, &plugin));
    EXPECT_OK(g.device->count(plugin, &count));
    if (round == 0) kernels = seen.kernels, ops = seen.ops, devices = count;
    KW_CHECK(seen.kernels == kernels && seen.ops == ops && count == devices,
             "the first init offered %u kernels, %u ops and %u devices, init number %d %u, %u and %u", kernels, ops,
             devices, round + 1, seen.kernels, seen.ops, count);
    if (round != 1) use_device(&g, plugin, round); /* once init and shutdown with nothing in between */
    EXPECT_OK(g.desc->shutdown(plugin));
    memset(&table, 0, sizeof table); /* who still calls it crashes */
    int now = count_threads();
    if (round == 0) threads = now; /* with those of libraries that start once and stay */
    KW_CHECK(now < threads + ROUNDS / 2, "%d threads ran after one init and shutdown, %d after %d", threads, now,
             round + 1);
  }
  return 0;
}

/* After shutdown init starts the plugin anew: the same kernels, ops and devices, and they work; threads do not pile up,
 * and the host of before is not called any more. */
void kw_contract_lifecycle_init_again(void **state) {
  (void)state;
  kw_test_child("init_again");
}
