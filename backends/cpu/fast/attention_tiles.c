/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention in tiles (FlashAttention, Dao et al., NeurIPS 2022): keys and values are packed some at a time, and all
 * tiles of the part meet them. A tile is as many rows as a block of a product has columns; scores are keys times
 * queries, so that a lane is a row and the weights lie as the product with the values wants them. That one's result is
 * turned, too: for each column of the values a line.
 */
#include "attention_tiles.h"

#include "panels.h"

#include <math.h>
#include <string.h>

/* What a tile sees is rounded up to so many keys, so that each instruction set multiplies much the same hidden ones. */
#define VISIBLE 16

/* A part in hand, and room: panels of keys and values, lines on their way there, scores, a mask. */
typedef struct tiles {
  const kw_attention_part *part;
  const kw_attention_plan *plan;
  const kw_isa *isa;
  const kw_product *product;
  const kw_attention_lanes *lanes;
  int64_t lane, columns, count; /* bytes of a lane, rows of a tile, tiles */
  int64_t sum_lines;            /* for each tile: as many as the values have columns, in whole blocks */
  char *room, *queries, *sums, *tops, *totals, *keys, *values, *lines, *scores, *mask, *fade, *from, *to;
} tiles;

/* Divides one allocation; false where there is none, and the run's status says so. */
static bool make_room(tiles *t) {
  const kw_attention_plan *plan = t->plan;
  kw_attention_run *run = t->part->run;
  const int64_t width = plan->query.width, line = width > t->sum_lines ? width : t->sum_lines;
  const int64_t keys = KW_ATTENTION_KEYS + KW_PRODUCT_WIDTH; /* blocks write whole */
  const int64_t most = (run->part_rows + t->columns - 1) / t->columns;
  struct {
    char **at;
    int64_t lanes;
  } const parts[] = {{&t->queries, most * width * t->columns},
                     {&t->sums, most * t->sum_lines * t->columns},
                     {&t->tops, most * t->columns},
                     {&t->totals, most * t->columns},
                     {&t->keys, keys * width},
                     {&t->values, KW_ATTENTION_KEYS * t->sum_lines},
                     {&t->lines, (KW_ATTENTION_KEYS > t->columns ? KW_ATTENTION_KEYS : t->columns) * line},
                     {&t->scores, keys * t->columns},
                     {&t->mask, plan->has_mask ? 2 * KW_ATTENTION_KEYS * t->columns : 0},
                     {&t->fade, t->columns},
                     {&t->from, t->columns},
                     {&t->to, t->columns}};
  int64_t bytes = 64;
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) bytes += kw_round_up(parts[p].lanes * t->lane, 64);
  char *next = t->room = kw_fast_room(run->host, (uint64_t)bytes, &run->status);
  if (!next) return false;
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
    *parts[p].at = next;
    next += kw_round_up(parts[p].lanes * t->lane, 64);
  }
  return true;
}

static void fill_lanes(const tiles *t, char *at, double number, int64_t n) {
  kw_lanes_fill_number(at, number, t->plan->port.lane, n);
}

/* The number in lane `i`. */
static double lane_at(const tiles *t, const char *at, int64_t i) {
  return t->plan->port.lane == KW_LANE_F32 ? (double)((const float *)(const void *)at)[i]
                                           : ((const double *)(const void *)at)[i];
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

/* Packs the part's rows. */
static void start_part(tiles *t) {
  const kw_attention_part *part = t->part;
  const int64_t width = t->plan->query.width, rows = part->end - part->row;
  t->count = (rows + t->columns - 1) / t->columns;
  for (int64_t tile = 0; tile < t->count; tile++) {
    const int64_t row = part->row + tile * t->columns, n = kw_least(t->columns, part->end - row);
    for (int64_t i = 0; i < n; i++) kw_attention_query(part, row + i, t->lines + i * width * t->lane);
    const kw_product_lines lines = {
        .at = t->lines, .step = width * t->lane, .k_step = t->lane, .size = t->lane, .is_native = true};
    t->product->pack(t->queries + tile * width * t->columns * t->lane, t->columns, &lines, n, width);
  }
  memset(t->sums, 0, (size_t)(t->count * t->sum_lines * t->columns * t->lane));
  memset(t->totals, 0, (size_t)(t->count * t->columns * t->lane));
  fill_lanes(t, t->tops, -(double)INFINITY, t->count * t->columns);
}

/* ---- Keys and values --------------------------------------------------------------------------------------------- */

/* Packs lines into panels of a block's rows. */
static void pack(const tiles *t, char *to, kw_product_lines lines, int64_t count, int64_t k) {
  kw_panels_pack(t->product, to, t->product->rows, lines, count, k, t->lane);
}

static void load_keys(const tiles *t, int64_t j, int64_t n) {
  pack(t, t->keys, kw_attention_key_lines(t->part, j, n, t->lines), n, t->plan->query.width);
  kw_product_lines lines = kw_attention_value_lines(t->part, j, n, t->lines);
  const int64_t step = lines.step;
  lines.step = lines.k_step;
  lines.k_step = step;
  pack(t, t->values, lines, t->plan->value.width, n);
}

/* ---- Tiles ------------------------------------------------------------------------------------------------------- */

/* Which of keys [j, j + n) the rows of a tile see, in lanes from key j on; [*first, *end) are those that any sees.
 * Whether some see fewer. */
static bool find_window(const tiles *t, int64_t tile, int64_t j, int64_t n, int64_t *first, int64_t *end) {
  bool differ = false;
  *first = n;
  *end = 0;
  for (int64_t i = 0; i < t->columns; i++) {
    const int64_t row = t->part->row + tile * t->columns + i;
    int64_t from = 0, to = n;
    if (row < t->part->end) {
      kw_attention_window(t->part, row, &from, &to);
      from = from < j ? 0 : kw_least(from - j, n);
      to = to < j ? 0 : kw_least(to - j, n);
      if (from < to && from < *first) *first = from;
      if (from < to && to > *end) *end = to;
    }
    differ = differ || from > 0 || to < n;
    fill_lanes(t, t->from + i * t->lane, (double)from, 1);
    fill_lanes(t, t->to + i * t->lane, (double)to, 1);
  }
  return differ;
}

/* Applies the mask to the scores of keys [j, j + n). */
static void mask_scores(const tiles *t, int64_t tile, int64_t j, int64_t n) {
  const int64_t row = t->part->row + tile * t->columns, rows = kw_least(t->columns, t->part->end - row);
  char *turned = t->mask + KW_ATTENTION_KEYS * t->columns * t->lane;
  for (int64_t i = 0; i < rows; i++) kw_attention_mask(t->part, row + i, j, n, t->mask + i * n * t->lane);
  t->isa->transpose[t->lane == 4 ? 2 : 3](turned, t->columns * t->lane, t->mask, n * t->lane, rows, n);
  kw_attention_add_mask(t->part->run->rule, &t->plan->mask_port, t->scores, turned, n * t->columns);
}

/* A tile meets keys [j, j + n), which are packed. */
static void meet(const tiles *t, int64_t tile, int64_t j, int64_t n) {
  const kw_attention_run *run = t->part->run;
  const kw_product *product = t->product;
  const int64_t width = t->plan->query.width, rows = product->rows, line = t->columns * t->lane;
  int64_t first, end;
  const bool hides = find_window(t, tile, j, n, &first, &end);
  if (first >= end) return;
  end = kw_least(kw_round_up(end, VISIBLE), n);
  const char *queries = t->queries + tile * width * line;
  for (int64_t i = 0; i < end; i += rows) {
    product->block(end - i, t->keys + i * width * t->lane, queries, t->columns, width, t->scores + i * line, t->columns,
                   false);
  }
  if (run->rule->bends) kw_attention_bend(run->rule, t->plan->port.lane, t->scores, NULL, end * t->columns);
  if (t->plan->has_mask) mask_scores(t, tile, j, end);
  if (hides) t->lanes->hide(t->scores, t->from, t->to, end);
  _Alignas(KW_LANE_BYTES) char scale[KW_LANE_BYTES];
  fill_lanes(t, scale, run->rule->bends ? 1 : run->rule->scale, 1);
  char *sums = t->sums + tile * t->sum_lines * line;
  const bool fades = t->lanes->weigh(t->scores, scale, t->tops + tile * line, t->totals + tile * line, t->fade, end);
  if (fades) t->lanes->fade(sums, t->fade, t->plan->value.width);
  for (int64_t i = 0; i < t->plan->value.width; i += rows) {
    product->block(t->plan->value.width - i, t->values + i * n * t->lane, t->scores, t->columns, end, sums + i * line,
                   t->columns, true);
  }
}

static void finish_part(const tiles *t) {
  const int64_t width = t->plan->value.width, line = t->columns * t->lane;
  for (int64_t tile = 0; tile < t->count; tile++) {
    const int64_t row = t->part->row + tile * t->columns;
    t->isa->transpose[t->lane == 4 ? 2 : 3](t->lines, width * t->lane, t->sums + tile * t->sum_lines * line, line,
                                            width, t->columns);
    for (int64_t i = 0; i < t->columns && row + i < t->part->end; i++) {
      kw_attention_finish(t->part, row + i, t->lines + i * width * t->lane, lane_at(t, t->tops + tile * line, i),
                          lane_at(t, t->totals + tile * line, i));
    }
  }
}

/* The keys that any of the part's rows may see, from the first one's start to the last one's end. */
static void run_part(tiles *t) {
  const kw_attention_part *part = t->part;
  int64_t low = part->to, high = part->from;
  for (int64_t row = part->row; row < part->end; row++) {
    int64_t from, to;
    kw_attention_window(part, row, &from, &to);
    if (from < to && from < low) low = from;
    if (from < to && to > high) high = to;
  }
  start_part(t);
  for (int64_t j = low / KW_ATTENTION_KEYS * KW_ATTENTION_KEYS; j < high; j += KW_ATTENTION_KEYS) {
    const int64_t n = kw_least(kw_least(KW_ATTENTION_KEYS, part->to - j), kw_round_up(high - j, VISIBLE));
    load_keys(t, j, n);
    for (int64_t tile = 0; tile < t->count; tile++) meet(t, tile, j, n);
  }
  finish_part(t);
}

void kw_attention_run_tiles(void *user, int64_t begin, int64_t end) {
  kw_attention_run *run = user;
  const kw_product *product = &run->isa->product[run->plan->port.lane];
  kw_attention_part part = {.run = run};
  tiles t = {.part = &part,
             .plan = run->plan,
             .isa = run->isa,
             .product = product,
             .lanes = &run->isa->attention[run->plan->port.lane],
             .lane = run->plan->lane_size,
             .columns = product->columns,
             .sum_lines = kw_round_up(run->plan->value.width, product->rows)};
  if (!make_room(&t)) return;
  for (int64_t i = begin; i < end; i++) {
    part = kw_attention_part_at(run, i);
    run_part(&t);
  }
  run->host->host_free(run->host->ctx, t.room);
}
