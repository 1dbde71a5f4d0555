/* SPDX-License-Identifier: Apache-2.0
 *
 * _int_mm: products of matrices of int8, whose sums wrap at 32 bits. A thread packs the rows that a tile needs into
 * words of some terms each, then panel by panel its columns, which stay in the first cache while all rows are
 * multiplied.
 */
#include "fast.h"

#include "loop.h"
#include "sizes.h"
#include "tiles.h"
#include "walk.h"

#include <string.h>

#define DEPTH 1024        /* terms whose factors are packed at once; all groups of terms divide it */
#define TILE_ROWS 768     /* at most; a multiple of every block's rows */
#define TILE_COLUMNS 4096 /* at most */
#define RUN 64            /* words of lines that are read before they are turned */
#define WORD ((int64_t)sizeof(uint32_t))

/* Lines of terms: rows of the first matrix, columns of the second. Steps are bytes. */
typedef struct int_lines {
  int64_t step, k_step;
} int_lines;

typedef struct int_plan {
  int64_t rows, k, columns;
  int_lines a, b;
  int64_t out_row_step, out_column_step;
} int_plan;

static kw_status plan_int_product(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  (void)kernel;
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *out = call->outs[0];
  if (a->dtype != KW_I8 || b->dtype != KW_I8 || out->dtype != KW_I32) return KW_ERR_NOT_IMPLEMENTED;
  *(int_plan *)out_plan = (int_plan){.rows = out->shape[0],
                                     .k = a->shape[1],
                                     .columns = out->shape[1],
                                     .a = {kw_loop_step(a, 0), kw_loop_step(a, 1)},
                                     .b = {kw_loop_step(b, 1), kw_loop_step(b, 0)},
                                     .out_row_step = kw_loop_step(out, 0),
                                     .out_column_step = kw_loop_step(out, 1)};
  return KW_OK;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct int_run {
  const kw_host_api *host;
  const int_plan *plan;
  const kw_isa *isa;
  const kw_byte_product *product;
  const char *a, *b;
  char *out;
  kw_tiles tiles;
  atomic_int status;
} int_run;

/* A tile, and room for the panels of its rows, for what their sums begin with, and for one panel of its columns. */
typedef struct int_tile {
  kw_tile at;
  uint32_t *a, *starts, *b;
} int_tile;

/* Packs `count` lines of k terms that lie side by side: word for word, of all lines. */
static void weave_panel(const int_run *run, uint32_t *panel, int64_t width, int64_t count, const char *at,
                        int64_t k_step, int64_t k, uint32_t flip) {
  static const int8_t zeros[KW_PRODUCT_WIDTH];
  const int64_t group = run->product->group;
  const int8_t *lines[KW_BYTE_GROUP];
  for (int64_t p = 0; p < k; p += group, panel += width) {
    for (int64_t i = 0; i < group; i++) {
      lines[i] = p + i < k ? (const int8_t *)at + (p + i) * k_step : zeros;
    }
    run->product->weave(panel, lines, count, flip);
  }
}

/* The same of lines that do not: some words of each line, which are then turned. */
static void turn_panel(const int_run *run, uint32_t *panel, int64_t width, int64_t count, const char *at,
                       int_lines lines, int64_t k, uint32_t flip) {
  const int64_t group = run->product->group;
  uint32_t words[KW_PRODUCT_WIDTH][RUN];
  int8_t terms[RUN * KW_BYTE_GROUP];
  for (int64_t p = 0; p < k; p += RUN * group, panel += RUN * width) {
    const int64_t n = kw_least(RUN * group, k - p);
    for (int64_t i = 0; i < count; i++) {
      const char *line = at + i * lines.step + p * lines.k_step;
      if (lines.k_step != 1) run->isa->move[0]((char *)terms, 1, line, lines.k_step, n);
      run->product->gather(words[i], lines.k_step == 1 ? (const int8_t *)line : terms, n, flip);
    }
    run->isa->transpose[2]((char *)panel, width * WORD, (const char *)words, RUN * WORD, count,
                           (n + group - 1) / group);
  }
}

/* Packs `count` lines of k terms into panels of `width` lines. */
static void pack(const int_run *run, uint32_t *to, int64_t width, const char *at, int_lines lines, int64_t count,
                 int64_t k, uint32_t flip) {
  const int64_t words = (k + run->product->group - 1) / run->product->group;
  for (int64_t i = 0; i < count; i += width, to += width * words, at += width * lines.step) {
    if (count - i < width) memset(to, 0, (size_t)(width * words * WORD)); /* lines that are not there are read, too */
    if (lines.step == 1) {
      weave_panel(run, to, width, kw_least(width, count - i), at, lines.k_step, k, flip);
    } else {
      turn_panel(run, to, width, kw_least(width, count - i), at, lines, k, flip);
    }
  }
}

/* Multiplies a panel of rows by one of columns, n words each, for the results at `row` and `column`. Blocks that are
 * not whole, or do not lie as they are computed, are somewhere else meanwhile. */
static void multiply(const int_run *run, const uint32_t *a, const uint32_t *starts, const uint32_t *b, int64_t n,
                     int64_t row, int64_t column, bool adds) {
  const int_plan *plan = run->plan;
  const kw_byte_product *product = run->product;
  const int64_t rows = kw_least(product->rows, plan->rows - row), step = plan->out_column_step;
  const int64_t columns = kw_least(product->columns, plan->columns - column), row_step = plan->out_row_step;
  char *out = run->out + row * row_step + column * step;
  if (step == WORD && rows == product->rows && columns == product->columns) {
    product->block(rows, a, starts, b, n, (uint32_t *)(void *)out, row_step / WORD, adds);
    return;
  }
  uint32_t sums[KW_PRODUCT_WIDTH * KW_PRODUCT_WIDTH];
  const kw_move_fn move = run->isa->move[2];
  const int64_t line = product->columns;
  if (adds) memset(sums, 0, (size_t)(product->rows * line * WORD));
  for (int64_t i = 0; i < rows && adds; i++) move((char *)(sums + i * line), WORD, out + i * row_step, step, columns);
  product->block(rows, a, starts, b, n, sums, line, adds);
  for (int64_t i = 0; i < rows; i++) move(out + i * row_step, step, (const char *)(sums + i * line), WORD, columns);
}

/* Adds the products of terms [first, first + k). */
static void add_terms(const int_run *run, const int_tile *tile, int64_t first, int64_t k) {
  const int_plan *plan = run->plan;
  const kw_byte_product *product = run->product;
  const kw_tile *at = &tile->at;
  const int64_t words = (k + product->group - 1) / product->group;
  pack(run, tile->a, product->rows, run->a + at->row * plan->a.step + first * plan->a.k_step, plan->a, at->rows, k, 0);
  for (int64_t i = 0; i < at->rows; i += product->rows) product->start(tile->starts + i, tile->a + i * words, words);
  for (int64_t j = 0; j < at->columns; j += product->columns) {
    const char *columns = run->b + (at->column + j) * plan->b.step + first * plan->b.k_step;
    pack(run, tile->b, product->columns, columns, plan->b, kw_least(product->columns, at->columns - j), k,
         product->flip);
    for (int64_t i = 0; i < at->rows; i += product->rows) {
      multiply(run, tile->a + i * words, tile->starts + i, tile->b, words, at->row + i, at->column + j, first > 0);
    }
  }
}

static void run_tiles(void *user, int64_t begin, int64_t end) {
  int_run *run = user;
  const int_plan *plan = run->plan;
  const int64_t words = (kw_least(DEPTH, plan->k) + run->product->group - 1) / run->product->group;
  const int64_t a_size = run->tiles.rows * words, b_size = run->product->columns * words;
  const int64_t size = a_size + run->tiles.rows + b_size;
  uint32_t *room = kw_fast_room(run->host, (uint64_t)(size * WORD), &run->status);
  if (!room) return;
  int_tile tile = {.a = room, .starts = room + a_size + b_size, .b = room + a_size};
  for (int64_t i = begin; i < end; i++) {
    tile.at = kw_tiles_at(&run->tiles, plan->rows, plan->columns, i);
    int64_t first = 0;
    do { /* once without any terms, too */
      add_terms(run, &tile, first, kw_least(DEPTH, plan->k - first));
      first += DEPTH;
    } while (first < plan->k);
  }
  run->host->host_free(run->host->ctx, room);
}

static kw_status run_int_product(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const int_plan *plan = the_plan;
  const kw_isa *isa = kw_fast_isa();
  const kw_byte_product *product = &isa->byte_product;
  if (plan->rows == 0 || plan->columns == 0) return KW_OK;
  uint32_t threads = 1;
  kw_status status = host->thread_count(host->ctx, &threads);
  if (status != KW_OK) return status;
  int_run run = {.host = host, .plan = plan, .isa = isa, .product = product};
  run.a = kw_walk_base(call->args[0].u.tensor);
  run.b = kw_walk_base(call->args[1].u.tensor);
  run.out = kw_walk_base(call->outs[0]);
  run.tiles =
      kw_tiles_cut((kw_tiles_of){1, plan->rows, plan->columns, plan->k}, (kw_tiles){TILE_ROWS, TILE_COLUMNS, 0, 0},
                   (kw_tiles){product->rows, product->columns, 0, 0}, threads);
  const int64_t products = run.tiles.rows * run.tiles.columns * (plan->k + 1);
  status =
      host->parallel_for(host->ctx, run.tiles.down * run.tiles.across, 1 + KW_TILES_GRAIN / products, run_tiles, &run);
  return status == KW_OK ? (kw_status)atomic_load(&run.status) : status;
}

static const kw_fast_kernel kernels[] = {{.op = "_int_mm",
                                          .dtypes = KW_DTYPE_BIT(KW_I8),
                                          .plan_size = sizeof(int_plan),
                                          .make_plan = plan_int_product,
                                          .run = run_int_product}};

kw_fast_family kw_fast_int_product(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
