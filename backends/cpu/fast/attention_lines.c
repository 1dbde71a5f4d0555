/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention of few rows, as in decoding: too few to pack keys and values for. A line of either is read once, where it
 * lies if it can be, for all rows of the group.
 */
#include "attention_lines.h"

#include "number.h"
#include "sizes.h"

#include <math.h>
#include <string.h>

/* What a row has come to. */
typedef struct row_state {
  int64_t from, to; /* the keys it sees */
  double top, total;
  char *query, *scores, *sums, *fresh; /* fresh: of the keys in hand */
} row_state;

/* A part in hand, and room. */
typedef struct lines {
  const kw_attention_part *part;
  const kw_attention_plan *plan;
  const kw_isa *isa;
  const kw_attention_lanes *lanes;
  kw_lane type;
  kw_dtype dtype; /* of a lane */
  int64_t lane;   /* bytes */
  int64_t count;  /* rows */
  row_state rows[KW_ATTENTION_LINE_ROWS];
  char *room, *buffer, *zeros, *mask;
} lines;

_Static_assert(KW_ATTENTION_KEYS % KW_ATTENTION_LINES == 0, "lines are met in whole groups");

/* False where there is no memory, and the run's status says so. */
static bool make_room(lines *l) {
  const kw_attention_plan *plan = l->plan;
  kw_attention_run *run = l->part->run;
  const int64_t value = plan->value.width, width = plan->query.width, most = width > value ? width : value;
  const int64_t line = (most * l->lane + 63) / 64 * 64, scores = KW_ATTENTION_KEYS * l->lane;
  const int64_t bytes = KW_ATTENTION_LINE_ROWS * (3 * line + scores) + (KW_ATTENTION_LINES + 1) * line + scores + 64;
  char *next = l->room = kw_fast_room(run->host, (uint64_t)bytes, &run->status);
  if (!next) return false;
  for (int r = 0; r < KW_ATTENTION_LINE_ROWS; r++) {
    row_state *row = &l->rows[r];
    row->query = next;
    row->sums = next + line;
    row->fresh = next + 2 * line;
    row->scores = next + 3 * line;
    next += 3 * line + scores;
  }
  l->mask = next;
  l->zeros = next + scores;
  l->buffer = l->zeros + line;
  memset(l->zeros, 0, (size_t)line);
  return true;
}

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

/* How many lines of keys or values are met at once, of `count` lines that are: all where they lie in lanes, else as
 * many as stay near after they were read. */
static int64_t group_of(const lines *l, const kw_attention_matrix *matrix, int64_t count) {
  return kw_least(count,
                  kw_port_is_lanes(&l->plan->port, matrix->column_step) ? KW_ATTENTION_KEYS : KW_ATTENTION_LINES);
}

/* Zeros behind n lines, to whole groups. */
static int64_t fill_up(const lines *l, const void **at, int64_t n) {
  while (n % KW_ATTENTION_LINES != 0) at[n++] = l->zeros;
  return n;
}

/* Scores of keys [j, j + n). */
static void meet_keys(const lines *l, int64_t j, int64_t n) {
  const void *at[KW_ATTENTION_KEYS];
  for (int64_t i = 0, count; i < n; i += count) {
    count = group_of(l, &l->plan->key, n - i);
    kw_attention_find_keys(l->part, j + i, count, l->buffer, at);
    const int64_t whole = fill_up(l, at, count);
    for (int64_t r = 0; r < l->count; r++) {
      l->lanes->dot(l->rows[r].scores + i * l->lane, l->rows[r].query, at, whole, l->plan->query.width);
    }
  }
}

/* Scores of keys [j, j + n) become weights; what is added up so far is to be multiplied with the result. */
static double weigh(const lines *l, int64_t r, row_state *row, int64_t j, int64_t n) {
  const kw_attention_run *run = l->part->run;
  const kw_fold *max = &l->isa->folds[KW_FOLD_MAX][l->type], *sum = &l->isa->folds[KW_FOLD_SUM][l->type];
  const int64_t from = row->from < j ? 0 : kw_least(row->from - j, n), to = row->to < j ? 0 : kw_least(row->to - j, n);
  kw_attention_bend(run->rule, l->type, row->scores, NULL, n);
  if (l->plan->has_mask) {
    kw_attention_mask(l->part, l->part->row + r, j, n, l->mask);
    kw_attention_add_mask(run->rule, &run->plan->mask_port, row->scores, l->mask, n);
  }
  _Alignas(KW_LANE_BYTES) char lane[KW_LANE_BYTES];
  char *seen = row->scores + from * l->lane;
  kw_total total;
  max->start(&total);
  if (from < to) max->fold(&total, seen, to - from);
  max->finish(lane, &total, 1);
  const double here = kw_number_load(l->dtype, lane), top = here > row->top || here != here ? here : row->top;
  memset(row->scores, 0, (size_t)(from * l->lane));
  memset(row->scores + to * l->lane, 0, (size_t)((KW_ATTENTION_KEYS - to) * l->lane));
  if (top == -(double)INFINITY) { /* nothing is seen */
    memset(row->scores, 0, (size_t)(KW_ATTENTION_KEYS * l->lane));
    return 1;
  }
  kw_lanes_fill_number(lane, top, l->type, 1);
  if (from < to) l->isa->rows[l->type].exp_below(seen, seen, lane, to - from);
  sum->start(&total);
  if (from < to) sum->fold(&total, seen, to - from);
  sum->finish(lane, &total, 1);
  const double fade = exp(row->top - top);
  row->total = row->total * fade + kw_number_load(l->dtype, lane);
  row->top = top;
  return fade;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void meet_values(const lines *l, int64_t j, int64_t n) {
  const void *at[KW_ATTENTION_KEYS];
  for (int64_t i = 0, count; i < n; i += count) {
    count = group_of(l, &l->plan->value, n - i);
    kw_attention_find_values(l->part, j + i, count, l->buffer, at);
    const int64_t whole = fill_up(l, at, count);
    for (int64_t r = 0; r < l->count; r++) {
      l->lanes->add(l->rows[r].fresh, l->rows[r].scores + i * l->lane, at, whole, l->plan->value.width);
    }
  }
}

/* Adds the sums so far, faded, to those of the keys in hand. */
static void add_faded(const lines *l, row_state *row, double fade) {
  const void *at = row->sums;
  _Alignas(KW_LANE_BYTES) char weight[KW_LANE_BYTES];
  kw_lanes_fill_number(weight, fade, l->type, 1);
  l->lanes->add(row->fresh, weight, &at, 1, l->plan->value.width);
  char *old = row->sums;
  row->sums = row->fresh;
  row->fresh = old;
}

static void run_part(lines *l) {
  const kw_attention_part *part = l->part;
  const size_t bytes = (size_t)(l->plan->value.width * l->lane);
  int64_t low = part->to, high = part->from;
  l->count = part->end - part->row;
  for (int64_t r = 0; r < l->count; r++) {
    row_state *row = &l->rows[r];
    kw_attention_query(part, part->row + r, row->query);
    kw_attention_window(part, part->row + r, &row->from, &row->to);
    if (row->from < row->to && row->from < low) low = row->from;
    if (row->from < row->to && row->to > high) high = row->to;
    row->top = -(double)INFINITY;
    row->total = 0;
    memset(row->sums, 0, bytes);
  }
  for (int64_t j = low; j < high; j += KW_ATTENTION_KEYS) {
    const int64_t n = kw_least(KW_ATTENTION_KEYS, high - j);
    double fades[KW_ATTENTION_LINE_ROWS];
    meet_keys(l, j, n);
    for (int64_t r = 0; r < l->count; r++) {
      fades[r] = weigh(l, r, &l->rows[r], j, n);
      memset(l->rows[r].fresh, 0, bytes);
    }
    meet_values(l, j, n);
    for (int64_t r = 0; r < l->count; r++) add_faded(l, &l->rows[r], fades[r]);
  }
  for (int64_t r = 0; r < l->count; r++) {
    kw_attention_finish(part, part->row + r, l->rows[r].sums, l->rows[r].top, l->rows[r].total);
  }
}

void kw_attention_run_lines(void *user, int64_t begin, int64_t end) {
  kw_attention_run *run = user;
  kw_attention_part part = {.run = run};
  const kw_lane type = run->plan->port.lane;
  lines l = {.part = &part,
             .plan = run->plan,
             .isa = run->isa,
             .lanes = &run->isa->attention[type],
             .type = type,
             .dtype = type == KW_LANE_F32 ? KW_F32 : KW_F64,
             .lane = run->plan->lane_size};
  if (!make_room(&l)) return;
  for (int64_t i = begin; i < end; i++) {
    part = kw_attention_part_at(run, i);
    run_part(&l);
  }
  run->host->host_free(run->host->ctx, l.room);
}
