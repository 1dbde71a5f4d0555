/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of what indices send to one place: scatter_add, index_add, embedding_dense_backward, index_put; and means,
 * products and the largest and smallest of that: scatter_reduce. What goes to one element is taken in row-major order,
 * as by the reference, so that results have its bits. f16 and bf16 are added up in f32 and rounded once.
 */
#include "sum.h"

#include "choice.h"
#include "index.h"
#include "operand.h"
#include "strided.h"

#include <math.h>
#include <string.h>

#define GRAIN 16384 /* elements: the fewest that a thread is woken for */

/* ---- Additions --------------------------------------------------------------------------------------------------- */

typedef void (*strided_fn)(const void *factor, char *to, int64_t to_step, const char *from, int64_t from_step,
                           int64_t n);

/* Elements of a type T with an index each that become `expression` of a, what is there, and b. */
#define REDUCE_ROW(name, T, expression, index_type)                                            \
  KW_CHOICE_ROW(name, index_type, T, const T a = *(const T *)to; const T b = *(const T *)from; \
                *(T *)to = (T)(expression))

/* Elements of a type T, which are added up as U: unsigned for integers, which wrap. */
#define ADD(name, T, U)                                                                                      \
  static void add_##name(const void *factor, char *to, int64_t to_step, const char *from, int64_t from_step, \
                         int64_t n) {                                                                        \
    const U times = (U) * (const T *)factor;                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      T *sum = (T *)(void *)(to + i * to_step);                                                              \
      const U term = times * (U) * (const T *)(const void *)(from + i * from_step);                          \
      *sum = (T)((U)*sum + term);                                                                            \
    }                                                                                                        \
  }                                                                                                          \
  REDUCE_ROW(add_##name##_row_i64, T, (U)a + (U)b, int64_t)                                                  \
  REDUCE_ROW(add_##name##_row_i32, T, (U)a + (U)b, int32_t)
ADD(f32, float, float)
ADD(f64, double, double)
ADD(u8, uint8_t, uint32_t)
ADD(i8, int8_t, uint32_t)
ADD(i16, int16_t, uint32_t)
ADD(i32, int32_t, uint32_t)
ADD(i64, int64_t, uint64_t)

/* The same of elements with an index each and of those that share one. */
#define REDUCE(name, T, expression)                                                                                 \
  static void name(const void *factor, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n) { \
    (void)factor;                                                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                                               \
      T *at = (T *)(void *)(to + i * to_step);                                                                      \
      const T a = *at, b = *(const T *)(const void *)(from + i * from_step);                                        \
      *at = (T)(expression);                                                                                        \
    }                                                                                                               \
  }                                                                                                                 \
  REDUCE_ROW(name##_row_i64, T, expression, int64_t)                                                                \
  REDUCE_ROW(name##_row_i32, T, expression, int32_t)
#define REDUCE_FLOAT(name, T)                          \
  REDUCE(multiply_##name, T, (a * b))                  \
  REDUCE(larger_##name, T, b != b ? b : b > a ? b : a) \
  REDUCE(smaller_##name, T, b != b ? b : b < a ? b : a)
#define REDUCE_INT(name, T, U)              \
  REDUCE(multiply_##name, T, ((U)a * (U)b)) \
  REDUCE(larger_##name, T, b > a ? b : a)   \
  REDUCE(smaller_##name, T, b < a ? b : a)
REDUCE_FLOAT(f32, float)
REDUCE_FLOAT(f64, double)
REDUCE_INT(u8, uint8_t, uint32_t)
REDUCE_INT(i8, int8_t, uint32_t)
REDUCE_INT(i16, int16_t, uint32_t)
REDUCE_INT(i32, int32_t, uint32_t)
REDUCE_INT(i64, int64_t, uint64_t)

#define DTYPES_OF_SUMS (KW_DTYPES_INT | KW_DTYPES_FLOAT)

typedef enum reduction { ADD_UP, MULTIPLY, LARGER, SMALLER, REDUCTIONS } reduction;

static const struct {
  strided_fn strided;
  kw_choice_rows rows;
} functions[REDUCTIONS][KW_ISA_DTYPES] = {
#define FUNCTIONS(dtype, name) [dtype] = {name, {name##_row_i64, name##_row_i32}}
#define FUNCTIONS_OF(name)                                                                         \
  {                                                                                                \
    FUNCTIONS(KW_F32, name##_f32), FUNCTIONS(KW_F64, name##_f64), FUNCTIONS(KW_U8, name##_u8),     \
        FUNCTIONS(KW_I8, name##_i8), FUNCTIONS(KW_I16, name##_i16), FUNCTIONS(KW_I32, name##_i32), \
        FUNCTIONS(KW_I64, name##_i64),                                                             \
  }
    [ADD_UP] = FUNCTIONS_OF(add),
    [MULTIPLY] = FUNCTIONS_OF(multiply),
    [LARGER] = FUNCTIONS_OF(larger),
    [SMALLER] = FUNCTIONS_OF(smaller)};

/* By which dense elements are taken together, where they lie as lanes do. */
static const kw_pointwise_fn pointwise[REDUCTIONS] = {KW_POINTWISE_ADD, KW_POINTWISE_MUL, KW_POINTWISE_MAXIMUM,
                                                      KW_POINTWISE_MINIMUM};

typedef struct adder {
  kw_dtype dtype;
  reduction reduction;
  bool is_scaled;
  int64_t size;
  _Alignas(16) char factor[16];
  _Alignas(64) char factors[KW_LANE_BLOCK * KW_LANE_BYTES]; /* for `dense`, where it is not 1 */
} adder;

static void add_block(const kw_choice *choice, char *to, int64_t to_step, const char *from, int64_t from_step,
                      int64_t n) {
  const adder *a = choice->user;
  if (!kw_lane_is_native(a->dtype) || to_step != a->size || from_step != a->size) {
    functions[a->reduction][a->dtype].strided(a->factor, to, to_step, from, from_step, n);
    return;
  }
  const kw_pointwise_fn function = a->is_scaled ? KW_POINTWISE_ADD_SCALED : pointwise[a->reduction];
  const kw_lanes_fn add = kw_fast_isa()->pointwise[function][kw_lane_of(a->dtype)];
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = n - i < KW_LANE_BLOCK ? n - i : KW_LANE_BLOCK;
    char *sums = to + i * a->size;
    add(sums, (const void *[]){sums, from + i * a->size, a->factors}, count);
  }
}

/* `times`: a Scalar that what is added is multiplied by, or NULL for 1. */
static void make_adder(adder *a, reduction reduction, kw_dtype dtype, const kw_value *times) {
  const kw_value one = {.tag = KW_TAG_INT, .u.i = 1};
  kw_element element = kw_operand_scalar(times ? times : &one);
  element = kw_operand_as_key(element.dtype, element.bytes, dtype);
  a->dtype = dtype;
  a->reduction = reduction;
  a->is_scaled = times != NULL;
  a->size = (int64_t)kw_number_size(dtype);
  memcpy(a->factor, element.bytes, sizeof a->factor);
  if (times) kw_fast_isa()->move[kw_strided_size(dtype)](a->factors, a->size, a->factor, 0, KW_LANE_BLOCK);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

typedef struct sum_op {
  /* From a table, chosen by the indices of the call, and `values`. */
  void (*select)(kw_selection *s, const kw_call *call, const kw_tensor_ref *table, const kw_tensor_ref *values);
  uint32_t indices, values; /* arguments */
  uint32_t factor;          /* a Scalar among them; 0: there is none */
  uint32_t skipped;         /* an index that is left out; 0: there is none */
  bool from_zero;           /* and not from argument 0 */
  bool is_named;            /* argument 4 says which reduction it is */
} sum_op;

static void select_lines(kw_selection *s, const kw_call *call, const kw_tensor_ref *table,
                         const kw_tensor_ref *values) {
  kw_index_lines(s, call, table, values);
}

static void select_slices(kw_selection *s, const kw_call *call, const kw_tensor_ref *table,
                          const kw_tensor_ref *values) {
  kw_index_slices(s, call, table, values);
  kw_walk_add(&s->walk, values);
}

static void select_rows(kw_selection *s, const kw_call *call, const kw_tensor_ref *table, const kw_tensor_ref *values) {
  kw_index_rows(s, call, table, values);
  kw_walk_add(&s->walk, values);
}

static void select_advanced(kw_selection *s, const kw_call *call, const kw_tensor_ref *table,
                            const kw_tensor_ref *values) {
  kw_selection_advanced(s, call, table);
  kw_walk_add(&s->walk, values);
}

static const sum_op scatter_add = {.select = select_lines, .indices = 2, .values = 3},
                    scatter_reduce = {.select = select_lines, .indices = 2, .values = 3, .is_named = true},
                    index_add = {.select = select_slices, .indices = 2, .values = 3, .factor = 4},
                    index_put = {.select = select_advanced, .indices = 1, .values = 2},
                    embedding_backward = {
                        .select = select_rows, .indices = 1, .values = 0, .skipped = 3, .from_zero = true};

/* What a mean divides is a sum. */
static reduction reduction_of(const sum_op *op, const kw_call *call) {
  if (!op->is_named) return ADD_UP;
  const char *name = call->args[4].u.s;
  return strcmp(name, "prod") == 0   ? MULTIPLY
         : strcmp(name, "amax") == 0 ? LARGER
         : strcmp(name, "amin") == 0 ? SMALLER
                                     : ADD_UP;
}

static bool is_mean(const sum_op *op, const kw_call *call) {
  return op->is_named && strcmp(call->args[4].u.s, "mean") == 0;
}

static kw_status plan_sum(const sum_op *op, const kw_call *call) {
  const kw_dtype dtype = call->outs[0]->dtype;
  if (!(KW_DTYPE_BIT(dtype) & DTYPES_OF_SUMS) || call->args[0].u.tensor->dtype != dtype) return KW_ERR_NOT_IMPLEMENTED;
  if (call->args[op->values].u.tensor->dtype != dtype) return KW_ERR_NOT_IMPLEMENTED;
  return kw_choice_serves(call, op->indices) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* ---- Without argument 0, and means ------------------------------------------------------------------------------- */

/* Has `choice` take one number to each place of the table that the indices of scatter_reduce name. */
static kw_status take_number(const kw_host_api *host, const kw_call *call, const kw_tensor_ref *table, kw_choice choice,
                             const void *number) {
  kw_selection s;
  kw_selection_lines(&s, call, 2, table, call->args[1].u.i);
  kw_walk_add_constant(&s.walk, number);
  kw_choice_make(&choice, &s, true);
  return kw_choice_run(host, &choice);
}

/* Gives these places the number that changes no other. */
static kw_status clear_named(const kw_host_api *host, const kw_call *call, reduction reduction,
                             const kw_tensor_ref *table) {
  static const double numbers[REDUCTIONS] = {0, 1, -INFINITY, INFINITY};
  kw_element number;
  kw_number_store(table->dtype, number.bytes, numbers[reduction]);
  return take_number(host, call, table, kw_choice_moving(table->dtype), number.bytes);
}

/* Sums and how many numbers each is made of; 1 where it is argument 0's alone. */
typedef struct mean_run {
  kw_loop loop;
  char *base[2];
  kw_port sums, counts;
} mean_run;

static void divide_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  _Alignas(64) char sums[KW_LANE_BLOCK * KW_LANE_BYTES], counts[KW_LANE_BLOCK * KW_LANE_BYTES];
  const mean_run *run = context;
  const kw_lane lane = run->sums.lane;
  const bool is_integer = kw_number_is_integer(run->sums.dtype);
  const kw_lanes_fn divide = kw_fast_isa()->pointwise[is_integer ? KW_POINTWISE_DIV_FLOOR : KW_POINTWISE_DIV][lane];
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    kw_port_read(&run->sums, sums, at[0] + i * step[0], step[0], count);
    kw_port_read(&run->counts, counts, at[1] + i * step[1], step[1], count);
    divide(sums, (const void *[]){sums, counts}, count);
    kw_port_write(&run->sums, at[0] + i * step[0], step[0], sums, count);
  }
}

static void divide_elements(void *user, int64_t begin, int64_t end) {
  const mean_run *run = user;
  kw_loop_run(&run->loop, run->base, begin, end, divide_row, user);
}

/* Makes sums means. */
static kw_status divide(const kw_host_api *host, const kw_call *call, const kw_tensor_ref *table) {
  const int32_t zero = 0, one = 1;
  const kw_tensor_ref ones = {.dtype = KW_I32, .numel = 1, .mem = (void *)(uintptr_t)&one};
  adder a;
  const kw_choice count = {.block = add_block, .user = &a, .rows = functions[ADD_UP][KW_I32].rows, .skipped = -1};
  kw_tensor_ref counts = kw_strided_dense_like(table, KW_I32);
  mean_run run = {.base = {kw_walk_base(table)}};
  void *room;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)table->numel * sizeof one, sizeof one, &room);
  if (status != KW_OK) return status;
  counts.mem = run.base[1] = room;
  make_adder(&a, ADD_UP, KW_I32, NULL);
  status = kw_strided_copy(host, &counts, &ones);
  if (status == KW_OK && !call->args[5].u.b) {
    status = take_number(host, call, &counts, kw_choice_moving(KW_I32), &zero);
  }
  if (status == KW_OK) status = take_number(host, call, &counts, count, &one);
  if (status == KW_OK) {
    kw_port_open(&run.sums, table->dtype, kw_lane_of(table->dtype));
    kw_port_open(&run.counts, KW_I32, run.sums.lane);
    kw_loop_begin(&run.loop, table);
    kw_loop_add(&run.loop, &counts);
    kw_loop_make(&run.loop);
    status = host->parallel_for(host->ctx, run.loop.numel, GRAIN, divide_elements, &run);
  }
  host->host_free(host->ctx, room);
  return status;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

/* In a table that has the dtype in which is added up, as `values` have. */
static kw_status add_up(const kw_host_api *host, const kw_call *call, const sum_op *op, const kw_tensor_ref *table,
                        const kw_tensor_ref *values) {
  const reduction reduction = reduction_of(op, call);
  kw_status status =
      op->from_zero ? kw_strided_clear(host, table) : kw_strided_copy(host, table, call->args[0].u.tensor);
  if (status == KW_OK && op->is_named && !call->args[5].u.b) status = clear_named(host, call, reduction, table);
  if (status != KW_OK) return status;
  adder a;
  make_adder(&a, reduction, table->dtype, op->factor > 0 ? &call->args[op->factor] : NULL);
  kw_choice choice = {.block = add_block, .user = &a, .skipped = op->skipped > 0 ? call->args[op->skipped].u.i : -1};
  if (op->factor == 0 && op->skipped == 0) choice.rows = functions[reduction][table->dtype].rows;
  kw_selection s;
  op->select(&s, call, table, values);
  kw_choice_make(&choice, &s, true);
  status = kw_choice_run(host, &choice);
  return status == KW_OK && is_mean(op, call) ? divide(host, call, table) : status;
}

static kw_status sum(const kw_host_api *host, const kw_call *call, const sum_op *op) {
  const kw_tensor_ref *out = call->outs[0], *values = call->args[op->values].u.tensor;
  if (!kw_number_is_narrow(out->dtype)) return add_up(host, call, op, out, values);
  kw_tensor_ref table = kw_strided_dense_like(out, KW_F32), terms = kw_strided_dense_like(values, KW_F32);
  const uint64_t table_bytes = (uint64_t)out->numel * sizeof(float), bytes = (uint64_t)values->numel * sizeof(float);
  void *room;
  kw_status status = host->host_alloc(host->ctx, table_bytes + bytes, 64, &room);
  if (status != KW_OK) return status;
  table.mem = room;
  terms.mem = (char *)room + table_bytes;
  status = kw_strided_copy(host, &terms, values);
  if (status == KW_OK) status = add_up(host, call, op, &table, &terms);
  if (status == KW_OK) status = kw_strided_copy(host, out, &table);
  host->host_free(host->ctx, room);
  return status;
}

kw_status kw_sum_plan_index_put(const kw_call *call) {
  return plan_sum(&index_put, call);
}

kw_status kw_sum_index_put(const kw_host_api *host, const kw_call *call) {
  return sum(host, call, &index_put);
}

static kw_status plan(const kw_fast_kernel *kernel, const kw_call *call, void *unused) {
  (void)unused;
  return plan_sum(kernel->family, call);
}

/* Where gradients are divided by how often their row is chosen that is the reference's. */
static kw_status plan_embedding(const kw_fast_kernel *kernel, const kw_call *call, void *unused) {
  return call->args[4].u.b ? KW_ERR_NOT_IMPLEMENTED : plan(kernel, call, unused);
}

/* Numbers of a mean are counted in 32 bits. */
static kw_status plan_reduce(const kw_fast_kernel *kernel, const kw_call *call, void *unused) {
  if (is_mean(kernel->family, call) && call->args[2].u.tensor->numel >= INT32_MAX) return KW_ERR_NOT_IMPLEMENTED;
  return plan(kernel, call, unused);
}

static kw_status run(const kw_host_api *host, const kw_call *call, const void *unused) {
  const kw_fast_kernel *kernel = call->user;
  (void)unused;
  return sum(host, call, kernel->family);
}

#define KERNEL(name, keys, which, planner) \
  { .op = name, .dtypes = keys, .flags = KW_KERNEL_DATA_ERRORS, .family = &(which), .make_plan = planner, .run = run }

static const kw_fast_kernel kernels[] = {
    KERNEL("scatter_add", DTYPES_OF_SUMS, scatter_add, plan),
    KERNEL("scatter_reduce.two", DTYPES_OF_SUMS, scatter_reduce, plan_reduce),
    KERNEL("index_add", DTYPES_OF_SUMS, index_add, plan),
    KERNEL("embedding_dense_backward", KW_DTYPES_FLOAT, embedding_backward, plan_embedding),
};

kw_fast_family kw_fast_sum(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
