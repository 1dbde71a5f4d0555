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

/* What the elements of a dimension of the result are added up from: element i from the taps [ends[i - 1], ends[i]),
 * which are places of the gradient, and how much of each. */
typedef struct mapped_axis {
  int64_t places, size; /* of the gradient, of the result */
  int64_t most;         /* taps of an element */
  int64_t *ends, *source;
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

/* In what type sums are made, and of how many bytes it is. */
typedef struct mapped_sums {
  int64_t size;
  void (*add)(void *sums, const void *lanes, double by, int64_t n);
  void (*fold)(const mapped_axis *axis, void *row, const void *sums);
} mapped_sums;

#define SUMS(name, T, S, share)                                                                \
  static void add_##name(void *sums, const void *lanes, double by, int64_t n) {                \
    S *to = sums;                                                                              \
    const S factor = (S)by;                                                                    \
    for (int64_t i = 0; i < n; i++) to[i] += factor * ((const T *)lanes)[i];                   \
  }                                                                                            \
  static void fold_##name(const mapped_axis *axis, void *row, const void *sums) {              \
    const S *x = sums;                                                                         \
    for (int64_t i = 0, t = 0; i < axis->size; i++) {                                          \
      S sum = 0;                                                                               \
      for (const int64_t end = axis->ends[i]; t < end; t++) sum += (share)*x[axis->source[t]]; \
      ((T *)row)[i] = (T)sum;                                                                  \
    }                                                                                          \
  }                                                                                            \
  static const mapped_sums sums_##name = {sizeof(S), add_##name, fold_##name};
/* Sums of any number of terms are as wide as the reference's bound wants them for pads of any size. Of few, which
 * weigh 1, lanes are enough. */
#define FEW 8
SUMS(few_f32, float, float, 1)
SUMS(few_f64, double, double, 1)
SUMS(f32, float, double, axis->weight[t])
SUMS(f64, double, long double, (long double)axis->weight[t])

/* Steps are bytes; dimensions that are missing are leading ones of size 1. */
typedef struct mapped_run {
  const kw_host_api *host;
  const mapped_plan *plan;
  const mapped_sums *sums;
  mapped_axis axes[DIMS];
  int64_t grad_step[DIMS], out_step[DIMS];
  char *base[2];
  atomic_int status;
} mapped_run;

/* Of a thread: the sums of a row, and lanes of the gradient and of the result. */
typedef struct mapped_room {
  const mapped_run *run;
  void *sums, *lanes, *row;
} mapped_room;

static inline int64_t first_tap(const mapped_axis *axis, int64_t i) {
  return i > 0 ? axis->ends[i - 1] : 0;
}

/* Row (z, y) of a plane. */
static void make_row(const mapped_room *room, char *out, const char *grad, int64_t z, int64_t y) {
  const mapped_run *run = room->run;
  const mapped_axis *axes = run->axes, *width = &axes[2];
  const kw_port *port = &run->plan->port;
  memset(room->sums, 0, (size_t)(width->places * run->sums->size));
  for (int64_t i = first_tap(&axes[0], z); i < axes[0].ends[z]; i++) {
    for (int64_t j = first_tap(&axes[1], y); j < axes[1].ends[y]; j++) {
      const char *from = grad + axes[0].source[i] * run->grad_step[0] + axes[1].source[j] * run->grad_step[1];
      const void *lanes = kw_port_lanes(port, from, run->grad_step[2], width->places, room->lanes);
      run->sums->add(room->sums, lanes, axes[0].weight[i] * axes[1].weight[j], width->places);
    }
  }
  char *to = out + z * run->out_step[0] + y * run->out_step[1];
  void *row = kw_port_is_lanes(port, run->out_step[2]) ? to : room->row;
  run->sums->fold(width, row, room->sums);
  if (row != to) kw_port_write(port, to, run->out_step[2], row, width->size);
}

static void run_plane(const mapped_room *room, char *out, const char *grad) {
  const mapped_axis *axes = room->run->axes;
  for (int64_t z = 0; z < axes[0].size; z++) {
    for (int64_t y = 0; y < axes[1].size; y++) make_row(room, out, grad, z, y);
  }
}

static void run_planes(void *context, char *const *at, const int64_t *step, int64_t n) {
  for (int64_t i = 0; i < n; i++) run_plane(context, at[0] + i * step[0], at[1] + i * step[1]);
}

static void run_range(void *user, int64_t begin, int64_t end) {
  mapped_run *run = user;
  const mapped_axis *width = &run->axes[2];
  const int64_t sums = width->places * (int64_t)sizeof(long double), lanes = width->places * KW_LANE_BYTES;
  char *at = kw_fast_room(run->host, (uint64_t)(sums + lanes + width->size * KW_LANE_BYTES), &run->status);
  if (!at) return;
  const mapped_room room = {run, at, at + sums, at + sums + lanes};
  kw_loop_run(&run->plan->planes, run->base, begin, end, run_planes, (void *)(uintptr_t)&room);
  run->host->host_free(run->host->ctx, at);
}

/* ---- A call ------------------------------------------------------------------------------------------------------ */

/* For each place of the gradient along dimension d, `taps` elements of the result, and how much each gets: of pads,
 * which are argument 2, or of an upsampled dimension. */
static void fill_taps(const mapped_op *op, const kw_call *call, uint32_t d, const kw_upsample_axis *upsampled,
                      int64_t *index, double *weight) {
  if (op->is_linear) {
    kw_resample_weigh(upsampled, op->taps, index, weight);
    return;
  }
  for (int64_t i = 0; i < call->args[0].u.tensor->shape[d]; i++) {
    index[i] = op->place ? op->place(&call->args[2], call->outs[0]->rank, d, call->outs[0]->shape[d], i)
                         : kw_upsample_nearest(upsampled, i);
    weight[i] = 1;
  }
}

/* Orders what each of the places gives to `taps` elements by these, and then by the places. */
static void invert_taps(mapped_axis *axis, int64_t taps, const int64_t *index, const double *weight) {
  memset(axis->ends, 0, (size_t)axis->size * sizeof *axis->ends);
  for (int64_t t = 0; t < taps * axis->places; t++) axis->ends[index[t]]++;
  axis->most = 0;
  for (int64_t i = 0, all = 0; i < axis->size; i++) {
    const int64_t count = axis->ends[i];
    if (count > axis->most) axis->most = count;
    axis->ends[i] = all; /* until the taps are there: where the next one goes */
    all += count;
  }
  for (int64_t t = 0; t < taps * axis->places; t++) {
    const int64_t to = axis->ends[index[t]]++;
    axis->source[to] = t / taps;
    axis->weight[to] = weight[t];
  }
}

/* All axes, in `ends`, `source` and `weight`, behind which there is room for as many taps again. Of upsampling,
 * arguments 3 and what follows are the rest of kw_upsample_axes. */
static void fill_axes(const mapped_op *op, const kw_call *call, mapped_run *run, mapped_axis at, int64_t taps) {
  const kw_tensor_ref *grad = call->args[0].u.tensor, *out = call->outs[0];
  const uint32_t missing = DIMS - op->dims;
  kw_upsample_axis upsampled[DIMS];
  if (!op->place) {
    const kw_upsample_kind kind = op->is_linear ? KW_UPSAMPLE_LINEAR : KW_UPSAMPLE_NEAREST;
    kw_upsample_axes(upsampled, kind, grad, out, call->args + 3);
  }
  for (uint32_t a = 0; a < DIMS; a++) {
    const uint32_t d = out->rank - DIMS + a;
    int64_t *index = at.source + taps, of_each = 1;
    double *weight = at.weight + taps;
    at.places = at.size = 1;
    index[0] = 0;
    weight[0] = 1;
    if (a >= missing) {
      of_each = op->taps;
      at.places = grad->shape[d];
      at.size = out->shape[d];
      run->grad_step[a] = kw_loop_step(grad, d);
      run->out_step[a] = kw_loop_step(out, d);
      fill_taps(op, call, d, &upsampled[a - missing], index, weight);
    }
    invert_taps(&at, of_each, index, weight);
    run->axes[a] = at;
    at.ends += at.size;
    at.source += of_each * at.places;
    at.weight += of_each * at.places;
  }
}

static kw_status run_mapped(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const mapped_op *op = kernel->family;
  const kw_tensor_ref *grad = call->args[0].u.tensor, *out = call->outs[0];
  mapped_run run = {.host = host, .plan = plan, .base = {kw_walk_base(out), kw_walk_base(grad)}};
  int64_t taps = DIMS, sizes = DIMS;
  if (out->numel == 0) return KW_OK;
  for (uint32_t d = out->rank - op->dims; d < out->rank; d++) {
    taps += op->taps * grad->shape[d];
    sizes += out->shape[d];
  }
  void *room;
  const uint64_t bytes = (uint64_t)sizes * sizeof(int64_t) + (uint64_t)(2 * taps) * (sizeof(int64_t) + sizeof(double));
  kw_status status = host->host_alloc(host->ctx, bytes, 64, &room);
  if (status != KW_OK) return status;
  int64_t *ends = room, *source = ends + sizes;
  fill_axes(op, call, &run, (mapped_axis){.ends = ends, .source = source, .weight = (double *)(source + 2 * taps)},
            taps);
  const bool is_few = !op->is_linear && run.axes[0].most * run.axes[1].most * run.axes[2].most <= FEW;
  run.sums = run.plan->port.lane == KW_LANE_F32 ? is_few ? &sums_few_f32 : &sums_f32
             : is_few                           ? &sums_few_f64
                                                : &sums_f64;
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
