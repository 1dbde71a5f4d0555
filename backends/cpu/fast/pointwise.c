/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointwise ops: rows of operands, read into lanes where they do not lie there as lanes, computed on, and written.
 */
#include "pointwise.h"

#include "loop.h"
#include "operand.h"
#include "walk.h"

#include <math.h>
#include <string.h>

/* The fewest elements that a thread is woken for: of what memory bounds, and of what computes. */
#define GRAIN 16384
#define GRAIN_OF_FUNCTIONS 2048

#define ROW_BLOCK 256 /* lanes at once where some are filled anew for each row: less to fill */

/* The function of the other operands that does the same where the last one is this number. */
typedef struct shortcut {
  double number;
  kw_pointwise_fn function;
} shortcut;

/* The function for a text that the argument behind the operands may be. */
typedef struct form {
  const char *name;
  kw_pointwise_fn function;
} form;

/* The operands are the op's first arguments, as many as the function has: tensors, or Scalars that become numbers. */
typedef struct pointwise_op {
  kw_pointwise_fn function;
  const shortcut *shortcuts; /* up to one whose function is KW_POINTWISE_COUNT; NULL: none */
  const form *forms;         /* up to one without a name; NULL: the op has no such argument */
} pointwise_op;

typedef struct pointwise_plan {
  kw_loop loop; /* operand 0 is the result */
  kw_pointwise_fn function;
  const shortcut *shortcuts; /* as in pointwise_op */
  kw_dtype key;
  kw_lane lane;
  int64_t grain;
  bool tests; /* the function is a predicate: results are bools */
  uint32_t count;
  kw_port out; /* but of a predicate */
  kw_port in[KW_POINTWISE_OPERANDS];
  bool is_narrow; /* all operands are of 16 bits, of which there may be lanes: */
  kw_port narrow;
  bool is_number[KW_POINTWISE_OPERANDS];
} pointwise_plan;
_Static_assert(sizeof(pointwise_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

/* What only moves values moves bits: as integers of the same size. */
static kw_dtype as_bits(kw_dtype dtype) {
  switch (kw_number_size(dtype)) {
    case 1:
      return KW_U8;
    case 2:
      return KW_I16;
    case 4:
      return KW_I32;
    default:
      return KW_I64;
  }
}

static uint32_t operand_count(kw_pointwise_fn function) {
  static const uint8_t counts[] = {
#define COUNT(name, operands) operands,
      KW_POINTWISE_LIST(COUNT)
#undef COUNT
  };
  return counts[function];
}

/* The function for the form that the call asks for, or KW_POINTWISE_COUNT. */
static kw_pointwise_fn function_of(const pointwise_op *op, const kw_call *call) {
  const uint32_t behind = operand_count(op->function);
  if (!op->forms || call->args[behind].tag != KW_TAG_STRING) return op->function;
  const char *asked = call->args[behind].u.s;
  if (strcmp(asked, "none") == 0) return op->function;
  for (const form *each = op->forms; each->name; each++) {
    if (strcmp(asked, each->name) == 0) return each->function;
  }
  return KW_POINTWISE_COUNT;
}

/* Bools have one bit, on which those that work on bits are logic. */
static kw_pointwise_fn logic_of(kw_pointwise_fn function) {
  switch (function) {
    case KW_POINTWISE_BITWISE_AND:
      return KW_POINTWISE_LOGICAL_AND;
    case KW_POINTWISE_BITWISE_OR:
      return KW_POINTWISE_LOGICAL_OR;
    case KW_POINTWISE_BITWISE_XOR:
      return KW_POINTWISE_LOGICAL_XOR;
    default:
      return function;
  }
}

static kw_lane lane_for(kw_pointwise_fn function, kw_dtype key) {
  const bool is_logic = function >= KW_POINTWISE_LOGICAL_AND && function <= KW_POINTWISE_LOGICAL_NOT;
  return is_logic && kw_number_is_integer(key) && kw_number_size(key) == 1 ? KW_LANE_BYTE : kw_lane_of(key);
}

/* Whether all that are read and written are of one dtype of 16 bits. */
static bool open_narrow(pointwise_plan *plan) {
  const kw_lane lane = plan->key == KW_F16 ? KW_LANE_F16 : KW_LANE_BF16;
  if ((plan->key != KW_F16 && plan->key != KW_BF16) || plan->tests) return false;
  return plan->function != KW_POINTWISE_MUL_TWICE && kw_port_open(&plan->narrow, plan->key, lane);
}

static kw_status plan_pointwise(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const pointwise_op *op = kernel->family;
  const kw_tensor_ref *out = call->outs[0];
  const kw_pointwise_fn asked = function_of(op, call), function = out->dtype == KW_BOOL ? logic_of(asked) : asked;
  const bool moves = function == KW_POINTWISE_WHERE;
  pointwise_plan *plan = out_plan;
  if (function == KW_POINTWISE_COUNT) return KW_ERR_NOT_IMPLEMENTED;
  if (moves && kw_number_size(out->dtype) > sizeof(int64_t)) return KW_ERR_NOT_IMPLEMENTED;
  plan->function = function;
  plan->shortcuts = op->shortcuts;
  plan->count = operand_count(function);
  plan->tests = function >= KW_POINTWISE_FIRST_PREDICATE;
  plan->grain = function >= KW_POINTWISE_FIRST_SLOW && !plan->tests ? GRAIN_OF_FUNCTIONS : GRAIN;
  plan->key = moves ? as_bits(out->dtype) : out->dtype;
  kw_loop_begin(&plan->loop, out);
  for (uint32_t k = 0; k < plan->count; k++) {
    plan->is_number[k] = call->args[k].tag != KW_TAG_TENSOR;
    if (plan->is_number[k]) {
      kw_loop_add_constant(&plan->loop);
    } else {
      if (plan->tests) plan->key = call->args[k].u.tensor->dtype;
      kw_loop_add(&plan->loop, call->args[k].u.tensor);
    }
  }
  kw_loop_make(&plan->loop);
  plan->lane = lane_for(function, plan->key);
  plan->is_narrow = open_narrow(plan);
  if (!plan->tests && !kw_port_open(&plan->out, plan->key, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t k = 0; k < plan->count; k++) {
    const bool is_mask = (moves && k == 0) || (function == KW_POINTWISE_MUL_TWICE && k == 1);
    const kw_dtype dtype = is_mask ? KW_BOOL : plan->key;
    if (!kw_port_open(&plan->in[k], dtype, plan->lane)) return KW_ERR_NOT_IMPLEMENTED;
  }
  return kw_fast_isa()->pointwise[function][plan->lane] ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct pointwise_run {
  const pointwise_plan *plan;
  kw_pointwise_fn function;
  uint32_t count; /* operands of the function */
  kw_lane lane;
  const kw_port *out, *in[KW_POINTWISE_OPERANDS];
  bool passes;    /* results go past the caches */
  bool is_direct; /* results and operands are used as they lie: */
  uint32_t lying; /* operands from this one on are one lane for a row */
  char *base[KW_POINTWISE_OPERANDS + 1];
  _Alignas(8) char numbers[KW_POINTWISE_OPERANDS][KW_LANE_BYTES]; /* lanes */
} pointwise_run;

/* Lanes for a thread: of numbers filled once, of what a whole row shares once for the row. */
typedef struct pointwise_lanes {
  const pointwise_run *run;
  _Alignas(64) char in[KW_POINTWISE_OPERANDS][KW_LANE_BLOCK * KW_LANE_BYTES];
  _Alignas(64) char out[KW_LANE_BLOCK * KW_LANE_BYTES];
} pointwise_lanes;

/* Writes what the function has made to elements of the result. */
static void write_row(const pointwise_run *run, char *to, int64_t step, const void *lanes, int64_t n) {
  if (!run->plan->tests) {
    kw_port_write(run->out, to, step, lanes, n);
    return;
  }
  for (int64_t i = 0; i < n; i++) to[i * step] = ((const char *)lanes)[i];
}

static void run_direct_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  pointwise_lanes *lanes = context;
  const pointwise_run *run = lanes->run;
  const kw_isa *isa = kw_fast_isa();
  const kw_lanes_fn function = run->lying < run->count ? isa->repeated[run->function][run->lane].function
                                                       : isa->pointwise[run->function][run->lane];
  const void *in[KW_POINTWISE_OPERANDS];
  for (uint32_t k = 0; k < run->count; k++) {
    const bool is_number = run->plan->is_number[k];
    in[k] = is_number ? run->numbers[k] : kw_port_lanes(run->in[k], at[k + 1], run->in[k]->size, 1, lanes->in[k]);
  }
  if (!run->passes || n * step[0] < KW_LOOP_PAST_ROW) {
    function(at[0], in, n);
    return;
  }
  const int64_t block = KW_LANE_BLOCK * KW_LANE_BYTES / step[0];
  for (int64_t i = 0; i < n; i += block) {
    const int64_t count = n - i < block ? n - i : block;
    function(lanes->out, in, count);
    isa->stream(at[0] + i * step[0], lanes->out, count * step[0]);
    for (uint32_t k = 0; k < run->lying; k++) in[k] = (const char *)in[k] + count * step[k + 1];
  }
}

/* How many lanes are computed at once otherwise. */
static int64_t block_of(const pointwise_run *run, const int64_t *step) {
  for (uint32_t k = 0; k < run->count; k++) {
    if (!run->plan->is_number[k] && step[k + 1] == 0) return ROW_BLOCK;
  }
  return KW_LANE_BLOCK;
}

static void run_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  pointwise_lanes *lanes = context;
  const pointwise_run *run = lanes->run;
  const pointwise_plan *plan = run->plan;
  const kw_lanes_fn function = kw_fast_isa()->pointwise[run->function][run->lane];
  const bool stays = plan->tests ? step[0] == 1 : kw_port_is_lanes(run->out, step[0]);
  const bool passes = run->passes && stays && n * step[0] >= KW_LOOP_PAST_ROW;
  const int64_t block = block_of(run, step);
  bool filled[KW_POINTWISE_OPERANDS];
  for (uint32_t k = 0; k < run->count; k++) {
    _Alignas(8) char lane[KW_LANE_BYTES];
    filled[k] = plan->is_number[k] || step[k + 1] == 0;
    if (!filled[k] || plan->is_number[k]) continue;
    kw_port_read(run->in[k], lane, at[k + 1], 0, 1);
    kw_lanes_fill(lanes->in[k], lane, run->lane, n < block ? n : block);
  }
  for (int64_t i = 0; i < n; i += block) {
    const int64_t count = n - i < block ? n - i : block;
    const void *in[KW_POINTWISE_OPERANDS];
    for (uint32_t k = 0; k < run->count; k++) {
      const char *from = at[k + 1] + i * step[k + 1];
      in[k] = filled[k] ? lanes->in[k] : kw_port_lanes(run->in[k], from, step[k + 1], count, lanes->in[k]);
    }
    char *to = at[0] + i * step[0];
    function(stays && !passes ? to : lanes->out, in, count);
    if (passes) {
      kw_fast_isa()->stream(to, lanes->out, count * step[0]);
    } else if (!stays) {
      write_row(run, to, step[0], lanes->out, count);
    }
  }
}

static void run_piece(void *user, int64_t begin, int64_t end) {
  pointwise_lanes lanes;
  const pointwise_run *run = lanes.run = user;
  for (uint32_t k = 0; k < run->count && !run->is_direct; k++) {
    if (!run->plan->is_number[k]) continue;
    kw_lanes_fill(lanes.in[k], run->numbers[k], run->lane, kw_block_at(begin, end));
  }
  kw_loop_run(&run->plan->loop, run->base, begin, end, run->is_direct ? run_direct_row : run_row, &lanes);
  if (run->passes) kw_fast_isa()->stream_end();
}

/* Whether the result is too large for who reads it next to find it in a cache, and is not in one already. */
static bool passes(const pointwise_run *run) {
  const int64_t size = run->plan->tests ? 1 : run->out->size;
  for (uint32_t k = 0; k < run->count; k++) {
    if (run->base[k + 1] == run->base[0]) return false;
  }
  return run->plan->loop.numel * size >= KW_LOOP_PAST_BYTES;
}

/* Whether there is a function for what lies as lanes, and what a row shares. */
static void take_what_lies(pointwise_run *run) {
  const pointwise_plan *plan = run->plan;
  const uint32_t last = plan->loop.rank - 1;
  const kw_repeated_fn *repeated = &kw_fast_isa()->repeated[run->function][run->lane];
  const int64_t step = plan->loop.step[0][last];
  if (plan->tests ? step != 1 : !kw_port_is_lanes(run->out, step)) return;
  uint32_t k = 0;
  while (k < run->count && !plan->is_number[k] && kw_port_is_lanes(run->in[k], plan->loop.step[k + 1][last])) k++;
  run->lying = k;
  if (k < run->count && (!repeated->function || k != repeated->from)) return;
  while (k < run->count && (plan->is_number[k] || plan->loop.step[k + 1][last] == 0)) k++;
  run->is_direct = k == run->count;
}

/* Whether a Scalar is a number that a double has; it is most often. */
static bool is_plain(const kw_value *value, double *out) {
  const int64_t most = INT64_C(1) << 53;
  if (value->tag == KW_TAG_SCALAR && value->kind == KW_SCALAR_I64) {
    *out = (double)value->u.i;
    return value->u.i >= -most && value->u.i <= most;
  }
  *out = value->u.f;
  return value->tag == KW_TAG_FLOAT || (value->tag == KW_TAG_SCALAR && value->kind == KW_SCALAR_F64);
}

/* A Scalar as a lane, converted as the reference does: floating point is computed on in f32 or f64. */
static void read_number(const pointwise_plan *plan, const kw_value *value, void *lane) {
  const bool is_f32 = plan->lane == KW_LANE_F32, is_f64 = plan->lane == KW_LANE_F64;
  const kw_dtype as = is_f32 ? KW_F32 : is_f64 ? KW_F64 : plan->key;
  double plain;
  if ((is_f32 || is_f64) && is_plain(value, &plain)) {
    kw_lanes_fill_number(lane, plain, plan->lane, 1);
    return;
  }
  kw_element element = kw_operand_scalar(value);
  element = kw_operand_as_key(element.dtype, element.bytes, as);
  if (is_f32 || is_f64) {
    memcpy(lane, element.bytes, (size_t)kw_lane_size(plan->lane));
  } else {
    const kw_dtype stored = plan->lane == KW_LANE_I32 ? KW_I32 : plan->lane == KW_LANE_I64 ? KW_I64 : KW_U8;
    kw_number_store_int(stored, lane, kw_number_load_int(as, element.bytes));
  }
}

/* A bound of clamp; one that is not there bounds nothing. */
static kw_value clamp_bound(const pointwise_plan *plan, const kw_value *value, bool is_upper) {
  const double endless = is_upper ? (double)INFINITY : -(double)INFINITY;
  if (value->tag == KW_TAG_NONE) return (kw_value){.tag = KW_TAG_FLOAT, .u.f = endless};
  return kw_operand_bound(*value, plan->key);
}

/* 10 to the power of how many decimals stay; with its sign, if it has one, the power that those are left out of. */
static kw_value power_of_decimals(const kw_value *decimals) {
  const double power = pow(10, fabs((double)decimals->u.i));
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = decimals->u.i < 0 ? -power : power};
}

/* What an argument that is no tensor is to the function. */
static kw_value number_of(const pointwise_plan *plan, const kw_call *call, uint32_t k) {
  const kw_value *value = &call->args[k];
  if (plan->function == KW_POINTWISE_CLAMP) return clamp_bound(plan, value, k == 2);
  if (plan->function == KW_POINTWISE_ROUND_DECIMALS) return power_of_decimals(value);
  return *value;
}

static void take_shortcut(pointwise_run *run, const kw_call *call) {
  const pointwise_plan *plan = run->plan;
  const uint32_t last = run->count - 1;
  double given;
  if (!plan->shortcuts || !plan->is_number[last] || !is_plain(&call->args[last], &given)) return;
  for (const shortcut *s = plan->shortcuts; s->function != KW_POINTWISE_COUNT; s++) {
    if (given != s->number) continue;
    run->function = s->function;
    run->count = last;
    return;
  }
}

/* Where there are lanes of the operands' 16 bits for the function, and numbers are such, too, it works on those. */
static void take_narrow_lanes(pointwise_run *run) {
  const pointwise_plan *plan = run->plan;
  const kw_port *narrow = &plan->narrow;
  char numbers[KW_POINTWISE_OPERANDS][sizeof(uint16_t)];
  if (!plan->is_narrow || !kw_fast_isa()->pointwise[run->function][narrow->lane]) return;
  for (uint32_t k = 0; k < run->count; k++) {
    float again;
    if (!plan->is_number[k]) continue;
    kw_port_write(&plan->out, numbers[k], narrow->size, run->numbers[k], 1);
    kw_port_read(&plan->in[k], &again, numbers[k], narrow->size, 1);
    if (memcmp(&again, run->numbers[k], sizeof again) != 0) return;
  }
  run->lane = narrow->lane;
  run->out = narrow;
  for (uint32_t k = 0; k < run->count; k++) {
    if (plan->is_number[k]) memcpy(run->numbers[k], numbers[k], sizeof numbers[k]);
    run->in[k] = narrow;
  }
}

static kw_status run_pointwise(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const pointwise_plan *plan = the_plan;
  pointwise_run run = {
      .plan = plan, .function = plan->function, .count = plan->count, .lane = plan->lane, .out = &plan->out};
  run.base[0] = kw_walk_base(call->outs[0]);
  for (uint32_t k = 0; k < plan->count; k++) {
    run.in[k] = &plan->in[k];
    if (!plan->is_number[k]) {
      run.base[k + 1] = kw_walk_base(call->args[k].u.tensor);
    } else {
      const kw_value value = number_of(plan, call, k);
      read_number(plan, &value, run.numbers[k]);
    }
  }
  take_shortcut(&run, call);
  take_narrow_lanes(&run);
  take_what_lies(&run);
  run.passes = passes(&run);
  return host->parallel_for(host->ctx, plan->loop.numel, plan->grain, run_piece, &run);
}

/* ---- For other families ------------------------------------------------------------------------------------------ */

bool kw_pointwise_serves(kw_pointwise_fn function, kw_dtype dtype) {
  return dtype < KW_ISA_DTYPES && kw_fast_isa()->pointwise[function][kw_lane_of(dtype)];
}

kw_status kw_pointwise_apply(const kw_host_api *host, kw_pointwise_fn function, const kw_tensor_ref *out,
                             const kw_tensor_ref *const *in) {
  const pointwise_op op = {function, NULL, NULL};
  const kw_fast_kernel kernel = {.family = &op};
  pointwise_plan plan = {.grain = 0};
  kw_value args[KW_POINTWISE_OPERANDS];
  for (uint32_t k = 0; k < operand_count(function); k++) {
    args[k] = (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = in[k]};
  }
  const kw_call call = {
      .struct_size = sizeof call, .arg_count = operand_count(function), .args = args, .out_count = 1, .outs = &out};
  const kw_status status = plan_pointwise(&kernel, &call, &plan);
  return status == KW_OK ? run_pointwise(host, &call, &plan) : status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static const shortcut add_shortcuts[] = {{1, KW_POINTWISE_ADD}, {0, KW_POINTWISE_COUNT}};
static const shortcut sub_shortcuts[] = {{1, KW_POINTWISE_SUB}, {0, KW_POINTWISE_COUNT}};
static const shortcut addcmul_shortcuts[] = {{1, KW_POINTWISE_ADD_PRODUCT}, {0, KW_POINTWISE_COUNT}};
static const shortcut pow_shortcuts[] = {
    {2, KW_POINTWISE_SQUARE},      {0.5, KW_POINTWISE_POW_HALF},        {3, KW_POINTWISE_CUBE},
    {-1, KW_POINTWISE_RECIPROCAL}, {-0.5, KW_POINTWISE_POW_MINUS_HALF}, {-2, KW_POINTWISE_RECIPROCAL_SQUARE},
    {0, KW_POINTWISE_COUNT}};

static const form div_forms[] = {{"trunc", KW_POINTWISE_DIV_TRUNC}, {"floor", KW_POINTWISE_DIV_FLOOR}, {NULL, 0}};
static const form gelu_forms[] = {{"tanh", KW_POINTWISE_GELU_TANH}, {NULL, 0}};
static const form gelu_backward_forms[] = {{"tanh", KW_POINTWISE_GELU_TANH_BACKWARD}, {NULL, 0}};

/* X(op, key dtypes, function); SHORT: and its shortcuts; FORMS: and its forms. */
#define OPS(X, SHORT, FORMS)                               \
  SHORT("add.Tensor", REAL, ADD_SCALED, add_shortcuts)     \
  SHORT("sub.Tensor", NUM, SUB_SCALED, sub_shortcuts)      \
  X("mul.Tensor", REAL, MUL)                               \
  X("div.Tensor", FLOAT, DIV)                              \
  FORMS("div.Tensor_mode", NUM, DIV, div_forms)            \
  SHORT("add.Scalar", REAL, ADD_SCALED, add_shortcuts)     \
  SHORT("sub.Scalar", NUM, SUB_SCALED, sub_shortcuts)      \
  X("mul.Scalar", REAL, MUL)                               \
  X("div.Scalar", FLOAT, DIV)                              \
  FORMS("div.Scalar_mode", NUM, DIV, div_forms)            \
  X("eq.Tensor", REAL, EQ)                                 \
  X("ne.Tensor", REAL, NE)                                 \
  X("lt.Tensor", REAL, LT)                                 \
  X("le.Tensor", REAL, LE)                                 \
  X("gt.Tensor", REAL, GT)                                 \
  X("ge.Tensor", REAL, GE)                                 \
  X("bitwise_and.Tensor", INTEGRAL, BITWISE_AND)           \
  X("bitwise_or.Tensor", INTEGRAL, BITWISE_OR)             \
  X("bitwise_xor.Tensor", INTEGRAL, BITWISE_XOR)           \
  X("eq.Scalar", REAL, EQ)                                 \
  X("ne.Scalar", REAL, NE)                                 \
  X("lt.Scalar", REAL, LT)                                 \
  X("le.Scalar", REAL, LE)                                 \
  X("gt.Scalar", REAL, GT)                                 \
  X("ge.Scalar", REAL, GE)                                 \
  X("bitwise_and.Scalar", INTEGRAL, BITWISE_AND)           \
  X("bitwise_or.Scalar", INTEGRAL, BITWISE_OR)             \
  X("bitwise_xor.Scalar", INTEGRAL, BITWISE_XOR)           \
  X("neg", NUM, NEG)                                       \
  X("abs", NUM, ABS)                                       \
  X("relu", NUM, RELU)                                     \
  X("pow.Tensor_Tensor", FLOAT, POW)                       \
  SHORT("pow.Tensor_Scalar", FLOAT, POW, pow_shortcuts)    \
  X("pow.Scalar", FLOAT, POW)                              \
  X("maximum", REAL, MAXIMUM)                              \
  X("minimum", REAL, MINIMUM)                              \
  X("clamp", NUM, CLAMP)                                   \
  X("clamp.Tensor", NUM, CLAMP)                            \
  X("sqrt", FLOAT, SQRT)                                   \
  X("rsqrt", FLOAT, RSQRT)                                 \
  X("exp", FLOAT, EXP)                                     \
  X("log", FLOAT, LOG)                                     \
  X("sin", FLOAT, SIN)                                     \
  X("cos", FLOAT, COS)                                     \
  X("tanh", FLOAT, TANH)                                   \
  X("sigmoid", FLOAT, SIGMOID)                             \
  X("erf", FLOAT, ERF)                                     \
  X("acos", FLOAT, ACOS)                                   \
  X("acosh", FLOAT, ACOSH)                                 \
  X("asin", FLOAT, ASIN)                                   \
  X("asinh", FLOAT, ASINH)                                 \
  X("atan", FLOAT, ATAN)                                   \
  X("atanh", FLOAT, ATANH)                                 \
  X("sinh", FLOAT, SINH)                                   \
  X("cosh", FLOAT, COSH)                                   \
  X("tan", FLOAT, TAN)                                     \
  X("log1p", FLOAT, LOG1P)                                 \
  X("expm1", FLOAT, EXPM1)                                 \
  X("log2", FLOAT, LOG2)                                   \
  X("log10", FLOAT, LOG10)                                 \
  X("exp2", FLOAT, EXP2)                                   \
  X("reciprocal", FLOAT, RECIPROCAL)                       \
  X("atan2", FLOAT, ATAN2)                                 \
  X("silu", FLOAT, SILU)                                   \
  X("ceil", FLOAT, CEIL)                                   \
  X("floor", FLOAT, FLOOR)                                 \
  X("round", FLOAT, ROUND)                                 \
  X("round.decimals", FLOAT, ROUND_DECIMALS)               \
  X("trunc", FLOAT, TRUNC)                                 \
  X("leaky_relu", FLOAT, LEAKY_RELU)                       \
  X("elu", FLOAT, ELU)                                     \
  X("softplus", FLOAT, SOFTPLUS)                           \
  X("hardswish", FLOAT, HARDSWISH)                         \
  X("addcdiv", FLOAT, ADDCDIV)                             \
  X("sigmoid_backward", FLOAT, SIGMOID_BACKWARD)           \
  X("tanh_backward", FLOAT, TANH_BACKWARD)                 \
  X("silu_backward", FLOAT, SILU_BACKWARD)                 \
  X("leaky_relu_backward", FLOAT, LEAKY_RELU_BACKWARD)     \
  X("elu_backward", FLOAT, ELU_BACKWARD)                   \
  X("hardtanh_backward", FLOAT, HARDTANH_BACKWARD)         \
  X("softplus_backward", FLOAT, SOFTPLUS_BACKWARD)         \
  X("lerp.Scalar", FLOAT, LERP)                            \
  X("lerp.Tensor", FLOAT, LERP)                            \
  FORMS("gelu", FLOAT, GELU, gelu_forms)                   \
  X("fmod.Tensor", NUM, FMOD)                              \
  X("fmod.Scalar", NUM, FMOD)                              \
  X("remainder.Tensor", NUM, REMAINDER)                    \
  X("remainder.Scalar", NUM, REMAINDER)                    \
  X("remainder.Scalar_Tensor", NUM, REMAINDER)             \
  X("bitwise_left_shift.Tensor", INT, LEFT_SHIFT)          \
  X("bitwise_left_shift.Tensor_Scalar", INT, LEFT_SHIFT)   \
  X("bitwise_right_shift.Tensor", INT, RIGHT_SHIFT)        \
  X("bitwise_right_shift.Tensor_Scalar", INT, RIGHT_SHIFT) \
  X("keyway::swiglu", FLOAT, SWIGLU)                       \
  X("native_dropout_backward", FLOAT, MUL_TWICE)           \
  X("logical_and", REAL, LOGICAL_AND)                      \
  X("logical_or", REAL, LOGICAL_OR)                        \
  X("logical_xor", REAL, LOGICAL_XOR)                      \
  X("logical_not", REAL, LOGICAL_NOT)                      \
  X("isnan", FLOAT, ISNAN)                                 \
  X("isinf", FLOAT, ISINF)                                 \
  X("sign", REAL, SIGN)                                    \
  X("bitwise_not", INT, BITWISE_NOT)                       \
  X("where.self", ANY, WHERE)                              \
  X("threshold", NUM, THRESHOLD)                           \
  X("threshold_backward", NUM, THRESHOLD_BACKWARD)         \
  SHORT("addcmul", NUM, ADDCMUL, addcmul_shortcuts)        \
  FORMS("gelu_backward", FLOAT, GELU_BACKWARD, gelu_backward_forms)

static const kw_fast_kernel kernels[] = {
#define KERNEL(name, keys, function, shortcuts, forms)                         \
  {.op = name,                                                                 \
   .dtypes = KW_DTYPES_##keys,                                                 \
   .plan_size = sizeof(pointwise_plan),                                        \
   .family = &(const pointwise_op){KW_POINTWISE_##function, shortcuts, forms}, \
   .is_pointwise = true,                                                       \
   .make_plan = plan_pointwise,                                                \
   .run = run_pointwise},
#define PLAIN(name, keys, function) KERNEL(name, keys, function, NULL, NULL)
#define SHORT(name, keys, function, shortcuts) KERNEL(name, keys, function, shortcuts, NULL)
#define FORMS(name, keys, function, forms) KERNEL(name, keys, function, NULL, forms)
    OPS(PLAIN, SHORT, FORMS)};

kw_fast_family kw_fast_pointwise(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
