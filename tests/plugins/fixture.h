/* SPDX-License-Identifier: Apache-2.0
 *
 * A minimal device in host memory, for synthetic plugins. A fixture is a file that
 *   1. defines FIXTURE_KEY and includes this file,
 *   2. writes what it does differently and names that with FIXTURE_... macros (see fixture_plugin.h),
 *   3. includes fixture_plugin.h, which makes the plugin of it.
 */
#ifndef KEYWAY_TESTS_FIXTURE_H
#define KEYWAY_TESTS_FIXTURE_H

#include <keyway/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture_stream {
  uint64_t token;
} fixture_stream;

static const kw_host_api *fixture_host;
static int fixture_state, fixture_device; /* their addresses are the plugin's and the device's handle */

/* ---- Device ---- */

static inline kw_status fixture_open(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  (void)plugin;
  (void)info;
  (void)index;
  *out_device = &fixture_device;
  return KW_OK;
}

static inline kw_status fixture_close(void *device) {
  return device == &fixture_device ? KW_OK : KW_ERR_INTERNAL;
}

/* ---- Memory ---- */

static inline kw_status fixture_alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  (void)device;
  return fixture_host->host_alloc(fixture_host->ctx, info->size, info->alignment, out_mem);
}

static inline kw_status fixture_free(void *device, kw_mem mem) {
  (void)device;
  return fixture_host->host_free(fixture_host->ctx, mem);
}

static inline kw_status fixture_copy(void *device, void *stream, const kw_copy_info *copy) {
  (void)device;
  (void)stream;
  void *to = copy->kind == KW_COPY_DEVICE_TO_HOST ? copy->dst_host : (char *)copy->dst_mem + copy->dst_offset;
  const void *from =
      copy->kind == KW_COPY_HOST_TO_DEVICE ? copy->src_host : (const char *)copy->src_mem + copy->src_offset;
  memcpy(to, from, copy->size);
  return KW_OK;
}

/* ---- Streams: all work is done when its slot returns ---- */

static inline kw_status fixture_stream_create(void *device, const kw_stream_info *info, void **out_stream) {
  (void)device;
  fixture_stream *stream = malloc(sizeof *stream);
  if (stream == NULL) return KW_ERR_OUT_OF_MEMORY;
  stream->token = info->token;
  *out_stream = stream;
  return KW_OK;
}

static inline kw_status fixture_stream_destroy(void *device, void *stream) {
  (void)device;
  free(stream);
  return KW_OK;
}

static inline kw_status fixture_stream_synchronize(void *device, void *stream, uint64_t timeout_ns) {
  (void)device;
  (void)timeout_ns;
  (void)stream;
  return KW_OK;
}

/* ---- Kernel: add.Tensor, f32, contiguous, alpha 1 ---- */

static inline bool fixture_is_contiguous(const kw_tensor_ref *tensor) {
  int64_t expected = 1;
  for (int i = tensor->rank - 1; i >= 0; i--) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != expected) return false;
    expected *= tensor->shape[i];
  }
  return true;
}

static inline kw_status fixture_can_add(const kw_call *call) {
  bool contiguous = fixture_is_contiguous(call->args[0].u.tensor) && fixture_is_contiguous(call->args[1].u.tensor) &&
                    fixture_is_contiguous(call->outs[0]);
  return contiguous ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static inline float *fixture_floats(const kw_tensor_ref *tensor) {
  return (float *)(void *)((char *)tensor->mem + tensor->offset);
}

static inline kw_status fixture_add(const kw_call *call) {
  const float *a = fixture_floats(call->args[0].u.tensor), *b = fixture_floats(call->args[1].u.tensor);
  float *out = fixture_floats(call->outs[0]);
  for (int64_t i = 0; i < call->outs[0]->numel; i++) out[i] = a[i] + b[i];
  return KW_OK;
}

#endif /* KEYWAY_TESTS_FIXTURE_H */
