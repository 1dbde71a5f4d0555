/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention: parts of sequences, their lines, and what becomes of rows.
 */
#include "attention_part.h"

#include "loop.h"
#include "number.h"
#include "operand.h"
#include "sizes.h"
#include "walk.h"

#include <math.h>
#include <string.h>

#define GRAIN 65536 /* sums that a thread is woken for, where pieces are merged */

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

int64_t kw_attention_step(const kw_tensor_ref *tensor, uint32_t back) {
  if (tensor->rank <= back || tensor->shape[tensor->rank - 1 - back] == 1) return 0;
  return kw_loop_step(tensor, tensor->rank - 1 - back);
}

double kw_attention_number(const kw_value *value) {
  const kw_element element = kw_operand_scalar(value);
  return kw_number_load(element.dtype, element.bytes);
}

double kw_attention_scale(const kw_value *scale, int64_t width) {
  if (scale->tag != KW_TAG_NONE) return kw_attention_number(scale);
  return width > 0 ? 1 / sqrt((double)width) : 1;
}

int64_t kw_attention_window_of(const kw_value *window) {
  return window->u.i < INT64_MAX / 2 ? window->u.i : -1;
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

int64_t kw_attention_rows(const kw_attention_plan *plan, const kw_attention_sequence *sequence) {
  return plan->heads / plan->groups * sequence->queries;
}

/* The last sequence whose first part, or row, is `number` at most. */
static const kw_attention_sequence *sequence_of(const kw_attention_run *run, int64_t number, bool of_rows) {
  int64_t low = 0, high = run->count;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    const int64_t first = of_rows ? run->sequences[middle].row : run->sequences[middle].part;
    if (first <= number) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return &run->sequences[low];
}

kw_attention_part kw_attention_part_at(kw_attention_run *run, int64_t number) {
  const kw_attention_sequence *sequence = sequence_of(run, number, false);
  const int64_t rows = kw_attention_rows(run->plan, sequence), across = (rows + run->part_rows - 1) / run->part_rows;
  const int64_t here = number - sequence->part, row = here / run->pieces % across * run->part_rows;
  kw_attention_part part = {.run = run,
                            .sequence = sequence,
                            .group = here / run->pieces / across,
                            .row = row,
                            .end = kw_least(row + run->part_rows, rows),
                            .piece = here % run->pieces};
  part.from = kw_least(part.piece * run->piece_keys, sequence->keys);
  part.to = part.piece + 1 == run->pieces ? sequence->keys : kw_least(part.from + run->piece_keys, sequence->keys);
  return part;
}

/* The head of a group's row, and its query there. */
static int64_t head_of(const kw_attention_part *part, int64_t row) {
  const kw_attention_plan *plan = part->run->plan;
  return part->group * (plan->heads / plan->groups) + row / part->sequence->queries;
}

static int64_t query_of(const kw_attention_part *part, int64_t row) {
  return row % part->sequence->queries;
}

void kw_attention_see(const kw_attention_rule *rule, int64_t position, int64_t low, int64_t high, int64_t *from,
                      int64_t *to) {
  *from = rule->left >= 0 && position - rule->left > low ? position - rule->left : low;
  *to = rule->right >= 0 ? kw_least(high, position + rule->right + 1) : high;
  if (*to < *from) *to = *from = kw_least(*from, high);
}

void kw_attention_window(const kw_attention_part *part, int64_t row, int64_t *from, int64_t *to) {
  kw_attention_see(part->run->rule, part->sequence->first + query_of(part, row), part->from, part->to, from, to);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* Keys, or values, of a part. */
typedef struct side {
  const kw_attention_matrix *matrix;
  const char *at;    /* the head's first line */
  int64_t page_step; /* bytes */
} side;

static side keys_of(const kw_attention_part *part) {
  const kw_attention_plan *plan = part->run->plan;
  const int64_t head = part->group * plan->key_heads / plan->groups;
  return (side){&plan->key, part->sequence->key + head * plan->key.head_step, plan->key_page_step};
}

static side values_of(const kw_attention_part *part) {
  const kw_attention_plan *plan = part->run->plan;
  const int64_t head = part->group * plan->value_heads / plan->groups;
  return (side){&plan->value, part->sequence->value + head * plan->value.head_step, plan->value_page_step};
}

static const char *line_at(const kw_attention_part *part, const side *of, int64_t j) {
  const kw_attention_sequence *sequence = part->sequence;
  if (!sequence->pages) return of->at + j * of->matrix->row_step;
  const kw_tensor_ref *pages = sequence->pages;
  const int64_t rows = part->run->plan->page_rows;
  const int64_t at = sequence->page_row * pages->strides[0] + j / rows * pages->strides[1];
  const char *number = kw_walk_base(pages) + at * (int64_t)kw_number_size(pages->dtype);
  return of->at + kw_number_load_int(pages->dtype, number) * of->page_step + j % rows * of->matrix->row_step;
}

static kw_product_lines lines_of(const kw_attention_part *part, const side *of, bool as_they_lie, int64_t j, int64_t n,
                                 char *buffer) {
  const kw_attention_plan *plan = part->run->plan;
  const kw_attention_matrix *matrix = of->matrix;
  if (as_they_lie && !part->sequence->pages) {
    return (kw_product_lines){.at = line_at(part, of, j),
                              .step = matrix->row_step,
                              .k_step = matrix->column_step,
                              .read = part->run->isa->read[plan->port.dtype][plan->port.lane],
                              .size = plan->port.size,
                              .is_native = plan->port.is_native};
  }
  for (int64_t i = 0; i < n; i++) {
    kw_port_read(&plan->port, buffer + i * matrix->width * plan->lane_size, line_at(part, of, j + i),
                 matrix->column_step, matrix->width);
  }
  return (kw_product_lines){.at = buffer,
                            .step = matrix->width * plan->lane_size,
                            .k_step = plan->lane_size,
                            .size = plan->lane_size,
                            .is_native = true};
}

kw_product_lines kw_attention_key_lines(const kw_attention_part *part, int64_t j, int64_t n, char *buffer) {
  const side of = keys_of(part);
  return lines_of(part, &of, true, j, n, buffer);
}

/* Packed along the keys: few elements of a line at a time, for which nothing should be called. */
kw_product_lines kw_attention_value_lines(const kw_attention_part *part, int64_t j, int64_t n, char *buffer) {
  const side of = values_of(part);
  return lines_of(part, &of, kw_port_is_lanes(&part->run->plan->port, of.matrix->column_step), j, n, buffer);
}

void kw_attention_query(const kw_attention_part *part, int64_t row, void *buffer) {
  const kw_attention_plan *plan = part->run->plan;
  const char *at = part->sequence->query + head_of(part, row) * plan->query.head_step;
  kw_port_read(&plan->port, buffer, at + query_of(part, row) * plan->query.row_step, plan->query.column_step,
               plan->query.width);
}

static void find_lines(const kw_attention_part *part, const side *of, int64_t j, int64_t n, char *buffer,
                       const void **at) {
  const kw_attention_plan *plan = part->run->plan;
  const kw_attention_matrix *matrix = of->matrix;
  if (!part->sequence->pages && kw_port_is_lanes(&plan->port, matrix->column_step)) {
    for (int64_t i = 0; i < n; i++) at[i] = of->at + (j + i) * matrix->row_step;
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    at[i] = kw_port_lanes(&plan->port, line_at(part, of, j + i), matrix->column_step, matrix->width,
                          buffer + i * matrix->width * plan->lane_size);
  }
}

void kw_attention_find_keys(const kw_attention_part *part, int64_t j, int64_t n, char *buffer, const void **at) {
  const side of = keys_of(part);
  find_lines(part, &of, j, n, buffer, at);
}

void kw_attention_find_values(const kw_attention_part *part, int64_t j, int64_t n, char *buffer, const void **at) {
  const side of = values_of(part);
  find_lines(part, &of, j, n, buffer, at);
}

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

void kw_attention_fill_rule(kw_attention_rule *rule, kw_lane lane) {
  kw_lanes_fill_number(rule->scale_lanes, rule->scale, lane, KW_LANE_BLOCK);
  kw_lanes_fill_number(rule->cap_lanes, rule->cap, lane, KW_LANE_BLOCK);
  kw_lanes_fill_number(rule->hidden_lanes, -(double)INFINITY, lane, KW_LANE_BLOCK);
}

void kw_attention_bend(const kw_attention_rule *rule, kw_lane lane, char *scores, char *tangents, int64_t n) {
  const kw_isa *isa = kw_fast_isa();
  const int64_t size = kw_lane_size(lane);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_block_at(i, n);
    char *at = scores + i * size, *tangent = tangents ? tangents + i * size : at;
    isa->pointwise[KW_POINTWISE_MUL][lane](at, (const void *[]){at, rule->scale_lanes}, count);
    if (rule->cap <= 0) continue;
    isa->pointwise[KW_POINTWISE_DIV][lane](at, (const void *[]){at, rule->cap_lanes}, count);
    isa->pointwise[KW_POINTWISE_TANH][lane](tangent, (const void *[]){at}, count);
    isa->pointwise[KW_POINTWISE_MUL][lane](at, (const void *[]){tangent, rule->cap_lanes}, count);
  }
}

void kw_attention_mask(const kw_attention_part *part, int64_t row, int64_t j, int64_t n, void *lanes) {
  const kw_attention_matrix *mask = &part->run->plan->mask;
  const char *at = part->sequence->mask + head_of(part, row) * mask->head_step;
  at += query_of(part, row) * mask->row_step + j * mask->column_step;
  kw_port_read(&part->run->plan->mask_port, lanes, at, mask->column_step, n);
}

void kw_attention_add_mask(const kw_attention_rule *rule, const kw_port *port, char *scores, const char *mask,
                           int64_t n) {
  const kw_isa *isa = kw_fast_isa();
  const int64_t size = kw_lane_size(port->lane);
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    char *at = scores + i * size;
    const char *by = mask + i * size;
    if (port->dtype == KW_BOOL) {
      isa->pointwise[KW_POINTWISE_WHERE][port->lane](at, (const void *[]){by, at, rule->hidden_lanes},
                                                     kw_block_at(i, n));
    } else {
      isa->pointwise[KW_POINTWISE_ADD][port->lane](at, (const void *[]){at, by}, kw_block_at(i, n));
    }
  }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void store_lane(kw_lane lane, void *at, double value) {
  kw_lanes_fill_number(at, value, lane, 1);
}

/* Stores a row of the result. */
static void store_row(const kw_attention_run *run, const kw_attention_sequence *sequence, int64_t head, int64_t query,
                      void *sums, double top, double total) {
  const kw_attention_plan *plan = run->plan;
  const int64_t width = plan->out.width;
  if (total == 0) { /* nothing is seen */
    memset(sums, 0, (size_t)(width * plan->lane_size));
  } else {
    _Alignas(KW_LANE_BYTES) char by[KW_LANE_BYTES];
    store_lane(plan->port.lane, by, total);
    run->isa->rows[plan->port.lane].divide(sums, sums, by, width);
  }
  char *to = sequence->out + head * plan->out.head_step + query * plan->out.row_step;
  kw_port_write(&plan->port, to, plan->out.column_step, sums, width);
  if (!plan->has_lse) return;
  char *lse = sequence->lse + head * plan->lse_head_step + query * plan->lse_row_step;
  kw_number_store(plan->lse_dtype, lse, total == 0 ? -(double)INFINITY : top + log(total));
}

void kw_attention_finish(const kw_attention_part *part, int64_t row, void *sums, double top, double total) {
  const kw_attention_run *run = part->run;
  const kw_attention_plan *plan = run->plan;
  const int64_t head = head_of(part, row), query = query_of(part, row);
  if (run->pieces == 1) {
    store_row(run, part->sequence, head, query, sums, top, total);
    return;
  }
  const int64_t at = (part->sequence->row + head * part->sequence->queries + query) * run->pieces + part->piece;
  const int64_t bytes = plan->out.width * plan->lane_size;
  memcpy(run->sums + at * bytes, sums, (size_t)bytes);
  store_lane(plan->port.lane, run->tops + at * plan->lane_size, top);
  store_lane(plan->port.lane, run->totals + at * plan->lane_size, total);
}

/* What the pieces of row number `row` of all come to, in lanes at `sums`; behind them is a line of zeros. */
static void merge_row(const kw_attention_run *run, int64_t row, char *sums) {
  const kw_attention_plan *plan = run->plan;
  const kw_lane lane = plan->port.lane;
  const kw_dtype dtype = lane == KW_LANE_F32 ? KW_F32 : KW_F64;
  const int64_t bytes = plan->out.width * plan->lane_size;
  const char *tops = run->tops + row * run->pieces * plan->lane_size;
  const char *totals = run->totals + row * run->pieces * plan->lane_size;
  double top = -(double)INFINITY, total = 0;
  for (int64_t p = 0; p < run->pieces; p++) top = fmax(top, kw_number_load(dtype, tops + p * plan->lane_size));
  const double base = top == -(double)INFINITY ? 0 : top;
  memset(sums, 0, (size_t)bytes);
  for (int64_t p = 0; p < run->pieces; p += KW_PRODUCT_LINES) {
    _Alignas(KW_LANE_BYTES) char weights[KW_PRODUCT_LINES * KW_LANE_BYTES];
    const void *lines[KW_PRODUCT_LINES];
    for (int64_t k = 0; k < KW_PRODUCT_LINES; k++) {
      const bool counts = p + k < run->pieces;
      const int64_t at = (p + k) * plan->lane_size;
      const double weight = counts ? exp(kw_number_load(dtype, tops + at) - base) : 0;
      store_lane(lane, weights + k * plan->lane_size, weight);
      if (counts) total += weight * kw_number_load(dtype, totals + at);
      lines[k] = counts ? run->sums + (row * run->pieces + p + k) * bytes : sums + bytes;
    }
    run->isa->product[lane].add_lines(sums, weights, lines, plan->out.width);
  }
  const kw_attention_sequence *sequence = sequence_of(run, row, true);
  const int64_t here = row - sequence->row;
  store_row(run, sequence, here / sequence->queries, here % sequence->queries, sums, top, total);
}

static void merge_rows(void *user, int64_t begin, int64_t end) {
  kw_attention_run *run = user;
  const size_t bytes = (size_t)(2 * run->plan->out.width * run->plan->lane_size) + 1;
  void *sums = kw_fast_room(run->host, bytes, &run->status);
  if (!sums) return;
  memset(sums, 0, bytes);
  for (int64_t row = begin; row < end; row++) merge_row(run, row, sums);
  run->host->host_free(run->host->ctx, sums);
}

kw_status kw_attention_merge(kw_attention_run *run) {
  const int64_t sums = run->pieces * (run->plan->out.width + 8);
  return run->host->parallel_for(run->host->ctx, run->rows, 1 + GRAIN / sums, merge_rows, run);
}
