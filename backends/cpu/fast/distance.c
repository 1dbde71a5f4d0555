/* SPDX-License-Identifier: Apache-2.0
 *
 * Distances between the rows of two matrices, or those of one. As in a product a thread packs the rows that a tile
 * needs, in lanes; the differences are taken as they are, for |x|^2 - 2xy + |y|^2 loses what two near rows differ in.
 */
#include "fast.h"

#include "loop.h"
#include "operand.h"
#include "panels.h"
#include "walk.h"

#include <math.h>
#include <string.h>

#define DEPTH 256        /* elements of a row that are packed at once */
#define TILE_ROWS 48     /* a multiple of every block's rows */
#define TILE_COLUMNS 256 /* and of its columns */
#define GRAIN 32768      /* differences that a thread is woken for */

typedef struct distance_op {
  uint32_t p;     /* index of that argument; the matrices are before it */
  bool has_pairs; /* of one matrix each row and those behind it, all in one row: tiles are above the diagonal */
} distance_op;

/* Rows of a matrix. Steps are bytes. */
typedef struct distance_rows {
  int64_t step, k_step;
} distance_rows;

typedef struct distance_plan {
  kw_loop batches; /* matrices; their operands are the result and the two */
  int64_t rows, columns, k;
  bool has_pairs;
  int64_t out_row_step, out_column_step; /* of pairs only the latter */
  distance_rows x, y;
  kw_port port;
  int64_t lane_size;
  int64_t tiles_down, tiles_across;
} distance_plan;
_Static_assert(sizeof(distance_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

/* What a tensor has before its last dimensions. */
static kw_tensor_ref batch_of(const kw_tensor_ref *tensor, uint32_t dimensions) {
  kw_tensor_ref batch = *tensor;
  batch.rank = (uint8_t)(batch.rank - dimensions);
  return batch;
}

static distance_rows rows_of(const kw_tensor_ref *tensor) {
  return (distance_rows){kw_loop_step(tensor, tensor->rank - 2u), kw_loop_step(tensor, tensor->rank - 1u)};
}

static kw_status plan_distance(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const distance_op *op = kernel->family;
  const kw_tensor_ref *x = call->args[0].u.tensor, *y = call->args[op->p - 1].u.tensor, *out = call->outs[0];
  const kw_tensor_ref batches[] = {batch_of(out, op->has_pairs ? 1 : 2), batch_of(x, 2), batch_of(y, 2)};
  distance_plan *plan = out_plan;
  const bool alike = x->dtype == out->dtype && y->dtype == out->dtype;
  if (!alike || !kw_port_open(&plan->port, x->dtype, kw_lane_of(x->dtype))) return KW_ERR_NOT_IMPLEMENTED;
  plan->lane_size = kw_lane_size(plan->port.lane);
  kw_loop_begin(&plan->batches, &batches[0]);
  kw_loop_add(&plan->batches, &batches[1]);
  kw_loop_add(&plan->batches, &batches[2]);
  kw_loop_make(&plan->batches);
  plan->rows = x->shape[x->rank - 2];
  plan->columns = y->shape[y->rank - 2];
  plan->k = x->shape[x->rank - 1];
  plan->has_pairs = op->has_pairs;
  plan->out_row_step = op->has_pairs ? 0 : kw_loop_step(out, out->rank - 2u);
  plan->out_column_step = kw_loop_step(out, out->rank - 1u);
  plan->x = rows_of(x);
  plan->y = rows_of(y);
  plan->tiles_down = (plan->rows + TILE_ROWS - 1) / TILE_ROWS;
  plan->tiles_across = (plan->columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
  return KW_OK;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct distance_run {
  const kw_host_api *host;
  const distance_plan *plan;
  const kw_isa *isa;
  const kw_product *product;
  double p;
  kw_distance_fn kind;
  bool is_power; /* none of the kinds */
  char *base[3];
  atomic_int status;
} distance_run;

/* A tile, and room for panels of its rows and columns and for what they give. */
typedef struct distance_tile {
  const distance_run *run;
  const char *x, *y; /* the matrices */
  char *out;
  int64_t row, column, rows, columns;
  _Alignas(64) char power[KW_PRODUCT_WIDTH * KW_LANE_BYTES]; /* p, in lanes */
  char *a, *b, *sums;
} distance_tile;

static void apply(const distance_tile *tile, kw_pointwise_fn function, void *out, const void *with, int64_t n) {
  const kw_lane lane = tile->run->plan->port.lane;
  tile->run->isa->pointwise[function][lane](out, (const void *[]){out, with}, n);
}

/* Packs `count` rows, from element `first` on, into panels of `width`. */
static void pack(const distance_tile *tile, char *to, int64_t width, distance_rows rows, const char *at, int64_t count,
                 int64_t first, int64_t k) {
  const distance_plan *plan = tile->run->plan;
  const kw_product_lines lines = {.at = at + first * rows.k_step,
                                  .step = rows.step,
                                  .k_step = rows.k_step,
                                  .read = tile->run->isa->read[plan->port.dtype][plan->port.lane],
                                  .size = plan->port.size,
                                  .is_native = plan->port.is_native};
  kw_panels_pack(tile->run->product, to, width, lines, count, k, plan->lane_size);
}

/* What distances_fn does, where each size has to be raised to a power. */
static void add_powers(const distance_tile *tile, const char *a, const char *b, int64_t k, char *sums, bool goes_on) {
  const distance_run *run = tile->run;
  const int64_t rows = run->product->rows, columns = run->product->columns, lane = run->plan->lane_size;
  _Alignas(64) char x[KW_PRODUCT_WIDTH * KW_LANE_BYTES];
  for (int64_t i = 0; i < rows; i++, sums += TILE_COLUMNS * lane) {
    if (!goes_on) memset(sums, 0, (size_t)(columns * lane));
    for (int64_t p = 0; p < k; p++) {
      kw_lanes_fill(x, a + (p * rows + i) * lane, run->plan->port.lane, columns);
      apply(tile, KW_POINTWISE_SUB, x, b + p * columns * lane, columns);
      apply(tile, KW_POINTWISE_ABS, x, NULL, columns);
      apply(tile, KW_POINTWISE_POW, x, tile->power, columns);
      apply(tile, KW_POINTWISE_ADD, sums, x, columns);
    }
  }
}

/* The first column of the tile that belongs to a row of it: of pairs the one right of the diagonal. */
static int64_t first_column(const distance_tile *tile, int64_t row) {
  const int64_t behind = tile->row + row + 1 - tile->column;
  return tile->run->plan->has_pairs && behind > 0 ? behind : 0;
}

/* Adds elements [first, first + k) of the rows. */
static void add_terms(const distance_tile *tile, int64_t first, int64_t k) {
  const distance_run *run = tile->run;
  const distance_plan *plan = run->plan;
  const int64_t rows = run->product->rows, columns = run->product->columns, lane = plan->lane_size;
  pack(tile, tile->a, rows, plan->x, tile->x + tile->row * plan->x.step, tile->rows, first, k);
  pack(tile, tile->b, columns, plan->y, tile->y + tile->column * plan->y.step, tile->columns, first, k);
  for (int64_t i = 0; i < tile->rows; i += rows) {
    for (int64_t j = first_column(tile, i) / columns * columns; j < tile->columns; j += columns) {
      const char *a = tile->a + i * k * lane, *b = tile->b + j * k * lane;
      char *sums = tile->sums + (i * TILE_COLUMNS + j) * lane;
      if (run->is_power) {
        add_powers(tile, a, b, k, sums, first > 0);
      } else {
        run->product->distances(run->kind, a, b, k, sums, TILE_COLUMNS, first > 0);
      }
    }
  }
}

static void finish_tile(distance_tile *tile) {
  const distance_run *run = tile->run;
  const distance_plan *plan = run->plan;
  _Alignas(64) char inverse[TILE_COLUMNS * KW_LANE_BYTES];
  if (run->is_power) kw_lanes_fill_number(inverse, 1 / run->p, plan->port.lane, TILE_COLUMNS);
  for (int64_t i = 0; i < tile->rows; i++) {
    const int64_t first = first_column(tile, i), n = tile->columns - first, row = tile->row + i;
    if (n <= 0) continue;
    char *sums = tile->sums + (i * TILE_COLUMNS + first) * plan->lane_size;
    if (run->is_power) {
      apply(tile, KW_POINTWISE_POW, sums, inverse, n);
    } else if (run->kind == KW_DISTANCE_SQUARES) {
      apply(tile, KW_POINTWISE_SQRT, sums, NULL, n);
    }
    const int64_t before = plan->has_pairs ? row * (2 * plan->rows - row - 1) / 2 - row - 1 : 0; /* column 0 */
    char *to = tile->out + row * plan->out_row_step + (before + tile->column + first) * plan->out_column_step;
    kw_port_write(&plan->port, to, plan->out_column_step, sums, n);
  }
}

static void run_tiles(void *user, int64_t begin, int64_t end) {
  distance_run *run = user;
  const distance_plan *plan = run->plan;
  const int64_t line = kw_least(DEPTH, plan->k) * plan->lane_size, tiles = plan->tiles_down * plan->tiles_across;
  /* blocks are whole: a tile's last rows and columns may have idle ones behind them */
  const int64_t a_size = TILE_ROWS * line, b_size = TILE_COLUMNS * line;
  const int64_t sums_size = TILE_ROWS * TILE_COLUMNS * plan->lane_size;
  char *room = kw_fast_room(run->host, (uint64_t)(a_size + b_size + sums_size), &run->status);
  if (!room) return;
  distance_tile tile = {.run = run, .sums = room, .a = room + sums_size, .b = room + sums_size + a_size};
  kw_lanes_fill_number(tile.power, run->p, plan->port.lane, KW_PRODUCT_WIDTH);
  for (int64_t i = begin; i < end; i++) {
    char *at[3];
    kw_loop_find(&plan->batches, run->base, i / tiles, at);
    tile.out = at[0];
    tile.x = at[1];
    tile.y = at[2];
    tile.row = i / plan->tiles_across % plan->tiles_down * TILE_ROWS;
    tile.column = i % plan->tiles_across * TILE_COLUMNS;
    tile.rows = kw_least(TILE_ROWS, plan->rows - tile.row);
    tile.columns = kw_least(TILE_COLUMNS, plan->columns - tile.column);
    if (first_column(&tile, 0) >= tile.columns) continue;
    int64_t first = 0;
    do { /* once without any elements, too */
      add_terms(&tile, first, kw_least(DEPTH, plan->k - first));
      first += DEPTH;
    } while (first < plan->k);
    finish_tile(&tile);
  }
  run->host->host_free(run->host->ctx, room);
}

static kw_status run_distance(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const distance_plan *plan = the_plan;
  const kw_fast_kernel *kernel = call->user;
  const distance_op *op = kernel->family;
  const kw_isa *isa = kw_fast_isa();
  const kw_element given = kw_operand_scalar(&call->args[op->p]);
  const kw_element p = kw_operand_as_key(given.dtype, given.bytes, plan->port.dtype);
  distance_run run = {.host = host, .plan = plan, .isa = isa, .product = &isa->product[plan->port.lane]};
  run.status = KW_OK;
  run.p = kw_number_load(p.dtype, p.bytes);
  run.kind = run.p == 0 ? KW_DISTANCE_COUNT : run.p == 1 ? KW_DISTANCE_SIZES : KW_DISTANCE_SQUARES;
  if (isinf(run.p)) run.kind = KW_DISTANCE_LARGEST;
  run.is_power = run.kind == KW_DISTANCE_SQUARES && run.p != 2;
  run.base[0] = kw_walk_base(call->outs[0]);
  run.base[1] = kw_walk_base(call->args[0].u.tensor);
  run.base[2] = kw_walk_base(call->args[op->p - 1].u.tensor);
  const int64_t differences = kw_least(TILE_ROWS, plan->rows) * kw_least(TILE_COLUMNS, plan->columns) * (plan->k + 1);
  const kw_status status = host->parallel_for(host->ctx, plan->batches.numel * plan->tiles_down * plan->tiles_across,
                                              1 + GRAIN / (differences + 1), run_tiles, &run);
  return status == KW_OK ? (kw_status)run.status : status;
}

static const kw_fast_kernel kernels[] = {
#define KERNEL(name, ...)                                 \
  {.op = name,                                            \
   .dtypes = KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F64), \
   .plan_size = sizeof(distance_plan),                    \
   .family = &(const distance_op){__VA_ARGS__},           \
   .make_plan = plan_distance,                            \
   .run = run_distance},
    KERNEL("_cdist_forward", 2, false) KERNEL("_pdist_forward", 1, true)};

kw_fast_family kw_fast_distance(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
