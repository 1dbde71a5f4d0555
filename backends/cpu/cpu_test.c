/* SPDX-License-Identifier: Apache-2.0
 *
 * Drives the built plugin through its one exported symbol, as a host does. Asynchrony is controlled by gates: callbacks
 * that wait until the test lets them go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <keyway/plugin.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- A host ---------------------------------------------------------------------------------------------------- */

typedef struct gate {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool entered, open;
  pthread_t thread;
} gate;

static struct {
  pthread_mutex_t lock;
  uint32_t kernel_count;
  kw_kernel_desc kernels[1024]; /* two tables of an entry per op */
  uint64_t late_token, late_call;
  kw_status late_status;
  char late_text[128];
  gate gates[8]; /* callback token i runs gate i */
} host = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local char error_text[512];

static kw_status host_set_error(void *ctx, kw_status status, const char *message) {
  assert_ptr_equal(ctx, &host);
  strncpy(error_text, message, sizeof error_text - 1);
  return status;
}

static kw_status host_log(void *ctx, kw_log_level level, const char *message) {
  (void)ctx;
  (void)level;
  (void)message;
  return KW_OK;
}

static kw_status host_register_kernel(void *ctx, const kw_kernel_desc *kernel) {
  (void)ctx;
  if (strcmp(kernel->op, "erf") == 0) return KW_ERR_NOT_FOUND; /* a host that is older than this op */
  assert_true(host.kernel_count < sizeof host.kernels / sizeof host.kernels[0]);
  host.kernels[host.kernel_count++] = *kernel;
  return KW_OK;
}

static kw_status host_report(void *ctx, uint64_t token, uint64_t call_id, kw_status status, const char *message) {
  (void)ctx;
  pthread_mutex_lock(&host.lock);
  host.late_token = token;
  host.late_call = call_id;
  host.late_status = status;
  strncpy(host.late_text, message, sizeof host.late_text - 1);
  pthread_mutex_unlock(&host.lock);
  return KW_OK;
}

static kw_status host_run_callback(void *ctx, uint64_t token) {
  (void)ctx;
  gate *g = &host.gates[token];
  pthread_mutex_lock(&g->lock);
  g->entered = true;
  g->thread = pthread_self();
  pthread_cond_broadcast(&g->changed);
  while (!g->open) pthread_cond_wait(&g->changed, &g->lock);
  pthread_mutex_unlock(&g->lock);
  return KW_OK;
}

static void gate_open(uint64_t token) {
  gate *g = &host.gates[token];
  pthread_mutex_lock(&g->lock);
  g->open = true;
  pthread_cond_broadcast(&g->changed);
  pthread_mutex_unlock(&g->lock);
}

static void gate_await(uint64_t token) {
  gate *g = &host.gates[token];
  pthread_mutex_lock(&g->lock);
  while (!g->entered) pthread_cond_wait(&g->changed, &g->lock);
  pthread_mutex_unlock(&g->lock);
}

static const kw_host_api host_api = {
    .struct_size = sizeof host_api,
    .abi_version = KW_ABI_VERSION,
    .ctx = &host,
    .set_error = host_set_error,
    .log = host_log,
    .register_kernel = host_register_kernel,
    .report_async_error = host_report,
    .run_callback = host_run_callback,
};

/* ---- The plugin ------------------------------------------------------------------------------------------------ */

static const kw_plugin_desc *plugin;
static const kw_device_api *device_api;
static const kw_memory_api *memory_api;
static const kw_stream_api *stream_api;
static const kw_event_api *event_api;
static void *plugin_state, *device, *default_stream, *a, *b; /* a, b: streams with workers */

static kw_query_fn query_symbol(void) {
  static void *library;
  if (!library) library = dlopen(KEYWAY_CPU_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  kw_query_fn query;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  assert_non_null(query);
  return query;
}

static const void *group(const char *name) {
  for (uint32_t i = 0; i < plugin->group_count; i++) {
    if (strcmp(plugin->groups[i].name, name) == 0) return plugin->groups[i].table;
  }
  fail_msg("no group %s", name);
  return NULL;
}

static void *stream_new(uint32_t flags, uint64_t token) {
  kw_stream_info info = {.struct_size = sizeof info, .flags = flags, .token = token};
  void *stream = NULL;
  assert_int_equal(stream_api->create(device, &info, &stream), KW_OK);
  return stream;
}

static int setup(void **state) {
  (void)state;
  kw_query_info info = {
      .struct_size = sizeof info, .abi_min = KW_ABI_VERSION_MIN, .abi_max = KW_ABI_VERSION, .host_version = "test"};
  const char *reason = NULL;
  assert_int_equal(query_symbol()(&info, &plugin, &reason), KW_OK);
  device_api = group(KW_GROUP_DEVICE);
  memory_api = group(KW_GROUP_MEMORY);
  stream_api = group(KW_GROUP_STREAM);
  event_api = group(KW_GROUP_EVENT);
  assert_int_equal(plugin->probe(&reason), KW_OK);
  host.kernel_count = 0;
  host.late_status = KW_OK;
  for (size_t i = 0; i < 8; i++) {
    gate fresh = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    host.gates[i] = fresh;
  }
  assert_int_equal(plugin->init(&host_api, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &plugin_state), KW_OK);
  assert_int_equal(device_api->open(plugin_state, 0, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &device),
                   KW_OK);
  default_stream = stream_new(KW_STREAM_DEFAULT, 100);
  a = stream_new(0, 101);
  b = stream_new(0, 102);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  stream_api->destroy(device, a);
  stream_api->destroy(device, b);
  stream_api->destroy(device, default_stream);
  device_api->close(device);
  plugin->shutdown(plugin_state);
  return 0;
}

static kw_mem mem_new(uint64_t size) {
  kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = 64};
  kw_mem mem = NULL;
  assert_int_equal(memory_api->alloc(device, &info, &mem), KW_OK);
  return mem;
}

static void write_host(void *stream, kw_mem mem, uint64_t offset, const void *from, uint64_t size) {
  kw_copy_info copy = {.struct_size = sizeof copy,
                       .kind = KW_COPY_HOST_TO_DEVICE,
                       .dst_mem = mem,
                       .dst_offset = offset,
                       .src_host = from,
                       .size = size};
  assert_int_equal(memory_api->copy(device, stream, &copy), KW_OK);
}

static void read_host(void *stream, void *to, kw_mem mem, uint64_t offset, uint64_t size) {
  kw_copy_info copy = {.struct_size = sizeof copy,
                       .kind = KW_COPY_DEVICE_TO_HOST,
                       .dst_host = to,
                       .src_mem = mem,
                       .src_offset = offset,
                       .size = size};
  assert_int_equal(memory_api->copy(device, stream, &copy), KW_OK);
}

static const kw_kernel_desc *kernel_of(const char *op, kw_dtype dtype) {
  for (uint32_t i = 0; i < host.kernel_count; i++) {
    if (strcmp(host.kernels[i].op, op) == 0 && (host.kernels[i].dtypes.bits[0] & KW_DTYPE_BIT(dtype)))
      return &host.kernels[i];
  }
  return NULL;
}

static kw_status launch(void *stream, const char *op, uint64_t call_id, const kw_value *args, uint32_t count,
                        const kw_tensor_ref *out) {
  const kw_kernel_desc *kernel = kernel_of(op, KW_F32);
  assert_non_null(kernel);
  kw_call call = {.struct_size = sizeof call,
                  .arg_count = count,
                  .out_count = 1,
                  .device = device,
                  .stream = stream,
                  .op = op,
                  .args = args,
                  .outs = &out,
                  .user = kernel->user,
                  .call_id = call_id};
  return kernel->launch(&call);
}

static kw_tensor_ref vector(kw_mem mem, int64_t size) {
  kw_tensor_ref tensor = {.struct_size = sizeof tensor, .dtype = KW_F32, .rank = 1, .mem = mem, .numel = size};
  tensor.shape[0] = size;
  tensor.strides[0] = 1;
  return tensor;
}

static const kw_value scalar_one = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = 1};

/* out[0..size-1] += 1, written over itself: allowed by the kernel, which reads each element before it writes it. */
static void add_one(void *stream, kw_mem mem, int64_t size) {
  kw_tensor_ref tensor = vector(mem, size);
  kw_value args[3] = {{.tag = KW_TAG_TENSOR, .u.tensor = &tensor}, scalar_one, scalar_one};
  assert_int_equal(launch(stream, "add.Scalar", 7, args, 3, &tensor), KW_OK);
}

/* Enqueues gate `token` and waits until the stream stands in it. */
static void stop_at_gate(void *stream, uint64_t token) {
  assert_int_equal(stream_api->call_host(device, stream, token), KW_OK);
  gate_await(token);
}

/* ---- Tests ----------------------------------------------------------------------------------------------------- */

static void test_query(void **state) {
  (void)state;
  assert_string_equal(plugin->key, "cpu");
  assert_string_equal(plugin->vendor, "keyway");
  assert_int_equal(plugin->struct_size, sizeof *plugin);
  const kw_plugin_desc *none = NULL;
  const char *reason = NULL;
  kw_query_info newer = {
      .struct_size = sizeof newer, .abi_min = KW_ABI_MAKE(9, 0), .abi_max = KW_ABI_MAKE(9, 2), .host_version = "test"};
  assert_int_equal(query_symbol()(&newer, &none, &reason), KW_ERR_ABI_MISMATCH);
  assert_null(none);
  assert_non_null(strstr(reason, "ABI 1.0"));
  kw_query_info older = {
      .struct_size = sizeof older, .abi_min = KW_ABI_MAKE(1, 0), .abi_max = KW_ABI_MAKE(1, 0), .host_version = "test"};
  assert_int_equal(query_symbol()(&older, &none, &reason), KW_OK);
}

static void test_device(void **state) {
  (void)state;
  uint32_t count = 0;
  assert_int_equal(device_api->count(plugin_state, &count), KW_OK);
  assert_int_equal(count, 1);
  kw_device_info info = {.struct_size = sizeof info};
  assert_int_equal(device_api->info(plugin_state, 0, &info), KW_OK);
  assert_int_equal(info.type, KW_DEVICE_CPU);
  assert_true(info.name[0] != '\0' && info.total_memory > 0 && info.compute_units > 0);
  assert_true(info.mem_alignment == 64 && info.offset_alignment == 64);
  void *other = NULL;
  assert_int_equal(device_api->open(plugin_state, 1, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &other),
                   KW_ERR_NOT_FOUND);
  assert_null(other);
  assert_non_null(strstr(error_text, "device 1"));
  assert_int_equal(device_api->info(plugin_state, 7, &info), KW_ERR_NOT_FOUND);
}

static void test_registration(void **state) {
  (void)state;
  const kw_kernel_desc *add = kernel_of("add.Tensor", KW_F32), *wide = kernel_of("add.Tensor", KW_F64);
  assert_true(add && wide && add != wide && strcmp(add->name, wide->name) != 0);
  assert_true(add->flags & KW_KERNEL_MIXED_DTYPES);
  assert_false(kernel_of("lt.Scalar", KW_I32)->flags & KW_KERNEL_MIXED_DTYPES);
  assert_null(kernel_of("sub.Tensor", KW_BOOL));
  assert_non_null(kernel_of("copy_", KW_C128));
  assert_null(kernel_of("bitwise_not", KW_F64));
  assert_null(kernel_of("erf", KW_F32)); /* the host did not know it, the plugin went on */
  assert_non_null(kernel_of("mm", KW_F16));
}

static void test_memory(void **state) {
  (void)state;
  uint64_t before = 0, after = 0, total = 0;
  assert_int_equal(memory_api->usage(device, &before, &total), KW_OK);
  kw_mem mem = mem_new(1000);
  assert_int_equal((uintptr_t)mem % 64, 0);
  assert_int_equal(memory_api->usage(device, &after, &total), KW_OK);
  assert_int_equal(before - after, 1000);
  kw_alloc_info huge = {.struct_size = sizeof huge, .kind = KW_MEM_DEVICE, .size = total + 1, .alignment = 64};
  kw_mem none = NULL;
  error_text[0] = '\0';
  assert_int_equal(memory_api->alloc(device, &huge, &none), KW_ERR_OUT_OF_MEMORY);
  assert_null(none);
  assert_non_null(strstr(error_text, "bytes asked for"));
  huge.size = UINT64_MAX;
  assert_int_equal(memory_api->alloc(device, &huge, &none), KW_ERR_OUT_OF_MEMORY);
  huge.size = total - 999; /* would fit alone */
  assert_int_equal(memory_api->alloc(device, &huge, &none), KW_ERR_OUT_OF_MEMORY);
  kw_alloc_info odd = {.struct_size = sizeof odd, .kind = KW_MEM_DEVICE, .size = 64, .alignment = 4096};
  assert_int_equal(memory_api->alloc(device, &odd, &none), KW_ERR_INVALID_ARGUMENT);

  char text[8] = "keyway", back[8] = {0};
  write_host(default_stream, mem, 3, text, sizeof text);
  kw_mem second = mem_new(64);
  kw_copy_info between = {.struct_size = sizeof between,
                          .kind = KW_COPY_DEVICE_TO_DEVICE,
                          .dst_mem = second,
                          .dst_offset = 5,
                          .src_mem = mem,
                          .src_offset = 3,
                          .size = sizeof text};
  assert_int_equal(memory_api->copy(device, a, &between), KW_OK);
  read_host(a, back, second, 5, sizeof back);
  assert_int_equal(stream_api->synchronize(device, a, KW_WAIT_FOREVER), KW_OK);
  assert_string_equal(back, "keyway");
  between.kind = 9;
  assert_int_equal(memory_api->copy(device, a, &between), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(memory_api->dealloc(device, second), KW_OK);
  assert_int_equal(memory_api->dealloc(device, mem), KW_OK);
  assert_int_equal(memory_api->usage(device, &after, &total), KW_OK);
  assert_int_equal(after, before);
}

static void test_fill(void **state) {
  (void)state;
  kw_mem mem = mem_new(128);
  void *streams[] = {default_stream, a};
  for (size_t s = 0; s < 2; s++) {
    for (uint32_t size = 1; size <= 16; size *= 2) {
      char pattern[16], zero[128] = {0}, back[128], expected[128] = {0};
      for (int i = 0; i < 16; i++) pattern[i] = (char)(i + 1);
      for (uint32_t i = 32; i < 96; i++) expected[i] = pattern[(i - 32) % size];
      write_host(streams[s], mem, 0, zero, sizeof zero);
      assert_int_equal(memory_api->fill(device, streams[s], mem, 32, 64, pattern, size), KW_OK);
      memset(pattern, 0x7f, sizeof pattern); /* consumed before return */
      read_host(streams[s], back, mem, 0, sizeof back);
      assert_int_equal(stream_api->synchronize(device, streams[s], KW_WAIT_FOREVER), KW_OK);
      assert_memory_equal(back, expected, sizeof back);
    }
  }
  assert_int_equal(memory_api->fill(device, a, mem, 0, 64, "abc", 3), KW_ERR_INVALID_ARGUMENT);
  memory_api->dealloc(device, mem);
}

/* What stands behind a gate waits; other streams go on; the calling thread does neither the waiting nor the work. */
static void test_stream_order(void **state) {
  (void)state;
  kw_mem mem = mem_new(64);
  float value = 1, seen = 0;
  write_host(default_stream, mem, 0, &value, sizeof value);
  stop_at_gate(a, 0);
  assert_false(pthread_equal(host.gates[0].thread, pthread_self()));
  assert_int_equal(stream_api->query(device, a), KW_ERR_NOT_READY); /* the queue is empty, the work not done */
  add_one(a, mem, 1);
  add_one(a, mem, 1);
  read_host(a, &seen, mem, 0, sizeof seen);
  assert_int_equal(stream_api->query(device, a), KW_ERR_NOT_READY);
  assert_true(*(float *)mem == 1 && seen == 0);

  float other = 5, other_seen = 0;
  kw_mem other_mem = mem_new(64);
  write_host(b, other_mem, 0, &other, sizeof other);
  add_one(b, other_mem, 1);
  read_host(b, &other_seen, other_mem, 0, sizeof other_seen);
  assert_int_equal(stream_api->synchronize(device, b, KW_WAIT_FOREVER), KW_OK);
  assert_true(other_seen == 6);
  assert_int_equal(stream_api->query(device, b), KW_OK);

  gate_open(0);
  assert_int_equal(stream_api->synchronize(device, a, KW_WAIT_FOREVER), KW_OK);
  assert_true(seen == 3);
  assert_int_equal(stream_api->query(device, a), KW_OK);
  gate_open(1);
  assert_int_equal(stream_api->call_host(device, default_stream, 1), KW_OK);
  assert_true(host.gates[1].entered && pthread_equal(host.gates[1].thread, pthread_self()));
  memory_api->dealloc(device, mem);
  memory_api->dealloc(device, other_mem);
}

static void test_destroy_finishes_work(void **state) {
  (void)state;
  kw_mem mem = mem_new(64);
  float zero = 0;
  write_host(default_stream, mem, 0, &zero, sizeof zero);
  void *stream = stream_new(0, 103);
  stop_at_gate(stream, 0);
  for (int i = 0; i < 50; i++) add_one(stream, mem, 1);
  gate_open(0);
  assert_int_equal(stream_api->destroy(device, stream), KW_OK);
  assert_true(*(float *)mem == 50);
  memory_api->dealloc(device, mem);
}

/* The shortest call that a host may give, where memory ends: nothing beyond it is read. */
static void test_launch_of_the_shortest_call(void **state) {
  (void)state;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
  kw_mem mem = mem_new(64);
  const kw_tensor_ref tensor = vector(mem, 2), *out = &tensor;
  const kw_value args[3] = {{.tag = KW_TAG_TENSOR, .u.tensor = &tensor}, scalar_one, scalar_one};
  const kw_kernel_desc *kernel = kernel_of("add.Scalar", KW_F32);
  const kw_call whole = {.struct_size = KW_CALL_MIN,
                         .arg_count = 3,
                         .out_count = 1,
                         .device = device,
                         .stream = a,
                         .op = "add.Scalar",
                         .args = args,
                         .outs = &out,
                         .user = kernel->user};
  kw_call *call = (kw_call *)(void *)(pages + page - KW_CALL_MIN);
  memcpy(call, &whole, KW_CALL_MIN);
  float values[2] = {1, 2};
  write_host(a, mem, 0, values, sizeof values);
  assert_int_equal(kernel->launch(call), KW_OK);
  read_host(a, values, mem, 0, sizeof values);
  assert_int_equal(stream_api->synchronize(device, a, KW_WAIT_FOREVER), KW_OK);
  assert_true(values[0] == 2 && values[1] == 3);
  memory_api->dealloc(device, mem);
  munmap(pages, 2 * page);
}

/* Descriptors may be gone when the worker comes to the call. */
static void test_launch_copies_descriptors(void **state) {
  (void)state;
  kw_mem in = mem_new(64), out = mem_new(64);
  float values[4] = {-7, 7, 9, 11}, floors[4] = {0}, sums[2] = {0};
  write_host(default_stream, in, 0, values, sizeof values);
  stop_at_gate(a, 0);
  {
    kw_tensor_ref self = vector(in, 4), result = vector(out, 4);
    char mode[] = "floor";
    kw_value args[3] = {{.tag = KW_TAG_TENSOR, .u.tensor = &self},
                        {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = 2},
                        {.tag = KW_TAG_STRING, .u.s = mode}};
    assert_int_equal(launch(a, "div.Scalar_mode", 1, args, 3, &result), KW_OK);
    memset(&self, 0xee, sizeof self);
    memset(&result, 0xee, sizeof result);
    memset(mode, 'x', 5);
    memset(args, 0xee, sizeof args);
    read_host(a, floors, out, 0, sizeof floors);

    self = vector(in, 4);
    self.rank = 2;
    self.shape[0] = self.shape[1] = self.strides[0] = 2;
    self.strides[1] = 1;
    result = vector(out, 2);
    int64_t dims[1] = {0};
    kw_value sum[4] = {{.tag = KW_TAG_TENSOR, .u.tensor = &self},
                       {.tag = KW_TAG_INT_LIST, .count = 1, .u.ints = dims},
                       {.tag = KW_TAG_BOOL},
                       {.tag = KW_TAG_NONE}};
    assert_int_equal(launch(a, "sum.dim_IntList", 2, sum, 4, &result), KW_OK);
    dims[0] = 99;
    memset(sum, 0xee, sizeof sum);
    read_host(a, sums, out, 0, sizeof sums);
  }
  gate_open(0);
  assert_int_equal(stream_api->synchronize(device, a, KW_WAIT_FOREVER), KW_OK);
  assert_true(floors[0] == -4 && floors[1] == 3 && floors[2] == 4 && floors[3] == 5);
  assert_true(sums[0] == 2 && sums[1] == 18);
  assert_int_equal(host.late_status, KW_OK);
  memory_api->dealloc(device, in);
  memory_api->dealloc(device, out);
}

static void test_late_errors(void **state) {
  (void)state;
  kw_mem mem = mem_new(64);
  kw_tensor_ref tensor = vector(mem, 4);
  kw_value args[3] = {{.tag = KW_TAG_TENSOR, .u.tensor = &tensor}, {.tag = KW_TAG_NONE}, {.tag = KW_TAG_NONE}};
  error_text[0] = '\0';
  assert_int_equal(launch(default_stream, "clamp", 41, args, 3, &tensor), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(error_text, "clamp"));
  assert_int_equal(host.late_status, KW_OK);
  assert_int_equal(launch(a, "clamp", 42, args, 3, &tensor), KW_OK);
  assert_int_equal(stream_api->synchronize(device, a, KW_WAIT_FOREVER), KW_OK);
  pthread_mutex_lock(&host.lock);
  assert_int_equal(host.late_status, KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(host.late_token, 101);
  assert_int_equal(host.late_call, 42);
  assert_true(host.late_text[0] != '\0');
  pthread_mutex_unlock(&host.lock);
  memory_api->dealloc(device, mem);
}

static void test_events(void **state) {
  (void)state;
  void *event = NULL, *end = NULL;
  uint64_t ns = 0;
  assert_int_equal(event_api->create(device, &(kw_event_info){.struct_size = sizeof(kw_event_info)}, &event), KW_OK);
  assert_int_equal(event_api->create(device, &(kw_event_info){.struct_size = sizeof(kw_event_info)}, &end), KW_OK);
  assert_int_equal(event_api->query(device, event), KW_OK); /* fresh: completed */
  assert_int_equal(event_api->synchronize(device, event, KW_WAIT_FOREVER), KW_OK);
  assert_int_equal(event_api->wait(device, a, event), KW_OK);
  assert_int_equal(event_api->elapsed(device, event, end, &ns), KW_ERR_INVALID_ARGUMENT);

  stop_at_gate(a, 0);
  assert_int_equal(event_api->record(device, event, a), KW_OK);
  assert_int_equal(event_api->query(device, event), KW_ERR_NOT_READY);
  assert_int_equal(event_api->elapsed(device, event, event, &ns), KW_ERR_NOT_READY);
  assert_int_equal(event_api->wait(device, b, event), KW_OK); /* b waits for a's gate */
  gate_open(1);
  assert_int_equal(stream_api->call_host(device, b, 1), KW_OK);
  assert_int_equal(event_api->record(device, end, b), KW_OK);

  /* Recording again moves the event, not the wait that b already has. */
  assert_int_equal(event_api->record(device, event, default_stream), KW_OK);
  assert_int_equal(event_api->query(device, event), KW_OK);
  assert_int_equal(event_api->destroy(device, event), KW_OK);
  assert_int_equal(stream_api->query(device, b), KW_ERR_NOT_READY);
  pthread_mutex_lock(&host.gates[1].lock);
  assert_false(host.gates[1].entered);
  pthread_mutex_unlock(&host.gates[1].lock);

  gate_open(0);
  assert_int_equal(event_api->synchronize(device, end, KW_WAIT_FOREVER), KW_OK);
  gate_await(1);
  assert_int_equal(event_api->query(device, end), KW_OK);
  void *start = NULL;
  assert_int_equal(event_api->create(device, &(kw_event_info){.struct_size = sizeof(kw_event_info)}, &start), KW_OK);
  assert_int_equal(event_api->record(device, start, default_stream), KW_OK);
  assert_int_equal(event_api->wait(device, default_stream, end), KW_OK);
  assert_int_equal(event_api->elapsed(device, end, start, &ns), KW_OK);
  assert_true(ns < UINT64_C(60000000000)); /* a difference, not a time since boot or a negative number */
  assert_int_equal(event_api->destroy(device, start), KW_OK);
  assert_int_equal(event_api->destroy(device, end), KW_OK);
}

/* The default stream waits for an event of another stream before it returns. */
static void *open_gate_later(void *unused) {
  (void)unused;
  gate_await(0);
  gate_open(0);
  return NULL;
}

static kw_mem import_new(const kw_external_memory *info) {
  const kw_interop_api *interop = group(KW_GROUP_INTEROP);
  kw_mem mem = NULL;
  uint32_t alignment = 0;
  assert_int_equal(interop->import_memory(device, info, &mem, &alignment), KW_OK);
  assert_int_equal((uintptr_t)mem % alignment, 0);
  return mem;
}

/* The process imports as its own what it has mapped here: the mapping lives as long as either. */
static void test_imports_of_one_address(void **state) {
  (void)state;
  const kw_interop_api *interop = group(KW_GROUP_INTEROP);
  kw_alloc_info info = {.struct_size = sizeof info, .size = 9000, .alignment = 64, .flags = KW_MEM_EXPORTABLE};
  kw_mem mem = NULL;
  assert_int_equal(memory_api->alloc(device, &info, &mem), KW_OK);
  assert_int_equal((uintptr_t)mem % 4096, 0);
  memset(mem, 3, 9000);
  kw_external_memory memory = {.struct_size = sizeof memory, .kind = KW_HANDLE_FD, .offset = 5000, .size = 4000};
  assert_int_equal(interop->export_memory(device, mem, &memory), KW_OK);
  unsigned char *mapped = import_new(&memory);
  assert_int_equal(close((int)memory.handle), 0);
  const kw_external_memory own = {.struct_size = sizeof own, .kind = KW_HANDLE_HOST, .host = mapped, .size = 4000};
  assert_ptr_equal(import_new(&own), mapped);
  assert_int_equal(interop->release_memory(device, mapped), KW_OK);
  assert_int_equal(mapped[3999], 3);
  ((unsigned char *)mem)[5000] = 4;
  assert_int_equal(mapped[0], 4);
  assert_int_equal(interop->release_memory(device, mapped), KW_OK);
  kw_mem plain = mem_new(64);
  assert_int_equal(interop->export_memory(device, plain, &memory), KW_ERR_INVALID_ARGUMENT);
  memory.kind = KW_HANDLE_IPC;
  assert_int_equal(interop->export_memory(device, mem, &memory), KW_ERR_INVALID_ARGUMENT); /* not made for that */
  memory.kind = KW_HANDLE_DMABUF;
  assert_int_equal(interop->export_memory(device, mem, &memory), KW_ERR_UNSUPPORTED);
  memory_api->dealloc(device, plain);
  memory_api->dealloc(device, mem);
}

static void test_default_stream_waits(void **state) {
  (void)state;
  kw_mem mem = mem_new(64);
  float zero = 0, seen = 9;
  void *event = NULL;
  pthread_t opener;
  write_host(default_stream, mem, 0, &zero, sizeof zero);
  assert_int_equal(event_api->create(device, &(kw_event_info){.struct_size = sizeof(kw_event_info)}, &event), KW_OK);
  assert_int_equal(stream_api->call_host(device, a, 0), KW_OK);
  add_one(a, mem, 1);
  assert_int_equal(event_api->record(device, event, a), KW_OK);
  pthread_create(&opener, NULL, open_gate_later, NULL);
  assert_int_equal(event_api->wait(device, default_stream, event), KW_OK);
  read_host(default_stream, &seen, mem, 0, sizeof seen);
  assert_true(seen == 1);
  pthread_join(opener, NULL);
  event_api->destroy(device, event);
  memory_api->dealloc(device, mem);
}

enum { THREADS = 4, ROUNDS = 200, WIDTH = 64 };

typedef struct add_job {
  void *stream;
  kw_mem mem;
} add_job;

static void *add_many(void *job_pointer) {
  add_job *job = job_pointer;
  for (int i = 0; i < ROUNDS; i++) add_one(job->stream, job->mem, WIDTH);
  return NULL;
}

/* Many threads on one stream: nothing is lost, nothing runs at the same time. */
static void test_threads(void **state) {
  (void)state;
  void *streams[] = {default_stream, a};
  for (size_t s = 0; s < 2; s++) {
    kw_mem mem = mem_new(WIDTH * sizeof(float));
    float values[WIDTH] = {0};
    write_host(streams[s], mem, 0, values, sizeof values);
    pthread_t threads[THREADS];
    add_job job = {streams[s], mem};
    for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, add_many, &job);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    read_host(streams[s], values, mem, 0, sizeof values);
    assert_int_equal(stream_api->synchronize(device, streams[s], KW_WAIT_FOREVER), KW_OK);
    for (int i = 0; i < WIDTH; i++) assert_true(values[i] == THREADS * ROUNDS);
    memory_api->dealloc(device, mem);
  }
}

/* Of elements that are expanded there may be so many that room for something of each cannot be counted. */
static void test_endless_tensors(void **state) {
  (void)state;
  kw_tensor_ref tensor = vector(NULL, INT64_C(1) << 44);
  const kw_tensor_ref *list[] = {&tensor};
  tensor.strides[0] = 0;
  for (uint32_t i = 0; i < host.kernel_count; i++) {
    const kw_kernel_desc *kernel = &host.kernels[i];
    const bool joins = strcmp(kernel->op, "cat") == 0;
    if (!joins && strcmp(kernel->op, "neg") != 0) continue;
    kw_value args[] = {{.tag = KW_TAG_TENSOR, .u.tensor = &tensor}, {.tag = KW_TAG_INT}};
    if (joins) args[0] = (kw_value){.tag = KW_TAG_TENSOR_LIST, .count = 1, .u.tensors = list};
    kw_call call = {.struct_size = sizeof call, .out_count = 1, .device = device, .op = kernel->op, .args = args};
    call.arg_count = joins ? 2 : 1;
    call.user = kernel->user, call.outs = list;
    tensor.numel = tensor.shape[0] = INT64_C(1) << 44;
    assert_int_equal(kernel->can_implement(&call), KW_OK);
    tensor.numel = ++tensor.shape[0];
    assert_int_equal(kernel->can_implement(&call), KW_ERR_UNSUPPORTED);
    assert_non_null(strstr(error_text, "17592186044417 elements"));
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_query),
      TEST(test_device),
      TEST(test_registration),
      TEST(test_memory),
      TEST(test_imports_of_one_address),
      TEST(test_fill),
      TEST(test_stream_order),
      TEST(test_destroy_finishes_work),
      TEST(test_launch_of_the_shortest_call),
      TEST(test_launch_copies_descriptors),
      TEST(test_late_errors),
      TEST(test_events),
      TEST(test_default_stream_waits),
      TEST(test_threads),
      TEST(test_endless_tensors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
