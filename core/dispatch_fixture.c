/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin for dispatch_test: host memory, work done inline, kernels that record how they were called.
 */
#include "dispatch_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

KW_PLUGIN_EXPORT kw_dispatch_fixture kw_dispatch_fixture_instance;
#define fixture kw_dispatch_fixture_instance

static const kw_host_api *host;
static char state;

static kw_status count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = 2;
  return KW_OK;
}

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)plugin, (void)index;
  strcpy(out_info->name, "dispatch fixture");
  out_info->total_memory = UINT64_C(1) << 30;
  out_info->mem_alignment = 64;
  out_info->offset_alignment = 64;
  return KW_OK;
}

static kw_status open_device(void *plugin, uint32_t index, void **out_device) {
  (void)plugin, (void)index;
  *out_device = &state;
  return KW_OK;
}

static kw_status nothing_for_device(void *device) {
  (void)device;
  return KW_OK;
}

static kw_status alloc_mem(void *device, const kw_alloc_info *alloc, kw_mem *out_mem) {
  (void)device;
  *out_mem = aligned_alloc(64, (alloc->size + 63) & ~UINT64_C(63));
  return *out_mem ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static kw_status free_mem(void *device, kw_mem mem) {
  (void)device;
  free(mem);
  return KW_OK;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *copy) {
  (void)device, (void)stream;
  char *to = copy->kind == KW_COPY_DEVICE_TO_HOST ? copy->dst_host : (char *)copy->dst_mem + copy->dst_offset;
  const char *from = copy->kind == KW_COPY_HOST_TO_DEVICE ? copy->src_host : (char *)copy->src_mem + copy->src_offset;
  memcpy(to, from, copy->size);
  return KW_OK;
}

static kw_status create_stream(void *device, const kw_stream_info *stream, void **out_stream) {
  (void)device, (void)stream;
  *out_stream = &state;
  return KW_OK;
}

static kw_status nothing_for_stream(void *device, void *stream) {
  (void)device, (void)stream;
  return KW_OK;
}

/* ---- Kernels --------------------------------------------------------------------------------------------------------
 */

static void record(const kw_call *call) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  fixture.last_kernel = call->user;
  fixture.last_call = *call;
  for (uint32_t i = 0; i < call->arg_count && i < 4; ++i) {
    fixture.last_args[i] = call->args[i];
    if (call->args[i].tag == KW_TAG_TENSOR) fixture.last_tensors[i] = *call->args[i].u.tensor;
  }
  fixture.launches++;
  pthread_mutex_unlock(&mutex);
}

static char *element(const kw_tensor_ref *ref, int64_t index, size_t item) {
  int64_t at = 0;
  for (uint32_t d = ref->rank; d-- > 0; index /= ref->shape[d]) at += index % ref->shape[d] * ref->strides[d];
  return (char *)ref->mem + ref->offset + (size_t)at * item;
}

static float as_float(const kw_value *scalar) {
  return scalar->kind == KW_SCALAR_I64 ? (float)scalar->u.i : (float)scalar->u.f;
}

static kw_status add(const kw_call *call) {
  if (fixture.launch_status != KW_OK) return host->set_error(host->ctx, fixture.launch_status, "the knob says so");
  record(call);
  for (int64_t i = 0; i < call->outs[0]->numel; ++i) {
    float a, b;
    memcpy(&a, element(call->args[0].u.tensor, i, 4), 4);
    memcpy(&b, element(call->args[1].u.tensor, i, 4), 4);
    a += as_float(&call->args[2]) * b;
    memcpy(element(call->outs[0], i, 4), &a, 4);
  }
  return KW_OK;
}

static void note_pure(const kw_call *call) {
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    if (call->args[i].tag == KW_TAG_TENSOR && (call->args[i].u.tensor->mem || call->args[i].u.tensor->offset)) {
      fixture.pure_calls_with_memory++;
    }
  }
}

static kw_status fast_can(const kw_call *call) {
  note_pure(call);
  return fixture.fast_refuses ? KW_ERR_NOT_IMPLEMENTED : KW_OK;
}

static kw_status plain_workspace(const kw_call *call, uint64_t *out_size) {
  note_pure(call);
  *out_size = fixture.workspace;
  return KW_OK;
}

static kw_status prepare(const kw_call *call, void **out_prepared) {
  note_pure(call);
  fixture.prepares++;
  *out_prepared = &state;
  return KW_OK;
}

static kw_status release(void *user, void *prepared) {
  (void)user, (void)prepared;
  fixture.releases++;
  return KW_OK;
}

/* i32 or f32 to f32. */
static kw_status copy_kernel(const kw_call *call) {
  record(call);
  const kw_tensor_ref *source = call->args[1].u.tensor;
  for (int64_t i = 0; i < source->numel; ++i) {
    float value;
    int32_t whole;
    memcpy(&value, element(source, i, 4), 4);
    memcpy(&whole, element(source, i, 4), 4);
    if (source->dtype == KW_I32) value = (float)whole;
    memcpy(element(call->outs[0], i, 4), &value, 4);
  }
  return KW_OK;
}

static kw_status register_all(void) {
  const uint64_t f32 = KW_DTYPE_BIT(KW_F32), i32 = KW_DTYPE_BIT(KW_I32);
  const kw_kernel_desc kernels[] = {
      {.op = "add.Tensor",
       .name = "plain",
       .dtypes = {{f32, 0}},
       .user = "plain",
       .workspace_size = plain_workspace,
       .prepare = prepare,
       .launch = add,
       .release = release},
      {.op = "add.Tensor",
       .name = "fast",
       .dtypes = {{f32, 0}},
       .priority = 10,
       .user = "fast",
       .known_args = 2,
       .can_implement = fast_can,
       .launch = add},
      {.op = "copy_",
       .name = "copy",
       .dtypes = {{f32 | i32, 0}},
       .user = "copy",
       .flags = KW_KERNEL_MIXED_DTYPES,
       .launch = copy_kernel},
  };
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; ++i) {
    kw_kernel_desc kernel = kernels[i];
    kernel.struct_size = sizeof kernel;
    kw_status status = host->register_kernel(host->ctx, &kernel);
    if (status != KW_OK) return status;
  }
  return KW_OK;
}

/* ---- The plugin -----------------------------------------------------------------------------------------------------
 */

static kw_status probe(const char **out_reason) {
  (void)out_reason;
  return KW_OK;
}

static kw_status init(const kw_host_api *host_api, void **out_plugin) {
  (void)out_plugin;
  host = host_api;
  return register_all();
}

static const kw_device_api device_api = {sizeof device_api, 0, count, info, open_device, nothing_for_device};
static const kw_memory_api memory_api = {sizeof memory_api, 0, alloc_mem, free_mem, copy, NULL, NULL};
static const kw_stream_api stream_api = {sizeof stream_api,  0,    create_stream, nothing_for_stream,
                                         nothing_for_stream, NULL, NULL};
static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &device_api}, {KW_GROUP_MEMORY, &memory_api}, {KW_GROUP_STREAM, &stream_api}};

static const kw_plugin_desc plugin = {.struct_size = sizeof plugin,
                                      .abi_version = KW_ABI_VERSION,
                                      .key = "fixture",
                                      .vendor = "keyway",
                                      .version = "1",
                                      .description = "for dispatch_test",
                                      .build = "",
                                      .sanitizer = "",
                                      .probe = probe,
                                      .init = init,
                                      .shutdown = nothing_for_device,
                                      .groups = groups,
                                      .group_count = sizeof groups / sizeof groups[0]};

kw_status keyway_plugin_query(const kw_query_info *asking, const kw_plugin_desc **out_plugin, const char **out_reason) {
  (void)asking, (void)out_reason;
  *out_plugin = &plugin;
  return KW_OK;
}
