/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of attention: one kernel, launched for queries, for keys and for values.
 */
#include "kernel_sources.h"
#include "ops/attention.h"
#include "ops/families.h"
#include "ops/moves.h"
#include "program/dtype.h"

#include <string.h>

static const kw_gpu_module attention_backward_module = {
    "attention_backward",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_attention_args, kw_gpu_source_block, kw_gpu_source_attention_at, kw_gpu_source_attention_tile,
     kw_gpu_source_group, kw_gpu_source_attention_backward}};

static const kw_gpu_kernel gradient_kernel = {&attention_backward_module, "kw_attention_gradient_kernel"};
static const kw_gpu_kernel sums_kernel = {&attention_backward_module, "kw_attention_sums_kernel"};

/* Arguments. */
enum { GRAD, QUERY, KEY, VALUE, OUT, LSE };
static const kw_gpu_attention_options options = {.mask = 6, .scale = 7, .cap = 8, .left = 9, .right = 10};

/* [batch, head, row, column], the head in two parts: of keys, and of the queries that one serves. */
static void split_heads(const kw_gpu_tensor *tensor, int64_t pack, int64_t *strides) {
  const int64_t *own = tensor->ref.strides;
  const int64_t split[] = {own[0], own[1] * pack, own[1], own[2], own[3]};
  memcpy(strides, split, sizeof split);
}

static kw_gpu_tensor add_sums(kw_gpu_plan *plan, const kw_gpu_tensor *grad, const kw_gpu_tensor *out) {
  kw_gpu_tensor sums = kw_gpu_temporary(plan, kw_gpu_compute_dtype(grad->ref.dtype), 3, grad->ref.shape);
  kw_attention_sums block = {.width = grad->ref.shape[3]};
  memcpy(block.shape, grad->ref.shape, sizeof block.shape);
  memcpy(block.stride[0], grad->ref.strides, sizeof block.stride[0]);
  memcpy(block.stride[1], out->ref.strides, sizeof block.stride[1]);
  kw_gpu_step *step = kw_gpu_step_add(plan, &sums_kernel, grad->ref.dtype);
  kw_gpu_step_operand(step, &sums);
  kw_gpu_step_operand(step, grad);
  kw_gpu_step_operand(step, out);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_groups(step, sums.ref.numel);
  return sums;
}

/* What all three gradients are made from. */
typedef struct gradient {
  kw_gpu_tensor grad, query, key, value, mask, lse, sums;
  kw_attention_rule rule;
  kw_attention_side queries, keys;
} gradient;

/* Number `result` of the op. */
static void add_gradient(kw_gpu_plan *plan, const gradient *g, uint32_t result) {
  kw_gpu_tensor out = kw_gpu_output(plan, result);
  kw_attention_gradient block = {.rule = g->rule,
                                 .mine_is_query = result == 0,
                                 .of_value = result == 2,
                                 .width = g->query.ref.shape[3],
                                 .value_width = g->value.ref.shape[3],
                                 .heads = g->key.ref.shape[1],
                                 .mine = result == 0 ? g->queries : g->keys,
                                 .theirs = result == 0 ? g->keys : g->queries};
  if (result > 0) { /* a key is seen by queries that the window reaches the other way */
    block.rule.left = g->rule.right;
    block.rule.right = g->rule.left;
  }
  if (out.ref.numel == 0) return;
  split_heads(&out, result == 0 ? g->queries.pack : 1, block.mine.stride[KW_ATTENTION_RESULT]);
  block.tiles = kw_gpu_attention_tiles(block.mine.rows * block.mine.pack, KW_ATTENTION_ROWS);
  block.chunks = kw_gpu_attention_tiles(out.ref.shape[3], KW_ATTENTION_COLUMNS);
  kw_gpu_step *step = kw_gpu_step_add(plan, &gradient_kernel, out.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, result == 0 ? &g->query : &g->key);
  kw_gpu_step_operand(step, result == 0 ? &g->key : &g->query);
  kw_gpu_step_operand(step, result == 0 ? &g->grad : &g->value);
  kw_gpu_step_operand(step, result == 0 ? &g->value : &g->grad);
  kw_gpu_step_operand(step, &g->mask);
  kw_gpu_step_operand(step, &g->lse);
  kw_gpu_step_operand(step, &g->sums);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_attention_values(plan, step, &options, block.width);
  kw_gpu_step_groups(step, out.ref.shape[0] * block.heads * block.tiles * block.chunks);
}

static void lower_attention_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_input(plan, OUT), lse = kw_gpu_input(plan, LSE), mask = kw_gpu_input(plan, options.mask);
  gradient g = {.grad = kw_gpu_input(plan, GRAD),
                .query = kw_gpu_input(plan, QUERY),
                .key = kw_gpu_input(plan, KEY),
                .value = kw_gpu_input(plan, VALUE),
                .mask = kw_gpu_attention_broadcast(&mask, 4),
                .rule = kw_gpu_attention_rule(plan, &options, -1)};
  const int64_t heads = g.key.ref.shape[1], pack = heads > 0 ? g.query.ref.shape[1] / heads : 1;
  g.queries = (kw_attention_side){.rows = g.query.ref.shape[2], .pack = pack};
  g.keys = (kw_attention_side){.rows = g.key.ref.shape[2], .pack = 1};
  split_heads(&g.query, pack, g.queries.stride[KW_ATTENTION_FACTOR]);
  split_heads(&g.grad, pack, g.queries.stride[KW_ATTENTION_OTHER]);
  split_heads(&g.key, 1, g.keys.stride[KW_ATTENTION_FACTOR]);
  split_heads(&g.value, 1, g.keys.stride[KW_ATTENTION_OTHER]);
  split_heads(&g.mask, pack, g.queries.stride[KW_ATTENTION_BIAS]);
  g.keys.stride[KW_ATTENTION_BIAS][3] = g.mask.ref.strides[3];
  g.lse = kw_gpu_contiguous(plan, &lse, lse.ref.dtype);
  g.sums = add_sums(plan, &g.grad, &out);
  for (uint32_t result = 0; result < 3; ++result) add_gradient(plan, &g, result);
}

static const kw_gpu_op ops[] = {
    {"keyway::attention_backward", lower_attention_backward, 0, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_attention_backward_family = {ops, {&attention_backward_module}};
