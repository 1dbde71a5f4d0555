/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements that indices choose: blocks that share an index are moved as a whole, elements with one each in rows.
 */
#include "choice.h"

#include "index.h"
#include "number.h"
#include "strided.h"

#include <string.h>

#define GRAIN 16384         /* the fewest elements that a thread is woken for */
#define LINE 64             /* bytes of a cache */
#define AHEAD 4             /* rows that are asked for before they are needed, */
#define FETCHED 256         /* bytes of each: what follows the processor sees itself */
#define FETCHED_FROM 262144 /* bytes of a table that is not in the nearer caches */
#define SHORT 64            /* bytes of a row: of longer ones the C library reads much before it writes any */
#define GRAIN_BLOCK 64      /* of a block that threads share: a few lines of the cache */

bool kw_choice_serves(const kw_call *call, uint32_t arg) {
  const kw_value *value = &call->args[arg];
  uint32_t count = 1;
  if (value->tag == KW_TAG_TENSOR_LIST) {
    count = 0;
    for (uint32_t k = 0; k < value->count; k++) count += value->u.tensors[k] != NULL;
  }
  return count <= KW_CHOICE_INDICES && kw_index_is_index(call, arg);
}

/* ---- Rows of elements -------------------------------------------------------------------------------------------- */

#define MOVE(name, type, index_type) KW_CHOICE_ROW(name, index_type, type, *(type *)to = *(const type *)from)
MOVE(move_1_i64, uint8_t, int64_t)
MOVE(move_1_i32, uint8_t, int32_t)
MOVE(move_2_i64, uint16_t, int64_t)
MOVE(move_2_i32, uint16_t, int32_t)
MOVE(move_4_i64, uint32_t, int64_t)
MOVE(move_4_i32, uint32_t, int32_t)
MOVE(move_8_i64, uint64_t, int64_t)
MOVE(move_8_i32, uint64_t, int32_t)
MOVE(move_16_i64, kw_pair, int64_t)
MOVE(move_16_i32, kw_pair, int32_t)

static void move_block(const kw_choice *choice, char *to, int64_t to_step, const char *from, int64_t from_step,
                       int64_t n) {
  const kw_move_fn *move = choice->user;
  (*move)(to, to_step, from, from_step, n);
}

kw_choice kw_choice_moving(kw_dtype dtype) {
  static const kw_choice_rows moves[KW_MOVE_SIZES] = {{move_1_i64, move_1_i32},
                                                      {move_2_i64, move_2_i32},
                                                      {move_4_i64, move_4_i32},
                                                      {move_8_i64, move_8_i32},
                                                      {move_16_i64, move_16_i32}};
  const uint32_t size = kw_strided_size(dtype);
  return (kw_choice){.block = move_block,
                     .rows = moves[size],
                     .user = &kw_fast_isa()->move[size],
                     .moved = INT64_C(1) << size,
                     .skipped = -1};
}

/* ---- Taken apart ------------------------------------------------------------------------------------------------- */

static void add_dimension(kw_loop *loop, const kw_choice *choice, const kw_selection *s, uint32_t d) {
  const uint32_t table = choice->writes_table ? 0 : 1, at = loop->rank++;
  loop->shape[at] = s->walk.shape[d];
  loop->step[table][at] = s->walk.step[0][d];
  loop->step[1 - table][at] = s->walk.step[1][d];
  for (uint32_t k = 0; k < s->count; k++) loop->step[2 + k][at] = s->by[k].walk.step[0][d];
  loop->numel *= s->walk.shape[d];
}

void kw_choice_make(kw_choice *choice, const kw_selection *s, bool writes_table) {
  choice->call = s->call;
  choice->arg = s->arg;
  choice->count = s->count;
  choice->writes_table = writes_table;
  choice->by_element = false;
  choice->positions = choice->block_loop = (kw_loop){.operands = 2 + s->count, .numel = 1};
  for (uint32_t d = 0; d < s->walk.rank; d++) {
    bool is_indexed = false;
    for (uint32_t k = 0; k < s->count; k++) is_indexed |= s->by[k].walk.step[0][d] != 0;
    /* Places of the table that the position itself tells apart are no two positions', whatever the indices. */
    const bool is_of_block = writes_table ? s->walk.step[0][d] != 0 : !is_indexed;
    choice->by_element |= is_of_block && is_indexed;
    add_dimension(is_of_block ? &choice->block_loop : &choice->positions, choice, s, d);
  }
  kw_loop_make(&choice->block_loop);
  if (writes_table) {
    kw_loop_make_in_order(&choice->positions);
  } else {
    kw_loop_make(&choice->positions);
  }
  choice->base[writes_table ? 0 : 1] = s->walk.at[0];
  choice->base[writes_table ? 1 : 0] = s->walk.at[1];
  for (uint32_t k = 0; k < s->count; k++) {
    choice->by[k].is_i64 = s->by[k].dtype == KW_I64;
    choice->by[k].size = s->by[k].size;
    choice->by[k].lift = s->from_end ? s->by[k].size : 0;
    choice->by[k].to_by = writes_table ? s->by[k].step : 0;
    choice->by[k].from_by = writes_table ? 0 : s->by[k].step;
    choice->base[2 + k] = s->by[k].walk.at[0];
  }
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

/* Elements [begin, end) of each block are a thread's. */
typedef struct piece {
  const kw_choice *choice;
  int64_t begin, end;
} piece;

static void do_rows(const kw_choice *choice, char *const *at, const int64_t *step, int64_t n) {
  const kw_choice_row row = {.to = at[0],
                             .from = at[1],
                             .index = at[2],
                             .step = {step[2], step[0], step[1], choice->by[0].to_by, choice->by[0].from_by},
                             .size = choice->by[0].size,
                             .lift = choice->by[0].lift};
  const kw_choice_row_fn function = choice->by[0].is_i64 ? choice->rows.i64 : choice->rows.i32;
  if (!function(&row, n)) kw_selection_blame(choice->call, choice->arg);
}

static void elements_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  do_rows(((const piece *)context)->choice, at, step, n);
}

static void block_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  const kw_choice *choice = ((const piece *)context)->choice;
  choice->block(choice, at[0], step[0], at[1], step[1], n);
}

/* A block, whose first elements are `to` and `from`. */
static void do_block(const piece *p, char *to, char *from) {
  const kw_choice *choice = p->choice;
  const kw_loop *loop = &choice->block_loop;
  if (loop->rank == 1) {
    const int64_t to_step = loop->step[0][0], from_step = loop->step[1][0];
    choice->block(choice, to + p->begin * to_step, to_step, from + p->begin * from_step, from_step, p->end - p->begin);
  } else {
    kw_loop two = *loop;
    two.operands = 2;
    kw_loop_run(&two, (char *[]){to, from}, p->begin, p->end, block_row, (void *)(uintptr_t)p);
  }
}

/* The index at `element`; a negative one counts from the end, if the op has that. */
static inline int64_t index_at(const kw_choice *choice, uint32_t k, const char *element) {
  const int64_t index =
      choice->by[k].is_i64 ? *(const int64_t *)(const void *)element : *(const int32_t *)(const void *)element;
  return index < 0 ? index + choice->by[k].lift : index;
}

/* A row of positions, with a block at each. */
static void blocks_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  const piece *p = context;
  const kw_choice *choice = p->choice;
  for (int64_t i = 0; i < n; i++) {
    char *to = at[0] + i * step[0], *from = at[1] + i * step[1];
    bool left_out = false;
    for (uint32_t k = 0; k < choice->count; k++) {
      const int64_t index = index_at(choice, k, at[2 + k] + i * step[2 + k]);
      if (index < 0 || index >= choice->by[k].size) {
        kw_selection_blame(choice->call, choice->arg);
        left_out = true;
        break;
      }
      left_out |= index == choice->skipped;
      to += index * choice->by[k].to_by;
      from += index * choice->by[k].from_by;
    }
    if (!left_out) do_block(p, to, from);
  }
}

/* Whether blocks are rows of bytes that one index each chooses. */
static bool moves_rows(const kw_choice *choice) {
  const kw_loop *loop = &choice->block_loop;
  return choice->moved > 0 && choice->count == 1 && loop->rank == 1 && loop->step[0][0] == choice->moved &&
         loop->step[1][0] == choice->moved;
}

/* Processors do not foresee which row comes next, so it is asked for before. */
static inline void fetch_row(const kw_choice *choice, const char *index, const char *table, int64_t bytes) {
  const int64_t place = index_at(choice, 0, index);
  if (place < 0 || place >= choice->by[0].size) return;
  for (int64_t b = 0; b < bytes && b < FETCHED; b += LINE) {
    __builtin_prefetch(table + place * choice->by[0].from_by + b);
  }
}

/* A row of positions where that is so. */
static void dense_rows(void *context, char *const *at, const int64_t *step, int64_t n) {
  const piece *p = context;
  const kw_choice *choice = p->choice;
  void (*const copy)(char *, int64_t, const char *, int64_t, int64_t, int64_t) = kw_fast_isa()->copy_rows;
  const int64_t begin = p->begin * choice->moved, bytes = (p->end - p->begin) * choice->moved;
  const int64_t size = choice->by[0].size;
  const bool fetches = size * choice->by[0].from_by > FETCHED_FROM;
  for (int64_t i = 0; i < n; i++) {
    const int64_t index = index_at(choice, 0, at[2] + i * step[2]);
    if (fetches && i + AHEAD < n) {
      fetch_row(choice, at[2] + (i + AHEAD) * step[2], at[1] + (i + AHEAD) * step[1] + begin, bytes);
    }
    if (index < 0 || index >= size) {
      kw_selection_blame(choice->call, choice->arg);
    } else {
      char *to = at[0] + i * step[0] + index * choice->by[0].to_by + begin;
      const char *from = at[1] + i * step[1] + index * choice->by[0].from_by + begin;
      if (bytes > SHORT) {
        memcpy(to, from, (size_t)bytes);
      } else {
        copy(to, 0, from, 0, bytes, 1);
      }
    }
  }
}

/* Some positions with all of their blocks. */
static void run_positions(void *user, int64_t begin, int64_t end) {
  const kw_choice *choice = user;
  const bool single = choice->block_loop.numel == 1 && choice->count == 1 && choice->rows.i64;
  piece p = {choice, 0, choice->block_loop.numel};
  const kw_row_fn row = single ? elements_row : moves_rows(choice) ? dense_rows : blocks_row;
  kw_loop_run(&choice->positions, choice->base, begin, end, row, &p);
}

/* All positions in their order with a part of their blocks. */
static void run_blocks(void *user, int64_t begin, int64_t end) {
  const kw_choice *choice = user;
  const kw_row_fn row = moves_rows(choice) ? dense_rows : blocks_row;
  piece p = {choice, begin, end};
  kw_loop_run(&choice->positions, choice->base, 0, choice->positions.numel, row, &p);
}

/* A row of positions: at each, elements of a block with indices of their own. */
static void element_blocks_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  piece *p = context;
  for (int64_t i = 0; i < n; i++) {
    char *base[] = {at[0] + i * step[0], at[1] + i * step[1], at[2] + i * step[2]};
    kw_loop_run(&p->choice->block_loop, base, p->begin, p->end, elements_row, p);
  }
}

/* A row of a block: at each of its elements, all positions. */
static void element_lines_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  const kw_choice *choice = ((const piece *)context)->choice;
  const kw_loop *line = &choice->positions;
  for (int64_t i = 0; i < n; i++) {
    char *base[] = {at[0] + i * step[0], at[1] + i * step[1], at[2] + i * step[2]};
    do_rows(choice, base, (const int64_t[]){line->step[0][0], line->step[1][0], line->step[2][0]}, line->shape[0]);
  }
}

/* Whether positions lie denser than the elements of a block, in what is written: then blocks are written a row of
 * positions at a time, as if each of its elements had an index. */
static bool lies_across(const kw_choice *choice) {
  const kw_loop *line = &choice->positions, *block = &choice->block_loop;
  return choice->count == 1 && choice->rows.i64 && block->numel > 1 && line->rank == 1 &&
         line->step[0][0] < block->step[0][block->rank - 1];
}

static void run_lines(void *user, int64_t begin, int64_t end) {
  const kw_choice *choice = user;
  piece p = {choice, begin, end};
  kw_loop_run(&choice->block_loop, choice->base, begin, end, element_lines_row, &p);
}

/* Lines of a scatter. Where they are denser than what they lie beside in, one after the other. */
static void run_element_blocks(void *user, int64_t begin, int64_t end) {
  const kw_choice *choice = user;
  const kw_loop *line = &choice->positions, *block = &choice->block_loop;
  piece p = {choice, begin, end};
  if (line->rank == 1 && line->step[2][0] <= block->step[2][block->rank - 1]) {
    run_lines(user, begin, end);
  } else {
    kw_loop_run(line, choice->base, 0, line->numel, element_blocks_row, &p);
  }
}

static int64_t grain_of(int64_t elements, int64_t least) {
  const int64_t grain = elements > 0 ? GRAIN / elements : 0;
  return grain > least ? grain : least;
}

kw_status kw_choice_run(const kw_host_api *host, const kw_choice *choice) {
  const int64_t positions = choice->positions.numel, block = choice->block_loop.numel;
  void *user = (void *)(uintptr_t)choice;
  if (positions == 0 || block == 0) return KW_OK;
  if (choice->by_element) {
    return host->parallel_for(host->ctx, block, grain_of(positions, GRAIN_BLOCK), run_element_blocks, user);
  }
  if (choice->writes_table && block == 1) {
    run_positions(user, 0, positions);
    return KW_OK;
  }
  if (!choice->writes_table && lies_across(choice)) {
    return host->parallel_for(host->ctx, block, grain_of(positions, 1), run_lines, user);
  }
  if (choice->writes_table || (block > GRAIN && positions < GRAIN_BLOCK)) {
    return host->parallel_for(host->ctx, block, grain_of(positions, GRAIN_BLOCK), run_blocks, user);
  }
  return host->parallel_for(host->ctx, positions, grain_of(block, 1), run_positions, user);
}
