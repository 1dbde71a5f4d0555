/* SPDX-License-Identifier: Apache-2.0
 *
 * Merge sort as steps: items are made, sorted run by run, and merged.
 */
#include "ops/sort.h"

#include "kernel_sources.h"
#include "ops/families.h"
#include "program/dtype.h"

#include "kernels/sort_args.kw"

#include <string.h>

static const kw_gpu_module sort_module = {
    "sort", KW_GPU_BY_SIZE, 1u << 8 | 1u << 16, {kw_gpu_source_sort_args, kw_gpu_source_sort_item, kw_gpu_source_sort}};
static const kw_gpu_module radix_module = {
    "sort_radix",
    KW_GPU_BY_SIZE,
    1u << 8 | 1u << 16 | KW_GPU_VECTORS,
    {kw_gpu_source_sort_args, kw_gpu_source_sort_item, kw_gpu_source_sort_radix}};
static const kw_gpu_module groups_module = {
    "groups", KW_GPU_BY_NOTHING, KW_GPU_ONE | KW_GPU_VECTORS, {kw_gpu_source_sort_args, kw_gpu_source_groups}};

static const kw_gpu_kernel keys_kernel = {&sort_module, "kw_sort_keys_kernel"};
static const kw_gpu_kernel runs_kernel = {&sort_module, "kw_sort_runs_kernel"};
static const kw_gpu_kernel radix_kernel = {&radix_module, "kw_sort_radix_kernel"};
static const kw_gpu_kernel merge_kernel = {&sort_module, "kw_sort_merge_kernel"};
static const kw_gpu_kernel finish_kernel = {&sort_module, "kw_sort_finish_kernel"};
static const kw_gpu_kernel number_kernel = {&sort_module, "kw_sort_number_kernel"};
static const kw_gpu_kernel starts_kernel = {&sort_module, "kw_sort_starts_kernel"};
static const kw_gpu_kernel groups_kernel = {&groups_module, "kw_groups_kernel"};

/* ---- Items ------------------------------------------------------------------------------------------------------- */

/* Items stand in tensors of these dtypes, which have their size. */
#define NARROW KW_I64
#define WIDE KW_C128

#define RADIX_RUN (INT64_C(1) << 22) /* items that one thread sorts by their digits */

#define GROUPED_AT_ONCE 4096 /* entries that one thread groups */

#define NARROW_LIMIT (INT64_C(1) << 32) /* of positions in a row; keys are below it, too */

/* `work` is how many work-items there are. */
static void add_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype item, const kw_gpu_tensor *out,
                     const kw_gpu_tensor *in, int64_t count, int64_t length, int64_t width, int64_t work) {
  const kw_sorting block = {.numel = count, .length = length, .width = width};
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, item);
  kw_gpu_step_operand(step, out);
  kw_gpu_step_operand(step, in);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_items(step, work);
}

/* Into sorted runs of `width`. */
static void sort_by_digits(kw_gpu_plan *plan, const kw_gpu_tensor *to, const kw_gpu_tensor *from, int64_t count,
                           int64_t length, int64_t width, uint32_t key_bytes) {
  const kw_sorting block = {.numel = count, .length = length, .width = width};
  kw_gpu_step *step = kw_gpu_step_add(plan, &radix_kernel, to->ref.dtype);
  kw_gpu_step_operand(step, to);
  kw_gpu_step_operand(step, from);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, (int32_t)key_bytes);
  kw_gpu_step_grid(step, 1, 1, count / length * ((length + width - 1) / width), 1);
}

/* Back and forth between `items` and a temporary; returns the one that it ends in. */
kw_gpu_tensor kw_gpu_sort_items(kw_gpu_plan *plan, const kw_gpu_tensor *items, int64_t length, uint32_t key_bytes) {
  const kw_dtype item = items->ref.dtype;
  const int64_t count = items->ref.numel;
  if (length < 2) return *items;
  const int64_t strips = count / length * ((length + KW_SORT_STRIP - 1) / KW_SORT_STRIP);
  kw_gpu_tensor from = *items, to = kw_gpu_temporary(plan, item, 1, &count);
  const kw_gpu_device *device = plan->call->device;
  int64_t width = KW_SORT_RUN;
  if (device->vector_bytes > 0 && length > KW_SORT_RUN) {
    width = length < RADIX_RUN ? length : RADIX_RUN;
    sort_by_digits(plan, &to, &from, count, length, width, key_bytes);
  } else {
    add_step(plan, &runs_kernel, item, &to, &from, count, length, width, count);
  }
  for (; width < length; width *= 2) {
    kw_gpu_tensor sorted = to;
    to = from;
    from = sorted;
    add_step(plan, &merge_kernel, item, &to, &from, count, length, width, strips);
  }
  return to;
}

/* Each of the work-items looks at all entries: as many as there are threads on a small CPU, and one where there are few
 * entries. */
static void count_groups(kw_gpu_plan *plan, const kw_gpu_groups *result, const kw_gpu_tensor *keys, int64_t groups) {
  const int64_t entries = keys->ref.numel, most = entries < GROUPED_AT_ONCE ? 1 : 4;
  const int64_t width = (groups + most - 1) / most > 0 ? (groups + most - 1) / most : 1;
  const kw_sorting block = {.numel = groups, .length = entries, .width = width};
  kw_gpu_step *step = kw_gpu_step_add(plan, &groups_kernel, KW_I64);
  kw_gpu_step_operand(step, &result->starts);
  kw_gpu_step_operand(step, keys);
  kw_gpu_step_operand(step, &result->items);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_grid(step, 1, 1, groups > 0 ? (groups + width - 1) / width : 1, 1);
}

kw_gpu_groups kw_gpu_group(kw_gpu_plan *plan, const kw_gpu_tensor *keys, int64_t groups) {
  const int64_t count = keys->ref.numel, ends = groups + 1;
  kw_gpu_groups result = {.wide = count > NARROW_LIMIT || ends >= NARROW_LIMIT};
  const kw_dtype item = result.wide ? WIDE : NARROW;
  const kw_gpu_device *device = plan->call->device;
  kw_gpu_tensor items = kw_gpu_temporary(plan, item, 1, &count);
  if (device->vector_bytes > 0 && !result.wide) {
    result.items = items;
    result.starts = kw_gpu_temporary(plan, KW_I64, 1, &ends);
    count_groups(plan, &result, keys, groups);
    return result;
  }
  add_step(plan, &number_kernel, item, &items, keys, count, count, 0, count);
  result.items = kw_gpu_sort_items(plan, &items, count, result.wide ? 8 : 4);
  result.starts = kw_gpu_temporary(plan, KW_I64, 1, &ends);
  add_step(plan, &starts_kernel, item, &result.starts, &result.items, ends, count, 0, ends);
  return result;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* How the bits of a dtype are ordered, and a float's infinity. */
static int32_t order_of(kw_dtype dtype, int64_t *out_infinity) {
  *out_infinity = dtype == KW_F16    ? 0x7c00
                  : dtype == KW_BF16 ? 0x7f80
                  : dtype == KW_F32  ? 0x7f800000
                                     : INT64_C(0x7ff) << 52;
  if (dtype >= KW_F16) return KW_SORT_FLOAT;
  return dtype == KW_BOOL || dtype == KW_U8 ? KW_SORT_UNSIGNED : KW_SORT_SIGNED;
}

/* Rows of items, one after the other, seen as a tensor of `like`'s shape whose dimension `dim` runs along the rows. */
static kw_gpu_tensor see_rows(const kw_gpu_tensor *items, const kw_gpu_tensor *like, uint32_t dim, int64_t length) {
  kw_gpu_tensor seen = {.at = items->at, .ref = like->ref};
  int64_t stride = length;
  seen.ref.dtype = items->ref.dtype;
  for (uint32_t d = like->ref.rank; d-- > 0;) {
    seen.ref.strides[d] = d == dim ? 1 : stride;
    if (d != dim) stride *= like->ref.shape[d];
  }
  return seen;
}

/* A tensor of rank 0 is a row of one. */
static int64_t row_length(const kw_gpu_tensor *tensor, uint32_t dim) {
  return tensor->ref.rank > 0 ? tensor->ref.shape[dim] : 1;
}

kw_gpu_tensor kw_gpu_sort_order(kw_gpu_plan *plan, const kw_gpu_tensor *self, uint32_t dim, bool descending) {
  const kw_dtype dtype = self->ref.dtype;
  const int64_t length = row_length(self, dim);
  const bool wide = kw_gpu_dtype_size(dtype) > 4 || length > NARROW_LIMIT;
  int64_t infinity;
  const int32_t order = order_of(dtype, &infinity);

  kw_gpu_tensor items = kw_gpu_temporary(plan, wide ? WIDE : NARROW, 1, &self->ref.numel);
  kw_gpu_tensor to = see_rows(&items, self, dim, length);
  kw_gpu_step *step = kw_gpu_step_stretched(plan, &keys_kernel, to.ref.dtype, &to, (const kw_gpu_tensor *[]){self}, 1);
  kw_gpu_step_long(step, length);
  kw_gpu_step_long(step, infinity);
  kw_gpu_step_int(step, (int32_t)kw_gpu_dtype_size(dtype));
  kw_gpu_step_int(step, order);
  kw_gpu_step_int(step, descending);
  return kw_gpu_sort_items(plan, &items, length, kw_gpu_dtype_size(dtype));
}

/* The first elements of each sorted row of argument 0, as many as the results have. */
static void sort_dim(kw_gpu_plan *plan, uint32_t dim_argument, uint32_t descending_argument) {
  kw_gpu_tensor self = kw_gpu_input(plan, 0), values = kw_gpu_output(plan, 0), indices = kw_gpu_output(plan, 1);
  const uint32_t dim = kw_gpu_dim(plan, dim_argument, self.ref.rank);
  kw_gpu_tensor items = kw_gpu_sort_order(plan, &self, dim, kw_gpu_bool(plan, descending_argument, false));
  kw_gpu_tensor from = see_rows(&items, &values, dim, row_length(&self, dim)), starts = self;
  if (self.ref.rank > 0) starts.ref.strides[dim] = 0;
  kw_gpu_step *step = kw_gpu_step_stretched(plan, &finish_kernel, from.ref.dtype, &from,
                                            (const kw_gpu_tensor *[]){&starts, &values, &indices}, 3);
  kw_gpu_step_long(step, self.ref.rank > 0 ? self.ref.strides[dim] : 0);
  kw_gpu_step_int(step, (int32_t)kw_gpu_dtype_size(self.ref.dtype));
}

static void lower_sort(kw_gpu_plan *plan, const kw_gpu_op *op) {
  sort_dim(plan, (uint32_t)op->code, (uint32_t)op->code + 1);
}

/* `code`: the argument `dim`, after which comes `descending` or `largest`. */
static const kw_gpu_op ops[] = {
    {"sort", lower_sort, 1, KW_GPU_MOVES, KW_DTYPES_REAL},
    {"sort.stable", lower_sort, 2, KW_GPU_MOVES, KW_DTYPES_REAL},
    {"topk", lower_sort, 2, KW_GPU_MOVES, KW_DTYPES_NUM},
    {0},
};

const kw_gpu_family kw_gpu_sort_family = {ops, {&sort_module, &radix_module, &groups_module}};
