/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ways of computing attention share: sequences, parts of them, and where lines lie.
 *
 * Sequences have groups of heads: one head of keys and of values, and those heads of queries that it serves. The rows
 * of a group are all queries of its first head, then all of the next. A part is some rows of a group against a piece of
 * the keys; pieces are cut by the shape alone, and what they give is merged afterwards (Flash-Decoding, Dao et al.,
 * 2023).
 */
#ifndef KEYWAY_CPU_FAST_ATTENTION_PART_H
#define KEYWAY_CPU_FAST_ATTENTION_PART_H

#include "fast.h"

/* Keys that rows meet at a time: few enough that their scores and values stay in the first cache, a multiple of every
 * product's rows. What is added up over so many is added to the rest in one go. */
#define KW_ATTENTION_KEYS 144

/* A head's [rows, width]. Steps are bytes. */
typedef struct kw_attention_matrix {
  int64_t width, head_step, row_step, column_step;
} kw_attention_matrix;

typedef struct kw_attention_plan {
  kw_port port, mask_port;
  kw_dtype lse_dtype;
  bool has_mask, has_lse, is_paged;
  int64_t lane_size;
  int64_t heads, groups, key_heads, value_heads;
  int64_t rows, keys; /* of all sequences, and of the longest, at most */
  kw_attention_matrix query, key, value, out;
  kw_attention_matrix mask; /* its columns are keys */
  int64_t lse_head_step, lse_row_step;
  int64_t page_rows, key_page_step, value_page_step;

  /* Dimensions before the heads. */
  uint32_t rank;
  int64_t shape[KW_MAX_RANK], sequences;
  int64_t query_step[KW_MAX_RANK], key_step[KW_MAX_RANK], value_step[KW_MAX_RANK];
  int64_t out_step[KW_MAX_RANK], mask_step[KW_MAX_RANK], lse_step[KW_MAX_RANK];
} kw_attention_plan;

/* Bases are those of head 0. */
typedef struct kw_attention_sequence {
  const char *query, *key, *value, *mask;
  char *out, *lse;
  const kw_tensor_ref *pages; /* which page of keys is the sequence's first, second, ... ; NULL: no pages */
  int64_t page_row;           /* its row of that table */
  int64_t queries, keys;
  int64_t first;     /* the position of query 0 among the keys */
  int64_t part, row; /* the first of its parts and rows among those of all sequences */
} kw_attention_sequence;

/* What scores undergo before they are weights, and lanes that are constants of it. */
typedef struct kw_attention_rule {
  double scale, cap;   /* no cap: 0 */
  int64_t left, right; /* how many keys before and after its position a query sees; negative: all */
  bool bends;          /* kw_attention_bend has to be called; then the scale is in the scores */
  _Alignas(64) char scale_lanes[KW_LANE_BLOCK * KW_LANE_BYTES];
  char cap_lanes[KW_LANE_BLOCK * KW_LANE_BYTES], hidden_lanes[KW_LANE_BLOCK * KW_LANE_BYTES];
} kw_attention_rule;

typedef struct kw_attention_run {
  const kw_host_api *host;
  const kw_attention_plan *plan;
  const kw_isa *isa;
  const kw_attention_rule *rule;
  const kw_attention_sequence *sequences;
  int64_t count; /* of sequences */
  int64_t rows;  /* of all */
  int64_t part_rows, pieces, piece_keys;
  /* Of more than one piece: for each row and piece sums, [rows, pieces, width of values]; the largest score, and the
   * sum of weights, [rows, pieces]. */
  char *sums, *tops, *totals;
  atomic_int status;
} kw_attention_run;

/* Fills a rule's lanes. */
void kw_attention_fill_rule(kw_attention_rule *rule, kw_lane lane);
/* Which of keys [low, high) a query sees at a position: [*from, *to). */
void kw_attention_see(const kw_attention_rule *rule, int64_t position, int64_t low, int64_t high, int64_t *from,
                      int64_t *to);

/* What one is computing: rows [row, end) of a group against keys [from, to). */
typedef struct kw_attention_part {
  kw_attention_run *run;
  const kw_attention_sequence *sequence;
  int64_t group, row, end, piece, from, to;
} kw_attention_part;

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* The step along dimension `back` from the last one, in bytes: 0 where the tensor repeats. */
int64_t kw_attention_step(const kw_tensor_ref *tensor, uint32_t back);

double kw_attention_number(const kw_value *value);
/* None stands for 1 / sqrt(width). */
double kw_attention_scale(const kw_value *scale, int64_t width);
/* A window as wide as none can be is all: -1. */
int64_t kw_attention_window_of(const kw_value *window);

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

kw_attention_part kw_attention_part_at(kw_attention_run *run, int64_t number);

/* The rows of a group. */
int64_t kw_attention_rows(const kw_attention_plan *plan, const kw_attention_sequence *sequence);

/* Which keys of the part row `row` sees: [*from, *to). */
void kw_attention_window(const kw_attention_part *part, int64_t row, int64_t *from, int64_t *to);

/* A row's query, in lanes. */
void kw_attention_query(const kw_attention_part *part, int64_t row, void *buffer);

/* Where lines [j, j + n) of the keys, or of the values, are in lanes: in `buffer` unless they lie there so. */
void kw_attention_find_keys(const kw_attention_part *part, int64_t j, int64_t n, char *buffer, const void **at);
void kw_attention_find_values(const kw_attention_part *part, int64_t j, int64_t n, char *buffer, const void **at);

/* Lines [j, j + n) of the keys, or of the values, for packing: where they lie, if they can be packed from there, or in
 * `buffer`, which has room for n lines of lanes. */
kw_product_lines kw_attention_key_lines(const kw_attention_part *part, int64_t j, int64_t n, char *buffer);
kw_product_lines kw_attention_value_lines(const kw_attention_part *part, int64_t j, int64_t n, char *buffer);

/* The scale and the cap, for n scores. `tangents`, where they are wanted, get the tanh of the cap. */
void kw_attention_bend(const kw_attention_rule *rule, kw_lane lane, char *scores, char *tangents, int64_t n);
/* Lanes of a row's mask from key j on. */
void kw_attention_mask(const kw_attention_part *part, int64_t row, int64_t j, int64_t n, void *lanes);
/* Adds a mask to n scores, or hides by it; the port is what its lanes came through. */
void kw_attention_add_mask(const kw_attention_rule *rule, const kw_port *port, char *scores, const char *mask,
                           int64_t n);

/* Stores what a row has come to: sums of weighted values, which are spoilt, the largest score, and the sum of weights.
 */
void kw_attention_finish(const kw_attention_part *part, int64_t row, void *sums, double top, double total);

/* Merges the pieces of all rows. */
kw_status kw_attention_merge(kw_attention_run *run);

#endif /* KEYWAY_CPU_FAST_ATTENTION_PART_H */
