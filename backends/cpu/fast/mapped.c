/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops whose elements are taken from places that follow from the result's, dimension by dimension: pads that mirror or
 * repeat what they surround, and upsampling to nearest elements.
 */
#include "fast.h"

#include "loop.h"
#include "place.h"
#include "strided.h"
#include "upsample.h"
#include "walk.h"

#define GRAIN 16384 /* elements: the fewest that a thread is woken for */

/* Offsets, in bytes, of what the places 0, 1, ... of a dimension of the result are taken from. */
typedef void (*map_fn)(const kw_call *call, uint32_t d, int64_t *offsets, int64_t count);

static void map_pad(const kw_call *call, uint32_t d, int64_t *offsets, int64_t count, kw_place_fn place) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  const int64_t step = kw_loop_step(self, d);
  for (int64_t i = 0; i < count; i++) offsets[i] = place(&call->args[1], self->rank, d, self->shape[d], i) * step;
}

static void map_reflected(const kw_call *call, uint32_t d, int64_t *offsets, int64_t count) {
  map_pad(call, d, offsets, count, kw_place_reflected);
}

static void map_replicated(const kw_call *call, uint32_t d, int64_t *offsets, int64_t count) {
  map_pad(call, d, offsets, count, kw_place_replicated);
}

static void map_upsampled(const kw_call *call, uint32_t d, int64_t *offsets, int64_t count, kw_upsample_kind kind) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  const int64_t step = kw_loop_step(self, d);
  kw_upsample_axis axes[KW_MAX_RANK];
  kw_upsample_axes(axes, kind, call->outs[0], self, call->args + 2);
  for (int64_t i = 0; i < count; i++) offsets[i] = (d < 2 ? i : kw_upsample_nearest(&axes[d - 2], i)) * step;
}

static void map_nearest(const kw_call *call, uint32_t d, int64_t *offsets, int64_t count) {
  map_upsampled(call, d, offsets, count, KW_UPSAMPLE_NEAREST);
}

static void map_nearest_exact(const kw_call *call, uint32_t d, int64_t *offsets, int64_t count) {
  map_upsampled(call, d, offsets, count, KW_UPSAMPLE_NEAREST_EXACT);
}

static const map_fn reflected = map_reflected, replicated = map_replicated, nearest = map_nearest,
                    nearest_exact = map_nearest_exact;

static kw_status plan_mapped(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  (void)plan;
  return call->args[0].u.tensor->dtype == call->outs[0]->dtype ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

typedef struct mapped_run {
  const kw_tensor_ref *out;
  const char *from;
  const int64_t *offsets[KW_MAX_RANK];
  uint32_t move; /* kw_strided_size */
  int64_t to_step;
  int64_t begin, end, from_step; /* of the last dimension, what is taken from places from_step after each other */
} mapped_run;

typedef struct pair {
  uint64_t half[2];
} pair;

#define TAKE(name, T)                                                                                                 \
  static void name(char *to, int64_t to_step, const char *from, const int64_t *offsets, int64_t n) {                  \
    for (int64_t i = 0; i < n; i++) *(T *)(void *)(to + i * to_step) = *(const T *)(const void *)(from + offsets[i]); \
  }
TAKE(take_1, uint8_t)
TAKE(take_2, uint16_t)
TAKE(take_4, uint32_t)
TAKE(take_8, uint64_t)
TAKE(take_16, pair)
static void (*const takes[KW_MOVE_SIZES])(char *to, int64_t to_step, const char *from, const int64_t *offsets,
                                          int64_t n) = {take_1, take_2, take_4, take_8, take_16};

/* Rows [begin, end) of the result. */
static void run_rows(void *user, int64_t begin, int64_t end) {
  const mapped_run *run = user;
  const kw_tensor_ref *out = run->out;
  const uint32_t last = out->rank - 1u;
  const int64_t *columns = run->offsets[last], width = out->shape[last];
  for (int64_t r = begin; r < end; r++) {
    char *to = kw_walk_base(out);
    const char *from = run->from;
    int64_t rest = r;
    for (uint32_t d = last; d-- > 0; rest /= out->shape[d]) {
      to += rest % out->shape[d] * kw_loop_step(out, d);
      from += run->offsets[d][rest % out->shape[d]];
    }
    takes[run->move](to, run->to_step, from, columns, run->begin);
    kw_fast_isa()->move[run->move](to + run->begin * run->to_step, run->to_step, from + columns[run->begin],
                                   run->from_step, run->end - run->begin);
    takes[run->move](to + run->end * run->to_step, run->to_step, from, columns + run->end, width - run->end);
  }
}

/* The longest stretch of the last dimension that lies in order: between pads that is all. */
static void find_stretch(mapped_run *run) {
  const uint32_t last = run->out->rank - 1u;
  const int64_t *offsets = run->offsets[last], width = run->out->shape[last];
  for (int64_t begin = 0, end; begin < width; begin = end) {
    for (end = begin + 1; end < width && offsets[end] - offsets[end - 1] == run->from_step; end++) continue;
    if (end - begin <= run->end - run->begin) continue;
    run->begin = begin;
    run->end = end;
  }
}

static kw_status run_mapped(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const map_fn *map = kernel->family;
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  const uint32_t last = out->rank - 1u;
  mapped_run run = {.out = out,
                    .from = kw_walk_base(self),
                    .move = kw_strided_size(out->dtype),
                    .to_step = kw_loop_step(out, last),
                    .from_step = kw_loop_step(self, last)};
  int64_t places = 0;
  (void)plan;
  if (out->numel == 0) return KW_OK;
  for (uint32_t d = 0; d < out->rank; d++) places += out->shape[d];
  void *room;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)places * sizeof(int64_t), sizeof(int64_t), &room);
  if (status != KW_OK) return status;
  int64_t *offsets = room;
  for (uint32_t d = 0; d < out->rank; d++) {
    (*map)(call, d, offsets, out->shape[d]);
    run.offsets[d] = offsets;
    offsets += out->shape[d];
  }
  find_stretch(&run);
  const int64_t width = out->shape[last];
  status = host->parallel_for(host->ctx, out->numel / width, 1 + GRAIN / width, run_rows, &run);
  host->host_free(host->ctx, room);
  return status;
}

#define KERNEL(name, keys, which) \
  { .op = name, .dtypes = keys, .family = &(which), .make_plan = plan_mapped, .run = run_mapped }

static const kw_fast_kernel kernels[] = {
    KERNEL("reflection_pad1d", KW_DTYPES_ANY, reflected),
    KERNEL("reflection_pad2d", KW_DTYPES_ANY, reflected),
    KERNEL("reflection_pad3d", KW_DTYPES_ANY, reflected),
    KERNEL("replication_pad1d", KW_DTYPES_ANY, replicated),
    KERNEL("replication_pad2d", KW_DTYPES_ANY, replicated),
    KERNEL("replication_pad3d", KW_DTYPES_ANY, replicated),
    KERNEL("upsample_nearest1d", KW_DTYPES_FLOAT, nearest),
    KERNEL("upsample_nearest2d", KW_DTYPES_FLOAT, nearest),
    KERNEL("upsample_nearest3d", KW_DTYPES_FLOAT, nearest),
    KERNEL("_upsample_nearest_exact2d", KW_DTYPES_FLOAT, nearest_exact),
};

kw_fast_family kw_fast_mapped(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
