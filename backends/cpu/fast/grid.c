/* SPDX-License-Identifier: Apache-2.0
 *
 * grid_sampler_2d: where the places of a grid lie in the image, and with which weights, is settled for a block of them
 * and then used for every channel.
 */
#include "fast.h"

#include "cubic.h"
#include "loop.h"
#include "walk.h"

#include <math.h>

#define BLOCK 256   /* places that are settled at once: their offsets and weights stay in the first cache */
#define GRAIN 16384 /* elements of the result: the fewest that a thread is woken for */

enum { DOWN, ACROSS, DIRECTIONS, TAPS = 4 };

typedef enum grid_mode { BILINEAR, NEAREST, BICUBIC } grid_mode;
typedef enum grid_padding { ZEROS, BORDER, REFLECTION } grid_padding;

typedef struct grid_plan {
  kw_port port;
  bool is_flat; /* the result's rows follow each other: all of a channel is one */
} grid_plan;

static kw_status plan_grid(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const kw_tensor_ref *image = call->args[0].u.tensor, *grid = call->args[1].u.tensor, *out = call->outs[0];
  grid_plan *plan = out_plan;
  (void)kernel;
  if (image->dtype != out->dtype || grid->dtype != out->dtype) return KW_ERR_NOT_IMPLEMENTED;
  if (!kw_port_open(&plan->port, out->dtype, kw_lane_of(out->dtype))) return KW_ERR_NOT_IMPLEMENTED;
  int64_t last = 0; /* element of a plane, and whether elements can be told apart by 32 bits */
  for (uint32_t d = 2; d < 4; d++) last += (image->shape[d] - 1) * image->strides[d];
  if (last > INT32_MAX || image->strides[2] < 0 || image->strides[3] < 0) return KW_ERR_NOT_IMPLEMENTED;
  plan->is_flat = out->strides[2] == out->shape[3] * out->strides[3];
  return KW_OK;
}

/* ---- Along one direction ----------------------------------------------------------------------------------------- */

/* The elements that a coordinate chooses: an index is -1 where there is nothing to choose. */
typedef struct grid_taps {
  int count;
  int64_t index[TAPS];
  double weight[TAPS];
} grid_taps;

/* The arguments: how numbers of the grid are meant. */
typedef struct grid_rule {
  grid_mode mode;
  grid_padding padding;
  bool align_corners;
} grid_rule;

#define INLINED static inline __attribute__((always_inline)) /* for each mode anew, see settle */

/* From [-1, 1] to [0, size - 1], or to [-1/2, size - 1/2]. */
INLINED double coordinate_of(const grid_rule *rule, double x, int64_t size) {
  return rule->align_corners ? (x + 1) / 2 * (double)(size - 1) : ((x + 1) * (double)size - 1) / 2;
}

/* Mirrored at the centres of the outer elements, or at their edges. */
static double reflect(const grid_rule *rule, double x, int64_t size) {
  const double low = rule->align_corners ? 0 : -0.5, span = rule->align_corners ? (double)(size - 1) : (double)size;
  if (span == 0) return 0;
  const double distance = x < low ? low - x : x - low, part = fmod(distance, span);
  return low + (fmod(floor(distance / span), 2) != 0 ? span - part : part);
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

INLINED grid_taps taps_of(const grid_rule *rule, grid_mode mode, double x, int64_t size) {
  const double last = (double)(size - 1);
  double at = coordinate_of(rule, x, size);
  if (mode != BICUBIC) {
    if (rule->padding == REFLECTION) at = reflect(rule, at, size);
    if (rule->padding != ZEROS && at < 0) at = 0;
    if (rule->padding != ZEROS && at > last) at = last;
  }
  int64_t first = whole_part(at);
  double part = at - (double)first;
  if (mode == NEAREST) {
    if (part > 0.5 || (part == 0.5 && first % 2 != 0)) first++; /* to even */
    return (grid_taps){1, {within(rule, mode, first, size)}, {1}};
  }
  grid_taps taps = {2, {0}, {1 - part, part}};
  if (mode == BICUBIC) {
    taps.count = TAPS;
    first--;
    for (int k = 0; k < TAPS; k++) taps.weight[k] = kw_cubic_weight(part + 1 - k);
  }
  for (int k = 0; k < taps.count; k++) taps.index[k] = within(rule, mode, first + k, size);
  return taps;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct grid_run {
  const grid_plan *plan;
  const kw_tensor_ref *image, *grid, *out;
  grid_rule rule;
  int64_t rows, row; /* of a channel of the result: how many, and their places */
  int64_t blocks;    /* of a row */
} grid_run;

/* Offsets are elements. */
typedef struct grid_block {
  int64_t taps; /* of each place, which follow each other */
  int32_t offsets[TAPS * TAPS * BLOCK];
  _Alignas(64) char weights[TAPS * TAPS * BLOCK * KW_LANE_BYTES];
  _Alignas(64) char lanes[KW_POOL_PLANES][BLOCK * KW_LANE_BYTES];
} grid_block;

static inline double number_at(kw_lane lane, const char *at) {
  return lane == KW_LANE_F32 ? (double)*(const float *)(const void *)at : *(const double *)(const void *)at;
}

/* The taps of place number i of the block, from those along both directions. */
INLINED void join_taps(const grid_run *run, grid_block *block, int64_t i, const grid_taps *down,
                       const grid_taps *across) {
  const int64_t *strides = run->image->strides;
  const int64_t count = block->taps = down->count * across->count;
  for (int a = 0, t = 0; a < down->count; a++) {
    for (int b = 0; b < across->count; b++, t++) {
      const bool is_there = down->index[a] >= 0 && across->index[b] >= 0;
      const int64_t offset = is_there ? down->index[a] * strides[2] + across->index[b] * strides[3] : -1;
      const double weight = down->weight[a] * across->weight[b];
      block->offsets[i * count + t] = (int32_t)offset;
      if (run->plan->port.lane == KW_LANE_F32) {
        ((float *)(void *)block->weights)[i * count + t] = (float)weight;
      } else {
        ((double *)(void *)block->weights)[i * count + t] = weight;
      }
    }
  }
}

INLINED void settle_as(grid_mode mode, const grid_run *run, grid_block *block, int64_t image, int64_t row,
                       int64_t first, int64_t n) {
  const kw_tensor_ref *grid = run->grid;
  const kw_lane lane = run->plan->port.lane;
  const int64_t width = run->out->shape[3], place = row * run->row + first;
  const int64_t down = kw_loop_step(grid, 1), across = kw_loop_step(grid, 2), second = kw_loop_step(grid, 3);
  const int64_t rows = run->image->shape[2], columns = run->image->shape[3];
  const char *line = kw_walk_base(grid) + image * kw_loop_step(grid, 0) + place / width * down;
  int64_t j = place % width;
  for (int64_t i = 0; i < n; i++) {
    const char *at = line + j * across;
    const grid_taps y = taps_of(&run->rule, mode, number_at(lane, at + second), rows);
    const grid_taps x = taps_of(&run->rule, mode, number_at(lane, at), columns);
    join_taps(run, block, i, &y, &x);
    if (++j < width) continue;
    j = 0;
    line += down;
  }
}

/* Settles n places of an image from place `first` of row `row` on. */
static void settle(const grid_run *run, grid_block *block, int64_t image, int64_t row, int64_t first, int64_t n) {
  switch (run->rule.mode) {
    case BILINEAR:
      settle_as(BILINEAR, run, block, image, row, first, n);
      break;
    case NEAREST:
      settle_as(NEAREST, run, block, image, row, first, n);
      break;
    default:
      settle_as(BICUBIC, run, block, image, row, first, n);
  }
}

/* The results of n places, which are settled, in `planes` channels; `plane` and `to` are the first's. */
static void weigh(const grid_run *run, grid_block *block, const char *plane, char *to, int64_t planes, int64_t n) {
  const kw_port *port = &run->plan->port;
  const int64_t step = kw_loop_step(run->out, 3), plane_step = kw_loop_step(run->image, 1);
  const int64_t to_step = kw_loop_step(run->out, 1);
  const void *from[KW_POOL_PLANES];
  void *lanes[KW_POOL_PLANES];
  for (int64_t c = 0; c < KW_POOL_PLANES; c++) { /* those that are not there do the last one's work */
    const int64_t here = c < planes ? c : planes - 1;
    from[c] = plane + here * plane_step;
    lanes[c] = kw_port_is_lanes(port, step) ? to + here * to_step : block->lanes[here];
  }
  kw_fast_isa()->pools[port->lane].weigh(lanes, from, block->offsets, block->weights, block->taps, n);
  for (int64_t c = 0; c < planes && !kw_port_is_lanes(port, step); c++) {
    kw_port_write(port, to + c * to_step, step, lanes[c], n);
  }
}

static void run_blocks(void *user, int64_t begin, int64_t end) {
  grid_block block;
  const grid_run *run = user;
  const kw_tensor_ref *out = run->out, *image = run->image;
  for (int64_t b = begin; b < end; b++) {
    const int64_t number = b / run->blocks / run->rows, row = b / run->blocks % run->rows;
    const int64_t first = b % run->blocks * BLOCK, n = run->row - first < BLOCK ? run->row - first : BLOCK;
    settle(run, &block, number, row, first, n);
    char *to = kw_walk_base(out) + number * kw_loop_step(out, 0) + row * kw_loop_step(out, 2);
    const char *plane = kw_walk_base(image) + number * kw_loop_step(image, 0);
    for (int64_t c = 0; c < out->shape[1]; c += KW_POOL_PLANES) {
      const int64_t left = out->shape[1] - c;
      weigh(run, &block, plane + c * kw_loop_step(image, 1),
            to + c * kw_loop_step(out, 1) + first * kw_loop_step(out, 3), left < KW_POOL_PLANES ? left : KW_POOL_PLANES,
            n);
    }
  }
}

/* Arguments: input, grid, interpolation_mode, padding_mode, align_corners. */
static kw_status run_grid(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const grid_plan *plan = the_plan;
  const kw_tensor_ref *out = call->outs[0];
  if (out->numel == 0) return KW_OK;
  grid_run run = {.plan = plan, .image = call->args[0].u.tensor, .grid = call->args[1].u.tensor, .out = out};
  run.rule = (grid_rule){(grid_mode)call->args[2].u.i, (grid_padding)call->args[3].u.i, call->args[4].u.b};
  run.rows = plan->is_flat ? 1 : out->shape[2];
  run.row = plan->is_flat ? out->shape[2] * out->shape[3] : out->shape[3];
  run.blocks = (run.row + BLOCK - 1) / BLOCK;
  const int64_t elements = out->numel / (out->shape[0] * run.rows * run.blocks);
  return host->parallel_for(host->ctx, out->shape[0] * run.rows * run.blocks, 1 + GRAIN / elements, run_blocks, &run);
}

static const kw_fast_kernel kernels[] = {{.op = "grid_sampler_2d",
                                          .dtypes = KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F64),
                                          .plan_size = sizeof(grid_plan),
                                          .make_plan = plan_grid,
                                          .run = run_grid}};

kw_fast_family kw_fast_grid(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
