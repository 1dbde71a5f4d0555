/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that place the elements of tensors elsewhere: each is a few copies of strided views.
 */
#include "fast.h"

#include "operand.h"
#include "place.h"
#include "sizes.h"
#include "strided.h"
#include "walk.h"

#include <string.h>

#define GRAIN 16384         /* the fewest elements that a thread is woken for */
#define JOINED_BYTES 16384  /* of a result that are written at a time */
#define STREAMED_BYTES 1024 /* that are worth a way past the caches: their ends share lines with their neighbours */

/* ---- Views ------------------------------------------------------------------------------------------------------- */

static kw_tensor_ref narrow(const kw_tensor_ref *tensor, int64_t dim, int64_t start, int64_t count) {
  return kw_place_part_of(tensor, (kw_place_part){dim, start, 1, count});
}

static kw_status plan_same_dtype(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  (void)kernel;
  (void)plan;
  return call->args[0].u.tensor->dtype == call->outs[0]->dtype ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* ---- Joined ------------------------------------------------------------------------------------------------------ */

static kw_status plan_cat(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const kw_value *list = &call->args[0];
  (void)kernel;
  (void)plan;
  for (uint32_t k = 0; k < list->count; k++) {
    if (!kw_strided_serves(call->outs[0]->dtype, list->u.tensors[k]->dtype)) return KW_ERR_NOT_IMPLEMENTED;
  }
  return KW_OK;
}

/* Dense tensors that are joined within rows: of a row of the result, each has the next bytes. */
typedef struct joined_rows {
  const kw_value *list;
  const kw_tensor_ref *out;
  const kw_isa *isa;
  int64_t rows, pitch; /* of the result, bytes */
  bool streams;
} joined_rows;

/* In groups, so that what is written lies together. */
static void join_rows(void *user, int64_t begin, int64_t end) {
  const joined_rows *run = user;
  const int64_t group = 1 + JOINED_BYTES / run->pitch;
  for (int64_t row = begin; row < end; row += group) {
    const int64_t n = kw_least(group, end - row);
    char *to = (char *)kw_walk_base(run->out) + row * run->pitch;
    for (int64_t k = 0; k < run->list->count; k++) {
      const kw_tensor_ref *entry = run->list->u.tensors[k];
      if (entry->numel == 0) continue;
      const int64_t bytes = entry->numel / run->rows * (int64_t)kw_number_size(entry->dtype);
      const char *from = (const char *)kw_walk_base(entry) + row * bytes;
      if (run->streams && bytes >= STREAMED_BYTES) {
        for (int64_t i = 0; i < n; i++) run->isa->stream(to + i * run->pitch, from + i * bytes, bytes);
      } else {
        run->isa->copy_rows(to, run->pitch, from, bytes, bytes, n);
      }
      to += bytes;
    }
  }
  if (run->streams) run->isa->stream_end();
}

/* How many rows of the result have a part of each tensor, if all are dense and of one dtype; otherwise 0. */
static int64_t count_joined_rows(const kw_value *list, const kw_tensor_ref *out, int64_t dim) {
  int64_t rows = 1;
  bool joins = out->numel > 0 && kw_strided_is_dense(out);
  for (int64_t d = 0; d < dim; d++) rows *= out->shape[d];
  for (uint32_t k = 0; k < list->count && joins; k++) {
    const kw_tensor_ref *entry = list->u.tensors[k];
    joins = entry->dtype == out->dtype && (entry->numel == 0 || kw_strided_is_dense(entry));
  }
  return joins ? rows : 0;
}

static kw_status run_cat(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_value *list = &call->args[0];
  const kw_tensor_ref *out = call->outs[0];
  const int64_t named = call->args[1].u.i, dim = named < 0 ? named + out->rank : named;
  const int64_t rows = count_joined_rows(list, out, dim);
  kw_status status = KW_OK;
  (void)plan;
  if (rows > 1 || (rows == 1 && out->numel <= GRAIN)) {
    const int64_t width = out->numel / rows, size = (int64_t)kw_number_size(out->dtype);
    joined_rows run = {list, out, kw_fast_isa(), rows, width * size, out->numel >= KW_LOOP_PAST_BYTES / size};
    return host->parallel_for(host->ctx, rows, 1 + GRAIN / width, join_rows, &run);
  }
  for (int64_t k = 0, begin = 0; k < list->count && status == KW_OK; k++) {
    const kw_tensor_ref *entry = list->u.tensors[k];
    if (entry->numel == 0) continue; /* [0] has another rank than the result */
    const kw_tensor_ref part = narrow(out, dim, begin, entry->shape[dim]);
    status = kw_strided_copy(host, &part, entry);
    begin += entry->shape[dim];
  }
  return status;
}

/* ---- Repeated ---------------------------------------------------------------------------------------------------- */

/* A dimension that is repeated becomes two, in the inner one of which argument 0 lies once. */
static kw_status plan_repeat(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const uint32_t more = (uint32_t)out->rank - in->rank;
  kw_tensor_ref to = *out, from = *in;
  uint32_t rank = 0;
  (void)kernel;
  for (uint32_t d = 0; d < out->rank; d++) {
    const int64_t size = d < more ? 1 : in->shape[d - more], times = size > 0 ? out->shape[d] / size : 0;
    if (rank + 2 > KW_MAX_RANK) return KW_ERR_NOT_IMPLEMENTED;
    to.shape[rank] = times;
    to.strides[rank] = size * out->strides[d];
    from.shape[rank] = 1;
    from.strides[rank++] = 0;
    if (size == 1) continue;
    to.shape[rank] = from.shape[rank] = size;
    to.strides[rank] = out->strides[d];
    from.strides[rank++] = in->strides[d - more];
  }
  to.rank = from.rank = (uint8_t)rank;
  return in->dtype == out->dtype && kw_strided_plan(plan, &to, &from) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status run_repeat(const kw_host_api *host, const kw_call *call, const void *plan) {
  return kw_strided_run(plan, host, kw_walk_base(call->outs[0]), kw_walk_base(call->args[0].u.tensor));
}

/* ---- Turned ------------------------------------------------------------------------------------------------------ */

/* Argument 0 from its last element on, in the dimensions that are flipped. */
static kw_tensor_ref flipped(const kw_call *call) {
  kw_tensor_ref view = *call->args[0].u.tensor;
  for (uint32_t d = 0; d < view.rank; d++) {
    if (view.shape[d] < 2 || kw_place_flipped(call, d, view.shape[d], 0) == 0) continue;
    view.offset += (uint64_t)((view.shape[d] - 1) * view.strides[d]) * kw_number_size(view.dtype);
    view.strides[d] = -view.strides[d];
  }
  return view;
}

static kw_status run_flip(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref from = flipped(call);
  (void)plan;
  return kw_strided_copy(host, call->outs[0], &from);
}

static kw_status plan_roll(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const bool all_in_a_row = call->args[2].count == 0;
  if (all_in_a_row && !(kw_strided_is_dense(call->args[0].u.tensor) && kw_strided_is_dense(call->outs[0]))) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  return plan_same_dtype(kernel, call, plan);
}

/* Two parts along `dim`, the first of which begins at place `first` of what is read, and in each what `next` does. */
static kw_status roll_from(const kw_host_api *host, const kw_call *call, const kw_tensor_ref *to,
                           const kw_tensor_ref *from, uint32_t dim) {
  if (dim == to->rank) return kw_strided_copy(host, to, from);
  const int64_t size = to->shape[dim], first = kw_place_rolled(call, dim, size, 0);
  if (first == 0) return roll_from(host, call, to, from, dim + 1);
  const kw_tensor_ref front[] = {narrow(to, dim, 0, size - first), narrow(from, dim, first, size - first)};
  const kw_tensor_ref back[] = {narrow(to, dim, size - first, first), narrow(from, dim, 0, first)};
  const kw_status status = roll_from(host, call, &front[0], &front[1], dim + 1);
  return status == KW_OK ? roll_from(host, call, &back[0], &back[1], dim + 1) : status;
}

static kw_status run_roll(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  (void)plan;
  if (out->numel == 0) return KW_OK;
  if (call->args[2].count > 0) return roll_from(host, call, out, in, 0);
  kw_tensor_ref from = *in, to = *out; /* as rows */
  from.rank = to.rank = 1;
  from.shape[0] = to.shape[0] = out->numel;
  from.strides[0] = to.strides[0] = 1;
  const int64_t first = kw_place_turned(0, call->args[1].u.ints[0], out->numel);
  const kw_tensor_ref front[] = {narrow(&to, 0, 0, out->numel - first), narrow(&from, 0, first, out->numel - first)};
  const kw_tensor_ref back[] = {narrow(&to, 0, out->numel - first, first), narrow(&from, 0, 0, first)};
  const kw_status status = kw_strided_copy(host, &front[0], &front[1]);
  return status == KW_OK ? kw_strided_copy(host, &back[0], &back[1]) : status;
}

/* ---- Triangles --------------------------------------------------------------------------------------------------- */

typedef struct triangle_run {
  const kw_tensor_ref *in, *out;
  kw_move_fn move;
  int64_t size, rows, columns;
  int64_t diagonal; /* of the first column that is above: from -rows to columns */
  bool keeps_upper;
} triangle_run;

static void run_triangle_rows(void *user, int64_t begin, int64_t end) {
  static const char zero[16];
  const triangle_run *run = user;
  const uint32_t last = run->out->rank - 1u;
  const int64_t to_step = run->out->strides[last] * run->size, from_step = run->in->strides[last] * run->size;
  for (int64_t i = begin; i < end; i++) {
    char *to = kw_walk_base(run->out);
    const char *from = kw_walk_base(run->in);
    int64_t rest = i;
    for (uint32_t d = last; d-- > 0; rest /= run->out->shape[d]) {
      to += rest % run->out->shape[d] * run->out->strides[d] * run->size;
      from += rest % run->out->shape[d] * run->in->strides[d] * run->size;
    }
    int64_t above = i % run->rows + run->diagonal;
    above = above < 0 ? 0 : above > run->columns ? run->columns : above;
    const int64_t kept = run->keeps_upper ? above : 0, kept_end = run->keeps_upper ? run->columns : above;
    const int64_t other = run->keeps_upper ? 0 : above, other_end = run->keeps_upper ? above : run->columns;
    run->move(to + kept * to_step, to_step, from + kept * from_step, from_step, kept_end - kept);
    run->move(to + other * to_step, to_step, zero, 0, other_end - other);
  }
}

static const bool upper = true, lower = false;

static kw_status run_triangle(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const kw_dtype dtype = call->outs[0]->dtype;
  triangle_run run = {
      .in = call->args[0].u.tensor, .out = call->outs[0], .move = kw_fast_isa()->move[kw_strided_size(dtype)]};
  (void)plan;
  if (run.out->numel == 0) return KW_OK;
  run.size = (int64_t)kw_number_size(run.out->dtype);
  run.rows = run.out->shape[run.out->rank - 2];
  run.columns = run.out->shape[run.out->rank - 1];
  run.keeps_upper = *(const bool *)kernel->family;
  run.diagonal = call->args[1].u.i;
  if (run.diagonal < -run.rows) run.diagonal = -run.rows;
  if (run.diagonal > run.columns) run.diagonal = run.columns;
  if (!run.keeps_upper && run.diagonal < run.columns) run.diagonal++; /* tril keeps the diagonal itself, too */
  return host->parallel_for(host->ctx, run.out->numel / run.columns, 1 + GRAIN / run.columns, run_triangle_rows, &run);
}

/* ---- Replaced in part -------------------------------------------------------------------------------------------- */

static kw_status plan_replace(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  if (call->args[1].u.tensor->dtype != call->outs[0]->dtype) return KW_ERR_NOT_IMPLEMENTED;
  return plan_same_dtype(kernel, call, plan);
}

/* Argument 0 where argument 1 does not go, if that is in one piece, otherwise everywhere; then argument 1. */
static kw_status replace(const kw_host_api *host, const kw_call *call, kw_place_part part) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  const kw_tensor_ref src = kw_place_replacement(call, part), view = kw_place_part_of(out, part);
  const int64_t size = out->shape[part.dim], end = part.start + part.count;
  const bool is_whole = part.count == 0, in_one_piece = part.step == 1 || part.count == 1;
  const kw_tensor_ref before[] = {narrow(out, part.dim, 0, part.start), narrow(self, part.dim, 0, part.start)};
  if (is_whole || !in_one_piece) {
    const kw_status status = kw_strided_copy(host, out, self);
    return status == KW_OK && !is_whole ? kw_strided_copy(host, &view, &src) : status;
  }
  const kw_tensor_ref after[] = {narrow(out, part.dim, end, size - end), narrow(self, part.dim, end, size - end)};
  kw_status status = kw_strided_copy(host, &before[0], &before[1]);
  if (status == KW_OK) status = kw_strided_copy(host, &after[0], &after[1]);
  return status == KW_OK ? kw_strided_copy(host, &view, &src) : status;
}

static kw_status run_select_scatter(const kw_host_api *host, const kw_call *call, const void *plan) {
  (void)plan;
  return replace(host, call, kw_place_selected(call));
}

static kw_status run_slice_scatter(const kw_host_api *host, const kw_call *call, const void *plan) {
  (void)plan;
  return replace(host, call, kw_place_sliced(call));
}

/* ---- Padded ------------------------------------------------------------------------------------------------------ */

static int64_t within(int64_t i, int64_t size) {
  return i < 0 ? 0 : i > size ? size : i;
}

/* The value before and behind, dimension by dimension, of what is left of the result; and there argument 0. */
static kw_status run_pad(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_value *pads = &call->args[1];
  kw_tensor_ref from = *call->args[0].u.tensor, left = *call->outs[0];
  kw_element value = kw_operand_scalar(&call->args[2]);
  value = kw_operand_as_key(value.dtype, value.bytes, left.dtype);
  const kw_tensor_ref element = {.dtype = left.dtype, .numel = 1, .mem = value.bytes};
  kw_status status = KW_OK;
  (void)plan;
  for (uint32_t d = 0; d < left.rank && status == KW_OK; d++) {
    const int64_t size = left.shape[d], low = -kw_place_unpadded(pads, from.rank, d, 0);
    const int64_t begin = within(low, size), end = within(low + from.shape[d], size);
    if (begin >= end) return kw_strided_copy(host, &left, &element);
    const kw_tensor_ref before = narrow(&left, d, 0, begin), behind = narrow(&left, d, end, size - end);
    status = kw_strided_copy(host, &before, &element);
    if (status == KW_OK) status = kw_strided_copy(host, &behind, &element);
    left = narrow(&left, d, begin, end - begin);
    from = narrow(&from, d, begin - low, end - begin);
  }
  return status == KW_OK ? kw_strided_copy(host, &left, &from) : status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static const kw_fast_kernel kernels[] = {
    {.op = "cat", .dtypes = KW_DTYPES_ANY, .flags = KW_KERNEL_MIXED_DTYPES, .make_plan = plan_cat, .run = run_cat},
    {.op = "repeat",
     .dtypes = KW_DTYPES_ANY,
     .plan_size = sizeof(kw_strided),
     .make_plan = plan_repeat,
     .run = run_repeat},
    {.op = "flip", .dtypes = KW_DTYPES_ANY, .make_plan = plan_same_dtype, .run = run_flip},
    {.op = "roll", .dtypes = KW_DTYPES_ANY, .make_plan = plan_roll, .run = run_roll},
    {.op = "triu", .dtypes = KW_DTYPES_ANY, .family = &upper, .make_plan = plan_same_dtype, .run = run_triangle},
    {.op = "tril", .dtypes = KW_DTYPES_ANY, .family = &lower, .make_plan = plan_same_dtype, .run = run_triangle},
    {.op = "select_scatter", .dtypes = KW_DTYPES_ANY, .make_plan = plan_replace, .run = run_select_scatter},
    {.op = "slice_scatter", .dtypes = KW_DTYPES_ANY, .make_plan = plan_replace, .run = run_slice_scatter},
    {.op = "constant_pad_nd", .dtypes = KW_DTYPES_ANY, .make_plan = plan_same_dtype, .run = run_pad},
};

kw_fast_family kw_fast_place(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
