/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear layers whose weights are narrow: int8, f8, and int4 in groups. Some rows of weights at a time become lanes, a
 * stretch of them that stays in the first cache, and meet all rows of the input.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "walk.h"

#define STRETCH 1024    /* columns whose products are added up in lanes before a double takes the sum */
#define GRAIN (1 << 17) /* products: the fewest that a thread is woken for */

typedef enum linear_form { INT8, F8, INT4 } linear_form;
static const linear_form int8 = INT8, f8 = F8, int4 = INT4;

typedef struct linear_plan {
  linear_form form;
  kw_port input, weight, out; /* but of int8's operands, which stay bytes, and of int4's weight */
  int64_t lane_size;          /* bytes of what is multiplied */
  int64_t rows, columns, k;   /* of the result, and the products of each element */
} linear_plan;

static kw_status plan_linear(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *input = call->args[0].u.tensor, *weight = call->args[1].u.tensor, *out = call->outs[0];
  linear_plan *plan = out_plan;
  plan->form = *(const linear_form *)kernel->family;
  plan->rows = out->shape[0];
  plan->columns = out->shape[1];
  plan->k = input->shape[1];
  plan->lane_size = plan->form == INT8 ? 1 : sizeof(float);
  bool serves = kw_port_open(&plan->out, out->dtype, KW_LANE_F32);
  if (plan->form == INT8) {
    serves = serves && input->dtype == KW_I8 && weight->dtype == KW_I8;
  } else {
    serves = serves && kw_port_open(&plan->input, input->dtype, KW_LANE_F32);
  }
  if (plan->form == F8) serves = serves && kw_port_open(&plan->weight, weight->dtype, KW_LANE_F32);
  if (plan->form == INT4) serves = serves && weight->dtype == KW_U8;
  return serves ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

typedef struct linear_run {
  const kw_host_api *host;
  const kw_call *call;
  const linear_plan *plan;
  char *inputs;      /* [rows][k], lanes or bytes */
  atomic_int status; /* what the threads met with */
} linear_run;

/* Of a thread: sums of KW_PRODUCT_LINES columns for every row of the input, and a stretch of those lines. */
typedef struct linear_room {
  double (*sums)[KW_PRODUCT_LINES];
  _Alignas(64) char lines[KW_PRODUCT_LINES][STRETCH * sizeof(float)];
} linear_room;

/* ---- Weights -------------------------------------------------------------------------------------------------------
 */

/* Element (row, column) of a matrix as a float. */
static float number_at(const kw_tensor_ref *matrix, int64_t row, int64_t column) {
  const char *at = kw_walk_base(matrix) + row * kw_loop_step(matrix, 0) + column * kw_loop_step(matrix, 1);
  return (float)kw_number_load(matrix->dtype, at);
}

/* Columns [from, from + n) of row `row`, two to a byte, the first one in the low nibble: (code - zero) * scale, both of
 * a group of columns. `from` is even. */
static void read_int4(const kw_call *call, int64_t k, int64_t row, int64_t from, int64_t n, float *line) {
  const kw_tensor_ref *weight = call->args[1].u.tensor, *scales = call->args[2].u.tensor;
  const int64_t step = kw_loop_step(weight, 1), group = k / scales->shape[1];
  const uint8_t *bytes = (const uint8_t *)kw_walk_base(weight) + row * kw_loop_step(weight, 0) + from / 2 * step;
  for (int64_t p = 0, end; p < n; p = end) {
    const int64_t in_group = (from + p) % group, left = group - in_group;
    const float scale = number_at(scales, row, (from + p) / group);
    const float zero = number_at(call->args[3].u.tensor, row, (from + p) / group);
    end = left < n - p ? p + left : n;
    int64_t i = p;
    if (step == 1 && i % 2 == 0) {
      kw_fast_isa()->nibbles(line + i, bytes + i / 2, zero, scale, (end - i) / 2);
      i = end - (end - i) % 2;
    }
    for (; i < end; i++) {
      const int code = i % 2 ? bytes[i / 2 * step] >> 4 : bytes[i / 2 * step] & 15;
      line[i] = ((float)code - zero) * scale;
    }
  }
}

/* n elements `step` bytes apart: as lanes, or int8's as they are. */
static void read_elements(const linear_plan *plan, const kw_port *port, char *to, const char *from, int64_t step,
                          int64_t n) {
  if (plan->form == INT8) {
    kw_fast_isa()->move[0](to, 1, from, step, n);
  } else {
    kw_port_read(port, to, from, step, n);
  }
}

static void read_line(const linear_run *run, int64_t row, int64_t from, int64_t n, char *line) {
  const linear_plan *plan = run->plan;
  const kw_tensor_ref *weight = run->call->args[1].u.tensor;
  if (plan->form == INT4) {
    read_int4(run->call, plan->k, row, from, n, (float *)(void *)line);
    return;
  }
  const int64_t step = kw_loop_step(weight, 1);
  const char *at = kw_walk_base(weight) + row * kw_loop_step(weight, 0) + from * step;
  read_elements(plan, &plan->weight, line, at, step, n);
}

/* ---- Products ------------------------------------------------------------------------------------------------------
 */

/* Element i of a scale or a bias, one of which may be for all; `otherwise` where there is none. */
static float parameter_at(const kw_value *value, int64_t i, float otherwise) {
  if (value->tag != KW_TAG_TENSOR) return otherwise;
  const kw_tensor_ref *tensor = value->u.tensor;
  const int64_t step = tensor->numel == 1 ? 0 : kw_loop_step(tensor, tensor->rank - 1u);
  return (float)kw_number_load(tensor->dtype, kw_walk_base(tensor) + i * step);
}

/* As the reference: the sum, for int8 cut to 32 bits, times the scales, which int4's weights have in them. */
static void finish_columns(const linear_run *run, const linear_room *room, int64_t column, int64_t count) {
  const linear_plan *plan = run->plan;
  const kw_value *args = run->call->args;
  const kw_tensor_ref *out = run->call->outs[0];
  const int64_t step = kw_loop_step(out, 1);
  const bool is_scaled = plan->form != INT4;
  float scales[KW_PRODUCT_LINES], biases[KW_PRODUCT_LINES];
  for (int64_t c = 0; c < count; c++) {
    scales[c] = is_scaled ? parameter_at(&args[3], column + c, 1) : 1;
    biases[c] = parameter_at(&args[4], column + c, -0.0f);
  }
  for (int64_t i = 0; i < plan->rows; i++) {
    const float scale = is_scaled ? parameter_at(&args[2], i, 1) : 1;
    float results[KW_PRODUCT_LINES];
    for (int64_t c = 0; c < count; c++) {
      const double sum = room->sums[i][c];
      const float whole = plan->form == INT8 ? (float)(int32_t)(uint32_t)(int64_t)sum : (float)sum;
      results[c] = whole * (scale * scales[c]) + biases[c];
    }
    kw_port_write(&plan->out, kw_walk_base(out) + i * kw_loop_step(out, 0) + column * step, step, results, count);
  }
}

/* Adds the products of n elements of a row with each line. int8's, which wrap, are exact in a double. */
static void add_products(const linear_plan *plan, const char *input, const void *const *lines, int64_t n,
                         double *sums) {
  if (plan->form == INT8) {
    uint32_t part[KW_PRODUCT_LINES];
    kw_fast_isa()->dot_bytes(part, (const int8_t *)input, (const int8_t *const *)lines, n);
    for (int64_t c = 0; c < KW_PRODUCT_LINES; c++) sums[c] += (int32_t)part[c];
  } else {
    float part[KW_PRODUCT_LINES];
    kw_fast_isa()->product[KW_LANE_F32].dot_lines(part, input, lines, n);
    for (int64_t c = 0; c < KW_PRODUCT_LINES; c++) sums[c] += part[c];
  }
}

/* Results of columns [column, column + count), KW_PRODUCT_LINES at most: absent lines repeat the last one. */
static void multiply_columns(const linear_run *run, linear_room *room, int64_t column, int64_t count) {
  const linear_plan *plan = run->plan;
  const void *lines[KW_PRODUCT_LINES];
  for (int64_t i = 0; i < plan->rows; i++) {
    for (int64_t c = 0; c < KW_PRODUCT_LINES; c++) room->sums[i][c] = 0;
  }
  for (int64_t c = 0; c < KW_PRODUCT_LINES; c++) lines[c] = room->lines[c < count ? c : count - 1];
  for (int64_t from = 0; from < plan->k; from += STRETCH) {
    const int64_t n = plan->k - from < STRETCH ? plan->k - from : STRETCH;
    for (int64_t c = 0; c < count; c++) read_line(run, column + c, from, n, room->lines[c]);
    for (int64_t i = 0; i < plan->rows; i++) {
      add_products(plan, run->inputs + (i * plan->k + from) * plan->lane_size, lines, n, room->sums[i]);
    }
  }
  finish_columns(run, room, column, count);
}

static void run_columns(void *user, int64_t begin, int64_t end) {
  linear_run *run = user;
  const linear_plan *plan = run->plan;
  linear_room room;
  const uint64_t bytes = (uint64_t)plan->rows * sizeof *room.sums;
  room.sums = kw_fast_room(run->host, bytes, &run->status);
  if (!room.sums) return;
  for (int64_t group = begin; group < end; group++) {
    const int64_t column = group * KW_PRODUCT_LINES, left = plan->columns - column;
    multiply_columns(run, &room, column, left < KW_PRODUCT_LINES ? left : KW_PRODUCT_LINES);
  }
  run->host->host_free(run->host->ctx, room.sums);
}

static kw_status run_linear(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const linear_plan *plan = the_plan;
  const kw_tensor_ref *input = call->args[0].u.tensor;
  linear_run run = {.host = host, .call = call, .plan = plan};
  if (plan->rows == 0 || plan->columns == 0) return KW_OK;
  const int64_t pitch = plan->k * plan->lane_size, step = kw_loop_step(input, 1);
  void *inputs;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)(plan->rows * pitch) + 1, 64, &inputs);
  if (status != KW_OK) return status;
  run.inputs = inputs;
  for (int64_t i = 0; i < plan->rows; i++) {
    const char *from = kw_walk_base(input) + i * kw_loop_step(input, 0);
    read_elements(plan, &plan->input, run.inputs + i * pitch, from, step, plan->k);
  }
  const int64_t groups = (plan->columns + KW_PRODUCT_LINES - 1) / KW_PRODUCT_LINES;
  const int64_t each = KW_PRODUCT_LINES * plan->k * plan->rows;
  status = host->parallel_for(host->ctx, groups, 1 + GRAIN / (each + 1), run_columns, &run);
  host->host_free(host->ctx, inputs);
  return status == KW_OK ? atomic_load(&run.status) : status;
}

#define KERNEL(name, keys, which)                                                                               \
  {                                                                                                             \
    .op = name, .dtypes = keys, .plan_size = sizeof(linear_plan), .family = &(which), .make_plan = plan_linear, \
    .run = run_linear                                                                                           \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("keyway::int8_linear", KW_DTYPE_BIT(KW_I8), int8),
    KERNEL("keyway::f8_linear", KW_DTYPES_F8, f8),
    KERNEL("keyway::int4_linear", KW_DTYPES_FLOAT32, int4),
};

kw_fast_family kw_fast_linear(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
