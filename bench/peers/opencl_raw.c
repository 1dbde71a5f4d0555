/* SPDX-License-Identifier: Apache-2.0
 *
 * The peer `raw` of opencl devices: the pack's own kernels, lowered once, then enqueued by plain OpenCL calls. What
 * Keyway takes beyond this is Keyway's own.
 */
#include "../peer.h"
#include "opencl.h"

#include <gpu/ops/families.h>
#include <gpu/program/dtype.h>
#include <stdio.h>

typedef struct raw_peer {
  kw_gpu_device base;   /* first: the pack hands it back */
  kw_gpu_stream stream; /* which the pack looks at: it records no graph */
  kw_host_api host;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  struct raw_job *recording; /* takes what the pack launches */
  char *why;
  size_t why_size;
} raw_peer;

/* One launch, as it is enqueued again and again. */
typedef struct raw_launch {
  cl_kernel kernel;
  uint32_t arg_count;
  struct {
    size_t size;
    unsigned char bytes[KW_GPU_BLOCK_LIMIT];
  } args[KW_GPU_OPERAND_LIMIT + 1 + KW_GPU_VALUE_LIMIT];
  size_t local[2], global[2];
} raw_launch;

#define LAUNCH_LIMIT 64
#define BUFFER_LIMIT 16
#define ARG_LIMIT 24

typedef struct raw_job {
  uint32_t launch_count, buffer_count;
  raw_launch launches[LAUNCH_LIMIT];
  cl_mem buffers[BUFFER_LIMIT];
} raw_job;

static kw_status keep_error(void *ctx, kw_status status, const char *text) {
  raw_peer *peer = ctx;
  snprintf(peer->why, peer->why_size, "%s", text);
  return status;
}

static kw_status ignore_build(void *ctx, void *device, const char *module, uint64_t ns, bool cached) {
  (void)ctx, (void)device, (void)module, (void)ns, (void)cached;
  return KW_OK;
}

static kw_status fail(raw_peer *peer, const char *what, cl_int error) {
  char text[80];
  snprintf(text, sizeof text, "%s failed with OpenCL error %d", what, (int)error);
  return keep_error(peer, KW_ERR_INTERNAL, text);
}

/* ---- What the pack asks of a driver ------------------------------------------------------------------------------ */

static kw_status module_build(kw_gpu_device *base, const char *name, const char *const *sources, uint32_t source_count,
                              void **out_module) {
  raw_peer *peer = (raw_peer *)base;
  cl_int error;
  cl_program program =
      clCreateProgramWithSource(peer->context, source_count, (const char **)(uintptr_t)sources, NULL, &error);
  if (error == CL_SUCCESS) error = clBuildProgram(program, 1, &peer->id, "-cl-std=CL1.2", NULL, NULL);
  if (error != CL_SUCCESS) return fail(peer, name, error);
  *out_module = program;
  return KW_OK;
}

static void module_destroy(kw_gpu_device *device, void *module) {
  (void)device;
  clReleaseProgram(module);
}

static kw_status kernel_create(kw_gpu_device *device, void *module, const char *name, void **out_kernel) {
  cl_int error;
  *out_kernel = clCreateKernel(module, name, &error);
  return error == CL_SUCCESS ? KW_OK : fail((raw_peer *)device, name, error);
}

static void kernel_destroy(kw_gpu_device *device, void *kernel) {
  (void)device;
  clReleaseKernel(kernel);
}

/* Does not launch: writes down how. */
static kw_status record(kw_gpu_device *base, kw_gpu_stream *stream, const kw_gpu_launch *launch) {
  raw_peer *peer = (raw_peer *)base;
  raw_job *job = peer->recording;
  (void)stream;
  if (job->launch_count == LAUNCH_LIMIT) return keep_error(peer, KW_ERR_UNSUPPORTED, "too many launches in one call");
  raw_launch *kept = &job->launches[job->launch_count++];
  kept->kernel = launch->kernel;
  kept->arg_count = launch->arg_count;
  for (uint32_t i = 0; i < launch->arg_count; ++i) {
    const kw_gpu_arg *arg = &launch->args[i];
    kept->args[i].size = arg->data ? arg->size : sizeof(cl_mem);
    memcpy(kept->args[i].bytes, arg->data ? arg->data : &arg->mem, kept->args[i].size);
  }
  for (int d = 0; d < 2; ++d) {
    kept->local[d] = launch->local[d];
    kept->global[d] = launch->groups[d] * launch->local[d];
  }
  return KW_OK;
}

static kw_status no_copy(kw_gpu_device *device, kw_gpu_stream *stream, const kw_copy_info *copy) {
  (void)stream, (void)copy;
  return keep_error(device, KW_ERR_UNSUPPORTED, "the call is a plain copy, which has no kernel");
}

static const kw_gpu_driver driver = {
    .prelude = kw_gpu_prelude_opencl,
    .module_build = module_build,
    .module_destroy = module_destroy,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .launch = record,
    .copy = no_copy,
};

/* ---- The peer ---------------------------------------------------------------------------------------------------- */

static void raw_close(void *state) {
  raw_peer *peer = state;
  if (peer->base.programs) kw_gpu_device_finish(&peer->base);
  if (peer->queue) clReleaseCommandQueue(peer->queue);
  if (peer->context) clReleaseContext(peer->context);
  free(peer);
}

static bool raw_open(const char *device, void **out_peer, char *why, size_t size) {
  cl_ulong doubles = 0;
  cl_device_type type = 0;
  cl_int error = CL_DEVICE_NOT_FOUND;
  raw_peer *peer = calloc(1, sizeof *peer);
  if (!peer) {
    snprintf(why, size, "no memory");
    return false;
  }
  peer->why = why;
  peer->why_size = size;
  peer->host = (kw_host_api){
      .struct_size = sizeof peer->host, .ctx = peer, .set_error = keep_error, .report_build = ignore_build};
  peer->id = kw_peer_find_device(device);
  if (peer->id) peer->context = clCreateContext(NULL, 1, &peer->id, NULL, NULL, &error);
  if (peer->context) peer->queue = clCreateCommandQueue(peer->context, peer->id, 0, &error);
  if (peer->id) clGetDeviceInfo(peer->id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
  if (peer->id) clGetDeviceInfo(peer->id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  if (!peer->queue) {
    fail(peer, "opening the device", error);
  } else if (kw_gpu_device_start(&peer->base, &driver, &peer->host, doubles != 0, NULL) == KW_OK) {
    if (type & CL_DEVICE_TYPE_CPU) peer->base.vector_bytes = 64; /* as the plugin does */
    *out_peer = peer;
    return true;
  }
  raw_close(peer);
  return false;
}

static void raw_discard(void *peer, void *state) {
  (void)peer;
  raw_job *job = state;
  for (uint32_t i = 0; i < job->buffer_count; ++i) clReleaseMemObject(job->buffers[i]);
  free(job);
}

/* NULL when there is no memory. */
static kw_mem make_buffer(raw_peer *peer, raw_job *job, uint64_t bytes) {
  if (job->buffer_count == BUFFER_LIMIT) return NULL;
  cl_mem buffer = kw_peer_make_buffer(peer->context, bytes);
  if (buffer) job->buffers[job->buffer_count++] = buffer;
  return buffer;
}

static bool raw_prepare(void *state, const kw_call *call, void **out_job, char *why, size_t size) {
  raw_peer *peer = state;
  kw_call own = *call;
  kw_value args[ARG_LIMIT];
  kw_tensor_ref tensors[ARG_LIMIT], out = *call->outs[0];
  const kw_tensor_ref *outs[1] = {&out};
  kw_gpu_plan plan;
  raw_job *job = calloc(1, sizeof *job);
  snprintf(why, size, "no memory for the tensors of %s", call->op);
  if (!job) return false;
  own.device = peer;
  own.stream = &peer->stream;
  own.user = (void *)kw_gpu_op_find(call->op);
  own.args = args;
  own.outs = outs;
  bool fine = call->out_count == 1 && own.user;
  if (!fine) snprintf(why, size, "%s is no op of the pack with one result", call->op);
  for (uint32_t i = 0; i < call->arg_count && fine; ++i) {
    args[i] = call->args[i];
    fine = args[i].tag != KW_TAG_TENSOR_LIST; /* its entries would have to be copied, too */
    if (!fine) snprintf(why, size, "%s takes a list of tensors, which this peer does not", call->op);
    if (args[i].tag != KW_TAG_TENSOR) continue;
    tensors[i] = *args[i].u.tensor;
    tensors[i].mem = make_buffer(peer, job, (uint64_t)tensors[i].numel * kw_gpu_dtype_size(tensors[i].dtype));
    args[i].u.tensor = &tensors[i];
    fine = tensors[i].mem != NULL;
  }
  out.mem = fine ? make_buffer(peer, job, (uint64_t)out.numel * kw_gpu_dtype_size(out.dtype)) : NULL;
  fine = out.mem != NULL;
  if (fine) {
    peer->recording = job;
    kw_gpu_plan_lower(&plan, &own);
    kw_status status = plan.status;
    if (plan.workspace > 0) own.workspace = make_buffer(peer, job, plan.workspace);
    if (status == KW_OK) status = kw_gpu_plan_compile(&plan, &peer->base);
    if (status == KW_OK) status = kw_gpu_plan_run(&plan, &own);
    kw_gpu_plan_clear(&plan);
    fine = status == KW_OK;
  }
  if (fine) {
    *out_job = job;
  } else {
    raw_discard(peer, job);
  }
  return fine;
}

static void raw_run(void *state, void *handle) {
  raw_peer *peer = state;
  raw_job *job = handle;
  for (uint32_t l = 0; l < job->launch_count; ++l) {
    raw_launch *launch = &job->launches[l];
    for (uint32_t i = 0; i < launch->arg_count; ++i)
      clSetKernelArg(launch->kernel, i, launch->args[i].size, launch->args[i].bytes);
    clEnqueueNDRangeKernel(peer->queue, launch->kernel, 2, NULL, launch->global, launch->local, 0, NULL, NULL);
  }
}

static void raw_wait(void *state) {
  clFinish(((raw_peer *)state)->queue);
}

const kw_bench_peer_api *kw_bench_peer_query(void) {
  static const kw_bench_peer_api api = {
      .title = "the same kernels, enqueued by plain OpenCL calls",
      .open = raw_open,
      .close = raw_close,
      .prepare = raw_prepare,
      .discard = raw_discard,
      .run = raw_run,
      .wait = raw_wait,
  };
  return &api;
}
