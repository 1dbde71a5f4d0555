/* SPDX-License-Identifier: Apache-2.0
 *
 * The peer `onednn` of cpu devices: products by dnnl_sgemm and convolutions by oneDNN's primitives, in the library file
 * that the cpu plugin opens, on one thread. A convolution's weight is laid out as oneDNN wants it before anything is
 * measured.
 */
#include "products.h"

#include <cpu/fast/onednn/onednn.h>

typedef struct conv_job {
  kw_onednn_conv *conv;
  float *at[KW_ONEDNN_OPERANDS], *bias;
  void *packed, *room;
} conv_job;

typedef struct onednn_job {
  kw_peer_products *products; /* or */
  conv_job conv;
} onednn_job;

static bool onednn_open(const char *device, void **out_peer, char *why, size_t size) {
  static int peer;
  (void)device;
  *out_peer = &peer;
  snprintf(why, size, "no oneDNN loads that computes on the CPU alone; apt-get install libdnnl2 brings one");
  return kw_onednn_is_there();
}

static void onednn_close(void *peer) {
  (void)peer;
}

static void conv_free(conv_job *job) {
  if (job->conv) kw_onednn_conv_destroy(job->conv);
  for (int i = 0; i < KW_ONEDNN_OPERANDS; ++i) free(job->at[i]);
  free(job->bias);
  free(job->packed);
  free(job->room);
}

static void onednn_discard(void *peer, void *state) {
  (void)peer;
  onednn_job *job = state;
  if (job->products) kw_peer_products_free(job->products);
  conv_free(&job->conv);
  free(job);
}

static void describe(const kw_tensor_ref *tensor, kw_onednn_tensor *out) {
  out->rank = tensor->rank;
  memcpy(out->shape, tensor->shape, tensor->rank * sizeof out->shape[0]);
  memcpy(out->strides, tensor->strides, tensor->rank * sizeof out->strides[0]);
}

/* The weight as oneDNN has it where there are several groups. */
static void take_apart(kw_onednn_tensor *weight, int64_t groups) {
  if (groups == 1) return;
  memmove(weight->shape + 1, weight->shape, weight->rank * sizeof weight->shape[0]);
  memmove(weight->strides + 1, weight->strides, weight->rank * sizeof weight->strides[0]);
  weight->rank++;
  weight->shape[0] = groups;
  weight->shape[1] /= groups;
  weight->strides[0] = weight->strides[1] * weight->shape[1];
}

/* convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups) */
static bool conv_make(const kw_call *call, conv_job *job) {
  const kw_value *args = call->args;
  const kw_tensor_ref *bias = args[2].tag == KW_TAG_TENSOR ? args[2].u.tensor : NULL;
  const kw_tensor_ref *tensors[KW_ONEDNN_OPERANDS] = {args[0].u.tensor, args[1].u.tensor, call->outs[0]};
  kw_onednn_conv_info info = {.result = KW_ONEDNN_PLACES, .has_bias = bias != NULL};
  if (args[6].u.b || tensors[0]->dtype != KW_F32 || args[3].count > KW_ONEDNN_SPATIAL) return false;
  for (int i = 0; i < KW_ONEDNN_OPERANDS; ++i) {
    describe(tensors[i], &info.tensors[i]);
    job->at[i] = kw_peer_numbers(tensors[i]->numel);
    if (!job->at[i]) return false;
  }
  take_apart(&info.tensors[KW_ONEDNN_WEIGHT], args[8].u.i);
  for (uint32_t d = 0; d < args[3].count; ++d) {
    info.stride[d] = args[3].u.ints[d];
    info.padding[d] = info.padding_end[d] = args[4].u.ints[d];
    info.dilation[d] = args[5].u.ints[d] - 1;
  }
  if (kw_onednn_conv_create(&info, &job->conv) != KW_OK) return false;
  const size_t packed = kw_onednn_conv_packed_size(job->conv, KW_ONEDNN_WEIGHT), room = kw_onednn_conv_room(job->conv);
  if (bias) job->bias = kw_peer_numbers(bias->numel);
  if (packed > 0) job->packed = aligned_alloc(64, (packed / 64 + 1) * 64);
  job->room = aligned_alloc(64, (room / 64 + 1) * 64);
  if ((packed > 0 && !job->packed) || !job->room || (bias && !job->bias)) return false;
  return packed == 0 ||
         kw_onednn_conv_pack(job->conv, KW_ONEDNN_WEIGHT, job->at[KW_ONEDNN_WEIGHT], job->packed) == KW_OK;
}

static bool onednn_prepare(void *peer, const kw_call *call, void **out_job, char *why, size_t size) {
  onednn_job *job = calloc(1, sizeof *job);
  bool fine = false;
  if (job && strcmp(call->op, "convolution") == 0) {
    snprintf(why, size, "oneDNN has no such convolution, or there is no memory");
    fine = conv_make(call, &job->conv);
  } else if (job) {
    job->products = kw_peer_products_make(call, why, size);
    fine = job->products != NULL;
  }
  if (job && !fine) onednn_discard(peer, job);
  *out_job = job;
  return fine;
}

static void onednn_run(void *peer, void *state) {
  (void)peer;
  const onednn_job *job = state;
  if (job->conv.conv) {
    const void *const packed[KW_ONEDNN_OPERANDS] = {[KW_ONEDNN_WEIGHT] = job->conv.packed};
    kw_onednn_conv_run(job->conv.conv, job->conv.at, packed, job->conv.bias, job->conv.room);
    return;
  }
  const kw_peer_products *p = job->products;
  const float beta = kw_peer_products_begin(p) ? 1 : 0;
  for (int64_t i = 0; i < p->count; ++i) {
    const kw_onednn_matrix left = {p->left.transposed, p->left.step, p->left.at + i * p->rows * p->depth},
                           right = {p->right.transposed, p->right.step, p->right.at + i * p->depth * p->columns};
    kw_onednn_product(p->rows, p->depth, p->columns, 1, left, right, beta, p->out + i * p->rows * p->columns,
                      p->columns);
  }
}

static void onednn_wait(void *peer) {
  (void)peer;
}

const kw_bench_peer_api *kw_bench_peer_query(void) {
  static const kw_bench_peer_api api = {
      .title = "oneDNN of the file that the cpu plugin opens, called directly, 1 thread",
      .open = onednn_open,
      .close = onednn_close,
      .prepare = onednn_prepare,
      .discard = onednn_discard,
      .run = onednn_run,
      .wait = onednn_wait};
  return &api;
}
