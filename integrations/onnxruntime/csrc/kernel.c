/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels: made for a node, run with a context, released.
 */
#include "kernel.h"

#include <keyway/interop.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "profile.h"

#define MAPPINGS_AT_MOST 512

typedef struct kernel {
  ort_kernel slots; /* first */
  const kernel_rows *rows;
  provider *provider;
  node node;
  char name[128];
} kernel;

/* By the first row's index; they live as long as the process, since several factories share them. */
static kernel_rows *all[MAPPINGS_AT_MOST];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static OrtStatus *rows_make(unsigned first, unsigned count, kernel_rows **out_rows) {
  kernel_rows *made = calloc(1, sizeof *made);
  if (!made) return kw_ort_refuse(ORT_FAIL, "no memory for the mapping");
  made->rows = &kw_ort_mappings[first];
  made->count = count;
  for (unsigned i = 0; i < count; ++i) {
    const char *why = NULL;
    if (!made->rows[i].text) continue;
    made->expressions[i] = expression_parse(made->rows[i].text, &why);
    if (made->expressions[i]) continue;
    while (i-- > 0) expression_free(made->expressions[i]);
    free(made);
    return kw_ort_refuse(ORT_FAIL, "the mapping of %s cannot be read: %s", kw_ort_mappings[first].op_type, why);
  }
  *out_rows = made;
  return NULL;
}

OrtStatus *kernel_rows_find(unsigned first, unsigned count, const kernel_rows **out_rows) {
  OrtStatus *status = NULL;
  if (first >= MAPPINGS_AT_MOST || count > KERNEL_MAX_ROWS)
    return kw_ort_refuse(ORT_FAIL, "the mapping has more rows than there is room for");
  pthread_mutex_lock(&mutex);
  if (!all[first]) status = rows_make(first, count, &all[first]);
  *out_rows = all[first];
  pthread_mutex_unlock(&mutex);
  return status;
}

const kernel_rows *kernel_rows_of(const char *domain, const char *op_type, int since) {
  for (unsigned i = 0; i < kw_ort_mapping_count; ++i) {
    const mapping *row = &kw_ort_mappings[i];
    if (all[i] && strcmp(row->op_type, op_type) == 0 && strcmp(row->domain, domain) == 0 && row->first <= since &&
        since <= row->last)
      return all[i];
  }
  return NULL;
}

const mapping *mapping_for(const mapping *rows, unsigned count, kw_dtype dtype) {
  const bool boolean = dtype == KW_BOOL,
             floating = (dtype >= KW_F16 && dtype <= KW_F8E5M2) || dtype == KW_F8E4M3FNUZ || dtype == KW_F8E5M2FNUZ;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned dtypes = rows[i].dtypes & ~(unsigned)BITS;
    if (dtypes == ANY || (dtypes == BOOLS && boolean) || (dtypes == FLOATS && floating) ||
        (dtypes == INTS && !boolean && !floating) || (dtypes == U64 && dtype == KW_U64))
      return &rows[i];
  }
  return NULL;
}

bool kernel_rows_run(const kernel_rows *rows, run *run) {
  const value *first = NULL;
  const mapping *row = rows->rows;
  if (rows->count > 1 || (row->dtypes & ~(unsigned)BITS) != ANY) {
    first = run_raw_input(run, 0);
    if (!first) return run_refuse(run, "its first input is not known");
    row = mapping_for(rows->rows, rows->count, first->ref.dtype);
    if (!row) return run_refuse(run, "it is not mapped for %s", kw_dtype_name(first->ref.dtype));
  }
  run->bits64 = row->dtypes & BITS;
  if (row->text) return expression_run(rows->expressions[row - rows->rows], run);
  return row->function(run) && !run->failed;
}

static const void *stream_of(const OrtKernelContext *context) {
  void *handle = NULL;
  OrtStatus *status = kw_ort->KernelContext_GetGPUComputeStream(context, &handle);
  if (status) kw_ort->ReleaseStatus(status);
  return handle;
}

static OrtStatus *compute(ort_kernel *slots, OrtKernelContext *context) {
  kernel *self = (kernel *)slots;
  run *run = run_make();
  size_t count = 0;
  kw_dtype before = KW_DTYPE_NONE;
  OrtStatus *status =
      run ? kw_ort->KernelContext_GetInputCount(context, &count) : kw_ort_refuse(ORT_FAIL, "no memory for a run");
  if (!status && count > RUN_MAX_INPUTS) status = kw_ort_refuse(ORT_FAIL, "%s has %zu inputs", self->name, count);
  if (status) {
    free(run);
    return status;
  }
  run->node = &self->node;
  run->device = self->provider->device;
  run->context = context;
  run->handle = stream_of(context);
  run->stream = kw_ort_stream_for(run->handle, run->device);
  run->input_count = (unsigned)count;
  status = kw_ort_stream_use(self->provider, run->stream);
  if (!status) status = capture_before_node(self->provider, run->stream);
  if (status) {
    free(run);
    return status;
  }
  if (self->provider->autocast != KW_DTYPE_NONE) kw_autocast_set(self->provider->autocast, &before);
  profile_node_begin(self->provider, self->name);
  kernel_rows_run(self->rows, run);
  profile_node_end();
  if (!run->failed) run_write_back(run);
  if (self->provider->autocast != KW_DTYPE_NONE) kw_autocast_set(before, NULL);
  if (run->failed) {
    capture_node_failed(self->provider);
    status = kw_ort_refuse(run->status == KW_ERR_INVALID_ARGUMENT ? ORT_INVALID_ARGUMENT : ORT_EP_FAIL,
                           "Keyway: %s '%s' on %s: %s", self->rows->rows->op_type, self->name,
                           kw_device_name(run->device), run->why);
  }
  run_end(run);
  free(run);
  return status;
}

/* An initialiser that stays as it is: Keyway's kernels may keep it in the order in which they read it best. ONNX
 * Runtime keeps it, too. */
static OrtStatus *keep_constant(ort_kernel *slots, const OrtValue *weight, int index, OrtAllocator *unused,
                                OrtSharedPrePackedWeightCache *cache, bool *out_packed) {
  const int64_t shape[] = {0}, strides[] = {1};
  kw_tensor *tensor = NULL;
  void *address = NULL;
  OrtStatus *status = kw_ort->GetTensorMutableData((OrtValue *)(uintptr_t)weight, &address);
  (void)slots;
  (void)index;
  (void)unused;
  (void)cache;
  *out_packed = false;
  if (status || !kw_address_device(address)) return status;
  if (kw_tensor_at(address, KW_U8, 1, shape, strides, &tensor) == KW_OK) kw_tensor_set_constant(tensor, true);
  kw_tensor_release(tensor);
  return NULL;
}

static void release(ort_kernel *slots) {
  kernel *self = (kernel *)slots;
  node_end(&self->node);
  free(self);
}

OrtStatus *kernel_create(void *rows, const OrtKernelInfo *info, ort_kernel **out_kernel) {
  kernel *self = calloc(1, sizeof *self);
  const ort_ep *ep = NULL;
  size_t size = sizeof self->name - 1, outputs = 0;
  OrtStatus *status =
      self ? kw_ort_eps->KernelInfo_GetEp(info, &ep) : kw_ort_refuse(ORT_FAIL, "no memory for a kernel");
  if (!status) status = kw_ort->KernelInfo_GetOutputCount(info, &outputs);
  if (!status) status = kw_ort->CopyKernelInfo(info, &self->node.of_kernel);
  if (status) {
    free(self);
    return status;
  }
  OrtStatus *unnamed = kw_ort->KernelInfo_GetNodeName(info, self->name, &size);
  if (unnamed) kw_ort->ReleaseStatus(unnamed); /* longer than there is room for: it is for messages alone */
  self->slots = (ort_kernel){.ort_version_supported = KW_ORT_API_VERSION,
                             .Compute = compute,
                             .Release = release,
                             .PrePackWeight = keep_constant};
  self->rows = rows;
  self->provider = (provider *)(uintptr_t)ep;
  self->provider->has_nodes = true;
  self->node.output_count = (unsigned)outputs;
  *out_kernel = &self->slots;
  return NULL;
}

/* ---- Copies between host and device ------------------------------------------------------------------------------ */

static OrtStatus *copy(ort_kernel *slots, OrtKernelContext *context) {
  const OrtValue *from = NULL;
  OrtValue *to = NULL;
  OrtTensorTypeAndShapeInfo *info = NULL;
  int64_t shape[KW_MAX_RANK];
  size_t rank = 0;
  OrtStatus *status = kw_ort->KernelContext_GetInput(context, 0, &from);
  (void)slots;
  if (!status) status = kw_ort->GetTensorTypeAndShape(from, &info);
  if (!status) status = kw_ort->GetDimensionsCount(info, &rank);
  if (!status && rank > KW_MAX_RANK) status = kw_ort_refuse(ORT_FAIL, "a copy of rank %zu", rank);
  if (!status) status = kw_ort->GetDimensions(info, shape, rank);
  if (info) kw_ort->ReleaseTensorTypeAndShapeInfo(info);
  if (!status) status = kw_ort->KernelContext_GetOutput(context, 0, shape, rank, &to);
  return status ? status : kw_ort_copy(from, to, stream_of(context));
}

static void keep(ort_kernel *slots) {
  (void)slots; /* there is one for all */
}

OrtStatus *kernel_create_copy(void *none, const OrtKernelInfo *info, ort_kernel **out_kernel) {
  static ort_kernel only = {.ort_version_supported = KW_ORT_API_VERSION, .Compute = copy, .Release = keep};
  (void)none;
  (void)info;
  *out_kernel = &only;
  return NULL;
}
