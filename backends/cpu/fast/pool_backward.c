/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of pools, plane by plane: the windows along each axis are settled once for a call, and a plane lies in
 * lanes while they pass over it.
 */
#include "fast.h"

#include "index.h"
#include "loop.h"
#include "number.h"
#include "pool.h"
#include "selection.h"
#include "strided.h"
#include "walk.h"

#include <string.h>

#define GRAIN 16384 /* elements of what is pooled: the fewest that a thread is woken for */
#define DIMS KW_POOLING_DIMS

typedef struct pool_op {
  bool is_maximum;
  uint32_t dims;
  bool adaptive;
  uint32_t indices; /* of maxima: which argument they are */
} pool_op;

/* Operands of `planes`: the result, argument 0, and the indices if there are any. */
typedef struct pool_plan {
  kw_loop planes;
  kw_port in, out;
} pool_plan;

/* The indices of maxima; NULL: there are none. */
static const kw_tensor_ref *indices_of(const pool_op *op, const kw_call *call) {
  return op->is_maximum ? call->args[op->indices].u.tensor : NULL;
}

static void add_planes(pool_plan *plan, uint32_t dims, const kw_tensor_ref *tensor, bool is_first) {
  const kw_pooling p = {.dims = dims};
  const kw_tensor_ref planes = kw_pooling_planes(&p, tensor);
  if (is_first) {
    kw_loop_begin(&plan->planes, &planes);
  } else {
    kw_loop_add(&plan->planes, &planes);
  }
}

static kw_status plan_pool(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const pool_op *op = kernel->family;
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0], *indices = indices_of(op, call);
  pool_plan *plan = out_plan;
  const kw_lane lane = kw_lane_of(in->dtype);
  if (in->dtype != out->dtype || (indices && indices->dtype != KW_I64)) return KW_ERR_NOT_IMPLEMENTED;
  if (!kw_port_open(&plan->in, in->dtype, lane) || !kw_port_open(&plan->out, out->dtype, lane)) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  add_planes(plan, op->dims, out, true);
  add_planes(plan, op->dims, in, false);
  if (indices) add_planes(plan, op->dims, indices, false);
  kw_loop_make(&plan->planes);
  return KW_OK;
}

/* ---- A call --------------------------------------------------------------------------------------------------------
 */

/* A tensor's plane; dimensions that are missing are leading ones of size 1. Steps are bytes. */
typedef struct plane {
  int64_t size[DIMS], step[DIMS], numel;
  bool is_lanes; /* lies as lanes do */
} plane;

typedef struct pool_run {
  const pool_op *op;
  const pool_plan *plan;
  const kw_host_api *host;
  const kw_call *call;
  plane in, out, indices;
  const kw_pooling_span *spans[DIMS]; /* of each window along an axis */
  int64_t windows[DIMS], size[DIMS];  /* of what is pooled */
  bool counts_padding;                /* averages: see average_rule in reference/pooling.inc */
  int64_t divisor;
  char *base[KW_LOOP_OPERANDS];
  atomic_int status; /* what the threads met with */
} pool_run;

/* Of a thread: a plane of each side as lanes, and sums that are wider than they, or indices. */
typedef struct pool_room {
  pool_run *run;
  char *in, *out, *more;
} pool_room;

static plane plane_of(const kw_tensor_ref *tensor, uint32_t dims, bool is_native) {
  plane p = {.size = {1, 1, 1}, .numel = 1, .is_lanes = is_native};
  int64_t dense = 1;
  for (uint32_t d = dims; d-- > 0;) {
    const uint32_t from = tensor->rank - dims + d, to = DIMS - dims + d;
    p.size[to] = tensor->shape[from];
    p.step[to] = kw_loop_step(tensor, from);
    p.is_lanes = p.is_lanes && (p.size[to] == 1 || tensor->strides[from] == dense);
    dense *= p.size[to];
  }
  p.numel = dense;
  return p;
}

static char *row_of(const plane *p, char *base, int64_t row) {
  return base + row / p->size[1] * p->step[0] + row % p->size[1] * p->step[1];
}

static int64_t rows_of(const plane *p) {
  return p->size[0] * p->size[1];
}

/* The plane at `base` as lanes: there, or in `buffer`. */
static const void *read_plane(const plane *p, const kw_port *port, char *base, char *buffer) {
  if (p->is_lanes) return base;
  const int64_t width = p->size[2] * kw_lane_size(port->lane);
  for (int64_t r = 0; r < rows_of(p); r++) {
    kw_port_read(port, buffer + r * width, row_of(p, base, r), p->step[2], p->size[2]);
  }
  return buffer;
}

static void write_plane(const plane *p, const kw_port *port, char *base, const char *lanes) {
  const int64_t width = p->size[2] * kw_lane_size(port->lane);
  if (lanes == base) return;
  for (int64_t r = 0; r < rows_of(p); r++) {
    kw_port_write(port, row_of(p, base, r), p->step[2], lanes + r * width, p->size[2]);
  }
}

/* ---- Planes --------------------------------------------------------------------------------------------------------
 */

/* For every window of a plane, in row-major order: its spans z, y, x and its number w. */
#define EACH_WINDOW(run, w)                            \
  int64_t w = 0;                                       \
  for (int64_t wz = 0; wz < (run)->windows[0]; wz++)   \
    for (int64_t wy = 0; wy < (run)->windows[1]; wy++) \
      for (int64_t wx = 0; wx < (run)->windows[2]; wx++, w++)
#define SPANS(run) const kw_pooling_span z = (run)->spans[0][wz], y = (run)->spans[1][wy], x = (run)->spans[2][wx]
/* For every row of a window, from its first element on: where it begins in the plane. */
#define EACH_ROW(run, begin)                     \
  for (int64_t i = 0; i < z.count; i++)          \
    for (int64_t j = 0, begin; j < y.count; j++) \
      if (begin = row_begin((run)->size, z, y, x, i, j), true)

static inline int64_t row_begin(const int64_t *size, kw_pooling_span z, kw_pooling_span y, kw_pooling_span x, int64_t i,
                                int64_t j) {
  return ((z.first + i * z.step) * size[1] + y.first + j * y.step) * size[2] + x.first;
}

static int64_t divisor_of(const pool_run *run, kw_pooling_span z, kw_pooling_span y, kw_pooling_span x) {
  if (run->divisor != 0) return run->divisor;
  return run->counts_padding ? z.padded * y.padded * x.padded : z.count * y.count * x.count;
}

/* Sums are as wide as the reference's bound wants them for windows of any size. */
#define GRADIENTS(name, T, wide)                                                                           \
  static void spread_##name(const pool_run *run, const void *in, void *out, void *room, int64_t n) {       \
    wide *sums = room;                                                                                     \
    memset(sums, 0, (size_t)n * sizeof *sums);                                                             \
    EACH_WINDOW(run, w) {                                                                                  \
      SPANS(run);                                                                                          \
      const wide share = ((const T *)in)[w] / (wide)divisor_of(run, z, y, x);                              \
      EACH_ROW(run, begin) {                                                                               \
        for (int64_t k = 0; k < x.count; k++) sums[begin + k] += share;                                    \
      }                                                                                                    \
    }                                                                                                      \
    for (int64_t i = 0; i < n; i++) ((T *)out)[i] = (T)sums[i];                                            \
  }                                                                                                        \
  /* Each gradient to where its maximum was. False where an index points elsewhere. */                     \
  static bool send_##name(const void *in, const int64_t *indices, void *out, int64_t windows, int64_t n) { \
    bool all = true;                                                                                       \
    memset(out, 0, (size_t)n * sizeof(T));                                                                 \
    for (int64_t w = 0; w < windows; w++) {                                                                \
      const int64_t index = indices[w];                                                                    \
      if (index < 0 || index >= n) {                                                                       \
        all = false;                                                                                       \
      } else {                                                                                             \
        ((T *)out)[index] += ((const T *)in)[w];                                                           \
      }                                                                                                    \
    }                                                                                                      \
    return all;                                                                                            \
  }
GRADIENTS(f32, float, double)
GRADIENTS(f64, double, long double)

/* The indices of a plane as they lie, or moved to `buffer`. */
static const int64_t *read_indices(const plane *p, char *base, char *buffer) {
  const kw_move_fn move = kw_fast_isa()->move[kw_strided_size(KW_I64)];
  const int64_t width = p->size[2] * (int64_t)sizeof(int64_t);
  if (p->is_lanes) return (const int64_t *)(const void *)base;
  for (int64_t r = 0; r < rows_of(p); r++) {
    move(buffer + r * width, sizeof(int64_t), row_of(p, base, r), p->step[2], p->size[2]);
  }
  return (const int64_t *)(const void *)buffer;
}

/* Bases are those of the planes. */
static void pool_plane(const pool_room *room, char *out_base, char *in_base, char *index_base) {
  const pool_run *run = room->run;
  const pool_plan *plan = run->plan;
  const bool is_f32 = plan->in.lane == KW_LANE_F32;
  const void *in = read_plane(&run->in, &plan->in, in_base, room->in);
  char *out = run->out.is_lanes ? out_base : room->out;
  if (run->op->is_maximum) {
    const int64_t *indices = read_indices(&run->indices, index_base, room->more);
    const bool all = (is_f32 ? send_f32 : send_f64)(in, indices, out, run->in.numel, run->out.numel);
    if (!all) kw_selection_blame(run->call, run->op->indices);
  } else {
    (is_f32 ? spread_f32 : spread_f64)(run, in, out, room->more, run->out.numel);
  }
  write_plane(&run->out, &plan->out, out_base, out);
}

static void pool_planes(void *context, char *const *at, const int64_t *step, int64_t n) {
  const pool_room *room = context;
  const bool has_indices = room->run->plan->planes.operands > 2;
  for (int64_t i = 0; i < n; i++) {
    pool_plane(room, at[0] + i * step[0], at[1] + i * step[1], has_indices ? at[2] + i * step[2] : NULL);
  }
}

static void run_piece(void *user, int64_t begin, int64_t end) {
  pool_run *run = user;
  const int64_t lane = kw_lane_size(run->plan->in.lane), in = run->in.numel * lane, out = run->out.numel * lane;
  const int64_t sums = run->op->is_maximum ? 0 : run->out.numel * (int64_t)sizeof(long double);
  const int64_t more = sums + run->indices.numel * (int64_t)sizeof(int64_t);
  char *at = kw_fast_room(run->host, (uint64_t)(in + out + more), &run->status);
  if (!at) return;
  const pool_room room = {run, at + more, at + more + in, at};
  kw_loop_run(&run->plan->planes, run->base, begin, end, pool_planes, (void *)(uintptr_t)&room);
  run->host->host_free(run->host->ctx, at);
}

/* ---- Ops -----------------------------------------------------------------------------------------------------------
 */

/* Of averages: kernel_size, stride and padding are argument 2 and what follows, and behind them the rule. */
static kw_pooling windows_of(pool_run *run) {
  const kw_tensor_ref *out = run->call->outs[0], *grad = run->call->args[0].u.tensor;
  const kw_value *lists = &run->call->args[2];
  if (run->op->adaptive) return kw_pooling_adaptive(out, grad, run->op->dims);
  run->counts_padding = lists[4].u.b;
  if (lists[5].tag == KW_TAG_INT) run->divisor = lists[5].u.i;
  return kw_pooling_sliding(out, grad, run->op->dims, lists, false);
}

/* The spans of all windows along each axis, in `spans`, which has room for them. */
static void settle_windows(pool_run *run, kw_pooling_span *spans, const kw_pooling *p) {
  const kw_pooling three = kw_pool_in_three(p);
  for (uint32_t d = 0; d < DIMS; d++) {
    const kw_pooling_axis *axis = &three.axes[d];
    run->size[d] = axis->size;
    run->windows[d] = axis->windows;
    run->spans[d] = spans;
    for (int64_t w = 0; w < axis->windows; w++) *spans++ = kw_pooling_window(axis, w);
  }
}

static kw_status run_pool(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const pool_op *op = kernel->family;
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0], *indices = indices_of(op, call);
  pool_run run = {.op = op, .plan = plan, .host = host, .call = call};
  run.in = plane_of(in, op->dims, run.plan->in.is_native);
  run.out = plane_of(out, op->dims, run.plan->out.is_native);
  if (indices) run.indices = plane_of(indices, op->dims, true);
  run.base[0] = kw_walk_base(out);
  run.base[1] = kw_walk_base(in);
  if (indices) run.base[2] = kw_walk_base(indices);
  if (out->numel == 0) return KW_OK;

  void *spans = NULL;
  kw_status status = KW_OK;
  if (!op->is_maximum) {
    const kw_pooling p = windows_of(&run);
    int64_t windows = DIMS;
    for (uint32_t d = 0; d < p.dims; d++) windows += p.axes[d].windows;
    status = host->host_alloc(host->ctx, (uint64_t)windows * sizeof(kw_pooling_span), 64, &spans);
    if (status != KW_OK) return status;
    settle_windows(&run, spans, &p);
  }
  status = host->parallel_for(host->ctx, run.plan->planes.numel, 1 + GRAIN / run.out.numel, run_piece, &run);
  if (spans) host->host_free(host->ctx, spans);
  return status == KW_OK ? atomic_load(&run.status) : status;
}

#define KERNEL(name, also, ...)                                                           \
  {                                                                                       \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .flags = also, .plan_size = sizeof(pool_plan), \
    .family = &(const pool_op){__VA_ARGS__}, .make_plan = plan_pool, .run = run_pool      \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("max_pool2d_with_indices_backward", KW_KERNEL_DATA_ERRORS, true, 2, false, 7),
    KERNEL("max_pool3d_with_indices_backward", KW_KERNEL_DATA_ERRORS, true, 3, false, 7),
    KERNEL("adaptive_max_pool2d_backward", KW_KERNEL_DATA_ERRORS, true, 2, true, 2),
    KERNEL("adaptive_max_pool3d_backward", KW_KERNEL_DATA_ERRORS, true, 3, true, 2),
    KERNEL("avg_pool2d_backward", 0, false, 2, false, 0),
    KERNEL("avg_pool3d_backward", 0, false, 3, false, 0),
    KERNEL("_adaptive_avg_pool2d_backward", 0, false, 2, true, 0),
    KERNEL("_adaptive_avg_pool3d_backward", 0, false, 3, true, 0),
};

kw_fast_family kw_fast_pool_backwards(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
