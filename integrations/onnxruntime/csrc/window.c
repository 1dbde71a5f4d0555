/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows as ONNX's attributes describe them.
 */
#include "window.h"

#include <string.h>

static void take(const int64_t *given, unsigned count, unsigned dims, int64_t otherwise, int64_t *out) {
  for (unsigned d = 0; d < dims; ++d) out[d] = given && d < count ? given[d] : otherwise;
}

/* SAME: as many windows as strides fit, the pads they need shared between both ends. */
static void pad_same(window *w, unsigned d, bool upper) {
  const int64_t out = (w->size[d] + w->stride[d] - 1) / w->stride[d];
  int64_t total = (out - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1 - w->size[d];
  if (total < 0) total = 0;
  w->before[d] = upper ? total / 2 : total - total / 2;
  w->after[d] = total - w->before[d];
}

/* x / by, rounded towards minus infinity. */
static int64_t floor_div(int64_t x, int64_t by) {
  return x / by - (x % by < 0);
}

static void count_windows(window *w, unsigned d, bool ceil) {
  const int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
  const int64_t space = w->size[d] + w->before[d] + w->after[d] - reach;
  w->out[d] = floor_div(ceil ? space + w->stride[d] - 1 : space, w->stride[d]) + 1;
  if (ceil && (w->out[d] - 1) * w->stride[d] >= w->size[d] + w->before[d]) --w->out[d];
  w->beyond[d] = (w->out[d] - 1) * w->stride[d] + reach - (w->size[d] + w->before[d] + w->after[d]);
  if (w->beyond[d] < 0) w->beyond[d] = 0;
}

bool window_read(run *run, const value *x, const int64_t *kernel, window *w) {
  const char *same = node_text(run->node, "auto_pad", "NOTSET");
  unsigned count = 0, strides = 0, dilations = 0, pads = 0;
  const int64_t *shape = node_ints(run->node, "kernel_shape", &count), *pad = node_ints(run->node, "pads", &pads);
  const int64_t *stride = node_ints(run->node, "strides", &strides);
  const int64_t *dilation = node_ints(run->node, "dilations", &dilations);
  memset(w, 0, sizeof *w);
  if (!x || run->failed) return false;
  if (x->ref.rank < 3 || x->ref.rank > WINDOW_MAX) return run_refuse(run, "rank %u", x->ref.rank);
  w->dims = x->ref.rank - 2u;
  if (!shape && !kernel) return run_refuse(run, "it has no kernel_shape");
  take(x->ref.shape + 2, w->dims, w->dims, 1, w->size);
  take(kernel ? kernel : shape, w->dims, w->dims, 1, w->kernel);
  take(stride, strides, w->dims, 1, w->stride);
  take(dilation, dilations, w->dims, 1, w->dilation);
  take(pad, pads, w->dims, 0, w->before);
  take(pad && pads == 2 * w->dims ? pad + w->dims : NULL, w->dims, w->dims, 0, w->after);
  for (unsigned d = 0; d < w->dims; ++d) {
    if (strcmp(same, "VALID") == 0) w->before[d] = w->after[d] = 0;
    if (strncmp(same, "SAME", 4) == 0) pad_same(w, d, strcmp(same, "SAME_UPPER") == 0);
    count_windows(w, d, node_int(run->node, "ceil_mode", 0));
  }
  return true;
}

bool window_none(run *run, const value *x, const window *w) {
  int64_t shape[WINDOW_MAX];
  bool none = false;
  memcpy(shape, x->ref.shape, 2 * sizeof *shape);
  for (unsigned d = 0; d < w->dims; ++d) {
    shape[d + 2] = w->out[d] > 0 ? w->out[d] : 0;
    none = none || w->out[d] <= 0;
  }
  if (none && run_asks(run) && run->guessed) return !run_refuse(run, "no window in sizes that are guessed");
  if (none) run_output(run, 0, x->ref.dtype, w->dims + 2, shape);
  return none;
}

bool window_pads_by_size(const run *run) {
  return strncmp(node_text(run->node, "auto_pad", "NOTSET"), "SAME", 4) == 0 ||
         node_int(run->node, "ceil_mode", 0) != 0;
}

bool window_symmetric(const window *w) {
  for (unsigned d = 0; d < w->dims; ++d)
    if (w->before[d] != w->after[d] || w->beyond[d] != 0) return false;
  return true;
}

value *window_pad(run *run, const value *x, const window *w, kw_value number, bool beyond) {
  int64_t pairs[2 * WINDOW_MAX];
  bool any = false;
  for (unsigned d = 0; d < w->dims; ++d) {
    pairs[2 * (w->dims - 1 - d)] = w->before[d];
    pairs[2 * (w->dims - 1 - d) + 1] = w->after[d] + (beyond ? w->beyond[d] : 0);
    any = any || w->before[d] || w->after[d] || (beyond && w->beyond[d]);
  }
  if (!x || !any) return (value *)(uintptr_t)x;
  return CALL(run, "constant_pad_nd", arg(x), kw_arg_int_list(pairs, 2 * w->dims), number);
}
