/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of ops whose elements follow, dimension by dimension, from few elements each: pads that mirror or repeat
 * what they surround, and upsampling. Every row of the gradient is first brought to the width of the result's rows.
 */
#include "fast.h"

#include "dims.h"
#include "loop.h"
#include "place.h"
#include "resample.h"
#include "walk.h"

#include <string.h>

#define GRAIN 16384 /* elements: the fewest that a thread is woken for */
#define DIMS 3

/* For each place of the gradient along a dimension `taps` elements of the result, and how much each gets. */
typedef struct mapped_axis {
  int64_t taps, places, size; /* size: elements of the result */
  int64_t *index;
  double *weight;
} mapped_axis;

typedef struct mapped_op {
  uint32_t dims;     /* the last ones, that elements follow along */
  int64_t taps;      /* along each */
  kw_place_fn place; /* of pads */
  bool is_linear;    /* of upsampling */
} mapped_op;

typedef struct mapped_plan {
  kw_loop planes; /* of the result and the gradient */
  kw_port port;
} mapped_plan;

static kw_status plan_mapped(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const mapped_op *op = kernel->family;
  const kw_tensor_ref *grad = call->args[0].u.tensor, *out = call->outs[0];
  mapped_plan *plan = out_plan;
  if (grad->dtype != out->dtype || !kw_port_open(&plan->port, out->dtype, kw_lane_of(out->dtype))) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  const uint32_t others = (1u << (out->rank - op->dims)) - 1;
  const kw_tensor_ref to = kw_dims_keep(out, others), from = kw_dims_keep(grad, others);
  kw_loop_begin(&plan->planes, &to);
  kw_loop_add(&plan->planes, &from);
  kw_loop_make(&plan->planes);
  return KW_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Steps are bytes; dimensions that are missing are leading ones of size 1. */
typedef struct mapped_run {
  const kw_host_api *host;
  const mapped_plan *plan;
  mapped_axis axes[DIMS];
  int64_t grad_step[DIMS], out_step[DIMS];
  char *base[2];
  atomic_int status;
} mapped_run;

/* Of a thread: sums of a plane and of one of its rows, and a row of lanes. */
typedef struct mapped_room {
  const mapped_run *run;
  void *sums, *row, *lanes;
} mapped_room;

/* Sums are as wide as the reference's bound wants them for pads of any size. */
#define SUMS(name, T, wide)                                                               \
  static void fold_##name(const mapped_axis *axis, void *row, const void *lanes) {        \
    wide *to = row;                                                                       \
    memset(to, 0, (size_t)axis->size * sizeof *to);                                       \
    for (int64_t i = 0, t = 0; i < axis->places; i++) {                                   \
      const wide x = ((const T *)lanes)[i];                                               \
      for (const int64_t end = t + axis->taps; t < end; t++) {                            \
        to[axis->index[t]] += (wide)axis->weight[t] * x;                                  \
      }                                                                                   \
    }                                                                                     \
  }                                                                                       \
  static void add_##name(void *sums, int64_t at, const void *row, double by, int64_t n) { \
    wide *to = (wide *)sums + at;                                                         \
    const wide *x = row, factor = by;                                                     \
    for (int64_t i = 0; i < n; i++) to[i] += factor * x[i];                               \
  }                                                                                       \
  static void narrow_##name(void *lanes, const void *sums, int64_t at, int64_t n) {       \
    for (int64_t i = 0; i < n; i++) ((T *)lanes)[i] = (T)((const wide *)sums)[at + i];    \
  }
SUMS(f32, float, double)
SUMS(f64, double, long double)

/* Adds the row, as wide as the result's, that stands for row (z, y) of the gradient. */
static void add_row(const mapped_room *room, int64_t z, int64_t y) {
  const mapped_axis *axes = room->run->axes, *width = &axes[2];
  const bool is_f32 = room->run->plan->port.lane == KW_LANE_F32;
  for (int64_t i = z * axes[0].taps; i < (z + 1) * axes[0].taps; i++) {
    for (int64_t j = y * axes[1].taps; j < (y + 1) * axes[1].taps; j++) {
      const int64_t row = axes[0].index[i] * axes[1].size + axes[1].index[j];
      const double by = axes[0].weight[i] * axes[1].weight[j];
      (is_f32 ? add_f32 : add_f64)(room->sums, row * width->size, room->row, by, width->size);
    }
  }
}

static void run_plane(const mapped_room *room, char *out, const char *grad) {
  const mapped_run *run = room->run;
  const mapped_axis *axes = run->axes, *width = &axes[2];
  const kw_port *port = &run->plan->port;
  const bool is_f32 = port->lane == KW_LANE_F32;
  const int64_t elements = axes[0].size * axes[1].size * width->size;
  memset(room->sums, 0, (size_t)elements * (is_f32 ? sizeof(double) : sizeof(long double)));
  for (int64_t z = 0; z < axes[0].places; z++) {
    for (int64_t y = 0; y < axes[1].places; y++) {
      const char *from = grad + z * run->grad_step[0] + y * run->grad_step[1];
      const void *line = kw_port_lanes(port, from, run->grad_step[2], width->places, room->lanes);
      (is_f32 ? fold_f32 : fold_f64)(width, room->row, line);
      add_row(room, z, y);
    }
  }
  for (int64_t r = 0; r < axes[0].size * axes[1].size; r++) {
    char *to = out + r / axes[1].size * run->out_step[0] + r % axes[1].size * run->out_step[1];
    (is_f32 ? narrow_f32 : narrow_f64)(room->lanes, room->sums, r * width->size, width->size);
    kw_port_write(port, to, run->out_step[2], room->lanes, width->size);
  }
}

static void run_planes(void *context, char *const *at, const int64_t *step, int64_t n) {
  for (int64_t i = 0; i < n; i++) run_plane(context, at[0] + i * step[0], at[1] + i * step[1]);
}

static void run_range(void *user, int64_t begin, int64_t end) {
  mapped_run *run = user;
  const mapped_axis *axes = run->axes, *width = &axes[2];
  const int64_t row = width->size * (int64_t)sizeof(long double), sums = axes[0].size * axes[1].size * row;
  const int64_t lanes = (width->size + width->places) * KW_LANE_BYTES;
  char *at = kw_fast_room(run->host, (uint64_t)(sums + row + lanes), &run->status);
  if (!at) return;
  const mapped_room room = {run, at, at + sums, at + sums + row};
  kw_loop_run(&run->plan->planes, run->base, begin, end, run_planes, (void *)(uintptr_t)&room);
  run->host->host_free(run->host->ctx, at);
}

/* ---- A call ------------------------------------------------------------------------------------------------------ */

/* Fills the axis of dimension d of the tensors: of pads, which are argument 2, or of an upsampled dimension. */
static void fill_axis(const mapped_op *op, const kw_call *call, uint32_t d, const kw_upsample_axis *upsampled,
                      mapped_axis *axis) {
  if (op->is_linear) {
    kw_resample_weigh(upsampled, op->taps, axis->index, axis->weight);
    return;
  }
  for (int64_t i = 0; i < axis->places; i++) {
    axis->index[i] = op->place ? op->place(&call->args[2], call->outs[0]->rank, d, axis->size, i)
                               : kw_upsample_nearest(upsampled, i);
    axis->weight[i] = 1;
  }
}

/* All axes, in `index` and `weight`, which have room for what they have taps of. Of upsampling, arguments 3 and what
 * follows are the rest of kw_upsample_axes. */
static void fill_axes(const mapped_op *op, const kw_call *call, mapped_run *run, int64_t *index, double *weight) {
  const kw_tensor_ref *grad = call->args[0].u.tensor, *out = call->outs[0];
  const uint32_t missing = DIMS - op->dims;
  kw_upsample_axis upsampled[DIMS];
  if (!op->place) {
    const kw_upsample_kind kind = op->is_linear ? KW_UPSAMPLE_LINEAR : KW_UPSAMPLE_NEAREST;
    kw_upsample_axes(upsampled, kind, grad, out, call->args + 3);
  }
  for (uint32_t a = 0; a < DIMS; a++) {
    const uint32_t d = out->rank - DIMS + a;
    mapped_axis *axis = &run->axes[a];
    *axis = (mapped_axis){.taps = 1, .places = 1, .size = 1, .index = index, .weight = weight};
    index[0] = 0;
    weight[0] = 1;
    if (a >= missing) {
      *axis = (mapped_axis){op->taps, grad->shape[d], out->shape[d], index, weight};
      run->grad_step[a] = kw_loop_step(grad, d);
      run->out_step[a] = kw_loop_step(out, d);
      fill_axis(op, call, d, &upsampled[a - missing], axis);
    }
    index += axis->taps * axis->places;
    weight += axis->taps * axis->places;
  }
}

static kw_status run_mapped(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const mapped_op *op = kernel->family;
  const kw_tensor_ref *grad = call->args[0].u.tensor, *out = call->outs[0];
  mapped_run run = {.host = host, .plan = plan, .base = {kw_walk_base(out), kw_walk_base(grad)}};
  int64_t taps = DIMS;
  if (out->numel == 0) return KW_OK;
  for (uint32_t d = out->rank - op->dims; d < out->rank; d++) taps += op->taps * grad->shape[d];
  void *room;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)taps * (sizeof(int64_t) + sizeof(double)), 64, &room);
  if (status != KW_OK) return status;
  int64_t *index = room;
  fill_axes(op, call, &run, index, (double *)(void *)(index + taps));
  const int64_t planes = run.plan->planes.numel, elements = (out->numel + grad->numel) / planes;
  status = host->parallel_for(host->ctx, planes, 1 + GRAIN / elements, run_range, &run);
  host->host_free(host->ctx, room);
  return status == KW_OK ? (kw_status)atomic_load(&run.status) : status;
}

#define KERNEL(name, ...)                                                                  \
  {                                                                                        \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(mapped_plan),               \
    .family = &(const mapped_op){__VA_ARGS__}, .make_plan = plan_mapped, .run = run_mapped \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("reflection_pad1d_backward", 1, 1, kw_place_reflected, false),
    KERNEL("reflection_pad2d_backward", 2, 1, kw_place_reflected, false),
    KERNEL("reflection_pad3d_backward", 3, 1, kw_place_reflected, false),
    KERNEL("replication_pad1d_backward", 1, 1, kw_place_replicated, false),
    KERNEL("replication_pad2d_backward", 2, 1, kw_place_replicated, false),
    KERNEL("replication_pad3d_backward", 3, 1, kw_place_replicated, false),
    KERNEL("upsample_nearest2d_backward", 2, 1, NULL, false),
    KERNEL("upsample_bilinear2d_backward", 2, 2, NULL, true),
};

kw_fast_family kw_fast_mapped_backwards(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
