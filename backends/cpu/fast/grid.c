/* SPDX-License-Identifier: Apache-2.0
 *
 * grid_sampler_2d and its gradients: where the places of a grid lie in the image, and with which weights, is settled
 * for a block of them and then used for every channel; where places are many, of a copy of the image in which the
 * channels of an element lie side by side.
 */
#include "fast.h"

#include "cubic.h"
#include "loop.h"
#include "number.h"
#include "sizes.h"
#include "strided.h"
#include "walk.h"

#include <math.h>
#include <string.h>

#define BLOCK 256   /* places that are settled at once: their offsets and weights stay in the first cache */
#define LINE 8      /* channels whose gradients are added up side by side, */
#define ROOM 524288 /* bytes that the sums of lines which share the settling of places have, unless one has more */
#define GRAIN 16384 /* elements of the result: the fewest that a thread is woken for */

enum { DOWN, ACROSS, DIRECTIONS, TAPS = 4 };

typedef enum grid_mode { BILINEAR, NEAREST, BICUBIC } grid_mode;
typedef enum grid_padding { ZEROS, BORDER, REFLECTION } grid_padding;

/* Whether 32 bits tell the elements of a plane apart, as they lie and as dense ones. */
static bool has_small_planes(const kw_tensor_ref *image) {
  int64_t last = 0;
  for (uint32_t d = 2; d < 4; d++) {
    if (image->strides[d] < 0) return false;
    last += (image->shape[d] - 1) * image->strides[d];
  }
  return last <= INT32_MAX && image->shape[2] * image->shape[3] <= INT32_MAX;
}

/* The plan is the port of the dtype that all tensors have. */
static kw_status plan_grid(kw_port *port, const kw_call *call, uint32_t tensors, uint32_t image) {
  const kw_dtype dtype = call->args[0].u.tensor->dtype;
  for (uint32_t k = 0; k < tensors; k++) {
    if (call->args[k].u.tensor->dtype != dtype) return KW_ERR_NOT_IMPLEMENTED;
  }
  for (uint32_t k = 0; k < call->out_count; k++) {
    if (call->outs[k] && call->outs[k]->dtype != dtype) return KW_ERR_NOT_IMPLEMENTED;
  }
  if (!has_small_planes(call->args[image].u.tensor)) return KW_ERR_NOT_IMPLEMENTED;
  return kw_port_open(port, dtype, kw_lane_of(dtype)) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status plan_forward(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  return plan_grid(plan, call, 2, 0);
}

static kw_status plan_backward(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  return plan_grid(plan, call, 3, 1);
}

/* ---- Along one direction ----------------------------------------------------------------------------------------- */

/* The elements that a coordinate chooses: an index is -1 where there is nothing to choose. */
typedef struct grid_taps {
  int count;
  int64_t index[TAPS];
  double weight[TAPS];
  double slope[TAPS]; /* the weight's derivative by the number of the grid, see taps_of */
} grid_taps;

/* The arguments: how numbers of the grid are meant. */
typedef struct grid_rule {
  grid_mode mode;
  grid_padding padding;
  bool align_corners;
} grid_rule;

#define INLINED \
  static inline __attribute__((always_inline)) /* for each mode anew, with slopes and without, see settle */

/* From [-1, 1] to [0, size - 1], or to [-1/2, size - 1/2]. */
INLINED double coordinate_of(const grid_rule *rule, double x, int64_t size) {
  return rule->align_corners ? (x + 1) / 2 * (double)(size - 1) : ((x + 1) * (double)size - 1) / 2;
}

/* Mirrored at the centres of the outer elements, or at their edges; *io_slope changes its sign where the direction
 * does.
 */
static double reflect(const grid_rule *rule, double x, int64_t size, double *io_slope) {
  const double low = rule->align_corners ? 0 : -0.5, span = rule->align_corners ? (double)(size - 1) : (double)size;
  if (span == 0) return 0;
  const double distance = x < low ? low - x : x - low, part = fmod(distance, span);
  const bool odd = fmod(floor(distance / span), 2) != 0;
  if ((x < low) != odd) *io_slope = -*io_slope;
  return low + (odd ? span - part : part);
}

/* The index that stands for one outside; only the cubic kind asks. */
INLINED int64_t within(const grid_rule *rule, grid_mode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  if (mode != BICUBIC || rule->padding == ZEROS) return -1;
  if (rule->padding == BORDER) return i < 0 ? 0 : size - 1;
  if (!rule->align_corners) { /* the outer elements come twice */
    const int64_t part = i % (2 * size), at = part < 0 ? part + 2 * size : part;
    return at < size ? at : 2 * size - 1 - at;
  }
  const int64_t span = size - 1, distance = i < 0 ? -i : i;
  if (span == 0) return 0;
  return distance / span % 2 == 0 ? distance % span : span - distance % span;
}

/* The whole number below, or one far out; NaN becomes -1. */
INLINED int64_t whole_part(double x) {
  if (!(x > -0x1p62)) return x == x ? -((int64_t)1 << 62) : -1;
  if (x > 0x1p62) return (int64_t)1 << 62;
  const int64_t cut = (int64_t)x;
  return cut - ((double)cut > x);
}

/* With slopes only if `is_sloped`. */
INLINED grid_taps taps_of(const grid_rule *rule, grid_mode mode, double x, int64_t size, bool is_sloped) {
  const double last = (double)(size - 1);
  double at = coordinate_of(rule, x, size), slope = (rule->align_corners ? last : (double)size) / 2;
  if (mode != BICUBIC) {
    if (rule->padding == REFLECTION) at = reflect(rule, at, size, &slope);
    if (rule->padding != ZEROS && at <= 0) at = slope = 0;
    if (rule->padding != ZEROS && at >= last) at = last, slope = 0;
  }
  int64_t first = whole_part(at);
  double part = at - (double)first;
  if (mode == NEAREST) {
    if (part > 0.5 || (part == 0.5 && first % 2 != 0)) first++; /* to even */
    return (grid_taps){1, {within(rule, mode, first, size)}, {1}, {0}};
  }
  grid_taps taps = {2, {0}, {1 - part, part}, {-slope, slope}};
  if (mode == BICUBIC) {
    taps.count = TAPS;
    first--;
    for (int k = 0; k < TAPS; k++) {
      taps.weight[k] = kw_cubic_weight(part + 1 - k);
      if (is_sloped) taps.slope[k] = slope * kw_cubic_slope(part + 1 - k);
    }
  }
  for (int k = 0; k < taps.count; k++) taps.index[k] = within(rule, mode, first + k, size);
  return taps;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

/* Image and grid lie in memory as lanes do: where dtypes are narrower they are copies. Of the image also by lines. */
typedef struct grid_run {
  const kw_host_api *host;
  const kw_port *port;
  kw_tensor_ref image, grid;
  const kw_tensor_ref *out; /* or a gradient, see there */
  const kw_tensor_ref *grad;
  grid_rule rule;
  bool by_lines;               /* channels of the image lie side by side */
  int64_t strides[DIRECTIONS]; /* that offsets are made with */
  int64_t rows, row;           /* of a channel of the result: how many, and their places */
  int64_t blocks;              /* of a row */
  int64_t together;            /* lines whose gradients are added up at once */
  atomic_int status;           /* what the threads met with */
} grid_run;

/* Offsets are elements. It is too large for a stack. */
typedef struct grid_block {
  int64_t taps; /* of each place, which follow each other */
  int32_t offsets[TAPS * TAPS * BLOCK];
  _Alignas(64) char weights[DIRECTIONS][TAPS * TAPS * BLOCK * KW_LANE_BYTES]; /* the second are slopes alone */
  _Alignas(64) char lanes[KW_POOL_PLANES][BLOCK * KW_LANE_BYTES];
  int64_t planes; /* of each place's line */
  _Alignas(64) char lines[BLOCK * KW_POOL_LINE * KW_LANE_BYTES];
} grid_block;

static inline double number_at(kw_lane lane, const char *at) {
  return lane == KW_LANE_F32 ? (double)*(const float *)(const void *)at : *(const double *)(const void *)at;
}

/* Where the taps along a direction are, in elements; far below 0 where there is nothing. */
INLINED void offsets_of(const grid_taps *taps, int64_t stride, int64_t *offsets) {
  for (int k = 0; k < taps->count; k++) offsets[k] = taps->index[k] < 0 ? INT64_MIN / 2 : taps->index[k] * stride;
}

/* The weights of place number i, from those along both directions. */
INLINED void join_weights(char *weights, kw_lane lane, int64_t i, const double *down, int downs, const double *across,
                          int acrosses) {
  for (int a = 0; a < downs; a++) {
    for (int b = 0; b < acrosses; b++) {
      const int64_t t = (i * downs + a) * acrosses + b;
      if (lane == KW_LANE_F32) {
        ((float *)(void *)weights)[t] = (float)(down[a] * across[b]);
      } else {
        ((double *)(void *)weights)[t] = down[a] * across[b];
      }
    }
  }
}

/* The taps of place number i of the block, from those along both directions. */
INLINED void join_taps(grid_block *block, kw_lane lane, const int64_t *strides, int64_t i, const grid_taps *down,
                       const grid_taps *across, bool is_sloped) {
  const int downs = down->count, acrosses = across->count;
  int64_t rows[TAPS], columns[TAPS];
  offsets_of(down, strides[DOWN], rows);
  offsets_of(across, strides[ACROSS], columns);
  for (int a = 0; a < downs; a++) {
    for (int b = 0; b < acrosses; b++) {
      const int64_t offset = rows[a] + columns[b];
      block->offsets[(i * downs + a) * acrosses + b] = offset < 0 ? -1 : (int32_t)offset;
    }
  }
  join_weights(block->weights[DOWN], lane, i, is_sloped ? down->slope : down->weight, downs, across->weight, acrosses);
  if (is_sloped) join_weights(block->weights[ACROSS], lane, i, down->weight, downs, across->slope, acrosses);
  block->taps = downs * acrosses;
}

/* Places of a block: n of an image, from place `first` of row `row` on. */
typedef struct grid_places {
  int64_t image, row, first, n;
} grid_places;

INLINED void settle_as(grid_mode mode, const grid_run *run, grid_block *block, const grid_places *places,
                       bool is_sloped) {
  const kw_tensor_ref *grid = &run->grid;
  const kw_lane lane = run->port->lane;
  const int64_t width = grid->shape[2], place = places->row * run->row + places->first;
  const int64_t down = kw_loop_step(grid, 1), across = kw_loop_step(grid, 2), second = kw_loop_step(grid, 3);
  const int64_t rows = run->image.shape[2], columns = run->image.shape[3];
  const char *line = kw_walk_base(grid) + places->image * kw_loop_step(grid, 0) + place / width * down;
  const int64_t strides[] = {run->strides[DOWN], run->strides[ACROSS]};
  const grid_rule rule = run->rule;
  int64_t j = place % width;
  for (int64_t i = 0; i < places->n; i++) {
    const char *at = line + j * across;
    const grid_taps y = taps_of(&rule, mode, number_at(lane, at + second), rows, is_sloped);
    const grid_taps x = taps_of(&rule, mode, number_at(lane, at), columns, is_sloped);
    join_taps(block, lane, strides, i, &y, &x, is_sloped);
    if (++j < width) continue;
    j = 0;
    line += down;
  }
}

INLINED void settle_with(bool is_sloped, const grid_run *run, grid_block *block, const grid_places *places) {
  switch (run->rule.mode) {
    case BILINEAR:
      settle_as(BILINEAR, run, block, places, is_sloped);
      break;
    case NEAREST:
      settle_as(NEAREST, run, block, places, is_sloped);
      break;
    default:
      settle_as(BICUBIC, run, block, places, is_sloped);
  }
}

/* Settles places with weights. */
static void settle(const grid_run *run, grid_block *block, const grid_places *places) {
  settle_with(false, run, block, places);
}

/* Settles places with the slopes of weights along each direction instead. */
static void settle_slopes(const grid_run *run, grid_block *block, const grid_places *places) {
  settle_with(true, run, block, places);
}

/* Block number b of the run. */
static grid_places places_of(const grid_run *run, int64_t b) {
  const int64_t first = b % run->blocks * BLOCK, left = run->row - first;
  return (grid_places){b / run->blocks / run->rows, b / run->blocks % run->rows, first, left < BLOCK ? left : BLOCK};
}

static int64_t blocks_of(const grid_run *run) {
  return run->image.shape[0] * run->rows * run->blocks;
}

/* The weighted sums of n places, which are settled, in `planes` channels, into lanes; `plane` is the first's. */
static void weigh(const grid_run *run, grid_block *block, int by, const char *plane, void *const *lanes, int64_t planes,
                  int64_t n) {
  const int64_t plane_step = kw_loop_step(&run->image, 1);
  const void *from[KW_POOL_PLANES];
  void *to[KW_POOL_PLANES];
  for (int64_t c = 0; c < KW_POOL_PLANES; c++) { /* those that are not there do the last one's work */
    const int64_t here = c < planes ? c : planes - 1;
    from[c] = plane + here * plane_step;
    to[c] = lanes[here];
  }
  kw_fast_isa()->pools[run->port->lane].weigh(to, from, block->offsets, block->weights[by], block->taps, n);
}

/* The same of planes side by side into the block's lines. */
static void weigh_lines(const grid_run *run, grid_block *block, int by, const char *plane, int64_t planes, int64_t n) {
  block->planes = planes;
  kw_fast_isa()->pools[run->port->lane].weigh_lines(block->lines, plane, planes, block->offsets, block->weights[by],
                                                    block->taps, n);
}

/* `count` planes of the block's lines, from plane `first` on, as n lanes each, `step` bytes apart. */
static void turn_lines(const grid_run *run, const grid_block *block, char *lanes, int64_t step, int64_t first,
                       int64_t count, int64_t n) {
  const int64_t size = kw_lane_size(run->port->lane);
  kw_fast_isa()->transpose[run->port->lane == KW_LANE_F32 ? 2 : 3](lanes, step, block->lines + first * size,
                                                                   block->planes * size, n, count);
}

/* Whether there are as many lanes to weigh as there would be to copy, and 32 bits tell them apart. */
static bool lines_pay(const grid_run *run) {
  const int64_t *image = run->image.shape, *grid = run->grid.shape, elements = image[2] * image[3];
  return image[1] >= KW_POOL_PLANES && TAPS * grid[1] * grid[2] >= elements && elements <= INT32_MAX / image[1];
}

/* A copy of the image in lanes, over memory to come. */
static kw_tensor_ref image_copy(const grid_run *run, kw_dtype lane) {
  kw_tensor_ref copy = kw_strided_dense_like(&run->image, lane);
  if (!run->by_lines) return copy;
  copy.strides[1] = 1;
  copy.strides[3] = copy.shape[1];
  copy.strides[2] = copy.shape[3] * copy.strides[3];
  return copy;
}

/* With copies of image and grid where they are needed, in *out_room, which is the caller's to free. */
static kw_status open_run(grid_run *run, const kw_value *tensors, bool by_lines, void **out_room) {
  const bool is_narrow = kw_number_is_narrow(run->port->dtype);
  const kw_dtype lane = run->port->lane == KW_LANE_F32 ? KW_F32 : KW_F64;
  run->image = *tensors[0].u.tensor;
  run->grid = *tensors[1].u.tensor;
  run->rule = (grid_rule){(grid_mode)tensors[2].u.i, (grid_padding)tensors[3].u.i, tensors[4].u.b};
  run->by_lines = by_lines && lines_pay(run);
  kw_tensor_ref image = is_narrow || run->by_lines ? image_copy(run, lane) : run->image;
  kw_tensor_ref grid = is_narrow ? kw_strided_dense_like(&run->grid, lane) : run->grid;
  kw_status status = KW_OK;
  *out_room = NULL;
  if (is_narrow || run->by_lines) {
    const uint64_t image_bytes = (uint64_t)(image.numel * kw_lane_size(run->port->lane));
    status =
        run->host->host_alloc(run->host->ctx, image_bytes + (is_narrow ? grid.numel * sizeof(float) : 0), 64, out_room);
    if (status != KW_OK) return status;
    image.mem = *out_room;
    status = kw_strided_copy(run->host, &image, &run->image);
    if (is_narrow) grid.mem = (char *)*out_room + image_bytes;
    if (is_narrow && status == KW_OK) status = kw_strided_copy(run->host, &grid, &run->grid);
  }
  run->image = image;
  run->grid = grid;
  for (int d = 0; d < DIRECTIONS; d++) run->strides[d] = run->image.strides[2 + d];
  return status;
}

static void close_run(const grid_run *run, void *room) {
  if (room) run->host->host_free(run->host->ctx, room);
}

/* Whether rows, dimension `down` of a tensor, follow each other as their places do. */
static bool are_rows_one(const kw_tensor_ref *tensor, uint32_t down) {
  return tensor->strides[down] == tensor->shape[down + 1] * tensor->strides[down + 1];
}

/* As rows of blocks: the rows of the grid, or all of them as one. */
static void set_rows(grid_run *run, bool is_flat) {
  const int64_t height = run->grid.shape[1], width = run->grid.shape[2];
  run->rows = is_flat ? 1 : height;
  run->row = is_flat ? height * width : width;
  run->blocks = (run->row + BLOCK - 1) / BLOCK;
}

/* ---- grid_sampler_2d --------------------------------------------------------------------------------------------- */

/* `to` is the first place's result in the first of the channels. */
static void write_places(const grid_run *run, grid_block *block, const char *plane, char *to, int64_t planes,
                         int64_t n) {
  const kw_port *port = run->port;
  const int64_t step = kw_loop_step(run->out, 3), to_step = kw_loop_step(run->out, 1);
  const bool is_lanes = kw_port_is_lanes(port, step);
  void *lanes[KW_POOL_PLANES];
  for (int64_t c = 0; c < planes; c++) lanes[c] = is_lanes ? to + c * to_step : block->lanes[c];
  weigh(run, block, 0, plane, lanes, planes, n);
  for (int64_t c = 0; c < planes && !is_lanes; c++) kw_port_write(port, to + c * to_step, step, lanes[c], n);
}

/* The same of channels side by side, KW_POOL_LINE at most. */
static void write_lines(const grid_run *run, grid_block *block, const char *plane, char *to, int64_t planes,
                        int64_t n) {
  const kw_port *port = run->port;
  const int64_t step = kw_loop_step(run->out, 3), to_step = kw_loop_step(run->out, 1);
  weigh_lines(run, block, 0, plane, planes, n);
  if (kw_port_is_lanes(port, step)) {
    turn_lines(run, block, to, to_step, 0, planes, n);
    return;
  }
  for (int64_t c = 0; c < planes; c += KW_POOL_PLANES) {
    const int64_t count = kw_least(planes - c, KW_POOL_PLANES);
    turn_lines(run, block, block->lanes[0], sizeof block->lanes[0], c, count, n);
    for (int64_t k = 0; k < count; k++) kw_port_write(port, to + (c + k) * to_step, step, block->lanes[k], n);
  }
}

static void run_blocks(void *user, int64_t begin, int64_t end) {
  grid_run *run = user;
  grid_block *block = kw_fast_room(run->host, sizeof *block, &run->status);
  if (!block) return;
  const kw_tensor_ref *out = run->out, *image = &run->image;
  for (int64_t b = begin; b < end; b++) {
    const grid_places p = places_of(run, b);
    settle(run, block, &p);
    char *to = kw_walk_base(out) + p.image * kw_loop_step(out, 0) + p.row * kw_loop_step(out, 2);
    const char *plane = kw_walk_base(image) + p.image * kw_loop_step(image, 0);
    const int64_t most = run->by_lines ? KW_POOL_LINE : KW_POOL_PLANES;
    for (int64_t c = 0; c < out->shape[1]; c += most) {
      (run->by_lines ? write_lines : write_places)(run, block, plane + c * kw_loop_step(image, 1),
                                                   to + c * kw_loop_step(out, 1) + p.first * kw_loop_step(out, 3),
                                                   kw_least(out->shape[1] - c, most), p.n);
    }
  }
  run->host->host_free(run->host->ctx, block);
}

/* Arguments: input, grid, interpolation_mode, padding_mode, align_corners. */
static kw_status run_grid(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *out = call->outs[0];
  if (out->numel == 0) return KW_OK;
  grid_run run = {.host = host, .port = plan, .out = out};
  void *room;
  kw_status status = open_run(&run, call->args, true, &room);
  if (status == KW_OK) {
    set_rows(&run, are_rows_one(out, 2));
    status =
        host->parallel_for(host->ctx, blocks_of(&run), 1 + GRAIN / (out->numel / blocks_of(&run)), run_blocks, &run);
  }
  if (status == KW_OK) status = atomic_load(&run.status);
  close_run(&run, room);
  return status;
}

/* ---- Sums of gradients ------------------------------------------------------------------------------------------- */

/* As wide as the reference's bound wants them for any number of terms. */
typedef struct grid_sums {
  int64_t size; /* bytes of a sum */

  /* Adds gradients of n settled places in LINE channels, BLOCK lanes each, to the sums of a plane, LINE an element. */
  void (*spread)(void *sums, const grid_block *block, const void *grads, int64_t n);
  /* sums[i] += x[i] * y[i] */
  void (*add_products)(void *sums, const void *x, const void *y, int64_t n);
  /* lanes[i] = sums[i * step] */
  void (*round)(void *lanes, const void *sums, int64_t step, int64_t n);
} grid_sums;

#define SUMS(name, T, wide)                                                                           \
  static void spread_##name(void *sums, const grid_block *block, const void *grads, int64_t n) {      \
    const T *weights = (const T *)(const void *)block->weights[0];                                    \
    for (int64_t i = 0; i < n; i++) {                                                                 \
      wide grad[LINE];                                                                                \
      for (int c = 0; c < LINE; c++) grad[c] = ((const T *)grads)[c * BLOCK + i];                     \
      for (int64_t t = i * block->taps; t < (i + 1) * block->taps; t++) {                             \
        if (block->offsets[t] < 0) continue;                                                          \
        wide *to = (wide *)sums + (int64_t)block->offsets[t] * LINE;                                  \
        for (int c = 0; c < LINE; c++) to[c] += weights[t] * grad[c];                                 \
      }                                                                                               \
    }                                                                                                 \
  }                                                                                                   \
  static void add_products_##name(void *sums, const void *x, const void *y, int64_t n) {              \
    for (int64_t i = 0; i < n; i++) ((wide *)sums)[i] += (wide)((const T *)x)[i] * ((const T *)y)[i]; \
  }                                                                                                   \
  static void round_##name(void *lanes, const void *sums, int64_t step, int64_t n) {                  \
    for (int64_t i = 0; i < n; i++) ((T *)lanes)[i] = (T)((const wide *)sums)[i * step];              \
  }
SUMS(f32, float, double)
SUMS(f64, double, long double)

static const grid_sums sums_of[] = {[KW_LANE_F32] = {sizeof(double), spread_f32, add_products_f32, round_f32},
                                    [KW_LANE_F64] = {sizeof(long double), spread_f64, add_products_f64, round_f64}};

/* The gradients of places in a channel. */
static const char *grad_at(const grid_run *run, const grid_places *p, int64_t channel) {
  const kw_tensor_ref *grad = run->grad;
  return kw_walk_base(grad) + p->image * kw_loop_step(grad, 0) + channel * kw_loop_step(grad, 1) +
         p->row * kw_loop_step(grad, 2) + p->first * kw_loop_step(grad, 3);
}

/* ---- The gradient by the image ----------------------------------------------------------------------------------- */

static int64_t lines_of(const grid_run *run) {
  return (run->image.shape[1] + LINE - 1) / LINE;
}

/* Writes `channels` planes of the gradient by the image, from sums of LINE. */
static void write_planes(const grid_run *run, const char *sums, char *to, int64_t channels) {
  const kw_tensor_ref *out = run->out;
  const grid_sums *kind = &sums_of[run->port->lane];
  const int64_t width = out->shape[3], step = kw_loop_step(out, 3);
  _Alignas(64) char lanes[BLOCK * KW_LANE_BYTES];
  for (int64_t y = 0; y < out->shape[2]; y++) {
    for (int64_t x = 0; x < width; x += BLOCK) {
      const int64_t n = kw_least(width - x, BLOCK);
      char *at = to + y * kw_loop_step(out, 2) + x * step;
      for (int64_t c = 0; c < channels; c++) {
        kind->round(lanes, sums + ((y * width + x) * LINE + c) * kind->size, LINE, n);
        kw_port_write(run->port, at + c * kw_loop_step(out, 1), step, lanes, n);
      }
    }
  }
}

static int64_t plane_bytes(const grid_run *run) {
  return run->out->shape[2] * run->out->shape[3] * LINE * sums_of[run->port->lane].size;
}

/* One image's gradient in `channels` channels from `channel` on, line by line. */
static void spread_places(const grid_run *run, grid_block *block, char *sums, int64_t image, int64_t channel,
                          int64_t channels) {
  _Alignas(64) char grads[LINE * BLOCK * KW_LANE_BYTES] = {0};
  const int64_t line = BLOCK * kw_lane_size(run->port->lane), step = kw_loop_step(run->grad, 3);
  const int64_t blocks = run->rows * run->blocks;
  for (int64_t b = image * blocks; b < (image + 1) * blocks; b++) {
    const grid_places p = places_of(run, b);
    settle(run, block, &p);
    for (int64_t c = 0; c < channels; c++) {
      kw_port_read(run->port, grads + c % LINE * line, grad_at(run, &p, channel + c), step, p.n);
      if (c % LINE < LINE - 1 && c < channels - 1) continue;
      sums_of[run->port->lane].spread(sums + c / LINE * plane_bytes(run), block, grads, p.n);
    }
  }
}

static int64_t tasks_of(const grid_run *run) {
  return (lines_of(run) + run->together - 1) / run->together;
}

static void run_lines(void *user, int64_t begin, int64_t end) {
  grid_run *run = user;
  const kw_tensor_ref *out = run->out;
  const int64_t bytes = plane_bytes(run) * run->together;
  grid_block *block = kw_fast_room(run->host, sizeof *block + (uint64_t)bytes, &run->status);
  if (!block) return;
  char *sums = (char *)(block + 1);
  for (int64_t i = begin; i < end; i++) {
    const int64_t image = i / tasks_of(run), channel = i % tasks_of(run) * run->together * LINE;
    const int64_t channels = kw_least(out->shape[1] - channel, run->together * LINE);
    char *to = kw_walk_base(out) + image * kw_loop_step(out, 0) + channel * kw_loop_step(out, 1);
    memset(sums, 0, (size_t)bytes);
    spread_places(run, block, sums, image, channel, channels);
    for (int64_t c = 0; c < channels; c += LINE) {
      write_planes(run, sums + c / LINE * plane_bytes(run), to + c * kw_loop_step(out, 1),
                   kw_least(channels - c, LINE));
    }
  }
  run->host->host_free(run->host->ctx, block);
}

static kw_status image_gradient(grid_run run, const kw_tensor_ref *out) {
  if (out->numel == 0) return KW_OK;
  run.out = out;
  run.strides[DOWN] = out->shape[3]; /* in sums */
  run.strides[ACROSS] = 1;
  uint32_t threads = 1;
  kw_status status = run.host->thread_count(run.host->ctx, &threads);
  if (status != KW_OK) return status;
  run.together = kw_least(1 + ROOM / plane_bytes(&run), (lines_of(&run) * out->shape[0] + threads - 1) / threads);
  run.together = kw_least(run.together, lines_of(&run));
  const int64_t line = LINE * (out->shape[2] * out->shape[3] + run.grid.shape[1] * run.grid.shape[2]);
  const int64_t tasks = out->shape[0] * tasks_of(&run);
  status = run.host->parallel_for(run.host->ctx, tasks, 1 + GRAIN / (line * run.together), run_lines, &run);
  return status == KW_OK ? atomic_load(&run.status) : status;
}

/* ---- The gradient by the grid ------------------------------------------------------------------------------------ */

/* Adds to a sum for each place the products of gradients and slopes by a direction, which are settled, in all
 * channels. */
static void add_channels(const grid_run *run, grid_block *block, const grid_places *p, int by, void *sums) {
  const kw_tensor_ref *image = &run->image;
  const int64_t channels = image->shape[1];
  const char *plane = kw_walk_base(image) + p->image * kw_loop_step(image, 0);
  _Alignas(64) char buffer[BLOCK * KW_LANE_BYTES];
  void *lanes[KW_POOL_PLANES];
  for (int c = 0; c < KW_POOL_PLANES; c++) lanes[c] = block->lanes[c];
  for (int64_t c = 0; c < channels; c += KW_POOL_PLANES, plane += KW_POOL_PLANES * kw_loop_step(image, 1)) {
    const int64_t planes = kw_least(channels - c, KW_POOL_PLANES), place = c % KW_POOL_LINE;
    if (!run->by_lines) weigh(run, block, by, plane, lanes, planes, p->n);
    if (run->by_lines && place == 0) weigh_lines(run, block, by, plane, kw_least(channels - c, KW_POOL_LINE), p->n);
    if (run->by_lines) turn_lines(run, block, block->lanes[0], sizeof block->lanes[0], place, planes, p->n);
    for (int64_t k = 0; k < planes; k++) {
      const void *grads = kw_port_lanes(run->port, grad_at(run, p, c + k), kw_loop_step(run->grad, 3), p->n, buffer);
      sums_of[run->port->lane].add_products(sums, grads, lanes[k], p->n);
    }
  }
}

static void run_slopes(void *user, int64_t begin, int64_t end) {
  grid_run *run = user;
  grid_block *block = kw_fast_room(run->host, sizeof *block, &run->status);
  if (!block) return;
  const kw_tensor_ref *out = run->out;
  for (int64_t b = begin; b < end; b++) {
    const grid_places p = places_of(run, b);
    char *to = kw_walk_base(out) + p.image * kw_loop_step(out, 0) + p.row * kw_loop_step(out, 1) +
               p.first * kw_loop_step(out, 2);
    settle_slopes(run, block, &p);
    for (int d = 0; d < DIRECTIONS; d++) {
      _Alignas(64) char sums[BLOCK * sizeof(long double)] = {0};
      add_channels(run, block, &p, d, sums);
      sums_of[run->port->lane].round(block->lanes, sums, 1, p.n);
      kw_port_write(run->port, to + (d == ACROSS ? 0 : kw_loop_step(out, 3)), kw_loop_step(out, 2), block->lanes, p.n);
    }
  }
  run->host->host_free(run->host->ctx, block);
}

static kw_status grid_gradient(grid_run run, const kw_tensor_ref *out) {
  if (out->numel == 0) return KW_OK;
  run.out = out;
  const int64_t elements = (out->numel + run.grad->numel) / blocks_of(&run);
  const kw_status status =
      run.host->parallel_for(run.host->ctx, blocks_of(&run), 1 + GRAIN / elements, run_slopes, &run);
  return status == KW_OK ? atomic_load(&run.status) : status;
}

/* Arguments: grad_output, and those of grid_sampler_2d. A gradient that is not asked for is NULL. */
static kw_status run_grid_backward(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *image = call->args[1].u.tensor, *grid = call->args[2].u.tensor;
  if (image->numel == 0 && grid->numel == 0) return KW_OK;
  grid_run run = {.host = host, .port = plan, .grad = call->args[0].u.tensor};
  void *room;
  kw_status status = open_run(&run, call->args + 1, call->outs[1] != NULL, &room);
  set_rows(&run, are_rows_one(run.grad, 2) && (!call->outs[1] || are_rows_one(call->outs[1], 1)));
  if (status == KW_OK && call->outs[0]) status = image_gradient(run, call->outs[0]);
  if (status == KW_OK && call->outs[1]) status = grid_gradient(run, call->outs[1]);
  close_run(&run, room);
  return status;
}

#define KERNEL(name, plan, runs) \
  { .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(kw_port), .make_plan = plan, .run = runs }

static const kw_fast_kernel kernels[] = {KERNEL("grid_sampler_2d", plan_forward, run_grid),
                                         KERNEL("grid_sampler_2d_backward", plan_backward, run_grid_backward)};

kw_fast_family kw_fast_grid(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
