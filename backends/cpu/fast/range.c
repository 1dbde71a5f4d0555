/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges: start, start + step, start + 2 step, ...
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "operand.h"
#include "walk.h"

#define GRAIN 16384 /* elements: the fewest that a thread is woken for */

/* The plan is the result's port. */
static kw_status plan_range(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const kw_tensor_ref *out = call->outs[0];
  (void)kernel;
  if (out->rank != 1 || out->dtype == KW_BOOL) return KW_ERR_NOT_IMPLEMENTED;
  return kw_port_open_out(plan, out->dtype, kw_lane_of(out->dtype)) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

typedef struct range_run {
  const kw_port *out;
  char *to;
  int64_t to_step;
  double first, step; /* of floating point */
  int64_t whole_first, whole_step;
} range_run;

/* lanes[i] is element begin + i. Indices of 32 bits are made floating point by vectors of every instruction set. */
#define FLOAT_LANES(name, T)                                                                      \
  static void name(T *lanes, const range_run *run, int64_t begin, int64_t n) {                    \
    const T first = (T)run->first, step = (T)run->step;                                           \
    if (begin + n > INT32_MAX) {                                                                  \
      for (int64_t i = 0; i < n; i++) lanes[i] = first + (T)(begin + i) * step;                   \
    } else {                                                                                      \
      for (int32_t i = 0; i < (int32_t)n; i++) lanes[i] = first + (T)((int32_t)begin + i) * step; \
    }                                                                                             \
  }
/* Wraps, as the reference. */
#define WHOLE_LANES(name, U)                                                                        \
  static void name(U *lanes, const range_run *run, int64_t begin, int64_t n) {                      \
    const U first = (U)run->whole_first + (U)begin * (U)run->whole_step, step = (U)run->whole_step; \
    for (int64_t i = 0; i < n; i++) lanes[i] = first + (U)i * step;                                 \
  }
FLOAT_LANES(lanes_f32, float)
FLOAT_LANES(lanes_f64, double)
WHOLE_LANES(lanes_i32, uint32_t)
WHOLE_LANES(lanes_i64, uint64_t)

static void fill_lanes(void *lanes, const range_run *run, int64_t begin, int64_t n) {
  switch (run->out->lane) {
    case KW_LANE_F32:
      lanes_f32(lanes, run, begin, n);
      break;
    case KW_LANE_F64:
      lanes_f64(lanes, run, begin, n);
      break;
    case KW_LANE_I64:
      lanes_i64(lanes, run, begin, n);
      break;
    default:
      lanes_i32(lanes, run, begin, n);
  }
}

static void run_piece(void *user, int64_t begin, int64_t end) {
  const range_run *run = user;
  _Alignas(64) char room[KW_LANE_BLOCK * KW_LANE_BYTES];
  const bool stays = kw_port_is_lanes(run->out, run->to_step);
  for (int64_t i = begin; i < end; i += KW_LANE_BLOCK) {
    const int64_t n = kw_block_at(i, end);
    char *to = run->to + i * run->to_step;
    void *lanes = stays ? to : room;
    fill_lanes(lanes, run, i, n);
    if (!stays) kw_port_write(run->out, to, run->to_step, lanes, n);
  }
}

static kw_element scalar_as(const kw_value *value, kw_dtype dtype) {
  const kw_element given = kw_operand_scalar(value);
  return kw_operand_as_key(given.dtype, given.bytes, dtype);
}

static kw_status run_range(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *out = call->outs[0];
  range_run run = {.out = plan, .to = kw_walk_base(out), .to_step = kw_loop_step(out, 0)};
  const kw_dtype computed = kw_number_is_integer(out->dtype) ? KW_I64 : out->dtype == KW_F64 ? KW_F64 : KW_F32;
  const kw_element first = scalar_as(&call->args[0], computed), step = scalar_as(&call->args[2], computed);
  if (computed == KW_I64) {
    run.whole_first = kw_number_load_int(KW_I64, first.bytes);
    run.whole_step = kw_number_load_int(KW_I64, step.bytes);
  } else {
    run.first = kw_number_load(computed, first.bytes);
    run.step = kw_number_load(computed, step.bytes);
  }
  return host->parallel_for(host->ctx, out->numel, GRAIN, run_piece, &run);
}

static const kw_fast_kernel kernels[] = {
    {.op = "arange.start_step",
     .dtypes = KW_DTYPES_NUM,
     .plan_size = sizeof(kw_port),
     .make_plan = plan_range,
     .run = run_range},
};

kw_fast_family kw_fast_range(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
