/* SPDX-License-Identifier: Apache-2.0
 *
 * im2col: each row of the matrix is a tap's view of a channel, moved by rows of the image with zeros around them.
 * col2im: each row of the image is the sum of rows of places, one for each tap that sees it. Where places are apart,
 * sums are kept by their column's remainder, so that places side by side add to lanes side by side.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "operand.h"
#include "sizes.h"
#include "strided.h"
#include "walk.h"

#include <string.h>

#define GRAIN 16384 /* elements of the matrix: the fewest that a thread is woken for */

enum { DOWN, ACROSS, DIRECTIONS };

/* What a direction of the image has. */
typedef struct columns_axis {
  int64_t size, kernel, dilation, padding, stride, places;
  int64_t step; /* bytes */
} columns_axis;

typedef struct columns_run {
  const kw_tensor_ref *image, *matrix;
  columns_axis axes[DIRECTIONS];
  int64_t channels, rows; /* of one matrix */
  int64_t image_step, channel_step, matrix_step, row_step, place_step;
  kw_move_fn move;
  const kw_host_api *host; /* the rest is of sums */
  const kw_port *port;
  int64_t remainders, each; /* of columns by the stride, and lanes of each */
  atomic_int status;
} columns_run;

/* `lists`: kernel_size, dilation, padding, stride. */
static columns_run start(const kw_tensor_ref *image, const kw_tensor_ref *matrix, const kw_value *lists) {
  const uint32_t batch = image->rank - 3u; /* dimensions before the channels: 1 or 0 */
  columns_run run = {.image = image, .matrix = matrix, .move = kw_fast_isa()->move[kw_strided_size(image->dtype)]};
  run.channels = image->shape[batch];
  run.channel_step = kw_loop_step(image, batch);
  run.image_step = batch > 0 ? kw_loop_step(image, 0) : 0;
  run.rows = matrix->shape[batch];
  run.row_step = kw_loop_step(matrix, batch);
  run.place_step = kw_loop_step(matrix, batch + 1);
  run.matrix_step = batch > 0 ? kw_loop_step(matrix, 0) : 0;
  for (uint32_t d = 0; d < DIRECTIONS; d++) {
    columns_axis *a = &run.axes[d];
    *a = (columns_axis){.size = image->shape[batch + 1 + d],
                        .kernel = kw_operand_listed(&lists[0], d),
                        .dilation = kw_operand_listed(&lists[1], d),
                        .padding = kw_operand_listed(&lists[2], d),
                        .stride = kw_operand_listed(&lists[3], d),
                        .step = kw_loop_step(image, batch + 1 + d)};
    a->places = (a->size + 2 * a->padding - a->dilation * (a->kernel - 1) - 1) / a->stride + 1;
  }
  return run;
}

/* How many steps of a stride, which may be as large as an int64 is, reach over a distance. */
static int64_t steps_over(int64_t distance, int64_t stride) {
  return distance > 0 ? (distance - 1) / stride + 1 : 0;
}

/* Which places see an element of the image through a tap: [*first, *end). Place 0 sees element `low`. */
static void visible(const columns_axis *axis, int64_t low, int64_t *first, int64_t *end) {
  const int64_t before = steps_over(-low, axis->stride), behind = steps_over(axis->size - low, axis->stride);
  *first = before < axis->places ? before : axis->places;
  *end = behind < *first ? *first : behind < axis->places ? behind : axis->places;
}

/* ---- im2col ------------------------------------------------------------------------------------------------------ */

static kw_status plan_columns(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  (void)plan;
  return call->args[0].u.tensor->dtype == call->outs[0]->dtype ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static void make_row(const columns_run *run, char *to, const char *channel, int64_t tap_down, int64_t tap_across) {
  static const char zero[16];
  const columns_axis *down = &run->axes[DOWN], *across = &run->axes[ACROSS];
  const int64_t top = tap_down * down->dilation - down->padding, left = tap_across * across->dilation - across->padding;
  const int64_t step = run->place_step;
  int64_t first_row, end_row, first, end;
  visible(down, top, &first_row, &end_row);
  visible(across, left, &first, &end);
  /* Of places that see nothing, and of strides that lead nowhere, no bytes can be counted: there may be too many. */
  const int64_t begins_at = end > first ? (left + first * across->stride) * across->step : 0;
  const int64_t from_step = end - first > 1 ? across->stride * across->step : 0;
  for (int64_t i = 0; i < down->places; i++, to += across->places * step) {
    if (i < first_row || i >= end_row) {
      run->move(to, step, zero, 0, across->places);
      continue;
    }
    const char *line = channel + (top + i * down->stride) * down->step;
    run->move(to, step, zero, 0, first);
    run->move(to + first * step, step, line + begins_at, from_step, end - first);
    run->move(to + end * step, step, zero, 0, across->places - end);
  }
}

static void run_rows(void *user, int64_t begin, int64_t end) {
  const columns_run *run = user;
  const int64_t taps_across = run->axes[ACROSS].kernel, taps = run->axes[DOWN].kernel * taps_across;
  for (int64_t i = begin; i < end; i++) {
    const int64_t image = i / run->rows, row = i % run->rows, tap = row % taps;
    make_row(run, kw_walk_base(run->matrix) + image * run->matrix_step + row * run->row_step,
             kw_walk_base(run->image) + image * run->image_step + row / taps * run->channel_step, tap / taps_across,
             tap % taps_across);
  }
}

static kw_status run_columns(const kw_host_api *host, const kw_call *call, const void *plan) {
  (void)plan;
  if (call->outs[0]->numel == 0) return KW_OK;
  columns_run run = start(call->args[0].u.tensor, call->outs[0], &call->args[1]);
  const int64_t places = run.axes[DOWN].places * run.axes[ACROSS].places;
  return host->parallel_for(host->ctx, call->outs[0]->numel / places, 1 + GRAIN / places, run_rows, &run);
}

/* ---- col2im ------------------------------------------------------------------------------------------------------ */

static kw_status plan_sums(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  const kw_dtype dtype = call->outs[0]->dtype;
  const bool serves = call->args[0].u.tensor->dtype == dtype && kw_port_open(plan, dtype, kw_lane_of(dtype));
  return serves ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* The places in a row that see the image through a tap, and the lane to which the first of them is added. */
typedef struct columns_span {
  int64_t first, count, lane;
} columns_span;

static columns_span span_of(const columns_run *run, int64_t tap) {
  const columns_axis *across = &run->axes[ACROSS];
  const int64_t left = tap * across->dilation - across->padding;
  int64_t first, end;
  visible(across, left, &first, &end);
  const int64_t column = left + first * across->stride;
  const int64_t lane = column % across->stride * run->each + column / across->stride;
  return (columns_span){first, end - first, end > first ? lane : 0};
}

static void add_places(const columns_run *run, char *sums, const char *from, int64_t count) {
  const kw_port *port = run->port;
  const kw_lanes_fn add = kw_fast_isa()->pointwise[KW_POINTWISE_ADD][port->lane];
  _Alignas(64) char buffer[KW_LANE_BLOCK * KW_LANE_BYTES];
  for (int64_t i = 0; i < count; i += KW_LANE_BLOCK) {
    const int64_t n = kw_block_at(i, count);
    char *to = sums + i * kw_lane_size(port->lane);
    const void *lanes = kw_port_lanes(port, from + i * run->place_step, run->place_step, n, buffer);
    add(to, (const void *[]){to, lanes}, n);
  }
}

/* Row `row` of the image whose matrix has the rows of its channel from `from` on. */
static void sum_row(const columns_run *run, char *sums, const columns_span *spans, const char *from, int64_t row) {
  const columns_axis *down = &run->axes[DOWN], *across = &run->axes[ACROSS];
  const int64_t lane = kw_lane_size(run->port->lane);
  memset(sums, 0, (size_t)(run->remainders * run->each * lane));
  for (int64_t tap = 0; tap < down->kernel; tap++, from += across->kernel * run->row_step) {
    const int64_t distance = row + down->padding - tap * down->dilation, place = distance / down->stride;
    if (distance < 0 || distance % down->stride != 0 || place >= down->places) continue;
    const char *places = from + place * across->places * run->place_step;
    for (int64_t i = 0; i < across->kernel; i++, places += run->row_step) {
      add_places(run, sums + spans[i].lane * lane, places + spans[i].first * run->place_step, spans[i].count);
    }
  }
}

/* Rows of all images and channels. */
static void run_sums(void *user, int64_t begin, int64_t end) {
  columns_run *run = user;
  const columns_axis *down = &run->axes[DOWN], *across = &run->axes[ACROSS];
  const int64_t lane = kw_lane_size(run->port->lane), taps = down->kernel * across->kernel;
  const int64_t sums_size = kw_round_up(run->remainders * run->each * lane, 64);
  const uint64_t spans_size = (uint64_t)across->kernel * sizeof(columns_span);
  char *sums = kw_fast_room(run->host, (uint64_t)sums_size + spans_size, &run->status);
  if (!sums) return;
  columns_span *spans = (columns_span *)(void *)(sums + sums_size);
  for (int64_t tap = 0; tap < across->kernel; tap++) spans[tap] = span_of(run, tap);
  for (int64_t i = begin; i < end; i++) {
    const int64_t plane = i / down->size, row = i % down->size, image = plane / run->channels;
    const int64_t channel = plane % run->channels;
    const char *from = kw_walk_base(run->matrix) + image * run->matrix_step + channel * taps * run->row_step;
    char *to = kw_walk_base(run->image) + image * run->image_step + channel * run->channel_step + row * down->step;
    sum_row(run, sums, spans, from, row);
    for (int64_t r = 0; r < run->remainders; r++) {
      kw_port_write(run->port, to + r * across->step, run->remainders * across->step, sums + r * run->each * lane,
                    steps_over(across->size - r, across->stride));
    }
  }
  run->host->host_free(run->host->ctx, sums);
}

static kw_status run_column_sums(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *matrix = call->args[0].u.tensor, *image = call->outs[0];
  if (image->numel == 0) return KW_OK;
  columns_run run = start(image, matrix, &call->args[2]);
  const columns_axis *across = &run.axes[ACROSS];
  run.host = host;
  run.port = plan;
  run.remainders = kw_least(across->stride, across->size);
  run.each = steps_over(across->size, across->stride);
  const int64_t rows = image->numel / across->size;
  const kw_status status = host->parallel_for(host->ctx, rows, 1 + GRAIN / (1 + matrix->numel / rows), run_sums, &run);
  return status == KW_OK ? (kw_status)atomic_load(&run.status) : status;
}

static const kw_fast_kernel kernels[] = {
    {.op = "im2col", .dtypes = KW_DTYPES_FLOAT, .make_plan = plan_columns, .run = run_columns},
    {.op = "col2im",
     .dtypes = KW_DTYPES_FLOAT,
     .plan_size = sizeof(kw_port),
     .make_plan = plan_sums,
     .run = run_column_sums},
};

kw_fast_family kw_fast_columns(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
