/* SPDX-License-Identifier: Apache-2.0
 *
 * Rotary positions: pairs of elements of a row are turned by angles whose cosines and sines are a row of tables, chosen
 * by a position or by the place of the row.
 */
#include "fast.h"

#include "dims.h"
#include "index.h"
#include "loop.h"
#include "number.h"
#include "strided.h"
#include "walk.h"

#define GRAIN 16384 /* elements: the fewest that a thread is woken for */

typedef struct rope_plan {
  kw_loop rows; /* operands: the result, argument 0; then the cosines' row and the sines', or the position */
  kw_port port, tables[2];
  int64_t pairs, tail;                      /* pairs of a row, and elements behind them that are not turned */
  int64_t out_step, in_step, table_step[2]; /* from a pair to the next, bytes */
  int64_t out_second, in_second;            /* from a pair's first element to its second one */
  int64_t out_tail, in_tail;                /* where the tail begins, and */
  int64_t out_element, in_element;          /* from one of its elements to the next */
  int64_t places, place_step[2];            /* rows of the tables, and from one to the next; with positions */
  bool given, positions_are_i64;
} rope_plan;
_Static_assert(sizeof(rope_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* Row number i of a table belongs to the rows at place i of the dimension before the last. */
static kw_tensor_ref table_rows(const kw_tensor_ref *table, int64_t rows) {
  kw_tensor_ref view = *table;
  view.rank = 1;
  view.shape[0] = view.numel = rows;
  return view;
}

static kw_status plan_rope(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  const uint32_t last = self->rank - 1u, outer = (1u << last) - 1;
  rope_plan *plan = out_plan;
  (void)kernel;
  plan->given = call->args[3].tag == KW_TAG_TENSOR;
  if (self->dtype != out->dtype || (plan->given && !kw_index_is_index(call, 3))) return KW_ERR_NOT_IMPLEMENTED;
  const kw_lane lane = kw_lane_of(out->dtype);
  if (!kw_port_open(&plan->port, out->dtype, lane)) return KW_ERR_NOT_IMPLEMENTED;

  const kw_tensor_ref out_rows = kw_dims_keep(out, outer), in_rows = kw_dims_keep(self, outer);
  kw_loop_begin(&plan->rows, &out_rows);
  kw_loop_add(&plan->rows, &in_rows);
  if (plan->given) kw_loop_add(&plan->rows, call->args[3].u.tensor);
  for (uint32_t t = 0; t < 2; t++) {
    const kw_tensor_ref *table = call->args[1 + t].u.tensor;
    const int64_t size = (int64_t)kw_number_size(table->dtype);
    if (!kw_port_open(&plan->tables[t], table->dtype, lane)) return KW_ERR_NOT_IMPLEMENTED;
    plan->place_step[t] = table->strides[0] * size;
    plan->table_step[t] = table->strides[1] * size;
    plan->places = table->shape[0];
    plan->pairs = table->shape[1];
    if (plan->given) continue;
    const kw_tensor_ref rows = table_rows(table, self->shape[last - 1]);
    kw_loop_add(&plan->rows, &rows);
  }
  kw_loop_make(&plan->rows);
  plan->positions_are_i64 = plan->given && call->args[3].u.tensor->dtype == KW_I64;

  const bool interleaved = call->args[4].u.b;
  plan->out_element = out->strides[last] * plan->port.size;
  plan->in_element = self->strides[last] * plan->port.size;
  plan->out_step = plan->out_element * (interleaved ? 2 : 1);
  plan->in_step = plan->in_element * (interleaved ? 2 : 1);
  plan->out_second = plan->out_element * (interleaved ? 1 : plan->pairs);
  plan->in_second = plan->in_element * (interleaved ? 1 : plan->pairs);
  plan->out_tail = plan->out_element * 2 * plan->pairs;
  plan->in_tail = plan->in_element * 2 * plan->pairs;
  plan->tail = self->shape[last] - 2 * plan->pairs;
  return KW_OK;
}

typedef struct rope_run {
  const rope_plan *plan;
  const kw_call *call;
  char *base[KW_LOOP_OPERANDS];
  const char *tables[2];
} rope_run;

/* Lanes of a thread: the operands that do not lie as lanes, and the results. */
typedef struct rope_lanes {
  const rope_run *run;
  _Alignas(64) char in[4][KW_LANE_BLOCK * KW_LANE_BYTES];
  _Alignas(64) char out[KW_LANE_BLOCK * KW_LANE_BYTES];
} rope_lanes;

static void turn_row(rope_lanes *lanes, char *out, const char *in, const char *const *tables) {
  const rope_plan *plan = lanes->run->plan;
  const kw_isa *isa = kw_fast_isa();
  for (int64_t p = 0; p < plan->pairs; p += KW_LANE_BLOCK) {
    const int64_t n = kw_block_at(p, plan->pairs);
    const char *first = in + p * plan->in_step;
    char *to = out + p * plan->out_step;
    const void *operands[4] = {
        kw_port_lanes(&plan->port, first, plan->in_step, n, lanes->in[0]),
        kw_port_lanes(&plan->port, first + plan->in_second, plan->in_step, n, lanes->in[1]),
    };
    for (uint32_t t = 0; t < 2; t++) {
      const int64_t step = plan->table_step[t];
      operands[2 + t] = kw_port_lanes(&plan->tables[t], tables[t] + p * step, step, n, lanes->in[2 + t]);
    }
    isa->pointwise[KW_POINTWISE_TURN_FIRST][plan->port.lane](lanes->out, operands, n);
    kw_port_write(&plan->port, to, plan->out_step, lanes->out, n);
    isa->pointwise[KW_POINTWISE_TURN_SECOND][plan->port.lane](lanes->out, operands, n);
    kw_port_write(&plan->port, to + plan->out_second, plan->out_step, lanes->out, n);
  }
  isa->move[kw_strided_size(plan->port.dtype)](out + plan->out_tail, plan->out_element, in + plan->in_tail,
                                               plan->in_element, plan->tail);
}

static void turn_rows(void *context, char *const *at, const int64_t *step, int64_t n) {
  rope_lanes *lanes = context;
  const rope_run *run = lanes->run;
  const rope_plan *plan = run->plan;
  for (int64_t i = 0; i < n; i++) {
    const char *behind = at[2] + i * step[2], *tables[2] = {behind, NULL};
    if (!plan->given) {
      tables[1] = at[3] + i * step[3];
    } else {
      const int64_t place =
          plan->positions_are_i64 ? *(const int64_t *)(const void *)behind : *(const int32_t *)(const void *)behind;
      if (place < 0 || place >= plan->places) {
        kw_selection_blame(run->call, 3);
        continue;
      }
      for (uint32_t t = 0; t < 2; t++) tables[t] = run->tables[t] + place * plan->place_step[t];
    }
    turn_row(lanes, at[0] + i * step[0], at[1] + i * step[1], tables);
  }
}

static void run_piece(void *user, int64_t begin, int64_t end) {
  rope_lanes lanes;
  const rope_run *run = lanes.run = user;
  kw_loop_run(&run->plan->rows, run->base, begin, end, turn_rows, &lanes);
}

static kw_status run_rope(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const rope_plan *plan = the_plan;
  rope_run run = {.plan = plan, .call = call};
  for (uint32_t t = 0; t < 2; t++) run.tables[t] = kw_walk_base(call->args[1 + t].u.tensor);
  run.base[0] = kw_walk_base(call->outs[0]);
  run.base[1] = kw_walk_base(call->args[0].u.tensor);
  run.base[2] = plan->given ? kw_walk_base(call->args[3].u.tensor) : kw_walk_base(call->args[1].u.tensor);
  run.base[3] = kw_walk_base(call->args[2].u.tensor);
  return host->parallel_for(host->ctx, plan->rows.numel, 1 + GRAIN / (2 * plan->pairs + plan->tail + 1), run_piece,
                            &run);
}

static const kw_fast_kernel kernels[] = {
    {.op = "keyway::rope",
     .dtypes = KW_DTYPES_FLOAT,
     .flags = KW_KERNEL_DATA_ERRORS,
     .plan_size = sizeof(rope_plan),
     .make_plan = plan_rope,
     .run = run_rope},
};

kw_fast_family kw_fast_rope(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
