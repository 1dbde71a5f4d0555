/* SPDX-License-Identifier: Apache-2.0
 *
 * The peer `clblast` of opencl devices: CLBlast's matrix product, with the parameters that it has for the device.
 */
#include "../peer.h"
#include "opencl.h"

#include <clblast_c.h>
#include <stdio.h>

typedef struct clblast_peer {
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
} clblast_peer;

/* out[rows, cols] = a[rows, depth] b[depth, cols] */
typedef struct clblast_job {
  cl_mem a, b, out;
  size_t rows, cols, depth;
} clblast_job;

static void clblast_close(void *state) {
  clblast_peer *peer = state;
  if (peer->queue) clReleaseCommandQueue(peer->queue);
  if (peer->context) clReleaseContext(peer->context);
  CLBlastClearCache();
  free(peer);
}

static bool clblast_open(const char *device, void **out_peer, char *why, size_t size) {
  cl_int error = CL_DEVICE_NOT_FOUND;
  clblast_peer *peer = calloc(1, sizeof *peer);
  snprintf(why, size, "no memory");
  if (!peer) return false;
  peer->id = kw_peer_find_device(device);
  if (peer->id) peer->context = clCreateContext(NULL, 1, &peer->id, NULL, NULL, &error);
  if (peer->context) peer->queue = clCreateCommandQueue(peer->context, peer->id, 0, &error);
  if (peer->queue) {
    *out_peer = peer;
    return true;
  }
  snprintf(why, size, "opening the device failed with OpenCL error %d", (int)error);
  clblast_close(peer);
  return false;
}

static CLBlastStatusCode multiply(clblast_peer *peer, const clblast_job *job) {
  return CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, job->rows, job->cols, job->depth,
                      1, job->a, 0, job->depth, job->b, 0, job->cols, 0, job->out, 0, job->cols, &peer->queue, NULL);
}

static void clblast_discard(void *peer, void *state) {
  (void)peer;
  clblast_job *job = state;
  if (job->a) clReleaseMemObject(job->a);
  if (job->b) clReleaseMemObject(job->b);
  if (job->out) clReleaseMemObject(job->out);
  free(job);
}

static bool clblast_prepare(void *state, const kw_call *call, void **out_job, char *why, size_t size) {
  clblast_peer *peer = state;
  if (strcmp(call->op, "mm") != 0 || call->outs[0]->dtype != KW_F32) {
    snprintf(why, size, "the peer is there for mm in f32 only");
    return false;
  }
  const kw_tensor_ref *a = call->args[0].u.tensor, *out = call->outs[0];
  clblast_job *job = calloc(1, sizeof *job);
  snprintf(why, size, "no memory for the matrices");
  if (!job) return false;
  job->rows = (size_t)a->shape[0];
  job->depth = (size_t)a->shape[1];
  job->cols = (size_t)out->shape[1];
  job->a = kw_peer_make_buffer(peer->context, sizeof(float) * job->rows * job->depth);
  job->b = kw_peer_make_buffer(peer->context, sizeof(float) * job->depth * job->cols);
  job->out = kw_peer_make_buffer(peer->context, sizeof(float) * job->rows * job->cols);
  if (job->a && job->b && job->out) {
    CLBlastStatusCode status = multiply(peer, job); /* compiles */
    if (status == CLBlastSuccess) {
      *out_job = job;
      return true;
    }
    snprintf(why, size, "CLBlastSgemm failed with status %d", (int)status);
  }
  clblast_discard(peer, job);
  return false;
}

static void clblast_run(void *peer, void *job) {
  multiply(peer, job);
}

static void clblast_wait(void *state) {
  clFinish(((clblast_peer *)state)->queue);
}

const kw_bench_peer_api *kw_bench_peer_query(void) {
  static const kw_bench_peer_api api = {
      .title = "CLBlast's GEMM on the same device",
      .open = clblast_open,
      .close = clblast_close,
      .prepare = clblast_prepare,
      .discard = clblast_discard,
      .run = clblast_run,
      .wait = clblast_wait,
  };
  return &api;
}
