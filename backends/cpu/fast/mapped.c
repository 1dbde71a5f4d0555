/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops whose elements are taken from places that follow from the result's, dimension by dimension: pads that mirror or
 * repeat what they surround, and upsampling to nearest elements.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "place.h"
#include "sizes.h"
#include "strided.h"
#include "upsample.h"
#include "walk.h"

#include <string.h>

#define GRAIN 16384 /* elements: the fewest that a thread is woken for */

/* What the places 0, 1, ... of a dimension of the result are taken from: offsets, in bytes. Places [begin, end) are
 * taken from such that follow each other: of the last dimension only the first of those has its offset. */
typedef struct mapped_axis {
  int64_t *offsets;
  int64_t begin, end;
} mapped_axis;

typedef void (*map_fn)(const kw_call *call, uint32_t d, mapped_axis *axis, int64_t count);

static void map_pad(const kw_call *call, uint32_t d, mapped_axis *axis, int64_t count, kw_place_fn place) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  const kw_value *pads = &call->args[1];
  const int64_t size = self->shape[d], step = kw_loop_step(self, d);
  const int64_t first = kw_place_unpadded(pads, self->rank, d, 0);
  axis->begin = first < 0 ? kw_least(-first, count) : 0;
  axis->end = kw_least(size - first, count);
  if (axis->end < axis->begin) axis->end = axis->begin; /* a pad may cut off more than there is */
  for (int64_t i = 0; i < axis->begin; i++) axis->offsets[i] = place(pads, self->rank, d, size, i) * step;
  const int64_t named = d + 1 == self->rank ? kw_least(axis->begin + 1, axis->end) : axis->end;
  for (int64_t i = axis->begin; i < named; i++) axis->offsets[i] = (first + i) * step;
  for (int64_t i = axis->end; i < count; i++) axis->offsets[i] = place(pads, self->rank, d, size, i) * step;
}

static void map_reflected(const kw_call *call, uint32_t d, mapped_axis *axis, int64_t count) {
  map_pad(call, d, axis, count, kw_place_reflected);
}

static void map_replicated(const kw_call *call, uint32_t d, mapped_axis *axis, int64_t count) {
  map_pad(call, d, axis, count, kw_place_replicated);
}

/* kw_upsample_nearest of the places 0, 1, ... where no scale is given, floor((2 i + middle) in / (2 out)): what a place
 * adds to quotient and remainder is the same for all, and needs no division. */
static void map_nearest_places(const kw_upsample_axis *axis, int64_t step, int64_t *offsets, int64_t count) {
  const int64_t first = axis->kind == KW_UPSAMPLE_NEAREST_EXACT ? axis->in : 0, divisor = 2 * axis->out;
  const int64_t more = axis->in / axis->out, more_rest = 2 * (axis->in % axis->out);
  int64_t place = first / divisor, rest = first % divisor;
  for (int64_t i = 0; i < count; i++) {
    offsets[i] = place * step;
    place += more;
    rest += more_rest;
    if (rest < divisor) continue;
    rest -= divisor;
    place++;
  }
}

static void map_upsampled(const kw_call *call, uint32_t d, mapped_axis *axis, int64_t count, kw_upsample_kind kind) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  const int64_t step = kw_loop_step(self, d);
  kw_upsample_axis axes[KW_MAX_RANK];
  kw_upsample_axes(axes, kind, call->outs[0], self, call->args + 2);
  axis->begin = axis->end = 0;
  if (d >= 2 && !(axes[d - 2].scale > 0)) {
    map_nearest_places(&axes[d - 2], step, axis->offsets, count);
    return;
  }
  for (int64_t i = 0; i < count; i++) axis->offsets[i] = (d < 2 ? i : kw_upsample_nearest(&axes[d - 2], i)) * step;
}

static void map_nearest(const kw_call *call, uint32_t d, mapped_axis *axis, int64_t count) {
  map_upsampled(call, d, axis, count, KW_UPSAMPLE_NEAREST);
}

static void map_nearest_exact(const kw_call *call, uint32_t d, mapped_axis *axis, int64_t count) {
  map_upsampled(call, d, axis, count, KW_UPSAMPLE_NEAREST_EXACT);
}

static const map_fn reflected = map_reflected, replicated = map_replicated, nearest = map_nearest,
                    nearest_exact = map_nearest_exact;

static kw_status plan_mapped(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  (void)plan;
  return call->args[0].u.tensor->dtype == call->outs[0]->dtype ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

typedef struct mapped_run {
  const kw_tensor_ref *out, *self;
  mapped_axis axes[KW_MAX_RANK];
  uint32_t last;              /* dimension: that of rows, */
  int64_t to_step, from_step; /* where these are the steps */
  uint32_t size;              /* kw_strided_size */
  const kw_isa *isa;
} mapped_run;

/* Rows of the result that follow each other, and what they are taken from. */
typedef struct mapped_rows {
  char *to;
  const char *from;
  int64_t to_pitch, from_pitch, count;
} mapped_rows;

/* The elements [begin, end) of rows, each from a place of its own. */
#define EACH(name, T)                                                                            \
  static void name(const mapped_run *run, const mapped_rows *rows, int64_t begin, int64_t end) { \
    const int64_t *offsets = run->axes[run->last].offsets, step = run->to_step;                  \
    for (int64_t r = 0; r < rows->count; r++) {                                                  \
      char *to = rows->to + r * rows->to_pitch;                                                  \
      const char *from = rows->from + r * rows->from_pitch;                                      \
      for (int64_t i = begin; i < end; i++)                                                      \
        *(T *)(void *)(to + i * step) = *(const T *)(const void *)(from + offsets[i]);           \
    }                                                                                            \
  }
EACH(each_1, uint8_t)
EACH(each_2, uint16_t)
EACH(each_4, uint32_t)
EACH(each_8, uint64_t)
EACH(each_16, kw_pair)

/* What lies in order, between two ends of which each element has a place of its own. */
static void map_rows(const mapped_run *run, const mapped_rows *rows) {
  static void (*const each[KW_MOVE_SIZES])(const mapped_run *run, const mapped_rows *rows, int64_t begin,
                                           int64_t end) = {each_1, each_2, each_4, each_8, each_16};
  const mapped_axis *axis = &run->axes[run->last];
  const int64_t n = axis->end - axis->begin, size = (int64_t)kw_number_size(run->out->dtype);
  char *to = rows->to + axis->begin * run->to_step;
  const char *from = n > 0 ? rows->from + axis->offsets[axis->begin] : NULL;
  if (axis->begin > 0) each[run->size](run, rows, 0, axis->begin);
  if (n > 0 && run->to_step == size && run->from_step == size) {
    run->isa->copy_rows(to, rows->to_pitch, from, rows->from_pitch, n * size, rows->count);
  } else {
    for (int64_t r = 0; r < rows->count && n > 0; r++, to += rows->to_pitch, from += rows->from_pitch) {
      run->isa->move[run->size](to, run->to_step, from, run->from_step, n);
    }
  }
  if (axis->end < run->out->shape[run->last]) each[run->size](run, rows, axis->end, run->out->shape[run->last]);
}

/* Rows [begin, end) of the result: those together that are taken from rows which follow each other. */
static void run_rows(void *user, int64_t begin, int64_t end) {
  const mapped_run *run = user;
  const kw_tensor_ref *out = run->out;
  const uint32_t last = run->last;
  int64_t at[KW_MAX_RANK], rest = begin;
  mapped_rows rows = {.to = kw_walk_base(out), .from = kw_walk_base(run->self)};
  for (uint32_t d = last; d-- > 0; rest /= out->shape[d]) {
    at[d] = rest % out->shape[d];
    rows.to += at[d] * kw_loop_step(out, d);
    rows.from += run->axes[d].offsets[at[d]];
  }
  if (last > 0) {
    rows.to_pitch = kw_loop_step(out, last - 1);
    rows.from_pitch = kw_loop_step(run->self, last - 1);
  }
  for (int64_t r = begin; r < end; r += rows.count) {
    rows.count = 1;
    if (last > 0 && at[last - 1] >= run->axes[last - 1].begin && at[last - 1] < run->axes[last - 1].end) {
      rows.count = kw_least(run->axes[last - 1].end - at[last - 1], end - r);
    }
    map_rows(run, &rows);
    for (uint32_t d = last; d-- > 0;) {
      const int64_t *offsets = run->axes[d].offsets, before = at[d];
      at[d] += d + 1 == last ? rows.count : 1;
      const bool ends = at[d] == out->shape[d];
      if (ends) at[d] = 0;
      rows.to += (at[d] - before) * kw_loop_step(out, d);
      rows.from += offsets[at[d]] - offsets[before];
      if (!ends) break;
    }
  }
}

static kw_status run_mapped(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const map_fn *map = kernel->family;
  const kw_tensor_ref *out = call->outs[0];
  const uint32_t last = out->rank - 1u;
  mapped_run run = {.out = out,
                    .self = call->args[0].u.tensor,
                    .last = last,
                    .to_step = kw_loop_step(out, last),
                    .from_step = kw_loop_step(call->args[0].u.tensor, last),
                    .size = kw_strided_size(out->dtype),
                    .isa = kw_fast_isa()};
  int64_t places = 0;
  (void)plan;
  if (out->numel == 0) return KW_OK;
  for (uint32_t d = 0; d < out->rank; d++) places += out->shape[d];
  void *room;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)places * sizeof(int64_t), sizeof(int64_t), &room);
  if (status != KW_OK) return status;
  int64_t *offsets = room;
  for (uint32_t d = 0; d < out->rank; d++) {
    run.axes[d].offsets = offsets;
    (*map)(call, d, &run.axes[d], out->shape[d]);
    offsets += out->shape[d];
  }
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
