/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that choose and place elements by index: embedding, index_select, gather, scatter, index, index_put.
 */
#include "index.h"

#include "choice.h"
#include "operand.h"
#include "strided.h"
#include "sum.h"

/* ---- What indices choose ----------------------------------------------------------------------------------------- */

typedef void (*select_fn)(kw_selection *s, const kw_call *call, const kw_tensor_ref *table);

/* An op: how it chooses, and which argument its indices are. */
typedef struct index_op {
  select_fn select;
  uint32_t indices;
} index_op;

static void select_rows(kw_selection *s, const kw_call *call, const kw_tensor_ref *table) {
  kw_index_rows(s, call, table, call->outs[0]);
}

static void select_slices(kw_selection *s, const kw_call *call, const kw_tensor_ref *table) {
  kw_index_slices(s, call, table, call->outs[0]);
}

static void select_lines(kw_selection *s, const kw_call *call, const kw_tensor_ref *table) {
  kw_selection_lines(s, call, 2, table, call->args[1].u.i);
}

static const index_op embedding = {select_rows, 1}, index_select = {select_slices, 2}, gather = {select_lines, 2},
                      index_get = {kw_selection_advanced, 1};

/* ---- Choosing ---------------------------------------------------------------------------------------------------- */

static kw_status plan_take(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const index_op *op = kernel->family;
  (void)plan;
  if (call->args[0].u.tensor->dtype != call->outs[0]->dtype) return KW_ERR_NOT_IMPLEMENTED;
  return kw_choice_serves(call, op->indices) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status run_take(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const index_op *op = kernel->family;
  kw_choice choice = kw_choice_moving(call->outs[0]->dtype);
  kw_selection s;
  (void)plan;
  op->select(&s, call, call->args[0].u.tensor);
  kw_walk_add(&s.walk, call->outs[0]);
  kw_choice_make(&choice, &s, false);
  return kw_choice_run(host, &choice);
}

/* ---- Placing ----------------------------------------------------------------------------------------------------- */

/* The plan is that of the copy of argument 0, on which the others are placed. */
static kw_status plan_put(const kw_call *call, uint32_t indices, const kw_tensor_ref *values, void *plan) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  if (self->dtype != out->dtype || (values && values->dtype != out->dtype)) return KW_ERR_NOT_IMPLEMENTED;
  if (!kw_choice_serves(call, indices)) return KW_ERR_NOT_IMPLEMENTED;
  return kw_strided_plan(plan, out, self) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status run_put(const kw_host_api *host, const kw_call *call, const void *plan, const kw_selection *s) {
  kw_choice choice = kw_choice_moving(call->outs[0]->dtype);
  const kw_status status =
      kw_strided_run(plan, host, kw_walk_base(call->outs[0]), kw_walk_base(call->args[0].u.tensor));
  if (status != KW_OK) return status;
  kw_choice_make(&choice, s, true);
  return kw_choice_run(host, &choice);
}

static kw_status plan_scatter(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  return plan_put(call, 2, call->args[3].tag == KW_TAG_TENSOR ? call->args[3].u.tensor : NULL, plan);
}

static kw_status run_scatter(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *out = call->outs[0];
  kw_selection s;
  kw_element value;
  if (call->args[3].tag == KW_TAG_TENSOR) {
    kw_index_lines(&s, call, out, call->args[3].u.tensor);
  } else {
    value = kw_operand_scalar(&call->args[3]);
    value = kw_operand_as_key(value.dtype, value.bytes, out->dtype);
    select_lines(&s, call, out);
    kw_walk_add_constant(&s.walk, value.bytes);
  }
  return run_put(host, call, plan, &s);
}

static kw_status plan_index_put(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  if (call->args[3].u.b) return kw_sum_plan_index_put(call);
  return plan_put(call, 1, call->args[2].u.tensor, plan);
}

static kw_status run_index_put(const kw_host_api *host, const kw_call *call, const void *plan) {
  kw_selection s;
  if (call->args[3].u.b) return kw_sum_index_put(host, call);
  kw_selection_advanced(&s, call, call->outs[0]);
  kw_walk_add(&s.walk, call->args[2].u.tensor);
  return run_put(host, call, plan, &s);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define TAKE(name, which)                                                                                         \
  {                                                                                                               \
    .op = name, .dtypes = KW_DTYPES_ANY, .flags = KW_KERNEL_DATA_ERRORS, .family = which, .make_plan = plan_take, \
    .run = run_take                                                                                               \
  }
#define PUT(name, noun)                                                                                   \
  {                                                                                                       \
    .op = name, .dtypes = KW_DTYPES_ANY, .flags = KW_KERNEL_DATA_ERRORS, .plan_size = sizeof(kw_strided), \
    .make_plan = plan_##noun, .run = run_##noun                                                           \
  }

static const kw_fast_kernel kernels[] = {
    TAKE("embedding", &embedding),    TAKE("index_select", &index_select), TAKE("gather", &gather),
    TAKE("index.Tensor", &index_get), PUT("scatter.src", scatter),         PUT("scatter.value", scatter),
    PUT("index_put", index_put),
};

kw_fast_family kw_fast_index(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
