/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples by weight: the sums that the reference makes for every sample are kept, and searched.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "selection.h"
#include "walk.h"
#include "words.h"

#include <stdatomic.h>
#include <stdbool.h>

#define GRAIN 4096 /* weights: the fewest that a thread is woken for */

typedef struct sample_plan {
  kw_port port;
  bool is_wide; /* f64; the others are f32 */
} sample_plan;

static kw_status plan_sample(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_dtype dtype = call->args[0].u.tensor->dtype;
  sample_plan *plan = out_plan;
  (void)kernel;
  plan->is_wide = dtype == KW_F64;
  return kw_port_open(&plan->port, dtype, kw_lane_of(dtype)) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

typedef struct sample_run {
  const sample_plan *plan;
  const kw_host_api *host;
  const kw_call *call;
  kw_words words;
  atomic_int status;
} sample_run;

/* Sample number `index` of a row of n weights, whose sums are kept: sums[i] of all up to i, added up in this order. An
 * entry that is taken has weight 0 from there on, and the sums before it stay. Of a row without a choice none is. */
#define SAMPLES(name, T, uniform)                                                                                   \
  static bool name##_add_up(const T *weights, T *sums, int64_t from, int64_t n) {                                   \
    T sum = from > 0 ? sums[from - 1] : 0;                                                                          \
    bool all = true;                                                                                                \
    for (int64_t i = from; i < n; i++) {                                                                            \
      const T weight = weights[i];                                                                                  \
      all &= weight >= 0 && weight - weight == 0;                                                                   \
      sums[i] = sum += weight;                                                                                      \
    }                                                                                                               \
    return all && sum > 0;                                                                                          \
  }                                                                                                                 \
                                                                                                                    \
  static int64_t name##_find(const T *weights, const T *sums, int64_t n, T target) {                                \
    int64_t low = 0;                                                                                                \
    for (int64_t high = n; low < high;) {                                                                           \
      const int64_t middle = low + (high - low) / 2;                                                                \
      if (target < sums[middle]) {                                                                                  \
        high = middle;                                                                                              \
      } else {                                                                                                      \
        low = middle + 1;                                                                                           \
      }                                                                                                             \
    }                                                                                                               \
    if (low == n) { /* by rounding: the last that has a weight */                                                   \
      for (low = n - 1; low > 0 && !(weights[low] > 0);) low--;                                                     \
    }                                                                                                               \
    return low;                                                                                                     \
  }                                                                                                                 \
                                                                                                                    \
  static void name(const sample_run *run, T *weights, T *sums, int64_t n, uint64_t first, char *to, int64_t step) { \
    const bool replacement = run->call->args[2].u.b;                                                                \
    bool has_choice = name##_add_up(weights, sums, 0, n);                                                           \
    for (int64_t s = 0; s < run->call->args[1].u.i; s++) {                                                          \
      int64_t entry = 0;                                                                                            \
      if (has_choice) {                                                                                             \
        const uint64_t index = first + (uint64_t)s;                                                                 \
        entry = name##_find(weights, sums, n, (T)(uniform)*sums[n - 1]);                                            \
      } else {                                                                                                      \
        kw_selection_blame(run->call, 0);                                                                           \
      }                                                                                                             \
      kw_number_store_int(KW_I64, to + s * step, entry);                                                            \
      if (replacement || !has_choice) continue;                                                                     \
      weights[entry] = 0;                                                                                           \
      has_choice = name##_add_up(weights, sums, entry, n);                                                          \
    }                                                                                                               \
  }
SAMPLES(sample_f32, float, (float)(kw_words_32(&run->words, index, 0) >> 8) * 0x1p-24f)
SAMPLES(sample_f64, double, (double)(kw_words_64(&run->words, index) >> 11) * 0x1p-53)

static void sample_rows(void *user, int64_t begin, int64_t end) {
  sample_run *run = user;
  const sample_plan *plan = run->plan;
  const kw_tensor_ref *self = run->call->args[0].u.tensor, *out = run->call->outs[0];
  const uint32_t last = self->rank - 1u;
  const int64_t n = self->shape[last], lane = kw_lane_size(plan->port.lane), step = kw_loop_step(self, last);
  char *weights = kw_fast_room(run->host, (uint64_t)(2 * n * lane), &run->status), *sums = weights + n * lane;
  if (!weights) return;
  for (int64_t r = begin; r < end; r++) {
    const char *from = kw_walk_base(self) + (last > 0 ? r * kw_loop_step(self, 0) : 0);
    char *to = kw_walk_base(out) + (last > 0 ? r * kw_loop_step(out, 0) : 0);
    const uint64_t first = (uint64_t)(r * run->call->args[1].u.i);
    kw_port_read(&plan->port, weights, from, step, n);
    if (plan->is_wide) {
      sample_f64(run, (double *)(void *)weights, (double *)(void *)sums, n, first, to, kw_loop_step(out, last));
    } else {
      sample_f32(run, (float *)(void *)weights, (float *)(void *)sums, n, first, to, kw_loop_step(out, last));
    }
  }
  run->host->host_free(run->host->ctx, weights);
}

static kw_status run_sample(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  const int64_t rows = self->rank == 2 ? self->shape[0] : 1, n = self->shape[self->rank - 1];
  sample_run run = {.plan = plan, .host = host, .call = call, .words = kw_words_of(call)};
  const kw_status status = host->parallel_for(host->ctx, rows, 1 + GRAIN / n, sample_rows, &run);
  return status == KW_OK ? (kw_status)atomic_load(&run.status) : status;
}

static const kw_fast_kernel kernels[] = {
    {.op = "multinomial",
     .dtypes = KW_DTYPES_FLOAT,
     .flags = KW_KERNEL_DATA_ERRORS,
     .plan_size = sizeof(sample_plan),
     .make_plan = plan_sample,
     .run = run_sample},
};

kw_fast_family kw_fast_sample(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
