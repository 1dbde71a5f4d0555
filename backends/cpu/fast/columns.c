/* SPDX-License-Identifier: Apache-2.0
 *
 * im2col: each row of the matrix is a tap's view of a channel, moved by rows of the image with zeros around them.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "operand.h"
#include "strided.h"
#include "walk.h"

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
} columns_run;

static kw_status plan_columns(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  (void)plan;
  return call->args[0].u.tensor->dtype == call->outs[0]->dtype ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* Arguments: self, kernel_size, dilation, padding, stride. */
static columns_run start(const kw_call *call) {
  const kw_tensor_ref *image = call->args[0].u.tensor, *matrix = call->outs[0];
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
                        .kernel = kw_operand_listed(&call->args[1], d),
                        .dilation = kw_operand_listed(&call->args[2], d),
                        .padding = kw_operand_listed(&call->args[3], d),
                        .stride = kw_operand_listed(&call->args[4], d),
                        .step = kw_loop_step(image, batch + 1 + d)};
    a->places = (a->size + 2 * a->padding - a->dilation * (a->kernel - 1) - 1) / a->stride + 1;
  }
  return run;
}

/* Which places see an element of the image through a tap: [*first, *end). Place 0 sees element `low`. */
static void visible(const columns_axis *axis, int64_t low, int64_t *first, int64_t *end) {
  const int64_t before = low < 0 ? (-low + axis->stride - 1) / axis->stride : 0;
  const int64_t behind = axis->size > low ? (axis->size - low + axis->stride - 1) / axis->stride : 0;
  *first = before < axis->places ? before : axis->places;
  *end = behind < *first ? *first : behind < axis->places ? behind : axis->places;
}

static void make_row(const columns_run *run, char *to, const char *channel, int64_t tap_down, int64_t tap_across) {
  static const char zero[16];
  const columns_axis *down = &run->axes[DOWN], *across = &run->axes[ACROSS];
  const int64_t top = tap_down * down->dilation - down->padding, left = tap_across * across->dilation - across->padding;
  const int64_t step = run->place_step;
  int64_t first_row, end_row, first, end;
  visible(down, top, &first_row, &end_row);
  visible(across, left, &first, &end);
  for (int64_t i = 0; i < down->places; i++, to += across->places * step) {
    if (i < first_row || i >= end_row) {
      run->move(to, step, zero, 0, across->places);
      continue;
    }
    const char *line = channel + (top + i * down->stride) * down->step;
    run->move(to, step, zero, 0, first);
    run->move(to + first * step, step, line + (left + first * across->stride) * across->step,
              across->stride * across->step, end - first);
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
  columns_run run = start(call);
  const int64_t places = run.axes[DOWN].places * run.axes[ACROSS].places;
  return host->parallel_for(host->ctx, call->outs[0]->numel / places, 1 + GRAIN / places, run_rows, &run);
}

static const kw_fast_kernel kernels[] = {
    {.op = "im2col", .dtypes = KW_DTYPES_FLOAT, .make_plan = plan_columns, .run = run_columns}};

kw_fast_family kw_fast_columns(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
