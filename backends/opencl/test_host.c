/* SPDX-License-Identifier: Apache-2.0
 *
 * A host for the tests of the OpenCL plugin: it loads the plugin, opens a device and calls kernels.
 */
#include "test_host.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static kw_status host_set_error(void *ctx, kw_status status, const char *message) {
  snprintf(((test_host *)ctx)->error, sizeof((test_host *)ctx)->error, "%s", message);
  return status;
}

static kw_status host_log(void *ctx, kw_log_level level, const char *message) {
  (void)ctx;
  (void)level;
  print_message("%s\n", message);
  return KW_OK;
}

static kw_status host_register_kernel(void *ctx, const kw_kernel_desc *kernel) {
  test_host *host = ctx;
  if (host->kernel_count == TEST_KERNELS) return KW_ERR_INTERNAL;
  host->kernels[host->kernel_count++] = *kernel;
  return KW_OK;
}

static kw_status host_report(void *ctx, uint64_t stream, uint64_t call_id, kw_status status, const char *message) {
  (void)call_id;
  ((test_host *)ctx)->reported_stream = stream;
  host_set_error(ctx, status, message);
  ++((test_host *)ctx)->reports;
  return KW_OK;
}

static kw_status host_run_callback(void *ctx, uint64_t token) {
  (void)ctx;
  test_gate *gate = (test_gate *)(uintptr_t)token;
  pthread_mutex_lock(&gate->lock);
  gate->entered = true;
  pthread_cond_broadcast(&gate->changed);
  while (!gate->open) pthread_cond_wait(&gate->changed, &gate->lock);
  gate->left = true;
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->lock);
  return KW_OK;
}

static kw_status host_report_build(void *ctx, void *device, const char *module, uint64_t ns, bool cached) {
  (void)ctx, (void)device, (void)module, (void)ns, (void)cached;
  return KW_OK;
}

void test_gate_start(test_gate *gate) {
  memset(gate, 0, sizeof *gate);
  pthread_mutex_init(&gate->lock, NULL);
  pthread_cond_init(&gate->changed, NULL);
}

void test_gate_wait_entered(test_gate *gate) {
  pthread_mutex_lock(&gate->lock);
  while (!gate->entered) pthread_cond_wait(&gate->changed, &gate->lock);
  pthread_mutex_unlock(&gate->lock);
}

void test_gate_open(test_gate *gate) {
  pthread_mutex_lock(&gate->lock);
  gate->open = true;
  pthread_cond_broadcast(&gate->changed);
  pthread_mutex_unlock(&gate->lock);
}

static const void *find_group(const kw_plugin_desc *desc, const char *name) {
  for (uint32_t i = 0; i < desc->group_count; ++i)
    if (strcmp(desc->groups[i].name, name) == 0) return desc->groups[i].table;
  fail_msg("the plugin has no group %s", name);
  return NULL;
}

void test_host_open(test_host *host) {
  uint32_t count = 0;
  host->kernel_count = 0;
  assert_int_equal(
      host->plugin_desc->init(&host->api, &(kw_init_info){.struct_size = sizeof(kw_init_info)}, &host->plugin), KW_OK);
  assert_int_equal(host->device_api->count(host->plugin, &count), KW_OK);
  assert_true(count > 0);
  memset(&host->info, 0, sizeof host->info);
  host->info.struct_size = sizeof host->info;
  assert_int_equal(host->device_api->info(host->plugin, 0, &host->info), KW_OK);
  assert_int_equal(
      host->device_api->open(host->plugin, 0, &(kw_open_info){.struct_size = sizeof(kw_open_info)}, &host->device),
      KW_OK);
  kw_stream_info stream = {.struct_size = sizeof stream, .flags = KW_STREAM_DEFAULT, .token = 1};
  assert_int_equal(host->stream_api->create(host->device, &stream, &host->stream), KW_OK);
}

void test_host_close(test_host *host) {
  assert_int_equal(host->stream_api->destroy(host->device, host->stream), KW_OK);
  assert_int_equal(host->device_api->close(host->device), KW_OK);
  assert_int_equal(host->plugin_desc->shutdown(host->plugin), KW_OK);
}

int test_host_start(void **state) {
  test_host *host = calloc(1, sizeof *host);
  const char *reason = "";
  host->api = (kw_host_api){.struct_size = sizeof host->api,
                            .abi_version = KW_ABI_VERSION,
                            .ctx = host,
                            .set_error = host_set_error,
                            .log = host_log,
                            .register_kernel = host_register_kernel,
                            .report_async_error = host_report,
                            .run_callback = host_run_callback,
                            .report_build = host_report_build};
  void *library = dlopen(KEYWAY_OPENCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  *(void **)&host->query = dlsym(library, KW_QUERY_SYMBOL); /* POSIX's way around ISO C */
  assert_non_null(host->query);
  kw_query_info info = {.struct_size = sizeof info, .abi_min = KW_ABI_VERSION_MIN, .abi_max = KW_ABI_VERSION};
  assert_int_equal(host->query(&info, &host->plugin_desc, &reason), KW_OK);
  if (host->plugin_desc->probe(&reason) != KW_OK) fail_msg("probe: %s", reason);
  host->device_api = find_group(host->plugin_desc, KW_GROUP_DEVICE);
  host->memory = find_group(host->plugin_desc, KW_GROUP_MEMORY);
  host->stream_api = find_group(host->plugin_desc, KW_GROUP_STREAM);
  host->event_api = find_group(host->plugin_desc, KW_GROUP_EVENT);
  test_host_open(host);
  *state = host;
  return 0;
}

int test_host_stop(void **state) {
  test_host_close(*state);
  free(*state);
  return 0;
}

uint32_t test_dtype_size(kw_dtype dtype) {
  static const uint8_t sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1, 8, 16};
  return sizes[dtype];
}

kw_tensor_ref test_tensor(test_host *host, kw_dtype dtype, uint8_t rank, const int64_t *shape, const void *data) {
  kw_tensor_ref tensor = {.struct_size = sizeof tensor, .dtype = dtype, .rank = rank, .numel = 1, .alignment = 64};
  for (int d = rank - 1; d >= 0; --d) {
    tensor.shape[d] = shape[d];
    tensor.strides[d] = tensor.numel;
    tensor.numel *= shape[d];
  }
  uint64_t size = (uint64_t)tensor.numel * test_dtype_size(dtype);
  kw_alloc_info info = {.struct_size = sizeof info, .size = size ? size : 1, .alignment = 64};
  assert_int_equal(host->memory->alloc(host->device, &info, &tensor.mem), KW_OK);
  void *poison = NULL;
  if (!data) {
    data = poison = malloc(info.size);
    memset(poison, 0xa5, info.size);
  }
  kw_copy_info copy = {.struct_size = sizeof copy,
                       .kind = KW_COPY_HOST_TO_DEVICE,
                       .dst_mem = tensor.mem,
                       .src_host = data,
                       .size = size};
  if (size > 0) assert_int_equal(host->memory->copy(host->device, host->stream, &copy), KW_OK);
  assert_int_equal(host->stream_api->synchronize(host->device, host->stream, KW_WAIT_FOREVER), KW_OK);
  free(poison);
  return tensor;
}

void test_tensor_free(test_host *host, kw_tensor_ref *tensor) {
  assert_int_equal(host->memory->dealloc(host->device, tensor->mem), KW_OK);
}

void test_read(test_host *host, const kw_tensor_ref *tensor, void *out, uint64_t size) {
  kw_copy_info copy = {.struct_size = sizeof copy,
                       .kind = KW_COPY_DEVICE_TO_HOST,
                       .dst_host = out,
                       .src_mem = tensor->mem,
                       .size = size};
  assert_int_equal(host->memory->copy(host->device, host->stream, &copy), KW_OK);
  assert_int_equal(host->stream_api->synchronize(host->device, host->stream, KW_WAIT_FOREVER), KW_OK);
}

void *test_room(int64_t count, size_t size) {
  void *memory = calloc((size_t)count + 1, size);
  assert_non_null(memory);
  return memory;
}

kw_value test_tensor_arg(const kw_tensor_ref *tensor) {
  return tensor ? (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = tensor} : (kw_value){.tag = KW_TAG_NONE};
}

kw_value test_int_scalar(int64_t value) {
  return (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = value};
}

kw_value test_float_scalar(double value) {
  return (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64, .u.f = value};
}

const kw_kernel_desc *test_kernel(const test_host *host, const char *op) {
  for (uint32_t i = 0; i < host->kernel_count; ++i)
    if (strcmp(host->kernels[i].op, op) == 0) return &host->kernels[i];
  fail_msg("no kernel for %s", op);
  return NULL;
}

int test_call_results(test_host *host, const char *op, kw_dtype key, const kw_value *args, uint32_t arg_count,
                      const kw_tensor_ref *const *outs, uint32_t out_count) {
  const kw_kernel_desc *kernel = test_kernel(host, op);
  const uint32_t error_code = 256;
  uint32_t error = 0;
  kw_tensor_ref word = test_tensor(host, KW_I32, 1, (int64_t[]){1}, &error);
  kw_call call = {.struct_size = sizeof call,
                  .arg_count = arg_count,
                  .out_count = out_count,
                  .device = host->device,
                  .op = op,
                  .args = args,
                  .outs = outs,
                  .user = kernel->user};
  const kw_call_extra extra = {.struct_size = sizeof extra, .error_mem = word.mem, .error_code = error_code};
  kw_tensor_ref workspace = {0};
  void *prepared = NULL;
  host->error[0] = 0;
  assert_true((kernel->dtypes.bits[0] & KW_DTYPE_BIT(key)) != 0);
  if (kernel->can_implement(&call) != KW_OK) fail_msg("can_implement: %s", host->error);
  assert_int_equal(kernel->workspace_size(&call, &call.workspace_size), KW_OK);
  if (call.workspace_size > 0) {
    workspace = test_tensor(host, KW_U8, 1, (int64_t[]){(int64_t)call.workspace_size + 64}, NULL);
    call.workspace = workspace.mem;
    call.workspace_offset = 64;
  }
  if (kernel->prepare(&call, &prepared) != KW_OK) fail_msg("prepare: %s", host->error);
  call.prepared = prepared;
  call.stream = host->stream;
  call.call_id = 7;
  if (kernel->flags & KW_KERNEL_DATA_ERRORS) call.extra = &extra;
  if (kernel->launch(&call) != KW_OK) fail_msg("launch: %s", host->error);
  assert_int_equal(host->stream_api->synchronize(host->device, host->stream, KW_WAIT_FOREVER), KW_OK);
  assert_string_equal(host->error, "");
  assert_int_equal(kernel->release(kernel->user, prepared), KW_OK);
  if (workspace.mem) {
    uint8_t before[64], poison[64];
    memset(poison, 0xa5, sizeof poison);
    test_read(host, &workspace, before, sizeof before);
    assert_memory_equal(before, poison, sizeof poison);
    test_tensor_free(host, &workspace);
  }
  test_read(host, &word, &error, sizeof error);
  test_tensor_free(host, &word);
  return error == 0 ? -1 : (int)(error - error_code);
}

void test_call(test_host *host, const char *op, kw_dtype key, const kw_value *args, uint32_t arg_count,
               const kw_tensor_ref *out) {
  assert_int_equal(test_call_results(host, op, key, args, arg_count, &out, 1), -1);
}
