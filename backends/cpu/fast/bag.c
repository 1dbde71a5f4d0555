/* SPDX-License-Identifier: Apache-2.0
 *
 * Embedding bags: rows of a table that indices choose become their sum, mean or maximum. A bag is one thread's, and is
 * made some columns at a time.
 */
#include "fast.h"

#include "index.h"
#include "loop.h"
#include "selection.h"
#include "sizes.h"
#include "strided.h"
#include "walk.h"

#include <string.h>

enum { BAG_SUM, BAG_MEAN, BAG_MAX };

#define GRAIN 16384    /* elements: the fewest that a thread is woken for */
#define WIDTH 256      /* columns that are made at once */
#define LINE 64        /* bytes of a cache */
#define AHEAD 16       /* rows that are asked for before they are needed, */
#define FETCHED 256    /* bytes of each: what follows the processor sees itself */
#define SCALED_CALLS 2 /* of add_lines, whose terms follow each other, before totals take the sum */
#define NO_INDEX INT64_MAX

_Static_assert(KW_FOLD_ROWS == KW_PRODUCT_LINES, "rows are added up as they are, or scaled");

typedef struct bag_plan {
  kw_port port; /* of the table and of what becomes of it */
} bag_plan;
_Static_assert(sizeof(bag_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* Elements of a tensor of rank 1, by their number. */
typedef struct list {
  const char *at;
  int64_t step;
  bool is_i64; /* otherwise i32; of indices and offsets alone */
} list;

typedef struct bag_run {
  const bag_plan *plan;
  const kw_call *call;
  const kw_isa *isa;
  const kw_tensor_ref *table;
  const char *base; /* of the table */
  int64_t rows;
  list indices, offsets, scales; /* scales.at: NULL if there are none */
  int64_t count, starts;         /* of indices, of offsets */
  int64_t mode, padding, row_step, column_step;
} bag_run;

/* A thread's bag: indices `next` to end - 1 are still to be taken, for columns [column, column + width). */
typedef struct bag {
  const bag_run *run;
  int64_t next, end, column, width;
  const void *rows[KW_FOLD_ROWS];
  _Alignas(64) char lanes[KW_FOLD_ROWS][WIDTH * KW_LANE_BYTES]; /* of rows that do not lie there as lanes */
  _Alignas(64) char best[WIDTH * KW_LANE_BYTES];                /* or the sum */
  union {
    int32_t narrow[WIDTH];
    int64_t wide[WIDTH];
  } places;                                         /* integers as large as lanes: the indices of `best` */
  _Alignas(64) char nothing[WIDTH * KW_LANE_BYTES]; /* zeros */
  _Alignas(KW_LANE_BYTES) char factors[KW_FOLD_ROWS * KW_LANE_BYTES];
  kw_total totals[WIDTH];
} bag;

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static list list_of(const kw_tensor_ref *tensor) {
  return (list){kw_walk_base(tensor), kw_loop_step(tensor, 0), tensor->dtype == KW_I64};
}

static inline int64_t int_at(const list *l, int64_t i) {
  const void *at = l->at + i * l->step;
  return l->is_i64 ? *(const int64_t *)at : *(const int32_t *)at;
}

/* Where bag b begins; behind the last offset that is the end of the indices. */
static int64_t start_of(const bag_run *run, int64_t b) {
  return b < run->starts ? int_at(&run->offsets, b) : run->count;
}

/* Element i of the first dimension, and there element j. */
static char *element_of(const kw_tensor_ref *out, int64_t i, int64_t j) {
  return kw_walk_base(out) + i * kw_loop_step(out, 0) + (j == 0 ? 0 : j * kw_loop_step(out, 1));
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* How many indices are no padding; -1 where one is out of range. */
static int64_t count_rows(const bag *b) {
  const bag_run *run = b->run;
  int64_t count = 0;
  for (int64_t i = b->next; i < b->end; i++) {
    const int64_t index = int_at(&run->indices, i);
    if (index < 0 || index >= run->rows) {
      kw_selection_blame(run->call, 1);
      return -1;
    }
    count += index != run->padding;
  }
  return count;
}

/* Processors do not foresee which row comes next, so it is asked for before, also that of a bag to come. */
static inline void fetch_row(const bag *b, int64_t i) {
  const bag_run *run = b->run;
  if (i >= run->count) return;
  const int64_t index = int_at(&run->indices, i), bytes = kw_least(b->width * run->column_step, FETCHED);
  if (index < 0 || index >= run->rows) return;
  const char *row = run->base + index * run->row_step + b->column * run->column_step;
  for (int64_t at = 0; at < bytes; at += LINE) __builtin_prefetch(row + at);
}

/* The next index that is no padding; NO_INDEX behind the last. */
static inline int64_t next_index(bag *b) {
  while (b->next < b->end) {
    const int64_t index = int_at(&b->run->indices, b->next++);
    fetch_row(b, b->next + AHEAD);
    if (index != b->run->padding) return index;
  }
  return NO_INDEX;
}

static inline const void *row_of(bag *b, int64_t index, uint32_t buffer) {
  const bag_run *run = b->run;
  const char *at = run->base + index * run->row_step + b->column * run->column_step;
  if (kw_port_is_lanes(&run->plan->port, run->column_step)) return at;
  kw_port_read(&run->plan->port, b->lanes[buffer], at, run->column_step, b->width);
  return b->lanes[buffer];
}

/* Takes as many rows as are added up at once, zeros where there are no more, with what they are scaled by. False: there
 * was none. */
static bool take_rows(bag *b) {
  const bag_run *run = b->run;
  const int64_t size = kw_lane_size(run->plan->port.lane);
  uint32_t k = 0;
  for (int64_t index; k < KW_FOLD_ROWS && (index = next_index(b)) != NO_INDEX; k++) {
    b->rows[k] = row_of(b, index, k);
    if (!run->scales.at) continue;
    kw_port_read(&run->plan->port, b->factors + k * size, run->scales.at + (b->next - 1) * run->scales.step, 0, 1);
  }
  if (k == 0) return false;
  memset(b->factors + k * size, 0, (size_t)((KW_FOLD_ROWS - k) * size));
  for (; k < KW_FOLD_ROWS; k++) b->rows[k] = b->nothing;
  return true;
}

/* ---- Bags -------------------------------------------------------------------------------------------------------- */

/* No lane passes through more additions than a bound on their errors allows: totals take the sums of long bags. */
static void sum_rows(bag *b, int64_t divisor) {
  const bag_run *run = b->run;
  const kw_lane lane = run->plan->port.lane;
  const kw_fold *fold = &run->isa->folds[KW_FOLD_SUM][lane];
  const uint32_t most = run->scales.at ? SCALED_CALLS : KW_FOLD_CALLS;
  const size_t bytes = (size_t)(b->width * kw_lane_size(lane));
  uint32_t calls = 0;
  bool has_totals = false;
  memset(b->best, 0, bytes);
  while (take_rows(b)) {
    if (calls == most) {
      for (int64_t i = 0; i < b->width && !has_totals; i++) fold->start(&b->totals[i]);
      fold->take(b->totals, b->best, b->width);
      memset(b->best, 0, bytes);
      has_totals = true;
      calls = 0;
    }
    if (run->scales.at) {
      run->isa->product[lane].add_lines(b->best, b->factors, b->rows, b->width);
    } else {
      fold->rows(b->best, b->rows, b->width);
    }
    calls++;
  }
  if (has_totals) {
    fold->take(b->totals, b->best, b->width);
    fold->finish_each(b->best, b->totals, divisor, b->width);
  } else if (divisor > 1) {
    _Alignas(KW_LANE_BYTES) char by[KW_LANE_BYTES];
    kw_lanes_fill_number(by, (double)divisor, lane, 1);
    run->isa->rows[lane].divide(b->best, b->best, by, b->width);
  }
}

/* The largest, and the indices of their rows. */
static void pick_rows(bag *b) {
  const bag_run *run = b->run;
  const kw_lane lane = run->plan->port.lane;
  const size_t bytes = (size_t)(b->width * kw_lane_size(lane));
  int64_t index = next_index(b);
  memset(b->best, 0, bytes);
  memset(&b->places, 0, bytes);
  if (index == NO_INDEX) return;
  memcpy(b->best, row_of(b, index, 0), bytes);
  kw_lanes_fill(&b->places, &index, lane == KW_LANE_F64 ? KW_LANE_I64 : KW_LANE_I32, b->width);
  while ((index = next_index(b)) != NO_INDEX) {
    run->isa->folds[KW_FOLD_MAX][lane].pick_row(b->best, &b->places, row_of(b, index, 0), index, b->width);
  }
}

static void store_places(const bag *b, char *to, int64_t step) {
  const bool is_wide = b->run->plan->port.lane == KW_LANE_F64;
  for (int64_t i = 0; i < b->width; i++) {
    *(int64_t *)(void *)(to + i * step) = is_wide ? b->places.wide[i] : b->places.narrow[i];
  }
}

static void run_bag(bag *b, int64_t number) {
  const bag_run *run = b->run;
  const kw_tensor_ref *const *outs = run->call->outs;
  const int64_t first = start_of(run, number), columns = run->table->shape[1];
  b->next = first;
  b->end = start_of(run, number + 1);
  const int64_t count = count_rows(b);
  if (count < 0) return;
  run->isa->move[kw_strided_size(KW_I64)](element_of(outs[1], first, 0), kw_loop_step(outs[1], 0),
                                          (const char *)&number, 0, b->end - first);
  *(int64_t *)(void *)element_of(outs[2], number, 0) = count;
  if (run->mode != BAG_MAX) *(int64_t *)(void *)element_of(outs[3], number, 0) = 0;
  for (b->column = 0; b->column < columns; b->column += b->width) {
    b->width = kw_least(columns - b->column, WIDTH);
    b->next = first;
    if (run->mode == BAG_MAX) {
      pick_rows(b);
      store_places(b, element_of(outs[3], number, b->column), kw_loop_step(outs[3], 1));
    } else {
      sum_rows(b, run->mode == BAG_MEAN ? count : 1);
    }
    kw_port_write(&run->plan->port, element_of(outs[0], number, b->column), kw_loop_step(outs[0], 1), b->best,
                  b->width);
  }
}

static void run_bags(void *user, int64_t begin, int64_t end) {
  bag b;
  b.run = user;
  memset(b.nothing, 0, sizeof b.nothing);
  for (int64_t number = begin; number < end; number++) run_bag(&b, number);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static kw_status plan_bags(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *table = call->args[0].u.tensor;
  const kw_tensor_ref *scales = call->args[6].tag == KW_TAG_TENSOR ? call->args[6].u.tensor : NULL;
  bag_plan *plan = out_plan;
  (void)kernel;
  if (call->outs[0]->dtype != table->dtype || (scales && scales->dtype != table->dtype)) return KW_ERR_NOT_IMPLEMENTED;
  if (!kw_index_is_index(call, 1) || !kw_index_is_index(call, 2)) return KW_ERR_NOT_IMPLEMENTED;
  if (table->shape[0] > INT32_MAX) return KW_ERR_NOT_IMPLEMENTED; /* lanes of 32 bits hold indices */
  return kw_port_open(&plan->port, table->dtype, kw_lane_of(table->dtype)) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* How many bags can be made; fewer than there are, or -1, where offsets are none. */
static int64_t usable_bags(const bag_run *run, int64_t bags) {
  if (start_of(run, 0) != 0 || (bags < run->starts && start_of(run, bags) != run->count)) return -1;
  for (int64_t b = 0; b < bags; b++) {
    const int64_t end = start_of(run, b + 1);
    if (end < start_of(run, b) || end > run->count) return b;
  }
  return bags;
}

static kw_status run_embedding_bag(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_value *args = call->args;
  const kw_tensor_ref *table = args[0].u.tensor;
  bag_run run = {.plan = plan,
                 .call = call,
                 .isa = kw_fast_isa(),
                 .table = table,
                 .base = kw_walk_base(table),
                 .rows = table->shape[0],
                 .indices = list_of(args[1].u.tensor),
                 .offsets = list_of(args[2].u.tensor),
                 .count = args[1].u.tensor->shape[0],
                 .starts = args[2].u.tensor->shape[0],
                 .mode = args[4].u.i,
                 .padding = args[8].u.i};
  if (args[6].tag == KW_TAG_TENSOR) run.scales = list_of(args[6].u.tensor);
  run.row_step = kw_loop_step(table, 0);
  run.column_step = kw_loop_step(table, 1);
  const int64_t bags = run.starts - args[7].u.b, usable = usable_bags(&run, bags);
  kw_status status = KW_OK;
  if (usable > 0) {
    const int64_t elements = (run.count / usable + 1) * (table->shape[1] + 1);
    status = host->parallel_for(host->ctx, usable, 1 + GRAIN / elements, run_bags, &run);
  }
  if (usable < bags) kw_selection_blame(call, 2);
  return status;
}

static const kw_fast_kernel kernels[] = {
    {.op = "_embedding_bag",
     .dtypes = KW_DTYPES_FLOAT,
     .flags = KW_KERNEL_DATA_ERRORS,
     .plan_size = sizeof(bag_plan),
     .make_plan = plan_bags,
     .run = run_embedding_bag},
};

kw_fast_family kw_fast_bag(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
