/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of attention (Dao et al., "FlashAttention", NeurIPS 2022, appendix B.2), of a head of keys and the heads of
 * queries that it serves at a time. Some queries meet some keys: weights P = exp(s - logsumexp) are made again, and
 *
 *   dV += P' grad_out,  dS = P * (grad_out V' - D) * (1 - tanh^2 of the cap),  dQ += dS K,  dK += dS' Q,
 *
 * where D is the sum of grad_out * out along a row. The scale is multiplied into dQ and dK at their end.
 */
#include "attention_part.h"

#include "number.h"
#include "panels.h"
#include "walk.h"

#include <math.h>
#include <string.h>

#define QUERIES 96 /* that meet keys at a time, */
#define KEYS \
  288 /* so many of these: multiples of every block's rows and columns, whose scores stay in the second cache */
#define GRAIN 1 /* heads that a thread is woken for */

enum { GRAD, QUERY, KEY, VALUE, OUT, TENSORS };

/* Steps are bytes. */
typedef struct head_matrix {
  int64_t batch_step, head_step, row_step, column_step;
} head_matrix;

typedef struct backward_plan {
  kw_port port, mask_port;
  bool has_mask;
  kw_dtype lse_dtype;
  int64_t lane_size;
  int64_t batches, heads, key_heads, queries, keys, width, value_width;
  head_matrix in[TENSORS], mask, lse; /* lse has no columns */
  head_matrix to_query, to_key, to_value;
} backward_plan;
_Static_assert(sizeof(backward_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

static head_matrix matrix_of(const kw_tensor_ref *tensor) {
  return (head_matrix){kw_attention_step(tensor, 3), kw_attention_step(tensor, 2), kw_attention_step(tensor, 1),
                       kw_attention_step(tensor, 0)};
}

/* Arguments: grad_out, query, key, value, out, logsumexp, mask, scale, softcap, window_left, window_right. */
static kw_status plan_backward(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *query = call->args[QUERY].u.tensor, *key = call->args[KEY].u.tensor;
  const kw_tensor_ref *lse = call->args[5].u.tensor;
  backward_plan *plan = out_plan;
  (void)kernel;
  if (!kw_port_open(&plan->port, query->dtype, kw_lane_of(query->dtype))) return KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t k = 0; k < TENSORS; k++) {
    const kw_tensor_ref *tensor = call->args[k].u.tensor;
    if (tensor->dtype != query->dtype || tensor->rank != 4) return KW_ERR_NOT_IMPLEMENTED;
    plan->in[k] = matrix_of(tensor);
  }
  plan->lane_size = kw_lane_size(plan->port.lane);
  plan->has_mask = call->args[6].tag == KW_TAG_TENSOR;
  if (plan->has_mask) {
    const kw_tensor_ref *mask = call->args[6].u.tensor;
    if (!kw_port_open(&plan->mask_port, mask->dtype, plan->port.lane)) return KW_ERR_NOT_IMPLEMENTED;
    plan->mask = matrix_of(mask);
  }
  plan->lse_dtype = lse->dtype;
  plan->lse = (head_matrix){kw_attention_step(lse, 2), kw_attention_step(lse, 1), kw_attention_step(lse, 0), 0};
  plan->batches = query->shape[0];
  plan->heads = query->shape[1];
  plan->queries = query->shape[2];
  plan->width = query->shape[3];
  plan->key_heads = key->shape[1];
  plan->keys = key->shape[2];
  plan->value_width = call->args[VALUE].u.tensor->shape[3];
  plan->to_query = matrix_of(call->outs[0]);
  plan->to_key = matrix_of(call->outs[1]);
  plan->to_value = matrix_of(call->outs[2]);
  return KW_OK;
}

/* ---- Room -------------------------------------------------------------------------------------------------------- */

typedef struct backward_run {
  const kw_host_api *host;
  const backward_plan *plan;
  const kw_isa *isa;
  const char *in[TENSORS], *mask, *lse;
  char *to_query, *to_key, *to_value;
  kw_attention_rule rule;
  atomic_int status;
} backward_run;

/* A head of keys in hand, in lanes. Rows of matrices have room for whole blocks, and so have their columns. */
typedef struct head {
  const backward_run *run;
  const backward_plan *plan;
  const kw_product *product;
  const kw_row_lanes *rows_of;
  kw_lane lane;
  int64_t size, wide, value_wide; /* of a lane in bytes; of rows in lanes */
  char *room;
  char *keys, *keys_turned, *values_turned; /* the keys; and as panels of columns */
  char *key_slopes, *value_slopes;
  char *queries, *grads, *query_slopes; /* of some queries */
  char *weights, *slopes;               /* P and dS, [QUERIES, KEYS] */
  char *panel, *line, *mask, *capped;   /* capped: the cap's tanh, as the weights lie */
  char *zeros;                          /* lanes */
  double sums[QUERIES], lse[QUERIES];   /* D, and logarithms */
} head;

/* Divides one allocation, which is zeroed; false where there is none, and the run's status says so. */
static bool make_room(head *h, backward_run *run) {
  const backward_plan *plan = h->plan;
  const int64_t keys = kw_round_up(plan->keys, h->product->columns) + KW_PRODUCT_WIDTH;
  const int64_t queries = QUERIES + KW_PRODUCT_WIDTH, longest = h->wide + h->value_wide + KEYS;
  struct {
    char **at;
    int64_t lanes;
  } const parts[] = {{&h->keys, keys * h->wide},
                     {&h->keys_turned, keys * h->wide},
                     {&h->values_turned, keys * h->value_wide},
                     {&h->key_slopes, keys * h->wide},
                     {&h->value_slopes, keys * h->value_wide},
                     {&h->queries, queries * h->wide},
                     {&h->grads, queries * h->value_wide},
                     {&h->query_slopes, queries * h->wide},
                     {&h->weights, queries * KEYS},
                     {&h->slopes, queries * KEYS},
                     {&h->panel, KW_PRODUCT_WIDTH * longest},
                     {&h->line, longest},
                     {&h->mask, KEYS},
                     {&h->capped, run->rule.cap > 0 ? queries * KEYS : 0},
                     {&h->zeros, KEYS}};
  int64_t bytes = 64;
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) bytes += kw_round_up(parts[p].lanes * h->size, 64);
  char *next = h->room = kw_fast_room(run->host, (uint64_t)bytes, &run->status);
  if (!next) return false;
  memset(next, 0, (size_t)bytes);
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
    *parts[p].at = next;
    next += kw_round_up(parts[p].lanes * h->size, 64);
  }
  return true;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* The second matrix of a product, [k, columns]: rows `step` lanes apart, or panels of a block's columns. */
typedef struct right_matrix {
  const char *at;
  int64_t step;
  bool is_panels;
} right_matrix;

static kw_product_lines lines_of(const head *h, const char *at, int64_t step, int64_t k_step) {
  return (kw_product_lines){
      .at = at, .step = step * h->size, .k_step = k_step * h->size, .size = h->size, .is_native = true};
}

/* to = left right, or to += that: [rows, k] times [k, columns]. */
static void multiply(const head *h, kw_product_lines left, int64_t rows, int64_t k, right_matrix right, int64_t columns,
                     char *to, int64_t to_step, bool adds) {
  const int64_t down = h->product->rows, across = h->product->columns;
  for (int64_t i = 0; i < rows; i += down) {
    h->product->pack(h->panel, down, &left, kw_least(down, rows - i), k);
    left.at += down * left.step;
    for (int64_t j = 0; j < columns; j += across) {
      h->product->block(kw_least(down, rows - i), h->panel, right.at + (right.is_panels ? j * k : j) * h->size,
                        right.is_panels ? across : right.step, k, to + (i * to_step + j) * h->size, to_step, adds);
    }
  }
}

/* Lines of `width` lanes as panels of a block's columns. */
static void turn(const head *h, char *to, const char *from, int64_t step, int64_t lines, int64_t width) {
  kw_panels_pack(h->product, to, h->product->columns, lines_of(h, from, step, 1), lines, width, h->size);
}

/* ---- Loading and storing ----------------------------------------------------------------------------------------- */

static void load_rows(const head *h, char *to, int64_t step, const char *from, const head_matrix *m, int64_t rows,
                      int64_t width) {
  for (int64_t i = 0; i < rows; i++) {
    kw_port_read(&h->plan->port, to + i * step * h->size, from + i * m->row_step, m->column_step, width);
  }
}

static void apply(const head *h, kw_pointwise_fn function, void *out, const void *a, const void *b, int64_t n) {
  h->run->isa->pointwise[function][h->lane](out, (const void *[]){a, b}, n);
}

/* Rows of a gradient, times the scale where they are to be. */
static void store_rows(const head *h, char *to, const head_matrix *m, char *from, int64_t step, int64_t rows,
                       int64_t width, bool scales) {
  for (int64_t i = 0; i < rows; i++) {
    char *row = from + i * step * h->size;
    for (int64_t e = 0; scales && e < width; e += KW_LANE_BLOCK) {
      char *at = row + e * h->size;
      apply(h, KW_POINTWISE_MUL, at, at, h->run->rule.scale_lanes, kw_block_at(e, width));
    }
    kw_port_write(&h->plan->port, to + i * m->row_step, m->column_step, row, width);
  }
}

static double lane_at(const head *h, const char *lanes) {
  return kw_number_load(h->lane == KW_LANE_F32 ? KW_F32 : KW_F64, lanes);
}

/* Queries [first, first + count) of a head, the gradients of their results, and the sums D. `at` is the head's. */
static void load_queries(head *h, const char *const *at, const char *lse, int64_t first, int64_t count) {
  const backward_plan *plan = h->plan;
  const head_matrix *in = plan->in;
  const int64_t width = plan->value_width;
  load_rows(h, h->queries, h->wide, at[QUERY] + first * in[QUERY].row_step, &in[QUERY], count, plan->width);
  load_rows(h, h->grads, h->value_wide, at[GRAD] + first * in[GRAD].row_step, &in[GRAD], count, width);
  for (int64_t i = 0; i < count; i++) {
    const kw_fold *sum = &h->run->isa->folds[KW_FOLD_SUM][h->lane];
    kw_total total;
    _Alignas(KW_LANE_BYTES) char lane[KW_LANE_BYTES];
    kw_port_read(&plan->port, h->line, at[OUT] + (first + i) * in[OUT].row_step, in[OUT].column_step, width);
    sum->start(&total);
    h->rows_of->add_products(&total, h->grads + i * h->value_wide * h->size, h->line, width);
    sum->finish(lane, &total, 1);
    h->sums[i] = lane_at(h, lane);
    h->lse[i] = kw_number_load(plan->lse_dtype, lse + (first + i) * plan->lse.row_step);
  }
  memset(h->query_slopes, 0, (size_t)(kw_round_up(count, KW_PRODUCT_WIDTH) * h->wide * h->size));
}

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

/* Which keys query number `query` sees. */
static void window(const head *h, int64_t query, int64_t *from, int64_t *to) {
  const int64_t keys = h->plan->keys;
  kw_attention_see(&h->run->rule, keys - h->plan->queries + query, 0, keys, from, to);
}

/* A row's scores of keys [j, j + n) become weights; `mask` is the query's. */
static void weigh(const head *h, int64_t i, int64_t query, int64_t j, int64_t n, const char *mask) {
  const backward_run *run = h->run;
  const backward_plan *plan = h->plan;
  char *row = h->weights + i * KEYS * h->size;
  int64_t from, to;
  window(h, query, &from, &to);
  from = from < j ? 0 : kw_least(from - j, n);
  to = to < j ? 0 : kw_least(to - j, n);
  if (from >= to || h->lse[i] == -(double)INFINITY) { /* nothing is seen */
    memset(row, 0, (size_t)(n * h->size));
    return;
  }
  kw_attention_bend(&run->rule, h->lane, row, run->rule.cap > 0 ? h->capped + i * KEYS * h->size : NULL, n);
  if (plan->has_mask) {
    kw_port_read(&plan->mask_port, h->mask, mask + j * plan->mask.column_step, plan->mask.column_step, n);
    kw_attention_add_mask(&run->rule, &plan->mask_port, row, h->mask, n);
  }
  memcpy(row, run->rule.hidden_lanes, (size_t)(from * h->size));
  memcpy(row + to * h->size, run->rule.hidden_lanes, (size_t)((n - to) * h->size));
  _Alignas(KW_LANE_BYTES) char lse[KW_LANE_BYTES];
  kw_lanes_fill_number(lse, h->lse[i], h->lane, 1);
  h->rows_of->exp_below(row, row, lse, n);
}

/* A row's products with the values become gradients of its scores. What is hidden has none, whatever its value is. */
static void slope(const head *h, int64_t i, int64_t n) {
  char *row = h->slopes + i * KEYS * h->size;
  const char *weights = h->weights + i * KEYS * h->size;
  _Alignas(KW_LANE_BYTES) char sum[KW_LANE_BYTES];
  kw_lanes_fill_number(sum, h->sums[i], h->lane, 1);
  h->rows_of->share_slope(row, row, weights, sum, n);
  if (h->run->rule.cap > 0) apply(h, KW_POINTWISE_TANH_BACKWARD, row, row, h->capped + i * KEYS * h->size, n);
  h->run->isa->pointwise[KW_POINTWISE_WHERE][h->lane](row, (const void *[]){weights, row, h->zeros}, n);
}

/* Queries [first, first + count), which are loaded, meet keys [j, j + n); j is a multiple of a block's columns. */
static void meet(const head *h, int64_t first, int64_t count, int64_t j, int64_t n, const char *mask) {
  const backward_plan *plan = h->plan;
  const int64_t width = plan->width, value_width = plan->value_width, size = h->size;
  const right_matrix keys_turned = {h->keys_turned + j * width * size, 0, true};
  const right_matrix values_turned = {h->values_turned + j * value_width * size, 0, true};
  multiply(h, lines_of(h, h->queries, h->wide, 1), count, width, keys_turned, n, h->weights, KEYS, false);
  multiply(h, lines_of(h, h->grads, h->value_wide, 1), count, value_width, values_turned, n, h->slopes, KEYS, false);
  for (int64_t i = 0; i < count; i++) {
    weigh(h, i, first + i, j, n, mask ? mask + (first + i) * plan->mask.row_step : NULL);
    slope(h, i, n);
  }
  const right_matrix grads = {h->grads, h->value_wide, false}, queries = {h->queries, h->wide, false};
  const right_matrix keys = {h->keys + j * h->wide * size, h->wide, false};
  multiply(h, lines_of(h, h->weights, 1, KEYS), n, count, grads, value_width,
           h->value_slopes + j * h->value_wide * size, h->value_wide, true);
  multiply(h, lines_of(h, h->slopes, 1, KEYS), n, count, queries, width, h->key_slopes + j * h->wide * size, h->wide,
           true);
  multiply(h, lines_of(h, h->slopes, KEYS, 1), count, n, keys, width, h->query_slopes, h->wide, true);
}

/* ---- Heads ------------------------------------------------------------------------------------------------------- */

/* All queries of one head meet the keys. */
static void run_queries(head *h, int64_t batch, int64_t number) {
  const backward_run *run = h->run;
  const backward_plan *plan = h->plan;
  const char *at[TENSORS];
  for (uint32_t k = 0; k < TENSORS; k++) {
    at[k] = run->in[k] + batch * plan->in[k].batch_step + number * plan->in[k].head_step;
  }
  const char *lse = run->lse + batch * plan->lse.batch_step + number * plan->lse.head_step;
  const char *mask = plan->has_mask ? run->mask + batch * plan->mask.batch_step + number * plan->mask.head_step : NULL;
  char *to = run->to_query + batch * plan->to_query.batch_step + number * plan->to_query.head_step;
  for (int64_t first = 0; first < plan->queries; first += QUERIES) {
    const int64_t count = kw_least(QUERIES, plan->queries - first);
    int64_t low = plan->keys, high = 0;
    for (int64_t i = 0; i < count; i++) {
      int64_t from, end;
      window(h, first + i, &from, &end);
      if (from < end && from < low) low = from;
      if (from < end && end > high) high = end;
    }
    load_queries(h, at, lse, first, count);
    for (int64_t j = low / h->product->columns * h->product->columns; j < high; j += KEYS) {
      meet(h, first, count, j, kw_least(KEYS, high - j), mask);
    }
    store_rows(h, to + first * plan->to_query.row_step, &plan->to_query, h->query_slopes, h->wide, count, plan->width,
               true);
  }
}

static void run_head(head *h, int64_t batch, int64_t number) {
  const backward_run *run = h->run;
  const backward_plan *plan = h->plan;
  const int64_t group = plan->heads / plan->key_heads, keys = plan->keys;
  const char *key = run->in[KEY] + batch * plan->in[KEY].batch_step + number * plan->in[KEY].head_step;
  const char *value = run->in[VALUE] + batch * plan->in[VALUE].batch_step + number * plan->in[VALUE].head_step;
  load_rows(h, h->keys, h->wide, key, &plan->in[KEY], keys, plan->width);
  turn(h, h->keys_turned, h->keys, h->wide, keys, plan->width);
  load_rows(h, h->value_slopes, h->value_wide, value, &plan->in[VALUE], keys, plan->value_width);
  turn(h, h->values_turned, h->value_slopes, h->value_wide, keys, plan->value_width);
  memset(h->key_slopes, 0, (size_t)((keys + KW_PRODUCT_WIDTH) * h->wide * h->size));
  memset(h->value_slopes, 0, (size_t)((keys + KW_PRODUCT_WIDTH) * h->value_wide * h->size));
  for (int64_t n = 0; n < group; n++) run_queries(h, batch, number * group + n);
  store_rows(h, run->to_key + batch * plan->to_key.batch_step + number * plan->to_key.head_step, &plan->to_key,
             h->key_slopes, h->wide, keys, plan->width, true);
  store_rows(h, run->to_value + batch * plan->to_value.batch_step + number * plan->to_value.head_step, &plan->to_value,
             h->value_slopes, h->value_wide, keys, plan->value_width, false);
}

static void run_heads(void *user, int64_t begin, int64_t end) {
  backward_run *run = user;
  const backward_plan *plan = run->plan;
  head h = {.run = run,
            .plan = plan,
            .product = &run->isa->product[plan->port.lane],
            .rows_of = &run->isa->rows[plan->port.lane],
            .lane = plan->port.lane,
            .size = plan->lane_size};
  h.wide = kw_round_up(plan->width, h.product->columns);
  h.value_wide = kw_round_up(plan->value_width, h.product->columns);
  if (!make_room(&h, run)) return;
  for (int64_t i = begin; i < end; i++) run_head(&h, i / plan->key_heads, i % plan->key_heads);
  run->host->host_free(run->host->ctx, h.room);
}

static kw_status run_backward(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const backward_plan *plan = the_plan;
  backward_run run = {.host = host,
                      .plan = plan,
                      .isa = kw_fast_isa(),
                      .mask = plan->has_mask ? kw_walk_base(call->args[6].u.tensor) : NULL,
                      .lse = kw_walk_base(call->args[5].u.tensor),
                      .to_query = kw_walk_base(call->outs[0]),
                      .to_key = kw_walk_base(call->outs[1]),
                      .to_value = kw_walk_base(call->outs[2]),
                      .rule = {.scale = kw_attention_scale(&call->args[7], plan->width),
                               .cap = kw_attention_number(&call->args[8]),
                               .left = kw_attention_window_of(&call->args[9]),
                               .right = kw_attention_window_of(&call->args[10])},
                      .status = KW_OK};
  kw_attention_fill_rule(&run.rule, plan->port.lane);
  for (uint32_t k = 0; k < TENSORS; k++) run.in[k] = kw_walk_base(call->args[k].u.tensor);
  const kw_status status = host->parallel_for(host->ctx, plan->batches * plan->key_heads, 1, run_heads, &run);
  return status == KW_OK ? (kw_status)atomic_load(&run.status) : status;
}

static const kw_fast_kernel kernels[] = {{.op = "keyway::attention_backward",
                                          .dtypes = KW_DTYPES_FLOAT,
                                          .plan_size = sizeof(backward_plan),
                                          .make_plan = plan_backward,
                                          .run = run_backward}};

kw_fast_family kw_fast_attention_backwards(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
