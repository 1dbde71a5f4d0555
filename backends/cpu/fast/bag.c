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
#define I64 3          /* as a size to move */
#define LINE 64        /* bytes of a cache */
#define LISTED 64      /* rows that are found before the first of them is read: whole folds */
#define AHEAD 16       /* indices between one whose row is found and one whose row is asked for */
#define FETCHED 256    /* bytes that are asked for of each: what follows the processor sees itself */
#define SCALED_CALLS 2 /* of add_lines, whose terms follow each other, before totals take the sum */

_Static_assert(KW_FOLD_ROWS == KW_PRODUCT_LINES, "rows are added up as they are, or scaled");
_Static_assert(LISTED % KW_FOLD_ROWS == 0, "a fold takes no rows of two lists");

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
  bool is_lanes; /* rows of the table are lanes as they lie there */
  struct {
    char *base;
    int64_t step[2];
  } outs[4]; /* what becomes of the bags, and where elements of it lie */
} bag_run;

/* A thread's bag: indices `next` to end - 1 are still to be taken, for columns [column, column + width). */
typedef struct bag {
  const bag_run *run;
  int64_t next, end, column, width;
  int64_t listed;         /* rows that wait; -1: they are still to be listed */
  const void *at[LISTED]; /* where they begin, from `column` on; behind them up to a whole fold `nothing` */
  int64_t place[LISTED];  /* of their indices in the list */
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

/* Element i of the first dimension of result k, and there element j. */
static inline char *element_of(const bag_run *run, int k, int64_t i, int64_t j) {
  return run->outs[k].base + i * run->outs[k].step[0] + j * run->outs[k].step[1];
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* How many of the indices [begin, end) are no padding; -1 where one is out of range. */
static int64_t count_rows(const bag_run *run, int64_t begin, int64_t end) {
  const list indices = run->indices;
  const int64_t padding = run->padding;
  const uint64_t rows = (uint64_t)run->rows;
  int64_t count = 0;
  bool are_there = true;
  for (int64_t i = begin; i < end; i++) {
    const int64_t index = int_at(&indices, i);
    are_there &= (uint64_t)index < rows;
    count += index != padding;
  }
  return are_there ? count : -1;
}

/* Of an index that may be out of range, too: what is there is not looked at then. */
static inline const char *element_at(const char *base, int64_t index, int64_t step) {
  return (const char *)((uintptr_t)base + (uintptr_t)index * (uintptr_t)step);
}

/* Lists the rows of the next indices but padding, and returns how many; -1 where an index is out of range. Processors
 * do not foresee where rows are, so those of indices further on, be they another bag's, are asked for here. */
static inline int64_t list_numbers(bag *b, bool is_i64, bool fetches_all) {
  const bag_run *run = b->run;
  const int64_t step = run->row_step, padding = run->padding, number_step = run->indices.step;
  const int64_t fetched = fetches_all ? FETCHED : kw_least(b->width * run->column_step, FETCHED);
  const uint64_t rows = (uint64_t)run->rows;
  const char *base = run->base + b->column * run->column_step, *number = run->indices.at + b->next * number_step;
  int64_t count = 0, i = b->next;
  bool are_there = true;
  for (; i < b->end && count < LISTED; i++, number += number_step) {
    const void *at = number;
    const int64_t index = is_i64 ? *(const int64_t *)at : *(const int32_t *)at;
    const char *row = element_at(base, index, step);
    const void *later = number + (i + AHEAD < run->count ? AHEAD * number_step : 0);
    const char *asked = element_at(base, is_i64 ? *(const int64_t *)later : *(const int32_t *)later, step);
    are_there &= (uint64_t)index < rows;
    b->at[count] = row;
    b->place[count] = i;
    count += index != padding;
    for (int64_t byte = 0; byte < fetched; byte += LINE) __builtin_prefetch(asked + byte);
  }
  for (int64_t k = count; k % KW_FOLD_ROWS != 0; k++) b->at[k] = b->nothing;
  b->next = i;
  return are_there ? count : -1;
}

static int64_t list_rows(bag *b) {
  const bool fetches_all = b->width * b->run->column_step >= FETCHED;
  if (!b->run->indices.is_i64) return list_numbers(b, false, false);
  return fetches_all ? list_numbers(b, true, true) : list_numbers(b, true, false);
}

/* The number of rows that wait, listed anew where they have been taken. */
static int64_t next_rows(bag *b) {
  const int64_t listed = b->listed;
  b->listed = -1;
  return listed >= 0 ? listed : list_rows(b);
}

/* The columns of a listed row as lanes. */
static inline const void *lanes_of(bag *b, int64_t number) {
  if (b->run->is_lanes) return b->at[number];
  kw_port_read(&b->run->plan->port, b->lanes[number % KW_FOLD_ROWS], b->at[number], b->run->column_step, b->width);
  return b->lanes[number % KW_FOLD_ROWS];
}

/* Adds `count` listed rows from row number `first` on, KW_FOLD_ROWS at most, to the sum. */
static void add_rows(bag *b, int64_t first, int64_t count) {
  const bag_run *run = b->run;
  const kw_port *port = &run->plan->port;
  const void *read[KW_FOLD_ROWS], *const *rows = b->at + first;
  if (!run->is_lanes) {
    for (int64_t k = 0; k < KW_FOLD_ROWS; k++) read[k] = k < count ? lanes_of(b, first + k) : b->nothing;
    rows = read;
  }
  if (!run->scales.at) {
    run->isa->folds[KW_FOLD_SUM][port->lane].rows(b->best, rows, b->width);
    return;
  }
  const int64_t size = kw_lane_size(port->lane);
  for (int64_t k = 0; k < count; k++) {
    kw_port_read(port, b->factors + k * size, run->scales.at + b->place[first + k] * run->scales.step, 0, 1);
  }
  memset(b->factors + count * size, 0, (size_t)((KW_FOLD_ROWS - count) * size));
  run->isa->product[port->lane].add_lines(b->best, b->factors, rows, b->width);
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
  for (int64_t count; (count = next_rows(b)) > 0;) {
    for (int64_t i = 0; i < count; i += KW_FOLD_ROWS, calls++) {
      if (calls == most) {
        for (int64_t k = 0; k < b->width && !has_totals; k++) fold->start(&b->totals[k]);
        fold->take(b->totals, b->best, b->width);
        memset(b->best, 0, bytes);
        has_totals = true;
        calls = 0;
      }
      add_rows(b, i, kw_least(count - i, KW_FOLD_ROWS));
    }
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
  const kw_lane places = lane == KW_LANE_F64 ? KW_LANE_I64 : KW_LANE_I32;
  bool is_first = true;
  memset(b->best, 0, bytes);
  memset(&b->places, 0, bytes);
  for (int64_t count; (count = next_rows(b)) > 0;) {
    for (int64_t i = 0; i < count; i++) {
      const int64_t index = int_at(&run->indices, b->place[i]);
      if (is_first) {
        memcpy(b->best, lanes_of(b, i), bytes);
        kw_lanes_fill(&b->places, &index, places, b->width);
        is_first = false;
      } else {
        run->isa->folds[KW_FOLD_MAX][lane].pick_row(b->best, &b->places, lanes_of(b, i), index, b->width);
      }
    }
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
  const int64_t first = start_of(run, number), columns = run->table->shape[1];
  b->next = first;
  b->end = start_of(run, number + 1);
  b->column = 0;
  b->width = kw_least(columns, WIDTH);
  b->listed = b->end - first <= LISTED ? list_rows(b) : -1;
  const int64_t count = b->end - first <= LISTED ? b->listed : count_rows(run, first, b->end);
  if (count < 0) {
    kw_selection_blame(run->call, 1);
    return;
  }
  run->isa->move[I64](element_of(run, 1, first, 0), run->outs[1].step[0], (const char *)&number, 0, b->end - first);
  *(int64_t *)(void *)element_of(run, 2, number, 0) = count;
  if (run->mode != BAG_MAX) *(int64_t *)(void *)element_of(run, 3, number, 0) = 0;
  for (b->column = 0; b->column < columns; b->column += b->width) {
    b->width = kw_least(columns - b->column, WIDTH);
    if (b->listed < 0) b->next = first;
    if (run->mode == BAG_MAX) {
      pick_rows(b);
      store_places(b, element_of(run, 3, number, b->column), run->outs[3].step[1]);
    } else {
      sum_rows(b, run->mode == BAG_MEAN ? count : 1);
    }
    kw_port_write(&run->plan->port, element_of(run, 0, number, b->column), run->outs[0].step[1], b->best, b->width);
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
  run.is_lanes = kw_port_is_lanes(&run.plan->port, run.column_step);
  for (int k = 0; k < 4; k++) {
    const kw_tensor_ref *out = call->outs[k];
    run.outs[k].base = kw_walk_base(out);
    for (uint32_t d = 0; d < out->rank; d++) run.outs[k].step[d] = kw_loop_step(out, d);
  }
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
