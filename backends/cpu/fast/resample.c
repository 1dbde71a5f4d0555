/* SPDX-License-Identifier: Apache-2.0
 *
 * Upsampling by weights: a row of the result is first made of rows of the input, as wide as those, and then widened.
 */
#include "fast.h"

#include "cubic.h"
#include "loop.h"
#include "resample.h"
#include "walk.h"

#include <math.h>

#define GRAIN 16384 /* elements of the result: the fewest that a thread is woken for */
#define DIMS 3
#define TAPS 4 /* that the kinds have along a dimension, at most */

typedef struct resample_op {
  kw_upsample_kind kind;
  int64_t taps;
} resample_op;

static const resample_op linear = {KW_UPSAMPLE_LINEAR, 2}, cubic = {KW_UPSAMPLE_CUBIC, 4};

static kw_status plan_resample(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  kw_port *port = plan;
  (void)kernel;
  if (self->dtype != out->dtype || !kw_port_open(port, out->dtype, kw_lane_of(out->dtype))) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  return KW_OK;
}

/* ---- Weights along one dimension ----------------------------------------------------------------------------------
 */

/* For each place of the result `taps` elements, and how much of each. */
typedef struct weights {
  int64_t taps;
  int64_t *index;
  double *weight;
  void *lanes; /* the weights once more, of the last dimension alone */
} weights;

/* From a place's coordinate to the next. */
static double step_of(const kw_upsample_axis *a) {
  if (a->align_corners) return a->out > 1 ? (double)(a->in - 1) / (double)(a->out - 1) : 0;
  return a->scale > 0 ? 1 / a->scale : (double)a->in / (double)a->out;
}

/* As the reference's upsample_coordinate. */
static double coordinate_of(const kw_upsample_axis *a, double step, int64_t i) {
  if (a->align_corners) return (double)i * step;
  const double coordinate = ((double)i + 0.5) * step - 0.5;
  return a->kind == KW_UPSAMPLE_LINEAR && coordinate < 0 ? 0 : coordinate;
}

void kw_resample_weigh(const kw_upsample_axis *axis, int64_t taps, int64_t *index, double *weight) {
  const double step = step_of(axis);
  for (int64_t i = 0; i < axis->out; i++) {
    const double coordinate = coordinate_of(axis, step, i), whole = floor(coordinate), part = coordinate - whole;
    const double before = taps == TAPS ? 1 : 0; /* elements of the cubic kind that lie before */
    for (int64_t k = 0; k < taps; k++) {
      const double at = whole - before + (double)k, limit = (double)(axis->in - 1);
      index[i * taps + k] = (int64_t)(at < 0 ? 0 : at > limit ? limit : at);
      weight[i * taps + k] = taps == TAPS ? kw_cubic_weight(part + before - (double)k) : k == 0 ? 1 - part : part;
    }
  }
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------
 */

typedef struct resample_run {
  const kw_host_api *host;
  const kw_port *port;
  const kw_tensor_ref *in, *out;
  uint32_t dims; /* that are resampled */
  weights along[DIMS];
  atomic_int status; /* what the threads met with */
} resample_run;

/* Of a thread: a row of the input as lanes, the weighted sum of some, and a row of the result. */
typedef struct row_room {
  void *line, *sum, *row;
} row_room;

#define ROWS(name, T)                                                                                      \
  static void add_##name(void *sum, const void *line, double weight, int64_t n, bool first) {              \
    T *to = sum;                                                                                           \
    const T *x = line, by = (T)weight;                                                                     \
    for (int64_t i = 0; i < n; i++) to[i] = (first ? 0 : to[i]) + by * x[i];                               \
  }                                                                                                        \
  static void fill_##name(const weights *w, int64_t n) {                                                   \
    T *to = w->lanes;                                                                                      \
    for (int64_t i = 0; i < n * w->taps; i++) to[i] = (T)w->weight[i];                                     \
  }                                                                                                        \
  static inline void widen_taps_##name(T *to, const T *x, const int64_t *index, const T *by, int64_t taps, \
                                       int64_t n) {                                                        \
    for (int64_t i = 0; i < n; i++, index += taps, by += taps) {                                           \
      T all = 0;                                                                                           \
      for (int64_t k = 0; k < taps; k++) all += by[k] * x[index[k]];                                       \
      to[i] = all;                                                                                         \
    }                                                                                                      \
  }                                                                                                        \
  static void widen_##name(void *row, const void *sum, const weights *w, int64_t n) {                      \
    if (w->taps == 2) {                                                                                    \
      widen_taps_##name(row, sum, w->index, w->lanes, 2, n);                                               \
    } else {                                                                                               \
      widen_taps_##name(row, sum, w->index, w->lanes, TAPS, n);                                            \
    }                                                                                                      \
  }
ROWS(f32, float)
ROWS(f64, double)

/* The weighted sum of the rows of the input that row `at` of the result is made of; `from` is their plane. */
static void sum_rows(const resample_run *run, const row_room *room, const char *from, const int64_t *at) {
  const uint32_t outer = run->dims - 1, last = run->in->rank - 1u;
  const int64_t width = run->in->shape[last], step = kw_loop_step(run->in, last);
  int64_t count = 1;
  for (uint32_t d = 0; d < outer; d++) count *= run->along[d].taps;
  for (int64_t n = 0; n < count; n++) {
    const char *row = from;
    double weight = 1;
    int64_t rest = n;
    for (uint32_t d = outer; d-- > 0; rest /= run->along[d].taps) {
      const weights *w = &run->along[d];
      const int64_t tap = at[d] * w->taps + rest % w->taps;
      row += w->index[tap] * kw_loop_step(run->in, 2 + d);
      weight *= w->weight[tap];
    }
    const void *line = kw_port_lanes(run->port, row, step, width, room->line);
    (run->port->lane == KW_LANE_F32 ? add_f32 : add_f64)(room->sum, line, weight, width, n == 0);
  }
}

static void make_row(const resample_run *run, const row_room *room, int64_t number) {
  const kw_tensor_ref *out = run->out;
  const uint32_t last = out->rank - 1u;
  char *to = kw_walk_base(out);
  const char *from = kw_walk_base(run->in);
  int64_t at[KW_MAX_RANK], rest = number;
  for (uint32_t d = last; d-- > 0; rest /= out->shape[d]) {
    at[d] = rest % out->shape[d];
    to += at[d] * kw_loop_step(out, d);
    if (d < 2) from += at[d] * kw_loop_step(run->in, d);
  }
  sum_rows(run, room, from, at + 2);
  const int64_t width = out->shape[last], step = kw_loop_step(out, last);
  void *row = kw_port_is_lanes(run->port, step) ? to : room->row;
  (run->port->lane == KW_LANE_F32 ? widen_f32 : widen_f64)(row, room->sum, &run->along[run->dims - 1], width);
  if (row != to) kw_port_write(run->port, to, step, row, width);
}

static void run_rows(void *user, int64_t begin, int64_t end) {
  resample_run *run = user;
  const int64_t wide = run->out->shape[run->out->rank - 1], narrow = run->in->shape[run->in->rank - 1];
  const uint64_t lane = (uint64_t)kw_lane_size(run->port->lane);
  char *lanes = kw_fast_room(run->host, (uint64_t)(2 * narrow + wide) * lane, &run->status);
  if (!lanes) return;
  const row_room room = {lanes, lanes + narrow * (int64_t)lane, lanes + 2 * narrow * (int64_t)lane};
  for (int64_t r = begin; r < end; r++) make_row(run, &room, r);
  run->host->host_free(run->host->ctx, lanes);
}

static kw_status run_resample(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const resample_op *op = kernel->family;
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  resample_run run = {.host = host, .port = plan, .in = self, .out = out, .dims = out->rank - 2u};
  kw_upsample_axis axes[KW_MAX_RANK];
  const int64_t width = out->shape[out->rank - 1], lane = kw_lane_size(run.port->lane);
  int64_t places = 0;
  if (out->numel == 0) return KW_OK;
  kw_upsample_axes(axes, op->kind, out, self, call->args + 2);
  for (uint32_t d = 0; d < run.dims; d++) places += axes[d].out * op->taps;
  void *memory;
  const uint64_t bytes = (uint64_t)places * (sizeof(int64_t) + sizeof(double)) + (uint64_t)(width * op->taps * lane);
  kw_status status = host->host_alloc(host->ctx, bytes, KW_LANE_BYTES, &memory);
  if (status != KW_OK) return status;
  int64_t *index = memory;
  double *weight = (double *)memory + places;
  for (uint32_t d = 0; d < run.dims; d++) {
    run.along[d] = (weights){op->taps, index, weight, NULL};
    kw_resample_weigh(&axes[d], op->taps, index, weight);
    index += axes[d].out * op->taps;
    weight += axes[d].out * op->taps;
  }
  run.along[run.dims - 1].lanes = weight;
  (run.port->lane == KW_LANE_F32 ? fill_f32 : fill_f64)(&run.along[run.dims - 1], width);
  status = host->parallel_for(host->ctx, out->numel / width, 1 + GRAIN / width, run_rows, &run);
  host->host_free(host->ctx, memory);
  return status == KW_OK ? atomic_load(&run.status) : status;
}

#define KERNEL(name, which)                                                                  \
  {                                                                                          \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(kw_port), .family = &(which), \
    .make_plan = plan_resample, .run = run_resample                                          \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("upsample_linear1d", linear),
    KERNEL("upsample_bilinear2d", linear),
    KERNEL("upsample_trilinear3d", linear),
    KERNEL("upsample_bicubic2d", cubic),
};

kw_fast_family kw_fast_resample(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
