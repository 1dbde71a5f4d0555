/* SPDX-License-Identifier: Apache-2.0
 *
 * Embedding bags: sums, means and largest elements of the rows of a table that the indices of a bag choose. A thread
 * has whole bags, and takes a bag's rows in their order.
 */
#include "fast.h"

#include "index.h"
#include "loop.h"
#include "selection.h"
#include "sizes.h"
#include "walk.h"

#include <string.h>

#define GRAIN 16384 /* elements of rows: the fewest that a thread is woken for */

/* Rows lie where indices say, which no processor foresees: that which comes so many rows later is asked for, of a long
 * one as many bytes as its own order is not seen by. */
#define AHEAD 8
#define FETCHED 512
#define LINE 64 /* bytes: of a cache */

enum { SUM, MEAN, MAX }; /* argument 4 */

typedef struct bag_plan {
  kw_port port;
  kw_lane lane;
} bag_plan;

/* weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx. */
static kw_status plan_bag(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_value *args = call->args;
  const kw_tensor_ref *weight = args[0].u.tensor;
  bag_plan *plan = out_plan;
  (void)kernel;
  const bool is_scaled = args[6].tag == KW_TAG_TENSOR;
  if (!kw_index_is_index(call, 1) || !kw_index_is_index(call, 2)) return KW_ERR_NOT_IMPLEMENTED;
  if (is_scaled && (args[6].u.tensor->dtype != weight->dtype || args[4].u.i == MAX)) return KW_ERR_NOT_IMPLEMENTED;
  if (call->outs[0]->dtype != weight->dtype) return KW_ERR_NOT_IMPLEMENTED;
  plan->lane = kw_lane_of(weight->dtype);
  return kw_port_open(&plan->port, weight->dtype, plan->lane) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* The elements of a tensor of one dimension. */
typedef struct line {
  char *base;
  int64_t step; /* bytes */
  bool is_wide; /* of integers: i64, and not i32 */
} line;

static line line_of(const kw_tensor_ref *tensor) {
  return (line){kw_walk_base(tensor), kw_loop_step(tensor, 0), tensor->dtype == KW_I64};
}

static int64_t line_get(line l, int64_t i) {
  const void *at = l.base + i * l.step;
  return l.is_wide ? *(const int64_t *)at : *(const int32_t *)at;
}

static void line_set(line l, int64_t i, int64_t value) {
  void *at = l.base + i * l.step;
  if (l.is_wide) {
    *(int64_t *)at = value;
  } else {
    *(int32_t *)at = (int32_t)value;
  }
}

typedef struct bag_run {
  const bag_plan *plan;
  const kw_call *call;
  const kw_tensor_ref *weight, *out, *chosen; /* chosen: result 3 */
  const char *table;
  char *to;
  const int64_t *starts; /* of each bag, and the end of the last one */
  line indices, scales, bag_of, counts;
  bool is_scaled;
  int64_t mode, padding;
} bag_run;

typedef struct bag_lanes {
  _Alignas(64) char total[KW_LANE_BLOCK * KW_LANE_BYTES];
  _Alignas(64) char row[KW_LANE_BLOCK * KW_LANE_BYTES];
  _Alignas(64) char factor[KW_LANE_BLOCK * KW_LANE_BYTES];
  int64_t chosen[KW_LANE_BLOCK];
} bag_lanes;

/* The indices of bag b: how many are no padding, or -1 where one is out of range. */
static int64_t count_bag(const bag_run *run, int64_t b) {
  int64_t count = 0;
  for (int64_t i = run->starts[b]; i < run->starts[b + 1]; i++) {
    const int64_t index = line_get(run->indices, i);
    if (index < 0 || index >= run->weight->shape[0]) {
      kw_selection_blame(run->call, 1);
      return -1;
    }
    count += index != run->padding;
    line_set(run->bag_of, i, b);
  }
  line_set(run->counts, b, count);
  return count;
}

/* Elements that are larger than the largest so far, or the first NaN, take its place; so does all of a first row. */
#define TAKE_LARGER(name, T)                                                                          \
  static void name(T *most, int64_t *chosen, const T *row, int64_t index, bool is_first, int64_t n) { \
    for (int64_t i = 0; i < n; i++) {                                                                 \
      if (!is_first && !(row[i] > most[i]) && !(row[i] != row[i] && most[i] == most[i])) continue;    \
      most[i] = row[i];                                                                               \
      chosen[i] = index;                                                                              \
    }                                                                                                 \
  }
TAKE_LARGER(take_larger_f32, float)
TAKE_LARGER(take_larger_f64, double)

/* One row more in the lanes. */
static void add_row(const bag_run *run, bag_lanes *lanes, int64_t i, int64_t index, const void *row, bool is_first,
                    int64_t n) {
  const kw_lane lane = run->plan->lane;
  if (run->mode == MAX && lane == KW_LANE_F64) {
    take_larger_f64((double *)(void *)lanes->total, lanes->chosen, row, index, is_first, n);
  } else if (run->mode == MAX) {
    take_larger_f32((float *)(void *)lanes->total, lanes->chosen, row, index, is_first, n);
  } else if (run->is_scaled) {
    _Alignas(8) char scale[KW_LANE_BYTES];
    kw_port_read(&run->plan->port, scale, run->scales.base + i * run->scales.step, 0, 1);
    kw_lanes_fill(lanes->factor, scale, lane, n);
    kw_fast_isa()->pointwise[KW_POINTWISE_ADD_SCALED][lane](lanes->total,
                                                            (const void *[]){lanes->total, row, lanes->factor}, n);
  } else {
    kw_fast_isa()->pointwise[KW_POINTWISE_ADD][lane](lanes->total, (const void *[]){lanes->total, row}, n);
  }
}

/* Has the caches bring the beginning of a row. */
static inline void fetch(const char *row, int64_t bytes) {
  const int64_t fetched = kw_least(bytes, FETCHED);
  for (int64_t at = 0; at < fetched; at += LINE) __builtin_prefetch(row + at);
}

/* Columns [column, column + n) of bag b, `count` of whose indices are no padding. */
static void reduce_bag(const bag_run *run, bag_lanes *lanes, int64_t b, int64_t count, int64_t column, int64_t n) {
  const bag_plan *plan = run->plan;
  const int64_t step = kw_loop_step(run->weight, 1), row_step = kw_loop_step(run->weight, 0);
  bool is_first = true;
  kw_lanes_fill_number(lanes->total, 0, plan->lane, n);
  if (run->mode == MAX) memset(lanes->chosen, 0, (size_t)n * sizeof *lanes->chosen);
  const char *columns = run->table + column * step;
  for (int64_t i = run->starts[b], end = run->starts[b + 1]; i < end; i++) {
    const int64_t index = line_get(run->indices, i);
    if (i + AHEAD < end) fetch(columns + line_get(run->indices, i + AHEAD) * row_step, step * n);
    if (index == run->padding) continue;
    const char *from = columns + index * row_step;
    const bool lies = kw_port_is_lanes(&plan->port, step);
    add_row(run, lanes, i, index, lies ? from : kw_port_lanes(&plan->port, from, step, n, lanes->row), is_first, n);
    is_first = false;
  }
  if (run->mode == MEAN && count > 0) {
    kw_lanes_fill_number(lanes->factor, (double)count, plan->lane, n);
    kw_fast_isa()->pointwise[KW_POINTWISE_DIV][plan->lane](lanes->total, (const void *[]){lanes->total, lanes->factor},
                                                           n);
  }
  const int64_t to_step = kw_loop_step(run->out, 1);
  char *to = run->to + b * kw_loop_step(run->out, 0) + column * to_step;
  kw_port_write(&plan->port, to, to_step, lanes->total, n);
}

static void store_chosen(const bag_run *run, const bag_lanes *lanes, int64_t b, int64_t column, int64_t n) {
  const kw_tensor_ref *out = run->chosen;
  line places = line_of(out);
  places.base += b * places.step + column * kw_loop_step(out, 1);
  places.step = kw_loop_step(out, 1);
  for (int64_t i = 0; i < n; i++) line_set(places, i, lanes->chosen[i]);
}

static void run_bags(void *user, int64_t begin, int64_t end) {
  const bag_run *run = user;
  const int64_t width = run->weight->shape[1];
  bag_lanes lanes;
  for (int64_t b = begin; b < end; b++) {
    const int64_t count = count_bag(run, b);
    if (count < 0) continue;
    if (run->mode != MAX) line_set(line_of(run->chosen), b, 0);
    for (int64_t column = 0; column < width; column += KW_LANE_BLOCK) {
      const int64_t n = kw_block_at(column, width);
      reduce_bag(run, &lanes, b, count, column, n);
      if (run->mode == MAX) store_chosen(run, &lanes, b, column, n);
    }
  }
}

/* Fills starts[0..bags]. False where they do not rise from 0 to the number of indices. */
static bool find_starts(const kw_call *call, int64_t bags, int64_t *starts) {
  const kw_tensor_ref *offsets = call->args[2].u.tensor;
  const line at = line_of(offsets);
  const int64_t count = call->args[1].u.tensor->shape[0];
  for (int64_t b = 0; b <= bags; b++) {
    starts[b] = b < offsets->shape[0] ? line_get(at, b) : count;
    if (b > 0 ? starts[b] < starts[b - 1] || starts[b] > count : starts[b] != 0) return false;
  }
  return starts[bags] == count;
}

static kw_status run_bag(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_value *args = call->args;
  const kw_tensor_ref *weight = args[0].u.tensor, *indices = args[1].u.tensor;
  const int64_t bags = args[2].u.tensor->shape[0] - args[7].u.b;
  bag_run run = {.plan = plan,
                 .call = call,
                 .weight = weight,
                 .out = call->outs[0],
                 .chosen = call->outs[3],
                 .table = kw_walk_base(weight),
                 .to = kw_walk_base(call->outs[0]),
                 .indices = line_of(indices),
                 .bag_of = line_of(call->outs[1]),
                 .counts = line_of(call->outs[2]),
                 .is_scaled = args[6].tag == KW_TAG_TENSOR,
                 .mode = args[4].u.i,
                 .padding = args[8].u.i};
  if (run.is_scaled) run.scales = line_of(args[6].u.tensor);
  void *room;
  kw_status status = host->host_alloc(host->ctx, (uint64_t)(bags + 1) * sizeof(int64_t), sizeof(int64_t), &room);
  if (status != KW_OK) return status;
  run.starts = room;
  if (find_starts(call, bags, room)) {
    const int64_t of_bag = bags > 0 ? indices->shape[0] / bags * weight->shape[1] : 0;
    status = host->parallel_for(host->ctx, bags, 1 + GRAIN / (1 + of_bag), run_bags, &run);
  } else {
    kw_selection_blame(call, 2);
  }
  host->host_free(host->ctx, room);
  return status;
}

static const kw_fast_kernel kernels[] = {
    {.op = "_embedding_bag",
     .dtypes = KW_DTYPES_FLOAT,
     .flags = KW_KERNEL_DATA_ERRORS,
     .plan_size = sizeof(bag_plan),
     .make_plan = plan_bag,
     .run = run_bag},
};

kw_fast_family kw_fast_bag(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
