/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention in all its forms: what a call's sequences are, and which way they are computed.
 */
#include "attention_lines.h"
#include "attention_tiles.h"

#include "index.h"
#include "loop.h"
#include "number.h"
#include "operand.h"
#include "walk.h"

#include <math.h>
#include <string.h>

#define PARTS 64        /* that keys are cut into pieces for, */
#define PIECE_LEAST 512 /* none of them smaller */
#define PART_TILES 16   /* tiles of a part, at most: for so many keys and values are packed once */
#define GRAIN (1 << 18) /* products that a thread is woken for */

typedef enum attention_form { SDPA, WHOLE, DECODE, VARLEN, PAGED } attention_form;

/* Where the op's arguments are; 0: it has none. Arguments 0 to 2 are query, key and value. */
typedef struct attention_op {
  attention_form form;
  uint32_t mask, scale, cap, left, right;
} attention_op;

_Static_assert(sizeof(kw_attention_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

static const kw_tensor_ref *tensor_of(const kw_call *call, uint32_t arg) {
  return call->args[arg].u.tensor;
}

static bool has_mask(const kw_call *call, const attention_op *op) {
  return op->mask > 0 && call->args[op->mask].tag == KW_TAG_TENSOR;
}

/* Dimensions given from the last one, as in kw_attention_step. */
static kw_attention_matrix matrix_of(const kw_tensor_ref *tensor, uint32_t row, uint32_t head) {
  const int64_t width = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
  return (kw_attention_matrix){width, kw_attention_step(tensor, head), kw_attention_step(tensor, row),
                               kw_attention_step(tensor, 0)};
}

static int64_t heads_of(const kw_tensor_ref *tensor, uint32_t head) {
  return tensor->rank > head ? tensor->shape[tensor->rank - 1 - head] : 1;
}

static int64_t product_of(const int64_t *shape, uint32_t count) {
  int64_t product = 1;
  for (uint32_t d = 0; d < count; d++) product *= shape[d];
  return product;
}

/* The dimensions before heads and rows, in which the operands broadcast to the result. */
static void plan_sequences(const kw_call *call, const attention_op *op, kw_attention_plan *plan) {
  const kw_tensor_ref *out = call->outs[0];
  const bool is_flat = op->form == VARLEN; /* [rows, heads, width] */
  plan->rank = out->rank > 3 && !is_flat ? out->rank - 3u : 0;
  memcpy(plan->shape, out->shape, plan->rank * sizeof *plan->shape);
  plan->sequences = is_flat ? tensor_of(call, 3)->shape[0] - 1 : product_of(plan->shape, plan->rank);
  for (uint32_t d = 0; d < plan->rank; d++) {
    const uint32_t back = out->rank - 1 - d;
    plan->query_step[d] = kw_attention_step(tensor_of(call, 0), back);
    plan->key_step[d] = plan->is_paged ? 0 : kw_attention_step(tensor_of(call, 1), back);
    plan->value_step[d] = plan->is_paged ? 0 : kw_attention_step(tensor_of(call, 2), back);
    plan->out_step[d] = kw_attention_step(out, back);
    if (plan->has_mask) plan->mask_step[d] = kw_attention_step(tensor_of(call, op->mask), back);
    if (plan->has_lse) plan->lse_step[d] = kw_attention_step(call->outs[1], back - 1);
  }
}

static void plan_matrices(const kw_call *call, const attention_op *op, kw_attention_plan *plan) {
  const kw_tensor_ref *query = tensor_of(call, 0), *key = tensor_of(call, 1), *value = tensor_of(call, 2);
  const bool is_flat = op->form == VARLEN;
  const uint32_t row = is_flat ? 2 : 1, head = is_flat ? 1 : 2;
  const uint32_t key_row = plan->is_paged ? 2 : row, key_head = plan->is_paged ? 1 : head;
  plan->query = matrix_of(query, row, head);
  plan->out = matrix_of(call->outs[0], row, head);
  plan->key = matrix_of(key, key_row, key_head);
  plan->value = matrix_of(value, key_row, key_head);
  plan->heads = heads_of(call->outs[0], head);
  plan->key_heads = heads_of(key, key_head);
  plan->value_heads = heads_of(value, key_head);
  plan->groups = plan->key_heads > plan->value_heads ? plan->key_heads : plan->value_heads;
  const bool nest = plan->groups > 0 && plan->groups % plan->key_heads == 0 && plan->groups % plan->value_heads == 0;
  if (!nest) plan->groups = plan->heads;
  plan->rows = product_of(call->outs[0]->shape, call->outs[0]->rank - 1u);
  plan->keys = key->shape[key->rank - 1 - key_row];
  if (plan->is_paged) {
    plan->page_rows = plan->keys;
    plan->key_page_step = kw_attention_step(key, 3);
    plan->value_page_step = kw_attention_step(value, 3);
    plan->keys *= tensor_of(call, 3)->shape[1];
  }
  if (plan->has_mask) plan->mask = matrix_of(tensor_of(call, op->mask), 1, 2);
  if (plan->has_lse) {
    plan->lse_head_step = kw_attention_step(call->outs[1], is_flat ? 0 : 1);
    plan->lse_row_step = kw_attention_step(call->outs[1], is_flat ? 1 : 0);
  }
}

static kw_status plan_attention(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const attention_op *op = kernel->family;
  const kw_tensor_ref *query = tensor_of(call, 0);
  kw_attention_plan *plan = out_plan;
  const bool alike = tensor_of(call, 1)->dtype == query->dtype && tensor_of(call, 2)->dtype == query->dtype;
  if (!alike || !kw_port_open(&plan->port, query->dtype, kw_lane_of(query->dtype))) return KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t arg = 3; arg < 5 && op->form >= DECODE; arg++) {
    const bool is_scale = arg == 4 && op->form == DECODE;
    if (!is_scale && !kw_index_is_index(call, arg)) return KW_ERR_NOT_IMPLEMENTED;
  }
  plan->lane_size = kw_lane_size(plan->port.lane);
  plan->is_paged = op->form == PAGED;
  plan->has_mask = has_mask(call, op);
  plan->has_lse = call->out_count > 1;
  if (plan->has_lse) plan->lse_dtype = call->outs[1]->dtype;
  if (plan->has_mask && !kw_port_open(&plan->mask_port, tensor_of(call, op->mask)->dtype, plan->port.lane)) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  plan_matrices(call, op, plan);
  plan_sequences(call, op, plan);
  return KW_OK;
}

/* ---- Sequences --------------------------------------------------------------------------------------------------- */

/* A number of an index tensor of rank 1 or 2, which has to be in [low, high]: otherwise the call has an error. */
static bool read_index(const kw_call *call, uint32_t arg, int64_t i, int64_t j, int64_t low, int64_t high,
                       int64_t *out) {
  const kw_tensor_ref *tensor = tensor_of(call, arg);
  const int64_t at = i * tensor->strides[0] + (tensor->rank > 1 ? j * tensor->strides[1] : 0);
  *out = kw_number_load_int(tensor->dtype, kw_walk_base(tensor) + at * (int64_t)kw_number_size(tensor->dtype));
  if (*out >= low && *out <= high) return true;
  kw_selection_blame(call, arg);
  return false;
}

/* How long sequence `b` is; false where that is wrong, or a page of it. */
static bool find_length(const kw_call *call, const kw_attention_plan *plan, int64_t b, int64_t *out) {
  if (!read_index(call, plan->is_paged ? 4 : 3, b, 0, 0, plan->keys, out)) return false;
  for (int64_t j = 0; plan->is_paged && j < *out; j += plan->page_rows) {
    int64_t page;
    if (!read_index(call, 3, b, j / plan->page_rows, 0, tensor_of(call, 1)->shape[0] - 1, &page)) return false;
  }
  return true;
}

/* Sequences of a number of rows and keys each; those whose length is wrong have none. */
static void find_sequences(const kw_call *call, const attention_op *op, const kw_attention_plan *plan,
                           kw_attention_sequence *sequences) {
  const int64_t queries = tensor_of(call, 0)->shape[tensor_of(call, 0)->rank - 2];
  for (int64_t b = 0; b < plan->sequences; b++) {
    kw_attention_sequence *s = &sequences[b];
    int64_t rest = b;
    for (uint32_t d = plan->rank; d-- > 0; rest /= plan->shape[d]) {
      const int64_t at = rest % plan->shape[d];
      s->query += at * plan->query_step[d];
      s->key += at * plan->key_step[d];
      s->value += at * plan->value_step[d];
      s->out += at * plan->out_step[d];
      s->mask += at * plan->mask_step[d];
      s->lse += at * plan->lse_step[d];
    }
    s->keys = plan->keys;
    if (op->form >= DECODE && !find_length(call, plan, b, &s->keys)) continue;
    s->queries = queries;
    s->first = op->form == SDPA ? 0 : s->keys - s->queries;
    if (plan->is_paged) s->pages = tensor_of(call, 3);
    s->page_row = b;
  }
}

/* Sequences that follow each other in the rows of the tensors. From one on whose end is wrong they have none. */
static void find_runs(const kw_call *call, const kw_attention_plan *plan, kw_attention_sequence *sequences) {
  const int64_t totals[2] = {tensor_of(call, 0)->shape[0], tensor_of(call, 1)->shape[0]};
  int64_t starts[2] = {0, 0}, ends[2], zero;
  if (!read_index(call, 3, 0, 0, 0, 0, &zero) || !read_index(call, 4, 0, 0, 0, 0, &zero)) return;
  for (int64_t b = 0; b < plan->sequences; b++) {
    kw_attention_sequence *s = &sequences[b];
    for (uint32_t side = 0; side < 2; side++) { /* the last sequence ends where the tensor does */
      const int64_t low = b + 1 == plan->sequences ? totals[side] : starts[side];
      if (!read_index(call, 3 + side, b + 1, 0, low, totals[side], &ends[side])) return;
    }
    s->query += starts[0] * plan->query.row_step;
    s->out += starts[0] * plan->out.row_step;
    s->lse += starts[0] * plan->lse_row_step;
    s->key += starts[1] * plan->key.row_step;
    s->value += starts[1] * plan->value.row_step;
    s->queries = ends[0] - starts[0];
    s->keys = ends[1] - starts[1];
    s->first = s->keys - s->queries;
    memcpy(starts, ends, sizeof starts);
  }
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

static void make_rule(const kw_call *call, const attention_op *op, const kw_attention_plan *plan,
                      kw_attention_rule *rule) {
  rule->scale = kw_attention_scale(&call->args[op->scale], plan->query.width);
  rule->cap = op->cap > 0 ? kw_attention_number(&call->args[op->cap]) : 0;
  rule->left = op->left > 0 ? kw_attention_window_of(&call->args[op->left]) : -1;
  rule->right = op->right > 0 ? kw_attention_window_of(&call->args[op->right]) : op->form == DECODE ? 0 : -1;
  if (op->form == SDPA && call->args[5].u.b) rule->right = 0;
  rule->bends = rule->cap > 0 || plan->has_mask || !(rule->scale > 0); /* what is hidden stays -inf times the scale */
  kw_attention_fill_rule(rule, plan->port.lane);
}

/* Cuts the keys of few tiles into pieces, by the shape alone. */
static void cut_keys(kw_attention_run *run, int64_t tiles) {
  const int64_t longest = run->plan->keys / PIECE_LEAST, wanted = tiles > 0 ? (PARTS + tiles - 1) / tiles : 1;
  run->pieces = wanted < longest ? wanted : longest;
  if (run->pieces < 1) run->pieces = 1;
  const int64_t share = (run->plan->keys + run->pieces - 1) / run->pieces;
  run->piece_keys = (share + KW_ATTENTION_KEYS - 1) / KW_ATTENTION_KEYS * KW_ATTENTION_KEYS;
}

/* Numbers the parts and rows of all sequences. */
static int64_t number_parts(kw_attention_run *run, kw_attention_sequence *sequences) {
  int64_t parts = 0;
  run->rows = 0;
  for (int64_t b = 0; b < run->count; b++) {
    const int64_t rows = kw_attention_rows(run->plan, &sequences[b]);
    sequences[b].part = parts;
    sequences[b].row = run->rows;
    parts += run->plan->groups * ((rows + run->part_rows - 1) / run->part_rows) * run->pieces;
    run->rows += run->plan->heads * sequences[b].queries;
  }
  return parts;
}

/* Cuts the rows into parts: as large as keep the threads busy, because each packs what it needs. */
static kw_status run_parts(kw_attention_run *run, kw_attention_sequence *sequences, int64_t longest) {
  const kw_attention_plan *plan = run->plan;
  const int64_t columns = run->isa->product[plan->port.lane].columns;
  const bool few = longest <= KW_ATTENTION_LINE_ROWS && longest <= columns / 2;
  uint32_t threads = 1;
  kw_status status = run->host->thread_count(run->host->ctx, &threads);
  if (status != KW_OK) return status;
  run->part_rows = few ? KW_ATTENTION_LINE_ROWS : PART_TILES * columns;
  int64_t parts = number_parts(run, sequences);
  while (!few && threads > 1 && parts < 4 * (int64_t)threads && run->part_rows > columns) {
    run->part_rows /= 2;
    parts = number_parts(run, sequences);
  }
  const int64_t products = (longest < run->part_rows ? longest : run->part_rows) * run->piece_keys *
                           (plan->query.width + plan->value.width + 1);
  status = run->host->parallel_for(run->host->ctx, parts, 1 + GRAIN / (products + 1),
                                   few ? kw_attention_run_lines : kw_attention_run_tiles, run);
  if (status == KW_OK) status = (kw_status)atomic_load(&run->status);
  if (status != KW_OK || run->pieces == 1) return status;
  status = kw_attention_merge(run);
  return status == KW_OK ? (kw_status)atomic_load(&run->status) : status;
}

static kw_status attend(kw_attention_run *run, kw_attention_sequence *sequences) {
  const kw_attention_plan *plan = run->plan;
  const int64_t columns = run->isa->product[plan->port.lane].columns;
  int64_t longest = 0, tiles = 0;
  for (int64_t b = 0; b < run->count; b++) {
    const int64_t rows = kw_attention_rows(plan, &sequences[b]);
    if (rows > longest) longest = rows;
    tiles += plan->groups * ((rows + columns - 1) / columns);
  }
  if (longest == 0) return KW_OK;
  cut_keys(run, tiles);
  void *room = NULL;
  if (run->pieces > 1) {
    const int64_t lines = plan->rows * run->pieces * plan->lane_size;
    kw_status status = run->host->host_alloc(run->host->ctx, (uint64_t)(lines * (plan->out.width + 2)), 64, &room);
    if (status != KW_OK) return status;
    run->sums = room;
    run->tops = run->sums + lines * plan->out.width;
    run->totals = run->tops + lines;
  }
  const kw_status status = run_parts(run, sequences, longest);
  if (room) run->host->host_free(run->host->ctx, room);
  return status;
}

static kw_status run_attention(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const kw_attention_plan *plan = the_plan;
  const kw_fast_kernel *kernel = call->user;
  const attention_op *op = kernel->family;
  if (plan->rows == 0 || plan->sequences == 0) return KW_OK;
  void *room;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)plan->sequences * sizeof(kw_attention_sequence), 64, &room);
  if (status != KW_OK) return status;
  kw_attention_sequence *sequences = room;
  const kw_attention_sequence all = {.query = kw_walk_base(tensor_of(call, 0)),
                                     .key = kw_walk_base(tensor_of(call, 1)),
                                     .value = kw_walk_base(tensor_of(call, 2)),
                                     .mask = plan->has_mask ? kw_walk_base(tensor_of(call, op->mask)) : NULL,
                                     .out = kw_walk_base(call->outs[0]),
                                     .lse = plan->has_lse ? kw_walk_base(call->outs[1]) : NULL};
  for (int64_t b = 0; b < plan->sequences; b++) sequences[b] = all;
  if (op->form == VARLEN) {
    find_runs(call, plan, sequences);
  } else {
    find_sequences(call, op, plan, sequences);
  }
  kw_attention_rule rule;
  make_rule(call, op, plan, &rule);
  kw_attention_run run = {.host = host,
                          .plan = plan,
                          .isa = kw_fast_isa(),
                          .rule = &rule,
                          .sequences = sequences,
                          .count = plan->sequences,
                          .status = KW_OK};
  status = attend(&run, sequences);
  host->host_free(host->ctx, room);
  return status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define KERNEL(name, also, ...)                                                                     \
  {                                                                                                 \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .flags = also, .plan_size = sizeof(kw_attention_plan),   \
    .family = &(const attention_op){__VA_ARGS__}, .make_plan = plan_attention, .run = run_attention \
  }
#define INDEXED KW_KERNEL_DATA_ERRORS

static const kw_fast_kernel kernels[] = {
    KERNEL("scaled_dot_product_attention", 0, SDPA, .mask = 3, .scale = 6),
    KERNEL("keyway::attention", 0, WHOLE, .mask = 3, .scale = 4, .cap = 5, .left = 6, .right = 7),
    KERNEL("keyway::attention_decode", INDEXED, DECODE, .scale = 4, .cap = 5, .left = 6),
    KERNEL("keyway::attention_varlen", INDEXED, VARLEN, .scale = 5, .cap = 6, .left = 7, .right = 8),
    KERNEL("keyway::attention_paged", INDEXED, PAGED, .mask = 5, .scale = 6, .cap = 7, .left = 8, .right = 9),
};

kw_fast_family kw_fast_attention(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
