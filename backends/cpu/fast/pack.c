/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights put into smaller forms: two integers of four bits in a byte.
 */
#include "fast.h"

#include "loop.h"
#include "walk.h"

#define GRAIN 16384 /* bytes: the fewest that a thread is woken for */

/* Operands: the result, and what gives the low and the high halves of its bytes. */
enum { OUT, LOW, HIGH, OPERANDS };

/* Every other element of the last dimension, from element `first` on. */
static kw_tensor_ref every_other(const kw_tensor_ref *tensor, int64_t first) {
  kw_tensor_ref half = *tensor;
  const uint32_t last = half.rank - 1u;
  half.offset += (uint64_t)(first * half.strides[last]);
  half.shape[last] /= 2;
  half.strides[last] *= 2;
  half.numel /= 2;
  return half;
}

static kw_status plan_int4(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const kw_tensor_ref low = every_other(in, 0);
  kw_loop *loop = out_plan;
  (void)kernel;
  if (in->dtype != KW_U8 || out->dtype != KW_U8) return KW_ERR_NOT_IMPLEMENTED;
  kw_loop_begin(loop, out);
  kw_loop_add(loop, &low);
  kw_loop_add(loop, &low);
  kw_loop_make(loop);
  return KW_OK;
}

static inline uint8_t join(char low, char high) {
  return (uint8_t)((low & 15) | (high & 15) << 4);
}

static void pack_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  uint8_t *out = (uint8_t *)at[OUT];
  const char *low = at[LOW], *high = at[HIGH];
  (void)context;
  if (step[OUT] == 1 && step[LOW] == 2 && high == low + 1) { /* dense, which compilers make vectors of */
    for (int64_t i = 0; i < n; i++) out[i] = join(low[2 * i], low[2 * i + 1]);
  } else {
    for (int64_t i = 0; i < n; i++) out[i * step[OUT]] = join(low[i * step[LOW]], high[i * step[HIGH]]);
  }
}

typedef struct pack_run {
  const kw_loop *loop;
  char *base[OPERANDS];
} pack_run;

static void pack_range(void *user, int64_t begin, int64_t end) {
  const pack_run *run = user;
  kw_loop_run(run->loop, run->base, begin, end, pack_row, NULL);
}

static kw_status run_int4(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  if (out->numel == 0) return KW_OK;
  const kw_tensor_ref low = every_other(in, 0), high = every_other(in, 1);
  pack_run run = {plan, {kw_walk_base(out), kw_walk_base(&low), kw_walk_base(&high)}};
  return host->parallel_for(host->ctx, out->numel, GRAIN, pack_range, &run);
}

static const kw_fast_kernel kernels[] = {{.op = "keyway::int4_pack",
                                          .dtypes = KW_DTYPE_BIT(KW_U8),
                                          .plan_size = sizeof(kw_loop),
                                          .make_plan = plan_int4,
                                          .run = run_int4}};

kw_fast_family kw_fast_pack(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
