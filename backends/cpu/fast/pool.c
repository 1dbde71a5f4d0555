/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools: averages and maxima of windows. A row of results comes from those rows of the input that its windows cross:
 * for an average these are added up, for a maximum the largest of each column is kept, and then come the windows along
 * them. Pools of one dimension are no kernels: they become pools of two.
 */
#include "pool.h"

#include "dims.h"
#include "fast.h"
#include "lanes.h"
#include "loop.h"
#include "walk.h"

#include <string.h>

#define WIDTH 2048      /* the longest row */
#define GRAIN 4096      /* elements: the fewest that a thread is woken for */
#define CROSSED_ROWS 32 /* that are added up whatever the windows' width */
#define LAST (KW_POOLING_DIMS - 1)

/* Operands of the planes. */
enum { OUT, IN, PLACES, OPERANDS };

typedef struct pool_op {
  bool is_maximum, adaptive;
  uint32_t dims;
} pool_op;

typedef struct pool_plan {
  kw_loop planes;
  kw_pooling pooling;                      /* of three dimensions: the first ones may be of size 1 */
  int64_t step[OPERANDS][KW_POOLING_DIMS]; /* bytes, within a plane */
  kw_lane lane;
  kw_port in, out;
  bool is_maximum, counts_padding;
  int64_t divisor; /* in place of the count; 0: none */
  int64_t rows;    /* of a plane of results */
} pool_plan;
_Static_assert(sizeof(pool_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

kw_pooling kw_pool_in_three(const kw_pooling *pooling) {
  const uint32_t missing = KW_POOLING_DIMS - pooling->dims;
  kw_pooling three = {.dims = KW_POOLING_DIMS};
  for (uint32_t d = 0; d < KW_POOLING_DIMS; d++) {
    three.axes[d] =
        d < missing ? (kw_pooling_axis){.size = 1, .windows = 1, .adaptive = true} : pooling->axes[d - missing];
  }
  return three;
}

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

static void plan_operand(pool_plan *plan, uint32_t operand, const kw_tensor_ref *tensor, uint32_t dims) {
  const uint32_t before = tensor->rank - dims;
  const kw_tensor_ref planes = kw_dims_keep(tensor, (1u << before) - 1);
  for (uint32_t d = 0; d < dims; d++) {
    plan->step[operand][KW_POOLING_DIMS - dims + d] = kw_loop_step(tensor, before + d);
  }
  if (operand == OUT) {
    kw_loop_begin(&plan->planes, &planes);
  } else {
    kw_loop_add(&plan->planes, &planes);
  }
}

/* Sums of windows as they are made here stay within what the op table allows where windows are not far higher than
 * they are wide. */
static bool sums_are_near(const kw_pooling *p) {
  int64_t rows = 1, least = INT64_MAX;
  for (uint32_t d = 0; d < KW_POOLING_DIMS; d++) {
    int64_t most = 0;
    for (int64_t j = 0; j < p->axes[d].windows; j++) {
      const int64_t count = kw_pooling_window(&p->axes[d], j).count;
      if (count > most) most = count;
      if (d == LAST && count < least) least = count;
    }
    if (d < LAST) rows *= most;
  }
  return rows <= CROSSED_ROWS || rows <= 2 * least;
}

static kw_status plan_pool(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const pool_op *op = kernel->family;
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const kw_value *lists = &call->args[1];
  pool_plan *plan = out_plan;
  const kw_pooling p = op->adaptive ? kw_pooling_adaptive(in, out, op->dims)
                                    : kw_pooling_sliding(in, out, op->dims, lists, op->is_maximum);
  plan->is_maximum = op->is_maximum;
  plan->pooling = kw_pool_in_three(&p);
  plan->rows = plan->pooling.axes[0].windows * plan->pooling.axes[1].windows;
  plan_operand(plan, OUT, out, op->dims);
  plan_operand(plan, IN, in, op->dims);
  if (op->is_maximum) {
    if (call->outs[1]->dtype != KW_I64) return KW_ERR_NOT_IMPLEMENTED;
    plan_operand(plan, PLACES, call->outs[1], op->dims);
  }
  kw_loop_make(&plan->planes);
  if (op->is_maximum && plan->pooling.axes[0].size * plan->pooling.axes[1].size > INT32_MAX)
    return KW_ERR_NOT_IMPLEMENTED;
  if (!op->is_maximum && !op->adaptive) {
    plan->counts_padding = lists[4].u.b;
    if (lists[5].tag == KW_TAG_INT) plan->divisor = lists[5].u.i;
  }
  const kw_pooling_axis *along = &plan->pooling.axes[LAST];
  if (along->size > WIDTH || along->windows > WIDTH || out->numel == 0) return KW_ERR_NOT_IMPLEMENTED;
  if (!op->is_maximum && !sums_are_near(&plan->pooling)) return KW_ERR_NOT_IMPLEMENTED;
  plan->lane = kw_lane_of(in->dtype);
  return kw_port_open(&plan->in, in->dtype, plan->lane) && kw_port_open(&plan->out, out->dtype, plan->lane)
             ? KW_OK
             : KW_ERR_NOT_IMPLEMENTED;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct pool_run {
  const pool_plan *plan;
  char *base[OPERANDS];
  kw_windows windows; /* along a row */
  int64_t first[WIDTH], count[WIDTH];
  double divisors[WIDTH];
} pool_run;

typedef struct pool_row {
  const pool_run *run;
  char *at[OPERANDS];
  kw_pooling_span spans[LAST];
  _Alignas(64) char lanes[WIDTH * KW_LANE_BYTES];
  _Alignas(64) char sum[WIDTH * KW_LANE_BYTES];  /* or the largest */
  _Alignas(64) char rows[WIDTH * KW_LANE_BYTES]; /* integers as large as lanes: where the largest lie */
  _Alignas(64) char out[WIDTH * KW_LANE_BYTES];
  int64_t places[WIDTH];
} pool_row;

/* Row (a, b) of those that the windows cross, as lanes, and its number in its plane. */
static const void *input_row(pool_row *row, int64_t a, int64_t b, int64_t *out_number) {
  const pool_plan *plan = row->run->plan;
  const kw_pooling_axis *axes = plan->pooling.axes;
  const int64_t i = row->spans[0].first + a * row->spans[0].step, j = row->spans[1].first + b * row->spans[1].step;
  const int64_t *step = plan->step[IN];
  *out_number = i * axes[1].size + j;
  return kw_port_lanes(&plan->in, row->at[IN] + i * step[0] + j * step[1], step[LAST], axes[LAST].size, row->lanes);
}

static void average_row(pool_row *row) {
  const pool_plan *plan = row->run->plan;
  const kw_isa *isa = kw_fast_isa();
  const int64_t width = plan->pooling.axes[LAST].size;
  const void *sum = NULL;
  double factor = 1;
  int64_t number;
  for (int64_t a = 0; a < row->spans[0].count; a++) {
    for (int64_t b = 0; b < row->spans[1].count; b++) {
      const void *lanes = input_row(row, a, b, &number);
      if (!sum && lanes == row->lanes) {
        sum = memcpy(row->sum, lanes, (size_t)(width * kw_lane_size(plan->lane)));
      } else if (!sum) {
        sum = lanes;
      } else {
        isa->pointwise[KW_POINTWISE_ADD][plan->lane](row->sum, (const void *[]){sum, lanes}, width);
        sum = row->sum;
      }
    }
  }
  for (uint32_t d = 0; d < LAST && plan->divisor == 0; d++) {
    factor *= (double)(plan->counts_padding ? row->spans[d].padded : row->spans[d].count);
  }
  isa->pools[plan->lane].average(row->out, sum, &row->run->windows, row->run->divisors, factor,
                                 plan->pooling.axes[LAST].windows);
}

/* First the largest of each column of the rows that windows cross, then of the columns of each window. */
static void maximum_row(pool_row *row) {
  const pool_plan *plan = row->run->plan;
  const kw_pooling_axis *axes = plan->pooling.axes;
  const kw_pool *pool = &kw_fast_isa()->pools[plan->lane];
  const int64_t width = axes[LAST].size;
  const size_t bytes = (size_t)(width * kw_lane_size(plan->lane));
  const void *best = NULL;
  for (int64_t a = 0; a < row->spans[0].count; a++) {
    for (int64_t b = 0; b < row->spans[1].count; b++) {
      int64_t number;
      const void *lanes = input_row(row, a, b, &number);
      if (!best) {
        best = lanes == row->lanes ? memcpy(row->sum, lanes, bytes) : lanes;
        kw_lanes_fill(row->rows, &number, plan->lane == KW_LANE_F64 ? KW_LANE_I64 : KW_LANE_I32, width);
        continue;
      }
      if (best != row->sum) best = memcpy(row->sum, best, bytes);
      pool->higher(row->sum, row->rows, lanes, number, width);
    }
  }
  pool->highest(row->out, row->places, best, row->rows, width, &row->run->windows, axes[LAST].windows);
}

/* The longest run of windows along a row of which each is like the one before. */
static void find_even(kw_windows *windows, int64_t n) {
  for (int64_t begin = 0, end; begin < n; begin = end) {
    const int64_t stride = begin + 1 < n ? windows->first[begin + 1] - windows->first[begin] : 1;
    for (end = begin + 1; end < n && windows->count[end] == windows->count[begin]; end++) {
      if (windows->first[end] - windows->first[end - 1] != stride) break;
    }
    if (end - begin <= windows->even_end - windows->even_begin) continue;
    windows->even_begin = begin;
    windows->even_end = end;
    windows->stride = stride;
  }
}

static void run_rows(void *user, int64_t begin, int64_t end) {
  pool_row row;
  const pool_run *run = row.run = user;
  const pool_plan *plan = run->plan;
  const kw_pooling_axis *axes = plan->pooling.axes;
  for (int64_t i = begin; i < end; i++) {
    const int64_t at[LAST] = {i % plan->rows / axes[1].windows, i % plan->rows % axes[1].windows};
    kw_loop_find(&plan->planes, run->base, i / plan->rows, row.at);
    for (uint32_t d = 0; d < LAST; d++) row.spans[d] = kw_pooling_window(&axes[d], at[d]);
    if (plan->is_maximum) {
      maximum_row(&row);
    } else {
      average_row(&row);
    }
    const int64_t *step = plan->step[OUT];
    kw_port_write(&plan->out, row.at[OUT] + at[0] * step[0] + at[1] * step[1], step[LAST], row.out, axes[LAST].windows);
    if (!plan->is_maximum) continue;
    step = plan->step[PLACES];
    char *to = row.at[PLACES] + at[0] * step[0] + at[1] * step[1];
    for (int64_t j = 0; j < axes[LAST].windows; j++) memcpy(to + j * step[LAST], &row.places[j], sizeof *row.places);
  }
}

static kw_status run_pool(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const pool_plan *plan = the_plan;
  const kw_pooling_axis *along = &plan->pooling.axes[LAST];
  pool_run run;
  run.plan = plan;
  run.base[OUT] = kw_walk_base(call->outs[0]);
  run.base[IN] = kw_walk_base(call->args[0].u.tensor);
  if (plan->is_maximum) run.base[PLACES] = kw_walk_base(call->outs[1]);
  run.windows = (kw_windows){.first = run.first, .count = run.count, .step = along->adaptive ? 1 : along->dilation};
  for (int64_t j = 0; j < along->windows; j++) {
    const kw_pooling_span span = kw_pooling_window(along, j);
    run.first[j] = span.first;
    run.count[j] = span.count;
    run.divisors[j] = (double)(plan->divisor ? plan->divisor : plan->counts_padding ? span.padded : span.count);
  }
  find_even(&run.windows, along->windows);
  return host->parallel_for(host->ctx, plan->planes.numel * plan->rows, 1 + GRAIN / along->size, run_rows, &run);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define POOL(name, ...)                                                                                             \
  {                                                                                                                 \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(pool_plan), .family = &(const pool_op){__VA_ARGS__}, \
    .make_plan = plan_pool, .run = run_pool                                                                         \
  }

static const kw_fast_kernel kernels[] = {
    POOL("avg_pool2d", false, false, 2),
    POOL("avg_pool3d", false, false, 3),
    POOL("_adaptive_avg_pool2d", false, true, 2),
    POOL("_adaptive_avg_pool3d", false, true, 3),
    POOL("max_pool2d_with_indices", true, false, 2),
    POOL("max_pool3d_with_indices", true, false, 3),
    POOL("adaptive_max_pool2d", true, true, 2),
    POOL("adaptive_max_pool3d", true, true, 3),
};

kw_fast_family kw_fast_pools(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
