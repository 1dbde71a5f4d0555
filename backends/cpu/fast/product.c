/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices: mm, bmm and addmm. A result is cut into tiles; a thread packs what a tile needs, in lanes, and
 * multiplies that block by block. Few rows have a way of their own, which reads the second matrix where it lies. f32
 * matrices with dense rows or columns go to oneDNN where there is one.
 *
 * Every sum has its terms in an order that the shape alone sets, so tiles may be as small as threads like them. oneDNN
 * may order them by the size of the tile: its tiles are cut by the shape alone, large, because it packs for each anew.
 *
 * A second matrix that is constant is packed once, as a whole: the same panels, so the same bits as our own tiles have.
 */
#include "product.h"

#include "onednn/onednn.h"
#include "operand.h"
#include "sizes.h"
#include "tiles.h"
#include "walk.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 256              /* terms whose factors are packed at once */
#define TILE_ROWS 360          /* at most: with DEPTH, what the second cache holds; a multiple of every block's rows */
#define TILE_COLUMNS 512       /* at most */
#define DENSE_TERMS 8          /* that are packed of all lines in turn */
#define LINE_COLUMNS 1024      /* of a piece of few rows, at most, */
#define LINE_COLUMNS_LEAST 128 /* and at least, where there are many threads */
#define LINE_TERMS 1024
#define FEW_ROWS 2       /* that are worth no packing: where rows of the second matrix are read, */
#define FEW_ROWS_DOT 8   /* and where its columns are */
#define LIBRARY_ROWS 512 /* of a tile of oneDNN's, at most */
#define LIBRARY_COLUMNS 1024
#define LIBRARY_LEAST 16    /* columns and terms that are worth a call */
#define CROWDED_PITCH 2048  /* rows that lie multiples of so many bytes apart share few sets of the first cache */
#define CROWDED_ROWS 32     /* of a result that are worth packing such rows */
#define PANEL_ROWS_LEAST 4  /* that are worth reading panels: larger than 16-bit numbers as they lie, */
#define PANEL_ROWS 64       /* and at most, where oneDNN packs columns nearly as fast as it multiplies, */
#define PANEL_ROWS_DENSE 16 /* and where it reads dense rows as they lie */

typedef struct product_op {
  uint32_t first; /* argument index of the first matrix; the second follows */
  bool adds_self; /* argument 0, with factors behind the matrices: beta, alpha */
} product_op;

/* Steps are bytes. */
typedef struct product_matrix {
  int64_t row_step, column_step, batch_step;
} product_matrix;

/* out = a @ b, [rows, k] x [k, columns]. */
typedef struct product_plan {
  int64_t batch, rows, k, columns;
  product_matrix a, b, out, self;
  bool is_turned; /* the result's columns are the rows here, and a is the op's second matrix */
  kw_port port;
  int64_t lane_size;
  bool suits_library;
} product_plan;
_Static_assert(sizeof(product_plan) <= KW_FAST_PLAN_LIMIT, "can_implement has no room for the plan");

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

/* A tensor's last two dimensions. One that is missing or of size 1 repeats. */
static product_matrix matrix_of(const kw_tensor_ref *tensor, int64_t size) {
  product_matrix m = {0, 0, 0};
  const uint32_t rank = tensor->rank;
  if (rank > 0 && tensor->shape[rank - 1] != 1) m.column_step = size * tensor->strides[rank - 1];
  if (rank > 1 && tensor->shape[rank - 2] != 1) m.row_step = size * tensor->strides[rank - 2];
  if (rank > 2) m.batch_step = size * tensor->strides[0];
  return m;
}

static product_matrix turned(product_matrix m) {
  return (product_matrix){m.column_step, m.row_step, m.batch_step};
}

static bool has_dense_columns(const product_plan *plan) {
  return plan->b.row_step == plan->port.size && plan->b.column_step != plan->port.size;
}

/* Whether a matrix [rows, columns] has dense rows, each behind the one before. */
static bool has_dense_rows(product_matrix m, int64_t columns, int64_t size) {
  return m.column_step == size && m.row_step >= columns * size;
}

/* The tiles that the shape is cut into for oneDNN. */
static kw_tiles library_tiles(const product_plan *plan) {
  kw_tiles tiles = {.rows = kw_share(plan->rows, LIBRARY_ROWS, 1),
                    .columns = kw_share(plan->columns, LIBRARY_COLUMNS, 1)};
  for (;;) {
    tiles.down = (plan->rows + tiles.rows - 1) / tiles.rows;
    tiles.across = (plan->columns + tiles.columns - 1) / tiles.columns;
    const int64_t count = plan->batch * tiles.down * tiles.across;
    const int64_t millions = (tiles.rows + 16) * tiles.columns * plan->k >> 20; /* few rows cost more each */
    if (millions < (count < 2 ? 16 : count < 4 ? 64 : 512) || count >= 8) break;
    if (tiles.rows < 64 && tiles.columns < 64) break;
    if (tiles.columns > tiles.rows) {
      tiles.columns = kw_share(plan->columns, tiles.columns / 2, 16);
    } else {
      tiles.rows = kw_share(plan->rows, tiles.rows / 2, 16);
    }
  }
  return tiles;
}

/* Whether oneDNN would read rows of the second matrix that push each other out of the first cache: it packs them for
 * large tiles only. */
static bool is_crowded(const product_plan *plan) {
  if (plan->b.column_step != plan->port.size || plan->b.row_step % CROWDED_PITCH != 0) return false;
  const kw_tiles tiles = library_tiles(plan);
  return plan->rows >= CROWDED_ROWS && (tiles.rows < LIBRARY_ROWS || tiles.columns < LIBRARY_COLUMNS);
}

static bool suits_library(const product_plan *plan) {
  const int64_t size = plan->port.size;
  if (plan->port.dtype != KW_F32 || plan->rows <= FEW_ROWS || plan->columns < LIBRARY_LEAST ||
      plan->k < LIBRARY_LEAST || is_crowded(plan)) {
    return false;
  }
  return has_dense_rows(plan->out, plan->columns, size) &&
         (has_dense_rows(plan->a, plan->k, size) || has_dense_rows(turned(plan->a), plan->rows, size)) &&
         (has_dense_rows(plan->b, plan->columns, size) || has_dense_rows(turned(plan->b), plan->k, size));
}

static kw_status plan_product(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const product_op *op = kernel->family;
  const kw_tensor_ref *out = call->outs[0], *a = call->args[op->first].u.tensor;
  const kw_tensor_ref *b = call->args[op->first + 1].u.tensor;
  const uint32_t rank = out->rank;
  product_plan *plan = out_plan;
  if (!kw_port_open(&plan->port, out->dtype, kw_lane_of(out->dtype))) return KW_ERR_NOT_IMPLEMENTED;
  plan->lane_size = kw_lane_size(plan->port.lane);
  plan->batch = rank > 2 ? out->shape[0] : 1;
  plan->rows = out->shape[rank - 2];
  plan->columns = out->shape[rank - 1];
  plan->k = a->shape[a->rank - 1];
  plan->a = matrix_of(a, plan->port.size);
  plan->b = matrix_of(b, plan->port.size);
  plan->out = matrix_of(out, plan->port.size);
  if (op->adds_self) plan->self = matrix_of(call->args[0].u.tensor, plan->port.size);
  const bool is_column = plan->columns == 1 && plan->rows != 1; /* there is a way for few rows */
  plan->is_turned = is_column || (plan->out.column_step != plan->port.size && plan->out.row_step == plan->port.size);
  if (plan->is_turned) {
    const product_matrix first = plan->a;
    const int64_t rows = plan->rows;
    plan->rows = plan->columns;
    plan->columns = rows;
    plan->a = turned(plan->b);
    plan->b = turned(first);
    plan->out = turned(plan->out);
    plan->self = turned(plan->self);
  }
  plan->suits_library = suits_library(plan);
  return KW_OK;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct product_run {
  const product_plan *plan;
  const kw_isa *isa;
  const kw_product *product;
  char *a, *b, *out, *self;
  const char *factors; /* of few rows: all of the first matrix, in lanes */
  const char *panels;  /* all of the second matrix, packed; or NULL */
  kw_tiles tiles;
  const char *alpha, *beta; /* in TILE_COLUMNS lanes; NULL where alpha is 1, beta is 0 */
  atomic_bool has_failed;
} product_run;

/* `lanes` filled with a factor, or NULL where that is `idle`. */
static const char *factor_lanes(const product_plan *plan, const kw_value *value, double idle, char *lanes) {
  kw_element element = kw_operand_scalar(value);
  element = kw_operand_as_key(element.dtype, element.bytes, plan->port.lane == KW_LANE_F64 ? KW_F64 : KW_F32);
  if (kw_number_load(element.dtype, element.bytes) == idle) return NULL;
  kw_lanes_fill(lanes, element.bytes, plan->port.lane, TILE_COLUMNS);
  return lanes;
}

/* Makes `n` sums at `sums` results: row `row` from `column` on. */
static void finish(const product_run *run, int64_t batch, int64_t row, int64_t column, int64_t n, void *sums) {
  const product_plan *plan = run->plan;
  const product_matrix *out = &plan->out, *self = &plan->self;
  if (run->alpha) {
    run->isa->pointwise[KW_POINTWISE_MUL][plan->port.lane](sums, (const void *[]){sums, run->alpha}, n);
  }
  if (run->beta) {
    _Alignas(64) char lanes[TILE_COLUMNS * KW_LANE_BYTES];
    const char *from = run->self + row * self->row_step + column * self->column_step;
    kw_port_read(&plan->port, lanes, from, self->column_step, n);
    run->isa->pointwise[KW_POINTWISE_ADD_SCALED][plan->port.lane](sums, (const void *[]){sums, lanes, run->beta}, n);
  }
  char *to = run->out + batch * out->batch_step + row * out->row_step + column * out->column_step;
  kw_port_write(&plan->port, to, out->column_step, sums, n);
}

static kw_product_lines lines_of(const product_run *run, const char *at, int64_t step, int64_t k_step) {
  const product_plan *plan = run->plan;
  return (kw_product_lines){.at = at,
                            .step = step,
                            .k_step = k_step,
                            .read = run->isa->read[plan->port.dtype][plan->port.lane],
                            .size = plan->port.size,
                            .is_native = plan->port.is_native};
}

/* ---- Tiles ------------------------------------------------------------------------------------------------------- */

/* A tile, and room for its panels and sums. */
typedef struct product_tile {
  kw_tile at;
  char *a, *b, *sums;
} product_tile;

/* The result's columns in whole panels. */
static int64_t panel_columns(const product_plan *plan, const kw_product *product) {
  return kw_round_up(plan->columns, product->columns);
}

/* Where the packed matrix has terms [first, first + k) of the panel from `column` on: terms DEPTH at a time, and of
 * each such stretch all panels. */
static const char *panel_at(const product_run *run, int64_t batch, int64_t first, int64_t k, int64_t column) {
  const int64_t columns = panel_columns(run->plan, run->product);
  return run->panels + ((batch * run->plan->k + first) * columns + column * k) * run->plan->lane_size;
}

/* Packs `count` lines into panels of `width`. Where neighbours in memory belong to different lines, it goes along them.
 */
static void pack_all(const product_run *run, char *to, int64_t width, kw_product_lines lines, int64_t count,
                     int64_t k) {
  const int64_t lane = run->plan->lane_size, chunk = lines.step == lines.size ? DENSE_TERMS : k;
  const char *base = lines.at;
  for (int64_t p = 0; p < k; p += chunk) {
    for (int64_t i = 0; i < count; i += width) {
      lines.at = base + i * lines.step + p * lines.k_step;
      run->product->pack(to + (i * k + p * width) * lane, width, &lines, kw_least(width, count - i),
                         kw_least(chunk, k - p));
    }
  }
}

/* Adds the products of terms [first, first + k). */
static void add_terms(const product_run *run, const product_tile *tile, int64_t first, int64_t k) {
  const product_plan *plan = run->plan;
  const kw_product *product = run->product;
  const int64_t rows = product->rows, columns = product->columns, lane = plan->lane_size;
  const char *a = run->a + tile->at.batch * plan->a.batch_step + first * plan->a.column_step;
  const char *b = run->b + tile->at.batch * plan->b.batch_step + first * plan->b.row_step;
  const kw_product_lines a_lines =
      lines_of(run, a + tile->at.row * plan->a.row_step, plan->a.row_step, plan->a.column_step);
  const kw_product_lines b_lines =
      lines_of(run, b + tile->at.column * plan->b.column_step, plan->b.column_step, plan->b.row_step);
  const bool as_it_lies =
      !run->panels && b_lines.is_native && b_lines.step == b_lines.size && tile->at.rows <= 2 * rows;
  const int64_t lying = as_it_lies ? tile->at.columns / columns * columns : 0;
  const char *panels = run->panels ? panel_at(run, tile->at.batch, first, k, tile->at.column) : tile->b;
  pack_all(run, tile->a, rows, a_lines, tile->at.rows, k);
  if (!run->panels) {
    kw_product_lines packed = b_lines;
    packed.at += lying * packed.step;
    pack_all(run, tile->b + lying * k * lane, columns, packed, tile->at.columns - lying, k);
  }
  for (int64_t i = 0; i < tile->at.rows; i += rows) {
    for (int64_t j = 0; j < tile->at.columns; j += columns) {
      const char *panel = j < lying ? b_lines.at + j * lane : panels + j * k * lane;
      const int64_t step = j < lying ? b_lines.k_step / lane : columns;
      char *sums = tile->sums + (i * run->tiles.columns + j) * lane;
      product->block(tile->at.rows - i, tile->a + i * k * lane, panel, step, k, sums, run->tiles.columns, first > 0);
    }
  }
}

static void run_tiles(void *user, int64_t begin, int64_t end) {
  product_run *run = user;
  const product_plan *plan = run->plan;
  const int64_t lane = plan->lane_size, depth = kw_least(DEPTH, plan->k);
  const int64_t a_size = kw_round_up(run->tiles.rows * depth * lane, 64);
  const int64_t b_size = run->panels ? 0 : kw_round_up(run->tiles.columns * depth * lane, 64);
  const int64_t sums_size = kw_round_up(run->tiles.rows * run->tiles.columns * lane, 64);
  char *room = aligned_alloc(64, (size_t)(a_size + b_size + sums_size));
  if (!room) {
    atomic_store(&run->has_failed, true);
    return;
  }
  product_tile tile = {.a = room, .b = room + a_size, .sums = room + a_size + b_size};
  for (int64_t i = begin; i < end; i++) {
    tile.at = kw_tiles_at(&run->tiles, plan->rows, plan->columns, i);
    int64_t first = 0;
    do { /* once without any terms, too */
      add_terms(run, &tile, first, kw_least(DEPTH, plan->k - first));
      first += DEPTH;
    } while (first < plan->k);
    for (int64_t row = 0; row < tile.at.rows; row++) {
      finish(run, tile.at.batch, tile.at.row + row, tile.at.column, tile.at.columns,
             tile.sums + row * run->tiles.columns * lane);
    }
  }
  free(room);
}

/* Cuts the result into as many tiles as keep the threads busy. */
static kw_status run_in_tiles(const kw_host_api *host, product_run *run) {
  const product_plan *plan = run->plan;
  const kw_product *product = run->product;
  uint32_t threads = 1;
  kw_status status = host->thread_count(host->ctx, &threads);
  if (status != KW_OK) return status;
  const kw_tiles most = {.rows = TILE_ROWS, .columns = TILE_COLUMNS}, unit = {product->rows, product->columns, 0, 0};
  run->tiles = kw_tiles_cut((kw_tiles_of){plan->batch, plan->rows, plan->columns, plan->k}, most, unit, threads);
  const int64_t products = run->tiles.rows * run->tiles.columns * (plan->k + 1);
  return host->parallel_for(host->ctx, plan->batch * run->tiles.down * run->tiles.across, 1 + KW_TILES_GRAIN / products,
                            run_tiles, run);
}

/* ---- A constant second matrix ------------------------------------------------------------------------------------ */

static bool packs_second(const kw_call *call, const product_plan *plan, uint32_t arg) {
  const product_op *op = ((const kw_fast_kernel *)call->user)->family;
  if (plan->is_turned || arg != op->first + 1 || plan->rows < PANEL_ROWS_LEAST) return false;
  const bool by_library = plan->suits_library && kw_onednn_is_there();
  return !by_library || plan->rows <= (has_dense_columns(plan) ? PANEL_ROWS : PANEL_ROWS_DENSE);
}

static kw_status packed_size(const void *the_plan, const kw_call *call, uint32_t arg, uint64_t *out_size,
                             uint64_t *out_format) {
  const product_plan *plan = the_plan;
  const int64_t columns = panel_columns(plan, &kw_fast_isa()->product[plan->port.lane]);
  *out_format = 0;
  *out_size = packs_second(call, plan, arg) ? (uint64_t)(plan->batch * plan->k * columns * plan->lane_size) : 0;
  return KW_OK;
}

/* How many times DEPTH terms there are. */
static int64_t count_stretches(const product_plan *plan) {
  return (plan->k + DEPTH - 1) / DEPTH;
}

/* Stretches of terms. */
static void pack_stretches(void *user, int64_t begin, int64_t end) {
  const product_run *run = user;
  const product_plan *plan = run->plan;
  const int64_t stretches = count_stretches(plan);
  for (int64_t i = begin; i < end; i++) {
    const int64_t batch = i / stretches, first = i % stretches * DEPTH, k = kw_least(DEPTH, plan->k - first);
    const char *b = run->b + batch * plan->b.batch_step + first * plan->b.row_step;
    pack_all(run, (char *)(uintptr_t)panel_at(run, batch, first, k, 0), run->product->columns,
             lines_of(run, b, plan->b.column_step, plan->b.row_step), plan->columns, k);
  }
}

static kw_status pack_second(const kw_host_api *host, const void *the_plan, const kw_call *call, uint32_t arg,
                             void *to) {
  const product_plan *plan = the_plan;
  const kw_isa *isa = kw_fast_isa();
  product_run run = {.plan = plan, .isa = isa, .product = &isa->product[plan->port.lane], .panels = to};
  run.b = kw_walk_base(call->args[arg].u.tensor);
  return host->parallel_for(host->ctx, plan->batch * count_stretches(plan), 1, pack_stretches, &run);
}

/* ---- oneDNN ------------------------------------------------------------------------------------------------------ */

static kw_onednn_matrix library_matrix(product_matrix m, const char *at, int64_t row, int64_t column) {
  const bool transposed = m.column_step != (int64_t)sizeof(float);
  return (kw_onednn_matrix){.transposed = transposed,
                            .step = (transposed ? m.column_step : m.row_step) / (int64_t)sizeof(float),
                            .at = (const float *)(const void *)(at + row * m.row_step + column * m.column_step)};
}

static void run_library_tiles(void *user, int64_t begin, int64_t end) {
  product_run *run = user;
  const product_plan *plan = run->plan;
  float alpha = 1, beta = 0;
  if (run->alpha) memcpy(&alpha, run->alpha, sizeof alpha);
  if (run->beta) memcpy(&beta, run->beta, sizeof beta);
  for (int64_t i = begin; i < end; i++) {
    const kw_tile tile = kw_tiles_at(&run->tiles, plan->rows, plan->columns, i);
    char *out = run->out + tile.batch * plan->out.batch_step + tile.row * plan->out.row_step +
                tile.column * plan->out.column_step;
    for (int64_t r = 0; run->beta && r < tile.rows; r++) {
      const char *self = run->self + (tile.row + r) * plan->self.row_step + tile.column * plan->self.column_step;
      if (plan->self.column_step == 0) {
        kw_lanes_fill(out + r * plan->out.row_step, self, KW_LANE_F32, tile.columns);
      } else {
        run->isa->read[KW_F32][KW_LANE_F32](out + r * plan->out.row_step, self, plan->self.column_step, tile.columns);
      }
    }
    const kw_onednn_matrix a = library_matrix(plan->a, run->a + tile.batch * plan->a.batch_step, tile.row, 0);
    const kw_onednn_matrix b = library_matrix(plan->b, run->b + tile.batch * plan->b.batch_step, 0, tile.column);
    kw_status status = kw_onednn_product(tile.rows, plan->k, tile.columns, alpha, a, b, beta, (float *)(void *)out,
                                         plan->out.row_step / (int64_t)sizeof(float));
    if (status != KW_OK) atomic_store(&run->has_failed, true);
  }
}

static kw_status run_by_library(const kw_host_api *host, product_run *run) {
  const product_plan *plan = run->plan;
  run->tiles = library_tiles(plan);
  const int64_t products = run->tiles.rows * run->tiles.columns * plan->k;
  return host->parallel_for(host->ctx, plan->batch * run->tiles.down * run->tiles.across, 1 + KW_TILES_GRAIN / products,
                            run_library_tiles, run);
}

/* ---- Few rows ---------------------------------------------------------------------------------------------------- */

/* A piece of the rows of a result, and room for lines of the second matrix. */
typedef struct product_piece {
  const product_run *run;
  int64_t batch, column, columns;
  const char *factors, *b; /* of this batch; b at the first column */
  _Alignas(64) char sums[FEW_ROWS_DOT][LINE_COLUMNS * KW_LANE_BYTES];
  _Alignas(64) char room[KW_PRODUCT_LINES][LINE_TERMS * KW_LANE_BYTES];
} product_piece;

/* A line of n elements, in lanes. */
static const void *line_at(product_piece *piece, int64_t number, const char *from, int64_t step, int64_t n) {
  return kw_port_lanes(&piece->run->plan->port, from, step, n, piece->room[number]);
}

/* By rows of the second matrix, each times its factor. */
static void add_rows(product_piece *piece) {
  const product_run *run = piece->run;
  const product_plan *plan = run->plan;
  static const _Alignas(64) char zeros[LINE_COLUMNS * KW_LANE_BYTES];
  for (int64_t p = 0; p < plan->k; p += KW_PRODUCT_LINES) {
    const int64_t count = kw_least(KW_PRODUCT_LINES, plan->k - p);
    const void *lines[KW_PRODUCT_LINES];
    for (int64_t i = 0; i < KW_PRODUCT_LINES; i++) {
      const char *from = piece->b + (p + i) * plan->b.row_step;
      lines[i] = i < count ? line_at(piece, i, from, plan->b.column_step, piece->columns) : zeros;
    }
    for (int64_t row = 0; row < plan->rows; row++) {
      _Alignas(KW_LANE_BYTES) char factors[KW_PRODUCT_LINES * KW_LANE_BYTES] = {0};
      memcpy(factors, piece->factors + (row * plan->k + p) * plan->lane_size, (size_t)(count * plan->lane_size));
      run->product->add_lines(piece->sums[row], factors, lines, piece->columns);
    }
  }
}

/* By columns of the second matrix, each of which lies dense. */
static void dot_columns(product_piece *piece) {
  const product_run *run = piece->run;
  const product_plan *plan = run->plan;
  for (int64_t j = 0; j < piece->columns; j += KW_PRODUCT_LINES) {
    const int64_t count = kw_least(KW_PRODUCT_LINES, piece->columns - j);
    for (int64_t p = 0; p < plan->k; p += LINE_TERMS) {
      const int64_t n = kw_least(LINE_TERMS, plan->k - p);
      const void *lines[KW_PRODUCT_LINES];
      for (int64_t i = 0; i < KW_PRODUCT_LINES; i++) {
        const char *from = piece->b + (j + kw_least(i, count - 1)) * plan->b.column_step + p * plan->b.row_step;
        lines[i] = line_at(piece, i, from, plan->b.row_step, n);
      }
      for (int64_t row = 0; row < plan->rows; row++) {
        char *sums = piece->sums[row] + j * plan->lane_size;
        _Alignas(KW_LANE_BYTES) char dots[KW_PRODUCT_LINES * KW_LANE_BYTES];
        run->product->dot_lines(dots, piece->factors + (row * plan->k + p) * plan->lane_size, lines, n);
        if (p == 0) {
          memcpy(sums, dots, (size_t)(count * plan->lane_size));
        } else {
          run->isa->pointwise[KW_POINTWISE_ADD][plan->port.lane](sums, (const void *[]){sums, dots}, count);
        }
      }
    }
  }
}

static void run_pieces(void *user, int64_t begin, int64_t end) {
  product_piece piece;
  const product_run *run = piece.run = user;
  const product_plan *plan = run->plan;
  for (int64_t i = begin; i < end; i++) {
    piece.batch = i / run->tiles.across;
    piece.column = i % run->tiles.across * run->tiles.columns;
    piece.columns = kw_least(run->tiles.columns, plan->columns - piece.column);
    piece.factors = run->factors + piece.batch * plan->rows * plan->k * plan->lane_size;
    piece.b = run->b + piece.batch * plan->b.batch_step + piece.column * plan->b.column_step;
    for (int64_t row = 0; row < plan->rows; row++) {
      memset(piece.sums[row], 0, (size_t)(piece.columns * plan->lane_size));
    }
    if (has_dense_columns(plan)) {
      dot_columns(&piece);
    } else {
      add_rows(&piece);
    }
    for (int64_t row = 0; row < plan->rows; row++) {
      for (int64_t j = 0; j < piece.columns; j += TILE_COLUMNS) {
        finish(run, piece.batch, row, piece.column + j, kw_least(TILE_COLUMNS, piece.columns - j),
               piece.sums[row] + j * plan->lane_size);
      }
    }
  }
}

/* All of the first matrix in lanes, that of the call where it lies so: `room` is NULL then. */
static kw_status take_factors(product_run *run, char **out_room) {
  const product_plan *plan = run->plan;
  const product_matrix *a = &plan->a;
  const int64_t line = plan->k * plan->lane_size;
  const bool lies_so = plan->port.is_native && a->column_step == plan->lane_size &&
                       (plan->rows == 1 || a->row_step == line) &&
                       (plan->batch == 1 || a->batch_step == plan->rows * line);
  *out_room = lies_so ? NULL : malloc((size_t)(plan->batch * plan->rows * line + 1));
  run->factors = lies_so ? run->a : *out_room;
  if (!run->factors) return KW_ERR_OUT_OF_MEMORY;
  for (int64_t i = 0; *out_room && i < plan->batch * plan->rows; i++) {
    const char *from = run->a + i / plan->rows * a->batch_step + i % plan->rows * a->row_step;
    kw_port_read(&plan->port, *out_room + i * line, from, a->column_step, plan->k);
  }
  return KW_OK;
}

static kw_status run_few_rows(const kw_host_api *host, product_run *run) {
  const product_plan *plan = run->plan;
  char *room = NULL;
  uint32_t threads = 1;
  kw_status status = host->thread_count(host->ctx, &threads);
  if (status == KW_OK) status = take_factors(run, &room);
  if (status != KW_OK) return status;
  const int64_t wanted = plan->columns / (threads > 1 ? 2 * (int64_t)threads : 1);
  run->tiles.columns = kw_share(plan->columns, kw_least(LINE_COLUMNS, kw_round_up(wanted + 1, LINE_COLUMNS_LEAST)), 16);
  run->tiles.across = (plan->columns + run->tiles.columns - 1) / run->tiles.columns;
  const int64_t products = plan->rows * run->tiles.columns * (plan->k + 1);
  status =
      host->parallel_for(host->ctx, plan->batch * run->tiles.across, 1 + KW_TILES_GRAIN / products, run_pieces, run);
  free(room);
  return status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static kw_status run_product(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const product_plan *plan = the_plan;
  const kw_fast_kernel *kernel = call->user;
  const product_op *op = kernel->family;
  const kw_isa *isa = kw_fast_isa();
  _Alignas(64) char alpha[TILE_COLUMNS * KW_LANE_BYTES], beta[TILE_COLUMNS * KW_LANE_BYTES];
  product_run run = {.plan = plan, .isa = isa, .product = &isa->product[plan->port.lane]};
  run.a = kw_walk_base(call->args[op->first + plan->is_turned].u.tensor);
  run.b = kw_walk_base(call->args[op->first + !plan->is_turned].u.tensor);
  run.out = kw_walk_base(call->outs[0]);
  if (op->adds_self) {
    run.self = kw_walk_base(call->args[0].u.tensor);
    run.beta = factor_lanes(plan, &call->args[3], 0, beta);
    run.alpha = factor_lanes(plan, &call->args[4], 1, alpha);
  }
  const int64_t few = has_dense_columns(plan) ? FEW_ROWS_DOT : FEW_ROWS;
  run.panels = kw_fast_packed(call, op->first + 1);
  kw_status status;
  if (run.panels) {
    status = run_in_tiles(host, &run);
  } else if (plan->suits_library && kw_onednn_is_there()) {
    status = run_by_library(host, &run);
  } else if (plan->rows <= few) {
    status = run_few_rows(host, &run);
  } else {
    status = run_in_tiles(host, &run);
  }
  return status == KW_OK && run.has_failed ? KW_ERR_OUT_OF_MEMORY : status;
}

kw_status kw_product_apply(const kw_host_api *host, const kw_tensor_ref *out, const kw_tensor_ref *a,
                           const kw_tensor_ref *b, const kw_tensor_ref *self) {
  const kw_value one = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = 1};
  const kw_value args[] = {{.tag = KW_TAG_TENSOR, .u.tensor = self},
                           {.tag = KW_TAG_TENSOR, .u.tensor = a},
                           {.tag = KW_TAG_TENSOR, .u.tensor = b},
                           one,
                           one};
  const product_op op = {.first = 1, .adds_self = self != NULL};
  const kw_fast_kernel kernel = {.family = &op};
  product_plan plan = {.batch = 0};
  const kw_call call = {.struct_size = sizeof call,
                        .arg_count = sizeof args / sizeof *args,
                        .args = args,
                        .out_count = 1,
                        .outs = &out,
                        .user = (void *)(uintptr_t)&kernel};
  const kw_status status = plan_product(&kernel, &call, &plan);
  return status == KW_OK ? run_product(host, &call, &plan) : status;
}

static const kw_fast_kernel kernels[] = {
#define KERNEL(name, first_matrix, adds)              \
  {.op = name,                                        \
   .dtypes = KW_DTYPES_FLOAT,                         \
   .plan_size = sizeof(product_plan),                 \
   .family = &(const product_op){first_matrix, adds}, \
   .make_plan = plan_product,                         \
   .run = run_product,                                \
   .packable = 2u << (first_matrix),                  \
   .packed_size = packed_size,                        \
   .pack = pack_second},
    KERNEL("mm", 0, false) KERNEL("bmm", 0, false) KERNEL("addmm", 1, true)};

kw_fast_family kw_fast_product(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
