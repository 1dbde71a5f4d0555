/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools: which elements their windows hold, and the kernels that find maxima in them.
 */
#include "pooling.h"

#include "number.h"
#include "operand.h"

/* ---- Windows --------------------------------------------------------------------------------------------------- */

kw_pooling kw_pooling_adaptive(const kw_tensor_ref *in, const kw_tensor_ref *out, uint32_t dims) {
  kw_pooling p = {.dims = dims};
  for (uint32_t d = 0; d < dims; d++) {
    uint32_t at = in->rank - dims + d;
    p.axes[d] = (kw_pooling_axis){.size = in->shape[at], .windows = out->shape[at], .adaptive = true};
  }
  return p;
}

kw_pooling kw_pooling_sliding(const kw_tensor_ref *in, const kw_tensor_ref *out, uint32_t dims, const kw_value *lists,
                              bool dilated) {
  kw_pooling p = kw_pooling_adaptive(in, out, dims);
  const kw_value *strides = lists[1].count > 0 ? &lists[1] : &lists[0];
  for (uint32_t d = 0; d < dims; d++) {
    kw_pooling_axis *axis = &p.axes[d];
    axis->adaptive = false;
    axis->kernel = kw_operand_listed(&lists[0], d);
    axis->stride = kw_operand_listed(strides, d);
    axis->padding = kw_operand_listed(&lists[2], d);
    axis->dilation = dilated ? kw_operand_listed(&lists[3], d) : 1;
  }
  return p;
}

static int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

kw_pooling_span kw_pooling_window(const kw_pooling_axis *axis, int64_t at) {
  if (axis->adaptive) {
    int64_t first = at * axis->size / axis->windows, end = divide_up((at + 1) * axis->size, axis->windows);
    return (kw_pooling_span){first, end - first, 1, end - first};
  }
  int64_t start = at * axis->stride - axis->padding, room = axis->size + axis->padding - start;
  int64_t before = start < 0 ? divide_up(-start, axis->dilation) : 0; /* steps in the padding */
  int64_t steps = divide_up(axis->size - start, axis->dilation);      /* up to the end of the elements */
  if (steps > axis->kernel) steps = axis->kernel;
  return (kw_pooling_span){.first = start + before * axis->dilation,
                           .count = steps - before,
                           .step = axis->dilation,
                           .padded = axis->kernel < room ? axis->kernel : room};
}

kw_pooling_span kw_pooling_covering(const kw_pooling_axis *axis, int64_t at) {
  if (axis->adaptive) { /* window i holds element j where window j of as many as there are elements holds window i */
    const kw_pooling_axis turned = {.size = axis->windows, .windows = axis->size, .adaptive = true};
    return kw_pooling_window(&turned, at);
  }
  int64_t place = at + axis->padding, last = place / axis->stride;
  int64_t first = place < axis->kernel ? 0 : (place - axis->kernel) / axis->stride + 1;
  if (last >= axis->windows) last = axis->windows - 1;
  return (kw_pooling_span){.first = first, .count = first > last ? 0 : last - first + 1, .step = 1};
}

void kw_pooling_spans(const kw_pooling *p, const int64_t *at, kw_pooling_span out_spans[KW_POOLING_DIMS]) {
  for (uint32_t d = 0; d < p->dims; d++) out_spans[d] = kw_pooling_window(&p->axes[d], at[d]);
}

kw_tensor_ref kw_pooling_planes(const kw_pooling *p, const kw_tensor_ref *tensor) {
  kw_tensor_ref planes = *tensor;
  for (uint32_t d = planes.rank - p->dims; d < planes.rank; d++) planes.shape[d] = 1;
  return planes;
}

kw_walk kw_pooling_walk(const kw_pooling *p, const kw_pooling_span *spans, const kw_tensor_ref *tensor, char *plane) {
  kw_walk walk;
  kw_tensor_ref part = {.dtype = tensor->dtype, .rank = (uint8_t)p->dims, .mem = plane};
  const int64_t *strides = tensor->strides + tensor->rank - p->dims;
  int64_t start = 0;
  for (uint32_t d = 0; d < p->dims; d++) {
    part.shape[d] = spans[d].count;
    part.strides[d] = spans[d].step * strides[d];
    start += spans[d].first * strides[d];
  }
  kw_walk_start(&walk, part.rank, part.shape);
  kw_walk_add(&walk, &part);
  walk.at[0] += start * (int64_t)kw_number_size(tensor->dtype);
  return walk;
}

/* ---- Maxima ---------------------------------------------------------------------------------------------------- */

/* Whether an element takes the place of the best so far: it is larger, or NaN. */
static bool beats(kw_dtype dtype, const char *at, const char *best) {
  if (kw_number_is_integer(dtype)) return kw_number_load_int(dtype, at) > kw_number_load_int(dtype, best);
  double x = kw_number_load(dtype, at);
  return x > kw_number_load(dtype, best) || x != x;
}

/* Where in its plane the walk through a window is. */
static int64_t index_in_plane(const kw_pooling *p, const kw_pooling_span *spans, const kw_walk *window) {
  int64_t index = 0;
  for (uint32_t d = 0; d < p->dims; d++) {
    index = index * p->axes[d].size + spans[d].first + window->index[d] * spans[d].step;
  }
  return index;
}

static kw_status maximum(const kw_call *call, const kw_pooling *p) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0], *indices = call->outs[1];
  kw_tensor_ref planes = kw_pooling_planes(p, in);
  if (in->dtype > KW_F64) return KW_ERR_INVALID_ARGUMENT;
  kw_walk results;
  kw_walk_start(&results, out->rank, out->shape);
  kw_walk_add(&results, out);
  kw_walk_add(&results, indices);
  kw_walk_add(&results, &planes);
  for (; results.left > 0; kw_walk_next(&results)) {
    kw_pooling_span spans[KW_POOLING_DIMS];
    kw_pooling_spans(p, results.index + results.rank - p->dims, spans);
    kw_walk window = kw_pooling_walk(p, spans, in, results.at[2]);
    const char *best = window.at[0];
    int64_t index = index_in_plane(p, spans, &window);
    for (kw_walk_next(&window); window.left > 0; kw_walk_next(&window)) {
      if (!beats(in->dtype, window.at[0], best)) continue;
      best = window.at[0];
      index = index_in_plane(p, spans, &window);
    }
    kw_number_convert(in->dtype, best, out->dtype, results.at[0]);
    kw_number_store_int(indices->dtype, results.at[1], index);
  }
  return KW_OK;
}

static kw_status max_pool(const kw_call *call, uint32_t dims) {
  kw_pooling p = kw_pooling_sliding(call->args[0].u.tensor, call->outs[0], dims, &call->args[1], true);
  return maximum(call, &p);
}

static kw_status adaptive_max_pool(const kw_call *call, uint32_t dims) {
  kw_pooling p = kw_pooling_adaptive(call->args[0].u.tensor, call->outs[0], dims);
  return maximum(call, &p);
}

kw_status kw_pooling_max1d(const kw_call *call) {
  return max_pool(call, 1);
}

kw_status kw_pooling_max2d(const kw_call *call) {
  return max_pool(call, 2);
}

kw_status kw_pooling_max3d(const kw_call *call) {
  return max_pool(call, 3);
}

kw_status kw_pooling_adaptive_max1d(const kw_call *call) {
  return adaptive_max_pool(call, 1);
}

kw_status kw_pooling_adaptive_max2d(const kw_call *call) {
  return adaptive_max_pool(call, 2);
}

kw_status kw_pooling_adaptive_max3d(const kw_call *call) {
  return adaptive_max_pool(call, 3);
}
