/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantisation: numbers to codes, code = rint(x / scale) + zero, and back, with a scale and a zero point for all or for
 * each index along a dimension.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "operand.h"
#include "walk.h"

#include <math.h>

#define GRAIN 16384              /* elements: the fewest that a thread is woken for */
#define SMALL (INT64_C(1) << 22) /* zero points and limits up to here are exact in f32, with their sums */

/* Operands: the result, the input, scales, zero points. */
typedef struct quantise_plan {
  kw_loop loop;
  kw_port in, out;
  kw_port scale, zero; /* read as f32 and as i64 */
} quantise_plan;
_Static_assert(sizeof(quantise_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

typedef enum quantise_form { TO_CODES, FROM_CODES } quantise_form;
typedef struct quantise_op {
  quantise_form form;
  bool per_channel; /* argument 3 is the dimension, and the others come behind it */
} quantise_op;

static const quantise_op quantize = {TO_CODES, false}, quantize_channels = {TO_CODES, true},
                         dequantize = {FROM_CODES, false}, dequantize_channels = {FROM_CODES, true};

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

/* Argument `arg`: a number, one element, or with `per_channel` one for each index along argument 3. Returns its dtype.
 */
static kw_dtype add_parameter(kw_loop *loop, const kw_call *call, uint32_t arg, bool per_channel) {
  const kw_value *value = &call->args[arg];
  if (value->tag != KW_TAG_TENSOR) {
    kw_loop_add_constant(loop);
    return value->tag == KW_TAG_FLOAT ? KW_F64 : KW_I64;
  }
  kw_tensor_ref view = *value->u.tensor;
  view.rank = 0;
  if (per_channel) {
    const kw_tensor_ref *input = call->args[0].u.tensor;
    const int64_t named = call->args[3].u.i, dim = named < 0 ? named + input->rank : named;
    view.rank = input->rank;
    for (uint32_t d = 0; d < view.rank; d++) view.shape[d] = 1;
    view.shape[dim] = value->u.tensor->shape[0];
    view.strides[dim] = value->u.tensor->strides[0];
  }
  kw_loop_add(loop, &view);
  return view.dtype;
}

static kw_status plan_quantise(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const quantise_op *op = kernel->family;
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const kw_tensor_ref *codes = op->form == TO_CODES ? out : in;
  quantise_plan *plan = out_plan;
  const bool is_narrow = codes->dtype == KW_U8 || codes->dtype == KW_I8 || codes->dtype == KW_I16;
  if (!is_narrow || !kw_number_is_float(op->form == TO_CODES ? in->dtype : out->dtype)) return KW_ERR_NOT_IMPLEMENTED;
  if (!kw_port_open(&plan->in, in->dtype, op->form == TO_CODES ? KW_LANE_F32 : KW_LANE_I32) ||
      !kw_port_open(&plan->out, out->dtype, op->form == TO_CODES ? KW_LANE_I32 : KW_LANE_F32)) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  kw_loop_begin(&plan->loop, out);
  kw_loop_add(&plan->loop, in);
  const kw_dtype scale = add_parameter(&plan->loop, call, 1, op->per_channel);
  const kw_dtype zero = add_parameter(&plan->loop, call, 2, op->per_channel);
  kw_loop_make(&plan->loop);
  const bool opens = kw_port_open(&plan->scale, scale, KW_LANE_F32) && kw_port_open(&plan->zero, zero, KW_LANE_I64);
  return opens ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct quantise_run {
  const quantise_plan *plan;
  const quantise_op *op;
  char *base[KW_LOOP_OPERANDS];
  int64_t low, high; /* of codes */
} quantise_run;

/* Where the parameters lie that lanes were read of, and how many. */
typedef struct stretch {
  const char *at;
  int64_t count;
} stretch;

typedef struct quantise_lanes {
  const quantise_run *run;
  _Alignas(64) char in[KW_LANE_BLOCK * sizeof(float)];
  _Alignas(64) char out[KW_LANE_BLOCK * sizeof(float)];
  _Alignas(64) float scale[KW_LANE_BLOCK];
  _Alignas(64) int64_t zero[KW_LANE_BLOCK];
  _Alignas(64) int32_t small_zero[KW_LANE_BLOCK]; /* where all_small, they again */
  bool all_small;
  stretch scale_read, zero_read;
} quantise_lanes;

static bool is_small(int64_t number) {
  return number <= SMALL && number >= -SMALL;
}

/* The code of x / scale with any zero point, as the reference: a sum beyond 64 bits is as large as they hold. */
static int32_t code_of(const quantise_run *run, float value, int64_t zero) {
  if (value != value) return 0;
  const float whole = rintf(value);
  int64_t sum;
  if (whole < -0x1p62f || whole > 0x1p62f) {
    sum = whole < 0 ? INT64_MIN : INT64_MAX;
  } else if (__builtin_add_overflow((int64_t)whole, zero, &sum)) {
    sum = zero < 0 ? INT64_MIN : INT64_MAX;
  }
  return (int32_t)(sum < run->low ? run->low : sum > run->high ? run->high : sum);
}

/* Whether lanes of these are still to be read: blocks of a row may share them, and rows. */
static bool is_unread(stretch *read, const char *at, int64_t count) {
  if (read->at == at && count <= read->count) return false;
  *read = (stretch){at, count};
  return true;
}

static void read_zeros(quantise_lanes *lanes, const char *at, int64_t step, int64_t count) {
  kw_port_read(&lanes->run->plan->zero, lanes->zero, at, step, count);
  lanes->all_small = true;
  for (int64_t i = 0; i < count; i++) {
    lanes->all_small &= is_small(lanes->zero[i]);
    lanes->small_zero[i] = (int32_t)lanes->zero[i];
  }
}

/* n elements, as lanes. */
static void quantise_lane(quantise_lanes *lanes, const void *in, int64_t n) {
  const kw_isa *isa = kw_fast_isa();
  const quantise_run *run = lanes->run;
  void *out = lanes->out;
  const bool all_small = lanes->all_small && is_small(run->low) && is_small(run->high);
  if (run->op->form == FROM_CODES && lanes->all_small) {
    isa->from_codes(out, in, lanes->small_zero, lanes->scale, n);
  } else if (run->op->form == FROM_CODES) {
    for (int64_t i = 0; i < n; i++) {
      const int64_t distance = (int64_t)((uint64_t)((const int32_t *)in)[i] - (uint64_t)lanes->zero[i]);
      ((float *)out)[i] = (float)distance * lanes->scale[i];
    }
  } else if (all_small) {
    isa->to_codes(out, in, lanes->scale, lanes->small_zero, (int32_t)run->low, (int32_t)run->high, n);
  } else {
    for (int64_t i = 0; i < n; i++) {
      ((int32_t *)out)[i] = code_of(run, ((const float *)in)[i] / lanes->scale[i], lanes->zero[i]);
    }
  }
}

static void quantise_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  quantise_lanes *lanes = context;
  const quantise_plan *plan = lanes->run->plan;
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    const char *scale = at[2] + i * step[2], *zero = at[3] + i * step[3];
    if (is_unread(&lanes->scale_read, scale, count)) kw_port_read(&plan->scale, lanes->scale, scale, step[2], count);
    if (is_unread(&lanes->zero_read, zero, count)) read_zeros(lanes, zero, step[3], count);
    quantise_lane(lanes, kw_port_lanes(&plan->in, at[1] + i * step[1], step[1], count, lanes->in), count);
    kw_port_write(&plan->out, at[0] + i * step[0], step[0], lanes->out, count);
  }
}

static void run_piece(void *user, int64_t begin, int64_t end) {
  quantise_lanes lanes;
  const quantise_run *run = lanes.run = user;
  lanes.scale_read = lanes.zero_read = (stretch){NULL, 0};
  kw_loop_run(&run->plan->loop, run->base, begin, end, quantise_row, &lanes);
}

static kw_status run_quantise(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const quantise_op *op = kernel->family;
  const kw_value none = {.tag = KW_TAG_INT}, *range = &call->args[op->per_channel ? 4 : 3];
  quantise_run run = {.plan = plan, .op = op, .low = range[0].u.i, .high = range[1].u.i};
  kw_element numbers[2];
  run.base[0] = kw_walk_base(call->outs[0]);
  run.base[1] = kw_walk_base(call->args[0].u.tensor);
  for (uint32_t k = 0; k < 2; k++) {
    const kw_value *value = call->args[1 + k].tag == KW_TAG_NONE ? &none : &call->args[1 + k];
    if (value->tag == KW_TAG_TENSOR) {
      run.base[2 + k] = kw_walk_base(value->u.tensor);
    } else {
      numbers[k] = kw_operand_scalar(value);
      run.base[2 + k] = (char *)numbers[k].bytes;
    }
  }
  return host->parallel_for(host->ctx, run.plan->loop.numel, GRAIN, run_piece, &run);
}

#define KERNEL(name, keys, which)                                                                                \
  {                                                                                                              \
    .op = "quantized_decomposed::" name, .dtypes = keys, .plan_size = sizeof(quantise_plan), .family = &(which), \
    .make_plan = plan_quantise, .run = run_quantise                                                              \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("quantize_per_tensor", KW_DTYPES_FLOAT32, quantize),
    KERNEL("quantize_per_tensor.tensor", KW_DTYPES_FLOAT32, quantize),
    KERNEL("quantize_per_channel", KW_DTYPES_FLOAT32, quantize_channels),
    KERNEL("dequantize_per_tensor", KW_DTYPES_QUANTIZED, dequantize),
    KERNEL("dequantize_per_tensor.tensor", KW_DTYPES_QUANTIZED, dequantize),
    KERNEL("dequantize_per_channel", KW_DTYPES_QUANTIZED, dequantize_channels),
};

kw_fast_family kw_fast_quantise(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
