/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of strided tensors: by rows where what is written and what is read are dense along the same dimension, by
 * tiles that fit in the first cache where they are not.
 */
#include "strided.h"

#include "fast.h"
#include "number.h"
#include "sizes.h"
#include "walk.h"

#include <string.h>

#define GRAIN 16384      /* the fewest elements that a thread is woken for */
#define TILE_BYTES 16384 /* of what is read: half of the first cache, on most processors */

#define TILE_GROUP 8

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

/* The lanes by which elements are converted with one rounding; KW_LANE_COUNT: there are none. An integer that f32 has
 * not is too large for f16 and f8 in any case, but not for bf16. */
static kw_lane lane_between(kw_dtype from, kw_dtype to) {
  if (from >= KW_ISA_DTYPES || to >= KW_ISA_DTYPES) return KW_LANE_COUNT;
  if (!kw_number_is_integer(from)) return from == KW_F64 || to == KW_F64 ? KW_LANE_F64 : KW_LANE_F32;
  if (kw_number_is_integer(to)) return from == KW_I64 || to == KW_I64 ? KW_LANE_I64 : KW_LANE_I32;
  if (from == KW_I64 && to == KW_BF16) return KW_LANE_COUNT;
  return to == KW_F64 || (from == KW_I32 && to == KW_BF16) ? KW_LANE_F64 : KW_LANE_F32;
}

bool kw_strided_is_dense(const kw_tensor_ref *tensor) {
  int64_t stride = 1;
  for (uint32_t d = tensor->rank; d-- > 0; stride *= tensor->shape[d]) {
    if (tensor->shape[d] != 1 && tensor->strides[d] != stride) return false;
  }
  return true;
}

kw_tensor_ref kw_strided_dense_like(const kw_tensor_ref *tensor, kw_dtype dtype) {
  kw_tensor_ref dense = *tensor;
  dense.dtype = dtype;
  dense.mem = NULL;
  dense.offset = 0;
  int64_t stride = 1;
  for (uint32_t d = dense.rank; d-- > 0; stride *= dense.shape[d]) dense.strides[d] = stride;
  return dense;
}

uint32_t kw_strided_size(kw_dtype dtype) {
  uint32_t bits = 0;
  while (1u << bits < kw_number_size(dtype)) bits++;
  return bits;
}

/* Tiles, where another dimension than the last is the dense one of what is read. A dimension that is shorter than a
 * square tile's side makes the other side longer. */
static void plan_tiles(kw_strided *copy) {
  const kw_loop *loop = &copy->loop;
  const uint32_t last = loop->rank - 1;
  if (loop->numel == 0 || loop->step[0][last] != copy->to_size || loop->step[1][last] == copy->from_size ||
      loop->step[1][last] == 0)
    return;
  for (uint32_t d = 0; d < last; d++) {
    if (loop->step[1][d] != copy->from_size) continue;
    const int64_t elements = TILE_BYTES / copy->from_size, side = copy->from_size > 4   ? 32
                                                                  : copy->from_size > 1 ? 64
                                                                                        : 128;
    copy->has_tiles = true;
    copy->across = d;
    copy->rows = kw_least(loop->shape[last], side);
    copy->columns = kw_least(loop->shape[d], elements / copy->rows);
    copy->rows = kw_least(loop->shape[last], elements / copy->columns);
    copy->row_tiles = (loop->shape[last] + copy->rows - 1) / copy->rows;
    copy->column_tiles = (loop->shape[d] + copy->columns - 1) / copy->columns;
    return;
  }
}

/* Where all is in short rows, dense on both sides, the loop goes over rows instead of elements. */
static void plan_short_rows(kw_strided *copy) {
  kw_loop *loop = &copy->loop;
  const uint32_t last = loop->rank - 1;
  const int64_t bytes = loop->shape[last] * copy->to_size;
  if (!copy->moves || loop->rank < 2 || bytes == 0 || bytes >= KW_LOOP_PAST_ROW) return;
  if (loop->step[0][last] != copy->to_size || loop->step[1][last] != copy->to_size) return;
  copy->row_bytes = bytes;
  loop->numel /= loop->shape[last];
  loop->rank--;
}

bool kw_strided_serves(kw_dtype to, kw_dtype from) {
  return to == from || lane_between(from, to) != KW_LANE_COUNT;
}

bool kw_strided_plan(kw_strided *copy, const kw_tensor_ref *to, const kw_tensor_ref *from) {
  memset(copy, 0, sizeof *copy);
  copy->to_size = (int64_t)kw_number_size(to->dtype);
  copy->from_size = (int64_t)kw_number_size(from->dtype);
  copy->move = kw_strided_size(from->dtype);
  copy->moves = to->dtype == from->dtype;
  if (!copy->moves) {
    const kw_lane lane = lane_between(from->dtype, to->dtype);
    if (lane == KW_LANE_COUNT) return false;
    if (!kw_port_open(&copy->to, to->dtype, lane) || !kw_port_open(&copy->from, from->dtype, lane)) return false;
  }
  kw_loop_begin(&copy->loop, to);
  kw_loop_add(&copy->loop, from);
  kw_loop_make(&copy->loop);
  plan_tiles(copy);
  plan_short_rows(copy);
  return true;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct strided_run {
  const kw_strided *copy;
  const kw_isa *isa;
  char *base[2];
  bool streams;
} strided_run;

static void convert_row(const strided_run *run, char *to, int64_t to_step, const char *from, int64_t from_step,
                        int64_t n) {
  _Alignas(64) char lanes[KW_LANE_BLOCK * KW_LANE_BYTES], elements[KW_LANE_BLOCK * KW_LANE_BYTES];
  const kw_strided *copy = run->copy;
  const bool streams = run->streams && to_step == copy->to_size && n * to_step >= KW_LOOP_PAST_ROW;
  for (int64_t i = 0; i < n; i += KW_LANE_BLOCK) {
    const int64_t count = kw_least(n - i, KW_LANE_BLOCK);
    const char *at = from + i * from_step;
    char *out = streams ? elements : to + i * to_step;
    if (kw_port_is_lanes(&copy->to, to_step)) {
      kw_port_read(&copy->from, out, at, from_step, count);
    } else {
      kw_port_write(&copy->to, out, to_step, kw_port_lanes(&copy->from, at, from_step, count, lanes), count);
    }
    if (streams) run->isa->stream(to + i * to_step, elements, count * to_step);
  }
}

static void run_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  const strided_run *run = context;
  const kw_strided *copy = run->copy;
  if (copy->row_bytes > 0) {
    run->isa->copy_rows(at[0], step[0], at[1], step[1], copy->row_bytes, n);
  } else if (!copy->moves) {
    convert_row(run, at[0], step[0], at[1], step[1], n);
  } else if (run->streams && step[0] == copy->to_size && step[1] == copy->to_size && n * step[0] >= KW_LOOP_PAST_ROW) {
    run->isa->stream(at[0], at[1], n * step[0]);
  } else {
    run->isa->move[copy->move](at[0], step[0], at[1], step[1], n);
  }
}

static void run_rows(void *user, int64_t begin, int64_t end) {
  strided_run *run = user;
  kw_loop_run(&run->copy->loop, run->base, begin, end, run_row, run);
  if (run->streams) run->isa->stream_end();
}

/* One tile, whose first elements are `to` and `from`. By way of a buffer, because rows that are a power of two apart
 * share few places of a cache. */
static void run_tile(const strided_run *run, char *to, const char *from, int64_t rows, int64_t columns) {
  _Alignas(64) char tile[TILE_BYTES];
  const kw_strided *copy = run->copy;
  const kw_loop *loop = &copy->loop;
  const int64_t pitch = rows * copy->from_size, to_step = loop->step[0][copy->across];
  const bool joined = to_step == rows * copy->to_size; /* all is one row of what is written */
  const int64_t pieces = joined ? 1 : columns, length = joined ? rows * columns : rows;
  run->isa->transpose[copy->move](tile, pitch, from, loop->step[1][loop->rank - 1], rows, columns);
  if (copy->moves && !run->streams) {
    run->isa->copy_rows(to, to_step, tile, pitch, length * copy->to_size, pieces);
    return;
  }
  for (int64_t c = 0; c < pieces; c++) {
    if (copy->moves) {
      run->isa->stream(to + c * to_step, tile + c * pitch, length * copy->to_size);
    } else {
      convert_row(run, to + c * to_step, copy->to_size, tile + c * pitch, copy->from_size, length);
    }
  }
}

/* Tiles number [begin, end). They come in groups of a few along the last dimension, in whose order the other dimension
 * of theirs is followed: so what is read stays on the same pages of memory for a while, and what is written, too. */
static void run_tiles(void *user, int64_t begin, int64_t end) {
  const strided_run *run = user;
  const kw_strided *copy = run->copy;
  const kw_loop *loop = &copy->loop;
  const uint32_t last = loop->rank - 1;
  for (int64_t t = begin; t < end; t++) {
    const int64_t tiles = copy->row_tiles * copy->column_tiles, in_plane = t % tiles;
    const int64_t first = in_plane / (TILE_GROUP * copy->column_tiles) * TILE_GROUP;
    const int64_t in_group = in_plane - first * copy->column_tiles;
    const int64_t group = kw_least(copy->row_tiles - first, TILE_GROUP);
    const int64_t row = (first + in_group % group) * copy->rows, column = in_group / group * copy->columns;
    char *to = run->base[0] + row * loop->step[0][last] + column * loop->step[0][copy->across];
    const char *from = run->base[1] + row * loop->step[1][last] + column * loop->step[1][copy->across];
    int64_t rest = t / tiles;
    for (uint32_t d = last; d-- > 0;) {
      if (d == copy->across) continue;
      const int64_t i = rest % loop->shape[d];
      rest /= loop->shape[d];
      to += i * loop->step[0][d];
      from += i * loop->step[1][d];
    }
    run_tile(run, to, from, kw_least(copy->rows, loop->shape[last] - row),
             kw_least(copy->columns, loop->shape[copy->across] - column));
  }
  if (run->streams) run->isa->stream_end();
}

kw_status kw_strided_run(const kw_strided *copy, const kw_host_api *host, char *to, const char *from) {
  const kw_loop *loop = &copy->loop;
  strided_run run = {.copy = copy, .isa = kw_fast_isa(), .base = {to, (char *)(uintptr_t)from}};
  if (to == from) return KW_OK;
  if (copy->row_bytes > 0) {
    const int64_t grain = 1 + GRAIN * copy->to_size / copy->row_bytes;
    return host->parallel_for(host->ctx, loop->numel, grain, run_rows, &run);
  }
  run.streams = loop->numel >= KW_LOOP_PAST_BYTES / copy->to_size;
  if (!copy->has_tiles) {
    return host->parallel_for(host->ctx, loop->numel, GRAIN, run_rows, &run);
  }
  int64_t tiles = copy->row_tiles * copy->column_tiles;
  for (uint32_t d = 0; d + 1 < loop->rank; d++) {
    if (d != copy->across) tiles *= loop->shape[d];
  }
  return host->parallel_for(host->ctx, tiles, 1 + GRAIN / (copy->rows * copy->columns), run_tiles, &run);
}

kw_status kw_strided_copy(const kw_host_api *host, const kw_tensor_ref *to, const kw_tensor_ref *from) {
  kw_strided copy;
  if (!kw_strided_plan(&copy, to, from)) return KW_ERR_NOT_IMPLEMENTED;
  return kw_strided_run(&copy, host, kw_walk_base(to), kw_walk_base(from));
}

kw_status kw_strided_clear(const kw_host_api *host, const kw_tensor_ref *to) {
  static const char zero[16];
  const kw_tensor_ref nothing = {.dtype = to->dtype, .numel = 1, .mem = (void *)(uintptr_t)zero};
  return kw_strided_copy(host, to, &nothing);
}
