/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans along a dimension: cumulative sums and products. Line by line where the elements of a line lie side by side, or
 * nothing does; by columns where those of different lines do.
 */
#include "cut.h"
#include "fast.h"
#include "rows.h"

#include "dims.h"
#include "walk.h"

typedef struct scan_plan {
  kw_rows rows; /* operands: the result, argument 0 */
  kw_port in, out;
  const kw_scan *scan;
  bool by_columns;
  kw_cut cut; /* of lines into strips side by side; none is cut itself */
} scan_plan;
_Static_assert(sizeof(scan_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

static kw_status plan_scan(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_scan_fn *fn = kernel->family;
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  scan_plan *plan = out_plan;
  const uint32_t along = in->rank > 0 ? kw_dims_named(&call->args[1], in->rank) : 0;
  const kw_lane lane = kw_lane_of(out->dtype);
  if (out->dtype == KW_BOOL && in->dtype != KW_BOOL) return KW_ERR_NOT_IMPLEMENTED; /* counts what is not 0 */
  if (!kw_port_open(&plan->in, in->dtype, lane) || !kw_port_open(&plan->out, out->dtype, lane)) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  kw_rows_begin(&plan->rows, out, ((1u << in->rank) - 1) & ~along);
  kw_rows_add(&plan->rows, in);
  kw_rows_make(&plan->rows);
  const kw_loop *outer = &plan->rows.outer, *inner = &plan->rows.inner;
  if (outer->numel == 0 || inner->numel == 0) return KW_ERR_NOT_IMPLEMENTED;
  plan->scan = &kw_fast_isa()->scans[*fn][lane];
  plan->by_columns = outer->step[1][outer->rank - 1] == plan->in.size && inner->step[1][0] != plan->in.size;
  kw_cut_make(&plan->cut, outer->numel, plan->by_columns ? outer->shape[outer->rank - 1] : 1, 1);
  return KW_OK;
}

typedef struct scan_run {
  const scan_plan *plan;
  char *base[2];
} scan_run;

typedef struct scan_room {
  _Alignas(64) char state[2 * KW_CUT_COLUMNS * KW_LANE_BYTES];
  _Alignas(64) char in[KW_LANE_BLOCK * KW_LANE_BYTES];
  _Alignas(64) char out[KW_LANE_BLOCK * KW_LANE_BYTES];
} scan_room;

/* n lanes through `scan`, from and to elements that lie `step` bytes apart. */
static void scan_lanes(const scan_plan *plan, scan_room *room, bool across, char *const *at, const int64_t *step,
                       int64_t n) {
  const void *in = kw_port_lanes(&plan->in, at[1], step[1], n, room->in);
  const bool stays = kw_port_is_lanes(&plan->out, step[0]);
  void *out = stays ? (void *)at[0] : room->out;
  if (across) {
    plan->scan->across(out, room->state, in, n);
  } else {
    plan->scan->along(out, room->state, in, n);
  }
  if (!stays) kw_port_write(&plan->out, at[0], step[0], out, n);
}

static void scan_line(const scan_plan *plan, scan_room *room, char *const *first) {
  const kw_loop *inner = &plan->rows.inner;
  const int64_t step[2] = {inner->step[0][0], inner->step[1][0]};
  plan->scan->start(room->state, 1);
  for (int64_t i = 0; i < inner->numel; i += KW_LANE_BLOCK) {
    char *at[2] = {first[0] + i * step[0], first[1] + i * step[1]};
    scan_lanes(plan, room, false, at, step, kw_block_at(i, inner->numel));
  }
}

/* `width` lines side by side. */
static void scan_strip(const scan_plan *plan, scan_room *room, char *const *first, int64_t width) {
  const kw_loop *inner = &plan->rows.inner, *outer = &plan->rows.outer;
  const int64_t step[2] = {outer->step[0][outer->rank - 1], outer->step[1][outer->rank - 1]};
  plan->scan->start(room->state, width);
  for (int64_t i = 0; i < inner->numel; i++) {
    char *at[2] = {first[0] + i * inner->step[0][0], first[1] + i * inner->step[1][0]};
    scan_lanes(plan, room, true, at, step, width);
  }
}

static void run_tasks(void *user, int64_t begin, int64_t end) {
  const scan_run *run = user;
  const scan_plan *plan = run->plan;
  scan_room room;
  for (int64_t i = begin; i < end; i++) {
    const kw_cut_task task = kw_cut_task_of(&plan->cut, i);
    char *at[2];
    kw_loop_find(&plan->rows.outer, run->base, task.result, at);
    if (plan->by_columns) {
      scan_strip(plan, &room, at, task.width);
    } else {
      scan_line(plan, &room, at);
    }
  }
}

static kw_status run_scan(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const scan_plan *plan = the_plan;
  scan_run run = {plan, {kw_walk_base(call->outs[0]), kw_walk_base(call->args[0].u.tensor)}};
  const int64_t per_task = plan->rows.outer.numel * plan->rows.inner.numel / plan->cut.tasks;
  return host->parallel_for(host->ctx, plan->cut.tasks, 1 + KW_CUT_GRAIN / (per_task + 1), run_tasks, &run);
}

#define SCAN(name, fn)                                                                                                 \
  {                                                                                                                    \
    .op = name, .dtypes = KW_DTYPES_REAL, .plan_size = sizeof(scan_plan), .family = &(const kw_scan_fn){KW_SCAN_##fn}, \
    .make_plan = plan_scan, .run = run_scan                                                                            \
  }

static const kw_fast_kernel kernels[] = {SCAN("cumsum", SUM), SCAN("cumprod", PRODUCT)};

kw_fast_family kw_fast_scans(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
